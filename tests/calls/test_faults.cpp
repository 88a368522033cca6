// A device that fails at any point of a call: the caller still gets LAPACK's answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "algorithms/lu/lu.hpp"
#include "algorithms/update/on_device.hpp"
#include "cpu/reference.hpp"
#include "device/timeline.hpp"
#include "dispatch/plan.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;
using dispatch::Upload;

template <class T>
class Faults : public RoutedTest {
 protected:
  void TearDown() override {
    RecordProperty("faults", static_cast<int>(faults_));  // for scripts/count-promises
    RoutedTest::TearDown();
  }
  /// Runs `call` with a fault at the device's first, second, ... action until one run gets by with
  /// fewer. Double precision on the lazy device tries every action, the others some of them; the
  /// GPU fewer still, where most actions only ask whether work is done.
  void at_every_action(const std::function<void()>& call, bool every_precision = false) {
    const bool every =
        device().emulated() &&
        (every_precision || (std::is_same_v<T, double> && device_under_test() == "lazy"));
    const Index some = every ? 1 : device().emulated() ? 11 : 17;
    const Index stride = std::max<Index>(stride_factor_ * some, 1);
    for (const Algorithm algorithm : algorithms_) {
      SCOPED_TRACE(name_of(algorithm));
      const auto prepare = [&] {
        dispatch::Settings settings = settings_for(algorithm, nb_);
        settings.memory_limit = memory_limit_;
        settings.refine = refine_;
        settings.upload = upload_;
        use(settings);
      };
      const Index faults = with_faults(stride, prepare, call);
      if (testing::Test::HasFailure()) return;
      faults_ += faults;
      EXPECT_GT(faults, 1) << "the call did not reach the device";
    }
  }

  /// A factor of order n is updated by a vector, then the result downdated.
  void update_by_one_vector(std::int32_t n) {
    auto larger = positive_definite<T>(n, 1, 3);
    const auto a = larger;
    const auto x = random_matrix<T>(n, 1, 2, 1);
    reference::herk<T>(Uplo::upper, Op::none, 1, x.view(), 1, larger.view());
    for (const int sigma : {1, -1}) {
      auto before = sigma > 0 ? a : larger;
      const auto& after = sigma > 0 ? larger : a;
      reference::potrf<T>(Uplo::upper, before.view());
      before.forbid_other_triangle(Uplo::upper);
      at_every_action([&] {
        auto factor = before;
        auto u = x;
        std::vector<Real<T>> c(static_cast<std::size_t>(n), Real<T>(7));
        const auto ld = static_cast<std::int32_t>(factor.ld());
        std::int32_t info = 0;
        if (sigma > 0) {
          Exported<T>::ch1up(&n, factor.data(), &ld, u.data(), c.data());
        } else {
          Exported<T>::ch1dn(&n, factor.data(), &ld, u.data(), c.data(), &info);
        }
        EXPECT_EQ(info, 0);
        EXPECT_LT(potrf_residual<T>(Uplo::upper, after.view(), factor.view()), kThreshold);
        EXPECT_TRUE(factor.other_triangle_untouched(Uplo::upper));
        // The rotations take the old factor, and the row, to the new one.
        for (Index j = 0; j < n; j += 9) {
          T y = sigma > 0 ? conj(x(j, 0)) : T(0);
          for (Index q = 0; q <= j; ++q) {
            const Index i = sigma > 0 ? q : j - q;
            const Real<T> ci = c[static_cast<std::size_t>(i)];
            const T s = u(i, 0), r = before(i, j);
            const T next = sigma > 0 ? ci * r + s * y : ci * r - conj(s) * y;
            y = sigma > 0 ? ci * y - conj(s) * r : ci * y + s * r;
            EXPECT_LT(std::abs(next - factor(i, j)), 1000 * epsilon<T>()) << i << " " << j;
          }
          EXPECT_LT(std::abs(y - (sigma > 0 ? T(0) : conj(x(j, 0)))), 1000 * epsilon<T>()) << j;
        }
      });
    }
  }

