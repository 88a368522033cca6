// Test matrices: seeded random ones, ones whose factors are known, ones that must be refused; and
// the storage that shows which elements a routine must not touch.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "cpu/reference.hpp"

namespace overlapack::testing_support {

constexpr Uplo kUplos[] = {Uplo::lower, Uplo::upper};

/// What stands in every element that a routine must neither read nor write. Exact in all
/// precisions.
template <class T>
T sentinel() {
  return T(-98765.5f);
}

/// An m x n column-major matrix with `padding` more rows in storage than it has. All elements are
/// sentinels until they are filled.
template <class T>
class Padded {
 public:
  Padded() = default;
  Padded(Index rows, Index cols, Index padding = 0)
      : rows_(rows),
        cols_(cols),
        ld_(std::max<Index>(1, rows + padding)),
        data_(static_cast<std::size_t>(ld_ * std::max<Index>(1, cols)), sentinel<T>()) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index ld() const { return ld_; }
  T* data() { return data_.data(); }
  HostView<T> view() { return {data_.data(), rows_, cols_, ld_}; }
  HostView<const T> view() const { return {data_.data(), rows_, cols_, ld_}; }
  T& operator()(Index i, Index j) { return data_[static_cast<std::size_t>(i + j * ld_)]; }
  const T& operator()(Index i, Index j) const {
    return data_[static_cast<std::size_t>(i + j * ld_)];
  }

  bool padding_untouched() const {
    for (Index j = 0; j < cols_; ++j) {
      for (Index i = rows_; i < ld_; ++i) {
        if ((*this)(i, j) != sentinel<T>()) return false;
      }
    }
    return true;
  }

  /// Makes sentinels of the triangle that is not `uplo`, without the diagonal.
  void forbid_other_triangle(Uplo uplo) {
    for (Index j = 0; j < cols_; ++j) {
      for (Index i = 0; i < rows_; ++i) {
        if (uplo == Uplo::lower ? i < j : i > j) (*this)(i, j) = sentinel<T>();
      }
    }
  }
  bool other_triangle_untouched(Uplo uplo) const {
    for (Index j = 0; j < cols_; ++j) {
      for (Index i = 0; i < rows_; ++i) {
        if ((uplo == Uplo::lower ? i < j : i > j) && (*this)(i, j) != sentinel<T>()) return false;
      }
    }
    return true;
  }

 private:
  Index rows_ = 0, cols_ = 0, ld_ = 1;
  std::vector<T> data_;
};

// ---- Random matrices ----------------------------------------------------------------------

/// Numbers that are the same on every machine: std::uniform_real_distribution need not be.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [-1, 1); complex numbers have both parts so.
  template <class T>
  T uniform() {
    if constexpr (is_complex<T>) {
      const auto re = uniform<Real<T>>();
      return {re, uniform<Real<T>>()};
    } else {
      return static_cast<T>(static_cast<double>(engine_() >> 11) * 0x1p-52 - 1.0);
    }
  }
  /// Uniform in [first, last].
  Index integer(Index first, Index last) {
    return first + static_cast<Index>(engine_() % static_cast<std::uint64_t>(last - first + 1));
  }

 private:
  std::mt19937_64 engine_;
};

template <class T>
Padded<T> unit_matrix(Index n) {
  Padded<T> a(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) = T(i == j);
  }
  return a;
}

template <class T>
Padded<T> random_matrix(Index m, Index n, std::uint64_t seed, Index padding = 0) {
  Random random(seed);
  Padded<T> a(m, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) a(i, j) = random.uniform<T>();
  }
  return a;
}

template <class T>
Padded<T> adjoint(const Padded<T>& a, Index padding = 0) {
  Padded<T> result(a.cols(), a.rows(), padding);
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) result(j, i) = conj(a(i, j));
  }
  return result;
}

/// Hermitian positive definite: G G^H / n + I / 4 with random G.
template <class T>
Padded<T> positive_definite(Index n, std::uint64_t seed, Index padding = 0) {
  const auto g = random_matrix<T>(n, n, seed);
  Padded<T> a(n, n, padding);
  if (n == 0) return a;
  const T scale = T(Real<T>(1) / static_cast<Real<T>>(n));
  reference::gemm<T>(Op::none, Op::conj_trans, scale, g.view(), g.view(), T(0), a.view());
  for (Index j = 0; j < n; ++j) {
    a(j, j) = T(real(a(j, j)) + Real<T>(0.25));
    for (Index i = 0; i < j; ++i) a(i, j) = conj(a(j, i));
  }
  return a;
}

