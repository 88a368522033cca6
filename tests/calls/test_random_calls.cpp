// Calls drawn at random: shapes, block sizes, kinds of matrices, faults, scarce memory and operands
// on the device together, where other tests take them one by one. Results are judged element by
// element, by the bounds of textbooks (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., theorems 9.3, 9.4, 10.3 and 10.4) with the CPU LAPACK's result as the measure of what can be
// had: a norm of the whole matrix would not see what is lost in its small rows.
// Those of eigenproblems are in random_eigenproblems.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "calls/random_calls.hpp"
#include "cpu/condition.hpp"
#include "cpu/inverse.hpp"
#include "cpu/lapack.hpp"
#include "cpu/qr.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// A result's error beside that of the CPU LAPACK.
void expect_as_accurate(double ours, double cpus, double rarely = 0) {
  EXPECT_LT(ours, std::max(4 * cpus + 10, rarely));
}
/// In one of some ten thousand matrices with rows and columns of very different sizes LU loses more
/// than that. Up to the order it is what the theory of elimination allows (Higham, Accuracy and
/// Stability of Numerical Algorithms, theorem 9.3). 48 is the most that has been seen.
double rare_error_of_lu(Index n) {
  const bool usual_calls = std::getenv("OVERLAPACK_TEST_SEED") == nullptr;
  return usual_calls ? 0 : static_cast<double>(std::min<Index>(n, 100));
}

TYPED_TEST_SUITE(RandomCalls, Precisions);

// ---- Cholesky -------------------------------------------------------------------------------

/// A Hermitian matrix in the triangle `uplo`, and the info that its factorization ends in.
template <class T>
struct CholeskyProblem {
  Uplo uplo;
  Padded<T> a;
  Index info = 0;

  /// Sets A(i, j), i >= j, or its mirror image.
  void set(Index i, Index j, T x) { (uplo == Uplo::lower ? a(i, j) : a(j, i)) = x; }
};

/// L L^H for a sparse L of small whole numbers, with a zero on the diagonal at `position`.
template <class T>
Padded<T> singular_product(Random& random, Index n, Index position, Index padding) {
  Padded<T> l(n, n), a(n, n, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index x = i > j && random.integer(0, 3) == 0 ? 1 - 2 * random.integer(0, 1) : 0;
      l(i, j) = phase<T>(random.integer(0, 3)) * T(static_cast<Real<T>>(x));
    }
    l(j, j) = T(j == position ? 0.f : 1.f);
  }
  reference::gemm<T>(Op::none, Op::conj_trans, T(1), l.view(), l.view(), T(0), a.view());
  return a;
}

template <class T>
CholeskyProblem<T> draw_cholesky(Random& random, Uplo uplo, Index n, Index exponent) {
  const Index padding = random.integer(0, 1) * random.integer(0, 9), k = random.integer(0, n - 1);
  const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
  CholeskyProblem<T> problem{uplo, positive_definite<T>(n, seed, padding)};
  const auto d = random_exponents(random, n, exponent);
  scale(problem.a, d, d);
  switch (random.integer(0, 7)) {
    case 0:  // a pivot that is negative, or zero
      problem.a(k, k) *= Real<T>(-random.integer(0, 1));
      problem.info = k + 1;
      break;
    case 1: {
      const Index i = random.integer(k, n - 1);
      problem.set(i, k, nan<T>());
      problem.info = i + 1;
      break;
    }
    case 2:
      problem.a = singular_product<T>(random, n, k, padding);
      problem.info = k + 1;
      break;
    default:
      break;
  }
  if constexpr (is_complex<T>) {  // imaginary parts of the diagonal count as zero, whatever they
                                  // are
    const bool bad = random.integer(0, 3) == 0;
    problem.a(k, k).imag(bad ? std::numeric_limits<Real<T>>::quiet_NaN() : Real<T>(3));
  }
  problem.a.forbid_other_triangle(uplo);
  return problem;
}

/// L of a factor's leading block of order n.
template <class T>
Padded<Wide<T>> lower_factor(Uplo uplo, HostView<const T> factor, Index n) {
  Padded<Wide<T>> l(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const T x = i < j ? T(0) : uplo == Uplo::lower ? factor(i, j) : conj(factor(j, i));
      l(i, j) = Wide<T>(x);
    }
  }
  return l;
}

/// max |A - L L^H| / (|L| |L^H| eps) of the leading block of order n.
template <class T>
double cholesky_error(const CholeskyProblem<T>& problem, HostView<const T> factor, Index n) {
  const auto l = lower_factor(problem.uplo, factor, n);
  const auto a = widen_hermitian<T>(problem.uplo, problem.a.view().block(0, 0, n, n));
  return worst_ratio<T>(rest(a, Op::none, l, Op::conj_trans, l),
                        bound(Op::none, l, Op::conj_trans, l));
}

/// max |B - A X| / (|L| |L^H| |X| eps).
template <class T>
double cholesky_solve_error(const CholeskyProblem<T>& problem, HostView<const T> factor,
                            const Padded<T>& x, const Padded<T>& b) {
  const Index n = x.rows();
  const auto l = lower_factor(problem.uplo, factor, n);
  const auto sizes = bound(Op::none, l, Op::conj_trans, l);
  const auto solution = widen<T>(x.view());
  const auto error = rest(widen<T>(b.view()), Op::none,
                          widen_hermitian<T>(problem.uplo, problem.a.view()), Op::none, solution);
  return worst_ratio<T>(error, bound(Op::none, sizes, Op::none, solution));
}

