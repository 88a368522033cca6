// Hermitian matrices of many kinds.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/lapack.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

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

/// A matrix with these eigenvalues, to rounding: A = P diag(values) P^H for a few random
/// reflections in turn, H = I - beta v v^H, of which H A H = A - v w^H - w v^H.
template <class T>
Padded<T> with_eigenvalues(const std::vector<double>& values, Random& random) {
  using W = Wide<T>;
  constexpr int kReflections = 3;
  const auto n = static_cast<Index>(values.size());
  const auto& lapack = cpu::lapack<W>(cpu::Family::lp64);
  Padded<W> a(n, n), vw(n, 2), wv(n, 2);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) = W(i == j ? values[static_cast<std::size_t>(j)] : 0.0);
  }
  for (int k = 0; k < kReflections; ++k) {
    double square = 0, quotient = 0;
    for (Index i = 0; i < n; ++i) {
      vw(i, 0) = random.uniform<W>();
      square += std::norm(vw(i, 0));
    }
    const auto v = vw.view().block(0, 0, n, 1), w = vw.view().block(0, 1, n, 1);
    const double beta = 2 / square;
    lapack.gemm(Op::none, Op::none, W(beta), a.view(), v, W(0), w);
    for (Index i = 0; i < n; ++i) quotient += real(conj(v(i, 0)) * w(i, 0));
    for (Index i = 0; i < n; ++i) {
      w(i, 0) -= W(beta * quotient / 2) * v(i, 0);
      wv(i, 0) = w(i, 0);
      wv(i, 1) = v(i, 0);
    }
    lapack.gemm(Op::none, Op::conj_trans, W(-1), vw.view(), wv.view(), W(1), a.view());
  }
  return hermitian_of<T>(n, 0, [&](Index i, Index j) { return T(a(i, j)); });
}

template <class T>
void multiply(Padded<T>& a, int exponent) {
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) a(i, j) *= std::ldexp(Real<T>(1), exponent);
  }
}

}  // namespace overlapack::testing_support
