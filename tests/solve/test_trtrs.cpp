// ?trtrs by its exported names: on every device, with operands there, and on the CPU.
#include <gtest/gtest.h>

#include <ostream>
#include <vector>

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

struct Form {
  Uplo uplo;
  Op op;
  Diag diag;
};

std::ostream& operator<<(std::ostream& out, const Form& form) {
  return out << char(form.uplo) << char(form.op) << char(form.diag);
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const Uplo uplo : kUplos) {
    for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
      for (const Diag diag : {Diag::non_unit, Diag::unit}) forms.push_back({uplo, op, diag});
    }
  }
  return forms;
}

/// A triangle that is well-conditioned. Whatever a call must not read is a NaN.
template <class T>
Padded<T> triangle(const Form& form, Index n, Index padding) {
  auto a = random_matrix<T>(n, n, 1, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const bool given = form.uplo == Uplo::lower ? i > j : i < j;
      a(i, j) = given ? a(i, j) / static_cast<Real<T>>(n) : nan<T>();
    }
    if (form.diag == Diag::non_unit) a(j, j) = phase<T>(j % 4) * T(Real<T>(1.5));
  }
  return a;
}

/// The triangle as a whole matrix.
template <class T>
Padded<Wide<T>> widen_triangle(const Form& form, const Padded<T>& a) {
  Padded<Wide<T>> wide(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      const bool given = form.uplo == Uplo::lower ? i > j : i < j;
      wide(i, j) = given ? Wide<T>(a(i, j)) : Wide<T>(0);
    }
    wide(j, j) = form.diag == Diag::unit ? Wide<T>(1) : Wide<T>(a(j, j));
  }
  return wide;
}

template <class T>
Index solve(const Form& form, HostView<const T> a, HostView<T> b) {
  return trtrs<T>(form.uplo, form.op, form.diag, a, b);
}

template <class T>
void expect_solved(const Form& form, const Padded<T>& a, const Padded<T>& x, const Padded<T>& b) {
  EXPECT_LT(solve_residual(form.op, widen_triangle(form, a), x, b), kThreshold);
  EXPECT_TRUE(x.padding_untouched());
}

template <class T>
class Trtrs : public RoutedTest {
 protected:
  void on_the_cpu() {
    dispatch::Settings settings;
    settings.device = dispatch::DeviceChoice::off;
    dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  }
};
TYPED_TEST_SUITE(Trtrs, Precisions);

TYPED_TEST(Trtrs, AllFormsAndShapes) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    for (const Index n : {1, 2, 16, 33, 100, 129}) {
      const auto a = triangle<T>(form, n, 2);
      for (const Index nrhs : {1, 3, 40}) {
        SCOPED_TRACE(testing::Message() << form << " n=" << n << " nrhs=" << nrhs);
        const auto a_before = a;
        const auto b = random_matrix<T>(n, nrhs, 2, 1);
        auto x = b;
        const std::size_t before = this->uploaded();
        EXPECT_EQ(solve<T>(form, a.view(), x.view()), 0);
        EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
        expect_solved(form, a, x, b);
        EXPECT_TRUE(same_bits(a, a_before));
      }
    }
  }
}

TYPED_TEST(Trtrs, TheFirstZeroOnTheDiagonalLeavesTheRightHandSide) {
  using T = TypeParam;
  const Index n = 70;
  const auto b = random_matrix<T>(n, 3, 2, 1);
  const auto expect_zero_at = [&](const Form& form, Index position) {
    auto a = triangle<T>(form, n, 2);
    if (position > 3) a(3, 3) = nan<T>();  // which is no zero
    a(position, position) = T(-0.0f);
    if (position + 1 < n) a(n - 1, n - 1) = T(0);
    auto x = b;
    EXPECT_EQ(solve<T>(form, a.view(), x.view()), position + 1);
    EXPECT_TRUE(same_bits(x, b));
    Padded<T> nothing(n, 0);
    EXPECT_EQ(solve<T>(form, a.view(), nothing.view()), position + 1);
    OnDevice<T> a_there(this->device(), a), x_there(this->device(), x);
    EXPECT_EQ(solve<T>(form, a_there.view(), x_there.view()), position + 1);
    x_there.fetch();
    EXPECT_TRUE(same_bits(x, b));
  };
  for (const Form& form : all_forms()) {
    if (form.diag == Diag::unit) continue;
    for (const Index position : {0, 40, 69}) {
      SCOPED_TRACE(testing::Message() << form << " at " << position);
      this->route(Algorithm::tiled, 16);
      expect_zero_at(form, position);
    }
  }
}

