// ?trtrs on the device: a solve with a triangle of the caller, which may lie in the host's memory
// or the device's, as B may.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

/// B := op(A)^-1 B for the `uplo` triangle A (n x n). B is n x nrhs. Returns 0, or k if A(k, k) is
/// the first exact zero on the diagonal, and then B is unchanged. Throws DeviceError; the first
/// `committed` columns of B are final then, the others unchanged.
template <class T>
Index trtrs(Device& device, const Options& options, Uplo uplo, Op op, Diag diag,
            HostView<const T> a, HostView<T> b, Index& committed);

/// What plans ask of it.
const FamilyTraits& trtrs_traits();

}  // namespace overlapack::algorithms