/// Strictly diagonally dominant by columns (LU needs no interchanges beyond harmless ones).
template <class T>
Padded<T> diagonally_dominant(Index n, std::uint64_t seed, Index padding = 0) {
  auto a = random_matrix<T>(n, n, seed, padding);
  for (Index j = 0; j < n; ++j) a(j, j) = T(static_cast<Real<T>>(2 * n + 1));
  return a;
}

// ---- Matrices with known factors ----------------------------------------------------------

/// i^k, the exact phases that make a real example complex.
template <class T>
T phase(Index k) {
  if constexpr (is_complex<T>) {
    const T phases[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    return phases[((k % 4) + 4) % 4];
  } else {
    return T(1);
  }
}

/// The Cholesky factor L(r, c) = (r + 2)(c + 2), c <= r; for complex T times i^(r - c).
template <class T>
T closed_form_factor(Index r, Index c) {
  return c <= r ? phase<T>(r - c) * T(static_cast<Real<T>>((r + 2) * (c + 2))) : T(0);
}

/// A = L L^H for the factor above, in closed form: A(r, c) = (r + 2)(c + 2) sum_{l <= min} (l +
/// 2)^2. Its elements are integers up to n^5 / 3, so they and the whole factorization are exact up
/// to n = 25 in single and n = 1500 in double precision; beyond that A is rounded, which the factor
/// of this well-scaled matrix feels only in its last digits.
template <class T>
Padded<T> closed_form_spd(Index n, Index padding = 0) {
  Padded<T> a(n, n, padding);
  for (Index c = 0; c < n; ++c) {
    for (Index r = 0; r < n; ++r) {
      double sum = 0;
      for (Index l = 0; l <= std::min(r, c); ++l) sum += static_cast<double>((l + 2) * (l + 2));
      a(r, c) =
          phase<T>(r - c) * T(static_cast<Real<T>>(static_cast<double>((r + 2) * (c + 2)) * sum));
    }
  }
  return a;
}

/// The high or the low words of numbers in double precision, in place of numbers in single.
template <class T>
Padded<Single<T>> words_of(const Padded<T>& a, Words words) {
  Padded<Single<T>> result(a.rows(), a.cols(), 2);
  constexpr std::size_t kReals = is_complex<T> ? 2 : 1;
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      std::uint32_t both[2 * kReals], one[kReals];
      std::memcpy(both, &a(i, j), sizeof both);
      for (std::size_t x = 0; x < kReals; ++x) one[x] = both[2 * x + (words == Words::high)];
      std::memcpy(&result(i, j), one, sizeof one);
    }
  }
  return result;
}

/// Whole powers of two, so that scaling by them rounds nothing.
inline std::vector<int> random_exponents(Random& random, Index n, Index largest) {
  std::vector<int> exponents;
  for (Index i = 0; i < n; ++i) {
    exponents.push_back(static_cast<int>(random.integer(-largest, largest)));
  }
  return exponents;
}
template <class T>
void scale(Padded<T>& a, const std::vector<int>& rows, const std::vector<int>& cols) {
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      a(i, j) *= std::ldexp(Real<T>(1),
                            rows[static_cast<std::size_t>(i)] + cols[static_cast<std::size_t>(j)]);
    }
  }
}

/// A = L L^H with the unit lower triangular L that has -1 everywhere below its diagonal. All
/// numbers are small integers, so the factorization is exact; but L^-1 has elements up to 2^(n-2),
/// and products with inverses of blocks of L are far off.
template <class T>
Padded<T> exact_ill_conditioned_spd(Index n, Index padding = 0) {
  Padded<T> a(n, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index common = std::min(i, j);  // products (-1)(-1) of the columns before both
      a(i, j) = T(static_cast<Real<T>>(i == j ? common + 1 : common - 1));
    }
  }
  return a;
}

/// A column of small whole numbers.
template <class T>
Padded<T> whole_numbers(Index n) {
  Padded<T> x(n, 1);
  for (Index i = 0; i < n; ++i) x(i, 0) = T(static_cast<Real<T>>(1 + 37 * i % 97));
  return x;
}

