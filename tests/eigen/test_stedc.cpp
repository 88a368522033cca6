// ?stedc with eigenvectors, by the exported name, on the device: residuals beside those of the CPU
// LAPACK, for matrices that deflate in all ways; faults; numbers that are not finite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "algorithms/eigen/bisection.hpp"
#include "algorithms/eigen/divide_and_conquer.hpp"
#include "cpu/calling.hpp"
#include "cpu/eigen.hpp"
#include "dispatch/calls.hpp"
#include "overlapack/lapack.h"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using Integer = std::int32_t;

enum class Kind {
  random,
  wilkinson,
  glued,
  toeplitz,
  clustered_at_one,
  clustered_at_eps,
  equal,
  zero,
  identity,
  graded,
  graded_backwards,
  large,
  small,
  tiny_beside,
  negative_beside,
};
std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (int kind = 0; kind <= static_cast<int>(Kind::negative_beside); ++kind) {
    all.push_back(static_cast<Kind>(kind));
  }
  return all;
}

/// The diagonal of a symmetric tridiagonal matrix, and what stands beside it.
template <class R>
struct Tridiagonal {
  std::vector<R> d, e;
  Index order() const { return static_cast<Index>(d.size()); }
};

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

template <class R>
Tridiagonal<R> make(Kind kind, Index n, std::uint64_t seed = 1) {
  Random numbers(seed + static_cast<std::uint64_t>(n));
  const auto random = [&] { return numbers.uniform<R>(); };
  constexpr R kEps = std::numeric_limits<R>::epsilon();
  constexpr int kExponents = std::numeric_limits<R>::max_exponent - 2;
  Tridiagonal<R> t{std::vector<R>(at(n)), std::vector<R>(at(std::max<Index>(n - 1, 0)))};
  for (Index i = 0; i < n; ++i) {
    R d = random(), e = random();
    switch (kind) {
      case Kind::wilkinson:
        d = static_cast<R>(std::abs(n - 1 - 2 * i)) / 2;
        e = 1;
        break;
      case Kind::glued:
        d = static_cast<R>(std::abs(10 - i % 21));
        e = i % 21 == 20 ? std::sqrt(kEps) : R(1);
        break;
      case Kind::toeplitz:
        d = 2;
        e = 1;
        break;
      case Kind::clustered_at_one:
        d = 1 + 10 * kEps * random();
        e *= 10 * kEps;
        break;
      case Kind::clustered_at_eps:
        d = i == 0 ? R(1) : kEps * random();
        e *= kEps;
        break;
      case Kind::equal:
        d = e = 1;
        break;
      case Kind::zero:
        d = e = 0;
        break;
      case Kind::identity:
        d = 1;
        e = 0;
        break;
      case Kind::graded:
      case Kind::graded_backwards: {
        const Index place = kind == Kind::graded ? i : n - 1 - i;
        const auto exponent = static_cast<int>(
            (1 - 2 * static_cast<double>(place) / static_cast<double>(n)) * kExponents);
        d = std::ldexp(d, exponent);
        e = std::ldexp(e, exponent);
        break;
      }
      case Kind::large:
        d = std::ldexp(d, kExponents);
        e = std::ldexp(e, kExponents);
        break;
      case Kind::small:
        d = std::ldexp(d, -kExponents);
        e = std::ldexp(e, -kExponents);
        break;
      case Kind::tiny_beside:
        e *= std::ldexp(kEps, i % 3 == 0 ? 4 : -4);
        break;
      case Kind::negative_beside:
        d = 2;
        e = i % 2 == 0 ? R(-1) : R(1);
        break;
      default:
        break;
    }
    t.d[at(i)] = d;
    if (i + 1 < n) t.e[at(i)] = e;
  }
  return t;
}

/// Of a call: what it is given, and what it leaves.
template <class T>
struct Result {
  std::vector<Real<T>> d, e;
  Padded<T> z;
  Integer info;
  T work;
};

