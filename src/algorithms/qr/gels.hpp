// Least squares, and solutions of least norm, by QR on the device.
#pragma once

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// op(A) X = B for an m x n matrix A of full rank, m >= n, by A = Q R: LAPACK's ?gels. With op none
/// X is that of least squares, R^-1 Q^H B, and below it the rows of B hold what is left of Q^H B.
/// With op conj_trans X is the solution of least norm, Q [R^-H B; 0]. B is m x nrhs. Both may lie
/// in the host's memory or the device's, and neither is empty. A becomes its factors. tau, in the
/// host's memory, has n elements; it is null if nobody wants it.
///
/// Returns 0, or k if R(k, k) is the first exact zero on the diagonal. Instead of X, B then is Q^H
/// B or, with op conj_trans, unchanged.
///
/// A goes through as by geqrf(). B goes up first, since its norm decides whether A may be changed,
/// meets the block reflectors when all of them are there, and comes home last. `textbook` is the
/// page of algorithms/qr/textbook.hpp.
///
/// Throws DeviceError, also where LAPACK scales A or B, or where A is zero. The first `committed`
/// columns of [A B] then are final, all others unchanged, and cpu::finish_gels() goes on from
/// there.
template <class T>
Index gels(Device& device, const Options& options, Op op, HostView<T> a, T* tau, HostView<T> b,
           Index& committed);

/// Bytes of device memory that it takes at most.
template <class T>
std::size_t gels_bytes(Device& device, const Options& options, Index m, Index n, Index nrhs);

}  // namespace overlapack::algorithms