/// A x, exactly if all numbers are whole and small enough.
template <class T>
Padded<T> product(const Padded<T>& a, const Padded<T>& x) {
  Padded<T> y(a.rows(), 1);
  for (Index i = 0; i < a.rows(); ++i) {
    y(i, 0) = T(0);
    for (Index j = 0; j < a.cols(); ++j) y(i, 0) += a(i, j) * x(j, 0);
  }
  return y;
}

/// A unit matrix of order n but for a block of order `size`, which begins at `first`. There L has
/// ones on its diagonal and -2 below, so blocks of order k on its diagonal have inverses with
/// elements up to 2 3^(k-2). Factorization and substitution with small integers are exact; products
/// with the inverses are not: in float from k = 16 on, in double from k = 34 on.
template <class T>
Padded<T> ill_conditioned_at(Index n, Index first, Index size) {
  Padded<T> a(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) a(i, j) = T(i == j);
  }
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) {
      const Index products = 4 * std::min(i, j);  // of the columns before both
      a(first + i, first + j) = T(static_cast<Real<T>>(products + (i == j ? 1 : -2)));
    }
  }
  return a;
}

/// The extended Hadamard matrix: the leading n x n part of Sylvester's recursion
/// H(2k) = [H(k) H(k); H(k) -H(k)], so H(i, j) = (-1)^(number of common one bits of i and j).
template <class T>
Padded<T> hadamard(Index n, Index padding = 0) {
  Padded<T> a(n, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      int sign = 1;
      for (Index common = i & j; common != 0; common &= common - 1) sign = -sign;
      a(i, j) = T(static_cast<Real<T>>(sign));
    }
  }
  return a;
}

/// Hadamard plus a multiple of I that makes it positive definite: the eigenvalues of the part are
/// bounded by those of the whole, the square root of its order.
template <class T>
Padded<T> hadamard_spd(Index n, Index padding = 0) {
  auto a = hadamard<T>(n, padding);
  Index order = 1;
  while (order < n) order *= 2;
  const auto shift = static_cast<Real<T>>(std::ceil(std::sqrt(static_cast<double>(order))) + 1);
  for (Index j = 0; j < n; ++j) a(j, j) += T(shift);
  return a;
}

/// Wilkinson's matrix: partial pivoting interchanges nothing and the last column doubles at every
/// step, exactly while 2^(n-1) is representable beside 1.
template <class T>
Padded<T> wilkinson(Index n, Index padding = 0) {
  Padded<T> a(n, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) = T(i == j || j == n - 1 ? 1.f : i > j ? -1.f : 0.f);
  }
  return a;
}

/// Kahan's upper triangular matrix: ill-conditioned with no small diagonal element to tell so.
template <class T>
Padded<T> kahan(Index n, Index padding = 0) {
  Padded<T> a(n, n, padding);
  const double s = std::sin(1.2), c = std::cos(1.2);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const double scale = std::pow(s, static_cast<double>(i));
      a(i, j) = T(static_cast<Real<T>>(i == j ? scale : i < j ? -c * scale : 0.0));
    }
  }
  return a;
}

/// A := D A D with D = diag(2^(-24 i / n)): elements that shrink by 48 binary digits along the
/// diagonal. Exact, and keeps a positive definite matrix so.
template <class T>
Padded<T> graded(Padded<T> a) {
  const Index n = a.cols();
  const auto d = [n](Index i) { return std::ldexp(Real<T>(1), -static_cast<int>(24 * i / n)); };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < a.rows(); ++i) a(i, j) *= T(d(i) * d(j));
  }
  return a;
}

// ---- Matrices that a factorization must refuse ---------------------------------------------

/// Column `position` is zero, so that U(position, position) is exactly zero.
template <class T>
Padded<T> singular_at(Index m, Index n, Index position, std::uint64_t seed, Index padding = 0) {
  auto a = random_matrix<T>(m, n, seed, padding);
  for (Index i = 0; i < m; ++i) a(i, position) = T(0);
  return a;
}

/// The leading minors up to order `position` are positive definite, the next is not.
template <class T>
Padded<T> indefinite_at(Index n, Index position, std::uint64_t seed, Index padding = 0) {
  auto a = positive_definite<T>(n, seed, padding);
  a(position, position) = -a(position, position);
  return a;
}

