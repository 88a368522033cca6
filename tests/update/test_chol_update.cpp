// Updates of a Cholesky factor: our own interface, and the names of qrupdate and LINPACK.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cfenv>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "algorithms/shared/finite.hpp"
#include "algorithms/update/independent_panels.hpp"
#include "algorithms/update/on_cpu.hpp"
#include "cpu/reflectors.hpp"
#include "exported.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace {
std::vector<std::string> reports;  // "DCH1DN 3": what xerbla_ was called with
}

// A program may bring its own.
extern "C" void xerbla_(const char* name, const std::int32_t* position, std::size_t length) {
  reports.push_back(std::string(name, length) + " " + std::to_string(*position));
}

namespace overlapack {
namespace {

using namespace testing_support;
using compat::Exported;

constexpr Index kNoInfo64 = -12345;

/// The factor in triangle `uplo` of a random matrix; the other triangle and the padding must not be
/// touched.
template <class T>
Padded<T> random_factor(Uplo uplo, Index n, std::uint64_t seed, Index padding = 3) {
  auto a = positive_definite<T>(n, seed, padding);
  reference::potrf<T>(uplo, a.view());
  a.forbid_other_triangle(uplo);
  return a;
}

template <class T>
Index update(Uplo uplo, Padded<T>& factor, const Padded<T>& v, int sigma) {
  Index info = kNoInfo64;
  Exported<T>::cholupdate(static_cast<char>(uplo), factor.rows(), v.cols(), factor.data(),
                          factor.ld(), v.view().data, v.ld(), sigma, &info);
  return info;
}

template <class T>
Index update_mixed(Uplo uplo, Padded<T>& factor, const Padded<T>& v, const std::vector<int>& s) {
  Index info = kNoInfo64;
  Exported<T>::cholupdate_mixed(static_cast<char>(uplo), factor.rows(), v.cols(), factor.data(),
                                factor.ld(), v.view().data, v.ld(), s.data(), &info);
  return info;
}

/// L of a stored factor, in double precision.
template <class T>
Padded<Wide<T>> lower_factor(Uplo uplo, const Padded<T>& factor) {
  Padded<Wide<T>> l(factor.rows(), factor.rows());
  for (Index j = 0; j < factor.rows(); ++j) {
    for (Index i = 0; i < factor.rows(); ++i) {
      const Wide<T> x = uplo == Uplo::lower ? Wide<T>(factor(i, j)) : conj(Wide<T>(factor(j, i)));
      l(i, j) = i < j ? Wide<T>(0) : x;
    }
  }
  return l;
}

/// L L^H + sum_j s_j v_j v_j^H.
template <class T>
Padded<Wide<T>> product(Uplo uplo, const Padded<T>& factor, const Padded<T>& v,
                        const std::vector<int>& signs) {
  using W = Wide<T>;
  const auto l = lower_factor(uplo, factor);
  const auto wide = widen<T>(v.view());
  auto scaled = wide;
  for (Index j = 0; j < v.cols(); ++j) {
    for (Index i = 0; i < v.rows(); ++i) scaled(i, j) *= W(signs[static_cast<std::size_t>(j)]);
  }
  Padded<W> a(factor.rows(), factor.rows());
  reference::gemm<W>(Op::none, Op::conj_trans, W(1), l.view(), l.view(), W(0), a.view());
  reference::gemm<W>(Op::none, Op::conj_trans, W(1), scaled.view(), wide.view(), W(1), a.view());
  return a;
}

/// ||A - L L^H|| / (n scale eps).
template <class T>
double residual(Uplo uplo, const Padded<T>& factor, const Padded<Wide<T>>& a, double scale) {
  auto rest = product<T>(uplo, factor, Padded<T>(factor.rows(), 0), {});
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) rest(i, j) -= a(i, j);
  }
  return scaled(norm1(rest), static_cast<double>(a.rows()) * scale, epsilon<T>());
}

template <class T>
Padded<T> times(Real<T> x, Padded<T> a) {
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) a(i, j) *= x;
  }
  return a;
}

/// A factor of order n, and k vectors.
struct UpdateCase {
  Index n, k;
  Uplo uplo;

  std::string name() const {
    return (testing::Message() << "n=" << n << " k=" << k << " " << char(uplo)).GetString();
  }
};

template <class T>
void expect_untouched(Uplo uplo, const Padded<T>& factor) {
  EXPECT_TRUE(factor.padding_untouched());
  EXPECT_TRUE(factor.other_triangle_untouched(uplo));
}

/// Every call, however small, goes to the device under test, in regions of 16 columns; or to the
/// CPU with OVERLAPACK_TEST_DEVICE=off.
class UpdateTest : public RoutedTest {
 protected:
  void SetUp() override {
    if (off()) {
      dispatch::Settings settings;
      settings.device = dispatch::DeviceChoice::off;
      dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
      return;
    }
    RoutedTest::SetUp();
    if (device_) update_by(16);
  }
  /// The device did all that it was asked to do.
  void TearDown() override {
    RoutedTest::TearDown();
    if (off()) return;
    EXPECT_EQ(logged().find("finished by the CPU"), std::string::npos) << logged();
    std::remove(log_.c_str());
  }
  static bool off() { return device_under_test() == "off"; }
  /// Regions of nb columns from here on.
  void update_by(Index nb, std::size_t memory_limit = 0) {
    if (off()) return;
    dispatch::Settings settings = settings_for(dispatch::Algorithm::tiled, nb);
    settings.memory_limit = memory_limit;
    settings.verbose = true;
    settings.log = log_;
    use(settings);
  }
  /// What has been logged so far is as it should be.
  void forget_log() { std::remove(log_.c_str()); }
  std::string logged() const {
    std::ostringstream text;
    text << std::ifstream(log_).rdbuf();
    return text.str();
  }

 private:
  const std::string log_ = testing::TempDir() + "updates." + std::to_string(getpid()) + ".log";
};

template <class T>
class CholUpdate : public UpdateTest {};
TYPED_TEST_SUITE(CholUpdate, Precisions);

TYPED_TEST(CholUpdate, UpAndDown) {
  using T = TypeParam;
  constexpr Index kOrders[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 129, 330};
  constexpr Index kVectors[] = {0, 1, 2, 16, 33, 100};
  for (const auto& [n, k, uplo] : cross<UpdateCase>(kOrders, kVectors, kUplos)) {
    SCOPED_TRACE((UpdateCase{n, k, uplo}.name()));
    const auto before = random_factor<T>(uplo, n, 1);
    const auto v = random_matrix<T>(n, k, 2, 1);
    const auto v_before = v;
    auto factor = before;
    const std::vector<int> signs(static_cast<std::size_t>(k), 1);
    const auto updated = product(uplo, before, v, signs);
    ASSERT_EQ(update(uplo, factor, v, 1), 0);
    EXPECT_LT(residual(uplo, factor, updated, norm1(updated)), kThreshold);
    expect_untouched(uplo, factor);
    ASSERT_EQ(update(uplo, factor, v, -1), 0);
    const auto original = product<T>(uplo, before, Padded<T>(n, 0), {});
    EXPECT_LT(residual(uplo, factor, original, norm1(updated)), kThreshold);
    expect_untouched(uplo, factor);
    EXPECT_TRUE(same_bits(v, v_before));
  }
}

/// Each element of the product is as accurate as its row and its column are long, also where rows
/// of V are zero.
TYPED_TEST(CholUpdate, VectorsThatAreLongBesideTheFactor) {
  using T = TypeParam;
  const auto length = static_cast<Real<T>>(1 / std::sqrt(epsilon<T>()));
  constexpr Index kOrders[] = {40, 330}, kVectors[] = {1, 4};
  for (const UpdateCase& c : cross<UpdateCase>(kOrders, kVectors, kUplos)) {
    SCOPED_TRACE(c.name());
    auto factor = random_factor<T>(c.uplo, c.n, 1);
    auto v = times(length, random_matrix<T>(c.n, c.k, 2, 1));
    for (Index j = 0; j < c.k; ++j) {
      for (Index i = 2; i < c.n; i += 3) v(i, j) = T(0);
    }
    const auto a = product(c.uplo, factor, v, std::vector<int>(static_cast<std::size_t>(c.k), 1));
    ASSERT_EQ(update(c.uplo, factor, v, 1), 0);
    const auto got = product<T>(c.uplo, factor, Padded<T>(c.n, 0), {});
    const double limit = 30 * std::sqrt(static_cast<double>(c.n)) * epsilon<T>();
    EXPECT_TRUE(all_elements({c.n, c.n}, [&](Index i, Index j) {
      return std::abs(got(i, j) - a(i, j)) < limit * std::sqrt(std::abs(a(i, i) * a(j, j)));
    }));
    expect_untouched(c.uplo, factor);
  }
}

