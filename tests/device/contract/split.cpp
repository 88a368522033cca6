// Products of split operands.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/contract/contract.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

template <class T>
class SplitContract : public DeviceContract<T> {
 protected:
  void SetUp() override {
    DeviceContract<T>::SetUp();
    if (!this->IsSkipped() && this->kernels().split_products() == nullptr) {
      GTEST_SKIP() << "this device has no products of split operands";
    }
  }

  /// A factor in split form, and what that depends on.
  struct Form {
    SplitForm form;
    Index summands;
    Padded<float> columns;
  };

  /// The split form of op(a), in sections of so many summands.
  Form split(Precision precision, Side side, Op op, const Padded<T>& a, Index padding = 0,
             Index section = 32) {
    const bool left = side == Side::left;
    const Index rows = op == Op::none ? a.rows() : a.cols();
    const Index cols = op == Op::none ? a.cols() : a.rows();
    const Index k = left ? cols : rows, n = left ? rows : cols;
    const SplitForm form = {precision, section};
    if (precision == Precision::fp32) padding *= 8;  // columns begin at multiples of 32 bytes
    const auto to =
        this->upload(Padded<float>(split_rows<T>(form, k), split_cols<T>(side, n), padding));
    this->queue().enqueue(Split<T>{form, side, op, this->upload(a), to});
    return {form, k, this->download(to)};
  }
  Padded<T> multiply(Real<T> alpha, const Form& a, const Form& b, Real<T> beta,
                     const Padded<T>& c) {
    const auto dc = this->upload(c);
    this->queue().enqueue(SplitGemm<T>{a.form, a.summands, alpha, this->upload(a.columns),
                                       this->upload(b.columns), beta, dc});
    return this->download(dc);
  }
};
using SinglePrecisions = testing::Types<float, std::complex<float>>;
TYPED_TEST_SUITE(SplitContract, SinglePrecisions);

/// The real numbers of which column c of the split form of x has the parts.
template <class W>
std::vector<float> numbers_of_column(Side side, const Padded<W>& x, Index c) {
  const bool left = side == Side::left;
  std::vector<float> numbers;
  const auto put = [&](double number) { numbers.push_back(static_cast<float>(number)); };
  for (Index l = 0; l < (left ? x.cols() : x.rows()); ++l) {
    if constexpr (is_complex<W>) {
      const W z = left ? x(c / 2, l) : x(l, c);
      const bool second = left && c % 2 == 1;
      put(second ? z.imag() : z.real());
      put(second ? z.real() : left ? -z.imag() : z.imag());
    } else {
      put(left ? x(c, l) : x(l, c));
    }
  }
  return numbers;
}

/// What a split form in one part makes of x, in double precision and by the definition.
double rounded(Precision precision, double x) {
  if (!std::isfinite(x) || x == 0) return x;
  if (precision == Precision::fp16) {
    const double unit = std::max(std::ldexp(1, std::ilogb(x) - 10), 0x1p-24);
    return std::clamp(std::nearbyint(x / unit) * unit, -65504., 65504.);  // to even
  }
  const double unit = std::ldexp(1, std::max(std::ilogb(x) - 10, -136));
  const double nearest = std::copysign(std::floor(std::abs(x) / unit + 0.5) * unit, x);
  return std::isfinite(static_cast<float>(nearest)) ? nearest : std::copysign(0x1.ffcp127, x);
}

