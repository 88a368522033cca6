// LU factorization with partial pivoting and solve on the device, of matrices of the caller.
#pragma once

#include "algorithms/lu/interchanges.hpp"
#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::algorithms {

/// P A = L U and, if B has columns and U is not singular, B := A^-1 B: LAPACK's ?getrf and ?gesv.
/// A is m x n (square if B has columns), B is n x nrhs. Each of them may lie in the host's memory
/// or the device's.
///
/// Returns LAPACK's info: 0, or the first k with U(k, k) exactly zero; the factorization is
/// completed all the same, and B then is unchanged.
///
/// Right-looking by block columns (Dongarra et al., LAPACK Working Note 1) with one panel of
/// lookahead (Strazdins, A comparison of lookahead and algorithmic blocking techniques for parallel
/// matrix factorization, 1998): the panel queue factors block column i + 1 while the update queue
/// applies step i to the rest. Block columns join the update as they arrive; those that arrive late
/// catch up on queues of their own, so computation starts with the first block column. A finished
/// block column goes home at once; the interchanges of later panels are applied to it in the
/// caller's memory, as far as possible by copy threads that have nothing to copy. With `hybrid` the
/// CPU LAPACK factors the panels. With `textbook` it is the page of algorithms/lu/textbook.hpp
/// between copies of all operands, and nothing is committed before all is done. With `out_of_core`
/// it is that of algorithms/lu/out_of_core.hpp, and `input` must be A and B themselves.
///
/// Throws DeviceError. `committed` then tells how many columns of [A B] have come home, and
/// resume_gesv() finishes the call from there.
template <class T>
Index gesv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Input<T> input,
           HostView<T> a, Interchanges& interchanges, HostView<T> b, Index& committed);
template <class T>
Index gesv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, HostView<T> a,
           Interchanges& interchanges, HostView<T> b, Index& committed) {
  return gesv<T>(device, cpu, options, {a, b}, a, interchanges, b, committed);
}

/// Bytes of device memory that gesv() takes at most. `resident`: A lies in the device's memory.
template <class T>
std::size_t gesv_bytes(Device& device, const Options& options, Index m, Index n, Index nrhs,
                       bool resident);

/// Finishes on the CPU what gesv() left after a fault.
template <class T>
Index resume_gesv(const cpu::Lapack<T>& cpu, HostView<T> a, Interchanges& interchanges,
                  HostView<T> b, Index committed);

}  // namespace overlapack::algorithms