TYPED_TEST(RandomCalls, Cholesky) {
  using T = TypeParam;
  this->repeat([this](Random& random) {
    const Uplo uplo = this->draw_uplo(random);
    const Index n = this->draw_order(random), nrhs = random.integer(0, 1) * random.integer(0, 20);
    const auto problem = draw_cholesky<T>(random, uplo, n, this->draw_exponent(random));
    const auto b = random_matrix<T>(n, nrhs, 1, random.integer(0, 3));
    auto factor = problem.a, x = b, cpu_factor = problem.a;
    const Index cpu_info = this->cpu_lapack().potrf(uplo, cpu_factor.view());
    SCOPED_TRACE(testing::Message() << "n=" << n << " nrhs=" << nrhs << " " << char(uplo));
    ASSERT_EQ(cpu_info, problem.info) << "of the CPU LAPACK";

    Operand<T> a_there(this->device(), factor, this->on_device(random, n));
    Operand<T> b_there(this->device(), x, this->on_device(random, n));
    const bool separately = random.integer(0, 1) == 0;  // potrf and potrs, or posv
    const Index info = separately || nrhs == 0 ? potrf<T>(uplo, a_there.view())
                                               : posv<T>(uplo, a_there.view(), b_there.view());
    EXPECT_EQ(info, problem.info);
    if (separately && info == 0) {
      EXPECT_EQ(potrs<T>(uplo, a_there.view(), b_there.view()), 0);
    }
    a_there.fetch();
    b_there.fetch();

    EXPECT_TRUE(factor.padding_untouched());
    EXPECT_TRUE(factor.other_triangle_untouched(uplo));
    EXPECT_TRUE(x.padding_untouched());
    const Index good = info == 0 ? n : info - 1;
    expect_as_accurate(cholesky_error<T>(problem, factor.view(), good),
                       cholesky_error<T>(problem, cpu_factor.view(), good));
    if (info > 0) {
      EXPECT_TRUE(same(x, b));
    } else if (nrhs > 0) {
      auto cpu_x = b;
      this->cpu_lapack().potrs(uplo, cpu_factor.view(), cpu_x.view());
      expect_as_accurate(cholesky_solve_error<T>(problem, factor.view(), x, b),
                         cholesky_solve_error<T>(problem, cpu_factor.view(), cpu_x, b));
    }
  });
}

// ---- Triangles ------------------------------------------------------------------------------

/// max |B - op(A) X| / (|op(A)| |X| eps).
template <class T>
double triangle_error(Op op, const Padded<Wide<T>>& a, const Padded<T>& x, const Padded<T>& b) {
  const auto solution = widen<T>(x.view());
  return worst_ratio<T>(rest(widen<T>(b.view()), op, a, Op::none, solution),
                        bound(op, a, Op::none, solution));
}

TYPED_TEST(RandomCalls, Triangles) {
  using T = TypeParam;
  this->repeat([this](Random& random) {
    constexpr Op kOps[] = {Op::none, Op::trans, Op::conj_trans};
    const Uplo uplo = this->draw_uplo(random);
    const Op op = kOps[random.integer(0, 2)];
    const Diag diag = random.integer(0, 1) == 0 ? Diag::unit : Diag::non_unit;
    const Index n = this->draw_order(random), nrhs = random.integer(1, 20);
    const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
    auto a = random_matrix<T>(n, n, seed, random.integer(0, 3));
    Padded<Wide<T>> whole(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool given = uplo == Uplo::lower ? i > j : i < j;
        a(i, j) = i == j  ? a(i, j) + T(Real<T>(3))
                  : given ? a(i, j) / static_cast<Real<T>>(n)
                          : nan<T>();
        whole(i, j) = given || i == j ? Wide<T>(a(i, j)) : Wide<T>(0);
      }
      if (diag == Diag::unit) {
        a(j, j) = nan<T>();
        whole(j, j) = Wide<T>(1);
      }
    }
    const Index k = random.integer(0, n - 1);
    const bool singular = diag == Diag::non_unit && random.integer(0, 5) == 0;
    if (singular) a(k, k) = T(0);
    const auto b = random_matrix<T>(n, nrhs, 1, random.integer(0, 3));
    auto x = b, cpu_x = b;
    SCOPED_TRACE(testing::Message()
                 << "n=" << n << " nrhs=" << nrhs << " " << char(uplo) << char(op) << char(diag));
    Operand<T> a_there(this->device(), a, this->on_device(random, n));
    Operand<T> b_there(this->device(), x, this->on_device(random, n));
    EXPECT_EQ(trtrs<T>(uplo, op, diag, a_there.view(), b_there.view()), singular ? k + 1 : 0);
    b_there.fetch();
    EXPECT_TRUE(x.padding_untouched());
    if (singular) {
      EXPECT_TRUE(same_bits(x, b));
      return;
    }
    this->cpu_lapack().trsm(Side::left, uplo, op, diag, T(1), a.view(), cpu_x.view());
    // Substitution is bounded by n units (Higham, Accuracy and Stability, theorem 8.5). Sums in
    // another order than the CPU's come closer to that.
    const double cpus = triangle_error<T>(op, whole, cpu_x, b),
                 quarter = static_cast<double>(n) / 4;
    EXPECT_LT(triangle_error<T>(op, whole, x, b), std::max(4 * cpus + 10, quarter));
  });
}

// ---- Estimates of the condition -------------------------------------------------------------

/// LAPACK's rcond, which an estimate is to be within a factor of three of. What is not finite, or
/// next to nothing, is the CPU LAPACK's to the bit.
template <class T>
void expect_condition(const ConditionResult<Real<T>>& ours, Index cpu_info, Real<T> cpu_rcond) {
  EXPECT_EQ(ours.info, cpu_info);
  EXPECT_FALSE(ours.work_overrun);
  if (std::isnan(cpu_rcond)) {
    EXPECT_TRUE(std::isnan(ours.rcond));
  } else if (!std::isnormal(cpu_rcond)) {
    EXPECT_EQ(ours.rcond, cpu_rcond);
  } else {
    EXPECT_LE(ours.rcond, 3 * cpu_rcond);
    EXPECT_LE(cpu_rcond, 3 * ours.rcond);
  }
}

TYPED_TEST(RandomCalls, Conditions) {
  using T = TypeParam;
  using R = Real<T>;
  this->repeat([this](Random& random) {
    const auto& cpu = this->cpu_lapack();
    const char norm = "O1Ii"[random.integer(0, 3)];
    const Norm kind = norm == 'O' || norm == '1' ? Norm::one : Norm::infinity;
    const Uplo uplo = this->draw_uplo(random);
    const Diag diag = random.integer(0, 1) == 0 ? Diag::unit : Diag::non_unit;
    const Index n = this->draw_order(random), routine = random.integer(0, 2);
    SCOPED_TRACE(testing::Message()
                 << "n=" << n << " routine " << routine << " " << norm << char(uplo) << char(diag));
    const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
    // Triangles of numbers of one size are ill-conditioned, and soon beyond all.
    auto a = random_matrix<T>(n, n, seed, random.integer(0, 3));
    const R size = std::ldexp(R(1), -static_cast<int>(random.integer(0, 8)));
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) a(i, j) *= i == j ? R(1) : size;
    }
    const auto d = random_exponents(random, n, this->draw_exponent(random) / 2);
    scale(a, d, d);
    const Index k = random.integer(0, n - 1), luck = random.integer(0, 9);
    if (luck == 0) a(k, k) = T(0);
    if (luck == 1) a(random.integer(0, n - 1), k) = random.integer(0, 1) ? nan<T>() : infinity<T>();
    const auto before = a;
    const R anorm = std::ldexp(R(1), static_cast<int>(random.integer(-9, 9)));
    std::vector<T> work(4 * static_cast<std::size_t>(n));
    std::vector<SecondWork<T, std::int32_t>> work2(work.size());
    const cpu::ConditionWork<T> spaces{work.data(),
                                       decltype(cpu::ConditionWork<T>::second)(work2.data())};
    R rcond = 0;
    const HostView<const T> given = before.view();
    const Index info = routine == 0   ? cpu::gecon<T>(cpu, kind, given, anorm, rcond, spaces)
                       : routine == 1 ? cpu::pocon<T>(cpu, uplo, given, anorm, rcond, spaces)
                                      : cpu::trcon<T>(cpu, kind, uplo, diag, given, rcond, spaces);
    Operand<T> there(this->device(), a, this->on_device(random, n));
    const HostView<const T> view = there.view();
    expect_condition<T>(routine == 0   ? gecon<T>(norm, view, anorm)
                        : routine == 1 ? pocon<T>(uplo, view, anorm)
                                       : trcon<T>(norm, uplo, diag, view),
                        info, rcond);
    there.fetch();
    EXPECT_TRUE(same_bits(a, before));
  });
}

