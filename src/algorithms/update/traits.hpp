// What plans ask of updates of a Cholesky factor.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

/// Vectors of an update from which on its break-even does not depend on their number.
inline constexpr Index kVectorsOfProfile = 16;

const FamilyTraits& update_traits();

}  // namespace overlapack::algorithms
