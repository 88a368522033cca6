// ?gecon, ?pocon and ?trcon by their exported names: on every device, with matrices there, and on
// the CPU. What they return is compared with the CPU LAPACK's, and with the true condition.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "cpu/condition.hpp"
#include "cpu/reference.hpp"
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
using dispatch::Algorithm;

/// Which routine, and its options.
struct Form {
  char routine;  ///< g, p or t
  char norm = 'O';
  Uplo uplo = Uplo::lower;
  Diag diag = Diag::non_unit;

  Norm kind() const { return norm == 'I' || norm == 'i' ? Norm::infinity : Norm::one; }
  /// Whether an element is part of what the routine is given.
  bool reads(Index i, Index j) const {
    if (routine == 'g') return true;
    if (i == j) return diag == Diag::non_unit;
    return uplo == Uplo::lower ? i > j : i < j;
  }
};

std::ostream& operator<<(std::ostream& out, const Form& form) {
  return out << form.routine << " norm=" << form.norm << " uplo=" << char(form.uplo)
             << " diag=" << char(form.diag);
}

std::vector<Form> all_forms() {
  std::vector<Form> forms = {{'g', 'O'}, {'g', 'I'}, {'g', '1'}};
  for (const Uplo uplo : kUplos) {
    forms.push_back({'p', 'O', uplo});
    for (const char norm : {'1', 'i'}) {
      for (const Diag diag : {Diag::non_unit, Diag::unit}) forms.push_back({'t', norm, uplo, diag});
    }
  }
  return forms;
}

/// What a routine is given: factors, and the norm of the matrix that they are of.
template <class T>
struct Given {
  Form form;
  Padded<T> factor;
  Real<T> norm;

  /// Whatever must not be read is a NaN, in the padding too.
  void forbid_others() {
    for (Index j = 0; j < factor.cols(); ++j) {
      for (Index i = 0; i < factor.ld(); ++i) {
        if (i >= factor.rows() || !form.reads(i, j)) factor(i, j) = nan<T>();
      }
    }
  }
  ConditionResult<Real<T>> call(HostView<const T> a) const {
    if (form.routine == 'g') return gecon<T>(form.norm, a, norm);
    if (form.routine == 'p') return pocon<T>(form.uplo, a, norm);
    return trcon<T>(form.norm, form.uplo, form.diag, a);
  }
  ConditionResult<Real<T>> call() const { return call(factor.view()); }
  /// The same by the CPU LAPACK.
  ConditionResult<Real<T>> by_cpu() const {
    const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
    std::vector<T> work(4 * static_cast<std::size_t>(factor.rows()));
    std::vector<SecondWork<T, std::int32_t>> work2(work.size());
    const cpu::ConditionWork<T> spaces{work.data(),
                                       decltype(cpu::ConditionWork<T>::second)(work2.data())};
    ConditionResult<Real<T>> r{};
    const HostView<const T> a = factor.view();
    r.info = form.routine == 'g' ? cpu::gecon<T>(lapack, form.kind(), a, norm, r.rcond, spaces)
             : form.routine == 'p'
                 ? cpu::pocon<T>(lapack, form.uplo, a, norm, r.rcond, spaces)
                 : cpu::trcon<T>(lapack, form.kind(), form.uplo, form.diag, a, r.rcond, spaces);
    return r;
  }
  Real<T> by_loops() const {
    const HostView<const T> a = factor.view();
    return form.routine == 'g'   ? reference::gecon<T>(form.kind(), a, norm)
           : form.routine == 'p' ? reference::pocon<T>(form.uplo, a, norm)
                                 : reference::trcon<T>(form.kind(), form.uplo, form.diag, a);
  }
};

template <class T>
Real<T> norm_of(Norm norm, const Padded<T>& a) {
  std::vector<Real<T>> sums(static_cast<std::size_t>(a.rows()));
  return reference::norm<T>(norm, Symmetry::none, Uplo::lower, a.view(), sums.data());
}

/// From a matrix, Hermitian and positive definite for pocon. Of trcon it is the triangle.
template <class T>
Given<T> given(const Form& form, const Padded<T>& matrix) {
  Given<T> g{form, matrix, norm_of<T>(form.kind(), matrix)};
  if (form.routine == 'g') {
    std::vector<Index> pivots(static_cast<std::size_t>(matrix.rows()));
    reference::getrf<T>(g.factor.view(), pivots.data());
  } else if (form.routine == 'p') {
    EXPECT_EQ(reference::potrf<T>(form.uplo, g.factor.view()), 0);
  }
  g.forbid_others();
  return g;
}

