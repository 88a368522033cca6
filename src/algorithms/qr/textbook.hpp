// QR factorization by Householder reflectors as textbooks have it: right-looking, by blocks, one
// operation after the other.
//
// Golub and Van Loan, Matrix Computations, 4th ed., 5.2.3; LAPACK's dgeqrf. This is the algorithm
// that algorithms/qr/schedule.hpp spreads over queues. It needs of a device no more than products
// and the panel, so it is what a new device runs first, and what tests compare the schedule with.
#pragma once

#include <vector>

#include "algorithms/qr/reflectors.hpp"
#include "algorithms/shared/blocks.hpp"
#include "cpu/lapack.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// The matrix at one step: k columns are done, the next b are to become so.
///
///        A00 A01 A02   k rows
///   A =   0  A11 A12   b rows
///         0  A21 A22   the others
///
/// What is done holds R, and below its diagonal the vectors of reflectors, where the matrix is
/// zero. Handled as one are `panel` = [A11; A21] and `right` = [A12; A22].
template <class T>
struct QrParts {
  QrParts(DeviceView<T> a, Index k_, Index b_) : k(k_), b(b_) {
    panel = a.block(k, k, a.rows - k, b);
    right = a.block(k, k + b, a.rows - k, a.cols - k - b);
  }
  Index k, b;
  DeviceView<T> panel, right;
};

/// One step. `with` has the operations, those of QrOperations or others.
template <class T, class Operations>
void householder_step(Operations& with, const QrParts<T>& A) {
  // [A11; A21] = Q1 [R11; 0] for Q1 = I - V T V^H
  with.factor_panel(A);
  // [A12; A22] := Q1^H [A12; A22]
  with.reflect(A, A.right);
}

/// The operations of a step, in one queue of a device. All min(m, n) elements of tau go to staging
/// memory. V and T of each panel stay in its columns.
template <class T>
struct QrOperations {
  Queue& queue;
  DeviceView<T> tau;
  DeviceView<T> v, t;
  const Reflection<T>& reflection;

  void factor_panel(const QrParts<T>& A) {
    queue.enqueue(GeqrfPanel<T>{A.panel, v_of(A), t_of(A), tau.block(A.k, 0, A.b, 1)});
  }
  void reflect(const QrParts<T>& A, DeviceView<T> c, Op op = Op::conj_trans) {
    reflection(queue, op, {v_of(A), t_of(A)}, c);
  }

 private:
  DeviceView<T> v_of(const QrParts<T>& A) const { return v.block(A.k, A.k, A.panel.rows, A.b); }
  DeviceView<T> t_of(const QrParts<T>& A) const { return t.block(0, A.k, A.b, A.b); }
};

/// Enqueues the factorization of an m x n matrix on the device, in place, by block columns that are
/// as wide as a panel may be, and nb columns at most. Returns its steps.
template <class T>
std::vector<QrParts<T>> textbook_qr(QrOperations<T>& with, DeviceView<T> a, Index nb);

/// What geqrf() does, by textbook_qr(): A goes up, the device works, and the results come home when
/// all is done. So after a DeviceError A is as it was.
template <class T>
void textbook_geqrf(Device& device, const Options& options, cpu::Reflectors kind, HostView<T> a,
                    T* tau);
/// Likewise what gels() does.
template <class T>
Index textbook_gels(Device& device, const Options& options, Op op, HostView<T> a, T* tau,
                    HostView<T> b);

}  // namespace overlapack::algorithms