  void factor_at_every_action(Index n = 100) {
    for (const Uplo uplo : kUplos) {
      auto a = positive_definite<T>(n, 1, padding_);
      a.forbid_other_triangle(uplo);
      at_every_action([&] {
        auto factor = a;
        EXPECT_EQ(potrf<T>(uplo, factor.view()), 0) << char(uplo);
        EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold) << char(uplo);
        EXPECT_TRUE(factor.padding_untouched());
        EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      });
    }
  }

  void factor_lu_at_every_action(Index m, Index n) {
    const auto a = random_matrix<T>(m, n, 1, 3);
    at_every_action([&] {
      auto factor = a;
      std::vector<Index> pivots;
      EXPECT_EQ(getrf<T>(factor.view(), pivots), 0);
      EXPECT_TRUE(factor.padding_untouched());
      ASSERT_TRUE(valid_pivots(pivots, a.rows()));
      EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold)
          << a.rows() << "x" << a.cols();
    });
  }

  /// Of a matrix whose leading minor of order position + 1 is not positive definite.
  void stop_at_every_action(Index n, Index position, bool every_precision = false) {
    for (const Uplo uplo : kUplos) {
      auto a = indefinite_at<T>(n, position, 1, padding_);
      a.forbid_other_triangle(uplo);
      at_every_action(
          [&] {
            auto factor = a;
            EXPECT_EQ(potrf<T>(uplo, factor.view()), position + 1) << char(uplo);
            EXPECT_LT(partial_potrf_residual<T>(uplo, a.view(), factor.view(), position + 1),
                      kThreshold)
                << char(uplo);
            EXPECT_TRUE(factor.padding_untouched());
            EXPECT_TRUE(factor.other_triangle_untouched(uplo));
          },
          every_precision);
    }
  }

  std::vector<Algorithm> algorithms_{std::begin(kAlgorithms), std::end(kAlgorithms)};
  Index nb_ = 16;
  Index padding_ = 3;
  Index stride_factor_ = 1;  // 0: every action, of few
  std::size_t memory_limit_ = 0;
  Precision refine_ = Precision::fp32;
  Upload upload_ = Upload::automatic;

 private:
  Index faults_ = 0;
};
TYPED_TEST_SUITE(Faults, Precisions);

TYPED_TEST(Faults, Potrf) {
  this->algorithms_.push_back(Algorithm::textbook);
  this->factor_at_every_action();
}

TYPED_TEST(Faults, PotrfOfALeadingTriangleFirst) {
  this->upload_ = Upload::triangle;
  this->padding_ = 12;  // columns of whole cache lines
  this->factor_at_every_action();
}

TYPED_TEST(Faults, PotrfOfManyBlocks) {  // some applied ahead, several in a region
  using T = TypeParam;
  this->nb_ = 2;
  this->stride_factor_ = 7;
  for (const Uplo uplo : kUplos) {
    const auto a = positive_definite<T>(99, 1, 13);  // columns of whole cache lines
    this->at_every_action([&] {
      auto factor = a;
      EXPECT_EQ(potrf<T>(uplo, factor.view()), 0) << char(uplo);
      EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold) << char(uplo);
    });
  }
}

TYPED_TEST(Faults, PotrfOfOnePanel) {  // by one kernel on staging memory
  this->stride_factor_ = 0;
  this->factor_at_every_action(15);
  this->stop_at_every_action(15, 7);
}

TYPED_TEST(Faults, PotrfOfAnIndefiniteMatrix) {
  this->algorithms_.push_back(Algorithm::textbook);
  this->padding_ = 12;  // columns of whole cache lines
  // A fault after the failed block has come home is rare enough.
  this->stop_at_every_action(100, 60, true);
}