// ---- LU -------------------------------------------------------------------------------------

template <class T>
struct LuProblem {
  Padded<T> a;
  std::optional<Index> info;  ///< what the factorization ends in, if that is not left to rounding
  bool exact = false;         ///< no rounding at all: factors and pivots are LAPACK's
};

/// Columns of ones side by side: all numbers that LU meets are 0 and +-1 (Schrijver, Theory of
/// Linear and Integer Programming, chapter 19: interval matrices are totally unimodular).
template <class T>
Padded<T> interval_matrix(Random& random, Index m, Index n, Index padding) {
  Padded<T> a(m, n, padding);
  for (Index j = 0; j < n; ++j) {
    const Index first = random.integer(0, m - 1), last = random.integer(first, m - 1);
    const T x = phase<T>(random.integer(0, 3));
    for (Index i = 0; i < m; ++i) a(i, j) = first <= i && i <= last ? x : T(0);
  }
  return a;
}

template <class T>
LuProblem<T> draw_lu(Random& random, Index m, Index n, Index exponent) {
  const Index padding = random.integer(0, 1) * random.integer(0, 9);
  const Index k = random.integer(0, std::min(m, n) - 1);
  const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
  const Index kind = random.integer(0, 5);
  LuProblem<T> problem{random_matrix<T>(m, n, seed, padding), 0};
  // Twice the same row is singular, and if it is a large one split operands keep less of the rest.
  const bool rows_differ = kind != 2 && random.integer(0, 1) == 0;
  scale(problem.a, random_exponents(random, m, rows_differ ? exponent : 0),
        random_exponents(random, n, random.integer(0, 1) * exponent));
  switch (kind) {
    case 0:
      for (Index i = 0; i < m; ++i) problem.a(i, k) = T(0);
      problem.info = k + 1;
      break;
    case 1:
      problem = {interval_matrix<T>(random, m, n, padding), std::nullopt, true};
      break;
    case 2:
      for (Index j = 0; j < n; ++j) problem.a(k, j) = problem.a(m - 1, j);
      if (k < m - 1) problem.info = std::nullopt;
      break;
    default:
      break;
  }
  return problem;
}

TYPED_TEST(RandomCalls, Lu) {
  using T = TypeParam;
  this->repeat([this](Random& random) {
    const Index n = this->draw_order(random), nrhs = random.integer(0, 1) * random.integer(0, 20);
    const Index m = nrhs > 0 || random.integer(0, 2) == 0 ? n : this->draw_order(random);
    const auto problem = draw_lu<T>(random, m, n, this->draw_exponent(random));
    const Padded<T>& a = problem.a;
    const auto b = random_matrix<T>(n, nrhs, 1, random.integer(0, 3));
    auto lu = a, x = b, cpu_lu = a;
    std::vector<Index> pivots, cpu_pivots(static_cast<std::size_t>(std::min(m, n)));
    const Index cpu_info = this->cpu_lapack().getrf(cpu_lu.view(), cpu::Pivots(cpu_pivots.data()));
    SCOPED_TRACE(testing::Message() << "m=" << m << " n=" << n << " nrhs=" << nrhs);
    if (problem.info) {
      ASSERT_EQ(cpu_info, *problem.info) << "of the CPU LAPACK";
    }

    Operand<T> a_there(this->device(), lu, this->on_device(random, n));
    Operand<T> b_there(this->device(), x, this->on_device(random, n));
    const bool separately = random.integer(0, 1) == 0;  // getrf and getrs, or gesv
    constexpr Op kOps[] = {Op::none, Op::trans, Op::conj_trans};
    const Op op = separately ? kOps[random.integer(0, 2)] : Op::none;
    const Index info = separately || nrhs == 0 ? getrf<T>(a_there.view(), pivots)
                                               : gesv<T>(a_there.view(), pivots, b_there.view());
    if (problem.info || problem.exact) {
      EXPECT_EQ(info, cpu_info);
    }
    if (separately && nrhs > 0 && info == 0) {
      EXPECT_EQ(getrs<T>(op, a_there.view(), pivots, b_there.view()), 0);
    }
    a_there.fetch();
    b_there.fetch();

    EXPECT_TRUE(lu.padding_untouched());
    EXPECT_TRUE(x.padding_untouched());
    ASSERT_TRUE(valid_pivots(pivots, m));
    if (problem.exact) {
      EXPECT_EQ(pivots, cpu_pivots);
      EXPECT_TRUE(same(lu, cpu_lu));
    }
    const LuFactors<T> factors(lu.view(), pivots), cpu_factors(cpu_lu.view(), cpu_pivots);
    expect_as_accurate(factors.error(a), cpu_factors.error(a), rare_error_of_lu(std::max(m, n)));
    for (Index j = 0; j < factors.l.cols(); ++j) {
      for (Index i = j + 1; i < m; ++i) ASSERT_LE(abs1(lu(i, j)), 2.001) << i << " " << j;
      if (info == 0 || j + 1 < info) {
        ASSERT_NE(lu(j, j), T(0)) << j;
      }
    }
    if (info > 0) {
      EXPECT_EQ(lu(info - 1, info - 1), T(0));
      EXPECT_TRUE(same(x, b));
    } else if (nrhs > 0 && cpu_info == 0) {
      auto cpu_x = b;
      this->cpu_lapack().getrs(op, cpu_lu.view(), cpu::Pivots(cpu_pivots.data()), cpu_x.view());
      expect_as_accurate(factors.solve_error(op, a, x, b), cpu_factors.solve_error(op, a, cpu_x, b),
                         rare_error_of_lu(n));
    }
  });
}

