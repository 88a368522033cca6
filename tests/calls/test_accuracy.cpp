// Errors of factorizations and solvers beside those of the CPU LAPACK, on matrices that are hard in
// different ways: no larger than twice as large.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "cpu/reference.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

template <class T>
struct Named {
  std::string name;
  Padded<T> matrix;
};

/// Scales the rows by powers of ten, up to a million, each by another.
template <class T>
Padded<T> scaled_rows(Padded<T> a) {
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) a(i, j) *= std::pow(Real<T>(10), Real<T>(i % 7));
  }
  return a;
}

template <class T>
class Accuracy : public RoutedTest {
 protected:
  void on_device() { this->route(Algorithm::tiled, 32); }
  void on_cpu() { this->route(Algorithm::tiled, 32, kNoneLarge); }
  /// The nearest to a singular one that a matrix in this precision can be said to be.
  static double ill_condition() { return 0.01 / epsilon<T>(); }

  static constexpr Index kNoneLarge = 100000;
};
TYPED_TEST_SUITE(Accuracy, Precisions);

/// A device without a kernel for panels has the textbook's by the CPU, whose rounding counts then.
TYPED_TEST(Accuracy, OfCholesky) {
  using T = TypeParam;
  const Index n = 200;
  for (const auto& [name, a] : {
           Named<T>{"random", positive_definite<T>(n, 1)},
           Named<T>{"graded", graded(positive_definite<T>(n, 2))},
           Named<T>{"Hadamard", hadamard_spd<T>(n)},
           Named<T>{"closed form", closed_form_spd<T>(n)},
           Named<T>{"ill conditioned", conditioned<T>(n, 0.1 * this->ill_condition(), true)},
       }) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(name + " " + char(uplo));
      const auto residual = [&] {
        auto factor = a;
        EXPECT_EQ(potrf<T>(uplo, factor.view()), 0);
        return potrf_residual<T>(uplo, a.view(), factor.view());
      };
      this->on_cpu();
      const double usual = residual();
      double textbook = 0;
      if (device_under_test() == "core") {
        auto factor = a;
        EXPECT_EQ(reference::potrf<T>(uplo, factor.view()), 0);
        textbook = potrf_residual<T>(uplo, a.view(), factor.view());
      }
      this->on_device();
      EXPECT_LE(residual(), 2 * std::max(usual, textbook));
    }
  }
}

/// What the CPU LAPACK and LAPACK's unblocked algorithm make of a matrix differ by rounding alone,
/// which may be a factor of three in matrices that let it grow; the larger counts.
TYPED_TEST(Accuracy, OfLuAndItsGrowth) {
  using T = TypeParam;
  for (const auto& [name, a] : {
           Named<T>{"random", random_matrix<T>(200, 200, 1)},
           Named<T>{"tall", random_matrix<T>(300, 100, 2)},
           Named<T>{"wide", random_matrix<T>(100, 300, 3)},
           Named<T>{"graded", graded(random_matrix<T>(200, 200, 4))},
           Named<T>{"rows in other units", scaled_rows(random_matrix<T>(200, 200, 5))},
           Named<T>{"Wilkinson", wilkinson<T>(60)},
           Named<T>{"Kahan", kahan<T>(90)},
           Named<T>{"ill conditioned", conditioned<T>(200, this->ill_condition(), false)},
           Named<T>{"singular", singular_at<T>(200, 200, 150, 6)},
       }) {
    SCOPED_TRACE(name);
    struct Result {
      std::vector<Index> pivots;
      double residual = 0, largest = 0;
    };
    const auto judge = [&](const Padded<T>& factor, const std::vector<Index>& pivots) {
      Result result{pivots, getrf_residual<T>(a.view(), factor.view(), pivots), 0};
      for (Index j = 0; j < a.cols(); ++j) {
        for (Index i = 0; i <= std::min(j, a.rows() - 1); ++i) {
          result.largest = std::max(result.largest, static_cast<double>(std::abs(factor(i, j))));
        }
      }
      return result;
    };
    const auto factored = [&] {
      auto factor = a;
      std::vector<Index> pivots;
      EXPECT_EQ(getrf<T>(factor.view(), pivots), name == "singular" ? 151 : 0);
      return judge(factor, pivots);
    };
    this->on_cpu();
    const Result usual = factored();
    this->on_device();
    const Result ours = factored();
    auto unblocked = a;
    std::vector<Index> pivots(static_cast<std::size_t>(std::min(a.rows(), a.cols())));
    reference::getrf<T>(unblocked.view(), pivots.data());
    const Result textbook = judge(unblocked, pivots);
    EXPECT_EQ(ours.pivots, usual.pivots);
    EXPECT_LE(ours.residual, 2 * std::max(usual.residual, textbook.residual));
    EXPECT_LE(ours.largest, 2 * usual.largest);
  }
}