/// From a matrix that is not ill-conditioned.
template <class T>
Given<T> well_conditioned(const Form& form, Index n, Index padding = 2) {
  if (form.routine == 'p') return given<T>(form, positive_definite<T>(n, 1, padding));
  auto a = random_matrix<T>(n, n, 1, padding);
  for (Index j = 0; form.routine == 't' && j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      a(i, j) = i == j ? phase<T>(j % 4) * T(Real<T>(1.5)) : a(i, j) / static_cast<Real<T>>(n);
    }
  }
  return given<T>(form, a);
}

/// ||A|| ||A^-1||, from the inverse itself.
template <class T>
double true_condition(const Given<T>& g) {
  const Form& form = g.form;
  const Index n = g.factor.rows();
  const HostView<const T> f = g.factor.view();
  Padded<T> inverse(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) inverse(i, j) = T(i == j);
  }
  const auto solve = [&](Uplo uplo, Op op, Diag diag) {
    reference::trsm<T>(Side::left, uplo, op, diag, T(1), f, inverse.view());
  };
  double norm = static_cast<double>(g.norm);
  if (form.routine == 'g') {
    solve(Uplo::lower, Op::none, Diag::unit);
    solve(Uplo::upper, Op::none, Diag::non_unit);
  } else if (form.routine == 'p') {
    const bool lower = form.uplo == Uplo::lower;
    solve(form.uplo, lower ? Op::none : Op::conj_trans, Diag::non_unit);
    solve(form.uplo, lower ? Op::conj_trans : Op::none, Diag::non_unit);
  } else {
    solve(form.uplo, Op::none, form.diag);
    Padded<T> triangle(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        triangle(i, j) = form.reads(i, j) ? g.factor(i, j) : T(i == j ? 1 : 0);
      }
    }
    norm = static_cast<double>(norm_of<T>(form.kind(), triangle));
  }
  return norm * static_cast<double>(norm_of<T>(form.kind(), inverse));
}

template <class T>
class Condition : public RoutedTest {
 protected:
  void on_the_cpu() {
    dispatch::Settings settings;
    settings.device = dispatch::DeviceChoice::off;
    dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  }
  /// Calls on the device, which must serve the call, and expects the CPU LAPACK's estimate within
  /// the factor that is promised, and the matrix as it was.
  Real<T> expect_estimated(const Given<T>& g) {
    const auto before = g.factor;
    const auto ours = g.call(), cpus = g.by_cpu();
    EXPECT_EQ(ours.info, 0);
    if (g.factor.rows() > 8) {
      EXPECT_FALSE(ours.work_used) << "the CPU has served the call";
    }
    EXPECT_FALSE(ours.work_overrun);
    expect_near(ours.rcond, cpus.rcond);
    EXPECT_TRUE(same_bits(g.factor, before));
    return ours.rcond;
  }
  static void expect_near(Real<T> ours, Real<T> cpus) {
    EXPECT_GT(ours, 0);
    EXPECT_LE(ours, 3 * cpus);
    EXPECT_LE(cpus, 3 * ours);
  }
  /// Calls on the device, and expects what the CPU LAPACK says to the bit.
  void expect_left_to_the_cpu(const Given<T>& g) {
    const auto before = g.factor;
    const auto cpus = g.by_cpu();
    const std::size_t up = uploaded();
    expect_same(g.call(), cpus);
    EXPECT_TRUE(same_bits(g.factor, before));
    if (std::isnormal(g.norm)) {
      EXPECT_GT(uploaded(), up) << "the call did not reach the device";
    }
    auto copy = g.factor;
    OnDevice<T> there(device(), copy);
    expect_same(g.call(there.view()), cpus);
  }
  static void expect_same(const ConditionResult<Real<T>>& ours,
                          const ConditionResult<Real<T>>& cpus) {
    EXPECT_EQ(ours.info, cpus.info);
    EXPECT_FALSE(ours.work_overrun);
    if (std::isnan(cpus.rcond)) {
      EXPECT_TRUE(std::isnan(ours.rcond)) << ours.rcond;
    } else {
      EXPECT_EQ(ours.rcond, cpus.rcond);
    }
  }
};
TYPED_TEST_SUITE(Condition, Precisions);

TYPED_TEST(Condition, AllFormsAndShapes) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    for (const Index n : {1, 2, 33, 129}) {
      SCOPED_TRACE(testing::Message() << form << " n=" << n);
      const auto g = well_conditioned<T>(form, n);
      const auto rcond = static_cast<double>(this->expect_estimated(g));
      // The estimate is a lower bound of the norm.
      const double truth = 1 / true_condition(g), rounding = 1000 * epsilon<T>();
      EXPECT_GE(rcond, truth * (1 - rounding));
      EXPECT_LE(rcond, 3 * truth);
      if (n > 40) continue;
      EXPECT_LE(std::abs(static_cast<double>(g.by_loops()) - rcond), rounding * rcond);
    }
  }
}