TYPED_TEST(Faults, Getrf) {
  this->algorithms_.push_back(Algorithm::textbook);
  const std::pair<Index, Index> shapes[] = {{100, 100}, {130, 70}, {70, 130}};
  for (const auto& [m, n] : shapes) this->factor_lu_at_every_action(m, n);
}

TYPED_TEST(Faults, GetrfOfManyPanels) {  // columns at home have seen different interchanges
  this->nb_ = 8;
  this->stride_factor_ = 11;
  this->factor_lu_at_every_action(200, 200);
}

TYPED_TEST(Faults, ResumeFromColumnsThatHaveSeenDifferentInterchanges) {
  using T = TypeParam;
  const auto& cpu = cpu::lapack<T>(cpu::Family::lp64);
  const Index nb = 8;
  const std::pair<Index, Index> shapes[] = {{60, 60}, {90, 43}, {43, 90}};
  for (const auto& [m, n] : shapes) {
    const auto a = random_matrix<T>(m, n, 1, 3);
    const Index p = std::min(m, n);
    auto whole = a;
    std::vector<Index> pivots(algorithms::at(p));
    ASSERT_EQ(cpu.getrf(whole.view(), cpu::Pivots(pivots.data())), 0);
    std::mt19937 random(1);
    for (Index committed = 0; committed <= n; ++committed) {
      SCOPED_TRACE(testing::Message() << m << "x" << n << ", committed " << committed);
      const Index k = std::min(committed, p), begun = std::min((k + nb - 1) / nb * nb, p);
      // Panels may be known before they are home.
      const Index known =
          std::min(begun + nb * std::uniform_int_distribution<Index>(0, 3)(random), p);
      algorithms::Interchanges interchanges{pivots, std::vector<Index>(algorithms::at(p), 0)};
      auto factor = a;
      for (Index j = 0; j < committed; ++j) {
        std::copy_n(&whole(0, j), m, &factor(0, j));
        if (j >= p) continue;
        const Index panel_end = std::min((j / nb + 1) * nb, p);
        const Index seen = std::uniform_int_distribution<Index>(panel_end, known)(random);
        reference::laswp(factor.view().block(0, j, m, 1), seen, p, pivots.data(), false);
        interchanges.seen[algorithms::at(j)] = seen;
      }
      std::fill(interchanges.pivots.begin() + known, interchanges.pivots.end(), 0);
      EXPECT_EQ(algorithms::resume_gesv<T>(cpu, factor.view(), interchanges, {}, committed), 0);
      EXPECT_TRUE(factor.padding_untouched());
      ASSERT_TRUE(valid_pivots(interchanges.pivots, m));
      EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), interchanges.pivots), kThreshold);
    }
  }
}

TYPED_TEST(Faults, GetrfOfASingularMatrix) {
  this->algorithms_.push_back(Algorithm::textbook);
  using T = TypeParam;
  for (const Index position : {3, 60}) {
    const auto a = singular_at<T>(100, 100, position, 1, 3);
    this->at_every_action([&] {
      auto factor = a;
      std::vector<Index> pivots;
      EXPECT_EQ(getrf<T>(factor.view(), pivots), position + 1);
      ASSERT_TRUE(valid_pivots(pivots, 100));
      EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    });
  }
}

TYPED_TEST(Faults, GetrfOfAMatrixWithSeveralZeroPivots) {  // the first one counts
  using T = TypeParam;
  auto a = singular_at<T>(100, 100, 3, 1, 3);
  for (Index i = 0; i < 100; ++i) a(i, 20) = a(i, 70) = T(0);
  this->at_every_action([&] {
    auto factor = a;
    std::vector<Index> pivots;
    EXPECT_EQ(getrf<T>(factor.view(), pivots), 4);
    ASSERT_TRUE(valid_pivots(pivots, 100));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
  });
}

