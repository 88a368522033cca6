// Matrices and reflectors for tests of QR, and what these are a product of.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "qr/kinds.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack::testing_support {

/// Random, with a diagonal that makes it well conditioned, of all signs.
template <class T>
Padded<T> well_conditioned(Index m, Index n) {
  auto a = random_matrix<T>(m, n, static_cast<std::uint64_t>(m * n), 2);
  const auto size = static_cast<Real<T>>(3 * std::sqrt(static_cast<double>(std::min(m, n))));
  for (Index j = 0; j < std::min(m, n); ++j) {
    a(j, j) += phase<T>(j) * T(j % 3 == 1 ? -size : size);
  }
  return a;
}

/// Reflectors below the diagonal of A, as ?geqrf makes them.
template <class T>
struct Reflectors {
  Padded<T> a;
  std::vector<T> tau;

  /// k of them in a matrix with n columns. Those in `units` are I, whatever stands there.
  Reflectors(Index m, Index n, Index k, const std::vector<Index>& units = {})
      : a(random_matrix<T>(m, n, 1, 3)), tau(algorithms::at(k)) {
    for (Index j = 0; j < k; ++j) {
      long double squares = 1;
      for (Index i = j + 1; i < m; ++i) {
        a(i, j) /= static_cast<Real<T>>(std::sqrt(static_cast<double>(m)));
        squares += std::norm(Wide<T>(a(i, j)));
      }
      // Unitary: 2 Re(tau) = |tau|^2 v^H v. Of complex ones the phase is any.
      Wide<T> direction(1);
      if constexpr (is_complex<T>) direction = std::polar(Real<Wide<T>>(1), Real<Wide<T>>(j % 3));
      tau[algorithms::at(j)] =
          T(direction * static_cast<Real<Wide<T>>>(2 * std::real(direction) / squares));
      if (std::find(units.begin(), units.end(), j) != units.end()) tau[algorithms::at(j)] = T(0);
    }
  }

  /// As ?geqrf has them, or ?gelqf, in rows of the adjoint.
  Padded<T> stored(cpu::Reflectors kind) const {
    return kind == cpu::Reflectors::rows ? adjoint(a, 2) : a;
  }

  /// C := Q C, or Q^H C, by applying one reflector after the other.
  void multiply(Op op, Padded<Wide<T>>& c) const {
    const auto k = static_cast<Index>(tau.size());
    for (Index h = 0; h < k; ++h) reflect(op, op == Op::none ? k - 1 - h : h, c);
  }
  /// The first `columns` of the product.
  Padded<Wide<T>> product(Index columns) const {
    Padded<Wide<T>> q(a.rows(), columns);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < q.rows(); ++i) q(i, j) = Wide<T>(i == j ? 1 : 0);
    }
    multiply(Op::none, q);
    return q;
  }

  HostView<const T> taus() const {
    return HostView<const T>(tau.data(), static_cast<Index>(tau.size()));
  }

 private:
  void reflect(Op op, Index h, Padded<Wide<T>>& c) const {
    using W = Wide<T>;
    const W scale = op == Op::none ? W(tau[algorithms::at(h)]) : conj(W(tau[algorithms::at(h)]));
    for (Index j = 0; j < c.cols(); ++j) {
      W sum = c(h, j);
      for (Index i = h + 1; i < c.rows(); ++i) sum += conj(W(a(i, h))) * c(i, j);
      sum *= scale;
      c(h, j) -= sum;
      for (Index i = h + 1; i < c.rows(); ++i) c(i, j) -= W(a(i, h)) * sum;
    }
  }
};

/// Where is_final(i, j) says so, `a` is as wanted, and elsewhere exactly as before.
template <class T, class IsFinal>
void expect_final(const Padded<T>& a, const Padded<T>& before, const Padded<Wide<T>>& wanted,
                  double limit, IsFinal is_final) {
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      const bool final = is_final(i, j);
      const auto expected = final ? wanted(i, j) : Wide<T>(before(i, j));
      ASSERT_LE(std::abs(Wide<T>(a(i, j)) - expected), final ? limit : 0) << i << ", " << j;
    }
  }
  EXPECT_TRUE(a.padding_untouched());
}

}  // namespace overlapack::testing_support