// ---- Inverses -------------------------------------------------------------------------------

/// max |I - A X| / (|A| |X| eps), where |A| is that of its factors.
template <class T>
double inverse_error(const Padded<Wide<T>>& a, const Padded<double>& sizes,
                     const Padded<Wide<T>>& x) {
  Padded<Wide<T>> one(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) one(i, j) = Wide<T>(i == j);
  }
  return worst_ratio<T>(rest(one, Op::none, a, Op::none, x), bound(Op::none, sizes, Op::none, x));
}

template <class T>
class RandomInverses : public RandomCalls<T> {
 protected:
  /// By trtri or potri.
  void of_a_triangle(Random& random) {
    const Uplo uplo = this->draw_uplo(random);
    const bool of_factor = random.integer(0, 1) == 0;  // potri, or trtri
    const Diag diag = !of_factor && random.integer(0, 1) == 0 ? Diag::unit : Diag::non_unit;
    const Index n = draw(random), k = random.integer(0, n - 1);
    const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
    auto a = random_matrix<T>(n, n, seed, random.integer(0, 3));
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) a(i, j) /= static_cast<Real<T>>(n);
      a(j, j) = of_factor ? T(real(a(j, j)) + Real<T>(3)) : a(j, j) + T(Real<T>(3));
    }
    if (diag == Diag::non_unit) {
      const auto d = random_exponents(random, n, this->draw_exponent(random) / 4);
      scale(a, d, std::vector<int>(d.size(), 0));
    }
    const bool singular = diag == Diag::non_unit && random.integer(0, 5) == 0;
    if (singular) a(k, k) = T(0);
    a.forbid_other_triangle(uplo);
    const auto whole = [&](const Padded<T>& triangle) {
      auto f = widen<T>(triangle.view());
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          if (uplo == Uplo::lower ? i < j : i > j) f(i, j) = Wide<T>(0);
        }
        if (diag == Diag::unit) f(j, j) = Wide<T>(1);
      }
      return f;
    };
    auto x = a, cpu_x = a;
    SCOPED_TRACE(testing::Message()
                 << "n=" << n << " " << char(uplo) << char(diag) << (of_factor ? " potri" : ""));
    Operand<T> there(this->device(), x, this->on_device(random, n));
    const Index info =
        of_factor ? potri<T>(uplo, there.view()) : trtri<T>(uplo, diag, there.view());
    there.fetch();
    EXPECT_EQ(info, singular ? k + 1 : 0);
    EXPECT_TRUE(x.padding_untouched());
    EXPECT_TRUE(x.other_triangle_untouched(uplo));
    if (singular) {
      EXPECT_TRUE(same_bits(x, a));
      return;
    }
    const auto f = whole(a);
    const bool lower = uplo == Uplo::lower;
    const Op one = lower ? Op::none : Op::conj_trans, two = lower ? Op::conj_trans : Op::none;
    Padded<Wide<T>> product(n, n);
    reference::gemm<Wide<T>>(one, two, Wide<T>(1), f.view(), f.view(), Wide<T>(0), product.view());
    const auto error = [&](const Padded<T>& of) {
      return of_factor ? inverse_error<T>(product, bound(one, f, two, f),
                                          widen_hermitian<T>(uplo, of.view()))
                       : inverse_error<T>(f, moduli(f), whole(of));
    };
    of_factor ? cpu::potri<T>(this->cpu_lapack(), uplo, cpu_x.view())
              : cpu::trtri<T>(this->cpu_lapack(), uplo, diag, cpu_x.view());
    EXPECT_LT(error(x), std::max(4 * error(cpu_x) + 10, static_cast<double>(n) / 4));
  }

  /// By getri.
  void of_a_matrix(Random& random) {
    const Index n = draw(random);
    const auto problem = draw_lu<T>(random, n, n, this->draw_exponent(random) / 4);
    auto lu = problem.a;
    std::vector<Index> pivots(static_cast<std::size_t>(n));
    const Index info = this->cpu_lapack().getrf(lu.view(), cpu::Pivots(pivots.data()));
    SCOPED_TRACE(testing::Message() << "n=" << n);
    auto x = lu, cpu_x = lu;
    Operand<T> there(this->device(), x, this->on_device(random, n));
    const auto columns = static_cast<std::int32_t>(random.integer(1, 9));
    const Index result = getri<T>(there.view(), pivots, columns);
    there.fetch();
    EXPECT_EQ(result, info);
    EXPECT_TRUE(x.padding_untouched());
    if (info > 0) {
      EXPECT_TRUE(same_bits(x, lu));
      return;
    }
    std::vector<T> work(static_cast<std::size_t>(n * columns));
    cpu::getri<T>(this->cpu_lapack(), cpu_x.view(), cpu::Pivots(pivots.data()),
                  {work.data(), n * columns});
    const auto a = widen<T>(problem.a.view());
    const auto error = [&](const Padded<T>& of) {
      const double result = inverse_residual<T>(a, widen<T>(of.view()));
      return std::isnan(result) ? HUGE_VAL : result;
    };
    expect_as_accurate(error(x), error(cpu_x));
  }

 private:
  Index draw(Random& random) { return std::min<Index>(this->draw_order(random), 64); }
};
TYPED_TEST_SUITE(RandomInverses, Precisions);

TYPED_TEST(RandomInverses, OfTrianglesAndMatrices) {
  this->repeat([this](Random& random) {
    random.integer(0, 2) > 0 ? this->of_a_triangle(random) : this->of_a_matrix(random);
  });
}

// ---- QR and LQ --------------------------------------------------------------------------------

using cpu::Reflectors;

/// Each column by a power of two of its own, up to nearly all that there are.
template <class T>
void scale_columns(Random& random, Padded<T>& a) {
  constexpr Index kExponents[] = {0, 9, std::numeric_limits<Real<T>>::max_exponent - 12};
  scale(a, std::vector<int>(static_cast<std::size_t>(a.rows())),
        random_exponents(random, a.cols(), kExponents[random.integer(0, 2)]));
}

/// By a diagonal of all signs.
template <class T>
void make_well_conditioned(Padded<T>& a) {
  const Index count = std::min(a.rows(), a.cols());
  const auto size = static_cast<Real<T>>(3 * std::sqrt(static_cast<double>(count)));
  for (Index j = 0; j < count; ++j) a(j, j) += phase<T>(j) * T(j % 3 == 1 ? -size : size);
}

