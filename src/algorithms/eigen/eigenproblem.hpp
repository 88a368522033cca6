// What the drivers of symmetric eigenproblems are asked.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/view.hpp"

namespace overlapack::algorithms {

/// The numbers x with low < x <= high, of which there are some.
template <class R>
struct Interval {
  R low, high;

  R nearest(R x) const {
    return std::clamp(x, std::nextafter(low, std::numeric_limits<R>::infinity()), high);
  }
};

/// Eigenvalues of a Hermitian matrix A, and eigenvectors. A is n x n with n > 0. Or a generalized
/// problem with a positive definite matrix B.
template <class T>
struct Eigenproblem {
  using R = Real<T>;

  Uplo uplo;      ///< the triangle of A that counts
  HostView<T> a;  ///< in the host's memory or the device's
  R* w;           ///< where eigenvalues go, in ascending order; in the host's memory
  Range numbers;  ///< which of them are wanted, counted from 0 in that order
  HostView<T> z;  ///< where eigenvectors go, a column for each eigenvalue: A itself, or another
                  ///< matrix, in either memory. Empty if they are not wanted
  /// Instead of numbers, which are all then: eigenvalues in it.
  std::optional<Interval<R>> interval = {};
  /// 1: A x = lambda B x; 2: A B x = lambda x; 3: B A x = lambda x; 0: there is no B.
  int type = 0;
  HostView<T> b = {};  ///< in either memory; its triangle becomes the Cholesky factor

  bool is_generalized() const { return type != 0; }
  bool vectors() const { return !z.empty(); }
  bool is_over_a() const { return z.data == a.data; }
};

}  // namespace overlapack::algorithms
