// Triangular solves for few right-hand sides or many, and by inverses of diagonal blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/shared/blocks.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// Up to this condition number a triangular block is solved with by a product with its inverse. The
/// product's backward error grows with the condition, substitution's does not; with 256 it stays
/// within a few of LAPACK's units (docs/design/0030-inverted-blocks.md).
inline constexpr double kTrustedCondition = 256;

/// Inverses of the diagonal blocks of a Cholesky factor, side by side on the device, with their
/// conditions, in staging memory, and what kernels that multiply by them work in.
template <class T>
class BlockInverses {
 public:
  /// Of blocks of that order (the last one may be smaller), for an n x n factor and X with so many
  /// columns.
  BlockInverses(Device& device, Uplo uplo, Index order, Index n, Index columns)
      : kernels_(device.kernels<T>()),
        uplo_(uplo),
        order_(order),
        inverses_(device, order, n),
        conditions_(device, Space::host, count(n)),
        progress_(device, Space::device, device.kernels<T>().factor_progress(count(n), columns)) {}
  /// Of device memory.
  static std::size_t bytes(const Kernels<T>& kernels, Index order, Index n, Index columns) {
    return DeviceMatrix<T>::bytes(order, n) +
           Buffer<Index>::bytes(kernels.factor_progress(quotient_up(n, order), columns));
  }

  /// Inverts those of `columns`, which begin with a block. `a` is their diagonal block of the
  /// factor.
  void invert(Queue& queue, DeviceView<const T> a, Range columns) const {
    queue.enqueue(InvertBlocks<T>{
        uplo_, a, view(columns),
        DeviceView<Real<T>>(conditions_.data() + columns.first / order_, count(columns.size()))});
  }
  DeviceView<T> view(Range columns) const {
    return inverses_.view().block(0, columns.first, std::min(order_, columns.size()),
                                  columns.size());
  }
  DeviceView<Index> progress() const { return {progress_.data(), progress_.size()}; }

  /// Whether products with all inverses are accurate, once the queue has been waited for. Comparing
  /// a NaN must not raise an exception that the caller may have set a trap for.
  bool trusted() const {
    const Real<T>* const conditions = conditions_.data();
    return std::all_of(conditions, conditions + conditions_.size(), [](double condition) {
      return std::islessequal(condition, kTrustedCondition);
    });
  }

 private:
  Index count(Index n) const { return quotient_up(n, order_); }

  Kernels<T>& kernels_;
  const Uplo uplo_;
  const Index order_;
  const DeviceMatrix<T> inverses_;
  const Buffer<Real<T>> conditions_;
  const Buffer<Index> progress_;
};

/// X := A^-1 X for the same triangle A, again and again in one queue: for few right-hand sides,
/// where each step of trsm is a launch with little to do, by one kernel.
template <class T>
class Substitution {
 public:
  Substitution(Device& device, Uplo uplo, Diag diag)
      : device_(device),
        uplo_(uplo),
        diag_(diag),
        columns_at_most_(device.tuning().solve.substitution_columns_at_most) {}
  /// Of device memory, for a triangle of order n and X with so many columns.
  static std::size_t bytes(Device& device, Index n, Index columns) {
    const Index at_most = device.tuning().solve.substitution_columns_at_most;
    if (columns == 0 || columns > at_most) return 0;
    const Kernels<T>& kernels = device.kernels<T>();
    const Index links = kernels.substitution_links(n);
    return Buffer<Index>::bytes(kernels.substitution_progress(n, at_most)) +
           (links > 0 ? Buffer<Index>::bytes(links) : 0);
  }

  void operator()(Queue& queue, DeviceView<const T> a, DeviceView<T> x) {
    if (x.cols > columns_at_most_ || !try_to_allocate([&] { prepare(queue, a); })) {
      queue.enqueue(Trsm<T>{Side::left, uplo_, Op::none, diag_, T(1), a, x});
      return;
    }
    queue.enqueue(Substitute<T>{
        uplo_, diag_, a, {links_.data(), links_.size()}, x, {progress_.data(), progress_.size()}});
  }

 private:
  void prepare(Queue& queue, DeviceView<const T> a) {
    if (prepared_) return;
    const Kernels<T>& kernels = device_.kernels<T>();
    Buffer<Index> progress(device_, Space::device,
                           kernels.substitution_progress(a.rows, columns_at_most_));
    const Index count = kernels.substitution_links(a.rows);
    if (count > 0) {
      links_ = {device_, Space::device, count};
      queue.enqueue(FindLinks<T>{uplo_, diag_, a, {links_.data(), count}});
    }
    progress_ = std::move(progress);
    prepared_ = true;  // all is there
  }

  Device& device_;
  const Uplo uplo_;
  const Diag diag_;
  const Index columns_at_most_;     // with more, trsm is faster
  Buffer<Index> links_, progress_;  // if there has been a solve for few right-hand sides,
  bool prepared_ = false;           // as this says: they may be empty
};

}  // namespace overlapack::algorithms