template <class T>
struct QrProblem {
  Padded<T> a;
  bool well_conditioned;  ///< so R, the reflectors and tau are LAPACK's to rounding
  Index finite;           ///< so many columns before one with a number that is not
};

template <class T>
QrProblem<T> draw_qr(Random& random, Index m, Index n) {
  const Index count = std::min(m, n), kind = random.integer(0, 5);
  const Index padding = random.integer(0, 1) * random.integer(0, 9);
  const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
  QrProblem<T> problem{random_matrix<T>(m, n, seed, padding), kind < 3, n};
  Padded<T>& a = problem.a;
  if (problem.well_conditioned) make_well_conditioned(a);
  if (kind == 0) {  // nothing is reflected in the first columns
    for (Index j = random.integer(0, count) - 1; j >= 0; --j) {
      a(j, j) = T(std::abs(a(j, j)));
      for (Index i = j + 1; i < m; ++i) a(i, j) = T(0);
    }
  }
  for (Index copies = kind == 3 ? random.integer(1, 9) : 0; copies > 0; --copies) {
    const Index to = random.integer(0, n - 1), from = random.integer(-1, to - 1);
    for (Index i = 0; i < m; ++i) a(i, to) = from < 0 ? T(0) : a(i, from);
  }
  scale_columns(random, a);
  if (random.integer(0, 9) == 0) {
    problem.finite = random.integer(0, n - 1);
    const T bad = random.integer(0, 1) == 0 ? nan<T>() : infinity<T>();
    a(random.integer(0, m - 1), problem.finite) = bad;
  }
  return problem;
}

/// In place of each element the norm of its column.
template <class T>
Padded<double> norms_of_columns(const Padded<T>& a) {
  Padded<double> norms(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j) {
    double norm = 0;
    for (Index i = 0; i < a.rows(); ++i) {
      norm = std::hypot(norm, static_cast<double>(std::abs(a(i, j))));
    }
    for (Index i = 0; i < a.rows(); ++i) norms(i, j) = norm;
  }
  return norms;
}

/// max |X - Y| / (sizes eps).
template <class T>
double distance(const Padded<double>& sizes, const Padded<T>& x, Padded<Wide<T>> y) {
  for (Index j = 0; j < y.cols(); ++j) {
    for (Index i = 0; i < y.rows(); ++i) y(i, j) -= Wide<T>(x(i, j));
  }
  return worst_ratio<T>(y, sizes);
}

/// The first columns of the unit matrix.
template <class T>
Padded<T> unit_columns(Index m, Index n) {
  Padded<T> a(m, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) a(i, j) = T(i == j);
  }
  return a;
}

/// What ?geqrf leaves of a matrix. ?gelqf leaves the adjoint, of the adjoint matrix.
template <class T>
struct QrFactors {
  using W = Wide<T>;

  explicit QrFactors(Padded<T> of)
      : a(std::move(of)), tau(static_cast<std::size_t>(std::min(a.rows(), a.cols()))) {}

  Index count() const { return static_cast<Index>(tau.size()); }
  /// op(Q) C for the first reflectors, in double precision.
  Padded<W> product(Op op, Index reflectors, Padded<W> c) const {
    const auto v = widen<T>(a.view().block(0, 0, a.rows(), reflectors));
    const std::vector<W> wide_tau(tau.begin(), tau.end());
    const Index size = 32 * c.cols();
    std::vector<W> work(static_cast<std::size_t>(size));
    cpu::ormqr<W>(cpu::lapack<W>(cpu::Family::lp64), Reflectors::columns, Side::left, op, v.view(),
                  wide_tau.data(), c.view(), {work.data(), size});
    return c;
  }
  /// Of the first columns of A = Q R.
  double error(const Padded<T>& of, Index columns) const {
    if (columns == 0) return 0;
    Padded<W> r(a.rows(), columns);
    Padded<T> given(a.rows(), columns);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < a.rows(); ++i) {
        r(i, j) = i <= j ? W(a(i, j)) : W(0);
        given(i, j) = of(i, j);
      }
    }
    return distance(norms_of_columns(given), given,
                    product(Op::none, std::min(columns, count()), std::move(r)));
  }
  /// Of Q^H Q = I, for the first reflectors.
  double error_of_q(Index reflectors) const {
    if (reflectors == 0) return 0;
    const auto one = unit_columns<T>(reflectors, reflectors);
    const auto q = product(Op::none, reflectors, unit_columns<W>(a.rows(), reflectors));
    Padded<W> product_of_q(reflectors, reflectors);
    reference::gemm<W>(Op::conj_trans, Op::none, W(1), q.view(), q.view(), W(0),
                       product_of_q.view());
    return distance(norms_of_columns(one), one, std::move(product_of_q));
  }

  Padded<T> a;
  std::vector<T> tau;
};

template <class T>
class RandomQr : public RandomCalls<T> {
 protected:
  /// Three of four have few rows or columns, or another number of them.
  Shape draw_shape(Random& random) {
    const Index n = this->draw_order(random), few = random.integer(1, 20);
    const Index many = random.integer(1, this->device().emulated() ? 1000 : 30000);
    const Shape shapes[] = {{n, n}, {this->draw_order(random), n}, {many, few}, {few, many}};
    return shapes[random.integer(0, 3)];
  }
  /// At least LAPACK's least.
  WorkWithEnd<T> draw_work(Random& random, Index least) {
    return WorkWithEnd<T>(std::max<Index>(least * random.integer(1, random.integer(1, 40)), 1));
  }
  /// LQ is the CPU's.
  bool is_on_device(Random& random, Reflectors kind, Index order) {
    return kind == Reflectors::columns && this->on_device(random, order);
  }
  /// call(A), or for LQ of the adjoint.
  template <class Call>
  void with_operand(Random& random, Reflectors kind, Padded<T>& a, bool on_device, Call call) {
    const bool rows = kind == Reflectors::rows;
    auto operand = rows ? adjoint(a, random.integer(0, 9)) : a;
    Operand<T> there(this->device(), operand, on_device);
    call(there.view());
    there.fetch();
    EXPECT_TRUE(operand.padding_untouched());
    a = rows ? adjoint(operand) : operand;
  }

