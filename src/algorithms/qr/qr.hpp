// QR and LQ factorization on the device, of matrices of the caller.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// A = Q R by Householder reflectors: LAPACK's ?geqrf. Or A = L Q: ?gelqf. A is m x n, in the
/// host's memory or the device's; tau has min(m, n) elements, in the host's. R or L, the reflectors
/// and tau are LAPACK's to rounding, signs included.
///
/// LAPACK stores the factors of A = L Q as the adjoint of those of A^H, with the same tau. So it is
/// A^H that is factored, and rows of A move in place of columns (Lines).
///
/// Right-looking by block columns with one of lookahead. A block is factored in panels, each of
/// which is reflected into the block and the next one at once; the rest of the matrix gets the
/// reflectors of a block as one, in compact WY form. Block columns join as they arrive, and those
/// that arrive late catch up. A block column is final when its last panel is factored, and goes
/// home then, with its part of tau. With `textbook` it is the page of algorithms/qr/textbook.hpp
/// between copies of all operands, and nothing is committed before all is done.
///
/// Throws DeviceError. `committed` then tells how many columns (rows) have come home, and
/// cpu::finish_geqrf() finishes the call from there.
template <class T>
void geqrf(Device& device, const Options& options, cpu::Reflectors kind, HostView<T> a, T* tau,
           Index& committed);

/// Bytes of device memory that geqrf() takes at most.
template <class T>
std::size_t geqrf_bytes(const Device& device, const Options& options, cpu::Reflectors kind, Index m,
                        Index n);

/// The same of A = Q R, and the triangles T of blocks of t.rows reflectors side by side: LAPACK's
/// ?geqrt. t has min(m, n) columns, and at most as many rows. What is below the diagonals of its
/// blocks is not touched. It may lie in the host's memory or the device's.
///
/// A triangle is a diagonal block of that of any block reflector that its columns are a part of. So
/// blocks are a multiple of the caller's, and what these need is there. It goes home behind A.
///
/// `committed` counts the columns of [A t]. cpu::finish_geqrt() makes triangles of tau again.
template <class T>
void geqrt(Device& device, const Options& options, HostView<T> a, T* tau, HostView<T> t,
           Index& committed);

/// Bytes of device memory that geqrt() takes at most, for blocks of so many columns.
template <class T>
std::size_t geqrt_bytes(const Device& device, const Options& options, Index block, Index m,
                        Index n);

}  // namespace overlapack::algorithms