TYPED_TEST(Faults, Posv) {
  this->algorithms_.push_back(Algorithm::textbook);
  using T = TypeParam;
  for (const Uplo uplo : kUplos) {
    auto a = positive_definite<T>(100, 1, 3);
    a.forbid_other_triangle(uplo);
    const auto whole = widen_hermitian<T>(uplo, a.view());
    const auto b = random_matrix<T>(100, 20, 2, 1);
    this->at_every_action([&] {
      auto factor = a;
      auto x = b;
      EXPECT_EQ(posv<T>(uplo, factor.view(), x.view()), 0) << char(uplo);
      EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold) << char(uplo);
      EXPECT_LT(solve_residual(Op::none, whole, x, b), kThreshold) << char(uplo);
      EXPECT_TRUE(factor.padding_untouched());
      EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      EXPECT_TRUE(x.padding_untouched());
    });
  }
}

TYPED_TEST(Faults, PosvOfAnIllConditionedBlock) {  // X is computed twice
  using T = TypeParam;
  this->stride_factor_ = 3;
  const Index n = 192;
  const auto a = ill_conditioned_at<T>(n, n - 64, 64);
  const auto exact = whole_numbers<T>(n), b = product(a, exact);
  for (const Uplo uplo : kUplos) {
    this->at_every_action([&] {
      auto factor = a;
      auto x = b;
      EXPECT_EQ(posv<T>(uplo, factor.view(), x.view()), 0) << char(uplo);
      for (Index i = 0; i < n; ++i) EXPECT_EQ(x(i, 0), exact(i, 0)) << char(uplo) << " " << i;
    });
  }
}

TYPED_TEST(Faults, Gesv) {
  this->algorithms_.push_back(Algorithm::textbook);
  using T = TypeParam;
  const auto a = random_matrix<T>(100, 100, 1, 3);
  const auto whole = widen<T>(a.view());
  const auto b = random_matrix<T>(100, 20, 2, 1);
  this->at_every_action([&] {
    auto factor = a;
    auto x = b;
    std::vector<Index> pivots;
    EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), 0);
    ASSERT_TRUE(valid_pivots(pivots, 100));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    EXPECT_LT(solve_residual(Op::none, whole, x, b), kThreshold);
    EXPECT_TRUE(factor.padding_untouched());
    EXPECT_TRUE(x.padding_untouched());
  });
}

TYPED_TEST(Faults, GesvOfASingularMatrix) {
  this->algorithms_.push_back(Algorithm::textbook);
  using T = TypeParam;
  const Index position = 60;
  const auto a = singular_at<T>(100, 100, position, 1, 3);
  const auto b = random_matrix<T>(100, 3, 2, 1);
  this->at_every_action([&] {
    auto factor = a;
    auto x = b;
    std::vector<Index> pivots;
    EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), position + 1);
    ASSERT_TRUE(valid_pivots(pivots, 100));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    EXPECT_TRUE(same_bits(x, b));
  });
}

/// Calls whose matrix does not fit in the memory that they may take.
template <class T>
class FaultsOutOfCore : public Faults<T> {
 protected:
  // The panels of a GPU take more memory.
  Index unit() { return this->device().emulated() ? 1 : 4; }
  Index order() { return 150 * unit(); }
  void SetUp() override {
    Faults<T>::SetUp();
    if (this->IsSkipped()) return;  // there is no device
    this->nb_ = 8 * unit();
    this->stride_factor_ = 7;
  }
  void limit_to(double share, dispatch::Routine routine, const dispatch::Shape& shape) {
    const double whole = sizeof(T) * static_cast<double>(shape.m * shape.n);
    this->memory_limit_ = static_cast<std::size_t>(share * whole);
    dispatch::Settings settings = this->settings_for(Algorithm::tiled, this->nb_);
    settings.memory_limit = this->memory_limit_;
    const dispatch::Plan plan = dispatch::plan(routine, ScalarTraits<T>::letter, shape, settings,
                                               dispatch::builtin_profile(), &this->device());
    EXPECT_TRUE(plan.out_of_core) << plan.why;
  }
};
TYPED_TEST_SUITE(FaultsOutOfCore, Precisions);