TYPED_TEST(CholUpdate, RunsWhereItIsSent) {
  using T = TypeParam;
  if (this->off()) GTEST_SKIP() << "no device";
  auto factor = random_factor<T>(Uplo::upper, 40, 1);
  const auto v = random_matrix<T>(40, 3, 2);
  ASSERT_EQ(update(Uplo::upper, factor, v, 1), 0);
  const std::string where = "where=" + this->device().name() + " ";
  EXPECT_NE(this->logged().find("cholupdate m=40 n=40 nrhs=3 "), std::string::npos);
  EXPECT_NE(this->logged().find(where), std::string::npos) << this->logged();
}

TYPED_TEST(CholUpdate, Mixed) {
  using T = TypeParam;
  constexpr Index kOrders[] = {1, 33, 100, 300}, kVectors[] = {2, 7, 40, 110};
  for (const auto& [n, k, uplo] : cross<UpdateCase>(kOrders, kVectors, kUplos)) {
    SCOPED_TRACE((UpdateCase{n, k, uplo}.name()));
    // Every third vector is one that the factor was updated by before.
    const auto v = random_matrix<T>(n, k, 2, 1);
    std::vector<int> signs;
    Padded<T> old(n, (k + 2) / 3, 1);
    for (Index j = 0; j < k; ++j) {
      signs.push_back(j % 3 == 0 ? -1 : 1);
      if (j % 3 == 0) std::copy_n(&v(0, j), n, &old(0, j / 3));
    }
    auto before = random_factor<T>(uplo, n, 1);
    ASSERT_EQ(update(uplo, before, old, 1), 0);
    auto factor = before;
    ASSERT_EQ(update_mixed(uplo, factor, v, signs), 0);
    const std::vector<int> plus(static_cast<std::size_t>(k), 1);
    EXPECT_LT(residual(uplo, factor, product(uplo, before, v, signs),
                       norm1(product(uplo, before, v, plus))),
              kThreshold);
    expect_untouched(uplo, factor);
  }
}

TYPED_TEST(CholUpdate, ADowndateThatOnlyTheUpdatesMakePossible) {
  using T = TypeParam;
  const Index n = 70;
  for (const Uplo uplo : kUplos) {
    const auto before = random_factor<T>(uplo, n, 1);
    Padded<T> v(n, 2);  // 2 w and w, where A - w w^H is not definite
    for (Index i = 0; i < n; ++i) {
      v(i, 1) = T(Real<T>(3 + i % 4));
      v(i, 0) = T(2) * v(i, 1);
    }
    auto factor = before;
    Padded<T> w(n, 1);
    for (Index i = 0; i < n; ++i) w(i, 0) = v(i, 1);
    EXPECT_GT(update(uplo, factor, w, -1), 0);
    EXPECT_EQ(update_mixed(uplo, factor, v, {1, -1}), 0);
    const auto result = product(uplo, before, v, {1, -1});
    EXPECT_LT(residual(uplo, factor, result, norm1(product(uplo, before, v, {1, 1}))), kThreshold);
  }
}

struct ClosedFormCase {
  Index n;
  double place;  // of the column that is updated, as a part of n
  Uplo uplo;

  Index column() const { return std::min(static_cast<Index>(place * double(n)), n - 1); }
  std::string name() const {
    return (testing::Message() << "n=" << n << " column " << column() << char(uplo)).GetString();
  }
};

TYPED_TEST(CholUpdate, ClosedForm) {  // 5^2 - 4^2 = 3^2 in one column, whatever the others are
  using T = TypeParam;
  constexpr Index kOrders[] = {5, 20, 150};
  constexpr double kPlaces[] = {0, 0.5, 1};
  for (const ClosedFormCase& c : cross<ClosedFormCase>(kOrders, kPlaces, kUplos)) {
    SCOPED_TRACE(c.name());
    const Index n = c.n, column = c.column();
    Padded<T> five(n, n), three(n, n), v(n, 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const T l = i < j ? T(0) : phase<T>(i - j) * T(Real<T>(i == j ? 256 : 1 + (i + 2 * j) % 5));
        const T stored = c.uplo == Uplo::lower ? l : conj(l);
        T& to5 = c.uplo == Uplo::lower ? five(i, j) : five(j, i);
        T& to3 = c.uplo == Uplo::lower ? three(i, j) : three(j, i);
        to5 = stored * T(j == column ? 5.f : 1.f);
        to3 = stored * T(j == column ? 3.f : 1.f);
        if (j == column) v(i, 0) = l * T(4);
      }
    }
    auto factor = five;
    ASSERT_EQ(update(c.uplo, factor, v, -1), 0);
    EXPECT_LT(largest_difference(factor, three), 1e4 * epsilon<T>());
    factor = three;
    ASSERT_EQ(update(c.uplo, factor, v, 1), 0);
    EXPECT_LT(largest_difference(factor, five), 1e4 * epsilon<T>());
  }
}

TYPED_TEST(CholUpdate, VectorsOfZerosChangeNoBit) {
  using T = TypeParam;
  for (const Index k : {1, 3, 40}) {
    for (const Uplo uplo : kUplos) {
      const auto before = random_factor<T>(uplo, 150, 1);
      Padded<T> v(150, k);
      for (Index j = 0; j < k; ++j) std::fill_n(&v(0, j), 150, T(0));
      for (const int sigma : {1, -1}) {
        auto factor = before;
        EXPECT_EQ(update(uplo, factor, v, sigma), 0);
        EXPECT_TRUE(same_bits(factor, before)) << k << char(uplo) << sigma;
      }
    }
  }
}

TYPED_TEST(CholUpdate, ThreadsOfTheCpuChangeNoBit) {
  using T = TypeParam;
  const auto& cpu = cpu::lapack<T>(cpu::Family::lp64);
  const Index n = 700, k = 37;
  const auto v = random_matrix<T>(n, k, 2);
  for (const Uplo uplo : kUplos) {
    const auto before = random_factor<T>(uplo, n, 1);
    std::vector<Padded<T>> results;
    for (const Index threads : {1, 2, 5}) {
      auto& factor = results.emplace_back(before);
      for (const int sign : {1, -1}) {
        ASSERT_EQ(algorithms::chol_update<T>(cpu, uplo, factor.view(), v.view(),
                                             algorithms::Signs(&sign, false), threads),
                  0);
        if (sign > 0) {
          EXPECT_FALSE(same_bits(factor, before));
        }
      }
      expect_untouched(uplo, factor);
    }
    EXPECT_TRUE(same_bits(results[0], results[1]));
    EXPECT_TRUE(same_bits(results[0], results[2]));
  }
}

TYPED_TEST(CholUpdate, AHundredPairs) {
  using T = TypeParam;
  const Index n = 70;
  for (const Index k : {1, 5}) {
    for (const Uplo uplo : kUplos) {
      const auto before = random_factor<T>(uplo, n, 1);
      const auto original = product<T>(uplo, before, Padded<T>(n, 0), {});
      auto factor = before;
      for (std::uint64_t pair = 0; pair < 100; ++pair) {
        const auto v = random_matrix<T>(n, k, 100 + pair);
        ASSERT_EQ(update(uplo, factor, v, 1), 0);
        ASSERT_EQ(update(uplo, factor, v, -1), 0);
      }
      EXPECT_LT(residual(uplo, factor, original, norm1(original)), kThreshold) << k << char(uplo);
    }
  }
}

