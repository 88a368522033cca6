// ?trtri, ?lauum, ?potri and ?getri by their exported names: on every device, with operands there,
// and on the CPU.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <utility>
#include <vector>

#include "cpu/inverse.hpp"
#include "dispatch/calls.hpp"
#include "overlapack/lapack.h"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

/// That of a matrix whose inverse goes home by block columns, in all types.
constexpr Index kStreamed = 200;
constexpr Index kOrders[] = {1, 2, 15, 16, 17, 33, 70, 129};

/// What a call replaces: a triangle, for one of three routines.
enum class Job { trtri, lauum, potri };

struct Form {
  Job job;
  Uplo uplo;
  Diag diag;

  bool unit() const { return diag == Diag::unit; }
};

std::ostream& operator<<(std::ostream& out, const Form& form) {
  constexpr const char* kNames[] = {"trtri", "lauum", "potri"};
  return out << kNames[static_cast<int>(form.job)] << " " << char(form.uplo) << char(form.diag);
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const Uplo uplo : kUplos) {
    forms.push_back({Job::trtri, uplo, Diag::unit});
    for (const Job job : {Job::trtri, Job::lauum, Job::potri}) {
      forms.push_back({job, uplo, Diag::non_unit});
    }
  }
  return forms;
}

/// A triangle that is well-conditioned. Whatever a call must neither read nor write is a sentinel.
/// The diagonal is real where it is that of a Cholesky factor.
template <class T>
Padded<T> triangle(const Form& form, Index n, Index padding) {
  auto a = random_matrix<T>(n, n, 1, padding);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) /= static_cast<Real<T>>(n);
    a(j, j) = T(Real<T>(1.5)) * (form.job == Job::trtri ? phase<T>(j % 4) : T(1));
    if (form.unit()) a(j, j) = sentinel<T>();
  }
  a.forbid_other_triangle(form.uplo);
  return a;
}

/// The triangle as a whole matrix.
template <class T>
Padded<Wide<T>> widen_triangle(const Form& form, const Padded<T>& a) {
  Padded<Wide<T>> wide(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      wide(i, j) = inside(part_of(form.uplo), i, j) ? Wide<T>(a(i, j)) : Wide<T>(0);
    }
    if (form.unit()) wide(j, j) = Wide<T>(1);
  }
  return wide;
}

/// L L^H from L, or U^H U from U: what a factor is one of.
template <class T>
Padded<Wide<T>> factored(const Form& form, const Padded<T>& factor) {
  const auto f = widen_triangle(form, factor);
  const bool lower = form.uplo == Uplo::lower;
  const Padded<Wide<T>> zero(f.rows(), f.cols());
  auto a = f;
  reference::gemm<Wide<T>>(lower ? Op::none : Op::conj_trans, lower ? Op::conj_trans : Op::none,
                           Wide<T>(1), f.view(), f.view(), Wide<T>(0), a.view());
  return a;
}

template <class T>
Index call(const Form& form, HostView<T> a) {
  return form.job == Job::trtri   ? trtri<T>(form.uplo, form.diag, a)
         : form.job == Job::lauum ? lauum<T>(form.uplo, a)
                                  : potri<T>(form.uplo, a);
}

/// LAPACK's ratio for the result `x` of a call on `a`.
template <class T>
double residual(const Form& form, const Padded<T>& a, const Padded<T>& x) {
  if (form.job == Job::trtri) {
    return inverse_residual<T>(widen_triangle(form, a), widen_triangle(form, x));
  }
  const auto whole = widen_hermitian<T>(form.uplo, x.view());
  if (form.job == Job::potri) return inverse_residual<T>(factored(form, a), whole);
  const auto f = widen_triangle(form, a);
  const bool lower = form.uplo == Uplo::lower;
  const Op left = lower ? Op::conj_trans : Op::none, right = lower ? Op::none : Op::conj_trans;
  return scaled(norm1(rest(whole, left, f, right, f)), static_cast<double>(a.rows()) * norm1(whole),
                epsilon<T>());
}