  void factors_and_q(Random& random) {
    const Reflectors kind = random.integer(0, 4) == 0 ? Reflectors::rows : Reflectors::columns;
    const auto [m, n] = draw_shape(random);
    SCOPED_TRACE(testing::Message() << (kind == Reflectors::rows ? "LQ of the adjoint, " : "")
                                    << "m=" << m << " n=" << n);
    const auto problem = draw_qr<T>(random, m, n);
    QrFactors<T> factors(problem.a);
    auto work = draw_work(random, n);
    with_operand(random, kind, factors.a, is_on_device(random, kind, factors.count()),
                 [&](HostView<T> a) { EXPECT_EQ(geqrf<T>(kind, a, factors.tau.data(), work), 0); });
    expect_right(problem, factors);
    if (problem.finite < n) return;
    const bool unitary = change_some(random, factors);
    columns_of_q(random, kind, factors, unitary);
    product_with_q(random, kind, factors, unitary);
  }

  /// By ?geqrt and ?gemqrt.
  void factors_with_triangles(Random& random) {
    const auto [m, n] = draw_shape(random);
    const auto problem = draw_qr<T>(random, m, n);
    QrFactors<T> factors(problem.a);
    const Index count = factors.count(), nb = random.integer(1, count);
    SCOPED_TRACE(testing::Message() << "m=" << m << " n=" << n << " nb=" << nb);
    Padded<T> t(nb, count, random.integer(0, 3));
    {
      Operand<T> a(this->device(), factors.a, this->on_device(random, count));
      Operand<T> triangles(this->device(), t, this->on_device(random, count));
      EXPECT_EQ(geqrt<T>(a.view(), triangles.view()), 0);
      a.fetch();
      triangles.fetch();
    }
    EXPECT_TRUE(factors.a.padding_untouched());
    EXPECT_TRUE(t.padding_untouched());
    for (Index j = 0; j < count; ++j) factors.tau[static_cast<std::size_t>(j)] = t(j % nb, j);
    expect_right(problem, factors);
    if (problem.finite < n) return;
    auto v = vectors_of(factors, count, count);
    Operand<T> vectors(this->device(), v, this->on_device(random, count));
    Operand<T> triangles(this->device(), t, this->on_device(random, count));
    expect_product(random, factors, count, [&](Side side, Op op, Padded<T>& c) {
      Operand<T> there(this->device(), c, this->on_device(random, count));
      EXPECT_EQ(gemqrt<T>(side, op, vectors.view(), triangles.view(), there.view()), 0);
      there.fetch();
    });
  }

  /// ?gels, beside textbook loops in double precision.
  void least_squares(Random& random) {
    using W = Wide<T>;
    const auto [m, n] = draw_shape(random);
    const Op op = random.integer(0, 1) == 0 ? Op::none : Op::conj_trans;
    const Index count = std::min(m, n), longer = std::max(m, n), nrhs = random.integer(0, 20);
    SCOPED_TRACE(testing::Message()
                 << "m=" << m << " n=" << n << " nrhs=" << nrhs << " " << char(op));
    const auto seed = static_cast<std::uint64_t>(random.integer(0, 1 << 30));
    auto a = random_matrix<T>(m, n, seed, random.integer(0, 3));
    make_well_conditioned(a);
    const bool singular = random.integer(0, 5) == 0;
    const Index zero = random.integer(0, count - 1);
    for (Index l = 0; singular && l < longer; ++l) (m < n ? a(zero, l) : a(l, zero)) = T(0);
    const auto b = random_matrix<T>(longer, nrhs, 1, random.integer(0, 3));
    auto x = b;
    auto factors = widen<T>(a.view()), exact = widen<T>(b.view());
    std::vector<W> tau(static_cast<std::size_t>(count));
    const Index info = cpu::textbook::gels<W>(cpu::lapack<W>(cpu::Family::lp64), op, factors.view(),
                                              exact.view(), tau.data());
    auto work = draw_work(random, count + std::max(count, nrhs));
    EXPECT_EQ(gels<T>(op, a.view(), x.view(), work), nrhs == 0 ? 0 : info);
    EXPECT_TRUE(a.padding_untouched());
    EXPECT_TRUE(x.padding_untouched());
    if (info > 0) return;
    EXPECT_LT(distance(norms_of_columns(b), x, std::move(exact)), limit(longer, count));
  }

 private:
  /// Of errors beside the norm of a column. In theory they are bounded by the product of order and
  /// reflectors (Higham, Accuracy and Stability of Numerical Algorithms, theorem 19.4).
  static double limit(Index order, Index reflectors) {
    return 20 + static_cast<double>(order + reflectors) / 4;
  }

  void expect_right(const QrProblem<T>& problem, const QrFactors<T>& ours) {
    using W = Wide<T>;
    const auto& [a, well_conditioned, columns] = problem;
    const Index reflectors = std::min(columns, ours.count());
    EXPECT_LT(ours.error(a, columns), limit(a.rows(), reflectors));
    EXPECT_LT(ours.error_of_q(reflectors), limit(a.rows(), reflectors));
    if (!well_conditioned) return;
    QrFactors<T> cpus(a);
    std::vector<T> work(static_cast<std::size_t>(a.cols()));
    cpu::geqrf<T>(this->cpu_lapack(), Reflectors::columns, cpus.a.view(), cpus.tau.data(),
                  {work.data(), a.cols()});
    const double close = 100 * static_cast<double>(ours.count()) * epsilon<T>();
    const auto sizes = norms_of_columns(a);
    EXPECT_TRUE(all_elements({a.rows(), columns}, [&](Index i, Index j) {
      return std::abs(W(ours.a(i, j)) - W(cpus.a(i, j))) <= close * (i > j ? 1 : sizes(i, j));
    }));
    for (std::size_t j = 0; j < static_cast<std::size_t>(reflectors); ++j) {
      EXPECT_EQ(ours.tau[j] == T(0), cpus.tau[j] == T(0)) << j;
      EXPECT_LE(std::abs(ours.tau[j] - cpus.tau[j]), close) << j;
    }
  }

  /// Some reflectors become I, or are not unitary. Returns whether all are.
  static bool change_some(Random& random, QrFactors<T>& factors) {
    const auto any = [&]() -> T& {
      return factors.tau[static_cast<std::size_t>(random.integer(0, factors.count() - 1))];
    };
    for (Index count = random.integer(0, 3) == 0 ? 5 : 0; count > 0; --count) any() = T(0);
    if (random.integer(0, 9) > 0) return true;
    T& tau = any();
    tau = -tau;
    return tau == T(0);
  }
  /// The vectors alone: nobody may read what stands beside them.
  static Padded<T> vectors_of(const QrFactors<T>& factors, Index reflectors, Index columns) {
    Padded<T> v(factors.a.rows(), columns, factors.a.ld() - factors.a.rows());
    for (Index j = 0; j < reflectors; ++j) {
      for (Index i = j + 1; i < v.rows(); ++i) v(i, j) = factors.a(i, j);
    }
    return v;
  }