TYPED_TEST(CholUpdate, ADowndateThatLeavesTheMatrixBarelyDefinite) {
  using T = TypeParam;
  // The square of the smallest pivot is 1e-8 of the largest; in single precision 1e-5.
  const Real<T> small = epsilon<T>() < 1e-10 ? Real<T>(1e-4) : Real<T>(3e-3);
  for (const Index k : {1, 16, 40}) {
    for (const Index position : {0, 50, 99}) {
      for (const Uplo uplo : kUplos) {
        SCOPED_TRACE(testing::Message() << "k=" << k << " at " << position << " " << char(uplo));
        auto before = random_factor<T>(uplo, 100, 1);
        before(position, position) = T(small);
        const auto v = random_matrix<T>(100, k, 2);
        auto factor = before;
        ASSERT_EQ(update(uplo, factor, v, 1), 0);
        const auto updated = product<T>(uplo, factor, Padded<T>(100, 0), {});
        ASSERT_EQ(update(uplo, factor, v, -1), 0);
        const auto original = product<T>(uplo, before, Padded<T>(100, 0), {});
        EXPECT_LT(residual(uplo, factor, original, norm1(updated)), kThreshold);
      }
    }
  }
}

TYPED_TEST(CholUpdate, ADowndateThatLeavesLessThanRounding) {
  using T = TypeParam;
  // L's own columns, made shorter by less and less: whether that succeeds is a matter of rounding.
  // It must either fail and change nothing, or be right.
  const Index n = 90, k = 3;
  for (const Uplo uplo : kUplos) {
    const auto before = random_factor<T>(uplo, n, 1);
    const auto l = lower_factor(uplo, before);
    const auto original = product<T>(uplo, before, Padded<T>(n, 0), {});
    int failures = 0;
    for (int digits = 4; digits < 60; ++digits) {
      const double shorter = 1 - std::ldexp(1.0, -digits);
      Padded<T> v(n, k);
      for (Index j = 0; j < k; ++j) {
        for (Index i = 0; i < n; ++i) v(i, j) = T(l(i, 30 * j) * shorter);
      }
      auto factor = before;
      const Index info = update(uplo, factor, v, -1);
      if (info != 0) {
        ++failures;
        EXPECT_TRUE(same_bits(factor, before));
        continue;
      }
      const auto result = product(uplo, before, v, {-1, -1, -1});
      EXPECT_LT(residual(uplo, factor, result, norm1(original)), kThreshold) << digits;
    }
    EXPECT_LT(failures, 50);  // of 56
  }
}

TYPED_TEST(CholUpdate, ADowndateThatFailsChangesNothing) {
  using T = TypeParam;
  const Index n = 150;
  for (const Uplo uplo : kUplos) {
    const auto before = random_factor<T>(uplo, n, 1);
    for (const Index column : {1, 32, 33, 75, 149, 150}) {
      for (const Index k : {1, 3, 40}) {
        SCOPED_TRACE(testing::Message() << "column " << column << " k=" << k << char(uplo));
        // The last vector is zero before `column`, where it is too long.
        auto v = times(Real<T>(1e-4), random_matrix<T>(n, k, 2, 2));
        for (Index i = 0; i < column; ++i) v(i, k - 1) = T(0);
        v(column - 1, k - 1) = before(column - 1, column - 1) * T(1.5);
        const auto v_before = v;
        auto factor = before;
        EXPECT_EQ(update(uplo, factor, v, -1), column);
        EXPECT_TRUE(same_bits(factor, before));
        std::vector<int> signs(static_cast<std::size_t>(k), 1);
        signs.back() = -1;
        EXPECT_EQ(update_mixed(uplo, factor, v, signs), column);
        EXPECT_TRUE(same_bits(factor, before));
        EXPECT_TRUE(same_bits(v, v_before));
      }
    }
  }
}

TYPED_TEST(CholUpdate, SingularFactors) {
  using T = TypeParam;
  for (const Index k : {1, 2}) {
    for (const Uplo uplo : kUplos) {
      auto before = random_factor<T>(uplo, 60, 1);
      before(40, 40) = T(0);
      const auto v = random_matrix<T>(60, k, 2);
      auto factor = before;
      const std::vector<int> signs(static_cast<std::size_t>(k), 1);
      const auto updated = product(uplo, before, v, signs);
      EXPECT_EQ(update(uplo, factor, v, 1), 0);
      EXPECT_LT(residual(uplo, factor, updated, norm1(updated)), kThreshold);
      factor = before;
      EXPECT_EQ(update(uplo, factor, times(Real<T>(1e-4), v), -1), 41);
      EXPECT_TRUE(same_bits(factor, before));
    }
  }
}

TYPED_TEST(CholUpdate, ASingularFactorThatOnlyTheUpdatesMakeRegular) {
  using T = TypeParam;
  const Index n = 60;
  for (const Uplo uplo : kUplos) {
    auto before = random_factor<T>(uplo, n, 1);
    before(40, 40) = T(0);
    auto v = random_matrix<T>(n, 2, 2);
    for (Index i = 0; i < n; ++i) v(i, 1) *= Real<T>(1e-2);
    v(40, 0) = T(2);
    auto factor = before;
    ASSERT_EQ(update_mixed(uplo, factor, v, {1, -1}), 0) << char(uplo);
    EXPECT_LT(residual(uplo, factor, product(uplo, before, v, {1, -1}),
                       norm1(product(uplo, before, v, {1, 1}))),
              kThreshold);
    expect_untouched(uplo, factor);
  }
}

TYPED_TEST(CholUpdate, ImaginaryPartsOfTheDiagonalCountAsZero) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    const Index n = 50;
    for (const Uplo uplo : kUplos) {
      for (const Index k : {1, 2, 40}) {
        SCOPED_TRACE(testing::Message() << "k=" << k << " " << char(uplo));
        const auto real_factor = random_factor<T>(uplo, n, 1);
        auto given = real_factor;
        for (Index i = 0; i < n; ++i) given(i, i) += T(0, Real<T>(i % 3));
        const auto v = random_matrix<T>(n, k, 2);
        auto expected = real_factor, factor = given;
        ASSERT_EQ(update(uplo, expected, v, 1), 0);
        ASSERT_EQ(update(uplo, factor, v, 1), 0);
        EXPECT_TRUE(same_bits(factor, expected));
        for (Index i = 0; i < n; ++i) factor(i, i) += T(0, Real<T>(i % 3));
        ASSERT_EQ(update(uplo, expected, v, -1), 0);
        ASSERT_EQ(update(uplo, factor, v, -1), 0);
        EXPECT_TRUE(same_bits(factor, expected));
        // What cannot be done leaves them as they were.
        factor = given;
        EXPECT_GT(update(uplo, factor, times(Real<T>(100), v), -1), 0);
        EXPECT_TRUE(same_bits(factor, given));
      }
    }
  }
}

TYPED_TEST(CholUpdate, DiagonalElementsKeepTheirSigns) {
  using T = TypeParam;
  for (const Index k : {1, 2}) {
    for (const Uplo uplo : kUplos) {
      auto factor = random_factor<T>(uplo, 40, 1);
      for (Index i = 7; i < 40; ++i) {  // column 7 of L
        T& x = uplo == Uplo::lower ? factor(i, 7) : factor(7, i);
        x = -x;
      }
      const auto v = random_matrix<T>(40, k, 2);
      const auto updated =
          product(uplo, factor, v, std::vector<int>(static_cast<std::size_t>(k), 1));
      ASSERT_EQ(update(uplo, factor, v, 1), 0);
      EXPECT_LT(residual(uplo, factor, updated, norm1(updated)), kThreshold);
      ASSERT_EQ(update(uplo, factor, v, -1), 0);
      for (Index j = 0; j < 40; ++j) EXPECT_EQ(real(factor(j, j)) < 0, j == 7) << j;
    }
  }
}