/// The vector in the workspace, which ?latdf takes for its own.
template <class T>
std::vector<T> vector_of_gecon(Index n) {
  const auto a = random_matrix<T>(n, n, 1);
  const auto order = static_cast<std::int32_t>(n);
  std::vector<T> work(static_cast<std::size_t>(4 * n), sentinel<T>());
  std::vector<SecondWork<T, std::int32_t>> work2(static_cast<std::size_t>(2 * n));
  const char norm = 'I';
  const Real<T> norm_of_a = 1;
  Real<T> rcond = 0;
  std::int32_t info = 0;
  Exported<T>::gecon(&norm, &order, a.view().data, &order, &norm_of_a, &rcond, work.data(),
                     work2.data(), &info, 1);
  return {work.begin() + n, work.begin() + 2 * n};
}

TYPED_TEST(Condition, SmallOnesLeaveTheVectorThatLapacksOwnRoutinesRead) {
  using T = TypeParam;
  for (const Index n : {1, 2, 8}) {
    this->route(Algorithm::tiled, 16);
    const auto ours = vector_of_gecon<T>(n);
    dispatch::Settings settings;
    settings.device = dispatch::DeviceChoice::off;
    dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
    EXPECT_EQ(ours, vector_of_gecon<T>(n)) << n;
    EXPECT_NE(ours[0], sentinel<T>());
  }
}

/// As LAPACK's own tests have them: singular values in geometric progression up to beyond the
/// precision, well scaled or near what overflows or underflows.
TYPED_TEST(Condition, OfIllConditionedMatrices) {
  using T = TypeParam;
  using R = Real<T>;
  this->route(Algorithm::tiled, 16);
  const Index n = 40;
  const double eps = epsilon<T>();
  const R tiny = std::sqrt(std::numeric_limits<R>::min()), huge = 1 / tiny;
  for (const double condition : {1.0, 1e3, 0.1 / eps, 1 / eps}) {
    for (const bool definite : {false, true}) {
      if (definite && condition > 0.2 / eps) continue;  // it may not be, when it is rounded
      auto well_scaled = conditioned<T>(n, condition, definite);
      for (Index j = 0; definite && condition > 0.01 / eps && j < n; ++j) {
        well_scaled(j, j) *= R(1 + 60 * eps);
      }
      for (const R size : {R(1), tiny, huge}) {
        auto a = well_scaled;
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < n; ++i) a(i, j) *= size;
        }
        for (const Form& form : all_forms()) {
          if (form.routine != (definite ? 'p' : 'g')) continue;
          SCOPED_TRACE(testing::Message() << form << " " << condition << " times " << size);
          this->expect_estimated(given<T>(form, a));
        }
      }
    }
  }
}

TYPED_TEST(Condition, OfGradedMatricesAndTriangles) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Index n : {10, 40, 90}) {
    for (const Form& form : all_forms()) {
      SCOPED_TRACE(testing::Message() << form << " n=" << n);
      if (form.routine == 'p') {
        this->expect_estimated(given<T>(form, graded(positive_definite<T>(n, 1, 1))));
        continue;
      }
      this->expect_estimated(given<T>(form, graded(diagonally_dominant<T>(n, 1, 1))));
      this->expect_estimated(given<T>(form, kahan<T>(n, 1)));
      // Without small elements on the diagonal, and a condition of some 2^n.
      if (form.routine == 'g' || form.uplo == Uplo::upper) {
        Padded<T> ones(n, n);
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < n; ++i) ones(i, j) = T(i == j ? 1.f : i < j ? -1.f : 0.f);
        }
        this->expect_estimated(given<T>(form, ones));
      }
    }
  }
}

TYPED_TEST(Condition, FarFromOne) {
  using T = TypeParam;
  using R = Real<T>;
  this->route(Algorithm::tiled, 16);
  const R largest = std::numeric_limits<R>::max(), least = std::numeric_limits<R>::min();
  for (const Form& form : all_forms()) {
    for (const R size : {largest / 1000000, largest / 1000, least * 1000, least * 1000000}) {
      SCOPED_TRACE(testing::Message() << form << " size " << size);
      if (form.diag == Diag::unit) continue;
      auto a = form.routine == 'p' ? positive_definite<T>(40, 1) : diagonally_dominant<T>(40, 1);
      for (Index j = 0; j < 40; ++j) {
        for (Index i = 0; i < 40; ++i) a(i, j) *= size / 100;
      }
      const auto g = given<T>(form, a);
      const auto ours = g.call(), cpus = g.by_cpu();
      EXPECT_EQ(ours.info, cpus.info);
      if (std::isnormal(cpus.rcond)) {
        this->expect_near(ours.rcond, cpus.rcond);  // by the device or by the CPU
      } else {
        this->expect_same(ours, cpus);
      }
    }
  }
}

