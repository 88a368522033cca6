// Products with Q by blocks of the reflectors of an earlier factorization.
#pragma once

#include "algorithms/qr/given_reflectors.hpp"

namespace overlapack::algorithms {

/// Q = Q_1 Q_2 ... Q_p, with Q_b = I - V S^-1 V^H for the columns b of V (GivenReflectors). Blocks
/// are numbered by these columns.
template <class T>
class GivenBlocks {
 public:
  /// V lies on the device, and needs no reflectors before complete(). C has at most so many lines:
  /// columns, if products are from the left, or rows.
  GivenBlocks(Device& device, DeviceView<T> v, HostView<const T> tau, Index nb, Side side,
              Index lines)
      : v_(v),
        side_(side),
        s_(device, nb, tau.rows),
        product_(device, side == Side::left ? nb : lines, side == Side::left ? lines : nb),
        reflectors_(device, tau, nb) {}
  /// Of device memory, for k reflectors.
  static std::size_t bytes(Index k, Index nb, Side side, Index lines) {
    const bool left = side == Side::left;
    return DeviceMatrix<T>::bytes(nb, k) +
           DeviceMatrix<T>::bytes(left ? nb : lines, left ? lines : nb) +
           GivenReflectors<T>::bytes(nb);
  }

  /// How many of the columns of C are multiplied by all blocks before the next ones are: enough for
  /// large products.
  static Index columns_at_once(Index nb, Index columns) {
    constexpr Index kBlocks = 4;
    return std::min(columns, std::max<Index>(kBlocks * nb, 1));
  }

  /// To be called once in the queue, before what follows.
  void prepare(Queue& queue) const { reflectors_.prepare(queue); }
  /// To be called once for a block whose vectors are there, before products with it.
  void complete(Queue& queue, Range b) const {
    reflectors_.complete(queue, v_, b);
    queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v(b), v(b), T(0), s(b)});
    reflectors_.set_diagonal(queue, s(b), b);
  }
  /// C := op(Q_b) C, or C op(Q_b).
  void multiply(Queue& queue, Op op, Range b, DeviceView<T> c) const {
    if (side_ == Side::left) {
      const DeviceView<T> w = product_.view().block(0, 0, b.size(), c.cols);
      const DeviceView<T> below = c.block(on(b), {0, c.cols});
      queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v(b), below, T(0), w});
      queue.enqueue(Trsm<T>{Side::left, Uplo::upper, op, Diag::non_unit, T(1), s(b), w});
      queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), v(b), w, T(1), below});
    } else {
      const DeviceView<T> w = product_.view().block(0, 0, c.rows, b.size());
      const DeviceView<T> behind = c.block({0, c.rows}, on(b));
      queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), behind, v(b), T(0), w});
      queue.enqueue(Trsm<T>{Side::right, Uplo::upper, op, Diag::non_unit, T(1), s(b), w});
      queue.enqueue(Gemm<T>{Op::none, Op::conj_trans, T(-1), w, v(b), T(1), behind});
    }
  }

 private:
  /// The rows of columns b of V from their diagonal down; these; and their S.
  Range on(Range b) const { return {b.first, v_.rows}; }
  DeviceView<T> v(Range b) const { return v_.block(on(b), b); }
  DeviceView<T> s(Range b) const { return s_.view().block({0, b.size()}, b); }

  const DeviceView<T> v_;
  const Side side_;
  const DeviceMatrix<T> s_, product_;
  const GivenReflectors<T> reflectors_;
};

}  // namespace overlapack::algorithms