template <class T>
void expect_right(const Form& form, const Padded<T>& a, const Padded<T>& x) {
  EXPECT_LT(residual(form, a, x), kThreshold);
  EXPECT_TRUE(x.padding_untouched());
  EXPECT_TRUE(x.other_triangle_untouched(form.uplo));
  for (Index j = 0; form.unit() && j < a.cols(); ++j) ASSERT_EQ(x(j, j), sentinel<T>()) << j;
  for (Index j = 0; is_complex<T> && form.job != Job::trtri && j < a.cols(); ++j) {
    ASSERT_EQ(x(j, j), T(real(x(j, j)))) << j;
  }
}

/// A matrix's factors by LU, in which rows move.
template <class T>
struct Factored {
  explicit Factored(Padded<T> matrix) : a(std::move(matrix)), lu(a), pivots(a.rows()) {
    EXPECT_EQ(reference::getrf<T>(lu.view(), pivots.data()), 0);
  }
  void expect_right(const Padded<T>& x) const {
    EXPECT_LT(inverse_residual<T>(widen<T>(a.view()), widen<T>(x.view())), kThreshold);
    EXPECT_TRUE(x.padding_untouched());
  }

  Padded<T> a, lu;
  std::vector<Index> pivots;
};

template <class T>
class Inverse : public RoutedTest {
 protected:
  void on_the_cpu() {
    dispatch::Settings settings;
    settings.device = dispatch::DeviceChoice::off;
    dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  }
  /// Makes a call again and again, in which one action of the device fails after the other.
  void expect_right_with_faults(const std::function<void()>& call, Index stride_factor = 1) {
    const bool every = std::is_same_v<T, double> && device_under_test() == "lazy";
    const Index faults = with_faults(
        stride_factor * (every ? 1 : 29), [&] { route(Algorithm::tiled, 16); }, call);
    // A GPU has fewer actions than the second one of some strides.
    if (!HasFailure()) {
      EXPECT_GT(faults, device().emulated() ? 1 : 0) << "the call did not reach the device";
    }
  }
};
TYPED_TEST_SUITE(Inverse, Precisions);

TYPED_TEST(Inverse, OfTrianglesOfAllFormsAndOrders) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  for (const Form& form : all_forms()) {
    for (const Index n : kOrders) {
      SCOPED_TRACE(testing::Message() << form << " n=" << n);
      const auto a = triangle<T>(form, n, 2);
      auto x = a;
      const std::size_t before = this->uploaded();
      EXPECT_EQ(call<T>(form, x.view()), 0);
      EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
      expect_right(form, a, x);
    }
  }
}

TYPED_TEST(Inverse, OfMatricesOfAllOrders) {
  using T = TypeParam;
  std::vector<Index> orders(std::begin(kOrders), std::end(kOrders));
  orders.push_back(kStreamed);
  for (const Index n : orders) {
    SCOPED_TRACE(testing::Message() << "n=" << n);
    this->route(Algorithm::tiled, n == kStreamed ? 80 : 16);  // one goes home in several pieces
    const Factored<T> factors(random_matrix<T>(n, n, 1, 2));
    auto x = factors.lu;
    const std::size_t before = this->uploaded();
    EXPECT_EQ(getri<T>(x.view(), factors.pivots), 0);
    EXPECT_GT(this->uploaded(), before) << "the call did not reach the device";
    factors.expect_right(x);
  }
}

