// What plans ask of the routines of QR and LQ.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

const FamilyTraits& geqrf_traits();
const FamilyTraits& orgqr_traits();
const FamilyTraits& ormqr_traits();
const FamilyTraits& gels_traits();
// LQ, which takes as many operations and has the break-evens of QR.
const FamilyTraits& gelqf_traits();
const FamilyTraits& orglq_traits();
const FamilyTraits& ormlq_traits();
// What only the CPU has: ?geqrt and ?gemqrt, which take as many operations.
const FamilyTraits& geqrf_on_cpu_traits();
const FamilyTraits& ormqr_on_cpu_traits();

}  // namespace overlapack::algorithms
