// The benchmark's textbook forms of LU: each of them right, and all of them the same factorization.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "lu_variants.hpp"
#include "resident_matrix.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using bench::LuVariant;

struct Form {
  LuVariant variant;
  bool hybrid;
  Index nb;
  Index padding;
};

std::ostream& operator<<(std::ostream& out, const Form& form) {
  return out << name_of(form.variant) << (form.hybrid ? ", hybrid" : "") << ", nb=" << form.nb
             << ", padding=" << form.padding;
}

std::vector<Form> all_forms(const std::vector<Index>& block_sizes) {
  std::vector<Form> forms;
  for (const LuVariant variant :
       {LuVariant::left_looking, LuVariant::crout, LuVariant::right_looking}) {
    for (const bool hybrid : {false, true}) {
      for (const Index nb : block_sizes) {
        for (const Index padding : {0, 3}) forms.push_back({variant, hybrid, nb, padding});
      }
    }
  }
  for (const Index padding : {0, 3}) forms.push_back({LuVariant::unblocked, false, 7, padding});
  return forms;
}

template <class T>
struct Factors {
  Padded<T> lu;
  std::vector<Index> pivots;
  Index info;
};

/// P^T L U, rounded, with the interchanges `pivots` for P. L's elements below the diagonal are so
/// small that in every column the pivot is at least twice as large as what is below it: no ties,
/// and no rounding of any order of the operations changes the choice.
template <class T>
Padded<T> matrix_with_pivots(Index m, Index n, const std::vector<Index>& pivots) {
  using W = Wide<T>;
  Random random(5);
  Padded<W> l(m, n), u(n, n), product(m, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      l(i, j) = i == j ? W(1) : i > j ? W(is_complex<T> ? 0.25 : 0.5) * random.uniform<W>() : W(0);
    }
    for (Index i = 0; i < n; ++i) {
      u(i, j) = i == j ? W(1) : i < j ? W(0.1) * random.uniform<W>() : W(0);
    }
  }
  reference::gemm<W>(Op::none, Op::none, W(1), l.view(), u.view(), W(0), product.view());
  reference::laswp<W>(product.view(), 0, n, pivots.data(), false);
  Padded<T> a(m, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) a(i, j) = T(product(i, j));
  }
  return a;
}

template <class T>
class LuVariants : public DeviceTest {
 protected:
  Factors<T> factor(const Form& form, const Padded<T>& a) {
    bench::ResidentMatrix<T> matrix(this->device(), a.rows(), a.cols(), a.rows() + form.padding);
    matrix.upload(a.view());
    algorithms::Options options;
    options.nb = form.nb;
    options.hybrid = form.hybrid;
    Factors<T> factors{a, {}, -1};
    factors.info =
        bench::factor_lu<T>(form.variant, this->device(), cpu::lapack<T>(cpu::Family::lp64),
                            options, matrix.view(), factors.pivots);
    matrix.download(factors.lu.view());
    return factors;
  }
  void expect_factored(const Form& form, const Padded<T>& a, Index expected_info = 0) {
    SCOPED_TRACE(testing::Message() << form << ", " << a.rows() << "x" << a.cols());
    const auto factors = factor(form, a);
    EXPECT_EQ(factors.info, expected_info);
    ASSERT_EQ(static_cast<Index>(factors.pivots.size()), a.cols());
    ASSERT_TRUE(valid_pivots(factors.pivots, a.rows()));
    EXPECT_LT(getrf_residual<T>(a.view(), factors.lu.view(), factors.pivots), kThreshold);
  }
};
TYPED_TEST_SUITE(LuVariants, Precisions);

TYPED_TEST(LuVariants, FactorMatricesOfManyShapes) {
  for (const Form& form : all_forms({1, 16, 200})) {
    for (const auto& [m, n] : std::vector<std::pair<Index, Index>>{
             {1, 1}, {16, 16}, {17, 17}, {50, 48}, {90, 33}, {100, 1}, {65, 65}}) {
      this->expect_factored(form, random_matrix<TypeParam>(m, n, 2));
    }
  }
}

TYPED_TEST(LuVariants, ChooseThePivotsOfTheReference) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{70, 70}, {90, 61}}) {
    Random random(3);
    std::vector<Index> pivots;
    for (Index j = 0; j < n; ++j) pivots.push_back(random.integer(j + 1, m));
    const auto a = matrix_with_pivots<T>(m, n, pivots);
    auto reference_factor = a;
    std::vector<Index> reference_pivots(pivots.size());
    EXPECT_EQ(reference::getrf(reference_factor.view(), reference_pivots.data()), 0);
    EXPECT_EQ(reference_pivots, pivots) << "the matrix does not have the pivots it was made for";
    for (const Form& form : all_forms({16, 24})) {
      SCOPED_TRACE(testing::Message() << form << ", " << m << "x" << n);
      EXPECT_EQ(this->factor(form, a).pivots, pivots);
      this->expect_factored(form, a);
    }
  }
}

TYPED_TEST(LuVariants, ReportTheFirstZeroPivotAndFinish) {
  using T = TypeParam;
  for (const Form& form : all_forms({16})) {
    for (const Index position : {0, 15, 16, 40, 49}) {
      this->expect_factored(form, singular_at<T>(50, 50, position, 4), position + 1);
    }
    auto twice = singular_at<T>(60, 50, 20, 4);  // two zero pivots, in different panels
    for (Index i = 0; i < twice.rows(); ++i) twice(i, 37) = T(0);
    this->expect_factored(form, twice, 21);
  }
}

TYPED_TEST(LuVariants, HaveTheirPanelsWhereTheySay) {
  using T = TypeParam;
  const Index n = 64;
  for (const Form& form : all_forms({16})) {
    SCOPED_TRACE(testing::Message() << form);
    Calls calls;
    this->device().set_observer(&calls);
    this->factor(form, random_matrix<T>(n, n, 6));
    this->device().set_observer(nullptr);
    const int panels = form.variant == LuVariant::unblocked ? n : n / 16;
    EXPECT_EQ(calls.of("getrf_panel"), form.hybrid ? 0 : panels);
    // Left-looking needs A01 of all panels but the first, the others A12 of all but the last.
    EXPECT_EQ(calls.of("trsm"), form.variant == LuVariant::unblocked ? 0 : panels - 1);
    const int products = calls.of("gemm") + calls.of("split_gemm");
    EXPECT_EQ(products, form.variant == LuVariant::crout ? 2 * panels - 3 : panels - 1);
  }
}

TYPED_TEST(LuVariants, RefuseWideMatrices) {
  EXPECT_THROW(this->factor({LuVariant::crout, false, 16, 0}, random_matrix<TypeParam>(5, 6, 1)),
               std::invalid_argument);
}

}  // namespace
}  // namespace overlapack
