// dsgesv, dsposv, zcgesv and zcposv by their exported names, on every device and in both
// algorithms.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "algorithms/refine/refine.hpp"
#include "dispatch/calls.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;
using dispatch::Upload;

// For n = 1 and 2 LAPACK's stopping test may be out of reach: the rounding of the residual can be
// larger.
constexpr Index kOrders[] = {1, 2, 15, 16, 17, 33, 64, 100, 129};
constexpr Index kRightHandSides[] = {0, 1, 3, 40};
constexpr Index kOverflow = -2;
using algorithms::kNoConvergence;
using algorithms::kNotFactored;

/// Whether all elements are equal, a NaN as good as another.
template <class T>
bool same_or_nan(const Padded<T>& x, const Padded<T>& y) {
  return same(x, y, [](T a, T b) { return a == b || (is_nan(a) && is_nan(b)); });
}

/// One call and what it was given.
template <class T>
struct Solved {
  Padded<T> a, b, x;
  MixedResult result;
};

/// A type, and how large matrices of it arrive.
template <class T, Upload kUpload>
struct Arrival {
  using Scalar = T;
  static constexpr Upload upload = kUpload;
};
using Arrivals =
    testing::Types<Arrival<double, Upload::columns>, Arrival<std::complex<double>, Upload::columns>,
                   Arrival<double, Upload::halves>, Arrival<std::complex<double>, Upload::halves>>;

template <class Arriving>
class MixedCalls : public RoutedTest {
 protected:
  using T = typename Arriving::Scalar;

  void route(Algorithm algorithm, Index nb, Index min_n = 1) {
    auto settings = settings_for(algorithm, nb, min_n);
    settings.upload = Arriving::upload;
    use(settings);
  }
  Solved<T> gesv(const Padded<T>& a, const Padded<T>& b) {
    Solved<T> s{a, b, Padded<T>(b.rows(), b.cols(), 2), {}};
    s.result = mixed_gesv<T>(s.a.view(), s.b.view(), s.x.view());
    expect_untouched(s, b);
    return s;
  }
  Solved<T> posv(Uplo uplo, const Padded<T>& a, const Padded<T>& b) {
    Solved<T> s{a, b, Padded<T>(b.rows(), b.cols(), 2), {}};
    s.a.forbid_other_triangle(uplo);
    s.result = mixed_posv<T>(uplo, s.a.view(), s.b.view(), s.x.view());
    expect_untouched(s, b);
    EXPECT_TRUE(s.a.other_triangle_untouched(uplo));
    return s;
  }
  static void expect_untouched(const Solved<T>& s, const Padded<T>& b) {
    EXPECT_TRUE(same_or_nan(s.b, b));
    EXPECT_TRUE(s.b.padding_untouched());
    EXPECT_TRUE(s.a.padding_untouched());
    EXPECT_TRUE(s.x.padding_untouched());
    EXPECT_TRUE(s.result.workspaces_right);
  }
  static void expect_solution(const Padded<T>& a, const Solved<T>& s) {
    EXPECT_LT(solve_residual(Op::none, a, s.x, s.b), kThreshold);
  }
  /// A holds the factors in double precision, and X comes from them.
  static void expect_lu_in_double(const Padded<T>& a, const Solved<T>& s) {
    ASSERT_TRUE(valid_pivots(s.result.pivots, a.rows()));
    EXPECT_LT(getrf_residual<T>(a.view(), s.a.view(), s.result.pivots), kThreshold);
    expect_solution(a, s);
  }
  static void expect_cholesky_in_double(Uplo uplo, const Padded<T>& a, const Solved<T>& s) {
    EXPECT_LT(potrf_residual<T>(uplo, a.view(), s.a.view()), kThreshold);
    expect_solution(a, s);
  }
};
TYPED_TEST_SUITE(MixedCalls, Arrivals);

/// Those that are answered by refinement.
template <class Arriving>
class Refine : public MixedCalls<Arriving> {
 protected:
  void SetUp() override {
    MixedCalls<Arriving>::SetUp();
    if (!this->IsSkipped() && !this->rounds()) GTEST_SKIP() << this->kNoRounding;
  }
};
TYPED_TEST_SUITE(Refine, Arrivals);

/// LAPACK's -1: for reasons of the machine.
TYPED_TEST(MixedCalls, WithoutRoundingAreAnsweredInDoublePrecision) {
  using T = typename TypeParam::Scalar;
  if (this->rounds()) GTEST_SKIP() << "this device rounds to single precision";
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Index n : kOrders) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " n=" << n);
      const auto a = random_matrix<T>(n, n, 1, 2), spd = positive_definite<T>(n, 1);
      const auto b = random_matrix<T>(n, 3, 2, 1);
      const std::size_t before = this->uploaded();
      const auto by_lu = this->gesv(a, b);
      EXPECT_EQ(by_lu.result.info, 0);
      EXPECT_EQ(by_lu.result.iter, -1);
      this->expect_lu_in_double(a, by_lu);
      for (const Uplo uplo : kUplos) {
        const auto by_cholesky = this->posv(uplo, spd, b);
        EXPECT_EQ(by_cholesky.result.info, 0);
        EXPECT_EQ(by_cholesky.result.iter, -1);
        this->expect_cholesky_in_double(uplo, spd, by_cholesky);
      }
      EXPECT_GT(this->uploaded(), before) << "the calls did not reach the device";
    }
  }
}

