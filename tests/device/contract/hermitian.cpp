// sytrd_panel, sytrd, turn_triangle.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/householder.hpp"
#include "device/contract/contract.hpp"
#include "device/reference/panels.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// The operands of sytrd_panel, as it leaves them, or as it is given them. Of sytrd V is that in A,
/// and W is zero.
template <class T>
struct ReductionPanel {
  Padded<T> a, v, w;
  Padded<Real<T>> d, e;
  Padded<T> tau;
  bool has_w = true;

  Index order() const { return a.rows(); }
  Index columns() const { return d.rows(); }
  Index steps() const { return v.cols(); }
};

template <class T>
class SytrdContract : public DeviceContract<T> {
 protected:
  using W = Wide<T>;

  Index width() { return this->kernels().limits().sytrd_panel_width; }

  static Index steps(Index n, Index columns) { return std::min(columns, n - 1); }

  ReductionPanel<T> reduce(const Padded<T>& a, Index columns) {
    const Index n = a.rows(), k = steps(n, columns);
    const auto da = this->upload(a), v = this->upload(Padded<T>(n, k, 3)),
               w = this->upload(Padded<T>(n, k, 1)), tau = this->upload(Padded<T>(k, 1, 1));
    const auto d = this->upload(Padded<Real<T>>(columns, 1, 1)),
               e = this->upload(Padded<Real<T>>(k, 1, 1));
    const auto work = this->upload(Padded<T>(this->kernels().sytrd_work(n), 1, 2));
    this->queue().enqueue(SytrdPanel<T>{da, v, w, d, e, tau, work});
    EXPECT_TRUE(this->download(work).padding_untouched());
    return {this->download(da), this->download(v), this->download(w),
            this->download(d),  this->download(e), this->download(tau)};
  }