/// Blocks on the diagonal whose inverses are large, and rows and columns of very different sizes.
TYPED_TEST(Inverse, OfIllConditionedMatricesIsAsAccurateAsLapacks) {
  using T = TypeParam;
  const Index n = 100;
  this->route(Algorithm::tiled, 16);
  const auto ill_conditioned = ill_conditioned_at<T>(n, 20, is_complex<T> ? 12 : 14);
  const Padded<T> matrices[] = {kahan<T>(n), graded(positive_definite<T>(n, 1)), ill_conditioned,
                                conditioned<T>(n, 1e5, false)};
  for (std::size_t m = 0; m < std::size(matrices); ++m) {
    SCOPED_TRACE(testing::Message() << "matrix " << m);
    const Factored<T> factors(matrices[m]);
    const auto whole = widen<T>(factors.a.view());
    auto x = factors.lu, cpus = factors.lu;
    EXPECT_EQ(getri<T>(x.view(), factors.pivots), 0);
    std::vector<T> work(n);
    std::vector<Index> pivots = factors.pivots;
    cpu::getri<T>(cpu::lapack<T>(cpu::Family::lp64), cpus.view(), cpu::Pivots(pivots.data()),
                  {work.data(), n});
    const auto ratio = [&](const Padded<T>& of) {
      return inverse_residual<T>(whole, widen<T>(of.view()));
    };
    EXPECT_LT(ratio(x), 4 * ratio(cpus) + 1);
    for (const Form& form : all_forms()) {  // a triangle as it is
      if (form.job != Job::trtri || form.unit()) continue;
      SCOPED_TRACE(testing::Message() << form);
      auto a = matrices[m];
      if (m == 0 && form.uplo == Uplo::lower) {
        for (Index j = 0; j < n; ++j) {
          for (Index i = j; i < n; ++i) a(i, j) = matrices[m](j, i);
        }
      }
      a.forbid_other_triangle(form.uplo);
      auto ours = a, theirs = a;
      EXPECT_EQ(call<T>(form, ours.view()), 0);
      cpu::trtri<T>(cpu::lapack<T>(cpu::Family::lp64), form.uplo, form.diag, theirs.view());
      EXPECT_LT(residual(form, a, ours), 4 * residual(form, a, theirs) + 1);
    }
  }
}

TYPED_TEST(Inverse, TheFirstZeroOnTheDiagonalLeavesTheMatrix) {
  using T = TypeParam;
  const Index n = 70;
  this->route(Algorithm::tiled, 16);
  for (const Index position : {0, 40, 69}) {
    const auto spoil = [&](Padded<T>& a) {
      if (position > 3) a(3, 3) = nan<T>();  // which is no zero
      a(position, position) = T(-0.0f);
      if (position + 1 < n) a(n - 1, n - 1) = T(0);
    };
    for (const Form& form : all_forms()) {
      if (form.job == Job::lauum || form.unit()) continue;
      SCOPED_TRACE(testing::Message() << form << " at " << position);
      auto a = triangle<T>(form, n, 2);
      spoil(a);
      const auto before = a;
      EXPECT_EQ(call<T>(form, a.view()), position + 1);
      OnDevice<T> there(this->device(), a);
      EXPECT_EQ(call<T>(form, there.view()), position + 1);
      there.fetch();
      EXPECT_TRUE(same_bits(a, before));
    }
    SCOPED_TRACE(testing::Message() << "getri at " << position);
    Factored<T> factors(random_matrix<T>(n, n, 1, 2));
    spoil(factors.lu);
    auto x = factors.lu;
    EXPECT_EQ(getri<T>(x.view(), factors.pivots), position + 1);
    EXPECT_TRUE(same_bits(x, factors.lu));
  }
}

TYPED_TEST(Inverse, NumbersThatAreNotFiniteComeThrough) {
  using T = TypeParam;
  const Index n = 70;
  this->route(Algorithm::tiled, 16);
  for (const T bad : {nan<T>(), infinity<T>()}) {
    for (const Form& form : all_forms()) {
      SCOPED_TRACE(testing::Message() << form << " " << bad);
      auto a = triangle<T>(form, n, 2);
      const bool lower = form.uplo == Uplo::lower;
      (lower ? a(50, 20) : a(20, 50)) = bad;
      EXPECT_EQ(call<T>(form, a.view()), 0);
      const T x = lower ? a(50, 20) : a(20, 50);
      EXPECT_FALSE(std::isfinite(std::abs(x))) << x;
      EXPECT_TRUE(a.padding_untouched());
      EXPECT_TRUE(a.other_triangle_untouched(form.uplo));
      if (form.job != Job::trtri) continue;
      // What LAPACK computes without it: the block before it on the diagonal, and the one behind.
      for (const Index k : {3, 65}) EXPECT_TRUE(form.unit() || std::isfinite(std::abs(a(k, k))));
    }
    Factored<T> factors(random_matrix<T>(n, n, 1, 2));
    factors.lu(20, 50) = bad;
    EXPECT_EQ(getri<T>(factors.lu.view(), factors.pivots), 0);
    const auto x = widen<T>(std::as_const(factors.lu).view());
    EXPECT_FALSE(std::isfinite(norm1(x)));
  }
}