  void columns_of_q(Random& random, Reflectors kind, const QrFactors<T>& of, bool unitary) {
    const Index m = of.a.rows(), reflectors = random.integer(1, of.count()),
                columns = random.integer(reflectors, std::min(m, reflectors + 20));
    SCOPED_TRACE(testing::Message() << columns << " columns of Q, reflectors=" << reflectors);
    auto q = vectors_of(of, reflectors, columns);
    auto work = draw_work(random, columns);
    with_operand(random, kind, q, unitary && is_on_device(random, kind, reflectors),
                 [&](HostView<T> there) {
                   EXPECT_EQ(orgqr<T>(kind, there, reflectors, of.tau.data(), work), 0);
                 });
    const auto one = unit_columns<T>(m, columns);
    EXPECT_LT(
        distance(norms_of_columns(one), q, of.product(Op::none, reflectors, widen<T>(one.view()))),
        limit(m, reflectors));
  }

  void product_with_q(Random& random, Reflectors kind, const QrFactors<T>& of, bool unitary) {
    const Index m = of.a.rows(), reflectors = random.integer(1, of.count());
    auto v = vectors_of(of, reflectors, of.count());
    const auto before = v;
    with_operand(random, kind, v, unitary && is_on_device(random, kind, reflectors),
                 [&](HostView<T> there) {
                   const HostView<const T> vectors = kind == Reflectors::rows
                                                         ? there.block(0, 0, reflectors, m)
                                                         : there.block(0, 0, m, reflectors);
                   expect_product(random, of, reflectors, [&](Side side, Op op, Padded<T>& c) {
                     const Index lines = side == Side::left ? c.cols() : c.rows();
                     auto work = draw_work(random, lines);
                     Operand<T> c_there(this->device(), c,
                                        unitary && is_on_device(random, kind, std::min(m, lines)));
                     // The Q of LQ is the adjoint.
                     const bool direct = (kind == Reflectors::columns) == (op == Op::none);
                     EXPECT_EQ(ormqr<T>(kind, side, direct ? Op::none : Op::conj_trans, vectors,
                                        of.tau.data(), c_there.view(), work),
                               0);
                     c_there.fetch();
                   });
                 });
    EXPECT_TRUE(same(v, before));
  }

  /// multiply(side, op, C) is to multiply by op(Q) of the first reflectors.
  template <class Multiply>
  void expect_product(Random& random, const QrFactors<T>& of, Index reflectors, Multiply multiply) {
    const bool left = random.integer(0, 1) == 0;
    const Op op = random.integer(0, 1) == 0 ? Op::none : Op::conj_trans;
    const Index m = of.a.rows(), lines = this->draw_order(random);
    SCOPED_TRACE(testing::Message() << (left ? "left " : "right ") << char(op)
                                    << " reflectors=" << reflectors << " lines=" << lines);
    auto given = random_matrix<T>(m, lines, 2, random.integer(0, 3));
    scale_columns(random, given);
    auto c = left ? given : adjoint(given, random.integer(0, 3));
    multiply(left ? Side::left : Side::right, op, c);
    EXPECT_TRUE(c.padding_untouched());
    // C op(Q) is the adjoint of op(Q)^H C^H.
    const Op op_of_columns = left == (op == Op::none) ? Op::none : Op::conj_trans;
    EXPECT_LT(distance(norms_of_columns(given), left ? c : adjoint(c),
                       of.product(op_of_columns, reflectors,
                                  widen<T>(static_cast<const Padded<T>&>(given).view()))),
              limit(m, reflectors));
  }
};
TYPED_TEST_SUITE(RandomQr, Precisions);

/// Most calls are of routines that the device has.
TYPED_TEST(RandomQr, FactorsAndTheirQ) {
  this->repeat([this](Random& random) {
    const Index routines = random.integer(0, 15);
    routines == 0  ? this->least_squares(random)
    : routines < 5 ? this->factors_with_triangles(random)
                   : this->factors_and_q(random);
  });
}

// ---- Mixed precision ------------------------------------------------------------------------

/// How many times larger than LAPACK's stopping test of refinement allows the worst residual is. It
/// is computed in the precision of the solution, so it may be some.
template <class T>
double excess(const Padded<T>& a, const Padded<T>& x, const Padded<T>& b) {
  double norm_a = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < a.cols(); ++j) sum += std::abs(a(i, j));
    norm_a = std::max(norm_a, sum);
  }
  Padded<double> limit(x.rows(), x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    double size = 0;
    for (Index i = 0; i < x.rows(); ++i) size = std::max(size, std::abs(x(i, j)));
    const double root = std::sqrt(static_cast<double>(a.rows()));
    for (Index i = 0; i < x.rows(); ++i) limit(i, j) = size * norm_a * root;
  }
  return worst_ratio<T>(rest(b, Op::none, a, Op::none, x), limit);
}
constexpr double kExcess = 4;

template <class T>
class RandomMixedCalls : public RandomCalls<T> {
 protected:
  struct Solved {
    Padded<T> a, x;
    MixedResult result;
  };
  /// call(A, B, X) with operands here and there. B stays as it is, and A if refinement succeeds.
  template <class Call>
  Solved solve(Random& random, const Padded<T>& a, const Padded<T>& b, Call call) {
    const Index n = a.rows();
    Solved s{a, Padded<T>(n, b.cols(), random.integer(0, 3)), {}};
    auto b_of_call = b;
    Operand<T> a_there(this->device(), s.a, this->on_device(random, n));
    Operand<T> b_there(this->device(), b_of_call, this->on_device(random, n));
    Operand<T> x_there(this->device(), s.x, this->on_device(random, n));
    s.result = call(a_there.view(), b_there.view(), x_there.view());
    a_there.fetch();
    b_there.fetch();
    x_there.fetch();
    EXPECT_TRUE(same_bits(b_of_call, b));
    EXPECT_TRUE(s.a.padding_untouched());
    EXPECT_TRUE(s.x.padding_untouched());
    EXPECT_TRUE(s.result.workspaces_right);
    if (s.result.iter >= 0) {
      EXPECT_TRUE(same_bits(s.a, a));
    }
    return s;
  }
};
TYPED_TEST_SUITE(RandomMixedCalls, DoublePrecisions);