  ReductionPanel<T> reduce_whole(const Padded<T>& a) {
    const Index n = a.rows(), k = n - 1;
    const auto da = this->upload(a), tau = this->upload(Padded<T>(k, 1, 1));
    const auto d = this->upload(Padded<Real<T>>(n, 1, 1)),
               e = this->upload(Padded<Real<T>>(k, 1, 1));
    const auto work = this->upload(Padded<T>(this->kernels().sytrd_work(n), 1, 2));
    this->queue().enqueue(Sytrd<T>{da, d, e, tau, work});
    EXPECT_TRUE(this->download(work).padding_untouched());
    auto result = this->download(da);
    Padded<T> v(n, k), w(n, k);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < n; ++i) {
        v(i, j) = i > j + 1 ? result(i, j) : T(i == j + 1);
        w(i, j) = T(0);
      }
    }
    return {std::move(result), std::move(v),        std::move(w), this->download(d),
            this->download(e), this->download(tau), false};
  }

  /// What textbook loops leave, in double precision.
  static ReductionPanel<W> expected(const Padded<T>& a, Index columns) {
    const Index n = a.rows(), k = steps(n, columns);
    ReductionPanel<W> x{widen<T>(a.view()), {n, k}, {n, k},
                        {columns, 1},       {k, 1}, {std::max<Index>(k, 0), 1}};
    const auto there = [](auto& matrix) { return on_device(matrix.view()); };
    reference::on_cpu(SytrdPanel<W>{
        there(x.a), there(x.v), there(x.w), there(x.d), there(x.e), there(x.tau), {}});
    return x;
  }

  /// What is known exactly: zeros and ones of V, zeros of W, what stands twice, and what is left
  /// alone.
  static void expect_form(const Padded<T>& before, const ReductionPanel<T>& x) {
    EXPECT_TRUE(x.a.padding_untouched() && x.v.padding_untouched() && x.w.padding_untouched());
    EXPECT_TRUE(x.d.padding_untouched() && x.e.padding_untouched() && x.tau.padding_untouched());
    EXPECT_TRUE(all_elements({x.order(), x.order()}, [&](Index i, Index j) {
      const bool left_alone = i < j || j >= x.columns();
      const T right = left_alone   ? before(i, j)
                      : i == j     ? T(x.d(j, 0))
                      : i == j + 1 ? T(x.e(j, 0))
                                   : x.v(i, j);
      return x.a(i, j) == right;
    })) << "in A";
    EXPECT_TRUE(all_elements({x.order(), x.steps()}, [&](Index i, Index j) {
      return i > j + 1 || (x.v(i, j) == T(i == j + 1) && (i > j || x.w(i, j) == T(0)));
    })) << "in V and W";
  }

  /// ||Q^H A Q - (A - V W^H - W V^H)|| / (n ||A|| eps), where d and e stand for what they are.
  static double residual(const Padded<T>& before, const ReductionPanel<T>& x) {
    const Index n = x.order();
    const auto a = widen_hermitian<T>(Uplo::lower, before.view());
    const auto v = widen<T>(x.v.view()), w = widen<T>(x.w.view());
    auto reduced = rest(rest(a, Op::none, v, Op::conj_trans, w), Op::none, w, Op::conj_trans, v);
    for (Index j = 0; j < x.columns(); ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool beside = i == j + 1 || i + 1 == j;
        const W value = i == j ? W(x.d(j, 0)) : beside ? W(x.e(std::min(i, j), 0)) : W(0);
        reduced(i, j) = value;
        reduced(j, i) = value;
      }
    }
    Padded<W> q(n, n), aq(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) q(i, j) = W(i == j);
    }
    for (Index j = x.steps() - 1; j >= 0; --j) {
      reference::apply_householder<W>(W(x.tau(j, 0)), &v(j + 1, j),
                                      q.view().block(j + 1, j + 1, n - j - 1, n - j - 1));
    }
    reference::gemm<W>(Op::none, Op::none, W(1), a.view(), q.view(), W(0), aq.view());
    return scaled(norm1(rest(reduced, Op::conj_trans, q, Op::none, aq)),
                  static_cast<double>(n) * norm1(a), epsilon<T>());
  }

  /// The largest difference to the textbook in units of eps, as compared with the size of A, or
  /// with 1.
  static double difference(const Padded<T>& before, const ReductionPanel<T>& x) {
    const auto right = expected(before, x.columns());
    double size = 0, worst = 0;
    for (Index j = 0; j < x.order(); ++j) {
      for (Index i = j; i < x.order(); ++i) {
        size = std::max(size, static_cast<double>(std::abs(before(i, j))));
      }
    }
    const auto take = [&](auto got, auto exact, double unit) {
      const double error = std::abs(W(got) - W(exact));
      worst = reference::max_or_nan(worst, scaled(error, unit, epsilon<T>()));
    };
    for (Index j = 0; j < x.columns(); ++j) take(x.d(j, 0), right.d(j, 0), size);
    for (Index j = 0; j < x.steps(); ++j) {
      take(x.e(j, 0), right.e(j, 0), size);
      take(x.tau(j, 0), right.tau(j, 0), 1);
      for (Index i = 0; i < x.order(); ++i) {
        take(x.v(i, j), right.v(i, j), 1);
        if (x.has_w) take(x.w(i, j), right.w(i, j), size);
      }
    }
    return worst;
  }

  /// Of which reflectors depend little on its last digits: with large numbers beside the diagonal.
  static Padded<T> well_conditioned(Index n) {
    auto a = random_matrix<T>(n, n, static_cast<std::uint64_t>(n), n % 3);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) a(i, j) /= static_cast<Real<T>>(8);
      if (j + 1 < n) a(j + 1, j) += phase<T>(j) * T(static_cast<Real<T>>(j % 3 == 1 ? -4 : 4));
    }
    a.forbid_other_triangle(Uplo::lower);
    return a;
  }
  void reduces(const Padded<T>& a, Index columns) {
    SCOPED_TRACE(testing::Message() << "order " << a.rows() << ", columns " << columns);
    const auto panel = reduce(a, columns);
    expect_form(a, panel);
    // The elements of T depend on rounding errors, the more the later they are. Whether it is right
    // the residual says.
    EXPECT_LT(difference(a, panel),
              1000 * static_cast<double>(columns + 10) * std::sqrt(static_cast<double>(a.rows())));
    if (a.rows() > kMostOfResidual) return;  // which would take long
    EXPECT_LT(residual(a, panel), kThreshold);
  }
  void reduces_whole(const Padded<T>& a) {
    SCOPED_TRACE(testing::Message() << "order " << a.rows());
    const auto whole = reduce_whole(a);
    expect_form(a, whole);
    const auto n = static_cast<double>(a.rows());
    EXPECT_LT(difference(a, whole), 1000 * (n + 10) * std::sqrt(n));
    if (a.rows() > kMostOfResidual) return;
    EXPECT_LT(residual(a, whole), kThreshold);
  }
  /// Up to which order there is an operation for all of a reduction.
  Index most() { return this->kernels().limits().sytrd_order; }

  static constexpr Index kMostOfResidual = 300;

  /// With 2 beside the diagonal, and zeros or the smallest numbers below that.
  static Padded<T> tiny_below_twos(Index n, bool is_zero) {
    auto a = well_conditioned(n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = j + 2; i < n; ++i) {
        a(i, j) = is_zero ? T(0) : T(std::numeric_limits<Real<T>>::min());
      }
      if (j + 1 < n) a(j + 1, j) = T(2);
    }
    return a;
  }
  static void scale_all(Padded<T>& a, int exponent) {
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = j; i < a.rows(); ++i) a(i, j) *= std::ldexp(Real<T>(1), exponent);
    }
  }
};
TYPED_TEST_SUITE(SytrdContract, Precisions);

