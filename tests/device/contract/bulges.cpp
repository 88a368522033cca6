// chase_bulges, bulge_factors, reflect_bulges.
#include "device/reference/bulges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/householder.hpp"
#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// A band matrix as chase_bulges is given it, or what it leaves.
template <class T>
struct Chase {
  Index width;
  Padded<T> band;
  Padded<Real<T>> d, e;
  Padded<T> v;

  Index order() const { return band.cols(); }
};

template <class T>
class BulgesContract : public DeviceContract<T> {
 protected:
  using W = Wide<T>;
  using R = Real<T>;

  Index widest() { return this->kernels().limits().chase_bandwidth; }
  Index group(Index width) { return std::min(width, this->kernels().limits().bulge_group); }

  /// Random, and dense in the band. What is not to be referenced is sentinels.
  static Padded<T> random_band(Index n, Index width, Index padding = 0) {
    auto band = random_matrix<T>(2 * width, n, static_cast<std::uint64_t>(n + 3 * width), padding);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < 2 * width; ++i) {
        if (i > width) band(i, j) = T(0);
        if (i + j >= n) band(i, j) = sentinel<T>();
      }
    }
    return band;
  }

  static Padded<W> whole(const Padded<T>& band, Index width) {
    const Index n = band.cols();
    Padded<W> a(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = j; i < n; ++i) {
        a(i, j) = i - j <= width ? W(band(i - j, j)) : W(0);
        a(j, i) = conj(a(i, j));
      }
      a(j, j) = W(real(a(j, j)));
    }
    return a;
  }

  Chase<T> chase(const Padded<T>& band, Index width, bool vectors = true) {
    const Index n = band.cols(), order = vectors ? n : 0;
    const auto there = this->upload(band), v = this->upload(Padded<T>(order, order, n % 3));
    const auto d = this->upload(Padded<R>(n, 1, 1)), e = this->upload(Padded<R>(n - 1, 1, 1));
    const auto work = this->upload(Padded<T>(this->kernels().chase_work(), 1, 2));
    this->queue().enqueue(ChaseBulges<T>{width, there, d, e, v, work});
    EXPECT_TRUE(this->download(work).padding_untouched());
    Chase<T> result{width, this->download(there), this->download(d), this->download(e),
                    this->download(v)};
    EXPECT_TRUE(result.v.padding_untouched() && result.d.padding_untouched());
    EXPECT_TRUE(result.e.padding_untouched() && result.band.padding_untouched());
    return result;
  }

  /// By their definition, one by one, from the last to the first: Z := Q Z.
  static void apply_one_by_one(const Padded<W>& v, Index width, Padded<W>& z) {
    const Index n = v.rows();
    for (Index s = n - 2; s >= 0; --s) {
      for (Index first = s + 1; first < n; first += width) {
        const Index size = std::min(width, n - first);
        reference::apply_householder<W>(v(s, first), &v(first, s),
                                        z.view().block(first, 0, size, z.cols()));
      }
    }
  }

  /// Limits for ||Q T Q^H - B|| / (n ||B|| eps) and ||I - Q^H Q|| / (n eps).
  static constexpr double kMost = 10;

  void expect_reduced(const Padded<T>& band, const Chase<T>& x) {
    const Index n = x.order();
    const auto b = whole(band, x.width), v = widen<T>(x.v.view());
    EXPECT_TRUE(all_elements({n, n}, [&](Index i, Index j) {
      const bool first = i > j && (i - j - 1) % x.width == 0, of_tau = i < j && first_of(i, j, x);
      return first ? x.v(i, j) == T(1) : i > j || of_tau || x.v(i, j) == sentinel<T>();
    })) << "in V";
    auto q = widen<T>(unit_matrix<T>(n).view());
    apply_one_by_one(v, x.width, q);
    Padded<W> t(n, n), qt(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool beside = i == j + 1 || j == i + 1;
        t(i, j) = i == j ? W(x.d(i, 0)) : beside ? W(x.e(std::min(i, j), 0)) : W(0);
      }
    }
    reference::gemm<W>(Op::none, Op::none, W(1), q.view(), t.view(), W(0), qt.view());
    const double order = static_cast<double>(n);
    EXPECT_LT(
        scaled(norm1(rest(b, Op::none, qt, Op::conj_trans, q)), order * norm1(b), epsilon<T>()),
        kMost);
    EXPECT_LT(
        scaled(norm1(rest(widen<T>(unit_matrix<T>(n).view()), Op::conj_trans, q, Op::none, q)),
               order, epsilon<T>()),
        kMost);
  }
  static bool first_of(Index i, Index j, const Chase<T>& x) { return (j - i - 1) % x.width == 0; }

  void reduces(const Padded<T>& band, Index width) {
    SCOPED_TRACE(testing::Message() << "order " << band.cols() << ", width " << width);
    expect_reduced(band, chase(band, width));
  }

  std::vector<Index> widths() {
    std::vector<Index> all = {1, 2, 3, 8, 16};
    for (const Index width : {24, 31, 32, 33, 48, 63, 64}) {
      if (width <= widest() && !this->device().emulated()) all.push_back(width);
    }
    all.push_back(widest());
    return all;
  }

  /// Z := Q Z by the blocks, for reflectors that are given.
  Padded<T> multiply(const Chase<T>& x, const Padded<T>& z, Index group) {
    const auto v = this->upload(x.v), there = this->upload(z);
    const auto work =
        this->upload(Padded<T>(this->kernels().reflect_work(z.rows(), x.width), 1, 2));
    this->queue().enqueue(BulgeFactors<T>{x.width, group, v});
    this->queue().enqueue(ReflectBulges<T>{x.width, group, v, work, there});
    expect_factors(x, this->download(v), group);
    return this->download(there);
  }

  /// What the loops make of the same reflectors; what is no T stays as it is.
  static void expect_factors(const Chase<T>& x, const Padded<T>& v, Index group) {
    auto right = widen<T>(x.v.view());
    reference::on_cpu(BulgeFactors<W>{x.width, group, on_device(right.view())});
    EXPECT_TRUE(v.padding_untouched());
    EXPECT_TRUE(all_elements({v.rows(), v.cols()}, [&](Index i, Index j) {
      if (i >= j || right(i, j) == W(x.v(i, j))) return v(i, j) == x.v(i, j);
      return std::abs(W(v(i, j)) - right(i, j)) < 1000 * epsilon<T>();
    })) << "of the factors";
  }

  void multiplies(Index n, Index width, Index group, Index columns, Index padding) {
    SCOPED_TRACE(testing::Message() << "order " << n << ", width " << width << ", group " << group
                                    << ", columns " << columns);
    const auto x = chase(random_band(n, width), width);
    const auto z = random_matrix<T>(n, columns, 7, padding);
    const auto got = multiply(x, z, group);
    EXPECT_TRUE(got.padding_untouched());
    auto right = widen<T>(z.view());
    apply_one_by_one(widen<T>(x.v.view()), width, right);
    EXPECT_LT(max_difference(got, right),
              20 * std::sqrt(static_cast<double>(n)) * epsilon<T>() * (is_complex<T> ? 2 : 1));
  }
};
TYPED_TEST_SUITE(BulgesContract, Precisions);

