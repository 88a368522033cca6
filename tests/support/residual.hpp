// LAPACK's scaled residuals (TESTING/LIN: dpot01, dpot02, dget01, dget02), evaluated in double
// precision. A result is right if its residual is below kThreshold, LAPACK's own limit.
// And errors element by element, beside the products of moduli that bound them: a norm of the whole
// matrix does not see what is lost in its small rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "cpu/reference.hpp"
#include "support/matrices.hpp"

namespace overlapack::testing_support {

inline constexpr double kThreshold = 30;

/// Double precision of the same kind.
template <class T>
using Wide = Double<T>;

/// LAPACK's 'Epsilon': the unit roundoff.
template <class T>
double epsilon() {
  return static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;
}

template <class T>
Padded<Wide<T>> widen(HostView<const T> a) {
  Padded<Wide<T>> wide(a.rows, a.cols);
  for (Index j = 0; j < a.cols; ++j) {
    for (Index i = 0; i < a.rows; ++i) wide(i, j) = Wide<T>(a(i, j));
  }
  return wide;
}

/// The Hermitian matrix of which `a` stores one triangle; imaginary parts of the diagonal are
/// ignored.
template <class T>
Padded<Wide<T>> widen_hermitian(Uplo uplo, HostView<const T> a) {
  auto wide = widen<T>(a);
  for (Index j = 0; j < a.cols; ++j) {
    wide(j, j) = Wide<T>(real(wide(j, j)));
    for (Index i = j + 1; i < a.rows; ++i) {
      if (uplo == Uplo::lower) {
        wide(j, i) = conj(wide(i, j));
      } else {
        wide(i, j) = conj(wide(j, i));
      }
    }
  }
  return wide;
}

// ---- element by element ----

template <class T>
Padded<double> moduli(const Padded<T>& a) {
  Padded<double> result(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) result(i, j) = std::abs(a(i, j));
  }
  return result;
}

/// C - op(A) op(B).
template <class W>
Padded<W> rest(Padded<W> c, Op op_a, const Padded<W>& a, Op op_b, const Padded<W>& b) {
  reference::gemm<W>(op_a, op_b, W(-1), a.view(), b.view(), W(1), c.view());
  return c;
}
/// |op(A)| |op(B)|.
template <class A, class B>
Padded<double> bound(Op op_a, const Padded<A>& a, Op op_b, const Padded<B>& b) {
  Padded<double> c(op_a == Op::none ? a.rows() : a.cols(), op_b == Op::none ? b.cols() : b.rows());
  reference::gemm<double>(op_a, op_b, 1, moduli(a).view(), moduli(b).view(), 0, c.view());
  return c;
}

/// max |error| / (bound eps). An error without a bound, and a NaN, is infinitely large.
template <class T, class W>
double worst_ratio(const Padded<W>& error, const Padded<double>& bound) {
  double worst = 0;
  for (Index j = 0; j < error.cols(); ++j) {
    for (Index i = 0; i < error.rows(); ++i) {
      const double size = std::abs(error(i, j));
      const double ratio = size == 0 ? 0 : size / (bound(i, j) * epsilon<T>());
      worst = std::max(worst, std::isnan(ratio) ? HUGE_VAL : ratio);
    }
  }
  return worst;
}

/// The trapezoids of an LU factorization, and the rows of a matrix in the order of its pivots.
template <class T>
struct LuFactors {
  LuFactors(HostView<const T> lu, const std::vector<Index>& ipiv)
      : pivots(ipiv), l(lu.rows, std::min(lu.rows, lu.cols)), u(l.cols(), lu.cols) {
    for (Index j = 0; j < l.cols(); ++j) {
      for (Index i = 0; i < lu.rows; ++i) l(i, j) = i > j ? Wide<T>(lu(i, j)) : Wide<T>(i == j);
    }
    for (Index j = 0; j < lu.cols; ++j) {
      for (Index i = 0; i < l.cols(); ++i) u(i, j) = i <= j ? Wide<T>(lu(i, j)) : Wide<T>(0);
    }
  }
  template <class W>
  Padded<W> interchanged(Padded<W> a, bool forward = true) const {
    reference::laswp<W>(a.view(), 0, l.cols(), pivots.data(), forward);
    return a;
  }
  /// max |P A - L U| / (|L| |U| eps).
  double error(const Padded<T>& a) const {
    return worst_ratio<T>(rest(interchanged(widen<T>(a.view())), Op::none, l, Op::none, u),
                          bound(Op::none, l, Op::none, u));
  }
  /// max |B - op(A) X| / (|op(P^T L U)| |X| eps).
  double solve_error(Op op, const Padded<T>& a, const Padded<T>& x, const Padded<T>& b) const {
    const auto solution = widen<T>(x.view());
    const auto sizes = interchanged(bound(Op::none, l, Op::none, u), false);
    const auto error = rest(widen<T>(b.view()), op, widen<T>(a.view()), Op::none, solution);
    return worst_ratio<T>(error, bound(op, sizes, Op::none, solution));
  }

  std::vector<Index> pivots;
  Padded<Wide<T>> l, u;
};

// ---- by norms ----

/// The one-norm. NaN if any element is NaN, so that no comparison with a limit accepts it.
template <class W>
double norm1(const Padded<W>& a) {
  double norm = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (Index i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
    if (std::isnan(sum)) return sum;
    norm = std::max(norm, sum);
  }
  return norm;
}

/// error / (scale eps); where the scale is zero, zero if there is no error.
inline double scaled(double error, double scale, double eps) {
  if (scale == 0) return error == 0 ? 0 : 1 / eps;
  return error / scale / eps;
}

