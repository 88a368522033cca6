// What the number formats of products have in common.
#pragma once

#include "device/operation.hpp"
#include "device/runtime.hpp"

namespace overlapack {

/// What happens to the summands of one factor of a product, and is undone in the other one; see
/// Split and FindScaledResidues.
enum class Weigh { multiply, divide };

}  // namespace overlapack
