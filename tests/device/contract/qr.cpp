// geqrf_panel, reflect.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/householder.hpp"
#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// What geqrf_panel leaves, and what it was given.
template <class T>
struct QrPanel {
  Padded<T> a, factor, v, t, tau;

  Index rows() const { return a.rows(); }
  Index cols() const { return a.cols(); }
};

template <class T>
class QrContract : public DeviceContract<T> {
 protected:
  using W = Wide<T>;

  Index width(Index rows) { return this->kernels().geqrf_panel_width(rows); }

  QrPanel<T> factor(const Padded<T>& a) {
    const Index m = a.rows(), n = a.cols();
    const auto da = this->upload(a), v = this->upload(Padded<T>(m, n, 3));
    const auto t = this->upload(Padded<T>(n, n, 1));
    const Buffer<T> tau(this->device(), Space::host, n);
    this->queue().enqueue(GeqrfPanel<T>{da, v, t, {tau.data(), n}});
    QrPanel<T> panel{a, this->download(da), this->download(v), this->download(t), {}};
    panel.tau = Padded<T>(n, 1);
    std::copy_n(tau.data(), n, panel.tau.data());
    return panel;
  }

  /// What the textbook leaves in `a` and tau.
  static std::pair<Padded<W>, std::vector<W>> expected(const Padded<T>& a) {
    auto factor = widen<T>(a.view());
    std::vector<W> tau(static_cast<std::size_t>(a.cols()));
    reference::geqrf<W>(factor.view(), tau.data());
    return {factor, tau};
  }

  /// The parts that are known exactly: V's ones and zeros, T's zeros, and what stands twice.
  static void expect_form(const QrPanel<T>& panel) {
    for (const auto* x : {&panel.factor, &panel.v, &panel.t}) {
      EXPECT_TRUE(x->padding_untouched());
    }
    EXPECT_TRUE(all_elements({panel.rows(), panel.cols()}, [&](Index i, Index j) {
      const T v = panel.v(i, j);
      return v == (i > j ? panel.factor(i, j) : T(i == j));
    })) << "in V";
    EXPECT_TRUE(all_elements({panel.cols(), panel.cols()}, [&](Index i, Index j) {
      const T t = panel.t(i, j);
      return i > j ? t == T(0) : i < j || t == panel.tau(j, 0);
    })) << "in T";
    for (Index j = 0; j < panel.cols(); ++j) {
      EXPECT_EQ(panel.factor(j, j), T(real(panel.factor(j, j)))) << j;
    }
  }

