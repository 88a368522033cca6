// Eigenvalues and eigenvectors of a Hermitian matrix of the caller.
#pragma once

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// LAPACK's ?syevd and ?heevd, by the device: w becomes the eigenvalues of A in ascending order,
/// and A, if `vectors`, the eigenvectors. A is n x n with n > 0, in the host's memory or the
/// device's, and its `uplo` triangle counts; w has n elements, in the host's. Without vectors A
/// stays as it is.
///
/// No number of eigenvectors is known before all of A has been read. A copy of the triangle is made
/// in the host's memory, while the device computes, for a fault on their way home.
///
/// Throws DeviceError, also if numbers are not finite or an iteration does not converge, or
/// bad_alloc. Then w and the triangle of A are as they were, unless A lies on the device.
template <class T>
void syevd(Device& device, const Options& options, bool vectors, Uplo uplo, HostView<T> a,
           Real<T>* w);

/// Bytes of device memory that syevd() takes at most.
template <class T>
std::size_t syevd_bytes(const Device& device, const Options& options, bool vectors, Index n);

}  // namespace overlapack::algorithms
