// Cholesky factorization and solve on the device, of matrices of the caller.
#pragma once

#include "algorithms/shared/blocks.hpp"
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
/// for matrices that come by the link, the rows below the leading block come after it. With
/// `textbook` it is the page of algorithms/cholesky/textbook.hpp between copies of all operands,
/// and nothing is committed before all is done. With `out_of_core` it is that of
/// algorithms/cholesky/out_of_core.hpp, and `input` must be A and B themselves.
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

/// Finishes on the CPU what posv() left after a fault.
template <class T>
Index resume_posv(const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo, HostView<T> a,
                  HostView<T> b, Index committed);

/// Bytes of device memory that posv() takes at most, whichever triangle is given.
template <class T>
std::size_t posv_bytes(Device& device, const Options& options, Index n, Index nrhs);

}  // namespace overlapack::algorithms
