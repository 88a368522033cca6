// Calls whose matrix is larger than the memory that they may take of the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/plan.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;
using dispatch::Plan;
using dispatch::Routine;

template <class T>
class OutOfCore : public RoutedTest {
 protected:
  // On a GPU as many blocks make products that are worth while.
  Index unit() { return device().emulated() ? 1 : 4; }
  Index nb() { return 8 * unit(); }
  std::size_t bytes(Index m, Index n) { return sizeof(T) * static_cast<std::size_t>(m * n); }

  dispatch::Settings limited(Algorithm algorithm, std::size_t bytes) {
    dispatch::Settings settings = settings_for(algorithm, nb());
    settings.memory_limit = bytes;
    return settings;
  }
  Plan plan(Routine routine, const dispatch::Shape& shape, const dispatch::Settings& settings) {
    return dispatch::plan(routine, ScalarTraits<T>::letter, shape, settings,
                          dispatch::builtin_profile(), &device());
  }
  /// Does a call within a share of the memory of its matrix, and counts the columns that it may
  /// have on the device at a time, 0 if it is for the CPU.
  template <class Call>
  void within(double share, Routine routine, const dispatch::Shape& shape, Call call) {
    for (const Algorithm algorithm : kAlgorithms) {
      const auto limit =
          static_cast<std::size_t>(share * static_cast<double>(bytes(shape.m, shape.n)));
      SCOPED_TRACE(testing::Message() << name_of(algorithm) << " " << shape.m << "x" << shape.n
                                      << " nrhs=" << shape.nrhs << " within " << share);
      const dispatch::Settings settings = limited(algorithm, limit);
      const Plan plan = this->plan(routine, shape, settings);
      ASSERT_TRUE(plan.on_device) << plan.why;
      EXPECT_TRUE(plan.out_of_core) << plan.why;
      EXPECT_NE(plan.why.find("out of core, "), std::string::npos) << plan.why;
      use(settings);
      device().set_memory_limit(limit);
      device().reset_peak_use();
      const std::size_t before = uploaded();
      call();
      EXPECT_GT(uploaded(), before) << "not on the device";
      EXPECT_LE(device().pool_use(Space::device).peak, limit);
    }
  }
};
TYPED_TEST_SUITE(OutOfCore, Precisions);

constexpr double kSharesOfCholesky[] = {0.9, 0.5, 0.4};
constexpr double kSharesOfLu[] = {0.9, 0.5, 0.25};

TYPED_TEST(OutOfCore, Potrf) {
  using T = TypeParam;
  const Index n = 251 * this->unit();
  for (const Uplo uplo : kUplos) {
    auto a = hadamard_spd<T>(n, 3);
    a.forbid_other_triangle(uplo);
    for (const double share : kSharesOfCholesky) {
      this->within(share, Routine::potrf, {n, n, 0}, [&] {
        auto factor = a;
        EXPECT_EQ(potrf<T>(uplo, factor.view()), 0) << char(uplo);
        EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold) << char(uplo);
        EXPECT_TRUE(factor.padding_untouched());
        EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      });
    }
  }
}

TYPED_TEST(OutOfCore, PotrfBySplitOperands) {
  using T = TypeParam;
  if (!this->device().template kernels<T>().split_pays(Precision::fp32, 600, 600, 256)) {
    GTEST_SKIP() << "they do not pay";
  }
  const bool emulated = this->device().emulated();
  const Index n = emulated ? 300 : is_complex<T> ? 2500 : 8000;
  auto settings = this->limited(Algorithm::tiled, this->bytes(n, n) / 5 * 4);
  settings.nb = emulated ? 16 : 256;
  const Plan plan = this->plan(Routine::potrf, {n, n, 0}, settings);
  ASSERT_TRUE(plan.out_of_core);
  if (!plan.split && !emulated) GTEST_SKIP() << "there is no memory for their work space";
  for (const Uplo uplo : kUplos) {
    const auto a = hadamard_spd<T>(n);
    this->use(settings);
    Calls calls;
    this->device().set_observer(&calls);
    auto factor = a;
    EXPECT_EQ(potrf<T>(uplo, factor.view()), 0) << char(uplo);
    this->device().set_observer(nullptr);
    EXPECT_GT(calls.of(SplitGemm<T>::kName), 0);
    EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold) << char(uplo);
  }
}

