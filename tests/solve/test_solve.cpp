// ?potrs, ?getrs, ?posv and ?gesv by their exported names, on every device and in both algorithms.
#include <gtest/gtest.h>

#include <vector>

#include "cpu/lapack.hpp"
#include "overlapack/lapack.h"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

constexpr Index kOrders[] = {1, 5, 15, 16, 17, 33, 64, 100, 129};
constexpr Index kRightHandSides[] = {0, 1, 3, 40};

template <class T>
class Solve : public RoutedTest {};
TYPED_TEST_SUITE(Solve, Precisions);

/// Of a Hermitian matrix of which a triangle is given.
template <class T>
double hermitian_residual(Uplo uplo, const Padded<T>& a, const Padded<T>& x, const Padded<T>& b) {
  return solve_residual(Op::none, widen_hermitian<T>(uplo, a.view()), x, b);
}

TYPED_TEST(Solve, Posv) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const Index n : kOrders) {
      for (const Index nrhs : kRightHandSides) {
        for (const Uplo uplo : kUplos) {
          SCOPED_TRACE(testing::Message() << name_of(algorithm) << " n=" << n << " nrhs=" << nrhs
                                          << " " << char(uplo));
          auto a = positive_definite<T>(n, 1, 2);
          a.forbid_other_triangle(uplo);
          const auto b = random_matrix<T>(n, nrhs, 2, 1);
          auto factor = a;
          auto x = b;
          const std::size_t before = this->uploaded();
          EXPECT_EQ(posv<T>(uplo, factor.view(), x.view()), 0);
          EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
          EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold);
          EXPECT_LT(hermitian_residual(uplo, a, x, b), kThreshold);
          EXPECT_TRUE(factor.padding_untouched());
          EXPECT_TRUE(factor.other_triangle_untouched(uplo));
          EXPECT_TRUE(x.padding_untouched());
        }
      }
    }
  }
}

TYPED_TEST(Solve, PosvOfManyBlocks) {  // the first of which are applied ahead, to B, too
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 2);
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo));
      const auto a = positive_definite<T>(99, 1);
      const auto b = random_matrix<T>(99, 3, 2, 1);
      auto factor = a;
      auto x = b;
      EXPECT_EQ(posv<T>(uplo, factor.view(), x.view()), 0);
      EXPECT_LT(hermitian_residual(uplo, a, x, b), kThreshold);
    }
  }
}

TYPED_TEST(Solve, PosvWithOneIllConditionedDiagonalBlockAnywhere) {
  using T = TypeParam;
  const Index n = 384, size = 64;
  const auto exact = whole_numbers<T>(n);
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 48);
    for (const Uplo uplo : kUplos) {
      for (const Index first : {Index{0}, Index{128}, n - size}) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo) << first);
        auto a = ill_conditioned_at<T>(n, first, size);
        auto x = product(a, exact);
        ASSERT_EQ(posv<T>(uplo, a.view(), x.view()), 0);
        EXPECT_TRUE(same(x, exact));
      }
    }
  }
}

TYPED_TEST(Solve, PosvTrustsInversesUpToTheirCondition) {
  using T = TypeParam;
  const Index n = 64;
  const auto exact = whole_numbers<T>(n);
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 16);
    for (const Uplo uplo : kUplos) {
      for (const Index position : {Index{0}, Index{21}, n - 2}) {
        // L is the unit matrix but for x below one of its ones; then cond(L) is 2 x + 1.
        const auto solves = [&](int x) {
          Padded<T> a(n, n);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) a(i, j) = T(i == j);
          }
          a(position + 1, position) = a(position, position + 1) = T(Real<T>(x));
          a(position + 1, position + 1) += T(Real<T>(x * x));
          auto b = product(a, exact);
          Calls calls;
          this->device().set_observer(&calls);
          EXPECT_EQ(posv<T>(uplo, a.view(), b.view()), 0);
          this->device().set_observer(nullptr);
          EXPECT_TRUE(same(b, exact)) << x;
          return calls.of("trsm");
        };
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << char(uplo) << position);
        const int ordinary = solves(1);
        EXPECT_EQ(solves(127), ordinary);
        EXPECT_EQ(solves(128), ordinary + 1) << "no substitution with a condition of 257";
      }
    }
  }
}

TYPED_TEST(Solve, PosvInvertsBlocksThatAreNoMultipleOfItsOwn) {
  using T = TypeParam;
  const Index n = 290;
  const auto a = positive_definite<T>(n, 1);
  const auto b = random_matrix<T>(n, 3, 2);
  for (const Algorithm algorithm : this->kAlgorithms) {
    for (const Index nb : {Index{48}, Index{64}, Index{200}}) {
      this->route(algorithm, nb);
      for (const Uplo uplo : kUplos) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << nb << " " << char(uplo));
        auto factor = a;
        auto x = b;
        EXPECT_EQ(posv<T>(uplo, factor.view(), x.view()), 0);
        EXPECT_LT(hermitian_residual(uplo, a, x, b), kThreshold);
      }
    }
  }
}

