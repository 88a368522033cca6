// How large the elements of the operands of ?gels are: LAPACK scales them in some cases.
#pragma once

#include <cmath>

#include "cpu/qr.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// The largest moduli of B, and of the blocks of A, which are found as these arrive, before
/// anything has changed them; in staging memory.
template <class T>
class OperandSizes {
 public:
  using R = Real<T>;
  OperandSizes(Device& device, Index blocks) : norms_(device, Space::host, 1 + blocks) {}

  void find_of_b(Queue& queue, DeviceView<const T> b) const { find(queue, b, 0); }
  void find_of_block(Queue& queue, DeviceView<const T> block, Index b) const {
    find(queue, block, 1 + b);
  }

  /// Whether LAPACK computes without scaling, as far as B and blocks 0, ..., b of A can tell: A is
  /// neither tiny, zero nor huge, nor is B tiny or huge. To be asked for all blocks in order, once
  /// the work that finds their sizes is done. From a block with a NaN on, A is not scaled.
  bool accept(Index b) {
    const R of_b = norms_.data()[0], of_block = norms_.data()[1 + b];
    if (std::isnan(of_block) || std::isgreater(of_block, largest_)) largest_ = of_block;
    accepted_ = within(largest_) && (of_b == 0 || within(of_b));
    return accepted_;
  }
  /// Throws DeviceError if accept() has said no.
  void require_accepted() const {
    if (!accepted_) throw DeviceError("A or B has to be scaled, or A is zero");
  }

 private:
  /// Comparing a NaN must not raise an exception that the caller may have set a trap for.
  static bool within(R size) {
    using Range = cpu::UnscaledRange<R>;
    return !std::isless(size, Range::least) && !std::isgreater(size, Range::largest);
  }
  void find(Queue& queue, DeviceView<const T> a, Index place) const {
    const DeviceView<R> norm(norms_.data() + place, 1);
    queue.enqueue(MatrixNorm<T>{Norm::max, Symmetry::none, Uplo::lower, a, {}, norm});
  }

  const Buffer<R> norms_;
  R largest_ = 0;  // of A, so far
  bool accepted_ = true;
};

}  // namespace overlapack::algorithms