TYPED_TEST(CholUpdate, ExtremeScales) {  // squares of these elements overflow or vanish
  using T = TypeParam;
  const int exponent = epsilon<T>() < 1e-10 ? 700 : 90;
  for (const int e : {exponent, -exponent}) {
    for (const Index k : {1, 3, 40}) {
      for (const Uplo uplo : kUplos) {
        auto plain = random_factor<T>(uplo, 50, 1, 0);
        const auto v = random_matrix<T>(50, k, 2);
        const auto scale = std::ldexp(Real<T>(1), e);
        auto large = times(scale, plain);
        ASSERT_EQ(update(uplo, plain, v, 1), 0);
        ASSERT_EQ(update(uplo, large, times(scale, v), 1), 0);
        EXPECT_TRUE(all_elements({50, 1}, [&](Index j, Index) {
          const Index row = uplo == Uplo::lower ? 49 : 0;
          const Index column = uplo == Uplo::lower ? j : 49 - j;
          return std::abs(large(row, column) / scale - plain(row, column)) < 1000 * epsilon<T>();
        }));
      }
    }
  }
}

TYPED_TEST(CholUpdate, StreamsThroughLittleMemory) {
  using T = TypeParam;
  if (this->off()) GTEST_SKIP() << "the CPU has no device memory to limit";
  const Index n = 480, nb = 16;
  const std::size_t whole = sizeof(T) * static_cast<std::size_t>(n * n);
  const std::size_t limit = whole / 4;
  for (const Index k : {1, 5}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << "k=" << k << " " << char(uplo));
      this->update_by(nb, limit);
      const auto before = random_factor<T>(uplo, n, 1);
      const auto v = random_matrix<T>(n, k, 2, 1);
      const auto updated =
          product(uplo, before, v, std::vector<int>(static_cast<std::size_t>(k), 1));
      auto factor = before;
      this->device().reset_peak_use();
      ASSERT_EQ(update(uplo, factor, v, 1), 0);
      EXPECT_LT(residual(uplo, factor, updated, norm1(updated)), kThreshold);
      expect_untouched(uplo, factor);
      ASSERT_EQ(update(uplo, factor, v, -1), 0);
      const auto original = product<T>(uplo, before, Padded<T>(n, 0), {});
      EXPECT_LT(residual(uplo, factor, original, norm1(updated)), kThreshold);
      expect_untouched(uplo, factor);
      EXPECT_LE(this->device().pool_use(Space::device).peak, limit);

      auto too_long = times(Real<T>(1e-4), v);
      too_long(n - 1, k - 1) = T(Real<T>(1000));
      auto unchanged = factor;
      EXPECT_EQ(update(uplo, factor, too_long, -1), n);
      EXPECT_TRUE(same_bits(factor, unchanged));

      unchanged(n - 1, n - 1) = nan<T>();
      for (const int sigma : {1, -1}) {
        factor = unchanged;
        EXPECT_EQ(update(uplo, factor, v, sigma), -4);
        EXPECT_TRUE(same_bits(factor, unchanged));
      }
    }
  }
}

/// The form in which no panel waits for another one, by itself.
template <class T>
class IndependentPanels : public DeviceTest {
 protected:
  void SetUp() override {
    if (device_under_test() == "off") GTEST_SKIP() << "no device";
    DeviceTest::SetUp();
  }
  bool run(Uplo uplo, Padded<T>& factor, const Padded<T>& v, const std::vector<int>& signs) {
    return run(uplo, factor.view(), v.view(), signs);
  }
  bool run(Uplo uplo, HostView<T> factor, HostView<const T> v, const std::vector<int>& signs) {
    return algorithms::update_by_independent_panels<T>(
        device(), options, {uplo, factor, v, algorithms::Signs(signs.data(), true)});
  }
  /// It changes nothing and leaves the update to others.
  void expect_declined(Uplo uplo, const Padded<T>& factor, const Padded<T>& v,
                       const std::vector<int>& signs) {
    auto same = factor;
    EXPECT_FALSE(run(uplo, same, v, signs));
    EXPECT_TRUE(same_bits(same, factor));
  }
  /// Vectors that are short beside the columns of the factor.
  static Padded<T> short_vectors(Index n, Index k) {
    auto v = random_matrix<T>(n, k, 2, 1);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < n; ++i) v(i, j) *= Real<T>(0.05);
    }
    return v;
  }
  static std::vector<int> all(int sign, Index k) {
    return std::vector<int>(static_cast<std::size_t>(k), sign);
  }

  algorithms::Options options;
};
TYPED_TEST_SUITE(IndependentPanels, Precisions);

TYPED_TEST(IndependentPanels, UpAndDown) {
  using T = TypeParam;
  for (const Index n : {1, 2, 9, 33, 40}) {
    for (const Index k : {1, 3, 8}) {
      for (const Uplo uplo : kUplos) {
        SCOPED_TRACE(testing::Message() << "n=" << n << " k=" << k << " " << char(uplo));
        const auto before = random_factor<T>(uplo, n, 1);
        const auto v = this->short_vectors(n, k);
        const auto updated = product(uplo, before, v, this->all(1, k));
        auto factor = before;
        ASSERT_TRUE(this->run(uplo, factor, v, this->all(1, k)));
        EXPECT_LT(residual(uplo, factor, updated, norm1(updated)), kThreshold);
        expect_untouched(uplo, factor);
        ASSERT_TRUE(this->run(uplo, factor, v, this->all(-1, k)));
        const auto original = product<T>(uplo, before, Padded<T>(n, 0), {});
        EXPECT_LT(residual(uplo, factor, original, norm1(updated)), kThreshold);
        expect_untouched(uplo, factor);
      }
    }
  }
}

TYPED_TEST(IndependentPanels, OfAFactorOnTheDevice) {
  using T = TypeParam;
  const Index n = 40, k = 3;
  for (const bool v_there : {true, false}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << char(uplo) << v_there);
      auto factor = random_factor<T>(uplo, n, 1);
      auto v = this->short_vectors(n, k);
      OnDevice<T> there(this->device(), factor);
      const OnDevice<T> vectors(this->device(), v);
      const auto updated = product(uplo, factor, v, this->all(1, k));
      const auto original = product<T>(uplo, factor, Padded<T>(n, 0), {});
      const HostView<const T> by = v_there ? vectors.view() : v.view();
      ASSERT_TRUE(this->run(uplo, there.view(), by, this->all(1, k)));
      there.fetch();
      EXPECT_LT(residual(uplo, factor, updated, norm1(updated)), kThreshold);
      ASSERT_TRUE(this->run(uplo, there.view(), by, this->all(-1, k)));
      there.fetch();
      EXPECT_LT(residual(uplo, factor, original, norm1(updated)), kThreshold);
      expect_untouched(uplo, factor);
    }
  }
}

/// Makes the columns orthonormal, by Gram and Schmidt's method.
template <class T>
void orthonormalize(Padded<T>& q) {
  for (Index j = 0; j < q.cols(); ++j) {
    for (Index l = 0; l < j; ++l) {
      T product(0);
      for (Index i = 0; i < q.rows(); ++i) product += conj(q(i, l)) * q(i, j);
      for (Index i = 0; i < q.rows(); ++i) q(i, j) -= product * q(i, l);
    }
    double squares = 0;
    for (Index i = 0; i < q.rows(); ++i) squares += std::norm(q(i, j));
    for (Index i = 0; i < q.rows(); ++i) q(i, j) /= Real<T>(std::sqrt(squares));
  }
}

/// L' by one reflector after the other.
template <class T>
Padded<T> by_chain(int sign, Padded<T> l, Padded<T> v) {
  const Index n = l.rows(), k = v.cols();
  std::vector<T> z(static_cast<std::size_t>(k * n)), work(static_cast<std::size_t>(n));
  std::vector<Real<T>> t(static_cast<std::size_t>(n));
  reference::reflect<T>(sign, l.view(), v.view(), HostView<T>(z.data(), k, n, k), t.data(),
                        work.data());
  return l;
}