TYPED_TEST(FaultsOutOfCore, Potrf) {
  const Index n = this->order();
  this->limit_to(0.9, dispatch::Routine::potrf, {n, n, 0});
  this->factor_at_every_action(n);
}

TYPED_TEST(FaultsOutOfCore, PotrfOfAnIndefiniteMatrix) {
  const Index n = this->order();
  this->limit_to(0.9, dispatch::Routine::potrf, {n, n, 0});
  this->stop_at_every_action(n, n / 3 * 2);
}

TYPED_TEST(FaultsOutOfCore, Posv) {
  using T = TypeParam;
  const Index n = this->order();
  this->limit_to(0.9, dispatch::Routine::posv, {n, n, 20});
  for (const Uplo uplo : kUplos) {
    auto a = positive_definite<T>(n, 1, 3);
    a.forbid_other_triangle(uplo);
    const auto whole = widen_hermitian<T>(uplo, a.view());
    const auto b = random_matrix<T>(n, 20, 2, 1);
    this->at_every_action([&] {
      auto factor = a;
      auto x = b;
      EXPECT_EQ(posv<T>(uplo, factor.view(), x.view()), 0) << char(uplo);
      EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold) << char(uplo);
      EXPECT_LT(solve_residual(Op::none, whole, x, b), kThreshold) << char(uplo);
      EXPECT_TRUE(factor.other_triangle_untouched(uplo));
    });
  }
}

TYPED_TEST(FaultsOutOfCore, Getrf) {
  const std::pair<Index, Index> shapes[] = {{150, 150}, {200, 90}, {90, 200}};
  for (const auto& [rows, columns] : shapes) {
    const Index m = rows * this->unit(), n = columns * this->unit();
    this->limit_to(0.6, dispatch::Routine::getrf, {m, n, 0});
    this->factor_lu_at_every_action(m, n);
  }
}

TYPED_TEST(FaultsOutOfCore, Gesv) {
  using T = TypeParam;
  const Index n = this->order();
  this->limit_to(0.6, dispatch::Routine::gesv, {n, n, 20});
  const auto a = random_matrix<T>(n, n, 1, 3);
  const auto whole = widen<T>(a.view());
  const auto b = random_matrix<T>(n, 20, 2, 1);
  this->at_every_action([&] {
    auto factor = a;
    auto x = b;
    std::vector<Index> pivots;
    EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), 0);
    ASSERT_TRUE(valid_pivots(pivots, n));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    EXPECT_LT(solve_residual(Op::none, whole, x, b), kThreshold);
    EXPECT_TRUE(x.padding_untouched());
  });
}

template <class T>
class MixedFaults : public Faults<T> {};
TYPED_TEST_SUITE(MixedFaults, DoublePrecisions);

TYPED_TEST(MixedFaults, Refinement) {
  using T = TypeParam;
  if (!this->rounds()) GTEST_SKIP() << this->kNoRounding;
  const Index n = 60;
  const auto a = random_matrix<T>(n, n, 1, 3), spd = positive_definite<T>(n, 1, 3);
  const auto b = random_matrix<T>(n, 3, 2, 1);
  const auto expect_right = [&](const Padded<T>& before, const Padded<T>& after, const Padded<T>& x,
                                const MixedResult& result) {
    EXPECT_EQ(result.info, 0);
    EXPECT_GE(result.iter, 0);
    EXPECT_LT(solve_residual(Op::none, before, x, b), kThreshold);
    for (Index j = 0; j < n; ++j) {
      EXPECT_TRUE(std::equal(&after(0, j), &after(0, j) + after.ld(), &before(0, j))) << j;
    }
    EXPECT_TRUE(x.padding_untouched());
  };
  for (const Upload upload : {Upload::columns, Upload::halves}) {
    this->upload_ = upload;
    this->at_every_action([&] {
      auto same = a;
      Padded<T> x(n, 3, 1);
      const MixedResult result = mixed_gesv<T>(same.view(), b.view(), x.view());
      ASSERT_TRUE(valid_pivots(result.pivots, n));
      expect_right(a, same, x, result);
    });
    for (const Uplo uplo : kUplos) {
      this->at_every_action([&] {
        auto same = spd;
        Padded<T> x(n, 3, 1);
        const MixedResult result = mixed_posv<T>(uplo, same.view(), b.view(), x.view());
        expect_right(spd, same, x, result);
      });
    }
  }
}