TYPED_TEST(BulgesContract, ReducesBandsOfAllWidths) {
  for (const Index width : this->widths()) {
    std::vector<Index> orders = {1,         2,         3,         width - 1,     width,
                                 width + 1, width + 2, 2 * width, 2 * width + 1, 3 * width + 5};
    if (!this->device().emulated()) orders.insert(orders.end(), {200, 257});
    for (const Index n : orders) {
      if (n > 0) this->reduces(this->random_band(n, width, n % 3), width);
    }
  }
}

// On a GPU these have more sweeps than thread blocks.
TYPED_TEST(BulgesContract, ReducesLargerBands) {
  const bool emulated = this->device().emulated();
  this->reduces(this->random_band(emulated ? 90 : 400, 4), 4);
  this->reduces(this->random_band(emulated ? 100 : 500, 16), 16);
  this->reduces(this->random_band(emulated ? 77 : 700, this->widest()), this->widest());
}

TYPED_TEST(BulgesContract, NoReflectorsIfNobodyWantsThem) {
  for (const Index n : {1, 2, 60}) {
    const auto band = this->random_band(n, 8);
    const auto with = this->chase(band, 8), without = this->chase(band, 8, false);
    EXPECT_TRUE(equal_elements(with.d, without.d));
    EXPECT_TRUE(equal_elements(with.e, without.e));
  }
}

/// Reflectors are unit matrices then, but for phases of complex numbers.
TYPED_TEST(BulgesContract, LeavesWhatIsTridiagonal) {
  using T = TypeParam;
  const Index n = 50, width = 8;
  auto band = this->random_band(n, width);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 2; i <= width && i + j < n; ++i) band(i, j) = T(0);
  }
  const auto x = this->chase(band, width);
  this->expect_reduced(band, x);
  for (Index j = 0; j < n; ++j) {
    EXPECT_NEAR(x.d(j, 0), real(band(0, j)), is_complex<T> ? 100 * epsilon<T>() : 0);
    if (j + 1 == n) continue;
    EXPECT_NEAR(std::abs(x.e(j, 0)), std::abs(band(1, j)), 100 * epsilon<T>());
    if (is_complex<T>) continue;
    EXPECT_EQ(T(x.e(j, 0)), band(1, j));
  }
}

TYPED_TEST(BulgesContract, LeavesZeros) {
  using T = TypeParam;
  auto band = this->random_band(40, 8);
  for (Index j = 0; j < 40; ++j) {
    for (Index i = 0; i <= 8 && i + j < 40; ++i) band(i, j) = T(0);
  }
  const auto x = this->chase(band, 8);
  this->expect_reduced(band, x);
  for (Index j = 0; j < 40; ++j) EXPECT_EQ(x.d(j, 0), 0);
}