template <class T>
Result<T> solve(const Tridiagonal<Real<T>>& t, char compz, const Padded<T>& z, bool theirs = false,
                T* elsewhere = nullptr) {
  using R = Real<T>;
  const auto n = static_cast<Integer>(t.order()), ldz = static_cast<Integer>(z.ld());
  Result<T> result{t.d, t.e, z, 77, T(0)};
  const cpu::EigenSizes sizes = cpu::least_sizes_of_stedc(compz, is_complex<T>, n);
  const auto lwork = static_cast<Integer>(sizes.work), lrwork = static_cast<Integer>(sizes.rwork),
             liwork = static_cast<Integer>(sizes.iwork);
  std::vector<T> work(at(sizes.work));
  std::vector<R> rwork(at(sizes.rwork));
  std::vector<Integer> iwork(at(sizes.iwork));
  T* const Z = elsewhere != nullptr ? elsewhere : result.z.data();
  const cpu::Lapack<T>& lapack = cpu::lapack<T>(cpu::Family::lp64);
  if constexpr (is_complex<T>) {
    using F = typename cpu::Signature<T, Integer>::stedc;
    F* const call = theirs ? cpu::as<F>(lapack.find(row_of("stedc"), false)) : Exported<T>::stedc;
    call(&compz, &n, result.d.data(), result.e.data(), Z, &ldz, work.data(), &lwork, rwork.data(),
         &lrwork, iwork.data(), &liwork, &result.info, 1);
  } else {
    using F = typename cpu::Signature<T, Integer>::stedc;
    F* const call = theirs ? cpu::as<F>(lapack.find(row_of("stedc"), false)) : Exported<T>::stedc;
    call(&compz, &n, result.d.data(), result.e.data(), Z, &ldz, work.data(), &lwork, iwork.data(),
         &liwork, &result.info, 1);
  }
  result.work = work[0];
  return result;
}

/// ||T - Z diag(d) Z^H|| / (n ||T|| eps) and ||Z^H Z - I|| / (n eps), in the norm of one.
struct Errors {
  double residual, orthogonality;
};
template <class T>
Errors errors_of(const Tridiagonal<Real<T>>& t, const Result<T>& result) {
  using W = Wide<T>;
  using WR = Real<W>;
  const Index n = t.order();
  Errors errors{0, 0};
  WR norm = 0;
  const auto element = [&](Index i, Index j) -> WR {
    return i == j ? t.d[at(i)] : i == j + 1 ? t.e[at(j)] : j == i + 1 ? t.e[at(i)] : 0;
  };
  // Scaled, lest the sums overflow.
  WR largest = 0;
  for (const auto x : t.d) largest = std::max<WR>(largest, std::abs(x));
  for (const auto x : t.e) largest = std::max<WR>(largest, std::abs(x));
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  const auto scaled = [&](WR x) { return std::ldexp(x, -exponent); };
  Padded<W> zd(n, n);
  const auto z = widen<T>(result.z.view());
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) zd(i, j) = z(i, j) * W(scaled(result.d[at(j)]));
  }
  Padded<W> product(n, n), gram(n, n);
  using reference::gemm;
  gemm<W>(Op::none, Op::conj_trans, W(1), zd.view(), z.view(), W(0), product.view());
  gemm<W>(Op::conj_trans, Op::none, W(1), z.view(), z.view(), W(0), gram.view());
  for (Index j = 0; j < n; ++j) {
    WR of_t = 0, of_product = 0, of_gram = 0;
    for (Index i = 0; i < n; ++i) {
      of_t += std::abs(scaled(element(i, j)));
      of_product += std::abs(product(i, j) - W(scaled(element(i, j))));
      of_gram += std::abs(gram(i, j) - W(i == j));
    }
    norm = std::max(norm, of_t);
    errors.residual = reference::max_or_nan(errors.residual, static_cast<double>(of_product));
    errors.orthogonality =
        reference::max_or_nan(errors.orthogonality, static_cast<double>(of_gram));
  }
  const double unit = static_cast<double>(n) * epsilon<T>();
  if (norm > 0) errors.residual /= static_cast<double>(norm) * unit;
  errors.orthogonality /= unit;
  return errors;
}

template <class T>
class Stedc : public RoutedTest {
 protected:
  using R = Real<T>;
  void SetUp() override {
    RoutedTest::SetUp();
    if (!IsSkipped()) route(dispatch::Algorithm::tiled, 16);
  }
  /// Room for the eigenvectors.
  static Padded<T> room(Index n) { return Padded<T>(n, n, 3); }

