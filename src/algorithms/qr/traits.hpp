// What plans ask of ?geqrf, of ?orgqr (?ungqr) and of ?ormqr (?unmqr).
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

const FamilyTraits& geqrf_traits();
const FamilyTraits& orgqr_traits();
const FamilyTraits& ormqr_traits();

}  // namespace overlapack::algorithms