TYPED_TEST(Refine, GesvLeavesTheMatrix) {
  using T = typename TypeParam::Scalar;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Index n : kOrders) {
      for (const Index nrhs : kRightHandSides) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " n=" << n << " nrhs=" << nrhs);
        const auto a = random_matrix<T>(n, n, 1, 2);
        const std::size_t before = this->uploaded();
        const auto s = this->gesv(a, random_matrix<T>(n, nrhs, 2, 1));
        EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
        EXPECT_EQ(s.result.info, 0);
        this->expect_solution(a, s);
        if (n <= 2 && s.result.iter == kNoConvergence) continue;
        EXPECT_GE(s.result.iter, 0);
        EXPECT_LE(s.result.iter, 10);
        EXPECT_TRUE(same_or_nan(s.a, a));
        EXPECT_TRUE(valid_pivots(s.result.pivots, n));
      }
    }
  }
}

TYPED_TEST(Refine, PosvLeavesTheMatrix) {
  using T = typename TypeParam::Scalar;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Index n : kOrders) {
      for (const Index nrhs : kRightHandSides) {
        for (const Uplo uplo : kUplos) {
          SCOPED_TRACE(testing::Message() << name_of(algorithm) << " n=" << n << " nrhs=" << nrhs
                                          << " " << char(uplo));
          const auto a = positive_definite<T>(n, 1, 2);
          auto triangle = a;
          triangle.forbid_other_triangle(uplo);
          const std::size_t before = this->uploaded();
          const auto s = this->posv(uplo, a, random_matrix<T>(n, nrhs, 2, 1));
          EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
          EXPECT_EQ(s.result.info, 0);
          this->expect_solution(a, s);
          if (n <= 2 && s.result.iter == kNoConvergence) continue;
          EXPECT_GE(s.result.iter, 0);
          EXPECT_LE(s.result.iter, 10);
          EXPECT_TRUE(same_or_nan(s.a, triangle));
        }
      }
    }
  }
}

TYPED_TEST(Refine, PosvOfManyBlocks) {  // several in a region, the first applied ahead
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 2);
  for (const Uplo uplo : kUplos) {
    const auto a = positive_definite<T>(99, 1);
    const auto s = this->posv(uplo, a, random_matrix<T>(99, 3, 2, 1));
    EXPECT_EQ(s.result.info, 0);
    EXPECT_GE(s.result.iter, 0);
    this->expect_solution(a, s);
  }
}

TYPED_TEST(Refine, PosvIgnoresImaginaryPartsOfTheDiagonal) {
  using T = typename TypeParam::Scalar;
  if constexpr (is_complex<T>) {
    this->route(Algorithm::tiled, 16);
    const Index n = 40;
    for (const Uplo uplo : kUplos) {
      const auto a = positive_definite<T>(n, 1);
      auto with_imaginary_parts = a;
      for (Index i = 0; i < n; ++i) with_imaginary_parts(i, i) += T(0, 1e10);
      const auto s = this->posv(uplo, with_imaginary_parts, random_matrix<T>(n, 3, 2));
      EXPECT_EQ(s.result.info, 0);
      EXPECT_GE(s.result.iter, 0);
      this->expect_solution(a, s);
    }
  }
}

TYPED_TEST(Refine, PivotsAreThoseOfTheFactorsInSinglePrecision) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  const Index n = 100;
  const auto a = random_matrix<T>(n, n, 1);
  Padded<Single<T>> rounded(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) rounded(i, j) = static_cast<Single<T>>(a(i, j));
  }
  std::vector<Index> pivots;
  ASSERT_EQ(getrf<Single<T>>(rounded.view(), pivots), 0);
  EXPECT_EQ(this->gesv(a, random_matrix<T>(n, 1, 2)).result.pivots, pivots);
}

TYPED_TEST(Refine, TheMatrixGoesUpOnceAndNeverComesHome) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  const Index n = 100, nrhs = 3;
  auto a = random_matrix<T>(n, n, 1);
  const auto b = random_matrix<T>(n, nrhs, 2);
  constexpr std::size_t matrix = sizeof(T) * n * n, rhs = sizeof(T) * n * nrhs;
  const DeviceCounters& counters = this->device().counters();
  std::size_t up = counters.bytes_to_device, down = counters.bytes_to_host;
  EXPECT_GE(this->gesv(a, b).result.iter, 0);
  EXPECT_EQ(counters.bytes_to_device - up, matrix + rhs);
  EXPECT_LT(counters.bytes_to_host - down, matrix / 4);

  a(n / 2, n / 2) = T(1e300);  // and not for a second factorization, either
  up = counters.bytes_to_device;
  EXPECT_EQ(this->gesv(a, b).result.iter, kOverflow);
  EXPECT_EQ(counters.bytes_to_device - up, matrix + rhs);
}

