// Estimates of the condition on the device (?gecon, ?pocon, ?trcon). The factors lie in the host's
// memory or the device's. Nothing of the caller's is written.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

// These return LAPACK's rcond, which is a normal number. They throw DeviceError also where it would
// be none, where a number on the way is too large, and where one that is given is not finite: for
// these the CPU LAPACK has rules. `norm` is one or infinity.

/// From getrf's factors.
template <class T>
Real<T> gecon(Device& device, const Options& options, Norm norm, HostView<const T> a,
              Real<T> norm_of_a);
/// From potrf's factor, in the `uplo` triangle.
template <class T>
Real<T> pocon(Device& device, const Options& options, Uplo uplo, HostView<const T> a,
              Real<T> norm_of_a);
/// Of the `uplo` triangle, whose norm is found, too.
template <class T>
Real<T> trcon(Device& device, const Options& options, Norm norm, Uplo uplo, Diag diag,
              HostView<const T> a);

/// What plans ask of them.
const FamilyTraits& gecon_traits();
const FamilyTraits& pocon_traits();
const FamilyTraits& trcon_traits();

}  // namespace overlapack::algorithms
