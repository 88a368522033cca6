// A triangle on the device that its inverse replaces, or the product with its adjoint.
#pragma once

#include <algorithm>
#include <utility>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/triangle.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// Nearly all of both is large products. Of the matrix only the triangle is read or written.
///
/// The text speaks of a lower triangle L; an upper one holds U = L^H (Storage).
template <class T>
class TriangleInPlace {
 public:
  TriangleInPlace(Device& device, Uplo uplo, DeviceView<T> a, Index nb)
      : storage_{uplo},
        a_(a),
        n_(a.rows),
        nb_(std::min(nb, n_)),
        block_(device, nb_, nb_),
        identity_(device, nb_, nb_),
        columns_(matrix(device, n_, nb_)),
        rows_(matrix(device, nb_, n_)),
        ones_(device, Space::host, nb_) {}
  /// Of device memory.
  static std::size_t bytes(Index n, Index nb) {
    nb = std::min(nb, n);
    return 2 * DeviceMatrix<T>::bytes(nb, nb) + DeviceMatrix<T>::bytes(n, nb) +
           DeviceMatrix<T>::bytes(nb, n);
  }

  /// To be called once in the queue, before what follows. Waits for nothing.
  void prepare(Queue& queue) const {
    for (const DeviceView<T>& square : {block_.view(), identity_.view()}) {
      queue.zero(square.data, sizeof(T) * at(square.ld * square.cols));
    }
    std::fill_n(ones_.data(), nb_, T(1));
    queue.copy<T>(DeviceView<T>(identity_.view().data, 1, nb_, identity_.view().ld + 1),
                  HostView<const T>(ones_.data(), 1, nb_, 1));
  }

  /// L := L^-1. before(k) is called before the first work with block k of columns, in order. It may
  /// be on its way up until then.
  ///
  /// L X = I is solved for X from the first block of rows on, like any other solve:
  ///
  ///   X(k, :) := L(k, k)^-1 B(k, :),   B(i, :) := B(i, :) - L(i, k) X(k, :) for i > k,
  ///
  /// where B begins as I. Of B and X only columns up to k are not zero, and the place of L(i, k) is
  /// free for B as soon as a copy is made of it. So L X - I is as small as if each column of X had
  /// been solved for.
  template <class Before>
  void invert(Queue& queue, Diag diag, Before before) const {
    for (const Range& k : partition(n_, nb_)) {
      before(k);
      const Range left = {0, k.first}, done = {0, k.last}, below = {k.last, n_};
      const DeviceView<T> solved = storage_.block(rows_.view(), all(k), done),
                          x_left = storage_.block(rows_.view(), all(k), left),
                          x_last = storage_.block(rows_.view(), all(k), k);
      queue.copy<T>(x_left, block(k, left));
      queue.copy<T>(x_last, identity_.view().block(all(k), all(k)));
      queue.enqueue(
          Trsm<T>{side_of_rows(), storage_.uplo, Op::none, diag, T(1), block(k, k), solved});
      queue.copy<T>(block(k, left), x_left);
      queue.copy<T>(block(k, k), x_last, part_of(storage_.uplo));
      if (below.size() == 0) continue;
      const DeviceView<T> l = storage_.block(columns_.view(), all(below), all(k)),
                          place = block(below, k);
      queue.copy<T>(l, place);
      set_zero(queue, place);
      product(queue, side_of_rows(), Op::none, T(-1), l, solved, T(1), block(below, done));
    }
  }

  /// L := L^H L. after(j) is called when columns j of L are final, in order.
  ///
  /// A block column of it depends on L from there on, which has not been changed when it is its
  /// turn:
  ///
  ///   L(j, j) := L(j, j)^H L(j, j) + L(i, j)^H L(i, j),   L(i, j) := L(i, i)^H L(i, j)
  ///
  /// for the rows i below it. So columns become final, and go home, long before the end.
  template <class After>
  void multiply_by_adjoint(Queue& queue, After after) const {
    for (const Range& j : partition(n_, round_up(quotient_up(n_, kParts), nb_))) {
      const Range below = {j.last, n_};
      multiply_by_adjoint(queue, j);
      queue.enqueue(Herk<T>{storage_.uplo, storage_.adjoint(), 1, block(below, j), 1, block(j, j)});
      multiply(queue, side_of_rows(), Op::conj_trans, T(1), below, block(below, j));
      after(j);
    }
  }

