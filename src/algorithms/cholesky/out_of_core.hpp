// Cholesky factorization of matrices that are larger than the device's memory.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// posv() within options.memory, for matrices in the host's memory.
///
/// Left-looking over slabs, which are many block columns (rows of an upper triangle). A slab S goes
/// up. Columns of L before it come from the caller's memory once more, in pieces k:
///
///   A(S, S) := A(S, S) - L(S, k) L(S, k)^H,   A(below, S) := A(below, S) - L(below, k) L(S, k)^H.
///
/// Then the slab is factored as the matrix A(S, S) with the rows below it, as if they were
/// right-hand sides, and goes home block by block. A later slab has fewer rows, and is wider.
template <class T>
Index posv_out_of_core(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
                       HostView<T> a, HostView<T> b, Index& committed);

/// The columns of the first slab, 0 if there is not enough memory for it to pay.
template <class T>
Index cholesky_slab_columns(Device& device, const Options& options, Index n);

}  // namespace overlapack::algorithms