TYPED_TEST(Trtrs, ZerosOnAUnitDiagonalDoNotCount) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  const Form form{Uplo::upper, Op::none, Diag::unit};
  auto a = triangle<T>(form, 70, 0);
  for (Index i = 0; i < 70; ++i) a(i, i) = T(0);
  const auto b = random_matrix<T>(70, 3, 2, 1);
  auto x = b;
  EXPECT_EQ(solve<T>(form, a.view(), x.view()), 0);
  expect_solved(form, a, x, b);
}

TYPED_TEST(Trtrs, ANaNStaysInItsColumn) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(testing::Message() << form);
    const auto a = triangle<T>(form, 70, 2);
    auto b = random_matrix<T>(70, 4, 2, 1);
    b(30, 1) = nan<T>();
    auto x = b;
    EXPECT_EQ(solve<T>(form, a.view(), x.view()), 0);
    EXPECT_TRUE(is_nan(x(30, 1)));
    for (const Index j : {0, 2, 3}) {
      for (Index i = 0; i < 70; ++i) EXPECT_FALSE(is_nan(x(i, j))) << i << " " << j;
    }
  }
}

TYPED_TEST(Trtrs, ANaNInTheTriangleComesThrough) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(testing::Message() << form);
    auto a = triangle<T>(form, 70, 2);
    const bool lower = form.uplo == Uplo::lower, direct = form.op == Op::none;
    (lower ? a(50, 20) : a(20, 50)) = nan<T>();
    auto x = random_matrix<T>(70, 2, 2, 1);
    EXPECT_EQ(solve<T>(form, a.view(), x.view()), 0);
    EXPECT_TRUE(is_nan(x(lower == direct ? 50 : 20, 0)));
  }
}

TYPED_TEST(Trtrs, OfNothing) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(testing::Message() << form);
    Padded<T> none(0, 0), no_rows(0, 3);
    EXPECT_EQ(solve<T>(form, none.view(), no_rows.view()), 0);
    const auto a = triangle<T>(form, 70, 2);
    Padded<T> no_columns(70, 0);
    EXPECT_EQ(solve<T>(form, a.view(), no_columns.view()), 0);
  }
}

TYPED_TEST(Trtrs, ArgumentsAreCheckedInLapacksOrder) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  auto a = triangle<T>({Uplo::lower, Op::none, Diag::non_unit}, 20, 0);
  const auto b = random_matrix<T>(20, 2, 2);
  const struct {
    char uplo, trans, diag;
    std::int32_t n, nrhs, lda, ldb, info;
  } wrong[] = {{'/', '/', '/', -1, -1, 0, 0, -1},   {'L', 'R', '/', -1, -1, 0, 0, -2},
               {'u', 't', '/', -1, -1, 0, 0, -3},   {'L', 'c', 'n', -1, -1, 0, 0, -4},
               {'L', 'N', 'u', 20, -1, 19, 19, -5}, {'L', 'N', 'N', 20, 2, 19, 19, -7},
               {'L', 'N', 'N', 20, 2, 20, 19, -9},  {'L', 'N', 'N', 0, 0, 0, 1, -7}};
  for (const auto& c : wrong) {
    auto x = b;
    std::int32_t info = kNoInfo;
    Exported<T>::trtrs(&c.uplo, &c.trans, &c.diag, &c.n, &c.nrhs, a.data(), &c.lda, x.data(),
                       &c.ldb, &info, 1, 1, 1);
    EXPECT_EQ(info, c.info);
    EXPECT_TRUE(same_bits(x, b)) << c.info;
  }
}