/// V = L W, where I + W^H W or I - W^H W has so many eigenvalues that are `ratio` times larger or
/// smaller than the others.
template <class T>
Padded<T> extreme_vectors(int sign, Index extremes, double ratio, const Padded<T>& l, Index k,
                          std::uint64_t trial) {
  const Index n = l.rows();
  auto q = random_matrix<T>(n, k, 200 + trial), mixture = random_matrix<T>(k, k, 300 + trial);
  orthonormalize(q);
  orthonormalize(mixture);
  for (Index j = 0; j < k; ++j) {
    const double square = j >= extremes ? 0.1 : sign > 0 ? ratio : 1 - 1 / ratio;
    for (Index i = 0; i < n; ++i) q(i, j) *= Real<T>(std::sqrt(square));
  }
  Padded<T> w(n, k), v(n, k);
  reference::gemm<T>(Op::none, Op::none, T(1), q.view(), mixture.view(), T(0), w.view());
  reference::gemm<T>(Op::none, Op::none, T(1), l.view(), w.view(), T(0), v.view());
  return v;
}

TYPED_TEST(IndependentPanels, IsAboutAsAccurateAsTheChainIfItDoesNotDecline) {
  using T = TypeParam;
  const Index n = 40, k = 4;
  for (const auto& [sign, extremes] : {std::pair<int, Index>{1, 1}, {1, k}, {-1, 1}, {-1, k}}) {
    double independent = 0, chain = 0;
    int taken = 0;
    for (std::uint64_t trial = 0; trial < 20; ++trial) {
      const auto before = random_factor<T>(Uplo::lower, n, 100 + trial);
      auto l = before;
      for (Index j = 0; j < n; ++j) std::fill_n(&l(0, j), j, T(0));
      const auto v = extreme_vectors(sign, extremes, 100, l, k, trial);
      auto factor = before;
      if (!this->run(Uplo::lower, factor, v, this->all(sign, k))) continue;
      ++taken;
      const auto expected = product(Uplo::lower, before, v, this->all(sign, k));
      const double size =
          std::max(norm1(expected), norm1(product<T>(Uplo::lower, before, Padded<T>(n, 0), {})));
      independent = std::max(independent, residual(Uplo::lower, factor, expected, size));
      chain = std::max(chain, residual(Uplo::lower, by_chain(sign, l, v), expected, size));
    }
    EXPECT_GT(taken, 0);
    EXPECT_LT(independent, 2.5 * chain) << "sign " << sign << ", " << extremes;
  }
}

TYPED_TEST(IndependentPanels, LeavesToOthersWhatItCannotDo) {
  using T = TypeParam;
  const Index n = 50, most = UpdatePanels<T>::kMaxVectors;
  for (const Uplo uplo : kUplos) {
    const auto factor = random_factor<T>(uplo, n, 1);
    const auto v = this->short_vectors(n, 3);
    this->expect_declined(uplo, factor, this->short_vectors(n, most + 1), this->all(1, most + 1));
    this->expect_declined(uplo, factor, v, {1, 1, -1});
    this->options.memory = 1000;
    this->expect_declined(uplo, factor, v, this->all(1, 3));
    this->options.memory = 0;

    // A vector that is long beside the factor, and one beside others; a downdate to a matrix that
    // is nearly singular, and one to a matrix that is not definite.
    auto long_v = v;
    for (Index i = 0; i < n; ++i) long_v(i, 1) *= Real<T>(1e4);
    this->expect_declined(uplo, factor, long_v, this->all(1, 3));
    Padded<T> alone(n, 1);
    std::copy_n(&long_v(0, 1), n, &alone(0, 0));
    this->expect_declined(uplo, factor, alone, {1});
    for (const double part : {0.9999, 1.5}) {
      for (const Index column : {Index{0}, n / 2, n - 1}) {
        Padded<T> column_v(n, 1);
        std::fill_n(&column_v(0, 0), n, T(0));
        column_v(column, 0) = T(real(factor(column, column)) * static_cast<Real<T>>(part));
        this->expect_declined(uplo, factor, column_v, {-1});
      }
    }
    // A diagonal block that is not well conditioned, a singular one, and what is not finite.
    for (const T bad : {T(Real<T>(1e-6)), T(0), nan<T>(), infinity<T>(), -infinity<T>()}) {
      for (const Index place : {Index{0}, n / 2, n - 1}) {
        auto other = factor;
        other(place, place) = bad;
        for (const int sign : {1, -1}) this->expect_declined(uplo, other, v, this->all(sign, 3));
      }
    }
    for (const T bad : {nan<T>(), infinity<T>()}) {
      for (const Index place : {Index{0}, n / 2, n - 2}) {
        auto other = factor;
        (uplo == Uplo::lower ? other(n - 1, place) : other(place, n - 1)) = bad;
        for (const int sign : {1, -1}) this->expect_declined(uplo, other, v, this->all(sign, 3));
      }
    }
    if constexpr (is_complex<T>) {
      auto other = factor;
      other(n / 2, n / 2) += infinity<T>() * T(0, 1);
      this->expect_declined(uplo, other, v, this->all(1, 3));
    }
  }
}

TYPED_TEST(CholUpdate, FactorsInPageLockedMemory) {
  using T = TypeParam;
  if (this->off()) GTEST_SKIP() << "no device";
  const Index n = 100, k = 3;
  const auto v = random_matrix<T>(n, k, 2, 1);
  auto long_v = v;
  long_v(n - 1, 1) = T(1000);
  for (const Uplo uplo : kUplos) {
    const auto before = random_factor<T>(uplo, n, 1);
    auto factor = before;
    const Buffer<T> memory(this->device(), Space::host, factor.ld() * n);
    const auto in_place = [&](const Padded<T>& vectors, int sigma) {
      std::copy_n(factor.data(), memory.size(), memory.data());
      Index info = kNoInfo64;
      Exported<T>::cholupdate(static_cast<char>(uplo), n, k, memory.data(), factor.ld(),
                              vectors.view().data, vectors.ld(), sigma, &info);
      std::copy_n(memory.data(), memory.size(), factor.data());
      return info;
    };
    const auto updated = product(uplo, before, v, {1, 1, 1});
    EXPECT_EQ(in_place(v, 1), 0);
    EXPECT_LT(residual(uplo, factor, updated, norm1(updated)), kThreshold);
    expect_untouched(uplo, factor);
    const auto unchanged = factor;
    EXPECT_EQ(in_place(long_v, -1), n);
    EXPECT_TRUE(same_bits(factor, unchanged));
    EXPECT_EQ(in_place(v, -1), 0);
    const auto original = product<T>(uplo, before, Padded<T>(n, 0), {});
    EXPECT_LT(residual(uplo, factor, original, norm1(updated)), kThreshold);
    expect_untouched(uplo, factor);
  }
}

TYPED_TEST(CholUpdate, RegionsWiderThanAPanel) {
  using T = TypeParam;
  const Index n = 650, k = 40;
  this->update_by(400);
  for (const Uplo uplo : kUplos) {
    const auto before = random_factor<T>(uplo, n, 1);
    const auto v = random_matrix<T>(n, k, 2, 1);
    const auto updated = product(uplo, before, v, std::vector<int>(static_cast<std::size_t>(k), 1));
    auto factor = before;
    ASSERT_EQ(update(uplo, factor, v, 1), 0);
    EXPECT_LT(residual(uplo, factor, updated, norm1(updated)), kThreshold);
    ASSERT_EQ(update(uplo, factor, v, -1), 0);
    const auto original = product<T>(uplo, before, Padded<T>(n, 0), {});
    EXPECT_LT(residual(uplo, factor, original, norm1(updated)), kThreshold);
    expect_untouched(uplo, factor);
  }
}

TYPED_TEST(CholUpdate, GoesToTheCpuIfEvenALittleMemoryIsTooMuch) {
  using T = TypeParam;
  if (this->off()) GTEST_SKIP() << "the CPU has no device memory to limit";
  this->update_by(16, 20 << 10);
  const auto before = random_factor<T>(Uplo::lower, 300, 1);
  const auto v = random_matrix<T>(300, 5, 2);
  const auto updated = product(Uplo::lower, before, v, {1, 1, 1, 1, 1});
  auto factor = before;
  ASSERT_EQ(update(Uplo::lower, factor, v, 1), 0);
  EXPECT_LT(residual(Uplo::lower, factor, updated, norm1(updated)), kThreshold);
  EXPECT_NE(this->logged().find("where=cpu"), std::string::npos);
  EXPECT_NE(this->logged().find("OVERLAPACK_MEMORY_LIMIT"), std::string::npos);
}

