// Triangular solves for few right-hand sides or many.
#pragma once

#include <algorithm>
#include <cmath>

#include "algorithms/blocks.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// Up to this condition number a triangular block is solved with by a product with its inverse. The
/// product's backward error grows with the condition, substitution's does not; with 256 it stays
/// within a few of LAPACK's units (src/README.md, "Inverses of diagonal blocks").
inline constexpr double kTrustedCondition = 256;

/// Whether all conditions that invert_blocks() has left are such. Comparing a NaN must not raise an
/// exception that the caller may have set a trap for.
template <class R>
bool inverses_are_trusted(const R* conditions, Index count) {
  return std::all_of(conditions, conditions + count, [](double condition) {
    return std::islessequal(condition, kTrustedCondition);
  });
}

/// X := A^-1 X, again and again in one queue: for few right-hand sides, where each step of trsm is
/// a launch with little to do, by one kernel. In single precision.
template <class T>
class Substitution {
 public:
  static constexpr Index kFew = 8;  // columns

  /// For A of order up to n.
  Substitution(Device& device, Index n)
      : kernels_(device.kernels<T>()),
        progress_(device, Space::device, Kernels<T>::substitution_progress(n, kFew)) {}

  void operator()(Queue& queue, Uplo uplo, Diag diag, DeviceView<const T> a,
                  DeviceView<T> x) const {
    if (x.cols <= kFew) {
      kernels_.substitute(queue, uplo, diag, a, x, {progress_.data(), progress_.size()});
    } else {
      kernels_.trsm(queue, Side::left, uplo, Op::none, diag, T(1), a, x);
    }
  }

 private:
  Kernels<T>& kernels_;
  Buffer<Index> progress_;
};

}  // namespace overlapack::algorithms
