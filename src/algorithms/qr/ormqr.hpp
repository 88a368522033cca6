// Products with the matrix Q of a QR factorization, from its reflectors.
#pragma once

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// C := op(Q) C (left) or C op(Q) (right), where Q = H_1 H_2 ... H_k and op is none or conj_trans:
/// LAPACK's ?ormqr and ?unmqr. `v` holds the vectors of the reflectors below its diagonal, as
/// geqrf() has left them; it has as many rows as Q, and k columns. C and v may lie in the host's
/// memory or the device's. `tau` has k > 0 elements, in the host's memory. C is not empty.
///
/// Throws DeviceError. The first `committed` columns (left) or rows (right) of C then are final,
/// and all others are unchanged: what is left is the same problem for these.
template <class T>
void ormqr(Device& device, const Options& options, Side side, Op op, HostView<const T> v,
           HostView<const T> tau, HostView<T> c, Index& committed);

/// Bytes of device memory that it takes.
template <class T>
std::size_t ormqr_bytes(const Options& options, Side side, Index k, Index rows_of_c,
                        Index cols_of_c);

}  // namespace overlapack::algorithms
