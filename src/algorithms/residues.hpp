// Long sums of a left-looking Cholesky factorization in double precision by products of residues
// (device.hpp).
#pragma once

#include <optional>
#include <vector>

#include "algorithms/blocks.hpp"
#include "algorithms/triangle.hpp"

namespace overlapack::algorithms {

/// The updates C := beta C - L(rows, k) L(columns, k)^T for many columns k, where they are faster
/// that way. The factor's rows become residues block column by block column as these become final,
/// once, and serve as both operands.
///
/// As backward stable as the factorization is anyway. The norm of row i of L is at most the root of
/// A's element a(i, i), and its scale at most twice that. So an element of the sum has an error
/// of about 2^-53 sqrt(a(i, i) a(j, j)), which is what the analysis of Cholesky's algorithm bounds
/// its errors by (Demmel, LAPACK Working Note 14, 1989; Higham, Accuracy and Stability, 10.1.1),
/// and no scaling of A by powers of two changes anything. A row that gets longer belongs to a
/// leading minor that is not positive definite: the first such row is multiplied as it is, because
/// LAPACK leaves it, and nobody wants the others.
template <class T>
class ResidueUpdates {
 public:
  /// `factor` is the matrix that will hold L (or U) of order n in its triangle.
  ResidueUpdates(Device& device, const Options& options, const Triangle<T>& triangle,
                 DeviceView<T> factor, Index n);

  /// Whether there is any use for them. If not, only pay() may be called.
  bool used() const { return form_.has_value(); }
  /// Comes first: A's diagonal. There is no use for them any more if not all of it is positive and
  /// finite, or if some of it is tiny.
  void begin(Queue& queue, const std::vector<T>& diagonal);
  /// From now on updates may use the rows below `block` of its block column; they are final. Blocks
  /// come in order, and all are as wide as the first.
  void append(Queue& queue, Range block);
  /// Whether an update is faster that way.
  bool pay(Range rows, Range columns, Range k) const;
  /// C := beta C - L(rows, k) L(columns, k)^T, where C is stored as the triangle is. All of k lies
  /// left of `rows` and `columns`, which begin with a block, begins and ends with blocks, and has
  /// been appended. One queue at a time: there is one workspace.
  void subtract(Queue& queue, Range rows, Range columns, Range k, T beta, DeviceView<T> c) const;

 private:
  struct Form {
    Buffer<std::int8_t> numbers;
    DeviceMatrix<T> squares;  // of each row's elements up to those of a block, by block
    Buffer<T> scales, staged_scales;
    Buffer<Index> first_long, staged_order;
    Buffer<std::int32_t> work;
  };
  ResidueForm<T> form(Range rows, Range k) const;

  Triangle<T> triangle_;
  DeviceView<T> factor_;
  Index n_, nb_;
  Index ld_, stride_;  // of the residues
  std::optional<Form> form_;
};

}  // namespace overlapack::algorithms