template <class T>
class MixedAccuracy : public Accuracy<T> {
 protected:
  void SetUp() override {
    Accuracy<T>::SetUp();
    if (!this->IsSkipped() && !this->rounds()) GTEST_SKIP() << this->kNoRounding;
  }

  static constexpr Index kOrder = 80, kSystems = 12;
  static constexpr double kRounding = 0.2;  // of the residual itself, in LAPACK's units

  /// Calls solve(a, b) for some systems of such a condition.
  static void for_systems(double condition, bool symmetric,
                          const std::function<void(const Padded<T>&, const Padded<T>&)>& solve) {
    for (std::uint64_t seed = 1; seed <= kSystems; ++seed) {
      solve(conditioned<T>(kOrder, condition, symmetric, seed),
            random_matrix<T>(kOrder, 1, 1000 + seed));
    }
  }
  /// A mixed-precision solve of copies; `x` becomes the solution.
  static MixedResult refined(bool symmetric, Padded<T> a, const Padded<T>& b, Padded<T>& x) {
    return symmetric ? mixed_posv<T>(Uplo::lower, a.view(), b.view(), x.view())
                     : mixed_gesv<T>(a.view(), b.view(), x.view());
  }
};
TYPED_TEST_SUITE(MixedAccuracy, DoublePrecisions);

TYPED_TEST(MixedAccuracy, IsThatOfASolveInDoublePrecision) {
  using T = TypeParam;
  for (const bool symmetric : {false, true}) {
    for (const double condition : {1e1, 1e3, 1e5, 1e6, 1e7}) {
      SCOPED_TRACE(testing::Message() << condition << (symmetric ? " positive definite" : ""));
      double usual = 0, ours = 0;
      this->for_systems(condition, symmetric, [&](const Padded<T>& a, const Padded<T>& b) {
        const auto wide = widen<T>(a.view());
        auto factor = a, x = b;
        std::vector<Index> pivots;
        this->on_cpu();
        EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), 0);
        usual = std::max(usual, solve_residual(Op::none, wide, x, b));
        this->on_device();
        const MixedResult result = this->refined(symmetric, a, b, x);
        EXPECT_EQ(result.info, 0);
        EXPECT_GE(result.iter, 0);
        ours = std::max(ours, solve_residual(Op::none, wide, x, b));
      });
      EXPECT_LE(ours, 2 * std::max(usual, this->kRounding));
    }
  }
}

/// At such conditions refinement is slow and by no means steady, if it comes to an end at all;
/// which systems are solved is chance.
TYPED_TEST(MixedAccuracy, SlowRefinementIsNotGivenUp) {
  using T = TypeParam;
  Index solved = 0, solved_by_lapack = 0;
  for (const bool symmetric : {false, true}) {
    for (const double condition : {2e8, 3e8, 5e8}) {
      this->for_systems(condition, symmetric, [&](const Padded<T>& a, const Padded<T>& b) {
        auto x = b;
        this->on_cpu();
        solved_by_lapack += this->refined(symmetric, a, b, x).iter >= 0;
        this->on_device();
        solved += this->refined(symmetric, a, b, x).iter >= 0;
      });
    }
  }
  EXPECT_GT(solved_by_lapack, 0);
  EXPECT_GE(3 * solved, 2 * solved_by_lapack);
}

}  // namespace
}  // namespace overlapack