TYPED_TEST(Trtrs, OperandsOnTheDevice) {
  using T = TypeParam;
  const Index n = 100, nrhs = 70;
  this->route(Algorithm::tiled, 16, dispatch::kNever);
  for (const Form& form : all_forms()) {
    for (const bool a_is_there : {false, true}) {
      for (const bool b_is_there : {false, true}) {
        if (!a_is_there && !b_is_there) continue;
        SCOPED_TRACE(testing::Message() << form << a_is_there << b_is_there);
        auto a = triangle<T>(form, n, 2);
        const auto b = random_matrix<T>(n, nrhs, 2, 1);
        auto x = b;
        OnDevice<T> a_there(this->device(), a), x_there(this->device(), x);
        const auto a_view = a_is_there ? a_there.view() : a.view();
        EXPECT_EQ(solve<T>(form, a_view, b_is_there ? x_there.view() : x.view()), 0);
        if (b_is_there) x_there.fetch();
        expect_solved(form, a, x, b);
      }
    }
  }
}

TYPED_TEST(Trtrs, FaultsAtEveryAction) {
  using T = TypeParam;
  const Index n = 100;
  const bool every = std::is_same_v<T, double> && device_under_test() == "lazy";
  for (const Form& form : all_forms()) {
    const auto a = triangle<T>(form, n, 2);
    const auto b = random_matrix<T>(n, 20, 2, 1);
    SCOPED_TRACE(testing::Message() << form);
    const Index faults = this->with_faults(
        every ? 1 : 11, [&] { this->route(Algorithm::tiled, 16); },
        [&] {
          auto x = b;
          EXPECT_EQ(solve<T>(form, a.view(), x.view()), 0);
          expect_solved(form, a, x, b);
        });
    if (this->HasFailure()) return;
    EXPECT_GT(faults, 1) << "the call did not reach the device";
  }
}

TYPED_TEST(Trtrs, OnTheCpu) {
  using T = TypeParam;
  this->on_the_cpu();
  for (const Form& form : all_forms()) {
    for (const Index n : {1, 33, 100}) {
      SCOPED_TRACE(testing::Message() << form << " n=" << n);
      auto a = triangle<T>(form, n, 2);
      const auto b = random_matrix<T>(n, 3, 2, 1);
      auto x = b;
      EXPECT_EQ(solve<T>(form, a.view(), x.view()), 0);
      expect_solved(form, a, x, b);
      if (form.diag == Diag::unit) continue;
      a(n / 2, n / 2) = T(0);
      if (n > 10) a(3, 3) = nan<T>();
      x = b;
      EXPECT_EQ(solve<T>(form, a.view(), x.view()), n / 2 + 1);
      EXPECT_TRUE(same_bits(x, b));
    }
  }
}

TEST(TrtrsWithWideIntegers, OnTheCpu) {
  dispatch::Settings settings;
  settings.device = dispatch::DeviceChoice::off;
  dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  const Form form{Uplo::upper, Op::trans, Diag::non_unit};
  const auto a = triangle<double>(form, 50, 2);
  const auto b = random_matrix<double>(50, 3, 2, 1);
  auto x = b;
  const std::int64_t n = 50, nrhs = 3, lda = a.ld(), ldb = b.ld();
  std::int64_t info = -1;
  dtrtrs_64_("U", "T", "N", &n, &nrhs, a.view().data, &lda, x.data(), &ldb, &info, 1, 1, 1);
  EXPECT_EQ(info, 0);
  expect_solved(form, a, x, b);
}

}  // namespace
}  // namespace overlapack
