// What plans ask of ?trtri, ?lauum, ?potri and ?getri.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

const FamilyTraits& trtri_traits();
const FamilyTraits& lauum_traits();
const FamilyTraits& potri_traits();
const FamilyTraits& getri_traits();

}  // namespace overlapack::algorithms