TYPED_TEST(MixedFaults, RefinementThatSwitches) {  // from FP16 to TF32 to FP32
  using T = TypeParam;
  if (!this->rounds()) GTEST_SKIP() << this->kNoRounding;
  this->nb_ = 10;
  this->stride_factor_ = 3;
  this->refine_ = Precision::fp16;
  const Index n = 60;
  const auto b = random_matrix<T>(n, 3, 2, 1);
  for (const auto uplo : {std::optional<Uplo>(), std::optional(Uplo::upper)}) {
    const auto a = conditioned<T>(n, 1e6, uplo.has_value());
    this->at_every_action([&] {
      auto same = a;
      Padded<T> x(n, 3, 1);
      const MixedResult result = uplo ? mixed_posv<T>(*uplo, same.view(), b.view(), x.view())
                                      : mixed_gesv<T>(same.view(), b.view(), x.view());
      EXPECT_EQ(result.info, 0);
      EXPECT_GE(result.iter, 0);
      EXPECT_LT(solve_residual(Op::none, a, x, b), kThreshold);
      for (Index j = 0; j < n; ++j) {
        EXPECT_TRUE(std::equal(&same(0, j), &same(0, j) + n, &a(0, j))) << j;
      }
    });
  }
}

TYPED_TEST(MixedFaults, RefinementThatFallsBack) {
  using T = TypeParam;
  this->upload_ = Upload::halves;
  const Index n = 60;
  const auto a = random_matrix<T>(n, n, 1, 3), spd = positive_definite<T>(n, 1, 3);
  auto large = random_matrix<T>(n, 20, 2, 1);
  large(10, 19) = T(1e300);  // in A it would leave the residuals nothing to see
  const auto b = large;
  const auto expect_right = [&](const Padded<T>& before, const Padded<T>& x,
                                const MixedResult& result) {
    EXPECT_EQ(result.info, 0);
    // A device without rounding says -1; the CPU, if it takes over, does not.
    EXPECT_TRUE(result.iter == -2 || (!this->rounds() && result.iter == -1)) << result.iter;
    EXPECT_LT(solve_residual(Op::none, before, x, b), kThreshold);
    EXPECT_TRUE(x.padding_untouched());
  };
  this->at_every_action([&] {
    auto factor = a;
    Padded<T> x(n, 20, 1);
    const MixedResult result = mixed_gesv<T>(factor.view(), b.view(), x.view());
    ASSERT_TRUE(valid_pivots(result.pivots, n));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), result.pivots), kThreshold);
    EXPECT_TRUE(factor.padding_untouched());
    expect_right(a, x, result);
  });
  for (const Uplo uplo : kUplos) {
    this->at_every_action([&] {
      auto factor = spd;
      factor.forbid_other_triangle(uplo);
      Padded<T> x(n, 20, 1);
      const MixedResult result = mixed_posv<T>(uplo, factor.view(), b.view(), x.view());
      EXPECT_LT(potrf_residual<T>(uplo, spd.view(), factor.view()), kThreshold);
      EXPECT_TRUE(factor.padding_untouched());
      EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      expect_right(spd, x, result);
    });
  }
}

