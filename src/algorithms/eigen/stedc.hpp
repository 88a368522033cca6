// Eigenvalues and eigenvectors of a symmetric tridiagonal matrix, as LAPACK's ?stedc has them.
#pragma once

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// T = Q diag(lambda) Q^T for the tridiagonal matrix with the diagonal d and the n - 1 numbers e
/// beside it, which lie in the host's memory: d becomes lambda in ascending order. Z becomes Q or,
/// if it `multiplies`, Z Q. It is n x n, n > 0, and may lie in the host's memory or the device's.
///
/// Throws DeviceError, also if numbers are not finite or an iteration does not converge: d and e
/// then are as they were, and so is Z, if it is read and lies in the host's memory.
template <class T>
void stedc(Device& device, const Options& options, bool multiplies, Real<T>* d, const Real<T>* e,
           HostView<T> z, Index& committed);

/// Bytes of device memory that it takes at most.
template <class T>
std::size_t stedc_bytes(Index n);

}  // namespace overlapack::algorithms