/// Number i of those that share elements of a split form.
double fp16_number(const float* elements, Index i) {
  std::uint16_t two[2];
  std::memcpy(two, &elements[i / 2], sizeof two);
  const int bits = two[i % 2], exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                      : exponent == 0 ? fraction * 0x1p-24
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

bool same(double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y; }

constexpr Index kHeader = 32;  // the scale of a section, and zeros

/// Is this a section of a split form in FP32 of these numbers?
testing::AssertionResult holds_section(const float* section, const float* numbers, Index count) {
  double largest = 0;
  for (Index i = 0; i < count; ++i) {
    if (std::isfinite(numbers[i])) {
      largest = std::max(largest, std::abs(static_cast<double>(numbers[i])));
    }
  }
  const auto back = static_cast<double>(section[0]);
  int exponent;
  if (std::frexp(back, &exponent) != 0.5) {
    return testing::AssertionFailure() << back << " is no power of two";
  }
  const double stored = largest / back;
  if (stored >= 0x1p15 || (largest > 0 && stored < 0x1p14 && back != 0x1p-126)) {
    return testing::AssertionFailure() << "the largest is stored as " << stored;
  }
  for (Index i = 1; i < kHeader; ++i) {
    if (section[i] != 0) return testing::AssertionFailure() << "element " << i << " is not zero";
  }
  for (Index i = 0; i < (count + 31) / 32 * 32; ++i) {
    const float* const piece = section + kHeader + i / 32 * 32;
    const double high = fp16_number(piece, i % 32), low = fp16_number(piece + 16, i % 32);
    const double x = i < count ? static_cast<double>(numbers[i]) : 0;
    const double error = std::abs((high + low) * back - x);
    const bool right = std::isfinite(x)
                           ? same(high, rounded(Precision::fp16, x / back)) &&
                                 error <= std::max(0x1p-23 * std::abs(x), 0x1p-39 * largest)
                           : same(high, x) && low == 0;
    if (!right) {
      return testing::AssertionFailure()
             << "number " << i << ", " << x << ", is " << high << " + " << low << " times " << back;
    }
  }
  return testing::AssertionSuccess();
}

/// Does a column of a split form hold these numbers? `section` is in numbers.
testing::AssertionResult holds(Precision precision, const float* column,
                               const std::vector<float>& numbers, Index section) {
  const auto count = static_cast<Index>(numbers.size());
  if (precision == Precision::fp32) {
    for (Index i = 0; i < count; i += section) {
      const Index size = std::min(section, count - i);
      auto result = holds_section(column, &numbers[static_cast<std::size_t>(i)], size);
      if (!result) return result << ", in the section at " << i;
      column += kHeader + (size + 31) / 32 * 32;
    }
    return testing::AssertionSuccess();
  }
  const bool halves = precision == Precision::fp16;
  for (Index i = 0; i < count; ++i) {
    const float x = numbers[static_cast<std::size_t>(i)];
    const double number = halves ? fp16_number(column, i) : static_cast<double>(column[i]);
    if (!same(number, rounded(precision, static_cast<double>(x)))) {
      return testing::AssertionFailure() << "number " << i << ", " << x << ", became " << number;
    }
  }
  if (halves && count % 2 != 0 && fp16_number(column, count) != 0) {
    return testing::AssertionFailure() << "no zero at the end";
  }
  return testing::AssertionSuccess();
}

TYPED_TEST(SplitContract, SplitFormsRunAlongTheSummation) {
  using T = TypeParam;
  for (const Precision precision : kPrecisions) {
    for (const auto& [m, n] :
         {std::pair<Index, Index>{1, 1}, {5, 3}, {32, 32}, {33, 17}, {100, 130}, {7, 300}}) {
      for (const Index padding : {0, 1, 3}) {
        const auto a = random_matrix<T>(m, n, 1, padding);
        for (const Side side : {Side::left, Side::right}) {
          for (const Op op : kOps) {
            for (const Index section : {Index{7}, Index{32}, kSplitSection<T>}) {
              SCOPED_TRACE(testing::Message()
                           << name_of(precision) << " " << m << "x" << n << "+" << padding << " "
                           << char(side) << char(op) << ", sections of " << section);
              const auto form = this->split(precision, side, op, a, padding, section).columns;
              EXPECT_TRUE(form.padding_untouched());
              const auto factor = applied(op, a);
              for (Index c = 0; c < form.cols(); ++c) {
                ASSERT_TRUE(holds(precision, &form(0, c), numbers_of_column(side, factor, c),
                                  (is_complex<T> ? 2 : 1) * section))
                    << "column " << c;
              }
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(SplitContract, EveryNumberHasParts) {
  using T = TypeParam;
  using Limits = std::numeric_limits<float>;
  std::vector<float> numbers = {0.f, -0.f, 1.f, Limits::infinity(), Limits::quiet_NaN()};
  for (const float scale : {Limits::max(), Limits::min(), Limits::denorm_min(), 0x1p-100f,
                            0x1p-130f, 0x1.fffp+127f, 0x1.ffdffep+127f, 0x1.ffe001p+10f}) {
    for (const float factor : {1.f, 0.75f, 0.6789f, 0.50000006f}) numbers.push_back(scale * factor);
  }
  // Of FP16: its ends, and numbers between two others, of which an even one is taken.
  for (const float x : {65504.f, 65519.f, 65520.f, 1e5f, 0x1p-14f, 0x1.ffcp-15f, 0x1p-24f, 0x1p-25f,
                        0x1.8p-24f, 0x1.4p-23f, 0x1.002p0f, 0x1.006p0f, 0x1.003p0f, 2047.5f}) {
    numbers.push_back(x);
  }
  Padded<T> a(2 * static_cast<Index>(numbers.size()), 1);
  for (Index i = 0; i < a.rows(); ++i) {
    const float x = numbers[static_cast<std::size_t>(i / 2)] * (i % 2 == 0 ? 1.f : -1.f);
    if constexpr (is_complex<T>) {
      a(i, 0) = {x, numbers[static_cast<std::size_t>(a.rows() - 1 - i) / 2]};
    } else {
      a(i, 0) = x;
    }
  }
  for (const Precision precision : kPrecisions) {
    for (const Side side : {Side::left, Side::right}) {
      for (const Index section : {1, 2, 9, 32}) {  // numbers by themselves and among larger ones
        const Op op = side == Side::left ? Op::trans : Op::none;
        const auto form = this->split(precision, side, op, a, 0, section).columns;
        for (Index c = 0; c < form.cols(); ++c) {
          EXPECT_TRUE(holds(precision, &form(0, c), numbers_of_column(side, applied(op, a), c),
                            (is_complex<T> ? 2 : 1) * section));
        }
      }
    }
  }
}

/// A matrix of the numbers that a split form in one part makes of those of x.
template <class W>
Padded<W> rounded(Precision precision, Padded<W> x) {
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if constexpr (is_complex<W>) {
        x(i, j) = {rounded(precision, x(i, j).real()), rounded(precision, x(i, j).imag())};
      } else {
        x(i, j) = rounded(precision, x(i, j));
      }
    }
  }
  return x;
}

TYPED_TEST(SplitContract, ProductsAreAsAccurateAsTheirOperands) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index shapes[][3] = {{1, 1, 1}, {5, 7, 3}, {64, 64, 64}, {130, 70, 33}, {33, 20, 200}};
  for (const Precision precision : {Precision::tf32, Precision::fp16}) {
    for (const auto& [m, n, k] : shapes) {
      SCOPED_TRACE(testing::Message() << name_of(precision) << " " << m << "x" << n << "x" << k);
      const auto a = random_matrix<T>(m, k, 1, 1), b = random_matrix<T>(k, n, 2, 2);
      const auto c = random_matrix<T>(m, n, 3, 3);
      const auto wide_a = applied(Op::none, a), wide_b = applied(Op::none, b);
      // In units of eps times the sum of the moduli.
      const auto error = [&](const Padded<T>& got, const Padded<W>& expected) {
        double worst = 0;
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < m; ++i) {
            double size = std::abs(c(i, j));
            for (Index l = 0; l < k; ++l) size += std::abs(wide_a(i, l)) * std::abs(wide_b(l, j));
            worst = std::max(worst, std::abs(W(got(i, j)) - expected(i, j)) / size / epsilon<T>());
          }
        }
        return worst;
      };
      const auto got = this->multiply(-1, this->split(precision, Side::left, Op::none, a),
                                      this->split(precision, Side::right, Op::none, b), 1, c);
      EXPECT_TRUE(got.padding_untouched());
      // The operands are rounded to this precision, the rest is as accurate as float.
      EXPECT_LT(error(got, multiply_add<W, T>(W(-1), rounded(precision, wide_a),
                                              rounded(precision, wide_b), W(1), c)),
                16);
      // Two roundings by 2^-12 at most are 8192 units of 2^-24; random ones some hundreds.
      const double from_exact = error(got, multiply_add<W, T>(W(-1), wide_a, wide_b, W(1), c));
      EXPECT_LT(from_exact, 8200);
      EXPECT_GT(from_exact, m > 1 ? 64 : 0);
    }
  }
}

TYPED_TEST(SplitContract, SplitProductsAreAsAccurateAsFloatOnes) {
  using T = TypeParam;
  using W = Wide<T>;
  constexpr double kLimit = 16;  // in units of eps |A| |B|; an FP16 product has hundreds
  const Index shapes[][4] = {{1, 1, 1, 32},     {5, 7, 3, 2},       {64, 64, 64, 32},
                             {130, 70, 33, 32}, {33, 20, 200, 48},  {33, 20, 200, 128},
                             {129, 9, 1000, 3}, {257, 300, 700, 64}};
  for (const auto& [m, n, k, section] : shapes) {
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << ", sections of " << section);
    const auto a = random_matrix<T>(k, m, 1, 1), b = random_matrix<T>(k, n, 2, 2);
    const auto c = random_matrix<T>(m, n, 3, 3);
    const float alpha = -1.5f, beta = 0.75f;
    auto sa = this->split(Precision::fp32, Side::left, Op::conj_trans, a, 1, section);
    auto sb = this->split(Precision::fp32, Side::right, Op::none, b, 5, section);
    const auto expected =
        multiply_add<W, T>(W(alpha), applied(Op::conj_trans, a), applied(Op::none, b), W(beta), c);
    // Componentwise, as the error of a sum is bounded.
    const auto error = [&](const Padded<T>& got) {
      double worst = 0;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          double size = 0.75 * static_cast<double>(std::abs(c(i, j)));
          for (Index l = 0; l < k; ++l) {
            size += 1.5 * static_cast<double>(std::abs(a(l, i)) * std::abs(b(l, j)));
          }
          worst = std::max(worst, std::abs(W(got(i, j)) - expected(i, j)) / size / epsilon<T>());
        }
      }
      return worst;
    };
    const auto result = this->multiply(alpha, sa, sb, beta, c);
    EXPECT_LT(error(result), kLimit);
    EXPECT_TRUE(result.padding_untouched());
    // Without the low parts it is a product in FP16, which this bound tells apart.
    for (auto* form : {&sa.columns, &sb.columns}) {
      const Index numbers = (is_complex<T> ? 2 : 1) * section;
      for (Index row = 0; row < form->rows();) {  // section by section, piece by piece
        row += kHeader;
        for (Index i = 0; i < numbers && row < form->rows(); i += 32, row += 32) {
          for (Index j = 0; j < form->cols(); ++j) std::fill_n(&(*form)(row + 16, j), 16, 0.f);
        }
      }
    }
    EXPECT_GT(error(this->multiply(alpha, sa, sb, beta, c)), 4 * kLimit);
  }
}