TYPED_TEST(OutOfCore, PotrfOfAnIndefiniteMatrix) {
  using T = TypeParam;
  const Index n = 251 * this->unit();
  for (const Uplo uplo : kUplos) {
    for (const Index position : {Index{0}, Index{7}, n / 2, n - 1}) {
      auto a = indefinite_at<T>(n, position, 1, 3);
      a.forbid_other_triangle(uplo);
      this->within(0.4, Routine::potrf, {n, n, 0}, [&] {
        auto factor = a;
        EXPECT_EQ(potrf<T>(uplo, factor.view()), position + 1) << char(uplo);
        EXPECT_LT(partial_potrf_residual<T>(uplo, a.view(), factor.view(), position + 1),
                  kThreshold)
            << char(uplo);
        EXPECT_TRUE(factor.padding_untouched());
        EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      });
      if (testing::Test::HasFailure()) return;
    }
  }
}

TYPED_TEST(OutOfCore, Posv) {
  using T = TypeParam;
  const Index n = 251 * this->unit();
  for (const Uplo uplo : kUplos) {
    auto a = hadamard_spd<T>(n, 3);
    a.forbid_other_triangle(uplo);
    const auto whole = widen_hermitian<T>(uplo, a.view());
    for (const Index nrhs : {Index{1}, n / 2}) {
      const auto b = random_matrix<T>(n, nrhs, 2, 1);
      this->within(0.4, Routine::posv, {n, n, nrhs}, [&] {
        auto factor = a;
        auto x = b;
        EXPECT_EQ(posv<T>(uplo, factor.view(), x.view()), 0) << char(uplo);
        EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold) << char(uplo);
        EXPECT_LT(solve_residual(Op::none, whole, x, b), kThreshold) << char(uplo);
        EXPECT_TRUE(factor.other_triangle_untouched(uplo));
        EXPECT_TRUE(x.padding_untouched());
      });
    }
  }
}

TYPED_TEST(OutOfCore, Potrs) {
  using T = TypeParam;
  const Index n = 251 * this->unit(), nrhs = 61 * this->unit();
  for (const Uplo uplo : kUplos) {
    const auto a = hadamard_spd<T>(n);
    const auto whole = widen_hermitian<T>(uplo, a.view());
    auto factor = a;
    ASSERT_EQ(cpu::lapack<T>(cpu::Family::lp64).potrf(uplo, factor.view()), 0);
    factor.forbid_other_triangle(uplo);
    const auto b = random_matrix<T>(n, nrhs, 2, 1);
    for (const double share : kSharesOfLu) {
      this->within(share, Routine::potrs, {n, n, nrhs}, [&] {
        auto x = b;
        EXPECT_EQ(potrs<T>(uplo, factor.view(), x.view()), 0) << char(uplo);
        EXPECT_LT(solve_residual(Op::none, whole, x, b), kThreshold) << char(uplo);
        EXPECT_TRUE(x.padding_untouched());
      });
    }
  }
}

TYPED_TEST(OutOfCore, Getrf) {
  using T = TypeParam;
  const Index u = this->unit();
  const std::pair<Index, Index> shapes[] = {{251, 251}, {350, 163}, {163, 350}, {130, 130}};
  for (const auto& [rows, columns] : shapes) {
    const Index m = rows * u, n = columns * u;
    const auto a = random_matrix<T>(m, n, 1, 3);
    for (const double share : kSharesOfLu) {
      if (share < 0.5 && rows < 200) continue;  // narrower than two blocks
      this->within(share, Routine::getrf, {m, n, 0}, [&] {
        auto factor = a;
        std::vector<Index> pivots;
        EXPECT_EQ(getrf<T>(factor.view(), pivots), 0);
        EXPECT_TRUE(factor.padding_untouched());
        ASSERT_TRUE(valid_pivots(pivots, m));
        EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
      });
    }
  }
}

TYPED_TEST(OutOfCore, GetrfOfASingularMatrix) {  // the first zero pivot counts
  using T = TypeParam;
  const Index n = 251 * this->unit();
  for (const Index position : {Index{3}, n / 2, n - 1}) {
    auto a = singular_at<T>(n, n, position, 1, 3);
    for (Index i = 0; position == 3 && i < n; ++i) a(i, n / 2) = T(0);
    this->within(0.25, Routine::getrf, {n, n, 0}, [&] {
      auto factor = a;
      std::vector<Index> pivots;
      EXPECT_EQ(getrf<T>(factor.view(), pivots), position + 1);
      ASSERT_TRUE(valid_pivots(pivots, n));
      EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    });
  }
}