TYPED_TEST(Refine, ExactSolutionsNeedNoIteration) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  const Index n = 40;
  Padded<T> a(n, n), b(n, 2);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) = T(i == j ? 4 : 0);
  }
  for (Index i = 0; i < n; ++i) b(i, 0) = b(i, 1) = T(static_cast<Real<T>>(i));
  EXPECT_EQ(this->gesv(a, b).result.iter, 0);
  EXPECT_EQ(this->posv(Uplo::lower, a, b).result.iter, 0);
}

TYPED_TEST(Refine, WhatOverflowsIsSolvedInDoublePrecision) {
  using T = typename TypeParam::Scalar;
  const Real<T> beyond = std::nextafter(Real<T>(std::numeric_limits<float>::max()), 1e300);
  const T large[] = {T(1e300), T(-1e39), T(beyond)};
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const T& number : large) {
      for (const Index n : {20, 70}) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " n=" << n << " " << number);
        auto a = random_matrix<T>(n, n, 1, 2);
        auto b = random_matrix<T>(n, 3, 2, 1);
        a(n / 2, n - 1) = number;
        auto s = this->gesv(a, b);
        EXPECT_EQ(s.result.iter, kOverflow);
        EXPECT_EQ(s.result.info, 0);
        this->expect_lu_in_double(a, s);

        for (const Uplo uplo : kUplos) {
          auto spd = positive_definite<T>(n, 1, 2);
          spd(n / 2, n / 2) = T(std::abs(number));
          s = this->posv(uplo, spd, b);
          EXPECT_EQ(s.result.iter, kOverflow) << char(uplo);
          EXPECT_EQ(s.result.info, 0) << char(uplo);
          this->expect_cholesky_in_double(uplo, spd, s);
        }

        a = random_matrix<T>(n, n, 1, 2);
        b(n - 1, 1) = number;
        s = this->gesv(a, b);
        EXPECT_EQ(s.result.iter, kOverflow);
        this->expect_lu_in_double(a, s);
        for (const Uplo uplo : kUplos) {
          const auto spd = positive_definite<T>(n, 1, 2);
          s = this->posv(uplo, spd, b);
          EXPECT_EQ(s.result.iter, kOverflow) << char(uplo);
          this->expect_cholesky_in_double(uplo, spd, s);
        }
      }
    }
  }
}

TYPED_TEST(Refine, OverflowIsFoundBeforeTheFactorizationBreaksDown) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  const Index n = 40;
  const auto b = random_matrix<T>(n, 2, 2);
  auto a = random_matrix<T>(n, n, 1);
  for (Index i = 0; i < n; ++i) a(i, 5) *= 1e-60;  // zero when rounded
  a(30, 20) = T(1e300);
  auto s = this->gesv(a, b);
  EXPECT_EQ(s.result.iter, kOverflow);
  EXPECT_EQ(s.result.info, 0);
  for (const Uplo uplo : kUplos) {
    auto spd = positive_definite<T>(n, 1);
    for (Index i = 0; i < n; ++i) spd(i, 5) = spd(5, i) = T(0);
    spd(5, 5) = T(1e-60);
    spd(30, 30) = T(1e300);
    s = this->posv(uplo, spd, b);
    EXPECT_EQ(s.result.iter, kOverflow) << char(uplo);
    EXPECT_EQ(s.result.info, 0) << char(uplo);
  }
}

TYPED_TEST(Refine, EveryRightHandSideConvergesByItself) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  // The first solution is exact at once and large; the others are small, and need refinement.
  const Index n = 60, exact = 10, nrhs = 3;
  auto a = positive_definite<T>(n, 1);
  auto b = random_matrix<T>(n, nrhs, 2);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < exact; ++j) a(i, j) = a(j, i) = T(i == j ? 4 : 0);
    b(i, 0) = T(static_cast<Real<T>>(i < exact ? 1 << 20 : 0));
    for (Index j = 1; j < nrhs; ++j) b(i, j) *= 1e-12;
  }
  for (const auto uplo : {std::optional<Uplo>(), std::optional(Uplo::upper)}) {
    const auto s = uplo ? this->posv(*uplo, a, b) : this->gesv(a, b);
    EXPECT_EQ(s.result.info, 0);
    EXPECT_GE(s.result.iter, 1);
    this->expect_solution(a, s);
  }
}

TYPED_TEST(Refine, TheLargestFloatDoesNotOverflow) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  const Index n = 20;
  Padded<T> a(n, n), b(n, 1);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) = T(i == j);
    b(j, 0) = T(j == 3 ? std::numeric_limits<float>::max() : 1.f);
  }
  EXPECT_EQ(this->gesv(a, b).result.iter, 0);
}

