// What plans ask of the routines of QR, and of LQ, which have the same traits: ?geqrf and ?gelqf,
// ?orgqr and ?orglq, ?ormqr and ?ormlq (?ungqr and so on).
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

const FamilyTraits& geqrf_traits();
const FamilyTraits& orgqr_traits();
const FamilyTraits& ormqr_traits();
const FamilyTraits& gels_traits();

}  // namespace overlapack::algorithms
