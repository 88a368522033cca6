// LU factorization of matrices that are larger than the device's memory.
#pragma once

#include "algorithms/lu/interchanges.hpp"
#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// gesv() within options.memory, for matrices in the host's memory.
///
/// Left-looking over slabs, which are many block columns (Golub & Van Loan 3.2.9; D'Azevedo and
/// Dongarra, The design and implementation of the parallel out-of-core ScaLAPACK LU, QR, and
/// Cholesky factorization routines, 2000). A slab S goes up. Columns of L before it come from the
/// caller's memory once more, in pieces, and each makes its step:
///
///   A(:, S) := P A(:, S),  U(k, S) := L(k, k)^-1 A(k, S),  A(below, S) -= L(below, k) U(k, S).
///
/// Then the rest of the slab is factored as a matrix by itself, and goes home block by block. As
/// ever a block has not seen the interchanges of later blocks by then, which is how its step needs
/// it; they are carried out in the caller's memory when no step needs it any more.
template <class T>
Index gesv_out_of_core(Device& device, const cpu::Lapack<T>& cpu, const Options& options,
                       HostView<T> a, Interchanges& interchanges, HostView<T> b, Index& committed);

/// The columns of a slab, 0 if there is not enough memory for it to pay.
template <class T>
Index lu_slab_columns(Device& device, const Options& options, Index m, Index n);

}  // namespace overlapack::algorithms
