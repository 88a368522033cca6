// What plans ask of the routines of QR and LQ.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

const FamilyTraits& geqrf_traits();
const FamilyTraits& geqrt_traits();
const FamilyTraits& orgqr_traits();
const FamilyTraits& ormqr_traits();  // and of ?gemqrt
const FamilyTraits& gels_traits();
// LQ, which takes as many operations and has the break-evens of QR.
const FamilyTraits& gelqf_traits();
const FamilyTraits& orglq_traits();
const FamilyTraits& ormlq_traits();

}  // namespace overlapack::algorithms