  /// ||T - T'|| / ||T'|| eps for the T' that belongs to V and tau.
  static double error_of_t(const QrPanel<T>& panel) {
    const Index n = panel.cols();
    auto t = widen<T>(panel.t.view());
    const auto v = widen<T>(panel.v.view());
    Padded<W> right(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) right(i, j) = i == j ? W(panel.tau(j, 0)) : W(0);
    }
    reference::block_reflector<W>(v.view(), right.view());
    const double size = norm1(right);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) t(i, j) -= right(i, j);
    }
    return scaled(norm1(t), size, epsilon<T>());
  }
  /// The largest ||a_j - Q r_j|| / (m ||a_j|| eps), column by column.
  static double error_of_qr(const QrPanel<T>& panel) {
    const Index m = panel.rows(), n = panel.cols();
    const auto v = widen<T>(panel.v.view()), t = widen<T>(panel.t.view());
    auto a = widen<T>(panel.a.view());
    Padded<W> qr(m, n), w(n, n), tw(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) qr(i, j) = i <= j ? W(panel.factor(i, j)) : W(0);
    }
    using reference::gemm;
    gemm<W>(Op::conj_trans, Op::none, W(1), v.view(), qr.view(), W(0), w.view());
    gemm<W>(Op::none, Op::none, W(1), t.view(), w.view(), W(0), tw.view());
    gemm<W>(Op::none, Op::none, W(-1), v.view(), tw.view(), W(1), qr.view());
    double worst = 0;
    for (Index j = 0; j < n; ++j) {
      double error = 0, size = 0;
      for (Index i = 0; i < m; ++i) {
        error += std::abs(a(i, j) - qr(i, j));
        size += std::abs(a(i, j));
      }
      const double one = scaled(error, static_cast<double>(m) * size, epsilon<T>());
      worst = reference::max_or_nan(worst, one);
    }
    return worst;
  }
  /// The largest difference to the textbook's R, V and tau in units of eps, each as compared with
  /// the size of its column of A, or with 1.
  static double difference(const QrPanel<T>& panel) {
    const auto [factor, tau] = expected(panel.a);
    double worst = 0;
    for (Index j = 0; j < panel.cols(); ++j) {
      double size = 0;
      for (Index i = 0; i < panel.rows(); ++i) {
        size = std::max(size, static_cast<double>(std::abs(panel.a(i, j))));
      }
      const auto take = [&](W x, W y, double unit) {
        worst = reference::max_or_nan(worst, scaled(std::abs(x - y), unit, epsilon<T>()));
      };
      take(panel.tau(j, 0), tau[static_cast<std::size_t>(j)], 1);
      for (Index i = 0; i < panel.rows(); ++i) {
        take(panel.factor(i, j), factor(i, j), i <= j ? size : 1);
      }
    }
    return worst;
  }

  /// Factors a panel that is well conditioned, and compares all with the textbook.
  void factors(const Padded<T>& a) {
    SCOPED_TRACE(testing::Message() << a.rows() << "x" << a.cols());
    const auto panel = factor(a);
    expect_form(panel);
    EXPECT_LT(error_of_qr(panel), kThreshold);
    EXPECT_LT(error_of_t(panel), 10 * kThreshold);
    EXPECT_LT(difference(panel),
              100 * (static_cast<double>(a.cols()) + std::sqrt(static_cast<double>(a.rows()))));
  }
  /// Random, with a diagonal that makes it well conditioned.
  static Padded<T> well_conditioned(Index m, Index n) {
    auto a = random_matrix<T>(m, n, static_cast<std::uint64_t>(m + n), 2);
    for (Index j = 0; j < n; ++j) {
      a(j, j) += phase<T>(j) * T(static_cast<Real<T>>(j % 3 == 1 ? -4 : 4));
    }
    return a;
  }
  void factors(Index m, Index n) { factors(well_conditioned(m, n)); }

  /// C := op(Q) C for k reflectors and n columns.
  void reflects(Index m, Index k, Index n) {
    SCOPED_TRACE(testing::Message() << m << " rows, " << k << " reflectors, " << n << " columns");
    const auto v = random_matrix<T>(m, k, 1, 3), t = random_matrix<T>(k, k, 2, 1);
    const auto c = random_matrix<T>(m, n, 3, 2);
    const auto dv = this->upload(v), dt = this->upload(t);
    const double size = static_cast<double>(m * k) * static_cast<double>(k);
    for (const Op op : {Op::none, Op::conj_trans}) {
      const auto dc = this->upload(c), work = this->upload(Padded<T>(2 * k, n, 1));
      this->queue().enqueue(Reflect<T>{op, dv, dt, dc, work});
      const auto got = this->download(dc);
      EXPECT_TRUE(got.padding_untouched());
      EXPECT_TRUE(this->download(work).padding_untouched());
      Padded<W> product(k, n), scaled(k, n);
      auto right = widen<T>(c.view());
      const auto wide_v = widen<T>(v.view()), wide_t = widen<T>(t.view());
      using reference::gemm;
      gemm<W>(Op::conj_trans, Op::none, W(1), wide_v.view(), right.view(), W(0), product.view());
      gemm<W>(op, Op::none, W(1), wide_t.view(), product.view(), W(0), scaled.view());
      gemm<W>(Op::none, Op::none, W(-1), wide_v.view(), scaled.view(), W(1), right.view());
      EXPECT_LT(max_difference(got, right), 8 * size * epsilon<T>());
    }
  }

  /// Two panels of m rows and k and n columns, the second one with the reflectors of the first.
  void reflects_and_factors(Index m, Index k, Index n) {
    SCOPED_TRACE(testing::Message() << m << " rows, " << k << " and " << n << " columns");
    const auto a = well_conditioned(m, k + n);
    const auto uploaded_a = this->upload(a), uploaded_v = this->upload(Padded<T>(m, k + n, 3)),
               uploaded_t = this->upload(Padded<T>(k + n, k + n, 1)),
               work = this->upload(Padded<T>(2 * k, n, 1));
    const DeviceView<T> da = uploaded_a, v = uploaded_v, t = uploaded_t;
    const Buffer<T> tau(this->device(), Space::host, k + n);
    const DeviceView<T> v1 = v.block(0, 0, m, k), t1 = t.block(0, 0, k, k);
    this->queue().enqueue(GeqrfPanel<T>{da.block(0, 0, m, k), v1, t1, {tau.data(), k}});
    this->queue().enqueue(ReflectAndFactor<T>{v1, t1, da.block(0, k, m, n), v.block(k, k, m - k, n),
                                              t.block(k, k, n, n), DeviceView<T>(tau.data() + k, n),
                                              work});
    QrPanel<T> panel{
        a, this->download(uploaded_a), this->download(uploaded_v), this->download(uploaded_t), {}};
    panel.tau = Padded<T>(k + n, 1);
    std::copy_n(tau.data(), k + n, panel.tau.data());
    EXPECT_TRUE(panel.factor.padding_untouched());
    EXPECT_TRUE(panel.v.padding_untouched());
    EXPECT_TRUE(this->download(work).padding_untouched());
    EXPECT_LT(difference(panel),
              100 * (static_cast<double>(k + n) + std::sqrt(static_cast<double>(m))));
  }

  static Real<T> power_of_two(int exponent) { return std::ldexp(Real<T>(1), exponent); }
};

