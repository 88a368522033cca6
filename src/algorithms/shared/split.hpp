// The large products of the factorizations, by split operands (device.hpp) where that pays and by
// gemm elsewhere: in double precision, in small products, where Options::split is off. Split
// operands have Options::precision.
#pragma once

#include <optional>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/triangle.hpp"

namespace overlapack::algorithms {

/// L^H, split once for products with it in any queue.
template <class T>
class SplitAdjoint {
 public:
  /// For L of up to m x k.
  SplitAdjoint(Device& device, const Options& options, Index m, Index k);
  /// Of device memory.
  static std::size_t bytes(const Options& options, Index m, Index k);
  /// Splits L, which may change afterwards.
  void split(Queue& queue, DeviceView<const T> l);
  bool is_split() const { return !numbers_.empty(); }
  /// For what comes next in that queue.
  void wait(Queue& queue) const { queue.wait(*done_); }
  DeviceView<const Real<T>> numbers() const { return numbers_; }
  /// Of the columns of L, by which the rows of U are to be multiplied.
  DeviceView<const Real<T>> sizes() const { return sizes_; }

 private:
  SplitForm form_;
  DeviceMatrix<Real<T>> memory_, memory_for_sizes_;
  DeviceView<Real<T>> numbers_, sizes_;
  EventLease done_;
};

/// C -= L U, again and again in one queue. The factors are split for each product, which costs
/// k (m + n) where the product costs k m n, and the columns of L are made equal in size. Without
/// that, an LU of rows of very different sizes (equations in different units, say) would be right
/// in the large rows only: where L is small in a column, because the row of its pivot was large, U
/// is large in that row, and the rest of L and U would be lost beside both.
template <class T>
class Subtraction {
 public:
  /// For C of up to m x n and summations of up to k.
  Subtraction(Device& device, const Options& options, Index m, Index n, Index k);
  /// Of device memory.
  static std::size_t bytes(Device& device, const Options& options, Index m, Index n, Index k);
  /// c -= l u. One queue at a time: there is one workspace.
  void operator()(Queue& queue, DeviceView<const T> l, DeviceView<const T> u,
                  DeviceView<T> c) const;
  /// The same where U and C are given by their adjoints: c -= u l^H. `split`: L, if it has been
  /// split already.
  void by_rows(Queue& queue, DeviceView<const T> l, DeviceView<const T> u, DeviceView<T> c,
               const SplitAdjoint<T>* split = nullptr) const;

 private:
  struct Workspace {
    DeviceMatrix<Real<T>> left, right, sizes;
  };
  static bool pays(Device& device, const Options& options, Index m, Index n, Index k);
  bool splits(DeviceView<T> c, Index k) const;
  /// Where a factor of C with k summands is split.
  DeviceView<Real<T>> place(Side side, Index k, DeviceView<T> c) const;

  Kernels<T>& kernels_;
  SplitForm form_;
  std::optional<Workspace> split_;
};

/// The updates C -= L(rows, k) L(columns, k)^H of a left-looking Cholesky factorization,
/// for row ranges far longer than column ranges. A block column of the factor is split once, when
/// it is final, and kept beside the factor; the other operand, which is narrow, is split for each
/// update.
template <class T>
class Updates {
 public:
  /// Where the narrow operand is split: one for each queue.
  class Workspace {
    friend class Updates;
    std::optional<DeviceMatrix<Real<T>>> narrow_;
  };

  /// `factor` is the matrix that will hold L (or U) in its triangle. L has `rows` rows, which may
  /// be more than its columns.
  Updates(Device& device, const Options& options, const Triangle<T>& triangle,
          DeviceView<const T> factor, Index rows);
  /// Of device memory, for an n x n factor, and with `workspaces` that are all for sums of up to n
  /// summands and that many columns.
  static std::size_t bytes(Device& device, const Options& options, Uplo uplo, Index n, Index rows,
                           Index workspaces, Index columns);

  /// For updates with summations of up to k and up to that many columns.
  Workspace workspace(Device& device, Index k, Index columns) const;
  /// From now on updates may use these rows of a block column, which lie below its diagonal block;
  /// they are final. All must be appended once, in any order.
  void append(Queue& queue, Range rows, Range block);
  /// C -= L(rows, k) L(columns, k)^H, where C is stored as the triangle is. All of k lies
  /// left of `rows` and `columns`, begins and ends with blocks, and has been appended.
  void subtract(Queue& queue, const Workspace& workspace, Range rows, Range columns, Range k,
                DeviceView<T> c) const;

 private:
  static Side wide(Uplo uplo) { return uplo == Uplo::lower ? Side::left : Side::right; }
  static Side narrow(Uplo uplo) { return uplo == Uplo::lower ? Side::right : Side::left; }
  static SplitForm form(const Options& options) {
    return {options.precision, std::min(options.nb, kSplitSection<T>)};
  }
  static bool pays(Device& device, const Options& options, Index n);

  Triangle<T> triangle_;
  Side wide_, narrow_;  // which factor of the product is L(rows, k), and which L(columns, k)
  SplitForm form_;      // a block is one section or several
  DeviceView<const T> factor_;
  std::optional<DeviceMatrix<Real<T>>> split_;  // what append() has split, at k and the row of L
};

}  // namespace overlapack::algorithms