TYPED_TEST(CholUpdate, NotANumber) {
  using T = TypeParam;
  const auto expect_silence = [] {  // the caller may have set traps
    EXPECT_EQ(std::fetestexcept(FE_INVALID), 0);
    std::feclearexcept(FE_ALL_EXCEPT);
  };
  for (const T bad : {nan<T>(), infinity<T>(), -infinity<T>()}) {
    for (const Uplo uplo : kUplos) {
      const auto good = random_factor<T>(uplo, 50, 1);
      const auto v = random_matrix<T>(50, 3, 2);
      auto bad_v = v;
      bad_v(33, 2) = bad;
      for (const int sigma : {1, -1}) {
        for (const Index place : {0, 20, 40, 49}) {  // in the first region, in others, in the last
          SCOPED_TRACE(testing::Message() << char(uplo) << " " << sigma << " " << place);
          auto before = good;
          (uplo == Uplo::lower ? before(49, place) : before(place, 49)) = bad;
          auto factor = before;
          std::feclearexcept(FE_ALL_EXCEPT);
          EXPECT_EQ(update(uplo, factor, v, sigma), -4);
          expect_silence();
          EXPECT_TRUE(same_bits(factor, before));
          EXPECT_EQ(update(uplo, factor, bad_v, sigma), -4);  // the first of two
          expect_silence();
          EXPECT_TRUE(same_bits(factor, before));
        }
        auto factor = good;
        EXPECT_EQ(update(uplo, factor, bad_v, sigma), -6);
        expect_silence();
        EXPECT_TRUE(same_bits(factor, good));
      }
      // In the other triangle it is none of our business.
      auto factor = good;
      (uplo == Uplo::lower ? factor(20, 40) : factor(40, 20)) = bad;
      EXPECT_EQ(update(uplo, factor, v, 1), 0);
    }
  }
}

TYPED_TEST(CholUpdate, WhatIsFinite) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  const auto all_finite = [](Real<T> x) {
    auto a = random_matrix<T>(50, 3, 1);
    a(33, 2) = T(x);
    return algorithms::all_finite<T>(Part::all, a.view(), 1);
  };
  for (const Real<T> x : {Limits::max(), Limits::min(), Limits::denorm_min(), Real<T>(0)}) {
    EXPECT_TRUE(all_finite(x)) << x;
    EXPECT_TRUE(all_finite(-x)) << x;
  }
  for (const Real<T> x : {Limits::infinity(), Limits::quiet_NaN()}) {
    EXPECT_FALSE(all_finite(x)) << x;
    EXPECT_FALSE(all_finite(-x)) << x;
  }
}

TYPED_TEST(CholUpdate, WhatIsFiniteInEveryColumn) {  // however many threads look
  using T = TypeParam;
  const Index n = 700;
  auto a = random_matrix<T>(n, n, 1);
  for (const Part part : {Part::all, Part::lower, Part::upper}) {
    for (const Index threads : {1, 3}) {
      EXPECT_TRUE(algorithms::all_finite<T>(part, a.view(), threads));
      for (const Index j : {0, 62, 63, 64, 127, 128, 639, 640, 699}) {
        const T before = a(j, j);
        a(j, j) = nan<T>();
        EXPECT_FALSE(algorithms::all_finite<T>(part, a.view(), threads)) << j;
        a(j, j) = before;
      }
    }
  }
}

TYPED_TEST(CholUpdate, ImaginaryPartsThatAreNotFiniteAreRefused) {  // on the diagonal, too
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    const Index n = 50;
    const auto v = random_matrix<T>(n, 3, 2);
    for (const Uplo uplo : kUplos) {
      for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {33, 33}, {49, 49}, {49, 20}}) {
        for (const Real<T> bad : {real(infinity<T>()), real(nan<T>())}) {
          auto before = random_factor<T>(uplo, n, 1);
          T& x = uplo == Uplo::lower ? before(i, j) : before(j, i);
          x = T(real(x), bad);
          for (const int sigma : {1, -1}) {
            SCOPED_TRACE(testing::Message() << char(uplo) << i << "," << j << " " << sigma);
            auto factor = before;
            EXPECT_EQ(update(uplo, factor, v, sigma), -4);
            EXPECT_TRUE(same_bits(factor, before));
          }
        }
      }
    }
  }
}

TYPED_TEST(CholUpdate, InvalidArguments) {
  using T = TypeParam;
  const auto before = random_factor<T>(Uplo::lower, 4, 1);
  const auto v = random_matrix<T>(4, 2, 2);
  const int signs[] = {1, 2};
  auto a = before;
  Index info = kNoInfo64;
  const auto expect = [&](Index position) {
    EXPECT_EQ(info, -position);
    EXPECT_TRUE(same_bits(a, before));
    info = kNoInfo64;
  };
  const auto call = [&](char uplo, Index n, Index k, T* factor, Index lda, const T* vectors,
                        Index ldv, int sigma) {
    Exported<T>::cholupdate(uplo, n, k, factor, lda, vectors, ldv, sigma, &info);
  };
  const T* const x = v.view().data;
  call('X', -1, 2, a.data(), 7, x, 4, 1), expect(1);
  call('L', -1, -1, a.data(), 7, x, 4, 1), expect(2);
  call('u', 4, -1, a.data(), 1, x, 4, 1), expect(3);
  call('l', 4, 2, nullptr, 7, x, 4, 1), expect(4);
  call('U', 4, 2, a.data(), 3, x, 4, 1), expect(5);
  call('U', 0, 0, a.data(), 0, x, 4, 1), expect(5);
  call('L', 4, 2, a.data(), 7, nullptr, 4, 1), expect(6);
  call('L', 4, 2, a.data(), 7, x, 3, 1), expect(7);
  call('L', 4, 2, a.data(), 7, x, 4, 0), expect(8);
  call('L', 4, 2, a.data(), 7, x, 4, 2), expect(8);
  Exported<T>::cholupdate_mixed('L', 4, 2, a.data(), 7, x, 4, signs, &info), expect(8);
  Exported<T>::cholupdate_mixed('L', 4, 2, a.data(), 7, x, 4, nullptr, &info), expect(8);
  call('L', 0, 2, nullptr, 1, nullptr, 1, 1), expect(0);
  call('L', 4, 0, nullptr, 4, nullptr, 4, 1), expect(0);
  Exported<T>::cholupdate_mixed('L', 4, 0, nullptr, 4, nullptr, 4, nullptr, &info), expect(0);
  Exported<T>::cholupdate('L', 4, 2, a.data(), 7, x, 4, 1, nullptr);
  EXPECT_TRUE(same_bits(a, before));
}

TYPED_TEST(CholUpdate, NoVectorsLookAtNothing) {  // as LAPACK does if there is nothing to do
  using T = TypeParam;
  const Index n = 4;
  auto before = random_factor<T>(Uplo::lower, n, 1);
  before(1, 0) = nan<T>();
  before(2, 2) = infinity<T>();
  if constexpr (is_complex<T>) before(3, 3) += T(0, 2);
  const Padded<T> v(n, 0);
  for (const int sigma : {1, -1}) {
    auto factor = before;
    EXPECT_EQ(update(Uplo::lower, factor, v, sigma), 0);
    EXPECT_TRUE(same_bits(factor, before));
  }
  Index info = kNoInfo64;
  Exported<T>::cholupdate('L', n, 0, nullptr, n, nullptr, n, 2, &info);
  EXPECT_EQ(info, -8);
  Exported<T>::cholupdate('L', n, 0, nullptr, n - 1, nullptr, n, 1, &info);
  EXPECT_EQ(info, -5);
  Exported<T>::cholupdate_mixed('L', n, 0, nullptr, n, nullptr, n, nullptr, &info);
  EXPECT_EQ(info, 0);
}