TYPED_TEST(Faults, PotrsAndGetrs) {
  using T = TypeParam;
  const auto spd = positive_definite<T>(100, 1);
  const auto general = random_matrix<T>(100, 100, 1);
  const auto whole_spd = widen<T>(spd.view()), whole_general = widen<T>(general.view());
  const auto b = random_matrix<T>(100, 20, 2, 1);
  auto cholesky = spd, lu = general;
  std::vector<Index> pivots;
  this->route(Algorithm::tiled, 16);
  ASSERT_EQ(potrf<T>(Uplo::lower, cholesky.view()), 0);
  ASSERT_EQ(getrf<T>(lu.view(), pivots), 0);
  this->at_every_action([&] {
    auto x = b;
    EXPECT_EQ(potrs<T>(Uplo::lower, cholesky.view(), x.view()), 0);
    EXPECT_LT(solve_residual(Op::none, whole_spd, x, b), kThreshold);
    EXPECT_TRUE(x.padding_untouched());
  });
  for (const Op op : {Op::none, Op::conj_trans}) {
    this->at_every_action([&] {
      auto x = b;
      EXPECT_EQ(getrs<T>(op, lu.view(), pivots, x.view()), 0);
      EXPECT_LT(solve_residual(op, whole_general, x, b), kThreshold);
      EXPECT_TRUE(x.padding_untouched());
    });
  }
}

TYPED_TEST(Faults, UpdatesOfAFactor) {
  using T = TypeParam;
  // With so little memory a downdate comes up twice.
  const std::size_t little = algorithms::chol_update_bytes<T>(100, 3, this->nb_) + 1000;
  for (const std::size_t limit : {std::size_t{0}, little}) {
    for (const Uplo uplo : kUplos) {
      for (const int sigma : {1, -1}) {
        SCOPED_TRACE(testing::Message() << char(uplo) << sigma << " limit " << limit);
        auto larger = positive_definite<T>(100, 1, 3);
        const auto a = larger;
        const auto v = random_matrix<T>(100, 3, 2, 1);
        reference::herk<T>(uplo, Op::none, 1, v.view(), 1, larger.view());
        auto before = sigma > 0 ? a : larger;
        const auto& after = sigma > 0 ? larger : a;
        reference::potrf<T>(uplo, before.view());
        before.forbid_other_triangle(uplo);
        this->memory_limit_ = limit;
        this->at_every_action([&] {
          auto factor = before;
          Index info = -1;
          Exported<T>::cholupdate(static_cast<char>(uplo), 100, 3, factor.data(), factor.ld(),
                                  v.view().data, v.ld(), sigma, &info);
          EXPECT_EQ(info, 0);
          EXPECT_LT(potrf_residual<T>(uplo, after.view(), factor.view()), kThreshold);
          EXPECT_TRUE(factor.padding_untouched());
          EXPECT_TRUE(factor.other_triangle_untouched(uplo));
        });
      }
    }
  }
}

TYPED_TEST(Faults, UpdatesWithSeveralSigns) {  // the CPU goes on with those of each sign
  using T = TypeParam;
  const Index n = 97, k = 4;  // the last region has one column
  const int signs[] = {-1, 1, 1, -1};
  // With so little memory results go home region by region.
  this->memory_limit_ = algorithms::chol_update_bytes<T>(n, k, this->nb_) + 1000;
  for (const Uplo uplo : kUplos) {
    const auto after = positive_definite<T>(n, 1, 3);
    const auto v = random_matrix<T>(n, k, 2, 1);
    auto before = after;  // A - sum of s_j v_j v_j^H, with vectors that are short if s_j > 0
    auto scaled = v;
    for (Index j = 0; j < k; ++j) {
      if (signs[j] < 0) continue;
      for (Index i = 0; i < n; ++i) scaled(i, j) *= Real<T>(0.01);
    }
    for (Index j = 0; j < k; ++j) {
      reference::herk<T>(uplo, Op::none, static_cast<Real<T>>(-signs[j]),
                         HostView<const T>(scaled.view()).block(0, j, n, 1), 1, before.view());
    }
    ASSERT_EQ(reference::potrf<T>(uplo, before.view()), 0);
    before.forbid_other_triangle(uplo);
    this->at_every_action([&] {
      auto factor = before;
      Index info = -1;
      Exported<T>::cholupdate_mixed(static_cast<char>(uplo), n, k, factor.data(), factor.ld(),
                                    scaled.view().data, scaled.ld(), signs, &info);
      EXPECT_EQ(info, 0);
      EXPECT_LT(potrf_residual<T>(uplo, after.view(), factor.view()), kThreshold);
      EXPECT_TRUE(factor.padding_untouched());
      EXPECT_TRUE(factor.other_triangle_untouched(uplo));
    });
  }
}