TYPED_TEST(RandomMixedCalls, Lu) {
  using T = TypeParam;
  this->repeat([this](Random& random) {
    const Index n = this->draw_order(random), nrhs = random.integer(0, 12);
    SCOPED_TRACE(testing::Message() << "n=" << n << " nrhs=" << nrhs);
    const auto problem = draw_lu<T>(random, n, n, random.integer(0, 4));
    const auto b = random_matrix<T>(n, nrhs, 1, random.integer(0, 3));
    const auto [a, x, result] = this->solve(
        random, problem.a, b,
        [&](HostView<T> a, HostView<const T> b, HostView<T> x) { return mixed_gesv<T>(a, b, x); });

    ASSERT_TRUE(valid_pivots(result.pivots, n));
    if (problem.info) {
      EXPECT_EQ(result.info, *problem.info);
    }
    if (result.iter >= 0) {
      EXPECT_LT(excess(problem.a, x, b), kExcess);
      return;
    }
    auto cpu_lu = problem.a, cpu_x = b;
    std::vector<Index> cpu_pivots(static_cast<std::size_t>(n));
    const Index cpu_info = this->cpu_lapack().getrf(cpu_lu.view(), cpu::Pivots(cpu_pivots.data()));
    const LuFactors<T> factors(a.view(), result.pivots), cpu_factors(cpu_lu.view(), cpu_pivots);
    expect_as_accurate(factors.error(problem.a), cpu_factors.error(problem.a), rare_error_of_lu(n));
    if (result.info != 0 || cpu_info != 0 || nrhs == 0) return;
    this->cpu_lapack().getrs(Op::none, cpu_lu.view(), cpu::Pivots(cpu_pivots.data()), cpu_x.view());
    expect_as_accurate(factors.solve_error(Op::none, problem.a, x, b),
                       cpu_factors.solve_error(Op::none, problem.a, cpu_x, b), rare_error_of_lu(n));
  });
}

TYPED_TEST(RandomMixedCalls, Cholesky) {
  using T = TypeParam;
  this->repeat([this](Random& random) {
    const Uplo uplo = this->draw_uplo(random);
    const Index n = this->draw_order(random), nrhs = random.integer(0, 12);
    SCOPED_TRACE(testing::Message() << "n=" << n << " nrhs=" << nrhs << " " << char(uplo));
    const auto problem = draw_cholesky<T>(random, uplo, n, random.integer(0, 4));
    const auto b = random_matrix<T>(n, nrhs, 1, random.integer(0, 3));
    const auto [a, x, result] =
        this->solve(random, problem.a, b, [&](HostView<T> a, HostView<const T> b, HostView<T> x) {
          return mixed_posv<T>(uplo, a, b, x);
        });

    EXPECT_EQ(result.info, problem.info);
    EXPECT_TRUE(a.other_triangle_untouched(uplo));
    if (result.iter >= 0) {
      EXPECT_LT(excess(widen_hermitian<T>(uplo, problem.a.view()), x, b), kExcess);
      return;
    }
    auto cpu_factor = problem.a, cpu_x = b;
    this->cpu_lapack().potrf(uplo, cpu_factor.view());
    const Index good = result.info == 0 ? n : result.info - 1;
    expect_as_accurate(cholesky_error<T>(problem, a.view(), good),
                       cholesky_error<T>(problem, cpu_factor.view(), good));
    if (result.info != 0 || nrhs == 0) return;
    this->cpu_lapack().potrs(uplo, cpu_factor.view(), cpu_x.view());
    expect_as_accurate(cholesky_solve_error<T>(problem, a.view(), x, b),
                       cholesky_solve_error<T>(problem, cpu_factor.view(), cpu_x, b));
  });
}

// ---- Updates of a Cholesky factor -------------------------------------------------------------

TYPED_TEST(RandomCalls, Updates) {
  using T = TypeParam;
  this->repeat([this](Random& random) {
    const Uplo uplo = this->draw_uplo(random);
    const Index n = this->draw_order(random), k = random.integer(1, random.integer(1, 45));
    SCOPED_TRACE(testing::Message() << "n=" << n << " k=" << k << " " << char(uplo));
    std::vector<int> signs;
    const Index kind = random.integer(0, 2);  // up, down, both
    for (Index j = 0; j < k; ++j) {
      signs.push_back(kind == 0 || (kind == 2 && random.integer(0, 1) == 0) ? 1 : -1);
    }
    // A - V_- V_-^H remains half of A at least; one vector may be too long for that.
    auto factor = positive_definite<T>(n, 1, random.integer(0, 3));
    ASSERT_EQ(reference::potrf<T>(uplo, factor.view()), 0);
    factor.forbid_other_triangle(uplo);
    auto v = random_matrix<T>(n, k, 2, random.integer(0, 3));
    const auto size = static_cast<Real<T>>(0.25 / std::sqrt(static_cast<double>(n * k)));
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < n; ++i) v(i, j) *= size;
    }
    const bool possible = kind == 0 || random.integer(0, 3) != 0;
    if (!possible) {
      const Index j = random.integer(0, k - 1);
      signs[static_cast<std::size_t>(j)] = -1;
      v(random.integer(0, n - 1), j) = T(100);
    }
    const auto before = factor;
    const auto l = lower_factor<T>(uplo, factor.view(), n);
    auto v_of_call = v;
    Operand<T> a_there(this->device(), factor, this->on_device(random, n));
    Operand<T> v_there(this->device(), v_of_call, this->on_device(random, n));
    Index info = kNoInfo;
    Exported<T>::cholupdate_mixed(static_cast<char>(uplo), n, k, a_there.view().data, factor.ld(),
                                  v_there.view().data, v.ld(), signs.data(), &info);
    a_there.fetch();
    v_there.fetch();

    EXPECT_TRUE(same_bits(v_of_call, v));
    if (!possible) {
      EXPECT_GT(info, 0);
      EXPECT_TRUE(same_bits(factor, before));
      return;
    }
    EXPECT_EQ(info, 0);
    EXPECT_TRUE(factor.padding_untouched());
    EXPECT_TRUE(factor.other_triangle_untouched(uplo));
    using W = Wide<T>;
    auto scaled_v = widen<T>(v.view());
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < n; ++i) scaled_v(i, j) *= W(signs[static_cast<std::size_t>(j)]);
    }
    Padded<W> a(n, n);
    reference::gemm<W>(Op::none, Op::conj_trans, W(1), l.view(), l.view(), W(0), a.view());
    reference::gemm<W>(Op::none, Op::conj_trans, W(1), scaled_v.view(), widen<T>(v.view()).view(),
                       W(1), a.view());
    const double norm = norm1(a);
    const auto updated = lower_factor<T>(uplo, factor.view(), n);
    const auto error = rest(std::move(a), Op::none, updated, Op::conj_trans, updated);
    EXPECT_LT(scaled(norm1(error), static_cast<double>(n) * norm, epsilon<T>()), kThreshold);
  });
}

}  // namespace
}  // namespace overlapack