TYPED_TEST_SUITE(QrContract, Precisions);

TYPED_TEST(QrContract, FactorsPanelsOfAllShapes) {
  std::vector<Index> rows = {1, 2, 5, 31, 32, 33, 64, 100, 255, 256, 257, 511, 513, 1000, 2049};
  if (!this->device().emulated()) {
    rows.insert(rows.end(), {4096, 4097, 8191, 8193, 16384, 16385, 140000});
  }
  for (const Index m : rows) {
    const Index most = std::min(m, this->width(m));
    for (const Index n : {Index{1}, most / 2, most - 1, most}) {
      if (n > 0) this->factors(m, n);
    }
  }
}

// For racecheck, under which the shapes above would take an hour.
TYPED_TEST(QrContract, FactorsPanelsOfFewBlocks) {
  for (const Index m : {40, 300, 600}) this->factors(m, std::min<Index>(this->width(m), 9));
}

TYPED_TEST(QrContract, SafeForColumnsOfAnySize) {
  using T = TypeParam;
  constexpr int kMost = std::numeric_limits<Real<T>>::max_exponent - 12;
  for (const Index m : {40, 300}) {
    const Index n = std::min<Index>(this->width(m), 16);
    Random random(static_cast<std::uint64_t>(m));
    // All huge, all tiny, and of every size beside each other.
    for (const int least : {-kMost, kMost, -kMost / 2}) {
      auto a = this->well_conditioned(m, n);
      for (Index j = 0; j < n; ++j) {
        const int exponent =
            least == -kMost / 2 ? static_cast<int>(random.integer(-kMost, kMost)) : least;
        for (Index i = 0; i < m; ++i) a(i, j) *= this->power_of_two(exponent);
      }
      this->factors(a);
    }
  }
}

/// What is below the diagonal counts even where its square is nothing: it decides on the sign.
TYPED_TEST(QrContract, SafeForWhatIsTinyBesideTheDiagonal) {
  using T = TypeParam;
  constexpr int kLeast = std::numeric_limits<Real<T>>::min_exponent;
  for (const int exponent : {kLeast / 4, kLeast / 2, kLeast * 3 / 4, kLeast}) {
    for (const Index m : {5, 300}) {
      SCOPED_TRACE(testing::Message() << m << " rows, 2^" << exponent);
      const Index n = 4;
      auto a = random_matrix<T>(m, n, 1, 2);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          if (i > j) a(i, j) *= this->power_of_two(exponent);
        }
        a(j, j) = T(j % 2 == 0 ? 1 : -1);
      }
      const auto panel = this->factor(a);
      this->expect_form(panel);
      EXPECT_LT(this->difference(panel), 1000);
      for (Index j = 0; j < n; ++j) {
        EXPECT_EQ(real(panel.factor(j, j)) < 0, real(a(j, j)) > 0) << j;
        EXPECT_NEAR(static_cast<double>(real(panel.tau(j, 0))), 2, 1e-3);
      }
    }
  }
}

TYPED_TEST(QrContract, NothingIsReflectedWhereThereIsNothingBelow) {
  using T = TypeParam;
  for (const Index m : {4, 70, 300}) {
    const Index n = 4;
    auto a = random_matrix<T>(m, n, 3, 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = j + 1; i < m; ++i) a(i, j) = T(0);
      a(j, j) = T(real(a(j, j)));
    }
    a(2, 2) = T(0);  // a column of which nothing is left
    const auto panel = this->factor(a);
    this->expect_form(panel);
    EXPECT_TRUE(equal_elements(panel.factor, a));
    for (Index j = 0; j < n; ++j) EXPECT_EQ(panel.tau(j, 0), T(0));
    EXPECT_TRUE(all_elements({n, n}, [&](Index i, Index j) { return panel.t(i, j) == T(0); }));
  }
  if constexpr (is_complex<T>) {  // but R's diagonal becomes real
    auto a = random_matrix<T>(50, 1, 3, 1);
    for (Index i = 1; i < 50; ++i) a(i, 0) = T(0);
    a(0, 0) = T(3, 4);
    const auto panel = this->factor(a);
    this->expect_form(panel);
    EXPECT_LT(this->difference(panel), 10);
    EXPECT_LT(std::abs(panel.factor(0, 0) + T(5)), 10 * epsilon<T>());
  }
}