TYPED_TEST(Refine, WhatIsSingularInSinglePrecisionOnlyIsSolvedInDouble) {
  using T = typename TypeParam::Scalar;
  const Index n = 70;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Index position : {0, 40, 69}) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " at " << position);
      auto a = random_matrix<T>(n, n, 1, 2);
      for (Index i = 0; i < n; ++i) a(i, position) *= 1e-60;  // zero when rounded
      const auto b = random_matrix<T>(n, 3, 2, 1);
      auto s = this->gesv(a, b);
      EXPECT_EQ(s.result.iter, kNotFactored);
      EXPECT_EQ(s.result.info, 0);
      this->expect_lu_in_double(a, s);
      for (const Uplo uplo : kUplos) {
        auto spd = positive_definite<T>(n, 1, 2);
        for (Index i = 0; i < n; ++i) spd(i, position) = spd(position, i) = T(0);
        spd(position, position) = T(1e-60);
        s = this->posv(uplo, spd, b);
        EXPECT_EQ(s.result.iter, kNotFactored) << char(uplo);
        EXPECT_EQ(s.result.info, 0) << char(uplo);
        this->expect_cholesky_in_double(uplo, spd, s);
      }
    }
  }
}

TYPED_TEST(Refine, InfoIsThatOfTheFactorizationInDoublePrecision) {
  using T = typename TypeParam::Scalar;
  const Index n = 70;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Index position : {0, 40, 69}) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " at " << position);
      const auto b = random_matrix<T>(n, 3, 2, 1);
      const auto singular = singular_at<T>(n, n, position, 1, 2);
      auto s = this->gesv(singular, b);
      EXPECT_EQ(s.result.iter, kNotFactored);
      EXPECT_EQ(s.result.info, position + 1);
      ASSERT_TRUE(valid_pivots(s.result.pivots, n));
      EXPECT_LT(getrf_residual<T>(singular.view(), s.a.view(), s.result.pivots), kThreshold);
      for (const Uplo uplo : kUplos) {
        const auto indefinite = indefinite_at<T>(n, position, 1, 2);
        s = this->posv(uplo, indefinite, b);
        EXPECT_EQ(s.result.iter, kNotFactored) << char(uplo);
        EXPECT_EQ(s.result.info, position + 1) << char(uplo);
        EXPECT_LT(partial_potrf_residual<T>(uplo, indefinite.view(), s.a.view(), position + 1),
                  kThreshold)
            << char(uplo);
      }
    }
  }
}

TYPED_TEST(Refine, WhatDoesNotConvergeIsSolvedInDoublePrecision) {
  using T = typename TypeParam::Scalar;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Index n : {2, 50}) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " n=" << n);
      const auto a = hardly_refinable<T>(n, 2);
      const auto b = random_matrix<T>(n, 3, 2, 1);
      auto s = this->gesv(a, b);
      EXPECT_EQ(s.result.iter, kNoConvergence);
      EXPECT_EQ(s.result.info, 0);
      this->expect_lu_in_double(a, s);
      for (const Uplo uplo : kUplos) {
        s = this->posv(uplo, a, b);
        EXPECT_EQ(s.result.iter, kNoConvergence) << char(uplo);
        EXPECT_EQ(s.result.info, 0) << char(uplo);
        this->expect_cholesky_in_double(uplo, a, s);
      }
    }
  }
}

/// Rounding decides whether the step after the first one within the limit is within it, too. On the
/// emulated device it is not for these systems, a few of 300000.
TYPED_TEST(Refine, WhatHasConvergedStaysConverged) {
  using T = typename TypeParam::Scalar;
  if (TypeParam::upload == Upload::halves) GTEST_SKIP() << "other factors round elsewhere";
  this->route(Algorithm::tiled, 8);
  const Index n = 8;
  for (const std::uint64_t seed : {123024, 138206, 202938, 228661}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    auto a = random_matrix<T>(n, n, seed);
    for (Index i = 0; i < n; ++i) a(i, i) += T(24);
    const auto s = this->gesv(a, random_matrix<T>(n, 9, seed + 1000));
    EXPECT_GE(s.result.iter, 0);
    EXPECT_LE(s.result.iter, 5);
    this->expect_solution(a, s);
  }
}

/// LAPACK stops within a limit of sqrt(n) units. Here a residual that is not far below it, and
/// falls from step to step, gets further ones, until it is a few units, as behind factors in double
/// precision.
TYPED_TEST(Refine, GoesOnAsLongAsItGains) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 32);
  const Index n = 300;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const auto a = conditioned<T>(n, 1e6, false, seed);
    const auto s = this->gesv(a, random_matrix<T>(n, 1, seed + 100));
    EXPECT_GE(s.result.iter, 0);
    EXPECT_LT(solve_residual(Op::none, a, s.x, s.b), 1);
  }
}