TYPED_TEST(SytrdContract, ReducesPanelsOfAllShapes) {
  std::vector<Index> orders = {1,  2,  3,   5,   31,  32,  33,  63,  64,  65,
                               66, 97, 127, 128, 129, 160, 192, 193, 255, 300};
  if (!this->device().emulated()) orders.insert(orders.end(), {511, 1000, 1537, 2048, 3001});
  for (const Index n : orders) {
    const Index most = std::min(n, this->width());
    for (const Index columns : {Index{1}, most / 2, most - 1, most}) {
      if (columns > 0) this->reduces(this->well_conditioned(n), columns);
    }
  }
}

// For racecheck, under which the shapes above would take an hour.
TYPED_TEST(SytrdContract, ReducesPanelsOfFewBlocks) {
  for (const Index n : {40, 140, 300}) this->reduces(this->well_conditioned(n), 5);
}

TYPED_TEST(SytrdContract, SafeForNumbersOfAnySize) {
  constexpr int kMost = std::numeric_limits<Real<TypeParam>>::max_exponent - 12;
  for (const int exponent : {-kMost, kMost}) {
    auto a = this->well_conditioned(100);
    this->scale_all(a, exponent);
    const auto panel = this->reduce(a, std::min<Index>(this->width(), 20));
    EXPECT_LT(this->difference(a, panel), 1e4) << exponent;
  }
}

/// What is below counts even where its square is nothing: it decides on the sign.
TYPED_TEST(SytrdContract, SafeForWhatIsTinyBesideTheSubdiagonal) {
  using T = TypeParam;
  const Index n = 70;
  for (const bool is_zero : {false, true}) {
    const auto a = this->tiny_below_twos(n, is_zero);
    const auto panel = this->reduce(a, this->width());
    this->expect_form(a, panel);
    for (Index j = 0; j < panel.steps(); ++j) {
      EXPECT_EQ(std::abs(panel.tau(j, 0)), is_zero ? Real<T>(0) : Real<T>(2)) << j;
      EXPECT_EQ(std::abs(panel.e(j, 0)), Real<T>(2)) << j;
    }
  }
}

TYPED_TEST(SytrdContract, NumbersThatAreNotFiniteEndInNaNs) {
  using T = TypeParam;
  for (const bool infinite : {false, true}) {
    auto a = this->well_conditioned(100);
    a(50, 0) = infinite ? T(std::numeric_limits<Real<T>>::infinity()) : nan<T>();
    const auto panel = this->reduce(a, std::min<Index>(this->width(), 4));
    EXPECT_TRUE(std::isnan(panel.d(1, 0)));
    EXPECT_TRUE(panel.a.padding_untouched());
  }
}

TYPED_TEST(SytrdContract, ImaginaryPartsOfTheDiagonalAreIgnored) {
  using T = TypeParam;
  if (!is_complex<T>) return;
  auto a = this->well_conditioned(100);
  for (Index j = 0; j < a.cols(); ++j) a(j, j) = T(real(a(j, j)));
  const auto right = this->reduce(a, this->width());
  for (Index j = 0; j < a.cols(); ++j) a(j, j) = scalar<T>(real(a(j, j)), nan<double>());
  const auto panel = this->reduce(a, this->width());
  EXPECT_TRUE(equal_elements(panel.d, right.d));
  EXPECT_TRUE(equal_elements(panel.v, right.v));
  EXPECT_TRUE(equal_elements(panel.w, right.w));
}

