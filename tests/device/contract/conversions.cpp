// Rounding, widening, mirroring.
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

template <class T>
class MixedContract : public DeviceContract<T> {
 protected:
  void SetUp() override {
    DeviceContract<T>::SetUp();
    if (!this->IsSkipped() && this->kernels().rounding() == nullptr) {
      GTEST_SKIP() << "this device has no other formats to round to";
    }
  }
};
TYPED_TEST_SUITE(MixedContract, DoublePrecisions);

struct PartCase {
  Shape shape;
  Part part;

  std::string name() const {
    return (testing::Message() << shape << ", " << name_of(part)).GetString();
  }
};
constexpr Shape kShapes[] = {{1, 1}, {7, 5}, {5, 9}, {300, 40}, {5000, 3}};

TYPED_TEST(MixedContract, RoundsAPart) {
  using T = TypeParam;
  for (const PartCase& c : cross<PartCase>(kShapes, kParts)) {
    SCOPED_TRACE(c.name());
    const auto [m, n] = c.shape;
    const auto a = random_matrix<T>(m, n, 1, 2);
    const auto to = this->upload(Padded<Single<T>>(m, n, 3));
    const auto overflow = this->upload_index(0);
    this->queue().enqueue(Round<T>{c.part, this->upload(a), to, overflow});
    const auto rounded = this->download(to);
    EXPECT_TRUE(all_elements(c.shape, [&](Index i, Index j) {
      const bool counts = inside(c.part, i, j);
      return rounded(i, j) == (counts ? static_cast<Single<T>>(a(i, j)) : sentinel<Single<T>>());
    }));
    EXPECT_TRUE(rounded.padding_untouched());
    EXPECT_EQ(this->download_index(overflow), 0);
  }
}

/// A number among others.
struct WordsCase {
  Shape shape;
  struct Number {
    double number;
    bool overflows;
  } special;
  Part part;

  std::string name() const {
    return (testing::Message() << shape << ", " << name_of(part) << " with " << special.number)
        .GetString();
  }
};

/// Is x what becomes of y's high words: towards zero, to 21 bits? Numbers that have no more are as
/// they were.
template <class T>
bool is_cut_off(Single<T> x, T y) {
  if (is_nan(y) || std::abs(y) >= double(std::numeric_limits<float>::max()) / 2) return true;
  return std::abs(T(x) - y) <= 0x1p-20 * std::abs(y) + 0x1p-149 && (std::abs(y) != 3 || T(x) == y);
}

TYPED_TEST(MixedContract, RoundsHighWordsAndJoinsThemWithTheLowOnes) {
  using T = TypeParam;
  const double largest = std::numeric_limits<float>::max(), inf = infinity<double>();
  const WordsCase::Number numbers[] = {
      {0, false},      {-3, false}, {largest, false},      {std::nextafter(largest, inf), true},
      {1e-310, false}, {inf, true}, {nan<double>(), false}};
  for (const WordsCase& c : cross<WordsCase>(kShapes, numbers, kParts)) {
    SCOPED_TRACE(c.name());
    const auto [m, n] = c.shape;
    auto a = random_matrix<T>(m, n, 1, 2);
    a(m - 1, n - 1) = scalar<T>(1, c.special.number);
    a(0, 0) = T(c.special.number);
    const auto high = this->upload(words_of(a, Words::high)),
               low = this->upload(words_of(a, Words::low));
    const auto rounded = this->upload(Padded<Single<T>>(m, n, 3));
    const auto joined = this->upload(Padded<T>(m, n, 1));
    const auto overflow = this->upload_index(0);
    this->queue().enqueue(RoundHigh<T>{c.part, high, rounded});
    this->queue().enqueue(Join<T>{c.part, high, low, joined, overflow});
    const auto singles = this->download(rounded);
    const auto doubles = this->download(joined);
    EXPECT_TRUE(all_elements(c.shape, [&](Index i, Index j) {
      const bool counts = inside(c.part, i, j);
      const T expected = counts ? a(i, j) : sentinel<T>();
      return std::memcmp(&doubles(i, j), &expected, sizeof(T)) == 0 &&
             (counts ? is_cut_off<T>(singles(i, j), expected)
                     : singles(i, j) == sentinel<Single<T>>());
    }));
    EXPECT_TRUE(singles.padding_untouched());
    EXPECT_TRUE(doubles.padding_untouched());
    EXPECT_EQ(this->download_index(overflow), c.special.overflows ? 1 : 0);
  }
}