  /// The eigenproblem of t, whose errors are small.
  Errors solves(const Tridiagonal<R>& t) {
    const std::size_t before = this->uploaded();
    const Result<T> ours = solve<T>(t, 'I', room(t.order()));
    EXPECT_EQ(ours.info, 0);
    EXPECT_GT(this->uploaded(), before) << "it was not on the device";
    EXPECT_TRUE(ours.z.padding_untouched());
    EXPECT_TRUE(std::is_sorted(ours.d.begin(), ours.d.end()));
    const Errors errors = errors_of<T>(t, ours);
    EXPECT_LT(errors.residual, kMostErrors);
    EXPECT_LT(errors.orthogonality, kMostErrors);
    return errors;
  }
  static constexpr double kMostErrors = 10;

  /// Random numbers, in clusters of random sizes or not.
  static Tridiagonal<R> random_tridiagonal(Random& random, bool clustered) {
    const Index n = random.integer(5, 60);
    Tridiagonal<R> t{std::vector<R>(at(n)), std::vector<R>(at(n - 1))};
    const auto width = [&] {
      return clustered ? std::ldexp(R(1), static_cast<int>(random.integer(-60, 2))) : R(1);
    };
    for (R& d : t.d) {
      d = random.uniform<R>() * width();
      if (clustered && random.integer(0, 1) == 0) d += 1;
    }
    for (R& e : t.e) e = random.uniform<R>() * width();
    return t;
  }
  void solves_many(Index count, bool clustered) {
    Random random(clustered ? 1 : 2);
    for (Index i = 0; i < count; ++i) {
      SCOPED_TRACE(testing::Message() << "matrix " << i);
      solves(random_tridiagonal(random, clustered));
      if (this->HasFailure()) return;
    }
  }
};
TYPED_TEST_SUITE(Stedc, Precisions);

TYPED_TEST(Stedc, ErrorsAreSmall) {
  using R = Real<TypeParam>;
  for (const Kind kind : kinds()) {
    for (Index n = 1; n <= 70; ++n) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", n = " << n);
      this->solves(make<R>(kind, n));
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Stedc, ErrorsOfLargerMatricesAreSmall) {
  using R = Real<TypeParam>;
  for (const Kind kind : kinds()) {
    for (const Index n : {100, 163, 400}) {
      if (n == 400 && kind != Kind::random && kind != Kind::glued && kind != Kind::toeplitz)
        continue;
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", n = " << n);
      this->solves(make<R>(kind, n));
      if (this->HasFailure()) return;
    }
  }
}

/// Those of one matrix are as chance has it.
TYPED_TEST(Stedc, OnAverageErrorsAreNotMuchLargerThanTheCpuLapacks) {
  using T = TypeParam;
  for (const Kind kind : kinds()) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
    Errors ours{0, 0}, theirs{0, 0};
    int count = 0;
    for (Index n = 20; n <= 80; n += 3, ++count) {
      const auto t = make<Real<T>>(kind, n);
      const Errors one = this->solves(t);
      const Errors other = errors_of<T>(t, solve<T>(t, 'I', this->room(n), true));
      ours.residual += one.residual, ours.orthogonality += one.orthogonality;
      theirs.residual += other.residual, theirs.orthogonality += other.orthogonality;
    }
    constexpr double kRounding = 0.2;  // where the CPU LAPACK has hardly an error
    EXPECT_LE(ours.residual, 2 * theirs.residual + kRounding * count);
    EXPECT_LE(ours.orthogonality, 2 * theirs.orthogonality + kRounding * count);
  }
}

TYPED_TEST(Stedc, SolvesManyRandomMatrices) {
  const bool is_double = std::is_same_v<Real<TypeParam>, double>;
  this->solves_many(is_complex<TypeParam> ? 100 : is_double ? 10000 : 3000, false);
}

TYPED_TEST(Stedc, SolvesManyClusteredMatrices) {
  this->solves_many(is_complex<TypeParam> ? 100 : 1000, true);
}

/// Takes long.
TYPED_TEST(Stedc, DISABLED_SolvesVeryManyMatrices) {
  this->solves_many(100000, false);
  this->solves_many(100000, true);
}

