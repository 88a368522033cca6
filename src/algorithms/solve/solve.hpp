// Solves on the device with a factor of the caller, which may lie in the host's memory or the
// device's, as B may.
#pragma once

#include <vector>

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// B := A^-1 B from the Cholesky factor of A in its `uplo` triangle (n x n): LAPACK's ?potrs.
/// B is n x nrhs. With options.out_of_core A need not fit in the device's memory
/// (algorithms/solve/out_of_core.hpp). Throws DeviceError; the first `committed` columns of B are
/// final then, the others unchanged.
template <class T>
void potrs(Device& device, const Options& options, Uplo uplo, HostView<const T> a, HostView<T> b,
           Index& committed);

/// Bytes of device memory that potrs() and getrs() take.
template <class T>
std::size_t potrs_bytes(Index n, Index nrhs);
template <class T>
std::size_t getrs_bytes(Device& device, Index n, Index nrhs);

/// B := op(A)^-1 B from getrf's factors and pivots (1-based, each in 1 .. n): LAPACK's ?getrs.
template <class T>
void getrs(Device& device, const Options& options, Op op, HostView<const T> a,
           const std::vector<Index>& pivots, HostView<T> b, Index& committed);

}  // namespace overlapack::algorithms
