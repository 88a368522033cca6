// What plans ask of solves with given factors: ?potrs and ?getrs.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

/// With the factors of a Cholesky factorization.
const FamilyTraits& potrs_traits();
/// With the factors and pivots of an LU.
const FamilyTraits& getrs_traits();

}  // namespace overlapack::algorithms