TYPED_TEST(Solve, PosvOfAnIndefiniteMatrixLeavesTheRightHandSide) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const Uplo uplo : kUplos) {
      for (const Index position : {0, 40, 69}) {
        auto a = indefinite_at<T>(70, position, 1);
        const auto b = random_matrix<T>(70, 3, 2, 1);
        auto x = b;
        EXPECT_EQ(posv<T>(uplo, a.view(), x.view()), position + 1);
        EXPECT_TRUE(same(x, b)) << name_of(algorithm) << " " << char(uplo) << " at " << position;
      }
    }
  }
}

TYPED_TEST(Solve, PosvStopsAtOneBlockWhateverTheOthersAre) {  // of several in a region
  using T = TypeParam;
  const Index n = 99;
  const auto b = random_matrix<T>(n, 3, 2);
  for (const Algorithm algorithm : this->kAlgorithms) {
    this->route(algorithm, 2);
    for (const Uplo uplo : kUplos) {
      for (const Index position : {0, 20, 41, 43, 98}) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << char(uplo) << position);
        Padded<T> a(n, n);
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < n; ++i) a(i, j) = T(i != j ? 0 : i == position ? -1 : 1);
        }
        auto x = b;
        EXPECT_EQ(posv<T>(uplo, a.view(), x.view()), position + 1);
        EXPECT_TRUE(same_bits(x, b));
      }
    }
  }
}

TYPED_TEST(Solve, Potrs) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Index n : kOrders) {
    for (const Uplo uplo : kUplos) {
      auto a = positive_definite<T>(n, 1, 2);
      a.forbid_other_triangle(uplo);
      auto factor = a;
      ASSERT_EQ(potrf<T>(uplo, factor.view()), 0);
      for (const Index nrhs : kRightHandSides) {
        SCOPED_TRACE(testing::Message() << "n=" << n << " nrhs=" << nrhs << " " << char(uplo));
        const auto factor_before = factor;
        const auto b = random_matrix<T>(n, nrhs, 2, 1);
        auto x = b;
        const std::size_t before = this->uploaded();
        EXPECT_EQ(potrs<T>(uplo, factor.view(), x.view()), 0);
        if (nrhs > 0) {
          EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
        }
        EXPECT_LT(hermitian_residual(uplo, a, x, b), kThreshold);
        EXPECT_TRUE(same(factor, factor_before));
        EXPECT_TRUE(x.padding_untouched());
      }
    }
  }
}

TYPED_TEST(Solve, Gesv) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const Index n : kOrders) {
      for (const Index nrhs : kRightHandSides) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << " n=" << n << " nrhs=" << nrhs);
        const auto a = random_matrix<T>(n, n, 1, 2);
        const auto b = random_matrix<T>(n, nrhs, 2, 1);
        auto factor = a;
        auto x = b;
        std::vector<Index> pivots;
        const std::size_t before = this->uploaded();
        EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), 0);
        EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
        ASSERT_TRUE(valid_pivots(pivots, n));
        EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
        EXPECT_LT(solve_residual(Op::none, widen<T>(a.view()), x, b), kThreshold);
        EXPECT_TRUE(factor.padding_untouched());
        EXPECT_TRUE(x.padding_untouched());
      }
    }
  }
}

TYPED_TEST(Solve, GesvOfEquationsOfAnySize) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 32);
  const Index n = this->device().emulated() ? 150 : 2000;  // where there are split products
  const auto a = random_matrix<T>(n, n, 1, 2);
  const auto b = random_matrix<T>(n, 2, 2, 1);
  for (const int exponent : {20, 40, 60}) {
    SCOPED_TRACE(exponent);
    auto factor = a, x = b;
    const auto scale = [&](Index i, int by) {
      for (Index j = 0; j < n; ++j) factor(i, j) *= std::ldexp(Real<T>(1), by);
      for (Index j = 0; j < 2; ++j) x(i, j) *= std::ldexp(Real<T>(1), by);
    };
    for (Index i = 0; i < n; i += 5) scale(i, exponent);
    for (Index i = 1; i < n; i += 3) scale(i, -exponent / 2);
    std::vector<Index> pivots;
    EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), 0);
    // Of the equations as they were: the smaller ones count as much as the others. Pivots are not
    // their largest elements any more, so there is some growth.
    EXPECT_LT(solve_residual(Op::none, widen<T>(a.view()), x, b), 10 * kThreshold);
  }
}

TYPED_TEST(Solve, GesvOfASingularMatrixLeavesTheRightHandSide) {
  using T = TypeParam;
  for (const Algorithm algorithm : this->kAllAlgorithms) {
    this->route(algorithm, 16);
    for (const Index position : {0, 40, 69}) {
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " at " << position);
      const auto a = singular_at<T>(70, 70, position, 1);
      const auto b = random_matrix<T>(70, 3, 2, 1);
      auto factor = a;
      auto x = b;
      std::vector<Index> pivots;
      EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), position + 1);
      EXPECT_TRUE(same(x, b));
      ASSERT_TRUE(valid_pivots(pivots, 70));
      EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    }
  }
}