/// Products that overflow without scaling, which LAPACK's do not.
TYPED_TEST(Condition, WhatOverflowsIsLeftToTheCpu) {
  using T = TypeParam;
  using R = Real<T>;
  this->route(Algorithm::tiled, 16);
  const Index n = 70;
  const R tiny = std::numeric_limits<R>::min() * 1000;
  for (const Form& form : all_forms()) {
    if (form.diag == Diag::unit) continue;
    SCOPED_TRACE(testing::Message() << form);
    auto g = well_conditioned<T>(form, n);
    g.factor(30, 30) = T(tiny);
    g.factor(60, 60) = T(tiny);
    this->expect_left_to_the_cpu(g);
    if (form.routine == 'p') continue;
    g = well_conditioned<T>(form, n);  // growth by a large factor each
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        if (i != j && form.reads(i, j)) g.factor(i, j) = T(-1e10f);
      }
    }
    this->expect_left_to_the_cpu(g);
  }
}

TYPED_TEST(Condition, ZerosOnTheDiagonal) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    for (const Index position : {0, 40, 69}) {
      SCOPED_TRACE(testing::Message() << form << " at " << position);
      auto g = well_conditioned<T>(form, 70);
      g.factor(position, position) = T(0);
      if (form.diag == Diag::unit) {
        this->expect_estimated(g);
        continue;
      }
      this->expect_left_to_the_cpu(g);
      EXPECT_EQ(g.call().rcond, 0);
      EXPECT_EQ(g.by_loops(), 0);
    }
  }
}

TYPED_TEST(Condition, NumbersThatAreNotFinite) {
  using T = TypeParam;
  using R = Real<T>;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    for (const T value : {nan<T>(), -infinity<T>()}) {
      for (const Index off : {0, 1}) {
        SCOPED_TRACE(testing::Message() << form << " " << value << " beside the diagonal " << off);
        const bool lower = form.routine != 'g' && form.uplo == Uplo::lower;
        const Index i = lower ? 33 + off : 33, j = lower ? 33 : 33 + off;
        if (!form.reads(i, j)) continue;
        auto g = well_conditioned<T>(form, 70);
        g.factor(i, j) = value;
        this->expect_left_to_the_cpu(g);
      }
    }
    if (form.routine == 't') continue;
    using Limits = std::numeric_limits<R>;
    for (const R norm : {Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min()}) {
      SCOPED_TRACE(testing::Message() << form << " anorm " << norm);
      auto g = well_conditioned<T>(form, 70);
      g.norm = norm;
      this->expect_left_to_the_cpu(g);
    }
  }
}

TYPED_TEST(Condition, WhatIsKnownWithoutTheMatrix) {
  using T = TypeParam;
  using R = Real<T>;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(testing::Message() << form);
    for (const R norm : {R(0), R(1), std::numeric_limits<R>::quiet_NaN()}) {
      const Given<T> nothing{form, Padded<T>(0, 0), norm};
      const auto result = nothing.call();
      EXPECT_EQ(result.info, 0);
      EXPECT_EQ(result.rcond, 1);
      EXPECT_FALSE(result.work_used);
    }
    if (form.routine == 't') continue;
    auto g = well_conditioned<T>(form, 70);
    g.norm = 0;
    const auto result = g.call();
    EXPECT_EQ(result.info, 0);
    EXPECT_EQ(result.rcond, 0);
    EXPECT_FALSE(result.work_used);
  }
}

