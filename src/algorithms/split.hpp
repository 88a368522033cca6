// The large products of the factorizations, by split operands (device.hpp) where that pays and by
// gemm elsewhere: in double precision, in small products, where Options::split is off.
#pragma once

#include <optional>

#include "algorithms/blocks.hpp"

namespace overlapack::algorithms {

/// C -= A B, again and again in one queue. Both factors are split anew for each product, which
/// costs k (m + n) where the product costs k m n.
template <class T>
class Subtraction {
 public:
  /// For C of up to m x n and summations of up to k.
  Subtraction(Device& device, const Options& options, Index m, Index n, Index k);
  /// c -= a b. One queue at a time: there is one workspace.
  void operator()(Queue& queue, DeviceView<const T> a, DeviceView<const T> b,
                  DeviceView<T> c) const;

 private:
  struct Workspace {
    DeviceMatrix<Real<T>> a, b;
  };
  Kernels<T>& kernels_;
  std::optional<Workspace> split_;
};

/// The updates of a left-looking Cholesky factorization,
///
///   C -= L(rows, k) L(columns, k)^H     or, of the upper triangle,     C -= U(k, columns)^H U(k,
///   rows),
///
/// for row ranges far longer than column ranges. A block of the factor is split once, when it is
/// final, and kept beside the factor; the other operand, which is narrow, is split for each update.
template <class T>
class Updates {
 public:
  /// `factor` is the n x n matrix that will hold L or U, in its triangle.
  Updates(Device& device, const Options& options, Uplo uplo, DeviceView<const T> factor);

  /// From now on updates may use the block column (row of U) of the factor; it is final right of
  /// `block` in U, below it in L. Every block must be appended once, in any order.
  void append(Queue& queue, Range block);
  /// C -= L(rows, k) L(columns, k)^H, C being rows x columns; for U columns x rows. All of k lies
  /// left of `rows` and `columns` and has been appended.
  ///
  /// Updates from a single block are gemm's: they are small, and a factorization with lookahead
  /// makes them in a queue of its own. The others must all be in one queue, for which there is a
  /// workspace.
  void subtract(Queue& queue, Range rows, Range columns, Range k, DeviceView<T> c) const;

 private:
  struct Parts {
    DeviceMatrix<Real<T>> factor;     // what append() has split, at k and the row of L
    DeviceMatrix<Real<T>> workspace;  // the narrow operand
  };
  Kernels<T>& kernels_;
  bool lower_;
  Side wide_, narrow_;  // which factor of the product is L(rows, k), and which L(columns, k)
  Index nb_;
  DeviceView<const T> factor_;
  std::optional<Parts> split_;
};

}  // namespace overlapack::algorithms