/// A X = I is not solved like any other system: I does not go up, and its zeros are made use of.
TYPED_TEST(Inverse, BySolvingWithTheUnitMatrix) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  const Index least = this->device().tuning().inverse.unit_from_order;
  std::vector<Index> orders = {least};
  if (least < kStreamed) orders.insert(orders.end(), {70, kStreamed});
  for (const Index n : orders) {
    SCOPED_TRACE(testing::Message() << "n=" << n);
    const auto a = random_matrix<T>(n, n, 1, 2);
    auto factors = a, lu = a, x = unit_matrix<T>(n);
    std::vector<Index> pivots, same_pivots;
    EXPECT_EQ(getrf<T>(factors.view(), pivots), 0);
    const std::size_t before = this->uploaded();
    EXPECT_EQ(gesv<T>(lu.view(), same_pivots, x.view()), 0);
    EXPECT_LT(this->uploaded() - before, sizeof(T) * static_cast<std::size_t>(n * n) * 3 / 2);
    EXPECT_TRUE(same_bits(lu, factors));
    EXPECT_EQ(same_pivots, pivots);
    EXPECT_LT(inverse_residual<T>(widen<T>(a.view()), widen<T>(x.view())), kThreshold);
    EXPECT_TRUE(x.padding_untouched());

    // Almost the unit matrix: column j of X then is a sum of two.
    const Index i = n / 3, j = n / 5;
    lu = a;
    auto b = unit_matrix<T>(n);
    b(i, j) = T(2);
    EXPECT_EQ(gesv<T>(lu.view(), same_pivots, b.view()), 0);
    Real<T> largest = 0, difference = 0;
    for (Index k = 0; k < n; ++k) {
      for (Index l = 0; l < n; ++l) {
        const T wanted = l == j ? x(k, j) + T(2) * x(k, i) : x(k, l);
        largest = std::max(largest, std::abs(wanted));
        difference = std::max(difference, std::abs(b(k, l) - wanted));
      }
    }
    EXPECT_LT(difference / largest, std::sqrt(std::numeric_limits<Real<T>>::epsilon()));

    // Of a singular matrix there is no inverse.
    lu = a;
    for (Index k = 0; k < n; ++k) lu(k, n / 2) = T(0);
    x = unit_matrix<T>(n);
    EXPECT_EQ(gesv<T>(lu.view(), same_pivots, x.view()), n / 2 + 1);
    EXPECT_TRUE(same_bits(x, unit_matrix<T>(n)));
  }
}

/// Rows of a smooth kernel differ little. A matrix may have a small X A - I, and A X - I be large.
TYPED_TEST(Inverse, SolvingWithTheUnitMatrixIsAsAccurateAsOtherSolves) {
  using T = TypeParam;
  const Index n = this->device().tuning().inverse.unit_from_order < kStreamed ? kStreamed : 1600;
  this->route(Algorithm::tiled, 16);
  Padded<T> a(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const auto apart = static_cast<Real<T>>(i - j);
      a(i, j) = T(std::exp(-apart * apart / 50) + (i == j ? Real<T>(1e-4) : Real<T>(0)));
    }
  }
  auto lu = a, x = unit_matrix<T>(n);
  std::vector<Index> pivots;
  EXPECT_EQ(gesv<T>(lu.view(), pivots, x.view()), 0);
  EXPECT_LT(solve_residual(Op::none, widen<T>(a.view()), x, unit_matrix<T>(n)), kThreshold);
}

TYPED_TEST(Inverse, FaultsWhileSolvingWithTheUnitMatrix) {
  using T = TypeParam;
  const Index n = 70;
  const auto a = random_matrix<T>(n, n, 1, 2);
  for (const bool almost : {false, true}) {
    SCOPED_TRACE(almost);
    auto b = unit_matrix<T>(n);
    if (almost) b(n / 3, n / 5) = T(2);
    this->expect_right_with_faults(
        [&] {
          auto lu = a, x = b;
          std::vector<Index> pivots;
          EXPECT_EQ(gesv<T>(lu.view(), pivots, x.view()), 0);
          EXPECT_LT(solve_residual(Op::none, widen<T>(a.view()), x, b), kThreshold);
        },
        3);
  }
}

TYPED_TEST(Inverse, OfNothing) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  Padded<T> none(0, 0);
  for (const Form& form : all_forms()) EXPECT_EQ(call<T>(form, none.view()), 0) << form;
  EXPECT_EQ(getri<T>(none.view(), {}), 0);
}