TYPED_TEST(Condition, ArgumentsAreCheckedInLapacksOrder) {
  using T = TypeParam;
  using R = Real<T>;
  this->route(Algorithm::tiled, 16);
  const auto a = random_matrix<T>(20, 20, 1);
  std::vector<T> work(100, sentinel<T>());
  std::vector<SecondWork<T, std::int32_t>> work2(100);
  const auto expect_info = [&](std::int32_t expected, auto call) {
    std::int32_t info = kNoInfo;
    R rcond(-5);
    call(&rcond, work2.data(), &info);
    EXPECT_EQ(info, expected);
    EXPECT_EQ(rcond, -5);
  };
  const struct {
    char letter;
    std::int32_t n, lda;
    R norm;
    std::int32_t info;
  } wrong[] = {{'/', -1, 0, -1, -1},
               {'F', -1, 0, -1, -1},
               {'i', -1, 0, -1, -2},
               {'1', 20, 19, -1, -4},
               {'O', 20, 20, -1, -5},
               {'o', 0, 0, -1, -4},
               {'I', 0, 1, -std::numeric_limits<R>::infinity(), -5}};
  for (const auto& c : wrong) {
    expect_info(c.info, [&](R* rcond, auto* second, std::int32_t* info) {
      Exported<T>::gecon(&c.letter, &c.n, a.view().data, &c.lda, &c.norm, rcond, work.data(),
                         second, info, 1);
    });
    const char uplo = c.info == -1 ? '/' : c.letter == 'i' ? 'u' : 'L';
    expect_info(c.info, [&](R* rcond, auto* second, std::int32_t* info) {
      Exported<T>::pocon(&uplo, &c.n, a.view().data, &c.lda, &c.norm, rcond, work.data(), second,
                         info, 1);
    });
  }
  const struct {
    char norm, uplo, diag;
    std::int32_t n, lda, info;
  } wrong_triangles[] = {{'/', '/', '/', -1, 0, -1}, {'M', '/', '/', -1, 0, -1},
                         {'1', '/', '/', -1, 0, -2}, {'o', 'u', '/', -1, 0, -3},
                         {'I', 'L', 'u', -1, 0, -4}, {'i', 'U', 'n', 20, 19, -6},
                         {'O', 'l', 'N', 0, 0, -6}};
  for (const auto& c : wrong_triangles) {
    expect_info(c.info, [&](R* rcond, auto* second, std::int32_t* info) {
      Exported<T>::trcon(&c.norm, &c.uplo, &c.diag, &c.n, a.view().data, &c.lda, rcond, work.data(),
                         second, info, 1, 1, 1);
    });
  }
}

TYPED_TEST(Condition, OfMatricesOnTheDevice) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16, dispatch::kNever);
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(testing::Message() << form);
    const auto g = well_conditioned<T>(form, 100);
    auto copy = g.factor;
    OnDevice<T> there(this->device(), copy);
    const auto ours = g.call(there.view());
    EXPECT_EQ(ours.info, 0);
    EXPECT_FALSE(ours.work_used);
    this->expect_near(ours.rcond, g.by_cpu().rcond);
    there.fetch();
    EXPECT_TRUE(same_bits(copy, g.factor));
  }
}

TYPED_TEST(Condition, FaultsAtEveryAction) {
  using T = TypeParam;
  const bool every = std::is_same_v<T, double> && device_under_test() == "lazy";
  for (const Form& form : all_forms()) {
    const auto g = well_conditioned<T>(form, 70);
    const auto cpus = g.by_cpu();
    SCOPED_TRACE(testing::Message() << form);
    const Index faults = this->with_faults(
        every ? 1 : 11, [&] { this->route(Algorithm::tiled, 16); },
        [&] {
          const auto before = g.factor;
          const auto ours = g.call();
          EXPECT_EQ(ours.info, 0);
          this->expect_near(ours.rcond, cpus.rcond);
          EXPECT_TRUE(same_bits(g.factor, before));
        });
    if (this->HasFailure()) return;
    EXPECT_GT(faults, 1) << "the call did not reach the device";
  }
}

TYPED_TEST(Condition, OnTheCpu) {
  using T = TypeParam;
  this->on_the_cpu();
  for (const Form& form : all_forms()) {
    for (const Index n : {1, 50}) {
      SCOPED_TRACE(testing::Message() << form << " n=" << n);
      const auto g = well_conditioned<T>(form, n);
      const auto ours = g.call();
      this->expect_same(ours, g.by_cpu());
      this->expect_near(g.by_loops(), ours.rcond);
    }
  }
}

TEST(ConditionWithWideIntegers, OnTheCpu) {
  dispatch::Settings settings;
  settings.device = dispatch::DeviceChoice::off;
  dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  const auto g = well_conditioned<double>({'g', 'I'}, 50);
  const std::int64_t n = 50, lda = g.factor.ld();
  std::int64_t info = -1;
  std::vector<double> work(201, 7);
  std::vector<std::int64_t> iwork(51, 7);
  double rcond = -1;
  dgecon_64_("I", &n, g.factor.view().data, &lda, &g.norm, &rcond, work.data(), iwork.data(), &info,
             1);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(rcond, g.by_cpu().rcond);
  EXPECT_EQ(work.back(), 7);
  EXPECT_EQ(iwork.back(), 7);
}

}  // namespace
}  // namespace overlapack
