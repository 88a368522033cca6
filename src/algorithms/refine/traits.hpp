// What plans ask of mixed-precision solvers: dsgesv, dsposv, zcgesv and zcposv.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

/// By LU.
const FamilyTraits& mixed_gesv_traits();
/// By Cholesky factorizations.
const FamilyTraits& mixed_posv_traits();

}  // namespace overlapack::algorithms