TYPED_TEST(Inverse, ArgumentsAreCheckedInLapacksOrder) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  auto a = triangle<T>({Job::trtri, Uplo::lower, Diag::non_unit}, 20, 0);
  const auto before = a;
  std::int32_t info = kNoInfo;
  const struct {
    char uplo, diag;
    std::int32_t n, lda, trtri, others;
  } wrong[] = {{'/', '/', -1, 0, -1, -1},
               {'L', '/', -1, 0, -2, -2},
               {'u', 'n', -1, 0, -3, -2},
               {'l', 'U', 20, 19, -5, -4},
               {'L', 'N', 0, 0, -5, -4}};
  for (const auto& c : wrong) {
    Exported<T>::trtri(&c.uplo, &c.diag, &c.n, a.data(), &c.lda, &info, 1, 1);
    EXPECT_EQ(info, c.trtri);
    Exported<T>::lauum(&c.uplo, &c.n, a.data(), &c.lda, &info, 1);
    EXPECT_EQ(info, c.others);
    Exported<T>::potri(&c.uplo, &c.n, a.data(), &c.lda, &info, 1);
    EXPECT_EQ(info, c.others);
  }
  const struct {
    std::int32_t n, lda, lwork, info;
  } of_getri[] = {{-1, 0, 0, -1},   {-1, 0, -1, -1}, {20, 19, 0, -3}, {20, 19, -1, -3},
                  {20, 20, 19, -6}, {0, 1, 0, -6},   {20, 20, -2, -6}};
  T work = sentinel<T>();
  std::vector<std::int32_t> ipiv(20, 1);
  for (const auto& c : of_getri) {
    Exported<T>::getri(&c.n, a.data(), &c.lda, ipiv.data(), &work, &c.lwork, &info);
    EXPECT_EQ(info, c.info);
  }
  EXPECT_TRUE(same_bits(a, before));
}

TYPED_TEST(Inverse, AQueryAsksForAWorkspaceThatSuffices) {
  using T = TypeParam;
  const std::int32_t query = -1;
  for (const bool on_device : {false, true}) {
    if (on_device) {
      this->route(Algorithm::tiled, 16);
    } else {
      this->on_the_cpu();
    }
    for (const std::int32_t n : {0, 1, 50, 150}) {
      const Factored<T> factors(random_matrix<T>(n, n, 1, 2));
      auto x = factors.lu;
      const auto lda = static_cast<std::int32_t>(x.ld());
      const std::vector<std::int32_t> ipiv(factors.pivots.begin(), factors.pivots.end());
      T wanted = sentinel<T>();
      std::int32_t info = kNoInfo;
      Exported<T>::getri(&n, x.data(), &lda, ipiv.data(), &wanted, &query, &info);
      EXPECT_EQ(info, 0);
      EXPECT_GE(real(wanted), Real<T>(n));
      EXPECT_TRUE(same_bits(x, factors.lu));
      const auto lwork = std::max(static_cast<std::int32_t>(real(wanted)), 1);
      std::vector<T> work(static_cast<std::size_t>(lwork));
      Exported<T>::getri(&n, x.data(), &lda, ipiv.data(), work.data(), &lwork, &info);
      EXPECT_EQ(info, 0);
      // LAPACK works without blocks where one would be the whole matrix, and takes n elements then.
      const bool blocked = real(wanted) < Real<T>(n) * Real<T>(n);
      EXPECT_EQ(work[0], blocked || n == 0 ? wanted : T(Real<T>(n)));
      factors.expect_right(x);
    }
  }
}

TYPED_TEST(Inverse, OperandsOnTheDevice) {
  using T = TypeParam;
  const Index n = 100;
  this->route(Algorithm::tiled, 16, dispatch::kNever);
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(testing::Message() << form);
    const auto a = triangle<T>(form, n, 2);
    auto x = a;
    OnDevice<T> there(this->device(), x);
    EXPECT_EQ(call<T>(form, there.view()), 0);
    there.fetch();
    expect_right(form, a, x);
  }
  const Factored<T> factors(random_matrix<T>(n, n, 1, 2));
  auto x = factors.lu;
  OnDevice<T> there(this->device(), x);
  EXPECT_EQ(getri<T>(there.view(), factors.pivots), 0);
  there.fetch();
  factors.expect_right(x);
}