TYPED_TEST(BulgesContract, SafeForNumbersOfAnySize) {
  using T = TypeParam;
  constexpr int kMost = std::numeric_limits<Real<T>>::max_exponent - 12;
  const Index n = 60, width = 8;
  const auto band = this->random_band(n, width);
  const auto right = this->chase(band, width);
  for (const int exponent : {-kMost, kMost}) {
    auto scaled_band = band;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i <= width && i + j < n; ++i) {
        scaled_band(i, j) *= std::ldexp(Real<T>(1), exponent);
      }
    }
    const auto x = this->chase(scaled_band, width);
    for (Index j = 0; j < n; ++j) {
      EXPECT_NEAR(std::ldexp(x.d(j, 0), -exponent), right.d(j, 0), 1e5 * epsilon<T>()) << exponent;
    }
  }
}

/// What is below counts even where its square is nothing.
TYPED_TEST(BulgesContract, SafeForWhatIsTinyBesideTheSubdiagonal) {
  using T = TypeParam;
  const Index n = 40, width = 8;
  auto band = this->random_band(n, width);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 1; i <= width && i + j < n; ++i) {
      band(i, j) = i == 1 ? T(2) : T(std::numeric_limits<Real<T>>::min());
    }
  }
  const auto x = this->chase(band, width);
  this->expect_reduced(band, x);
  for (Index j = 0; j + 1 < n; ++j) EXPECT_EQ(std::abs(x.e(j, 0)), Real<T>(2)) << j;
}

TYPED_TEST(BulgesContract, NumbersThatAreNotFiniteDoNotStopIt) {
  using T = TypeParam;
  for (const bool infinite : {false, true}) {
    auto band = this->random_band(100, 8);
    band(3, 5) = infinite ? T(std::numeric_limits<Real<T>>::infinity()) : nan<T>();
    const auto x = this->chase(band, 8);
    EXPECT_TRUE(std::isnan(x.d(99, 0)));
    EXPECT_EQ(x.d(0, 0), real(band(0, 0)));
  }
}

TYPED_TEST(BulgesContract, ImaginaryPartsOfTheDiagonalAreIgnored) {
  using T = TypeParam;
  if (!is_complex<T>) return;
  auto band = this->random_band(60, 8);
  for (Index j = 0; j < 60; ++j) band(0, j) = T(real(band(0, j)));
  const auto right = this->chase(band, 8);
  for (Index j = 0; j < 60; ++j) band(0, j) = scalar<T>(real(band(0, j)), nan<double>());
  const auto x = this->chase(band, 8);
  EXPECT_TRUE(equal_elements(x.d, right.d));
  EXPECT_TRUE(equal_elements(x.e, right.e));
}

TYPED_TEST(BulgesContract, TheSameBitsEachTime) {
  const Index n = this->device().emulated() ? 60 : 600;
  const auto band = this->random_band(n, 16);
  const auto first = this->chase(band, 16);
  for (int round = 0; round < 5; ++round) {
    const auto again = this->chase(band, 16);
    EXPECT_TRUE(same_bits(first.v, again.v));
    EXPECT_TRUE(same_bits(first.d, again.d));
    EXPECT_TRUE(same_bits(first.e, again.e));
  }
}

TYPED_TEST(BulgesContract, MultipliesByAllReflectors) {
  for (const Index width : this->widths()) {
    const Index most = this->group(width);
    for (const Index group : {Index{1}, (most + 1) / 2, most}) {
      std::vector<Index> orders = {1, 2, 3, width, width + 1, 2 * width + 1, 3 * width + 5};
      if (!this->device().emulated()) orders.insert(orders.end(), {130, 257});
      for (const Index n : orders) this->multiplies(n, width, group, 3 + n % 5, n % 4);
    }
  }
}

TYPED_TEST(BulgesContract, MultipliesAnyNumberOfColumns) {
  const bool emulated = this->device().emulated();
  const Index width = this->widest(), group = this->group(width);
  for (const Index columns : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129, 200}) {
    if (!emulated || columns < 40) {
      this->multiplies(emulated ? 60 : 300, width, group, columns, columns % 3);
    }
  }
}

/// A GPU does it differently if it has fewer multiprocessors than these need otherwise.
TYPED_TEST(BulgesContract, MultipliesManyColumns) {
  const bool emulated = this->device().emulated();
  const Index width = this->widest();
  this->multiplies(emulated ? 30 : 150, width, this->group(width), emulated ? 300 : 9001, 2);
}

TYPED_TEST(BulgesContract, MultipliesInTheSameWayEachTime) {
  using T = TypeParam;
  const Index n = this->device().emulated() ? 70 : 500, width = this->widest();
  const auto x = this->chase(this->random_band(n, width), width);
  const auto z = random_matrix<T>(n, 40, 1);
  const auto first = this->multiply(x, z, this->group(width));
  const auto again = this->multiply(x, z, this->group(width));
  EXPECT_TRUE(same_bits(first, again));
}

}  // namespace
}  // namespace overlapack