TYPED_TEST(Stedc, MultipliesAGivenMatrix) {
  using T = TypeParam;
  for (const Index n : {3, 20, 30, 65, 130}) {
    const auto t = make<Real<T>>(Kind::random, n);
    const auto given = random_matrix<T>(n, n, 5, 2);
    const Result<T> ours = solve<T>(t, 'V', given), alone = solve<T>(t, 'I', this->room(n));
    EXPECT_EQ(ours.info, 0);
    EXPECT_TRUE(ours.z.padding_untouched());
    EXPECT_EQ(ours.d, alone.d);
    using W = Wide<T>;
    Padded<W> product(n, n);
    const auto z = widen<T>(given.view()), q = widen<T>(alone.z.view());
    reference::gemm<W>(Op::none, Op::none, W(1), z.view(), q.view(), W(0), product.view());
    double worst = 0;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        worst = reference::max_or_nan(
            worst, static_cast<double>(std::abs(W(ours.z(i, j)) - product(i, j))));
      }
    }
    EXPECT_LT(worst, 4 * static_cast<double>(n) * epsilon<T>());
  }
}

TYPED_TEST(Stedc, OfOneRowMakesAGivenMatrixOneAsLapackDoes) {
  using T = TypeParam;
  const auto t = make<Real<T>>(Kind::random, 1);
  const Result<T> ours = solve<T>(t, 'V', random_matrix<T>(1, 1, 5, 2));
  EXPECT_EQ(ours.info, 0);
  EXPECT_EQ(ours.z(0, 0), T(1));
  EXPECT_TRUE(ours.z.padding_untouched());
}

TYPED_TEST(Stedc, LeavesTheSizesThatTheCpuLapackLeaves) {
  using T = TypeParam;
  for (const char compz : {'V', 'I'}) {
    const auto t = make<Real<T>>(Kind::random, 40);
    const auto z = random_matrix<T>(40, 40, 1);
    EXPECT_EQ(solve<T>(t, compz, z).work, solve<T>(t, compz, z, true).work);
  }
}

TYPED_TEST(Stedc, GivesTheSameBitsTwice) {
  using T = TypeParam;
  for (const char compz : {'V', 'I'}) {
    const auto t = make<Real<T>>(Kind::glued, 90);
    const auto z = random_matrix<T>(90, 90, 1);
    const Result<T> one = solve<T>(t, compz, z), two = solve<T>(t, compz, z);
    EXPECT_EQ(one.d, two.d);
    EXPECT_TRUE(same_bits(one.z, two.z));
  }
}

TYPED_TEST(Stedc, ServesAMatrixOnTheDevice) {
  using T = TypeParam;
  for (const char compz : {'V', 'I'}) {
    const auto t = make<Real<T>>(Kind::random, 80);
    const auto z = random_matrix<T>(80, 80, 1, 2);
    const Result<T> at_home = solve<T>(t, compz, z);
    auto copy = z;
    OnDevice<T> there(this->device(), copy);
    const Result<T> ours = solve<T>(t, compz, z, false, there.view().data);
    there.fetch();
    EXPECT_EQ(ours.info, 0);
    EXPECT_EQ(ours.d, at_home.d);
    EXPECT_TRUE(same_bits(copy, at_home.z));
  }
}

TYPED_TEST(Stedc, AfterAFaultTheCpuDoesTheCall) {
  using T = TypeParam;
  for (const char compz : {'V', 'I'}) {
    const auto t = make<Real<T>>(Kind::random, 40);
    const auto z = random_matrix<T>(40, 40, 1, 2);
    const Result<T> theirs = solve<T>(t, compz, z, true), without = solve<T>(t, compz, z);
    const Index faults = this->with_faults(
        1, [] {},
        [&] {
          const Result<T> ours = solve<T>(t, compz, z);
          EXPECT_EQ(ours.info, 0);
          const bool by_cpu = ours.d == theirs.d && same_bits(ours.z, theirs.z);
          const bool by_device = ours.d == without.d && same_bits(ours.z, without.z);
          EXPECT_TRUE(by_cpu || by_device);
        });
    EXPECT_GT(faults, 20);
  }
}

/// It is copied in several pieces.
TYPED_TEST(Stedc, ALargeMatrixIsPutBackAfterAFault) {
  using T = TypeParam;
  if (!std::is_same_v<T, std::complex<double>>) GTEST_SKIP() << "the same with more rows";
  constexpr Index kOrder = 560;
  const auto t = make<Real<T>>(Kind::glued, kOrder);
  const auto z = random_matrix<T>(kOrder, kOrder, 1, 2);
  const Result<T> theirs = solve<T>(t, 'V', z, true), without = solve<T>(t, 'V', z);
  this->with_faults(
      499, [] {},
      [&] {
        const Result<T> ours = solve<T>(t, 'V', z);
        EXPECT_EQ(ours.info, 0);
        EXPECT_TRUE(same_bits(ours.z, theirs.z) || same_bits(ours.z, without.z));
      });
}