TYPED_TEST(Inverse, FaultsAtEveryAction) {
  using T = TypeParam;
  const Index n = 50;
  for (const Form& form : all_forms()) {
    const auto a = triangle<T>(form, n, 2);
    this->expect_right_with_faults([&] {
      auto x = a;
      EXPECT_EQ(call<T>(form, x.view()), 0) << form;
      expect_right(form, a, x);
    });
    if (this->HasFailure()) return;
  }
  for (const Index order : {n, kStreamed}) {
    const Factored<T> factors(random_matrix<T>(order, order, 1, 2));
    this->expect_right_with_faults(
        [&] {
          auto x = factors.lu;
          EXPECT_EQ(getri<T>(x.view(), factors.pivots, 20), 0);
          factors.expect_right(x);
        },
        order == n ? 1 : 11);
  }
}

TYPED_TEST(Inverse, OnTheCpu) {
  using T = TypeParam;
  this->on_the_cpu();
  for (const Index n : {1, 33, 100}) {
    for (const Form& form : all_forms()) {
      SCOPED_TRACE(testing::Message() << form << " n=" << n);
      const auto a = triangle<T>(form, n, 2);
      auto x = a;
      EXPECT_EQ(call<T>(form, x.view()), 0);
      expect_right(form, a, x);
      if (form.unit() || form.job == Job::lauum) continue;
      x = a;
      x(n / 2, n / 2) = T(0);
      if (n > 10) x(3, 3) = nan<T>();
      const auto before = x;
      EXPECT_EQ(call<T>(form, x.view()), n / 2 + 1);
      EXPECT_TRUE(same_bits(x, before));
    }
    for (const std::int32_t columns : {1, 7, 64}) {
      const Factored<T> factors(random_matrix<T>(n, n, 1, 2));
      auto x = factors.lu;
      EXPECT_EQ(getri<T>(x.view(), factors.pivots, columns), 0);
      factors.expect_right(x);
    }
  }
}

/// Columns are interchanged only behind those that are not at home.
/// In a process without a CPU LAPACK.
TYPED_TEST(Inverse, ByTextbookLoops) {
  using T = TypeParam;
  for (const Index n : {1, 2, 33}) {
    for (const Form& form : all_forms()) {
      SCOPED_TRACE(testing::Message() << form << " n=" << n);
      const auto a = triangle<T>(form, n, 2);
      auto x = a;
      if (form.job != Job::lauum) cpu::textbook::trtri<T>(form.uplo, form.diag, x.view());
      if (form.job != Job::trtri) cpu::textbook::lauum<T>(form.uplo, x.view());
      expect_right(form, a, x);
    }
    for (const Index columns : {1, 5, 40}) {
      const Factored<T> factors(random_matrix<T>(n, n, 1, 2));
      auto x = factors.lu;
      std::vector<Index> pivots = factors.pivots;
      std::vector<T> work(algorithms::at(n * columns));
      cpu::finish_getri<T>(cpu::lapack<T>(cpu::Family::lp64), x.view(), n,
                           cpu::Pivots(pivots.data()), {work.data(), n * columns});
      factors.expect_right(x);
    }
  }
}

TEST(InverseWithWideIntegers, OnTheCpu) {
  dispatch::Settings settings;
  settings.device = dispatch::DeviceChoice::off;
  dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  const Factored<double> factors(random_matrix<double>(50, 50, 1, 2));
  auto x = factors.lu;
  const std::int64_t n = 50, lda = x.ld(), lwork = n;
  const std::vector<std::int64_t> ipiv(factors.pivots.begin(), factors.pivots.end());
  std::vector<double> work(50);
  std::int64_t info = -1;
  dgetri_64_(&n, x.data(), &lda, ipiv.data(), work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  factors.expect_right(x);
  const Form form{Job::potri, Uplo::upper, Diag::non_unit};
  const auto a = triangle<double>(form, 50, 2);
  auto inverse = a;
  dpotri_64_("U", &n, inverse.data(), &lda, &info, 1);
  EXPECT_EQ(info, 0);
  expect_right(form, a, inverse);
}

}  // namespace
}  // namespace overlapack