TYPED_TEST(QrContract, ZerosAndDependentColumnsAreNoFailure) {
  using T = TypeParam;
  for (const Index m : {40, 300}) {
    const Index n = std::min<Index>(this->width(m), 8);
    auto a = random_matrix<T>(m, n, 5, 2);
    for (Index i = 0; i < m; ++i) {
      a(i, 1) = T(0);
      if (n > 3) a(i, 3) = a(i, 0) + a(i, 2);
      if (n > 5) a(i, 5) = T(0);
    }
    auto panel = this->factor(a);
    this->expect_form(panel);
    EXPECT_LT(this->error_of_qr(panel), kThreshold);
    EXPECT_LT(this->error_of_t(panel), 10 * kThreshold);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) a(i, j) = T(0);
    }
    panel = this->factor(a);
    this->expect_form(panel);
    EXPECT_TRUE(equal_elements(panel.factor, a));
  }
}

TYPED_TEST(QrContract, WhatIsNotFiniteStaysInItsColumnAndThoseBehind) {
  using T = TypeParam;
  for (const Index m : {40, 300}) {
    const Index n = 4, column = 2;
    const auto a = random_matrix<T>(m, n, 7, 2);
    const auto finite = this->factor(a);
    for (const T bad : {nan<T>(), infinity<T>()}) {
      for (const Index row : {Index{0}, column, Index{m - 1}}) {
        SCOPED_TRACE(testing::Message() << m << " rows, " << bad << " in row " << row);
        auto with = a;
        with(row, column) = bad;
        const auto panel = this->factor(with);
        EXPECT_TRUE(panel.factor.padding_untouched());
        for (Index j = 0; j < column; ++j) {
          for (Index i = 0; i < m; ++i) ASSERT_EQ(panel.factor(i, j), finite.factor(i, j)) << i;
        }
        bool any = false;
        for (Index i = 0; i < m; ++i) {
          any = any || !std::isfinite(abs1(panel.factor(i, column)));
        }
        EXPECT_TRUE(any) << "the bad number has vanished";
      }
    }
  }
}

TYPED_TEST(QrContract, ReflectsColumnsOfAllShapes) {
  for (const Index m : {1, 5, 33, 256, 257, 600}) {
    for (const Index k : {1, 5, 32, 40}) {
      for (const Index n : {1, 7, 8, 9, 50}) {
        if (k <= m) this->reflects(m, k, n);
      }
    }
  }
  if (this->device().emulated()) return;
  for (const Index m : {2048, 2049, 4097, 8193, 16384, 16385}) {
    for (const Index n : {1, 64, 512, 513}) this->reflects(m, 32, n);
  }
}

TYPED_TEST(QrContract, ReflectsAndFactorsPanelsOfAllShapes) {
  std::vector<Index> rows = {1, 5, 33, 127, 128, 129, 256, 257, 600, 2049};
  if (!this->device().emulated()) {
    rows.insert(rows.end(), {4000, 4096, 4097, 8192, 8193, 16384, 16385});
  }
  for (const Index m : rows) {
    const Index most = std::min(m, this->width(m));
    for (const Index n : {Index{1}, most / 2, most}) {
      for (const Index k : {1, 5, 16, 32}) {
        if (n > 0 && k <= this->width(m + k)) this->reflects_and_factors(m + k, k, n);
      }
    }
  }
}

TYPED_TEST(QrContract, WhatIsNotFiniteStaysInItsColumnOfAReflection) {
  using T = TypeParam;
  const Index m = 300, k = 20, n = 12, column = 5;
  const auto v = this->upload(random_matrix<T>(m, k, 1)),
             t = this->upload(random_matrix<T>(k, k, 2));
  const auto work = this->upload(Padded<T>(2 * k, n));
  const auto reflected = [&](const Padded<T>& c) {
    const auto dc = this->upload(c);
    this->queue().enqueue(Reflect<T>{Op::conj_trans, v, t, dc, work});
    return this->download(dc);
  };
  auto c = random_matrix<T>(m, n, 3);
  const auto finite = reflected(c);
  c(123, column) = nan<T>();
  const auto got = reflected(c);
  EXPECT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
    return j == column ? is_nan(got(i, j)) : got(i, j) == finite(i, j);
  }));
}

TYPED_TEST(QrContract, TheSamePanelGivesTheSameBits) {
  for (const Index m : {100, 1000}) {
    const auto a = this->well_conditioned(m, this->width(m));
    const auto first = this->factor(a), again = this->factor(a);
    EXPECT_TRUE(same_bits(first.factor, again.factor));
    EXPECT_TRUE(same_bits(first.t, again.t));
  }
}

}  // namespace
}  // namespace overlapack
