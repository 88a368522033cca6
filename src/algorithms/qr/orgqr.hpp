// The matrix Q of a QR or LQ factorization, or of a reduction, from its reflectors.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// The first n columns of Q = H_1 H_2 ... H_k in place of the reflectors that geqrf() has left
/// below the diagonal of the first k columns of A: LAPACK's ?orgqr and ?ungqr. A is m x n with m >=
/// n >= k, in the host's memory or the device's. `tau` has k elements, in the host's memory, and k
/// > 0.
///
/// Or, in place of rows that are reflectors, the first m rows of the Q of an LQ factorization:
/// ?orglq and ?unglq, with n >= m >= k. What is said of columns then holds for rows.
///
/// Throws DeviceError. The last `committed` columns of A then are those of Q, and all others are
/// unchanged: what is left is the same problem for the columns in front of them.
template <class T>
void orgqr(Device& device, const Options& options, cpu::Reflectors kind, HostView<T> a,
           HostView<const T> tau, Index& committed);

/// Bytes of device memory that it takes, for k reflectors.
template <class T>
std::size_t orgqr_bytes(const Options& options, cpu::Reflectors kind, Index m, Index n, Index k);

/// The Q of a reduction to tridiagonal form, as sytrd() has left it in a lower triangle: LAPACK's
/// ?orgtr and ?ungtr. A is n x n, and tau has n - 1 > 0 elements; the vector of reflector j begins
/// in row j + 1 of column j. All else is as for orgqr(), after a DeviceError, too: what is left is
/// the same problem for the first columns.
template <class T>
void orgtr(Device& device, const Options& options, HostView<T> a, HostView<const T> tau,
           Index& committed);
template <class T>
std::size_t orgtr_bytes(const Options& options, Index n);

}  // namespace overlapack::algorithms
