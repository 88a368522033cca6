// Higham's estimator of a norm that is known by products only (FORTRAN codes for estimating the
// one-norm of a real or complex matrix, with applications to condition estimation; ACM TOMS 14,
// 1988), as in LAPACK's ?lacn2.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/scalar.hpp"

namespace overlapack {

/// A lower bound of the 1-norm of an n x n matrix M, n > 0, which as a rule is within a factor of
/// three. multiply(Op::none) makes M x of x, which has n elements, and multiply(Op::conj_trans)
/// M^H x. It is called nine times at most.
template <class V, class Multiply>
auto estimate_norm1(Index n, V* x, Multiply multiply) {
  using R = decltype(std::abs(V()));
  constexpr int kColumns = 4;  // that are tried; LAPACK's limit
  const auto norm = [&] {
    R sum(0);
    for (Index i = 0; i < n; ++i) sum += std::abs(x[i]);
    return sum;
  };
  std::fill_n(x, n, V(R(1) / static_cast<R>(n)));
  multiply(Op::none);
  R estimate = norm();
  if (n == 1) return estimate;

  // ||M v|| grows fastest in the direction of M^H sign(M v), where the best v is a column of the
  // identity.
  std::vector<V> signs, last_signs;
  Index last = n;  // the column of M that x is; none yet
  for (int column = 0; column < kColumns; ++column) {
    signs.assign(x, x + n);
    for (V& sign : signs) {
      if constexpr (std::is_floating_point_v<V>) {
        sign = sign >= R(0) ? R(1) : R(-1);
      } else {
        const R size = std::abs(sign);
        sign = size > std::numeric_limits<R>::min() ? sign / size : V(1);
      }
    }
    if (std::is_floating_point_v<V> && signs == last_signs) break;
    std::copy(signs.begin(), signs.end(), x);
    signs.swap(last_signs);
    multiply(Op::conj_trans);
    const auto smaller = [](V a, V b) { return std::abs(a) < std::abs(b); };
    const Index largest = std::max_element(x, x + n, smaller) - x;
    if (last < n && std::abs(x[last]) == std::abs(x[largest])) break;
    last = largest;
    std::fill_n(x, n, V(0));
    x[last] = V(1);
    multiply(Op::none);
    const R size = norm();
    if (size <= estimate) break;
    estimate = size;
  }

  // What a matrix can hide from all that.
  for (Index i = 0; i < n; ++i) {
    const R size = 1 + static_cast<R>(i) / static_cast<R>(n - 1);
    x[i] = V(i % 2 == 0 ? size : -size);
  }
  multiply(Op::none);
  return std::max(estimate, 2 * (norm() / static_cast<R>(3 * n)));
}

}  // namespace overlapack