  /// A block on the diagonal, with zeros in its other triangle. It is there until the next one.
  DeviceView<T> with_zeros(Queue& queue, Range r) const {
    const DeviceView<T> copy = block_.view().block(0, 0, r.size(), r.size());
    queue.copy<T>(copy, block(r, r), part_of(storage_.uplo));
    return copy;
  }

 private:
  static constexpr Index kParts = 8;  // of a product, which go home one after the other

  /// Halves in whole blocks, the first one not smaller than the second.
  static Index first_half(Index n, Index nb) { return round_up(quotient_up(n, 2), nb); }
  std::pair<Range, Range> halves(Range r) const {
    const Index middle = r.first + first_half(r.size(), nb_);
    return {{r.first, middle}, {middle, r.last}};
  }
  bool is_block(Range r) const { return r.size() <= nb_; }
  /// Block (i, j) of L as it is stored.
  DeviceView<T> block(Range i, Range j) const { return storage_.block(a_, i, j); }
  /// The side of a stored L21 on which L22 stands in L22 L21, and the other one.
  Side side_of_rows() const { return storage_.lower() ? Side::left : Side::right; }

  static Range all(Range r) { return {0, r.size()}; }
  /// For so many rows and columns of L.
  DeviceMatrix<T> matrix(Device& device, Index rows, Index cols) const {
    return storage_.lower() ? DeviceMatrix<T>(device, rows, cols)
                            : DeviceMatrix<T>(device, cols, rows);
  }

  // [ L11     ]^H [ L11     ]   [ L11^H L11 + L21^H L21           ]
  // [ L21 L22 ]   [ L21 L22 ] = [ L22^H L21               L22^H L22 ]
  void multiply_by_adjoint(Queue& queue, Range r) const {
    const Uplo uplo = storage_.uplo;
    if (is_block(r)) {
      queue.enqueue(Herk<T>{uplo, storage_.adjoint(), 1, with_zeros(queue, r), 0, block(r, r)});
      return;
    }
    const auto [one, two] = halves(r);
    const DeviceView<T> l21 = block(two, one);
    multiply_by_adjoint(queue, one);
    queue.enqueue(Herk<T>{uplo, storage_.adjoint(), 1, l21, 1, block(one, one)});
    multiply(queue, side_of_rows(), Op::conj_trans, T(1), two, l21);
    multiply_by_adjoint(queue, two);
  }

  /// C := alpha op(A) B + beta C or C := alpha B op(A) + beta C.
  static void product(Queue& queue, Side side, Op op, T alpha, DeviceView<const T> a,
                      DeviceView<const T> b, T beta, DeviceView<T> c) {
    queue.enqueue(side == Side::left ? Gemm<T>{op, Op::none, alpha, a, b, beta, c}
                                     : Gemm<T>{Op::none, op, alpha, b, a, beta, c});
  }

  /// B := alpha op(A) B or alpha B op(A) in place for the stored triangle A in rows and columns r.
  void multiply(Queue& queue, Side side, Op op, T alpha, Range r, DeviceView<T> b) const {
    const bool left = side == Side::left;
    if (is_block(r)) {
      const DeviceView<T> copy = rows_.view().block(0, 0, b.rows, b.cols);
      queue.copy<T>(copy, b);
      product(queue, side, op, alpha, with_zeros(queue, r), copy, T(0), b);
      return;
    }
    const auto [one, two] = halves(r);
    const auto part = [&](Range of) {
      const Range local = {of.first - r.first, of.last - r.first};
      return left ? b.block(local, {0, b.cols}) : b.block({0, b.rows}, local);
    };
    // The half of the result that depends on both halves of B comes first.
    const bool lower = storage_.lower() == (op == Op::none);
    const auto [i, k] = lower == left ? std::pair(two, one) : std::pair(one, two);
    multiply(queue, side, op, alpha, i, part(i));
    product(queue, side, op, alpha, block(two, one), part(k), T(1), part(i));
    multiply(queue, side, op, alpha, k, part(k));
  }

  const Storage storage_;
  const DeviceView<T> a_;
  const Index n_, nb_;
  const DeviceMatrix<T> block_, identity_;
  const DeviceMatrix<T> columns_, rows_;  // copies of a block of either
  const Buffer<T> ones_;
};

}  // namespace overlapack::algorithms