TYPED_TEST(CholUpdate, TwoThreadsCallConcurrently) {
  using T = TypeParam;
  EXPECT_LT(worst_in_two_threads([](std::size_t thread, std::uint64_t round) {
              if (round > 1) return 0.0;  // two rounds are long enough
              const Uplo uplo = kUplos[thread];
              const auto before = random_factor<T>(uplo, 350, 1 + thread);
              const auto v = random_matrix<T>(350, 4, 10 + round);
              auto factor = before;
              const auto updated = product(uplo, before, v, {1, 1, 1, 1});
              if (update(uplo, factor, v, 1) != 0) return HUGE_VAL;
              return residual(uplo, factor, updated, norm1(updated));
            }),
            kThreshold);
}

// ---- the names of qrupdate and LINPACK
// ------------------------------------------------------------

constexpr Index kOrders[] = {1, 2, 7, 8, 9, 40, 129, 300, 560};

/// A vector with a guard behind its last element.
template <class T>
struct Guarded {
  explicit Guarded(Index n, std::uint64_t seed = 0) : elements(random_matrix<T>(n, 1, seed, 1)) {}
  T* data() { return elements.data(); }
  T& operator[](Index i) { return elements(i, 0); }
  bool intact() const { return elements.padding_untouched(); }
  Padded<T> elements;
};

template <class T>
class RankOne : public UpdateTest {
 protected:
  /// c_i^2 + |s_i|^2 = 1 and c_i >= 0.
  void expect_rotations(Index n, Guarded<Real<T>>& c, Guarded<T>& s) {
    for (Index i = 0; i < n; ++i) {
      const double one = static_cast<double>(c[i] * c[i] + std::norm(s[i]));
      EXPECT_LT(std::abs(one - 1), 20 * epsilon<T>()) << i;
      EXPECT_GE(c[i], 0) << i;
    }
  }

  /// Applies the rotations of an update to [R; x], one column after the other, and compares.
  void expect_update(Padded<T>& before, Padded<T>& after, Guarded<Real<T>>& c, Guarded<T>& s,
                     const std::vector<T>& row) {
    for (Index j = 0; j < before.cols(); ++j) {
      T x = row[static_cast<std::size_t>(j)];
      for (Index i = 0; i <= j; ++i) {
        EXPECT_LT(std::abs(c[i] * before(i, j) + s[i] * x - after(i, j)), 100 * epsilon<T>());
        x = c[i] * x - conj(s[i]) * before(i, j);
      }
      EXPECT_LT(std::abs(x), 100 * epsilon<T>()) << j;
    }
  }
  /// The same for a downdate: [R; 0] becomes [R'; x].
  void expect_downdate(Padded<T>& before, Padded<T>& after, Guarded<Real<T>>& c, Guarded<T>& s,
                       const std::vector<T>& row) {
    for (Index j = 0; j < before.cols(); ++j) {
      T x(0);
      for (Index i = j; i >= 0; --i) {
        EXPECT_LT(std::abs(c[i] * before(i, j) - conj(s[i]) * x - after(i, j)), 100 * epsilon<T>());
        x = c[i] * x + s[i] * before(i, j);
      }
      EXPECT_LT(std::abs(x - row[static_cast<std::size_t>(j)]), 200 * epsilon<T>()) << j;
    }
  }

  /// qrupdate's update and downdate of R by u. They return the new factor.
  Padded<T> ch1up(const Padded<T>& before, const Guarded<T>& u) {
    return qrupdate(
        before, u,
        [](auto n, auto r, auto ld, auto x, auto w) { Exported<T>::ch1up(n, r, ld, x, w); },
        &RankOne::expect_update);
  }
  Padded<T> ch1dn(const Padded<T>& before, const Guarded<T>& u) {
    return qrupdate(
        before, u,
        [](auto n, auto r, auto ld, auto x, auto w) {
          std::int32_t info = -1;
          Exported<T>::ch1dn(n, r, ld, x, w, &info);
          EXPECT_EQ(info, 0);
        },
        &RankOne::expect_downdate);
  }

 private:
  template <class Routine, class Expectation>
  Padded<T> qrupdate(Padded<T> before, Guarded<T> u, Routine routine, Expectation expect) {
    const Index n = before.rows();
    const auto size = static_cast<std::int32_t>(n), ld = static_cast<std::int32_t>(before.ld());
    std::vector<T> row;
    for (Index i = 0; i < n; ++i) row.push_back(conj(u[i]));
    Guarded<Real<T>> w(n);
    auto after = before;
    routine(&size, after.data(), &ld, u.data(), w.data());
    expect_rotations(n, w, u);
    (this->*expect)(before, after, w, u, row);
    expect_untouched(Uplo::upper, after);
    EXPECT_TRUE(u.intact() && w.intact());
    return after;
  }
};
TYPED_TEST_SUITE(RankOne, Precisions);

TYPED_TEST(RankOne, Qrupdate) {
  using T = TypeParam;
  for (const Index n : kOrders) {
    SCOPED_TRACE(n);
    const Guarded<T> u(n, 2);
    const auto before = random_factor<T>(Uplo::upper, n, 1);
    const auto after = this->ch1up(before, u);
    const auto restored = this->ch1dn(after, u);
    EXPECT_LT(residual(Uplo::upper, restored, product<T>(Uplo::upper, before, Padded<T>(n, 0), {}),
                       norm1(product<T>(Uplo::upper, after, Padded<T>(n, 0), {}))),
              kThreshold);
  }
}

TYPED_TEST(RankOne, QrupdateOfADiagonalThatIsNotReal) {  // which qrupdate does not ask for
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    for (const Index n : {9, 40, 300}) {
      SCOPED_TRACE(n);
      auto before = random_factor<T>(Uplo::upper, n, 1);
      for (Index i = 1; i < n; i += 3) {  // a row by a phase: R^H R stays
        for (Index j = i; j < n; ++j) before(i, j) *= T(Real<T>(0.6), Real<T>(-0.8));
      }
      const Guarded<T> u(n, 2);
      this->ch1dn(this->ch1up(before, u), u);
    }
    this->forget_log();  // the device has left them to the CPU
  }
}

TYPED_TEST(RankOne, QrupdateOfASingularFactor) {
  using T = TypeParam;
  for (const Index n : {9, 300}) {
    SCOPED_TRACE(n);
    auto before = random_factor<T>(Uplo::upper, n, 1);
    Guarded<T> u(n, 2);
    before(7, 7) = T(0);
    // Nor is there anything in this column of [R; x].
    for (Index i = 0; i <= 3; ++i) before(i, 3) = T(0);
    u[3] = T(0);
    this->ch1up(before, u);
  }
}

TYPED_TEST(RankOne, ADowndateThatLeavesNothing) {
  using T = TypeParam;
  const std::int32_t one = 1;
  T r(2), u(2);
  Real<T> w(0);
  std::int32_t info = -1;
  Exported<T>::ch1dn(&one, &r, &one, &u, &w, &info);
  EXPECT_EQ(info, 1);
  EXPECT_EQ(r, T(2));
}

TYPED_TEST(RankOne, QrupdateRefuses) {
  using T = TypeParam;
  const Index n = 30;
  const std::int32_t size = 30, ld = 33, zero = 0, negative = -1, short_ld = 29;
  auto r = random_factor<T>(Uplo::upper, n, 1);
  Guarded<Real<T>> w(n);
  for (const T last : {T(100), nan<T>()}) {
    const auto before = r;
    Guarded<T> u(n, 2);
    u[29] = last;
    std::int32_t info = -1;
    Exported<T>::ch1dn(&size, r.data(), &ld, u.data(), w.data(), &info);
    EXPECT_EQ(info, 1);
    EXPECT_TRUE(same_bits(r, before));
  }
  r(17, 17) = T(0);
  const auto before = r;
  Guarded<T> u(n, 2);
  const auto u_before = u;
  std::int32_t info = -1;
  Exported<T>::ch1dn(&size, r.data(), &ld, u.data(), w.data(), &info);
  EXPECT_EQ(info, 2);

  reports.clear();
  Exported<T>::ch1dn(&negative, r.data(), &ld, u.data(), w.data(), &info);
  EXPECT_EQ(info, -1);
  Exported<T>::ch1dn(&size, r.data(), &short_ld, u.data(), w.data(), &info);
  EXPECT_EQ(info, -3);
  Exported<T>::ch1up(&size, r.data(), &short_ld, u.data(), w.data());
  Exported<T>::ch1up(&negative, r.data(), &ld, u.data(), w.data());
  Exported<T>::ch1up(&zero, r.data(), &ld, u.data(), w.data());
  Exported<T>::ch1dn(&zero, r.data(), &ld, u.data(), w.data(), &info);
  EXPECT_EQ(info, 0);
  const std::string letter(1, static_cast<char>(std::toupper(ScalarTraits<T>::letter)));
  EXPECT_EQ(reports,
            (std::vector<std::string>{letter + "CH1DN 1", letter + "CH1DN 3", letter + "CH1UP 3"}));
  EXPECT_TRUE(same_bits(r, before));
  EXPECT_TRUE(same_bits(u.elements, u_before.elements));
}

