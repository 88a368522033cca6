// Eigenvalues and eigenvectors of a Hermitian matrix of the caller.
#pragma once

#include "algorithms/eigen/eigenproblem.hpp"
#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// LAPACK's ?syevd and ?heevd, ?syev, ?syevr and ?syevx, and generalized ?sygvd, ?sygv and ?sygvx,
/// by the device. Returns how many eigenvalues are wanted, and has stored them and as many
/// eigenvectors. A stays as it is, unless they take its place.
///
/// No number of eigenvectors is known before all of A has been read. For a fault on their way home
/// over A, a copy of the triangle is made in the host's memory, while the device computes; and so
/// of B.
///
/// Throws DeviceError, also if numbers are not finite, B is not positive definite, or an iteration
/// does not converge, or bad_alloc. Then w and the triangles of A and B are as they were, unless
/// these lie on the device.
template <class T>
Index solve_eigenproblem(Device& device, const Options& options, const Eigenproblem<T>& problem);

/// Bytes of device memory that it takes at most, for so many eigenvectors.
template <class T>
std::size_t eigenproblem_bytes(const Device& device, const Options& options, bool generalized,
                               Index n, Index vectors);

}  // namespace overlapack::algorithms
