// Cholesky factorization as textbooks have it: left-looking, by blocks, one operation after the
// other.
//
// Golub and Van Loan, Matrix Computations, 4th ed., 4.2.6; LAPACK's dpotrf. This is the algorithm
// that algorithms/cholesky/schedule.hpp spreads over queues. It needs of a device no more than the
// core and the panel, so it is what a new device runs first, and what tests compare the schedule
// with.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/triangle.hpp"
#include "cpu/lapack.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// The matrix at one step: k columns of L are done, the next b are to become so.
///
///   A =  A00          k rows
///        A10 A11      b rows
///        A20 A21 A22  the others
///
/// What is done holds L. Of an upper triangle, which holds U = L^H, these are the blocks of the
/// adjoint (Storage).
template <class T>
struct CholeskyParts {
  CholeskyParts(Storage storage, DeviceView<T> a, Range j)
      : A10(storage.block(a, j, {0, j.first})),
        A11(storage.block(a, j, j)),
        A20(storage.block(a, {j.last, a.rows}, {0, j.first})),
        A21(storage.block(a, {j.last, a.rows}, j)) {}
  DeviceView<T> A10, A11, A20, A21;
};

/// One step: columns of L are computed when it is their turn, from all those before them. `info`
/// is that of Kernels<T>::potrf_panel(), and `first` is the number of the step's first column.
template <class T>
void left_looking_step(const Triangle<T>& with, Queue& queue, const CholeskyParts<T>& A,
                       DeviceView<Index> info, Index first) {
  const Uplo uplo = with.uplo;
  // A11 := A11 - L10 L10^H
  with.kernels.herk(queue, uplo, with.direct(), Real<T>(-1), A.A10, Real<T>(1), A.A11);
  // A21 := A21 - L20 L10^H
  with.subtract(queue, A.A20, A.A10, A.A21);
  // A11 = L11 L11^H
  with.kernels.potrf_panel(queue, uplo, A.A11, A.A11, info, first);
  // A21 := A21 L11^-H
  with.kernels.trsm(queue, with.lower() ? Side::right : Side::left, uplo, Op::conj_trans,
                    Diag::non_unit, T(1), A.A11, A.A21);
}

/// Enqueues A = L L^H for the triangle of an n x n matrix on the device, in place, in block columns
/// of nb, but no wider than the device's panels. `info` is one element, 0 at first. If the leading
/// minor of order k is not positive definite, it becomes k; L is right before row and column k.
template <class T>
void textbook_cholesky(const Triangle<T>& with, Queue& queue, DeviceView<T> a,
                       DeviceView<Index> info, Index nb) {
  const Index width = std::min(nb, with.kernels.potrf_panel_width());
  for (const Range& j : partition(a.cols, width)) {
    left_looking_step(with, queue, CholeskyParts<T>(with, a, j), info, j.first);
  }
}

/// posv() by that: A and B go up, the device works, and the results come home when all is done. So
/// after a DeviceError A and B are as they were.
template <class T>
Index textbook_posv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
                    Input<T> input, HostView<T> a, HostView<T> b);

}  // namespace overlapack::algorithms