/// x^H y
template <class T>
Wide<T> dot(const Padded<T>& x, Index jx, const Padded<T>& y, Index jy) {
  Wide<T> sum(0);
  for (Index i = 0; i < x.rows(); ++i) sum += conj(Wide<T>(x(i, jx))) * Wide<T>(y(i, jy));
  return sum;
}

TYPED_TEST(RankOne, Linpack) {
  using T = TypeParam;
  const Index nz = 3;
  for (const Index p : kOrders) {
    SCOPED_TRACE(p);
    auto before = random_factor<T>(Uplo::upper, p, 1);
    const auto z_before = random_matrix<T>(p, nz, 3, 2);
    const auto x = random_matrix<T>(p, 1, 2, 1), y = random_matrix<T>(nz, 1, 4, 1);
    const std::vector<T> row(x.view().data, x.view().data + p);
    const auto size = static_cast<std::int32_t>(p), ldr = static_cast<std::int32_t>(before.ld()),
               ldz = static_cast<std::int32_t>(z_before.ld()), count = std::int32_t{nz};
    Guarded<Real<T>> c(p), rho(nz);
    rho[0] = 2, rho[1] = -3, rho[2] = 0;
    Guarded<T> s(p);
    auto after = before;
    auto z = z_before;
    Exported<T>::chud(after.data(), &ldr, &size, x.view().data, z.data(), &ldz, &count,
                      y.view().data, rho.data(), c.data(), s.data());
    this->expect_rotations(p, c, s);
    this->expect_update(before, after, c, s, row);
    // The norms of the columns of [Z; y; rho] do not change, nor do their products with [R; x].
    for (Index j = 0; j < nz; ++j) {
      const double old_rho[] = {2, -3, 0};
      const double zeta2 = real(dot(z_before, j, z_before, j)) +
                           static_cast<double>(std::norm(y(j, 0))) - real(dot(z, j, z, j));
      const double expected = j == 1 ? -3 : std::sqrt(old_rho[j] * old_rho[j] + std::abs(zeta2));
      EXPECT_LT(std::abs(static_cast<double>(rho[j]) - expected),
                200 * std::sqrt(epsilon<T>() * static_cast<double>(p)) * (j == 2 ? 1 : 1e-2));
      for (Index l = 0; l < p; ++l) {
        Wide<T> old_product = conj(Wide<T>(x(l, 0))) * Wide<T>(y(j, 0)), product(0);
        for (Index i = 0; i <= l; ++i) {
          old_product += conj(Wide<T>(before(i, l))) * Wide<T>(z_before(i, j));
          product += conj(Wide<T>(after(i, l))) * Wide<T>(z(i, j));
        }
        EXPECT_LT(std::abs(product - old_product), 1000 * epsilon<T>()) << j << " " << l;
      }
    }
    expect_untouched(Uplo::upper, after);
    EXPECT_TRUE(z.padding_untouched() && c.intact() && s.intact() && rho.intact());

    // And back.
    auto restored = after;
    std::int32_t info = -7;
    Exported<T>::chdd(restored.data(), &ldr, &size, x.view().data, z.data(), &ldz, &count,
                      y.view().data, rho.data(), c.data(), s.data(), &info);
    EXPECT_EQ(info, 1);  // rho[1] is negative
    EXPECT_EQ(rho[1], -1);
    EXPECT_NEAR(static_cast<double>(rho[0]), 2, 1e4 * epsilon<T>());
    this->expect_rotations(p, c, s);
    this->expect_downdate(after, restored, c, s, row);
    for (Index j = 0; j < nz; ++j) {
      for (Index i = 0; i < p; ++i) {
        EXPECT_LT(std::abs(z(i, j) - z_before(i, j)), 1e5 * epsilon<T>()) << i << " " << j;
      }
    }
    expect_untouched(Uplo::upper, restored);
    EXPECT_TRUE(z.padding_untouched() && c.intact() && s.intact() && rho.intact());
  }
}

TYPED_TEST(RankOne, LinpackResidualsThatVanish) {
  using T = TypeParam;
  // With x = 0 the rotations change nothing: what is left of rho^2 is rho^2 - |y|^2.
  const std::int32_t one = 1, three = 3;
  T r(1), z[] = {T(5), T(5), T(5)}, s(0);
  const T x(0), y[] = {T(2), T(0), T(2)};
  Real<T> rho[] = {2, 0, 1}, c(0);
  std::int32_t info = -7;
  const std::int32_t two = 2;
  Exported<T>::chdd(&r, &one, &one, &x, z, &one, &two, y, rho, &c, &s, &info);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(rho[0], 0);
  EXPECT_EQ(rho[1], 0);
  rho[0] = 2;
  Exported<T>::chdd(&r, &one, &one, &x, z, &one, &three, y, rho, &c, &s, &info);
  EXPECT_EQ(info, 1);
  EXPECT_EQ(rho[0], 0);
  EXPECT_EQ(rho[2], -1);
}

TYPED_TEST(RankOne, LinpackRefuses) {
  using T = TypeParam;
  const Index p = 20;
  auto r = random_factor<T>(Uplo::upper, p, 1);
  auto z = random_matrix<T>(p, 1, 3);
  auto x = random_matrix<T>(p, 1, 2);
  const auto y = random_matrix<T>(1, 1, 4);
  const std::int32_t size = 20, ldr = 23, ldz = 20, none = 0, one = 1, short_ld = 19;
  Guarded<Real<T>> c(p), rho(1);
  rho[0] = 1;
  Guarded<T> s(p);
  std::int32_t info = -7;
  const auto r_before = r, z_before = z;
  x(11, 0) = T(100);
  const auto x_before = x;
  Exported<T>::chdd(r.data(), &ldr, &size, x.data(), z.data(), &ldz, &one, y.view().data,
                    rho.data(), c.data(), s.data(), &info);
  EXPECT_EQ(info, -1);
  EXPECT_EQ(rho[0], 1);
  EXPECT_TRUE(same_bits(r, r_before) && same_bits(z, z_before) && same_bits(x, x_before));

  // Z, y and rho are not looked at for nz = 0.
  reports.clear();
  Exported<T>::chud(r.data(), &ldr, &size, x.data(), nullptr, &none, &none, nullptr, nullptr,
                    c.data(), s.data());
  Exported<T>::chdd(r.data(), &ldr, &size, x.data(), nullptr, &none, &none, nullptr, nullptr,
                    c.data(), s.data(), &info);
  EXPECT_EQ(info, 0);
  EXPECT_TRUE(reports.empty());

  r = r_before;
  Exported<T>::chud(r.data(), &short_ld, &size, x.data(), z.data(), &ldz, &one, y.view().data,
                    rho.data(), c.data(), s.data());
  Exported<T>::chdd(r.data(), &ldr, &size, x.data(), z.data(), &short_ld, &one, y.view().data,
                    rho.data(), c.data(), s.data(), &info);
  const std::string letter(1, static_cast<char>(std::toupper(ScalarTraits<T>::letter)));
  EXPECT_EQ(reports, (std::vector<std::string>{letter + "CHUD  2", letter + "CHDD  6"}));
  EXPECT_TRUE(same_bits(r, r_before) && same_bits(z, z_before));
  reports.clear();
}

}  // namespace
}  // namespace overlapack
