// The reduction of a Hermitian matrix of the caller to a tridiagonal one.
#pragma once

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// LAPACK's ?sytrd and ?hetrd, by the device. A is n x n with n > 0, in the host's memory or the
/// device's; d, e and tau have n, n - 1 and n - 1 elements, in the host's. All are LAPACK's to
/// rounding, signs included, for both triangles.
///
/// An upper triangle is turned by 180 degrees: rows and columns in reverse order, it is a lower
/// one, and LAPACK's algorithm for the one is that for the other then.
///
/// All of A changes with every column, so none of the caller's is final before the last one is. A
/// copy of the triangle is made in the host's memory, while the device computes, for a fault on the
/// way home.
///
/// Throws DeviceError or bad_alloc. Then A is as it was, unless it lies on the device, and so are
/// d, e and tau.
template <class T>
void sytrd(Device& device, const Options& options, Uplo uplo, HostView<T> a, Real<T>* d, Real<T>* e,
           T* tau);

/// Bytes of device memory that sytrd() takes at most.
template <class T>
std::size_t sytrd_bytes(const Device& device, const Options& options, Index n);

}  // namespace overlapack::algorithms
