// LU factorization with partial pivoting as textbooks have it: right-looking, by blocks, one
// operation after the other.
//
// Golub and Van Loan, Matrix Computations, 4th ed., 3.2.11 and 3.4; LAPACK's dgetrf. This is the
// algorithm that algorithms/lu/schedule.hpp spreads over queues. It needs of a device no more than
// the core and the panel, so it is what a new device runs first, and what tests compare the
// schedule with.
#pragma once

#include "algorithms/lu/interchanges.hpp"
#include "algorithms/shared/blocks.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// The matrix at one step: k columns are done, the next b are to become so.
///
///        A00 A01 A02   k rows
///   A =  A10 A11 A12   b rows
///        A20 A21 A22   the others
///
/// What is done holds L (unit diagonal not stored) and U. A name of its own has what is handled as
/// one: from row k on, `left` = [A10; A20], `panel` = [A11; A21] and `right` = [A12; A22]; and all
/// of the current block column, `column` = [A01; A11; A21].
template <class T>
struct LuParts {
  LuParts(DeviceView<T> a, Index k_, Index b_) : k(k_), b(b_) {
    const Index e = k + b, rows = a.rows - e, cols = a.cols - e;
    A00 = a.block(0, 0, k, k), A01 = a.block(0, k, k, b), A02 = a.block(0, e, k, cols);
    A10 = a.block(k, 0, b, k), A11 = a.block(k, k, b, b), A12 = a.block(k, e, b, cols);
    A20 = a.block(e, 0, rows, k), A21 = a.block(e, k, rows, b), A22 = a.block(e, e, rows, cols);
    left = a.block(k, 0, b + rows, k);
    panel = a.block(k, k, b + rows, b);
    right = a.block(k, e, b + rows, cols);
    column = a.block(0, k, a.rows, b);
  }
  Index k, b;
  DeviceView<T> A00, A01, A02, A10, A11, A12, A20, A21, A22;
  DeviceView<T> left, panel, right, column;
};

/// One step. All that is to the lower right is kept up to date: a step reads one panel and writes
/// everything that is not done. `with` has the operations, those of LuOperations or others.
template <class T, class Operations>
void right_looking_step(Operations& with, const LuParts<T>& A) {
  // P1 [A11; A21] = [L11; L21] U11
  with.factor_panel(A);
  // [A10; A20] := P1 [A10; A20]
  with.interchange(A, A.left);
  // [A12; A22] := P1 [A12; A22]
  with.interchange(A, A.right);
  // A12 := L11^-1 A12
  with.solve(A.A11, A.A12);
  // A22 := A22 - A21 A12
  with.subtract(A.A21, A.A12, A.A22);
}

/// The operations of a step, in one queue of a device. P and info go where
/// GetrfPanel says: all min(m, n) pivots, also to staging memory `staged_pivots`, and one
/// info, which is 0 at first.
template <class T>
struct LuOperations {
  Queue& queue;
  DeviceView<Index> pivots, staged_pivots, info;

  void factor_panel(const LuParts<T>& A) {
    queue.enqueue(GetrfPanel<T>{A.panel, of(A, pivots), of(A, staged_pivots), info, A.k});
  }
  void interchange(const LuParts<T>& A, DeviceView<T> x) {
    queue.enqueue(SwapRows<T>{x, of(A, pivots), A.k});
  }
  void solve(DeviceView<const T> l, DeviceView<T> x) {
    queue.enqueue(Trsm<T>{Side::left, Uplo::lower, Op::none, Diag::unit, T(1), l, x});
  }
  void subtract(DeviceView<const T> a, DeviceView<const T> b, DeviceView<T> c) {
    queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), a, b, T(1), c});
  }

 private:
  Kernels<T>& kernels() const { return queue.device().template kernels<T>(); }
  static DeviceView<Index> of(const LuParts<T>& A, DeviceView<Index> all) {
    return all.block(A.k, 0, A.b, 1);
  }
};

/// Enqueues P A = L U for an m x n matrix on the device, in place, in block columns of nb.
template <class T>
void textbook_lu(LuOperations<T>& with, DeviceView<T> a, Index nb) {
  for (const Range& j : partition(std::min(a.rows, a.cols), nb)) {
    right_looking_step(with, LuParts<T>(a, j.first, j.size()));
  }
}

/// gesv() by that: A and B go up, the device works, and the results come home when all is done. So
/// after a DeviceError A and B are as they were.
template <class T>
Index textbook_gesv(Device& device, const Options& options, Input<T> input, HostView<T> a,
                    Interchanges& interchanges, HostView<T> b);

}  // namespace overlapack::algorithms
