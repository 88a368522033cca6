// What plans ask of Cholesky factorizations: ?potrf and ?posv.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

const FamilyTraits& cholesky_traits();

}  // namespace overlapack::algorithms