TYPED_TEST(SplitContract, ManyTilesAreMadeAsFewAre) {
  using T = TypeParam;
  const bool few = this->device().emulated();
  const Index m = few ? 300 : 3700, n = few ? 290 : 3600, strip = few ? 100 : 640;
  for (const auto& [k, section] : {std::pair<Index, Index>{90, 32}, {300, 128}}) {
    SCOPED_TRACE(testing::Message() << k << " summands in sections of " << section);
    const auto a =
        this->split(Precision::fp32, Side::left, Op::none, random_matrix<T>(m, k, 1), 0, section);
    const auto b =
        this->split(Precision::fp32, Side::right, Op::none, random_matrix<T>(k, n, 2), 0, section);
    const auto c = random_matrix<T>(m, n, 3, 1);
    const auto da = this->upload(a.columns), db = this->upload(b.columns);
    const auto whole = this->upload(c), by_strips = this->upload(c);
    this->queue().enqueue(SplitGemm<T>{a.form, k, -1, da, db, 1, whole});
    for (Index first = 0; first < n; first += strip) {
      const Index columns = std::min(strip, n - first);
      this->queue().enqueue(SplitGemm<T>{a.form, k, -1, da,
                                         db.view.block(0, first, db.view.rows, columns), 1,
                                         by_strips.view.block(0, first, m, columns)});
    }
    EXPECT_TRUE(same_bits(this->download(whole), this->download(by_strips)));
  }
}

