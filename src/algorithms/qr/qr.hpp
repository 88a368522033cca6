// QR factorization on the device, of matrices of the caller.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// A = Q R by Householder reflectors: LAPACK's ?geqrf. A is m x n, in the host's memory or the
/// device's; tau has min(m, n) elements, in the host's. R, the reflectors and tau are LAPACK's to
/// rounding, signs included.
///
/// Right-looking by block columns with one of lookahead. A block is factored in panels, each of
/// which is reflected into the block and the next one at once; the rest of the matrix gets the
/// reflectors of a block as one, in compact WY form. Block columns join as they arrive, and those
/// that arrive late catch up. A block column is final when its last panel is factored, and goes
/// home then, with its part of tau. With `textbook` it is the page of algorithms/qr/textbook.hpp
/// between copies of all operands, and nothing is committed before all is done.
///
/// Throws DeviceError. `committed` then tells how many columns have come home, and resume_geqrf()
/// finishes the call from there.
template <class T>
void geqrf(Device& device, const Options& options, HostView<T> a, T* tau, Index& committed);

/// Bytes of device memory that geqrf() takes at most.
template <class T>
std::size_t geqrf_bytes(const Options& options, Index m, Index n);

/// The order of the blocks for an m x n matrix.
Index geqrf_block_columns(const Device& device, Index m, Index n);

/// Finishes on the CPU what geqrf() left after a fault: the last n - committed columns of A are as
/// they were at first.
template <class T>
void resume_geqrf(const cpu::Lapack<T>& cpu, HostView<T> a, T* tau, Index committed);

}  // namespace overlapack::algorithms