TYPED_TEST(Refine, GivesUpOnceItIsHopeless) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  const Index n = 50;
  const auto a = hardly_refinable<T>(n);
  const auto b = random_matrix<T>(n, 1, 2);
  const DeviceCounters& counters = this->device().counters();
  const auto kernels = [&](auto solve) {
    const std::size_t before = counters.kernels;
    solve();
    return counters.kernels - before;
  };
  const std::size_t direct = kernels([&] {
    auto factor = a, x = b;
    std::vector<Index> pivots;
    EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), 0);
  });
  const std::size_t hopeless =
      kernels([&] { EXPECT_EQ(this->gesv(a, b).result.iter, kNoConvergence); });
  // What breaks down with 21 bits, as this does, is factored once more.
  const std::size_t attempts = TypeParam::upload == Upload::halves ? 2 : 1;
  EXPECT_LT(hopeless, (1 + attempts) * direct + attempts * 200)
      << "30 steps of more than 10 kernels have been made";
}

TYPED_TEST(Refine, NaNsAndInfinities) {
  using T = typename TypeParam::Scalar;
  const Index n = 40;
  for (const Algorithm algorithm : this->kAlgorithms) {
    SCOPED_TRACE(name_of(algorithm));
    this->route(algorithm, 16);
    const auto b = random_matrix<T>(n, 2, 2);
    auto a = random_matrix<T>(n, n, 1);
    a(20, 20) = nan<T>();
    // A NaN passes LAPACK's stopping test.
    auto s = this->gesv(a, b);
    EXPECT_EQ(s.result.iter, 0);
    EXPECT_EQ(s.result.info, 0);
    EXPECT_TRUE(same_or_nan(s.a, a));
    EXPECT_TRUE(is_nan(s.x(0, 0)) && is_nan(s.x(0, 1)));
    a(20, 20) = infinity<T>();
    EXPECT_EQ(this->gesv(a, b).result.iter, kOverflow);

    a = random_matrix<T>(n, n, 1);
    auto bad = b;
    bad(3, 1) = nan<T>();
    s = this->gesv(a, bad);
    EXPECT_GE(s.result.iter, 0);
    EXPECT_FALSE(is_nan(s.x(0, 0)));
    EXPECT_TRUE(is_nan(s.x(0, 1)));
    bad(3, 1) = infinity<T>();
    EXPECT_EQ(this->gesv(a, bad).result.iter, kOverflow);

    for (const Uplo uplo : kUplos) {
      auto spd = positive_definite<T>(n, 1);
      spd(20, 20) = nan<T>();
      s = this->posv(uplo, spd, b);
      EXPECT_EQ(s.result.iter, kNotFactored);
      EXPECT_EQ(s.result.info, 21);
    }
  }
}

/// The solvers as algorithms, which also say in which precision they have ended.
template <class T>
class RefinePrecisions : public Refine<Arrival<T, Upload::columns>> {
 protected:
  struct Result {
    Index info;
    algorithms::Refinement refinement;
    double residual;
  };
  static algorithms::Options options(Precision precision, Index nb, Algorithm algorithm) {
    algorithms::Options options;
    options.nb = nb;
    options.precision = precision;
    options.hybrid = algorithm == Algorithm::hybrid;
    return options;
  }
  /// What is called by name.
  void refine_in(Precision precision) {
    auto settings = this->settings_for(Algorithm::automatic, 8);
    settings.refine = precision;
    this->use(settings);
  }
  Result solve(const algorithms::Options& options, std::optional<Uplo> uplo, const Padded<T>& a) {
    const auto& cpu = dispatch::cpu_lapack<T>(cpu::Family::lp64);
    const auto& single = dispatch::cpu_lapack<Single<T>>(cpu::Family::lp64);
    const Index n = a.rows(), nrhs = 3;
    const auto b = random_matrix<T>(n, nrhs, 2, 1);
    Padded<T> copy = a, x(n, nrhs);
    Result result{};
    Index committed = 0;
    if (uplo) {
      copy.forbid_other_triangle(*uplo);
      result.info = algorithms::mixed_posv<T>(this->device(), {cpu, single}, options, *uplo,
                                              {copy.view(), b.view(), x.view()}, result.refinement,
                                              committed);
    } else {
      algorithms::Interchanges interchanges;
      result.info = algorithms::mixed_gesv<T>(this->device(), {cpu, single}, options,
                                              {copy.view(), b.view(), x.view()}, interchanges,
                                              result.refinement, committed);
      EXPECT_TRUE(result.info != 0 || valid_pivots(interchanges.pivots, n));
    }
    EXPECT_TRUE(uplo || result.refinement.fell_back || same_or_nan(copy, a));
    result.residual = solve_residual(Op::none, a, x, b);
    return result;
  }
  static constexpr std::optional<Uplo> kKinds[] = {std::nullopt, Uplo::lower, Uplo::upper};
  static std::string name_of_kind(std::optional<Uplo> uplo) {
    return uplo ? std::string("Cholesky ") + static_cast<char>(*uplo) : "LU";
  }
};
TYPED_TEST_SUITE(RefinePrecisions, DoublePrecisions);