TYPED_TEST(SplitContract, ProductsWithoutSummandsScale) {
  using T = TypeParam;
  const auto c = random_matrix<T>(20, 30, 1, 2);
  const auto a = this->split(Precision::fp32, Side::left, Op::none, Padded<T>(20, 0));
  const auto b = this->split(Precision::fp32, Side::right, Op::none, Padded<T>(0, 30));
  const auto got = this->multiply(-1, a, b, 0.5f, c);
  for (Index j = 0; j < c.cols(); ++j) {
    for (Index i = 0; i < c.rows(); ++i) EXPECT_EQ(got(i, j), c(i, j) * 0.5f);
  }
}

TYPED_TEST(SplitContract, LongSumsDoNotDrift) {
  using T = TypeParam;
  const Index m = 16, n = 8, k = 4096;
  auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(k, n, 2);
  // Positive numbers: every sum that is cut off becomes smaller.
  for (Padded<T>* x : {&a, &b}) {
    for (Index j = 0; j < x->cols(); ++j) {
      for (Index i = 0; i < x->rows(); ++i) (*x)(i, j) = T(std::abs((*x)(i, j)));
    }
  }
  const Index section = kSplitSection<T>;
  const auto got = this->multiply(
      1, this->split(Precision::fp32, Side::left, Op::none, a, 0, section),
      this->split(Precision::fp32, Side::right, Op::none, b, 0, section), 0, Padded<T>(m, n));
  double worst = 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      double sum = 0;
      for (Index l = 0; l < k; ++l) {
        sum += static_cast<double>(std::real(a(i, l))) * static_cast<double>(std::real(b(l, j)));
      }
      worst = std::max(worst, std::abs(static_cast<double>(std::real(got(i, j))) - sum) / sum);
    }
  }
  EXPECT_LT(worst / epsilon<T>(), 40);  // as one sum it has hundreds on tensor cores
}

