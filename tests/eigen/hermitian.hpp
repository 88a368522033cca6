// Hermitian matrices of many kinds.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/matrices.hpp"

namespace overlapack::testing_support {

enum class Kind { random, identity, zero, rank_one, clustered, equal_but_one, graded, hadamard };
constexpr Kind kKinds[] = {Kind::random,    Kind::identity,      Kind::zero,   Kind::rank_one,
                           Kind::clustered, Kind::equal_but_one, Kind::graded, Kind::hadamard};

/// A matrix of numbers f(i, j) for i >= j, and what these make of the other triangle.
template <class T, class F>
Padded<T> hermitian_of(Index n, Index padding, F f) {
  Padded<T> a(n, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      a(i, j) = f(i, j);
      a(j, i) = conj(a(i, j));
    }
    a(j, j) = T(real(a(j, j)));
  }
  return a;
}

template <class T>
Padded<T> make(Kind kind, Index n, std::uint64_t seed = 1, Index padding = 2) {
  using R = Real<T>;
  const auto x = random_matrix<T>(n, n, seed);
  constexpr R kEps = std::numeric_limits<R>::epsilon();
  return hermitian_of<T>(n, padding, [&](Index i, Index j) {
    const R one = i == j ? R(1) : R(0);
    switch (kind) {
      case Kind::identity:
        return T(one);
      case Kind::zero:
        return T(0);
      case Kind::rank_one:
        return x(i, 0) * conj(x(j, 0));
      case Kind::clustered:
        return T(one) + T(10 * kEps) * x(i, j);
      case Kind::equal_but_one:
        return T(2 * one) + T(i == j && j == n / 2 ? R(1) : R(0));
      case Kind::graded:
        return std::ldexp(R(1), -static_cast<int>(i + j) / 4) * x(i, j);
      case Kind::hadamard: {
        Index bits = i & j, parity = 0;
        for (; bits != 0; bits &= bits - 1) parity ^= 1;
        return T(parity == 0 ? R(1) : R(-1));
      }
      default:
        return x(i, j);
    }
  });
}

template <class T>
void multiply(Padded<T>& a, int exponent) {
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) a(i, j) *= std::ldexp(Real<T>(1), exponent);
  }
}

}  // namespace overlapack::testing_support
