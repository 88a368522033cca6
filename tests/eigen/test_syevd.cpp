// ?syevd and ?heevd on the device, by the exported names: residuals, and eigenvalues beside those
// of the CPU LAPACK, for matrices of many kinds; faults; numbers that are not finite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/eigen/syevd.hpp"
#include "dispatch/calls.hpp"
#include "eigen/evd.hpp"
#include "eigen/hermitian.hpp"
#include "support/cases.hpp"
#include "support/eigen_calls.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using namespace testing_support::evd;

/// Of a matrix that has been multiplied by a power of two.
template <class T>
void expect_eigenvectors(const Question<T>& q, const Result<T>& result, int exponent = 0) {
  using W = Wide<T>;
  const Index n = result.n();
  auto a = widen_hermitian<T>(q.uplo, q.whole.view());
  const double back = std::ldexp(1.0, -exponent);
  std::vector<double> w(at(n));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) *= W(back);
    w[at(j)] = static_cast<double>(result.w[at(j)]) * back;
  }
  eigen::expect_small(eigen::vector_errors<T>(a, widen<T>(result.a.view()), w));
}

template <class T>
void expect_eigenvalues(const Result<T>& ours, const Result<T>& theirs) {
  const Index n = ours.n();
  EXPECT_TRUE(std::is_sorted(ours.w.begin(), ours.w.end() - 1));
  Real<T> norm = 0;
  for (Index j = 0; j < n; ++j) norm = std::max(norm, std::abs(theirs.w[at(j)]));
  for (Index j = 0; j < n; ++j) {
    const Real<T> error = norm > 0 ? std::abs(ours.w[at(j)] / norm - theirs.w[at(j)] / norm)
                                   : std::abs(ours.w[at(j)]);
    EXPECT_LE(static_cast<double>(error), (10 + static_cast<double>(n)) * epsilon<T>()) << j;
  }
}

template <class T>
class Syevd : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    if (!IsSkipped()) blocks_of(7);
  }
  void blocks_of(Index nb) { route(dispatch::Algorithm::tiled, nb); }

  /// The eigenproblem of a matrix, by the device.
  Result<T> solves(const Question<T>& q, int exponent = 0) {
    SCOPED_TRACE(testing::Message() << "n = " << q.whole.rows() << ", jobz = " << q.jobz
                                    << ", uplo = " << static_cast<char>(q.uplo));
    Calls calls;
    device().set_observer(&calls);
    const Result<T> ours = solve(q);
    device().set_observer(nullptr);
    EXPECT_EQ(ours.info, 0);
    EXPECT_EQ(calls.of("norm"), q.whole.rows() > 0 ? 1 : 0) << "the device has not begun";
    ours.expect_ends_untouched();
    const Result<T> theirs = solve(q, true);
    expect_eigenvalues(ours, theirs);
    EXPECT_EQ(ours.work[0], theirs.work[0]);
    EXPECT_EQ(ours.rwork[0], is_complex<T> ? theirs.rwork[0] : sentinel<Real<T>>());
    EXPECT_EQ(ours.iwork[0], theirs.iwork[0]);
    if (q.jobz == 'V') {
      expect_eigenvectors(q, ours, exponent);
    } else {
      auto before = q.whole;
      before.forbid_other_triangle(q.uplo);
      EXPECT_TRUE(same_bits(ours.a, before)) << "the CPU has done it";
    }
    return ours;
  }
  /// With and without eigenvectors, for both triangles.
  void solves_all(const Padded<T>& a, int exponent = 0) {
    for (const char jobz : {'V', 'N'}) {
      for (const Uplo uplo : kUplos) solves({jobz, uplo, a}, exponent);
    }
  }
};
TYPED_TEST_SUITE(Syevd, Precisions);