TYPED_TEST(SplitContract, InfinitiesAndNaNsSpreadAsInSumsOfProducts) {
  using T = TypeParam;
  const Index m = 20, n = 18, k = 40;
  // Numbers with a low part and, as 1 and -0.5, without: neither may make a NaN of an infinity.
  auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(k, n, 2);
  for (Index i = 0; i < m; i += 2) a(i, 7) = T(1);
  for (Index j = 0; j < n; j += 2) b(3, j) = T(-0.5f);
  for (Index j = 0; j < n; j += 5) b(3, j) = T(0);
  a(2, 3) = infinity<T>();
  a(4, 3) = -infinity<T>();
  a(9, 9) = nan<T>();
  b(7, 5) = infinity<T>();
  b(3, 11) = infinity<T>();
  b(30, 16) = nan<T>();
  const auto kind = [](double x) {
    return std::isnan(x) ? "NaN" : std::isfinite(x) ? "finite" : x > 0 ? "inf" : "-inf";
  };
  for (const Precision precision : kPrecisions) {
    const auto got =
        this->multiply(1, this->split(precision, Side::left, Op::none, a),
                       this->split(precision, Side::right, Op::none, b), 0, Padded<T>(m, n));
    int infinities = 0;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        // By the definition in real numbers; std::complex would repair infinite products.
        double re = 0, im = 0;
        for (Index l = 0; l < k; ++l) {
          const std::complex<double> x(a(i, l)), y(b(l, j));
          re += x.real() * y.real();
          if constexpr (is_complex<T>) {
            re -= x.imag() * y.imag();
            im += x.real() * y.imag();
            im += x.imag() * y.real();
          }
        }
        for (const auto& [x, expected] :
             {std::pair{std::real(got(i, j)), re}, std::pair{std::imag(got(i, j)), im}}) {
          const bool meets_zero =  // the low part of another number
              precision == Precision::fp32 && std::isinf(expected) && std::isnan(x);
          EXPECT_STREQ(meets_zero ? kind(expected) : kind(x), kind(expected)) << i << "," << j;
        }
        infinities += std::isinf(re) ? 1 : 0;
      }
    }
    EXPECT_GT(infinities, m);
  }
}

TYPED_TEST(SplitContract, SplitProductsOfEmptyOperands) {
  using T = TypeParam;
  const Index m = 9, n = 6, k = 4;
  const auto c = random_matrix<T>(m, n, 3, 1);
  const auto times = [&](double factor) {
    auto scaled = applied(Op::none, c);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) scaled(i, j) *= factor;
    }
    return scaled;
  };
  Padded<T> poisoned(m, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) poisoned(i, j) = nan<T>();
  }
  for (const Precision precision : kPrecisions) {
    const auto sa = this->split(precision, Side::left, Op::none, random_matrix<T>(m, k, 1));
    const auto sb = this->split(precision, Side::right, Op::none, random_matrix<T>(k, n, 2));
    const auto no_a = this->split(precision, Side::left, Op::none, Padded<T>(m, 0));
    const auto no_b = this->split(precision, Side::right, Op::none, Padded<T>(0, n));
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 1, c), times(1)), 0);
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 2, c), times(2)), 0);
    EXPECT_EQ(max_difference(this->multiply(0, sa, sb, 2, c), times(2)), 0);
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 0, poisoned), times(0)), 0);
    this->multiply(1, sa, this->split(precision, Side::right, Op::none, Padded<T>(k, 0)), 0,
                   Padded<T>(m, 0));
  }
}

template <class T>
class AnyPrecision : public DeviceContract<T> {};
TYPED_TEST_SUITE(AnyPrecision, Precisions);

TYPED_TEST(AnyPrecision, SplitOperandsAreForSinglePrecision) {
  using T = TypeParam;
  EXPECT_EQ(kSplits<T>, (std::is_same_v<Real<T>, float>));
  if (!kSplits<T>) {
    for (const Precision precision : kPrecisions) {
      EXPECT_FALSE(this->kernels().split_pays(precision, 100000, 100000, 100000));
    }
  }
}

}  // namespace
}  // namespace overlapack