/// ||A - L L^H|| / (n ||A|| eps), or with U^H U: dpot01. `a` and `factor` hold the triangle `uplo`.
template <class T>
double potrf_residual(Uplo uplo, HostView<const T> a, HostView<const T> factor) {
  using W = Wide<T>;
  const Index n = a.rows;
  auto original = widen_hermitian<T>(uplo, a);
  auto f = widen<T>(factor);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      if (uplo == Uplo::lower ? i < j : i > j) f(i, j) = W(0);
    }
  }
  const double scale = static_cast<double>(n) * norm1(original);
  const bool lower = uplo == Uplo::lower;
  reference::gemm<W>(lower ? Op::none : Op::conj_trans, lower ? Op::conj_trans : Op::none, W(-1),
                     f.view(), f.view(), W(1), original.view());
  return scaled(norm1(original), scale, epsilon<T>());
}

/// The same for what a factorization leaves that ended at pivot `info`, counted from 1: the factor
/// of the leading minor before, the row (column of U) of that pivot, and what is left of it.
template <class T>
double partial_potrf_residual(Uplo uplo, HostView<const T> a, HostView<const T> factor,
                              Index info) {
  Padded<T> minor(info, info), part(info, info);
  reference::lacpy(a.block(0, 0, info, info), minor.view());
  reference::lacpy(factor.block(0, 0, info, info), part.view());
  minor(info - 1, info - 1) -= part(info - 1, info - 1);
  part(info - 1, info - 1) = T(0);
  return potrf_residual<T>(uplo, std::as_const(minor).view(), std::as_const(part).view());
}

/// ||A - P L U|| / (n ||A|| eps): dget01. `pivots` is ipiv, 1-based.
template <class T>
double getrf_residual(HostView<const T> a, HostView<const T> factor,
                      const std::vector<Index>& pivots) {
  using W = Wide<T>;
  const Index m = a.rows, n = a.cols;
  auto original = widen<T>(a);
  Padded<W> product(m, n);
  const LuFactors<T> factors(factor, pivots);
  reference::gemm<W>(Op::none, Op::none, W(1), factors.l.view(), factors.u.view(), W(0),
                     product.view());
  product = factors.interchanged(std::move(product), false);
  const double scale = static_cast<double>(n) * norm1(original);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) original(i, j) -= product(i, j);
  }
  return scaled(norm1(original), scale, epsilon<T>());
}

/// ||A x - P L U x|| / (n ||A|| ||x|| eps) for a random x: of large matrices.
template <class T>
double getrf_residual_of_product(HostView<const T> a, HostView<const T> factor,
                                 const std::vector<Index>& pivots) {
  using W = Wide<T>;
  const Index m = a.rows, n = a.cols, k = std::min(m, n);
  const auto x = random_matrix<T>(n, 1, 9);
  const auto zeros = [](Index count) {
    Padded<W> v(count, 1);
    for (Index i = 0; i < count; ++i) v(i, 0) = W(0);
    return v;
  };
  auto ax = zeros(m), ux = zeros(k), lux = zeros(m);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) ax(i, 0) += W(a(i, j)) * W(x(j, 0));
    for (Index i = 0; i < std::min(j + 1, k); ++i) ux(i, 0) += W(factor(i, j)) * W(x(j, 0));
  }
  for (Index j = 0; j < k; ++j) {
    lux(j, 0) += ux(j, 0);
    for (Index i = j + 1; i < m; ++i) lux(i, 0) += W(factor(i, j)) * ux(j, 0);
  }
  reference::laswp<W>(lux.view(), 0, k, pivots.data(), false);
  for (Index i = 0; i < m; ++i) ax(i, 0) -= lux(i, 0);
  const double scale = static_cast<double>(n) * norm1(widen<T>(a)) * norm1(widen<T>(x.view()));
  return scaled(norm1(ax), scale, epsilon<T>());
}

/// ||X A - I|| / (n ||A|| ||X|| eps), or of A X - I if that is larger: dget03, dpot03 and dtrt01.
template <class T, class W>
double inverse_residual(const Padded<W>& a, const Padded<W>& x) {
  Padded<W> one(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) one(i, j) = W(i == j);
  }
  const double error = reference::max_or_nan(norm1(rest(one, Op::none, a, Op::none, x)),
                                             norm1(rest(one, Op::none, x, Op::none, a)));
  return scaled(error, static_cast<double>(a.rows()) * norm1(a) * norm1(x), epsilon<T>());
}

/// max over the right-hand sides of ||b - op(A) x|| / (||A|| ||x|| eps): dget02 and dpot02. `a` is
/// the whole matrix.
template <class W, class T>
double solve_residual(Op op, const Padded<W>& a, const Padded<T>& x, const Padded<T>& b) {
  auto rest = widen<T>(b.view());
  const auto solution = widen<T>(x.view());
  reference::gemm<W>(op, Op::none, W(-1), a.view(), solution.view(), W(1), rest.view());
  const double norm_a = norm1(a);
  double worst = 0;
  for (Index j = 0; j < b.cols(); ++j) {
    double error = 0, size = 0;
    for (Index i = 0; i < b.rows(); ++i) {
      error += std::abs(rest(i, j));
      size += std::abs(solution(i, j));
    }
    const double residual = scaled(error, norm_a * size, epsilon<T>());
    if (std::isnan(residual)) return residual;
    worst = std::max(worst, residual);
  }
  return worst;
}

}  // namespace overlapack::testing_support