TYPED_TEST(Stedc, LeavesWhatIsNotFiniteToTheCpu) {
  using T = TypeParam;
  using R = Real<T>;
  for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    for (const bool beside : {false, true}) {
      auto t = make<R>(Kind::random, 30);
      (beside ? t.e : t.d)[7] = bad;
      const Result<T> ours = solve<T>(t, 'I', this->room(30));
      const Result<T> theirs = solve<T>(t, 'I', this->room(30), true);
      EXPECT_EQ(ours.info, theirs.info);
      EXPECT_TRUE(same_bits(ours.z, theirs.z));
    }
  }
}

/// As a driver asks for some of them.
TYPED_TEST(Stedc, SomeEigenvectorsAreThoseOfAll) {
  using T = TypeParam;
  using R = Real<T>;
  if (is_complex<T>) GTEST_SKIP() << "Q is real";
  constexpr Index kOrder = 50, kFirst = 20, kCount = 7;
  const auto t = make<R>(Kind::random, kOrder);
  const Result<T> all = solve<T>(t, 'I', this->room(kOrder));
  algorithms::Tridiagonal<R> scaled(this->device(), kOrder, t.d.data(), t.e.data());
  scaled.cut();
  scaled.scale();
  algorithms::DivideAndConquer<R> solver(this->device(), kOrder);
  const QueueLease queue(this->device());
  const auto some = upload(*queue, Padded<R>(kOrder, kCount));
  solver.run(*queue, scaled);
  solver.take(*queue, some, 1, kFirst);
  const auto got = download(*queue, some);
  EXPECT_EQ(solver.eigenvalues(), all.d);
  for (Index j = 0; j < kCount; ++j) {
    for (Index i = 0; i < kOrder; ++i) EXPECT_EQ(T(got(i, j)), all.z(i, kFirst + j));
  }
}

// ---- Eigenvalues alone --------------------------------------------------------------------------

TYPED_TEST(Stedc, BisectionFindsTheEigenvaluesOfTheCpuLapack) {
  using T = TypeParam;
  using R = Real<T>;
  if (is_complex<T>) GTEST_SKIP() << "the same for complex numbers";
  for (const Kind kind : kinds()) {
    for (const Index n : {1, 2, 30, 77}) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", n = " << n);
      const auto t = make<R>(kind, n);
      const Result<T> theirs = solve<T>(t, 'N', this->room(n), true);
      algorithms::Tridiagonal<R> scaled(this->device(), n, t.d.data(), t.e.data());
      scaled.scale();
      const auto ours = algorithms::eigenvalues_by_number<R>(this->device(), scaled, {0, n});
      const R norm = std::max(std::abs(theirs.d.front()), std::abs(theirs.d.back()));
      EXPECT_TRUE(std::is_sorted(ours.begin(), ours.end()));
      for (Index j = 0; j < n; ++j) {
        const R error = norm > 0 ? std::abs(ours[at(j)] / norm - theirs.d[at(j)] / norm)
                                 : std::abs(ours[at(j)]);
        EXPECT_LE(static_cast<double>(error), (10 + static_cast<double>(n) / 2) * epsilon<T>());
      }
      const Range some = {n / 3, n / 2 + 1};
      const auto found = algorithms::eigenvalues_by_number<R>(this->device(), scaled, some);
      EXPECT_TRUE(std::equal(found.begin(), found.end(), ours.begin() + some.first));
    }
  }
}

TYPED_TEST(Stedc, NumbersOfEigenvaluesInAnIntervalAreCounted) {
  using T = TypeParam;
  using R = Real<T>;
  const Tridiagonal<R> t{{1, 2, 3, 4}, {0, 0, 0}};
  algorithms::Tridiagonal<R> scaled(this->device(), 4, t.d.data(), t.e.data());
  scaled.scale();
  const auto count = [&](R low, R high) {
    const Range range = algorithms::eigenvalues_between<R>(scaled, low, high);
    return std::make_pair(range.first, range.last);
  };
  EXPECT_EQ(count(R(0.5), R(2.5)), std::make_pair(Index{0}, Index{2}));
  EXPECT_EQ(count(1, 3), std::make_pair(Index{1}, Index{3}));
  EXPECT_EQ(count(4, 9), std::make_pair(Index{4}, Index{4}));
}

}  // namespace
}  // namespace overlapack
