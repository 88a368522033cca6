// Products of split operands.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

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

  /// The split form of op(a).
  Form split(SplitForm form, Side side, Op op, const Padded<T>& a, Index padding = 0) {
    const bool left = side == Side::left;
    const Index rows = op == Op::none ? a.rows() : a.cols();
    const Index cols = op == Op::none ? a.cols() : a.rows();
    const Index k = left ? cols : rows, n = left ? rows : cols;
    if (form.precision == Precision::fp32) padding *= 8;  // columns begin at multiples of 32 bytes
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

/// Is this, column by column, the split form of that operand?
template <class T>
testing::AssertionResult is_split_form(SplitForm form, Side side, const Padded<float>& columns,
                                       const Padded<Wide<T>>& factor) {
  for (Index c = 0; c < columns.cols(); ++c) {
    auto result = holds(form.precision, &columns(0, c), numbers_of_column(side, factor, c),
                        (is_complex<T> ? 2 : 1) * form.section);
    if (!result) return result << ", in column " << c;
  }
  return testing::AssertionSuccess();
}

struct FormCase {
  SplitForm form;
  Shape shape;  // of a
  Index padding;
  Side side;
  Op op;

  std::string name() const {
    return (testing::Message() << name_of(form.precision) << " in sections of " << form.section
                               << ", " << shape << "+" << padding << " " << char(side) << char(op))
        .GetString();
  }
};

TYPED_TEST(SplitContract, SplitFormsRunAlongTheSummation) {
  using T = TypeParam;
  // Sections are of FP32 only.
  constexpr SplitForm kForms[] = {{Precision::fp32, 7},
                                  {Precision::fp32, 32},
                                  {Precision::fp32, kSplitSection<T>},
                                  {Precision::tf32, 32},
                                  {Precision::fp16, 32}};
  constexpr Shape kShapes[] = {{1, 1}, {5, 3}, {32, 32}, {33, 17}, {100, 130}, {7, 300}};
  constexpr Index kPaddings[] = {0, 1, 3};
  for (const FormCase& c : cross<FormCase>(kForms, kShapes, kPaddings, kSides, kOps)) {
    SCOPED_TRACE(c.name());
    const auto a = random_matrix<T>(c.shape.rows, c.shape.cols, 1, c.padding);
    const auto form = this->split(c.form, c.side, c.op, a, c.padding).columns;
    EXPECT_TRUE(form.padding_untouched());
    ASSERT_TRUE(is_split_form<T>(c.form, c.side, form, applied(c.op, a)));
  }
}

/// Numbers at the ends of what a split form can hold, and between two that it can.
std::vector<float> numbers_of_all_sizes() {
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
  return numbers;
}

struct NumbersCase {
  SplitForm form;
  Side side;

  std::string name() const {
    return (testing::Message() << name_of(form.precision) << " in sections of " << form.section
                               << ", " << char(side))
        .GetString();
  }
};

TYPED_TEST(SplitContract, EveryNumberHasParts) {
  using T = TypeParam;
  const auto numbers = numbers_of_all_sizes();
  Padded<T> a(2 * static_cast<Index>(numbers.size()), 1);
  for (Index i = 0; i < a.rows(); ++i) {
    const float x = numbers[static_cast<std::size_t>(i / 2)] * (i % 2 == 0 ? 1.f : -1.f);
    if constexpr (is_complex<T>) {
      a(i, 0) = {x, numbers[static_cast<std::size_t>(a.rows() - 1 - i) / 2]};
    } else {
      a(i, 0) = x;
    }
  }
  // With sections, numbers stand by themselves and among larger ones.
  constexpr SplitForm kForms[] = {{Precision::fp32, 1},  {Precision::fp32, 2},
                                  {Precision::fp32, 9},  {Precision::fp32, 32},
                                  {Precision::tf32, 32}, {Precision::fp16, 32}};
  for (const NumbersCase& c : cross<NumbersCase>(kForms, kSides)) {
    SCOPED_TRACE(c.name());
    const Op op = c.side == Side::left ? Op::trans : Op::none;
    const auto form = this->split(c.form, c.side, op, a).columns;
    EXPECT_TRUE(is_split_form<T>(c.form, c.side, form, applied(op, a)));
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

/// alpha A B + beta C, as operations get it.
template <class T>
struct Terms {
  double alpha;
  Padded<Wide<T>> a, b;
  double beta;
  Padded<T> c;

  Padded<Wide<T>> sum() const {
    return multiply_add<Wide<T>, T>(Wide<T>(alpha), a, b, Wide<T>(beta), c);
  }
  /// The largest |got - expected|, in units of eps times the sum of the moduli: componentwise, as
  /// the error of a sum is bounded.
  double error(const Padded<T>& got, Padded<Wide<T>> expected) const {
    for (Index j = 0; j < got.cols(); ++j) {
      for (Index i = 0; i < got.rows(); ++i) expected(i, j) -= Wide<T>(got(i, j));
    }
    return worst_ratio<T>(expected,
                          multiply_add<double, double>(std::abs(alpha), moduli(a), moduli(b),
                                                       std::abs(beta), moduli(widen<T>(c.view()))));
  }
};

struct ProductCase {
  Precision precision;
  struct Sizes {
    Index m, n, k;
  } sizes;

  std::string name() const {
    return (testing::Message() << name_of(precision) << " " << sizes.m << "x" << sizes.n << "x"
                               << sizes.k)
        .GetString();
  }
};

TYPED_TEST(SplitContract, ProductsAreAsAccurateAsTheirOperands) {
  using T = TypeParam;
  constexpr Precision kInOnePart[] = {Precision::tf32, Precision::fp16};
  constexpr ProductCase::Sizes kSizes[] = {
      {1, 1, 1}, {5, 7, 3}, {64, 64, 64}, {130, 70, 33}, {33, 20, 200}};
  for (const ProductCase& c : cross<ProductCase>(kInOnePart, kSizes)) {
    SCOPED_TRACE(c.name());
    const auto [m, n, k] = c.sizes;
    const auto a = random_matrix<T>(m, k, 1, 1), b = random_matrix<T>(k, n, 2, 2);
    const Terms<T> exact = {-1, applied(Op::none, a), applied(Op::none, b), 1,
                            random_matrix<T>(m, n, 3, 3)};
    const SplitForm form = {c.precision, 32};
    const auto got = this->multiply(-1, this->split(form, Side::left, Op::none, a),
                                    this->split(form, Side::right, Op::none, b), 1, exact.c);
    EXPECT_TRUE(got.padding_untouched());
    // The operands are rounded to this precision, the rest is as accurate as float.
    const Terms<T> of_rounded = {-1, rounded(c.precision, exact.a), rounded(c.precision, exact.b),
                                 1, exact.c};
    EXPECT_LT(exact.error(got, of_rounded.sum()), 16);
    // Two roundings by 2^-12 at most are 8192 units of 2^-24; random ones some hundreds.
    const double from_exact = exact.error(got, exact.sum());
    EXPECT_LT(from_exact, 8200);
    EXPECT_GT(from_exact, m > 1 ? 64 : 0);
  }
}

/// The columns of a split form in FP32 with zeros for the low parts: section by section, piece by
/// piece. `numbers` is what a section has.
Padded<float> without_low_parts(Padded<float> columns, Index numbers) {
  for (Index row = 0; row < columns.rows();) {
    row += kHeader;
    for (Index i = 0; i < numbers && row < columns.rows(); i += 32, row += 32) {
      for (Index j = 0; j < columns.cols(); ++j) std::fill_n(&columns(row + 16, j), 16, 0.f);
    }
  }
  return columns;
}

TYPED_TEST(SplitContract, SplitProductsAreAsAccurateAsFloatOnes) {
  using T = TypeParam;
  constexpr double kLimit = 16;  // in units of eps |A| |B|; an FP16 product has hundreds
  const Index shapes[][4] = {{1, 1, 1, 32},     {5, 7, 3, 2},       {64, 64, 64, 32},
                             {130, 70, 33, 32}, {33, 20, 200, 48},  {33, 20, 200, 128},
                             {129, 9, 1000, 3}, {257, 300, 700, 64}};
  for (const auto& [m, n, k, section] : shapes) {
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << ", sections of " << section);
    const auto a = random_matrix<T>(k, m, 1, 1), b = random_matrix<T>(k, n, 2, 2);
    const SplitForm form = {Precision::fp32, section};
    auto sa = this->split(form, Side::left, Op::conj_trans, a, 1);
    auto sb = this->split(form, Side::right, Op::none, b, 5);
    const Terms<T> terms = {-1.5, applied(Op::conj_trans, a), applied(Op::none, b), 0.75,
                            random_matrix<T>(m, n, 3, 3)};
    const auto expected = terms.sum();
    const auto result = this->multiply(-1.5f, sa, sb, 0.75f, terms.c);
    EXPECT_LT(terms.error(result, expected), kLimit);
    EXPECT_TRUE(result.padding_untouched());
    // Without the low parts it is a product in FP16, which this bound tells apart.
    for (auto* operand : {&sa, &sb}) {
      operand->columns = without_low_parts(operand->columns, (is_complex<T> ? 2 : 1) * section);
    }
    EXPECT_GT(terms.error(this->multiply(-1.5f, sa, sb, 0.75f, terms.c), expected), 4 * kLimit);
  }
}

TYPED_TEST(SplitContract, ManyTilesAreMadeAsFewAre) {
  using T = TypeParam;
  const bool few = this->device().emulated();
  const Index m = few ? 300 : 3700, n = few ? 290 : 3600, strip = few ? 100 : 640;
  for (const auto& [k, section] : {std::pair<Index, Index>{90, 32}, {300, 128}}) {
    SCOPED_TRACE(testing::Message() << k << " summands in sections of " << section);
    const SplitForm form = {Precision::fp32, section};
    const auto a = this->split(form, Side::left, Op::none, random_matrix<T>(m, k, 1));
    const auto b = this->split(form, Side::right, Op::none, random_matrix<T>(k, n, 2));
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
  const SplitForm form = {Precision::fp32, 32};
  const auto a = this->split(form, Side::left, Op::none, Padded<T>(20, 0));
  const auto b = this->split(form, Side::right, Op::none, Padded<T>(0, 30));
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
  const SplitForm form = {Precision::fp32, kSplitSection<T>};
  const auto got = this->multiply(1, this->split(form, Side::left, Op::none, a),
                                  this->split(form, Side::right, Op::none, b), 0, Padded<T>(m, n));
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

/// A B by the definition in real numbers; std::complex would repair infinite products.
template <class T>
Padded<std::complex<double>> product_in_real_numbers(const Padded<T>& a, const Padded<T>& b) {
  Padded<std::complex<double>> result(a.rows(), b.cols());
  for (Index j = 0; j < b.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      double re = 0, im = 0;
      for (Index l = 0; l < a.cols(); ++l) {
        const std::complex<double> x(a(i, l)), y(b(l, j));
        re += x.real() * y.real();
        if constexpr (is_complex<T>) {
          re -= x.imag() * y.imag();
          im += x.real() * y.imag();
          im += x.imag() * y.real();
        }
      }
      result(i, j) = {re, im};
    }
  }
  return result;
}

/// Are both NaNs, or infinite with the same sign, or finite? In two parts, an infinity may meet the
/// zero that is the low part of another number.
bool of_one_kind(Precision precision, double x, double expected) {
  if (std::isnan(x) && std::isinf(expected)) return precision == Precision::fp32;
  if (std::isinf(x) || std::isinf(expected)) return x == expected;
  return std::isnan(x) == std::isnan(expected);
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
  const auto expected = product_in_real_numbers(a, b);
  Index infinities = 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) infinities += std::isinf(expected(i, j).real()) ? 1 : 0;
  }
  EXPECT_GT(infinities, m);
  for (const Precision precision : kPrecisions) {
    SCOPED_TRACE(name_of(precision));
    const SplitForm form = {precision, 32};
    const auto got =
        this->multiply(1, this->split(form, Side::left, Op::none, a),
                       this->split(form, Side::right, Op::none, b), 0, Padded<T>(m, n));
    EXPECT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
      const std::complex<double> x(got(i, j));
      return of_one_kind(precision, x.real(), expected(i, j).real()) &&
             of_one_kind(precision, x.imag(), expected(i, j).imag());
    }));
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
    const SplitForm form = {precision, 32};
    const auto sa = this->split(form, Side::left, Op::none, random_matrix<T>(m, k, 1));
    const auto sb = this->split(form, Side::right, Op::none, random_matrix<T>(k, n, 2));
    const auto no_a = this->split(form, Side::left, Op::none, Padded<T>(m, 0));
    const auto no_b = this->split(form, Side::right, Op::none, Padded<T>(0, n));
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 1, c), times(1)), 0);
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 2, c), times(2)), 0);
    EXPECT_EQ(max_difference(this->multiply(0, sa, sb, 2, c), times(2)), 0);
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 0, poisoned), times(0)), 0);
    this->multiply(1, sa, this->split(form, Side::right, Op::none, Padded<T>(k, 0)), 0,
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
