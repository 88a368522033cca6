// Calls drawn at random: shapes, block sizes, kinds of matrices, faults, scarce memory and operands
// on the device together, where other tests take them one by one. Results are judged element by
// element, by the bounds of textbooks (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., theorems 9.3, 9.4, 10.3 and 10.4) with the CPU LAPACK's result as the measure of what can be
// had: a norm of the whole matrix would not see what is lost in its small rows.
//
// For longer runs OVERLAPACK_TEST_CALLS sets the number of calls of a test, and
// OVERLAPACK_TEST_SEED the seed of the first; each further call has the next seed. So scripts/soak
// goes on with calls that are new (--gtest_repeat).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpu/condition.hpp"
#include "cpu/inverse.hpp"
#include "cpu/lapack.hpp"
#include "dispatch/residency.hpp"
#include "support/environment_number.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

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

/// An operand in ordinary memory or in the device's.
template <class T>
class Operand {
 public:
  Operand(Device& device, Padded<T>& host, bool on_device) : host_(host) {
    if (on_device && !host.view().empty()) there_.emplace(device, host);
  }
  HostView<T> view() { return there_ ? there_->view() : host_.view(); }
  void fetch() {
    if (there_) there_->fetch();
  }

 private:
  Padded<T>& host_;
  std::optional<OnDevice<T>> there_;
};

template <class T>
class RandomCalls : public RoutedTest {
 protected:
  /// Makes the calls of a test, and expects most to have used the device.
  void repeat(const std::function<void(Random&)>& call) {
    static std::map<std::string, Index> calls_before;  // of each test, if it is repeated
    Index& before_this =
        calls_before[testing::UnitTest::GetInstance()->current_test_info()->name()];
    const Index first = number_in("OVERLAPACK_TEST_SEED", 1) + before_this;
    const Index count = number_in("OVERLAPACK_TEST_CALLS", device().emulated() ? 400 : 60);
    Index on_device = 0;
    for (Index seed = first; seed < first + count && !HasFailure(); ++seed) {
      SCOPED_TRACE(testing::Message() << "OVERLAPACK_TEST_SEED=" << seed);
      Random random(static_cast<std::uint64_t>(seed));
      const std::size_t before = device().counters().kernels;
      draw_circumstances(random);
      call(random);
      device().set_observer(nullptr);
      on_device += device().counters().kernels > before;
    }
    EXPECT_GE(2 * on_device, count) << "calls did not reach the device";
    before_this += count;
    RecordProperty("calls", static_cast<int>(count));  // for scripts/count-promises
  }

  /// Orders up to 150, small ones more often; on a GPU, whose blocks are larger, up to 700.
  Index draw_order(Random& random) {
    const Index largest = device().emulated() ? 150 : 700;
    return random.integer(1, random.integer(1, largest));
  }
  Uplo draw_uplo(Random& random) { return kUplos[random.integer(0, 1)]; }
  /// So that numbers scaled twice, and their products, are no powers beyond what a factorization
  /// can hold.
  Index draw_exponent(Random& random) {
    return random.integer(0, std::is_same_v<Real<T>, float> ? 15 : 120);
  }
  /// Whether an operand of a call of order n is to lie there, where it is recognised.
  bool on_device(Random& random, Index n) {
    return residents_ && n * n >= dispatch::kSmallestResident && random.integer(0, 2) == 0;
  }

  static const cpu::Lapack<T>& cpu_lapack() { return cpu::lapack<T>(cpu::Family::lp64); }

 private:
  void draw_circumstances(Random& random) {
    const Index nbs[] = {2, 5, 16, 32, 48, 64, 100, 128, 0};
    auto settings = settings_for(kAlgorithms[random.integer(0, 1)], nbs[random.integer(0, 8)]);
    const Index luck = random.integer(0, 7);
    if (luck == 0) {
      settings.memory_limit = static_cast<std::size_t>(random.integer(1000, 1000000));
    } else if (luck <= 2) {
      fault_.emplace(random.integer(1, random.integer(1, 1000)), random.integer(0, 1) == 0);
      device().set_observer(&*fault_);
    }
    if (random.integer(0, 1) == 0) settings.upload = dispatch::Upload::halves;
    use(settings);
    residents_ = luck > 2;         // what lies on a device that fails is lost
    device().set_memory_limit(0);  // until the call sets it
  }

  std::optional<FaultAt> fault_;
  bool residents_ = false;
};
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