TYPED_TEST(Solve, Getrs) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Index n : kOrders) {
    const auto a = random_matrix<T>(n, n, 1, 2);
    auto factor = a;
    std::vector<Index> pivots;
    ASSERT_EQ(getrf<T>(factor.view(), pivots), 0);
    for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
      for (const Index nrhs : kRightHandSides) {
        SCOPED_TRACE(testing::Message() << "n=" << n << " nrhs=" << nrhs << " " << char(op));
        const auto factor_before = factor;
        const auto b = random_matrix<T>(n, nrhs, 2, 1);
        auto x = b;
        const std::size_t before = this->uploaded();
        EXPECT_EQ(getrs<T>(op, factor.view(), pivots, x.view()), 0);
        if (nrhs > 0) {
          EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
        }
        EXPECT_LT(solve_residual(op, widen<T>(a.view()), x, b), kThreshold);
        EXPECT_TRUE(same(factor, factor_before));
        EXPECT_TRUE(x.padding_untouched());
      }
    }
  }
}

/// OpenBLAS takes 'R' for the conjugate without transposition, which LAPACK does not know.
TYPED_TEST(Solve, GetrsRefusesLettersThatOnlyTheCpuLapackKnows) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  auto factor = random_matrix<T>(20, 20, 1);
  std::vector<Index> pivots;
  ASSERT_EQ(getrf<T>(factor.view(), pivots), 0);
  const auto b = random_matrix<T>(20, 2, 2);
  auto x = b;
  EXPECT_EQ(getrs<T>(static_cast<Op>('R'), factor.view(), pivots, x.view()), -1);
  EXPECT_TRUE(same(x, b));
}

TYPED_TEST(Solve, AMemoryLimitHoldsForWhatIsKept) {
  using T = TypeParam;
  const auto solve = [](Index n) {
    auto a = positive_definite<T>(n, 1), b = random_matrix<T>(n, 2, 2);
    EXPECT_EQ(posv<T>(Uplo::lower, a.view(), b.view()), 0);
  };
  auto settings = this->settings_for(Algorithm::tiled, 16);
  this->use(settings);
  solve(300);
  settings.memory_limit = sizeof(T) * 300 * 300;
  this->use(settings);
  EXPECT_GT(this->device().pool_use(Space::device).held, settings.memory_limit);
  const std::size_t before = this->uploaded();
  solve(40);
  EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
  EXPECT_LE(this->device().pool_use(Space::device).held, settings.memory_limit);
}

/// The CPU LAPACK has integers of 32 bits, as a rule.
TEST(SolveWithWideIntegers, OnTheCpu) {
  dispatch::Settings settings;
  settings.device = dispatch::DeviceChoice::off;
  dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  const std::int64_t n = 50, nrhs = 3;
  const auto a = random_matrix<double>(n, n, 1, 2), b = random_matrix<double>(n, nrhs, 2, 1);
  const std::int64_t lda = a.ld(), ldb = b.ld();
  auto factors = a;
  std::vector<std::int64_t> ipiv(50, -1);
  std::int64_t info = -1;
  dgetrf_64_(&n, &n, factors.data(), &lda, ipiv.data(), &info);
  EXPECT_EQ(info, 0);
  const std::vector<Index> pivots(ipiv.begin(), ipiv.end());
  ASSERT_TRUE(valid_pivots(pivots, n));
  EXPECT_LT(getrf_residual<double>(a.view(), factors.view(), pivots), kThreshold);
  for (const Op op : {Op::none, Op::trans}) {
    const char trans = static_cast<char>(op);
    auto x = b;
    dgetrs_64_(&trans, &n, &nrhs, factors.data(), &lda, ipiv.data(), x.data(), &ldb, &info, 1);
    EXPECT_EQ(info, 0);
    EXPECT_LT(solve_residual(op, a, x, b), kThreshold);
    EXPECT_EQ(std::vector<Index>(ipiv.begin(), ipiv.end()), pivots);
  }
  auto again = a, x = b;
  dgesv_64_(&n, &nrhs, again.data(), &lda, ipiv.data(), x.data(), &ldb, &info);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(std::vector<Index>(ipiv.begin(), ipiv.end()), pivots);
  EXPECT_LT(solve_residual(Op::none, a, x, b), kThreshold);
}

TYPED_TEST(Solve, GesvOfNothingFactorsOnTheCpu) {
  using T = TypeParam;
  const auto a = random_matrix<T>(20, 20, 1);
  auto factor = a;
  std::vector<std::int32_t> ipiv(20);
  const auto& cpu = cpu::lapack<T>(cpu::Family::lp64);
  EXPECT_EQ(cpu.gesv(factor.view(), cpu::Pivots(ipiv.data()), Padded<T>(20, 0).view()), 0);
  const std::vector<Index> pivots(ipiv.begin(), ipiv.end());
  ASSERT_TRUE(valid_pivots(pivots, 20));
  EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
}

}  // namespace
}  // namespace overlapack