/// A matrix with singular values from 1 down to 1 / condition, in geometric progression, behind
/// random reflections: A = P D Q, or P D P^H, which is positive definite.
template <class T>
Padded<T> conditioned(Index n, double condition, bool symmetric, std::uint64_t series = 0) {
  constexpr int kReflections = 4;
  Padded<T> a(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) = T(0);
    const double exponent = static_cast<double>(j) / static_cast<double>(n - 1);
    a(j, j) = T(static_cast<Real<T>>(std::pow(condition, -exponent)));
  }
  for (int k = 0; k < kReflections; ++k) {
    const std::uint64_t seed = 100 * series + static_cast<std::uint64_t>(k);
    const auto left = random_matrix<T>(n, 1, 10 + seed);
    const auto right = symmetric ? left : random_matrix<T>(n, 1, 20 + seed);
    // A := A - 2 v (v^H A) / v^H v, and likewise from the right.
    const auto norm = [n](const Padded<T>& v) {
      Real<T> sum = 0;
      for (Index i = 0; i < n; ++i) sum += std::norm(v(i, 0));
      return sum;
    };
    const Real<T> of_left = 2 / norm(left), of_right = 2 / norm(right);
    for (Index j = 0; j < n; ++j) {
      T dot(0);
      for (Index i = 0; i < n; ++i) dot += conj(left(i, 0)) * a(i, j);
      for (Index i = 0; i < n; ++i) a(i, j) -= left(i, 0) * dot * of_left;
    }
    for (Index i = 0; i < n; ++i) {
      T dot(0);
      for (Index j = 0; j < n; ++j) dot += a(i, j) * right(j, 0);
      for (Index j = 0; j < n; ++j) a(i, j) -= dot * conj(right(j, 0)) * of_right;
    }
  }
  for (Index j = 0; symmetric && j < n; ++j) {
    a(j, j) = T(real(a(j, j)));
    for (Index i = 0; i < j; ++i) a(i, j) = conj(a(j, i));
  }
  return a;
}

/// The unit matrix but for its last two rows and columns, [1 c; c c^2 + s] with a tiny s: positive
/// definite, in single precision, too; but rounding changes what is left of the last pivot after
/// the first of the two, s, to some 300 s. Refinement then corrects a 300th of the error at a time.
template <class T>
Padded<T> hardly_refinable(Index n, Index padding = 0) {
  const double c = 0.5 + 2.9e-8, s = 1e-10;  // c is rounded to 0.5
  Padded<T> a(n, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) = T(i == j);
  }
  a(n - 1, n - 2) = a(n - 2, n - 1) = T(static_cast<Real<T>>(c));
  a(n - 1, n - 1) = T(static_cast<Real<T>>(c * c + s));
  return a;
}

template <class T>
T nan() {
  return T(std::numeric_limits<Real<T>>::quiet_NaN());
}
template <class T>
T infinity() {
  return T(std::numeric_limits<Real<T>>::infinity());
}
template <class T>
bool is_nan(T x) {
  if constexpr (is_complex<T>) {
    return std::isnan(x.real()) || std::isnan(x.imag());
  } else {
    return std::isnan(x);
  }
}

/// Whether all elements are equal; a NaN is not, unless `equal` says so.
template <class T, class Equal = std::equal_to<T>>
bool same(const Padded<T>& x, const Padded<T>& y, Equal equal = {}) {
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (!equal(x(i, j), y(i, j))) return false;
    }
  }
  return true;
}

/// The largest |x(i, j) - y(i, j)|. Only of finite matrices of the same size.
template <class T>
double largest_difference(const Padded<T>& x, const Padded<T>& y) {
  double largest = 0;
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      largest = std::max(largest, static_cast<double>(std::abs(x(i, j) - y(i, j))));
    }
  }
  return largest;
}

/// Whether two matrices of the same shape are the same bits, padding and NaNs included.
template <class T>
bool same_bits(const Padded<T>& x, const Padded<T>& y) {
  const auto bytes = sizeof(T) * static_cast<std::size_t>(x.ld() * std::max<Index>(1, x.cols()));
  return std::memcmp(x.view().data, y.view().data, bytes) == 0;
}

}  // namespace overlapack::testing_support
