// From a generalized eigenproblem to one of a Hermitian matrix alone, and back, on the device.
#pragma once

#include "algorithms/cholesky/textbook.hpp"
#include "algorithms/eigen/eigenproblem.hpp"
#include "algorithms/eigen/operand_before.hpp"
#include "algorithms/shared/blocks.hpp"
#include "device/buffer.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// With B = L L^H,
///
///   A x = lambda B x                  C = L^-1 A L^-H, x = L^-H y
///   A B x = lambda x                  C = L^H A L,     x = L^-H y
///   B A x = lambda x                  C = L^H A L,     x = L y
///
/// turn into C y = lambda y. An upper triangle of B becomes a lower one by adjoining, and L one of
/// U = L^H.
template <class T>
class StandardForm {
 public:
  StandardForm(Device& device, const Options& options, const Eigenproblem<T>& problem)
      : device_(device),
        problem_(problem),
        nb_(std::min(options.nb, problem.b.rows)),
        l_(device, problem.b.rows, problem.b.rows),
        diagonal_block_(device, nb_, nb_),
        lines_(device, nb_, problem.b.rows),
        columns_(device, problem.b.rows, nb_),
        info_(device, Space::host, 1) {
    *info_.data() = 0;
    if (device.kind_of(problem.b.data) != MemoryKind::device) {
      before_.emplace(part_of(problem.uplo), problem.b);
    }
  }
  /// Of device memory.
  static std::size_t bytes(const Options& options, Index n) {
    const Index nb = std::min(options.nb, n);
    return DeviceMatrix<T>::bytes(n, n) + DeviceMatrix<T>::bytes(nb, nb) +
           DeviceMatrix<T>::bytes(nb, n) + DeviceMatrix<T>::bytes(n, nb);
  }

  /// Where B is to arrive.
  DeviceView<T> b() const { return l_.view(); }

  /// Enqueues that A, of which the problem's triangle is there, becomes C, with both triangles. And
  /// that L becomes what the caller is to have in B.
  void begin(Queue& queue, DeviceView<T> a) const {
    if (problem_.uplo == Uplo::upper) queue.enqueue(Mirror<T>{Uplo::upper, b()});
    clear_imaginary_diagonal(queue, b());
    textbook_cholesky(Triangle<T>{{Uplo::lower}, device_.kernels<T>()}, queue, b(),
                      DeviceView<Index>(info_.data(), 1), nb_);
    if (problem_.uplo == Uplo::upper) queue.enqueue(Mirror<T>{Uplo::lower, b()});
    queue.enqueue(Mirror<T>{problem_.uplo, a});
    set_zero(queue, diagonal_block_.view());
    if (problem_.type == 1) {
      solve(queue, Side::left, Op::none, a);
      solve(queue, Side::right, Op::conj_trans, a);
    } else {
      multiply_by_adjoint(queue, a);
      multiply_from_right(queue, a);
    }
  }
  /// To be called when C has been waited for. Keeps B as the caller has given it, until forget().
  void complete(Index threads) {
    if (*info_.data() != 0) throw DeviceError("B is not positive definite");
    if (before_) before_->complete(threads);
  }
  /// What goes home.
  Region factor() const { return make_region<T>(problem_.b, b(), part_of(problem_.uplo)); }
  void forget() {
    if (before_) before_->forget();
  }
  /// Enqueues x for some y, all of whose rows are given.
  void go_back(Queue& queue, DeviceView<T> y) const {
    if (problem_.type == 3) {
      multiply(queue, y);
    } else {
      solve(queue, Side::left, Op::conj_trans, y);
    }
  }

 private:
  void solve(Queue& queue, Side side, Op op, DeviceView<T> x) const {
    queue.enqueue(Trsm<T>{side, Uplo::lower, op, Diag::non_unit, T(1), b(), x});
  }

  // Products in place, by blocks of rows or columns, each of which is computed of those that are
  // still there. A copy of the block itself is multiplied by a block of the diagonal of L.

  DeviceView<T> diagonal_block(Queue& queue, Range j) const {
    const DeviceView<T> block = diagonal_block_.view().block(0, 0, j.size(), j.size());
    queue.copy<T>(block, b().block(j, j), Part::lower);
    return block;
  }
  /// X := L^H X.
  void multiply_by_adjoint(Queue& queue, DeviceView<T> x) const {
    const Range all = {0, x.cols};
    for (const Range& i : partition(x.rows, nb_)) {
      const Range below = {i.last, x.rows};
      take_rows(queue, Op::conj_trans, i, x);
      queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), b().block(below, i),
                            x.block(below, all), T(1), x.block(i, all)});
    }
  }
  /// X := L X.
  void multiply(Queue& queue, DeviceView<T> x) const {
    const Range all = {0, x.cols};
    const std::vector<Range> blocks = partition(x.rows, nb_);
    for (auto i = blocks.rbegin(); i != blocks.rend(); ++i) {
      const Range above = {0, i->first};
      take_rows(queue, Op::none, *i, x);
      queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), b().block(*i, above), x.block(above, all),
                            T(1), x.block(*i, all)});
    }
  }
  /// Rows i of X become their product with op of a block of the diagonal.
  void take_rows(Queue& queue, Op op, Range i, DeviceView<T> x) const {
    const DeviceView<T> rows = x.block(i, {0, x.cols}),
                        copy = lines_.view().block(0, 0, rows.rows, rows.cols);
    queue.copy<T>(copy, DeviceView<const T>(rows));
    queue.enqueue(Gemm<T>{op, Op::none, T(1), diagonal_block(queue, i), copy, T(0), rows});
  }
  /// X := X L.
  void multiply_from_right(Queue& queue, DeviceView<T> x) const {
    const Range all = {0, x.rows};
    for (const Range& j : partition(x.cols, nb_)) {
      const Range behind = {j.last, x.cols};
      const DeviceView<T> columns = x.block(all, j),
                          copy = columns_.view().block(0, 0, columns.rows, columns.cols);
      queue.copy<T>(copy, DeviceView<const T>(columns));
      queue.enqueue(
          Gemm<T>{Op::none, Op::none, T(1), copy, diagonal_block(queue, j), T(0), columns});
      queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), x.block(all, behind), b().block(behind, j),
                            T(1), columns});
    }
  }

  Device& device_;
  const Eigenproblem<T>& problem_;
  const Index nb_;
  const DeviceMatrix<T> l_, diagonal_block_, lines_, columns_;
  const Buffer<Index> info_;
  std::optional<OperandBefore<T>> before_;
};

}  // namespace overlapack::algorithms
