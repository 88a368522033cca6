// What plans ask of LU factorizations: ?getrf and ?gesv.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

const FamilyTraits& lu_traits();

}  // namespace overlapack::algorithms