TYPED_TEST(RefinePrecisions, EachConvergesAsItsAccuracyAllows) {
  using T = TypeParam;
  Index steps[3] = {};  // of all systems of order 129
  for (const Algorithm algorithm : this->kAlgorithms) {
    for (const Index nb : {16, 15}) {
      for (const auto uplo : this->kKinds) {
        for (const Index n : {1, 2, 31, 64, 129}) {
          const auto a = uplo ? positive_definite<T>(n, 1, 2) : random_matrix<T>(n, n, 1, 2);
          for (const Precision precision : kPrecisions) {
            SCOPED_TRACE(testing::Message()
                         << name_of(algorithm) << " " << nb << " " << this->name_of_kind(uplo)
                         << " n=" << n << " " << name_of(precision));
            const auto r = this->solve(this->options(precision, nb, algorithm), uplo, a);
            EXPECT_EQ(r.info, 0);
            EXPECT_LT(r.residual, kThreshold);
            if (n <= 2 && r.refinement.iter == kNoConvergence) continue;
            EXPECT_EQ(r.refinement.precision, precision);
            EXPECT_GE(r.refinement.iter, 0);
            EXPECT_LE(r.refinement.iter, 20);
            if (n == 129) steps[static_cast<int>(precision)] += r.refinement.iter;
          }
        }
      }
    }
  }
  if (!this->device().emulated()) return;  // products so small are not split
  // Operands were rounded to 11 bits. A third of the steps is for what is below the limit.
  const auto of = [&](Precision precision) { return steps[static_cast<int>(precision)]; };
  EXPECT_GT(2 * of(Precision::tf32), 3 * of(Precision::fp32));
  EXPECT_GT(2 * of(Precision::fp16), 3 * of(Precision::fp32));
}

TYPED_TEST(RefinePrecisions, LargeMatricesOnARealDevice) {  // which splits large products only
  using T = TypeParam;
  if (this->device().emulated()) GTEST_SKIP() << "the emulated device splits small ones, too";
  // Random off the diagonal, where a Hermitian matrix has eigenvalues up to `radius`. With 1.2
  // times that on the diagonal every precision converges, but errors of products show.
  const Index n = is_complex<T> ? 2000 : 4000;
  const double variance = is_complex<T> ? 2.0 / 3 : 1.0 / 3;
  const double radius = 2 * std::sqrt(variance * static_cast<double>(n));
  for (const auto uplo : this->kKinds) {
    auto a = random_matrix<T>(n, n, 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; uplo && i < j; ++i) a(j, i) = conj(a(i, j));
      a(j, j) = T(1.2 * radius);
    }
    Index steps[3] = {};
    for (const Precision precision : kPrecisions) {
      SCOPED_TRACE(this->name_of_kind(uplo) + " " + name_of(precision));
      const auto r = this->solve(this->options(precision, 128, Algorithm::tiled), uplo, a);
      EXPECT_EQ(r.info, 0);
      EXPECT_LT(r.residual, kThreshold);
      EXPECT_EQ(r.refinement.precision, precision);
      EXPECT_GE(r.refinement.iter, 1);
      steps[static_cast<int>(precision)] = r.refinement.iter;
    }
    EXPECT_GT(steps[0], steps[2]) << "products in FP16 are more accurate than those in FP32";
    EXPECT_GT(steps[1], steps[2]) << "products in TF32 are more accurate than those in FP32";
  }
}

TYPED_TEST(RefinePrecisions, SwitchesToTheNextHigherOne) {
  using T = TypeParam;
  const Index n = 100, nrhs = 3;
  constexpr std::size_t matrix = sizeof(T) * n * n, rhs = sizeof(T) * n * nrhs;
  for (const Algorithm algorithm : this->kAlgorithms) {
    for (const auto uplo : this->kKinds) {
      const auto a = conditioned<T>(n, 1e6, uplo.has_value());
      for (const Precision precision : kPrecisions) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << this->name_of_kind(uplo)
                                        << " " << name_of(precision));
        const std::size_t before = this->uploaded();
        const auto r = this->solve(this->options(precision, 8, algorithm), uplo, a);
        EXPECT_EQ(r.info, 0);
        EXPECT_LT(r.residual, kThreshold);
        EXPECT_FALSE(r.refinement.fell_back);
        EXPECT_GE(r.refinement.iter, 1);
        if (!this->device().emulated()) continue;  // products so small are not split
        EXPECT_EQ(r.refinement.precision, Precision::fp32);
        if (algorithm == Algorithm::hybrid) continue;  // panels go up and down
        const std::size_t up = this->uploaded() - before;
        if (!uplo) {
          EXPECT_EQ(up, matrix + rhs);
        } else {
          EXPECT_LT(up, matrix + rhs) << "more than one triangle";
        }
      }
    }
  }
}