TYPED_TEST(Faults, DowndatesThatAreNotPossible) {
  using T = TypeParam;
  for (const Uplo uplo : kUplos) {
    auto before = positive_definite<T>(100, 1, 3);
    reference::potrf<T>(uplo, before.view());
    before.forbid_other_triangle(uplo);
    Padded<T> v(100, 2);
    for (Index j = 0; j < 2; ++j) std::fill_n(&v(0, j), 100, T(0));
    v(60, 1) = T(2) * before(60, 60);
    this->at_every_action([&] {
      auto factor = before;
      Index info = -1;
      Exported<T>::cholupdate(static_cast<char>(uplo), 100, 2, factor.data(), factor.ld(),
                              v.view().data, v.ld(), -1, &info);
      EXPECT_EQ(info, 61);
      for (Index j = 0; j < 100; ++j) {
        const bool same = std::memcmp(&factor(0, j), &before(0, j), 100 * sizeof(T)) == 0;
        EXPECT_TRUE(same) << j;
      }
    });
  }
}

TYPED_TEST(Faults, UpdatesByOneVector) { this->update_by_one_vector(100); }

TYPED_TEST(Faults, UpdatesByOneVectorOfManyRegions) {
  this->nb_ = 6;
  this->stride_factor_ = 3;
  this->update_by_one_vector(200);  // too large to be kept: regions come home one by one
}

TYPED_TEST(Faults, CallsWithATimeline) {
  using T = TypeParam;
  this->stride_factor_ = 3;
  const auto a = random_matrix<T>(100, 100, 1, 3);
  const auto b = random_matrix<T>(100, 20, 2, 1);
  Timeline timeline(this->device());
  this->at_every_action([&] {
    auto factor = a;
    auto x = b;
    std::vector<Index> pivots;
    EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), 0);
    ASSERT_TRUE(valid_pivots(pivots, 100));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    this->device().set_observer(nullptr);
    for (const TimedSpan& span : timeline.collect()) {
      EXPECT_GE(span.begin, 0) << span.lane << ": " << span.name;
      EXPECT_GE(span.end, span.begin) << span.lane << ": " << span.name;
    }
  });
}

TYPED_TEST(Faults, ALostDeviceIsNotUsedAgain) {
  using T = TypeParam;
  const auto a = positive_definite<T>(100, 1);
  for (const Index at : {1, 20, 60}) {
    SCOPED_TRACE(testing::Message() << "lost at action " << at);
    this->route(Algorithm::tiled, 16);
    FaultAt fault(at, true);
    this->device().set_observer(&fault);
    for (int call = 0; call < 2; ++call) {
      auto factor = a;
      EXPECT_EQ(potrf<T>(Uplo::lower, factor.view()), 0);
      EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view(), factor.view()), kThreshold);
      EXPECT_EQ(dispatch::Context::instance().device(), nullptr);
    }
    this->device().set_observer(nullptr);
  }
}

}  // namespace
}  // namespace overlapack
