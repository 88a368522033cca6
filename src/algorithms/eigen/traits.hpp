// What plans ask of the routines of the symmetric eigenproblem.
#pragma once

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

/// Drivers, of A x = lambda x and of generalized problems. The shape's `nrhs` are the eigenvectors
/// that are wanted.
const FamilyTraits& eigen_traits();
const FamilyTraits& generalized_eigen_traits();
// What drivers are made of.
const FamilyTraits& sytrd_traits();
const FamilyTraits& orgtr_traits();
const FamilyTraits& ormtr_traits();
const FamilyTraits& stedc_traits();

}  // namespace overlapack::algorithms
