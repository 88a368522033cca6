// Cholesky factorization and solve on the device, of matrices of the caller.
#pragma once

#include <vector>

#include "algorithms/shared/triangle.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// A = L L^H (lower) or U^H U (upper) and, if B has columns, B := A^-1 B: LAPACK's ?potrf and
/// ?posv. A is n x n, only its `uplo` triangle is referenced; B is n x nrhs. Each of them may lie
/// in the host's memory or the device's.
///
/// Returns LAPACK's info: 0, or k if the leading minor of order k is not positive definite. Then
/// the leading minor of order k - 1 holds its factor, what follows the failing block still holds
/// its input (and, if that is in the leading block, so do all rows below this one), and B is
/// unchanged.
///
/// Left-looking by blocks (Golub & Van Loan 4.2.6), so that a block is needed only at its step and
/// is final after it: uploads, computation and downloads overlap. With `hybrid` the diagonal blocks
/// are factored by the CPU LAPACK while the device updates the next block. With options.leading,
/// for matrices that come by the link, the rows below the leading block come after it.
///
/// Throws DeviceError. `committed` then tells what is final in the caller's memory: the caller's
/// columns of the pieces of L, counted in the order of the pieces, then the columns of B.
/// resume_posv() finishes the call from there, with the same options.
template <class T>
Index posv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
           Input<T> input, HostView<T> a, HostView<T> b, Index& committed);
template <class T>
Index posv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
           HostView<T> a, HostView<T> b, Index& committed) {
  return posv<T>(device, cpu, options, uplo, {a, b}, a, b, committed);
}

/// Bytes of device memory that posv() takes at most, whichever triangle is given.
template <class T>
std::size_t posv_bytes(Device& device, const Options& options, Index n, Index nrhs);

/// The pieces that move at a time, by their numbers: each by itself of a lower triangle, where it
/// is columns, and several of an upper one, where it is rows. A block row is made of short pieces
/// of many columns (2 KB of 256 doubles, `element` bytes each), each on a page of its own, and
/// costs the copy threads more than bandwidth; what moves together costs them less.
///
/// But results go home behind uploads by the time that the largest region is on its way, from the
/// first one to the last. So no region of an upper triangle has more elements than the largest
/// block, and more blocks move together where they are shorter. It is twice that if blocks are less
/// than a page high and the matrix has so many pages that even the tables of their addresses do not
/// stay in a core's caches. The device waits for the first block of the last triangle, too, which
/// is a region by itself. For the last ones the caller waits: no region has more than half of the
/// pieces that are left, nor more than four.
///
/// Within the device's memory, where to launch a copy takes longer than it takes itself, any number
/// is a region, but no more than half of those before them and half of those that are left.
std::vector<Range> regions_of(Uplo uplo, const std::vector<Piece>& pieces, std::size_t element,
                              bool resident = false);
/// The pieces of a region as one.
Piece united(const std::vector<Piece>& pieces, Range region);

/// What goes home to `a` with each region: its pieces. But rows of an upper triangle that share
/// cache lines with rows of the next region wait for these (if they do so in all columns), since a
/// line that is written in part costs as much as several whole ones. A piece of a page would have
/// two such lines, because memory from malloc begins in the middle of one.
template <class T>
std::vector<Piece> homes_of(Storage storage, const std::vector<Piece>& pieces,
                            const std::vector<Range>& regions, HostView<const T> a);

/// Finishes on the CPU what posv() left after a fault.
template <class T>
Index resume_posv(const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo, HostView<T> a,
                  HostView<T> b, Index committed);

}  // namespace overlapack::algorithms