TYPED_TEST(RefinePrecisions, FallsBackWhereNoneDoes) {
  using T = TypeParam;
  for (const auto uplo : this->kKinds) {
    const auto a = conditioned<T>(100, 1e11, uplo.has_value());
    for (const Precision precision : kPrecisions) {
      SCOPED_TRACE(testing::Message() << this->name_of_kind(uplo) << " " << name_of(precision));
      const auto r = this->solve(this->options(precision, 8, Algorithm::tiled), uplo, a);
      EXPECT_EQ(r.info, 0);
      EXPECT_LT(r.residual, kThreshold);
      EXPECT_TRUE(r.refinement.fell_back);
      EXPECT_EQ(r.refinement.precision, Precision::fp32) << "all have been tried";
      EXPECT_TRUE(r.refinement.iter == kNoConvergence ||
                  (uplo && r.refinement.iter == kNotFactored))
          << r.refinement.iter;
    }
  }
}

TYPED_TEST(RefinePrecisions, Fp16IsScaled) {
  using T = TypeParam;
  const Index n = 100;
  for (const auto uplo : this->kKinds) {
    for (const double scale : {1e-30, 1e-6, 1e7, 1e25}) {
      for (const bool varied : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << this->name_of_kind(uplo) << " " << scale << (varied ? " varied" : ""));
        auto a = uplo ? positive_definite<T>(n, 1) : random_matrix<T>(n, n, 1);
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < n; ++i) {
            const auto factor = [&](Index k) {
              return static_cast<Real<T>>(varied && k % 3 == 0 ? 1 : std::sqrt(scale));
            };
            a(i, j) *= factor(j) * factor(uplo ? i : j);
          }
        }
        const auto r = this->solve(this->options(Precision::fp16, 16, Algorithm::tiled), uplo, a);
        EXPECT_EQ(r.info, 0);
        EXPECT_LT(r.residual, kThreshold);
        EXPECT_GE(r.refinement.iter, 0);
        EXPECT_EQ(r.refinement.precision, Precision::fp16);
      }
    }
  }
}

TYPED_TEST(RefinePrecisions, WhatIsNotFiniteIsFoundByFp32) {
  using T = TypeParam;
  const Index n = 40;
  for (const Precision precision : kPrecisions) {
    SCOPED_TRACE(name_of(precision));
    this->refine_in(precision);
    auto a = random_matrix<T>(n, n, 1);
    const auto b = random_matrix<T>(n, 2, 2);
    a(20, 20) = nan<T>();
    auto s = this->gesv(a, b);
    EXPECT_EQ(s.result.iter, 0);  // as LAPACK has it
    EXPECT_EQ(s.result.info, 0);
    EXPECT_TRUE(same_or_nan(s.a, a));
    a(20, 20) = infinity<T>();
    EXPECT_EQ(this->gesv(a, b).result.iter, kOverflow);
    for (const Uplo uplo : kUplos) {
      auto spd = positive_definite<T>(n, 1);
      spd(20, 20) = nan<T>();
      s = this->posv(uplo, spd, b);
      EXPECT_EQ(s.result.iter, kNotFactored);
      EXPECT_EQ(s.result.info, 21);
      spd(20, 20) = T(1e300);
      EXPECT_EQ(this->posv(uplo, spd, b).result.iter, kOverflow);
      if constexpr (is_complex<T>) {
        spd = positive_definite<T>(n, 1);
        for (Index i = 0; i < n; ++i) spd(i, i) += T(0, 1e10);
        s = this->posv(uplo, spd, b);
        EXPECT_GE(s.result.iter, 0);
        this->expect_solution(positive_definite<T>(n, 1), s);
      }
    }
  }
}

/// LAPACK computes nothing invalid here, and the caller may have set traps.
TYPED_TEST(RefinePrecisions, RaisesNoExceptions) {
  using T = TypeParam;
  const Index n = 40;
  for (const Precision precision : kPrecisions) {
    SCOPED_TRACE(name_of(precision));
    this->refine_in(precision);
    const auto expect_silence = [](auto call) {
      std::feclearexcept(FE_ALL_EXCEPT);
      const auto s = call();
      EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), 0);
      return s;
    };
    auto b = random_matrix<T>(n, 2, 2);
    for (Index i = 0; i < n; ++i) b(i, 1) = T(0);
    const auto a = random_matrix<T>(n, n, 1);
    EXPECT_GE(expect_silence([&] { return this->gesv(a, b); }).result.iter, 0);
    for (const Uplo uplo : kUplos) {
      auto spd = positive_definite<T>(n, 1);
      EXPECT_GE(expect_silence([&] { return this->posv(uplo, spd, b); }).result.iter, 0);
      spd(20, 20) = T(-1);
      EXPECT_EQ(expect_silence([&] { return this->posv(uplo, spd, b); }).result.info, 21);
    }
  }
}