TYPED_TEST(OutOfCore, Gesv) {
  using T = TypeParam;
  const Index n = 251 * this->unit();
  const auto a = random_matrix<T>(n, n, 1, 3);
  const auto whole = widen<T>(a.view());
  for (const Index nrhs : {Index{1}, n / 2}) {
    const auto b = random_matrix<T>(n, nrhs, 2, 1);
    this->within(0.3, Routine::gesv, {n, n, nrhs}, [&] {
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
}

TYPED_TEST(OutOfCore, GesvOfASingularMatrixLeavesB) {
  using T = TypeParam;
  const Index n = 251 * this->unit();
  const auto a = singular_at<T>(n, n, n / 3, 1, 3);
  const auto b = random_matrix<T>(n, 5, 2, 1);
  this->within(0.3, Routine::gesv, {n, n, 5}, [&] {
    auto factor = a;
    auto x = b;
    std::vector<Index> pivots;
    EXPECT_EQ(gesv<T>(factor.view(), pivots, x.view()), n / 3 + 1);
    EXPECT_TRUE(same(x, b));
  });
}

TYPED_TEST(OutOfCore, Getrs) {
  using T = TypeParam;
  const Index n = 251 * this->unit(), nrhs = 61 * this->unit();
  const auto a = random_matrix<T>(n, n, 1);
  const auto whole = widen<T>(a.view());
  auto factor = a;
  std::vector<Index> pivots(static_cast<std::size_t>(n));
  ASSERT_EQ(cpu::lapack<T>(cpu::Family::lp64).getrf(factor.view(), cpu::Pivots(pivots.data())), 0);
  const auto b = random_matrix<T>(n, nrhs, 2, 1);
  for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
    for (const double share : kSharesOfLu) {
      this->within(share, Routine::getrs, {n, n, nrhs}, [&] {
        auto x = b;
        EXPECT_EQ(getrs<T>(op, factor.view(), pivots, x.view()), 0);
        EXPECT_LT(solve_residual(op, whole, x, b), kThreshold) << char(op);
        EXPECT_TRUE(x.padding_untouched());
      });
    }
  }
}

TYPED_TEST(OutOfCore, NarrowerThanTwoBlocksIsForTheCpu) {
  const Index n = 251 * this->unit();
  for (const Routine routine : {Routine::potrf, Routine::posv, Routine::potrs, Routine::getrf,
                                Routine::gesv, Routine::getrs}) {
    const bool solves = routine != Routine::potrf && routine != Routine::getrf;
    const dispatch::Shape shape{n, n, solves ? n : 0};
    const auto settings = this->limited(Algorithm::tiled, this->bytes(n, this->nb()));
    const Plan plan = this->plan(routine, shape, settings);
    EXPECT_FALSE(plan.on_device) << plan.why;
    EXPECT_EQ(plan.why, "needs more device memory than OVERLAPACK_MEMORY_LIMIT allows");
  }
}

/// Another process has most of the memory, which is not noticed before it is asked for.
TYPED_TEST(OutOfCore, WhatOthersLeaveIsEnough) {
  using T = TypeParam;
  if (!this->device().emulated()) GTEST_SKIP() << "the memory of a GPU is others', too";
  const Index n = 251;
  const std::size_t whole = this->bytes(n, n);
  for (const double share : {0.9, 0.01}) {
    SCOPED_TRACE(share);
    EmulatedOptions options;
    options.memory = 8 * whole;
    options.taken = options.memory - static_cast<std::size_t>(share * static_cast<double>(whole));
    this->device_ = make_emulated_device(options);
    this->use(this->settings_for(Algorithm::tiled, this->nb()));
    const bool enough = share > 0.5;
    const std::size_t before = this->uploaded();
    {
      const auto a = hadamard_spd<T>(n, 3);
      auto factor = a;
      EXPECT_EQ(potrf<T>(Uplo::lower, factor.view()), 0);
      EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view(), factor.view()), kThreshold);
    }
    const std::size_t between = this->uploaded();
    EXPECT_EQ(between > before, enough);
    const auto a = random_matrix<T>(n, n, 1, 3);
    auto factor = a;
    std::vector<Index> pivots;
    EXPECT_EQ(getrf<T>(factor.view(), pivots), 0);
    ASSERT_TRUE(valid_pivots(pivots, n));
    EXPECT_LT(getrf_residual<T>(a.view(), factor.view(), pivots), kThreshold);
    EXPECT_EQ(this->uploaded() > between, enough);
  }
}

}  // namespace
}  // namespace overlapack
