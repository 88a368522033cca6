// Products with Q by blocks of the reflectors of an earlier factorization.
#pragma once

#include <optional>

#include "algorithms/qr/given_reflectors.hpp"

namespace overlapack::algorithms {

/// Q = Q_1 Q_2 ... Q_p, with Q_b = I - V S^-1 V^H for the columns b of V (GivenReflectors), or with
/// Q_b = I - V T V^H for given triangles T. Blocks are numbered by these columns.
template <class T>
class GivenBlocks {
 public:
  /// V lies on the device, and needs no reflectors before complete(). C has at most so many lines:
  /// columns, if products are from the left, or rows. `tau` is empty if triangles are given.
  GivenBlocks(Device& device, DeviceView<T> v, HostView<const T> tau, Index nb, Side side,
              Index lines)
      : v_(v),
        side_(side),
        triangles_(device, nb, v.cols),
        product_(device, side == Side::left ? nb : lines, side == Side::left ? lines : nb),
        reflectors_(device, tau, nb) {
    if (tau.rows == 0) given_.emplace(device, nb, product_.view());
  }
  /// Of device memory, for k reflectors.
  static std::size_t bytes(Index k, Index nb, Side side, Index lines, bool triangles = false) {
    const bool left = side == Side::left;
    const Index rows = left ? nb : lines, cols = left ? lines : nb;
    return DeviceMatrix<T>::bytes(nb, k) + DeviceMatrix<T>::bytes(rows, cols) +
           GivenReflectors<T>::bytes(nb) + (triangles ? Given::bytes(nb, rows, cols) : 0);
  }

  /// How many of the columns of C are multiplied by all blocks before the next ones are: enough for
  /// large products.
  static Index columns_at_once(Index nb, Index columns) {
    constexpr Index kBlocks = 4;
    return std::min(columns, std::max<Index>(kBlocks * nb, 1));
  }

  /// To be called once in the queue, before what follows.
  void prepare(Queue& queue) const {
    reflectors_.prepare(queue);
    if (given_) set_zero(queue, given_->square.view());
  }
  /// The triangle of a block: where the upper one of T is to arrive, if it is given.
  DeviceView<T> triangle(Range b) const { return triangles_.view().block({0, b.size()}, b); }
  /// To be called once for a block whose vectors are there, and T, before products with it.
  void complete(Queue& queue, Range b) const {
    const DeviceView<T> s = triangle(b);
    reflectors_.complete(queue, v_, b);
    if (given_) {
      const DeviceView<T> square = given_->square.view().block(0, 0, s.rows, s.cols);
      queue.copy<T>(square, s, Part::upper);
      queue.copy<T>(s, square);
    } else {
      queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v(b), v(b), T(0), s});
      reflectors_.set_diagonal(queue, s, b);
    }
  }
  /// C := op(Q_b) C, or C op(Q_b).
  void multiply(Queue& queue, Op op, Range b, DeviceView<T> c) const {
    if (side_ == Side::left) {
      const DeviceView<T> w = product_.view().block(0, 0, b.size(), c.cols);
      const DeviceView<T> below = c.block(on(b), {0, c.cols});
      queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v(b), below, T(0), w});
      const DeviceView<T> x = by_triangle(queue, op, b, w);
      queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), v(b), x, T(1), below});
    } else {
      const DeviceView<T> w = product_.view().block(0, 0, c.rows, b.size());
      const DeviceView<T> behind = c.block({0, c.rows}, on(b));
      queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), behind, v(b), T(0), w});
      const DeviceView<T> x = by_triangle(queue, op, b, w);
      queue.enqueue(Gemm<T>{Op::none, Op::conj_trans, T(-1), x, v(b), T(1), behind});
    }
  }

 private:
  /// What given triangles take: one with zeros below, and room for another product.
  struct Given {
    Given(Device& device, Index nb, DeviceView<T> product)
        : square(device, nb, nb), product(device, product.rows, product.cols) {}
    static std::size_t bytes(Index nb, Index rows, Index cols) {
      return DeviceMatrix<T>::bytes(nb, nb) + DeviceMatrix<T>::bytes(rows, cols);
    }
    const DeviceMatrix<T> square, product;
  };

  /// The rows of columns b of V from their diagonal down, and these.
  Range on(Range b) const { return {b.first, v_.rows}; }
  DeviceView<T> v(Range b) const { return v_.block(on(b), b); }

  /// op(S^-1) W, or op(T) W; or with W on the left.
  DeviceView<T> by_triangle(Queue& queue, Op op, Range b, DeviceView<T> w) const {
    const DeviceView<T> s = triangle(b);
    if (!given_) {
      queue.enqueue(Trsm<T>{side_, Uplo::upper, op, Diag::non_unit, T(1), s, w});
      return w;
    }
    const DeviceView<T> x = given_->product.view().block(0, 0, w.rows, w.cols);
    if (side_ == Side::left) {
      queue.enqueue(Gemm<T>{op, Op::none, T(1), s, w, T(0), x});
    } else {
      queue.enqueue(Gemm<T>{Op::none, op, T(1), w, s, T(0), x});
    }
    return x;
  }

  const DeviceView<T> v_;
  const Side side_;
  const DeviceMatrix<T> triangles_, product_;
  const GivenReflectors<T> reflectors_;
  std::optional<Given> given_;
};

}  // namespace overlapack::algorithms
