// Products with the matrix Q of a QR or LQ factorization, from its reflectors.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// The Q of a factorization as geqrf() has left it. The vectors of its k > 0 reflectors are
/// columns, below the diagonal, or rows, right of it, of a matrix that has no others, and whose
/// other side is the order of Q. It may lie in the host's memory or the device's. tau has k
/// elements, in the host's memory.
///
/// Or as geqrt() has left it: with columns, and in place of tau the k columns of the triangles T of
/// blocks of as many reflectors as there are rows, in the host's memory or the device's. What is
/// below their diagonals does not count.
template <class T>
struct GivenQ {
  cpu::Reflectors kind;
  HostView<const T> vectors, tau;
  HostView<const T> triangles = {};
};

/// C := op(Q) C (left) or C op(Q) (right), where op is none or conj_trans: LAPACK's ?ormqr and
/// ?unmqr, or of an LQ factorization ?ormlq and ?unmlq; with triangles ?gemqrt. C may lie in the
/// host's memory or the device's. It is not empty.
///
/// Throws DeviceError. The first `committed` columns (left) or rows (right) of C then are final,
/// and all others are unchanged: what is left is the same problem for these.
template <class T>
void ormqr(Device& device, const Options& options, Side side, Op op, const GivenQ<T>& q,
           HostView<T> c, Index& committed);

/// Bytes of device memory that it takes. `block`: rows of the triangles, or 0.
template <class T>
std::size_t ormqr_bytes(const Options& options, cpu::Reflectors kind, Side side, Index k,
                        Index rows_of_c, Index cols_of_c, Index block = 0);

}  // namespace overlapack::algorithms
