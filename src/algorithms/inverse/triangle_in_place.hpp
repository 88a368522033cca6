// A triangle on the device that its inverse replaces, or the product with its adjoint.
#pragma once

#include <algorithm>
#include <utility>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/triangle.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// Both go by halves of the triangle, and halves of these, down to blocks of nb. So nearly all of
/// it is large products and solves. Of the matrix only the triangle is read or written.
///
/// The text speaks of L = [L11; L21 L22]; an upper triangle holds U = L^H (Storage).
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
        strip_(device, Space::device, elements_of_strip(n_, nb_)),
        ones_(device, Space::host, nb_) {}
  /// Of device memory.
  static std::size_t bytes(Index n, Index nb) {
    nb = std::min(nb, n);
    return 2 * DeviceMatrix<T>::bytes(nb, nb) + Buffer<T>::bytes(elements_of_strip(n, nb));
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

  /// L := L^-1. before(columns) is called before the first work with columns of the matrix, in
  /// order. after(columns) is called when columns of L are final, in order.
  template <class Before, class After>
  void invert(Queue& queue, Diag diag, Before before, After after) const {
    before(Range{0, std::min(nb_, n_)});
    invert({0, n_}, Inversion<Before, After>{queue, diag, before, after});
  }

  /// L := L^H L. after(columns) as above.
  template <class After>
  void multiply_by_adjoint(Queue& queue, After after) const {
    multiply_by_adjoint(queue, {0, n_}, after);
  }

  /// A block on the diagonal, with zeros in its other triangle. It is there until the next one.
  DeviceView<T> with_zeros(Queue& queue, Range r) const {
    const DeviceView<T> copy = block_.view().block(0, 0, r.size(), r.size());
    queue.copy<T>(copy, block(r, r), part_of(storage_.uplo));
    return copy;
  }

 private:
  template <class Before, class After>
  struct Inversion {
    Queue& queue;
    Diag diag;
    Before& before;
    After& after;
  };

  /// Halves in whole blocks, the first one not smaller than the second.
  static Index first_half(Index n, Index nb) { return round_up(quotient_up(n, 2), nb); }
  static Index elements_of_strip(Index n, Index nb) { return n > nb ? nb * first_half(n, nb) : 0; }
  std::pair<Range, Range> halves(Range r) const {
    const Index middle = r.first + first_half(r.size(), nb_);
    return {{r.first, middle}, {middle, r.last}};
  }
  bool is_block(Range r) const { return r.size() <= nb_; }
  /// Block (i, j) of L as it is stored.
  DeviceView<T> block(Range i, Range j) const { return storage_.block(a_, i, j); }
  /// The side of a stored L21 on which L22 stands in L22 L21, and the other one.
  Side side_of_rows() const { return storage_.lower() ? Side::left : Side::right; }
  Side side_of_columns() const { return storage_.lower() ? Side::right : Side::left; }

  // [ L11     ]^-1   [  L11^-1                   ]
  // [ L21 L22 ]    = [ -L22^-1 (L21 L11^-1)  L22^-1 ]
  //
  // by a product with the inverse of L11 and a solve with L22. That way L X - I is as small as it
  // is if each column is solved for. (By two solves or two products it is not: Du Croz and Higham,
  // Stability of methods for matrix inversion, 1992.)
  template <class Before, class After>
  void invert(Range r, const Inversion<Before, After>& to) const {
    if (is_block(r)) {
      invert_block(to.queue, to.diag, r);
      if (r.last == n_) to.after(r);
      return;
    }
    const auto [one, two] = halves(r);
    const DeviceView<T> l21 = block(two, one);
    invert(one, to);
    to.before(two);
    multiply(to.queue, side_of_columns(), Op::none, T(-1), one, l21);
    to.queue.enqueue(
        Trsm<T>{side_of_rows(), storage_.uplo, Op::none, to.diag, T(1), block(two, two), l21});
    if (r.last == n_) to.after(one);
    invert(two, to);
  }

  void invert_block(Queue& queue, Diag diag, Range r) const {
    const DeviceView<T> x = block_.view().block(0, 0, r.size(), r.size());
    queue.copy<T>(x, identity_.view().block(0, 0, r.size(), r.size()));
    queue.enqueue(Trsm<T>{side_of_rows(), storage_.uplo, Op::none, diag, T(1), block(r, r), x});
    queue.copy<T>(block(r, r), x, part_of(storage_.uplo));
    // A NaN may have spread to what are zeros otherwise.
    queue.zero(block_.view().data, sizeof(T) * at(block_.view().ld * block_.view().cols));
  }

  // [ L11     ]^H [ L11     ]   [ L11^H L11 + L21^H L21           ]
  // [ L21 L22 ]   [ L21 L22 ] = [ L22^H L21               L22^H L22 ]
  template <class After>
  void multiply_by_adjoint(Queue& queue, Range r, After& after) const {
    const Uplo uplo = storage_.uplo;
    if (is_block(r)) {
      queue.enqueue(Herk<T>{uplo, storage_.adjoint(), 1, with_zeros(queue, r), 0, block(r, r)});
      if (r.last == n_) after(r);
      return;
    }
    const auto [one, two] = halves(r);
    const DeviceView<T> l21 = block(two, one);
    multiply_by_adjoint(queue, one, after);
    queue.enqueue(Herk<T>{uplo, storage_.adjoint(), 1, l21, 1, block(one, one)});
    multiply(queue, side_of_rows(), Op::conj_trans, T(1), two, l21);
    if (r.last == n_) after(one);
    multiply_by_adjoint(queue, two, after);
  }

  /// B := alpha op(A) B or alpha B op(A) in place for the stored triangle A in rows and columns r.
  void multiply(Queue& queue, Side side, Op op, T alpha, Range r, DeviceView<T> b) const {
    const bool left = side == Side::left;
    const auto product = [&](DeviceView<const T> a, DeviceView<const T> x, T beta,
                             DeviceView<T> c) {
      queue.enqueue(left ? Gemm<T>{op, Op::none, alpha, a, x, beta, c}
                         : Gemm<T>{Op::none, op, alpha, x, a, beta, c});
    };
    if (is_block(r)) {
      const DeviceView<T> copy(strip_.data(), b.rows, b.cols, b.rows);
      queue.copy<T>(copy, b);
      product(with_zeros(queue, r), copy, T(0), b);
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
    product(block(two, one), part(k), T(1), part(i));
    multiply(queue, side, op, alpha, k, part(k));
  }

  const Storage storage_;
  const DeviceView<T> a_;
  const Index n_, nb_;
  const DeviceMatrix<T> block_, identity_;
  const Buffer<T> strip_, ones_;
};

}  // namespace overlapack::algorithms