TYPED_TEST(RefinePrecisions, TheCallLogSaysWhichOne) {
  using T = TypeParam;
  const Index n = 100;
  const std::string log = testing::TempDir() + "refine." + std::to_string(getpid()) + ".log";
  const auto logged = [&](Precision precision, double condition) {
    auto settings = this->settings_for(Algorithm::automatic, 8);
    settings.refine = precision;
    settings.verbose = true;
    settings.log = log;
    this->use(settings);
    this->gesv(conditioned<T>(n, condition, false), random_matrix<T>(n, 1, 2));
    std::ostringstream text;
    text << std::ifstream(log).rdbuf();
    std::remove(log.c_str());
    return text.str();
  };
  for (const Precision precision : kPrecisions) {
    const std::string text = logged(precision, 10);
    EXPECT_NE(text.find(std::string(" precision=") + name_of(precision) + " why="),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("(OVERLAPACK_REFINE)") != std::string::npos, precision != Precision::fp32);
  }
  EXPECT_NE(logged(Precision::tf32, 1e11).find(" iter=-31 precision=fp64 "), std::string::npos);
  if (!this->device().emulated()) return;  // products so small are not split
  EXPECT_NE(logged(Precision::fp16, 1e6).find(" precision=fp32 "), std::string::npos);
}

TYPED_TEST(Refine, NothingInfiniteOfFiniteSystems) {
  using T = typename TypeParam::Scalar;
  const Index n = 40;
  auto a = positive_definite<T>(n, 1);
  for (Index i = 0; i < n; ++i) a(i, 5) = a(5, i) = T(0);
  // In the first block, so that no product has a chance to flush it to zero.
  a(5, 5) = T(1e-40);  // X has 1e40 there, which single precision does not
  const auto b = random_matrix<T>(n, 2, 2);
  for (const Index min_n : {1, 1000}) {
    this->route(Algorithm::tiled, 16, min_n);
    SCOPED_TRACE(min_n == 1 ? "on the device" : "on the CPU");
    const auto s = this->gesv(a, b);
    EXPECT_EQ(s.result.info, 0);
    EXPECT_EQ(s.result.iter, kNoConvergence);
    this->expect_lu_in_double(a, s);
    for (const Uplo uplo : kUplos) {
      const auto t = this->posv(uplo, a, b);
      EXPECT_EQ(t.result.info, 0);
      EXPECT_EQ(t.result.iter, kNoConvergence);
      this->expect_cholesky_in_double(uplo, a, t);
    }
  }
}

TYPED_TEST(MixedCalls, EmptySystems) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  const Padded<T> empty(0, 0, 1), b(0, 3, 1);
  auto s = this->gesv(empty, b);
  EXPECT_EQ(s.result.info, 0);
  EXPECT_EQ(s.result.iter, 0);
  s = this->posv(Uplo::upper, empty, b);
  EXPECT_EQ(s.result.info, 0);
  EXPECT_EQ(s.result.iter, 0);
}

TYPED_TEST(MixedCalls, SmallCallsGoToTheCpu) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::automatic, 0, 1000);
  const std::size_t before = this->uploaded();
  const auto a = random_matrix<T>(50, 50, 1), spd = positive_definite<T>(50, 1);
  const auto b = random_matrix<T>(50, 3, 2);
  auto s = this->gesv(a, b);
  EXPECT_EQ(s.result.info, 0);
  this->expect_solution(a, s);
  s = this->posv(Uplo::lower, spd, b);
  EXPECT_EQ(s.result.info, 0);
  this->expect_solution(spd, s);
  EXPECT_EQ(this->uploaded(), before);
}

/// The outcome is LAPACK's, which lets a NaN pass.
TYPED_TEST(MixedCalls, NaNsOnTheCpu) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::automatic, 0, 1000);
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  for (const bool in_a : {false, true}) {
    SCOPED_TRACE(in_a);
    auto a = random_matrix<T>(50, 50, 1);
    auto b = random_matrix<T>(50, 3, 2);
    (in_a ? a : b)(20, 1) = nan;
    const auto s = this->gesv(a, b);
    EXPECT_EQ(s.result.info, 0);
    EXPECT_GE(s.result.iter, 0);
  }
  if constexpr (is_complex<T>) {  // nor does it read imaginary parts of the diagonal
    const auto spd = positive_definite<T>(50, 1);
    for (const Index place : {0, 20, 49}) {
      for (const Uplo uplo : kUplos) {
        auto a = spd;
        a(place, place).imag(nan.real());
        a.forbid_other_triangle(uplo);
        const auto s = this->posv(uplo, a, Padded<T>(50, 0));
        EXPECT_EQ(s.result.info, 0);
        EXPECT_EQ(s.result.iter, 0);
        EXPECT_TRUE(same_or_nan(s.a, a));
      }
    }
  }
}

TYPED_TEST(MixedCalls, InTwoThreadsConcurrently) {
  using T = typename TypeParam::Scalar;
  this->route(Algorithm::tiled, 16);
  EXPECT_LT(worst_in_two_threads([&](std::size_t thread, std::uint64_t round) {
              const auto a = random_matrix<T>(90, 90, 10 * round + thread);
              const auto b = random_matrix<T>(90, 3, 2);
              Padded<T> x(90, 3);
              auto copy = a;
              if (mixed_gesv<T>(copy.view(), b.view(), x.view()).info != 0) return HUGE_VAL;
              return solve_residual(Op::none, a, x, b);
            }),
            kThreshold);
}

}  // namespace
}  // namespace overlapack