TYPED_TEST(SytrdContract, TheSameBitsEachTime) {
  const auto a = this->well_conditioned(250);
  const auto first = this->reduce(a, this->width());
  for (int round = 0; round < 5; ++round) {
    const auto again = this->reduce(a, this->width());
    EXPECT_TRUE(same_bits(first.w, again.w));
    EXPECT_TRUE(same_bits(first.a, again.a));
  }
}

TYPED_TEST(SytrdContract, ReducesWholeMatrices) {
  const Index most = this->most();
  if (most == 0) GTEST_SKIP() << "this device has panels only";
  for (const Index n :
       {1, 2, 3, 5, 15, 16, 17, 20, 31, 32, 33, 63, 64, 65, 97, 128, 129, 200, 300}) {
    if (n <= most) this->reduces_whole(this->well_conditioned(n));
  }
  if (most > 1000) this->reduces_whole(this->well_conditioned(1000));
  // The largest one, whose residual would take long, twice.
  const auto a = this->well_conditioned(most);
  const auto first = this->reduce_whole(a), again = this->reduce_whole(a);
  EXPECT_TRUE(same_bits(first.a, again.a));
  EXPECT_TRUE(same_bits(first.d, again.d));
  const double n = static_cast<double>(most);
  double trace = 0, expected = 0, size = 0;
  for (Index j = 0; j < most; ++j) {
    trace += static_cast<double>(first.d(j, 0));
    expected += static_cast<double>(real(a(j, j)));
    size = std::max(size, std::abs(static_cast<double>(first.d(j, 0))));
  }
  EXPECT_NEAR(trace, expected, 100 * n * size * epsilon<TypeParam>());
}

TYPED_TEST(SytrdContract, WholeMatricesOfNumbersOfAnySize) {
  using T = TypeParam;
  constexpr int kMost = std::numeric_limits<Real<T>>::max_exponent - 12;
  if (this->most() == 0) GTEST_SKIP() << "this device has panels only";
  const Index n = std::min<Index>(this->most(), 70);
  for (const int exponent : {-kMost, kMost}) {
    auto a = this->well_conditioned(n);
    this->scale_all(a, exponent);
    EXPECT_LT(this->difference(a, this->reduce_whole(a)), 1e4) << exponent;
  }
  for (const bool is_zero : {false, true}) {
    const auto a = this->tiny_below_twos(n, is_zero);
    const auto whole = this->reduce_whole(a);
    this->expect_form(a, whole);
    for (Index j = 0; j + 2 < n; ++j) {
      EXPECT_EQ(std::abs(whole.tau(j, 0)), is_zero ? Real<T>(0) : Real<T>(2)) << j;
      EXPECT_EQ(std::abs(whole.e(j, 0)), Real<T>(2)) << j;
    }
  }
  auto a = this->well_conditioned(n);
  a(n / 2, 0) = nan<T>();
  EXPECT_TRUE(std::isnan(this->reduce_whole(a).d(1, 0)));
}

// For racecheck.
TYPED_TEST(SytrdContract, ReducesSmallWholeMatrices) {
  for (const Index n : {20, 150}) {
    if (n <= this->most()) this->reduces_whole(this->well_conditioned(n));
  }
}

TYPED_TEST(SytrdContract, TurnsATriangle) {
  using T = TypeParam;
  for (const Index n : {1, 2, 3, 32, 100, 255, 256, 257, 300}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << static_cast<char>(uplo));
      const auto a = random_matrix<T>(n, n, 1, 2);
      const auto there = this->upload(a);
      this->queue().enqueue(TurnTriangle<T>{uplo, there});
      const auto result = this->download(there);
      EXPECT_TRUE(result.padding_untouched());
      EXPECT_TRUE(all_elements({n, n}, [&](Index i, Index j) {
        const bool given = i != j && inside(part_of(uplo), i, j);
        return result(i, j) == (given ? a(i, j) : a(n - 1 - i, n - 1 - j));
      }));
    }
  }
}

}  // namespace
}  // namespace overlapack