TYPED_TEST(MixedContract, ScalesByPowersOfTwo) {
  using T = TypeParam;
  using R = Real<T>;
  const Index m = 300, n = 40;
  // Each with the power of two above it.
  constexpr R kInfinity = std::numeric_limits<R>::infinity();
  const std::pair<R, R> known[] = {
      {1, 2},        {0.75, 1}, {-0.5, 1},      {1e30, 0x1p100},    {3e-9, 0x1p-28}, {0, 1},
      {nan<R>(), 1}, {5, 8},    {kInfinity, 1}, {1e-310, 0x1p-500}, {1e300, 0x1p500}};
  constexpr Index kKnown = std::size(known);
  auto a = random_matrix<T>(m, n, 1, 2);
  a(1, 1) = T(1e30);
  Padded<R> sizes(m, 1);
  for (Index i = 0; i < m; ++i) sizes(i, 0) = known[i % kKnown].first;
  const auto power = [&](Index i) { return known[i % kKnown].second; };
  const auto from = this->upload(a);
  const auto row_sizes = this->upload(sizes);
  const DeviceView<R> column_sizes = row_sizes.view.block(0, 0, n, 1);
  const auto overflow = this->upload_index(0);
  for (const Part part : {Part::all, Part::lower}) {
    for (const bool by_rows : {false, true}) {
      const auto to = this->upload(Padded<Single<T>>(m, n, 3));
      this->queue().enqueue(Round<T>{
          part, from, to, overflow,
          by_rows ? DeviceView<const R>(row_sizes.view) : DeviceView<const R>(), column_sizes});
      const auto got = this->download(to);
      EXPECT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
        const auto scaled = a(i, j) / (power(j) * (by_rows ? power(i) : 1));
        return !inside(part, i, j) || got(i, j) == static_cast<Single<T>>(scaled);
      }));
      EXPECT_TRUE(got.padding_untouched());
    }
  }
  EXPECT_EQ(this->download_index(overflow), 0) << "it is not of the scaled numbers";

  const auto x = random_matrix<Single<T>>(m, 3, 2);
  const auto y = random_matrix<T>(m, 3, 3);
  const auto dx = this->upload(x), dy = this->upload(y);
  this->queue().enqueue(Widen<T>{dx, T(1), dy, row_sizes});
  const auto sum = this->download(dy);
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < m; ++i) {
      const T expected = T(x(i, j)) / power(i) + y(i, j);
      ASSERT_LE(std::abs(sum(i, j) - expected), 2 * epsilon<T>() * std::abs(expected));
    }
  }
}

TYPED_TEST(MixedContract, RoundingReportsWhatOverflows) {
  using T = TypeParam;
  const Index m = 700, n = 20;
  const double largest = std::numeric_limits<float>::max();
  const double beyond = std::nextafter(largest, 1e300);
  const double inf = std::numeric_limits<double>::infinity();
  const struct {
    T number;
    bool overflows;
  } cases[] = {{T(largest), false},
               {T(-largest), false},
               {T(beyond), true},
               {T(-beyond), true},
               {T(inf), true},
               {T(-inf), true},
               {nan<T>(), false},
               {T(1e-300), false},
               {scalar<T>(is_complex<T> ? 0 : beyond, -beyond), true}};
  for (const auto& c : cases) {
    for (const Part part : kParts) {
      for (const auto& [i, j] : {std::pair<Index, Index>{500, 3}, {3, 17}, {7, 7}}) {
        auto a = random_matrix<T>(m, n, 1);
        a(i, j) = c.number;
        const auto from = this->upload(a);
        const auto to = this->upload(Padded<Single<T>>(m, n));
        const auto overflow = this->upload_index(0);
        this->queue().enqueue(Round<T>{part, from, to, overflow});
        EXPECT_EQ(this->download_index(overflow), c.overflows && inside(part, i, j) ? 1 : 0)
            << c.number << ", " << name_of(part) << " at " << i << "," << j;
      }
    }
  }
  const auto overflow = this->upload_index(1);  // stays
  const auto from = this->upload(random_matrix<T>(1, 1, 1));
  const auto to = this->upload(Padded<Single<T>>(1, 1));
  this->queue().enqueue(Round<T>{Part::all, from, to, overflow});
  EXPECT_EQ(this->download_index(overflow), 1);
}

TYPED_TEST(MixedContract, WidensAndAdds) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {7, 5}, {5000, 3}, {300, 70}}) {
    const auto a = random_matrix<Single<T>>(m, n, 1, 2);
    const auto b = random_matrix<T>(m, n, 2, 1);
    const auto from = this->upload(a);
    for (const T beta : {T(0), T(1), T(-2)}) {
      auto before = b;
      if (beta == T(0)) before(0, 0) = nan<T>();  // not read
      const auto to = this->upload(before);
      this->queue().enqueue(Widen<T>{from, beta, to});
      const auto got = this->download(to);
      EXPECT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
        const T x(a(i, j));
        const T expected = beta == T(0) ? x : x + beta * before(i, j);
        const bool exact = beta == T(0) || beta == T(1);
        return std::abs(got(i, j) - expected) <= (exact ? 0 : 8 * epsilon<T>());
      }));
      EXPECT_TRUE(got.padding_untouched());
    }
  }
}

template <class T>
class MirrorContract : public DeviceContract<T> {};
TYPED_TEST_SUITE(MirrorContract, Precisions);

TYPED_TEST(MirrorContract, MirrorsATriangle) {
  using T = TypeParam;
  for (const Index n : {1, 2, 31, 32, 33, 64, 100, 257}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << " " << char(uplo));
      const auto a = random_matrix<T>(n, n, 1, 2);
      const auto expected = widen_hermitian<T>(uplo, a.view());
      auto triangle = a;
      triangle.forbid_other_triangle(uplo);
      const auto on_device = this->upload(triangle);
      this->queue().enqueue(Mirror<T>{uplo, on_device});
      const auto got = this->download(on_device);
      EXPECT_EQ(max_difference(got, expected), 0);
      EXPECT_TRUE(got.padding_untouched());
    }
  }
}

}  // namespace
}  // namespace overlapack