TYPED_TEST(Syevd, RandomMatricesOfAllSmallOrders) {
  for (Index n = 0; n <= 70; ++n) {
    this->blocks_of(1 + n % 9);
    this->solves_all(make<TypeParam>(Kind::random, n, 1, n % 3));
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(Syevd, RandomMatricesOfSomeBlocks) {
  std::vector<Index> orders = {127, 128, 129, 200};
  if (!this->device().emulated()) orders.insert(orders.end(), {511, 512, 640, 1000});
  for (const Index n : orders) {
    for (const Index nb : {8, 64}) {
      SCOPED_TRACE(testing::Message() << "blocks of " << nb);
      this->blocks_of(nb);
      this->solves_all(make<TypeParam>(Kind::random, n, 2, n % 2));
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Syevd, MatricesOfAllKinds) {
  for (const Kind kind : kKinds) {
    for (const Index n : {1, 2, 17, 64}) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
      this->solves_all(make<TypeParam>(kind, n));
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Syevd, OfNumbersOfAnySize) {
  using T = TypeParam;
  constexpr int kMost = std::numeric_limits<Real<T>>::max_exponent - 8;
  for (const int exponent : {-kMost, -kMost / 2 - 20, kMost / 2 + 20, kMost}) {
    for (const Kind kind : {Kind::random, Kind::rank_one, Kind::clustered}) {
      for (const Index n : {1, 2, 40}) {
        SCOPED_TRACE(testing::Message() << exponent << ", kind " << static_cast<int>(kind));
        auto a = make<T>(kind, n);
        multiply(a, exponent);
        this->solves_all(a, exponent);
      }
    }
    if (this->HasFailure()) return;
  }
}

/// Also of numbers that have not all of their digits. Only then are eigenvalues rounded.
TYPED_TEST(Syevd, APowerOfTwoChangesNoEigenvector) {
  using T = TypeParam;
  constexpr int kLeast = std::numeric_limits<Real<T>>::min_exponent;
  auto tiny = make<T>(Kind::random, 40);
  multiply(tiny, kLeast - 8);
  for (const int exponent : {-kLeast + 8, -2 * kLeast - 12}) {
    auto a = tiny;
    multiply(a, exponent / 2);
    multiply(a, exponent - exponent / 2);
    for (const Uplo uplo : kUplos) {
      const Result<T> ours = solve<T>({'V', uplo, tiny}), same = solve<T>({'V', uplo, a});
      const Result<T> values = solve<T>({'N', uplo, tiny});
      EXPECT_TRUE(same_bits(ours.a, same.a));
      for (Index j = 0; j < a.cols(); ++j) {
        EXPECT_EQ(ours.w[at(j)], std::ldexp(same.w[at(j)], -exponent));
        EXPECT_NEAR(values.w[at(j)] / ours.w.front(), ours.w[at(j)] / ours.w.front(), 0.02);
      }
    }
  }
}

TYPED_TEST(Syevd, ImaginaryPartsOfTheDiagonalAreIgnored) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    auto a = make<T>(Kind::random, 50);
    const auto without = a;
    for (Index j = 0; j < a.cols(); ++j) {
      a(j, j) = T(a(j, j).real(), std::numeric_limits<Real<T>>::quiet_NaN());
    }
    for (const char jobz : {'V', 'N'}) {
      for (const Uplo uplo : kUplos) {
        const Result<T> ours = solve<T>({jobz, uplo, a}), other = solve<T>({jobz, uplo, without});
        EXPECT_EQ(ours.info, 0);
        EXPECT_EQ(ours.w, other.w);
        EXPECT_TRUE(jobz == 'N' || same_bits(ours.a, other.a));
      }
    }
  }
}

TYPED_TEST(Syevd, GivesTheSameBitsTwice) {
  using T = TypeParam;
  this->blocks_of(16);
  for (const char jobz : {'V', 'N'}) {
    const Question<T> q{jobz, Uplo::lower, make<T>(Kind::random, 140)};
    const Result<T> first = solve(q);
    for (int round = 0; round < 3; ++round) EXPECT_TRUE(first.same_bits_as(solve(q)));
  }
}

TYPED_TEST(Syevd, HasOneStageWhereThereIsNoMemoryForTwo) {
  using T = TypeParam;
  if (!this->device().emulated()) GTEST_SKIP() << "two stages are for large orders";
  constexpr Index kOrder = 60, kBlock = 7;
  algorithms::Options options;
  options.nb = kBlock;
  for (const char jobz : {'V', 'N'}) {
    auto settings = this->settings_for(dispatch::Algorithm::tiled, kBlock);
    settings.memory_limit = algorithms::eigenproblem_bytes<T>(this->device(), options, false,
                                                              kOrder, jobz == 'V' ? kOrder : 0) -
                            1;
    this->use(settings);
    this->solves({jobz, Uplo::lower, make<T>(Kind::random, kOrder)});
  }
}

TYPED_TEST(Syevd, LeavesWhatIsNotFiniteToTheCpu) {
  using T = TypeParam;
  using R = Real<T>;
  for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    for (const Index n : {1, 30}) {
      for (const Uplo uplo : kUplos) {
        auto a = make<T>(Kind::random, n);
        a(n / 2, n / 3) = a(n / 3, n / 2) = T(bad);
        for (const char jobz : {'V', 'N'}) {
          const Question<T> q{jobz, uplo, a};
          const Result<T> ours = solve(q), theirs = solve(q, true);
          EXPECT_EQ(ours.info, theirs.info);
          EXPECT_TRUE(ours.same_bits_as(theirs));
          ours.expect_ends_untouched();
        }
      }
    }
  }
}

TYPED_TEST(Syevd, AfterAFaultTheCpuDoesTheCall) {
  using T = TypeParam;
  this->blocks_of(6);
  for (const char jobz : {'V', 'N'}) {
    for (const Uplo uplo : kUplos) {
      const Question<T> q{jobz, uplo, make<T>(Kind::random, 70)};
      const Result<T> theirs = solve(q, true), without = solve(q);
      Index by_the_cpu = 0;
      const Index faults = this->with_faults(
          1, [] {},
          [&] {
            const Result<T> ours = solve(q);
            EXPECT_EQ(ours.info, 0);
            ours.expect_ends_untouched();
            const bool by_cpu = ours.same_bits_as(theirs);
            EXPECT_TRUE(by_cpu || ours.same_bits_as(without));
            by_the_cpu += by_cpu;
          });
      EXPECT_GT(faults, 20);
      EXPECT_GE(by_the_cpu, faults);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Syevd, FinishedByTheCpuWithoutMemory) {
  using T = TypeParam;
  for (const char jobz : {'V', 'N'}) {
    const Question<T> q{jobz, Uplo::upper, make<T>(Kind::random, 30)};
    const Result<T> theirs = solve(q, true), without = solve(q);
    for (long request = 1;; request += 3) {
      Result<T> ours(q);
      long requests = 0;
      {
        const ScarceMemory memory(request);
        ours.run();
        requests = ScarceMemory::count();
      }
      EXPECT_EQ(ours.info, 0);
      EXPECT_TRUE(ours.same_bits_as(theirs) || ours.same_bits_as(without));
      if (requests < request || this->HasFailure()) break;
    }
  }
}

TYPED_TEST(Syevd, OfAMatrixOnTheDevice) {
  using T = TypeParam;
  for (const char jobz : {'V', 'N'}) {
    for (const Uplo uplo : kUplos) {
      const Question<T> q{jobz, uplo, make<T>(Kind::random, 100)};
      const Result<T> here = solve(q);
      auto copy = q.whole;
      copy.forbid_other_triangle(uplo);
      OnDevice<T> there(this->device(), copy);
      const Result<T> ours = solve(q, false, there.view().data);
      there.fetch();
      EXPECT_EQ(ours.info, 0);
      EXPECT_EQ(ours.w, here.w);
      EXPECT_TRUE(same_bits(copy, here.a));
      FaultAt fault(5);
      this->device().set_observer(&fault);
      EXPECT_EQ(solve(q, false, there.view().data).info, dispatch::kNoMemory);
      this->device().set_observer(nullptr);
    }
  }
}

}  // namespace
}  // namespace overlapack
