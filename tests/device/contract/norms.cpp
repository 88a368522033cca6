// Norms and reductions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "device/contract/contract.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

template <class T>
class NormContract : public DeviceContract<T> {};
TYPED_TEST_SUITE(NormContract, Precisions);

constexpr Index kSizes[] = {1, 2, 7, 42, 666, 2048};

TYPED_TEST(NormContract, NormsOfColumns) {
  using T = TypeParam;
  for (const Shape& shape : cross<Shape>(kSizes, kSizes)) {
    SCOPED_TRACE(testing::Message() << shape);
    const auto [m, n] = shape;
    const auto a = random_matrix<T>(m, n, 1, 3);  // padding would change every result
    const auto on_device = this->upload(a);
    const auto norms = this->upload(Padded<Real<T>>(n, 1, 1));
    this->queue().enqueue(ColumnNorms<T>{on_device, norms});
    const auto got = this->download(norms);
    for (Index j = 0; j < n; ++j) {
      Real<T> largest(0);
      for (Index i = 0; i < m; ++i) largest = std::max(largest, abs1(a(i, j)));
      ASSERT_EQ(got(j, 0), largest) << j;
    }
    EXPECT_TRUE(got.padding_untouched());
  }
}

TYPED_TEST(NormContract, NormsSpreadNaNsAndInfinities) {
  using T = TypeParam;
  const Index m = 1500, n = 3;
  for (const Index position : {0, 1, 777, 1499}) {
    auto a = random_matrix<T>(m, n, 1);
    a(position, 1) = nan<T>();
    a(position, 2) = infinity<T>();
    const auto on_device = this->upload(a);
    const auto norms = this->upload(Padded<Real<T>>(n, 1));
    this->queue().enqueue(ColumnNorms<T>{on_device, norms});
    const auto got = this->download(norms);
    EXPECT_TRUE(std::isfinite(got(0, 0)));
    EXPECT_TRUE(std::isnan(got(1, 0)));
    EXPECT_TRUE(std::isinf(got(2, 0)));
  }
}

TYPED_TEST(NormContract, NormsOfNothingAreZero) {
  using T = TypeParam;
  const auto norms = this->upload(Padded<Real<T>>(3, 1));
  this->queue().enqueue(ColumnNorms<T>{DeviceView<const T>(nullptr, 0, 3, 1), norms});
  const auto got = this->download(norms);
  for (Index i = 0; i < 3; ++i) EXPECT_EQ(got(i, 0), 0);
}

constexpr Norm kNorms[] = {Norm::max, Norm::one, Norm::infinity, Norm::frobenius};

/// A norm by its definition, in double precision and more, of a matrix all of which is given.
template <class W>
double norm_of(Norm norm, const Padded<W>& a) {
  std::vector<double> rows(static_cast<std::size_t>(a.rows())), columns;
  double largest = 0;
  long double squares = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    columns.push_back(0);
    for (Index i = 0; i < a.rows(); ++i) {
      const double modulus = std::abs(a(i, j));
      largest = std::max(largest, modulus);
      squares += static_cast<long double>(modulus) * modulus;
      columns.back() += modulus;
      rows[static_cast<std::size_t>(i)] += modulus;
    }
  }
  if (norm == Norm::max) return largest;
  if (norm == Norm::frobenius) return static_cast<double>(std::sqrt(squares));
  const auto& sums = norm == Norm::one ? columns : rows;
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

/// All of them, in the order of kNorms.
template <class W>
std::vector<double> norms_of(const Padded<W>& a) {
  std::vector<double> norms;
  for (const Norm norm : kNorms) norms.push_back(norm_of(norm, a));
  return norms;
}

/// A matrix of which one triangle is given.
struct TriangleCase {
  struct Order {
    Index n, padding;
  } order;
  Symmetry symmetry;
  Uplo uplo;

  std::string name() const {
    return (testing::Message() << order.n << "+" << order.padding << " " << char(uplo)
                               << (symmetry == Symmetry::hermitian ? ", Hermitian" : ""))
        .GetString();
  }
};

/// Reductions of whole matrices. Elements are up to 100.
template <class T>
class ReductionContract : public DeviceContract<T> {
 protected:
  static Padded<T> matrix(Index m, Index n, Index padding) {
    auto a = random_matrix<T>(m, n, 1, padding);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) a(i, j) *= Real<T>(100);
    }
    return a;
  }
  /// What `enqueue(result)` leaves in its result.
  template <class Enqueue>
  Real<T> result_of(Enqueue enqueue) {
    const auto result = this->upload(Padded<Real<T>>(1, 1, 1));
    enqueue(result.view);
    const auto got = this->download(result);
    EXPECT_TRUE(got.padding_untouched());
    return got(0, 0);
  }
  Real<T> norm(Norm norm, DeviceView<const T> a, Symmetry symmetry = Symmetry::none,
               Uplo uplo = Uplo::lower) {
    const auto work = this->upload(
        Padded<Real<T>>(symmetry == Symmetry::none ? 1 : std::max<Index>(1, a.rows), 1));
    return result_of([&](DeviceView<Real<T>> result) {
      this->queue().enqueue(MatrixNorm<T>{norm, symmetry, uplo, a, work, result});
    });
  }
  void expect_norms(const std::vector<double>& expected, DeviceView<const T> a,
                    Symmetry symmetry = Symmetry::none, Uplo uplo = Uplo::lower) {
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const auto terms = static_cast<double>(kNorms[k] == Norm::one        ? a.rows
                                             : kNorms[k] == Norm::infinity ? a.cols
                                                                           : 40);
      EXPECT_NEAR(static_cast<double>(norm(kNorms[k], a, symmetry, uplo)), expected[k],
                  (terms + 4) * epsilon<T>() * expected[k])
          << static_cast<char>(kNorms[k]);
    }
  }

  void of_triangle(const TriangleCase& c) {
    const auto [n, padding] = c.order;
    const bool hermitian = c.symmetry == Symmetry::hermitian;
    auto a = matrix(n, n, padding);
    Padded<Wide<T>> whole(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool given = c.uplo == Uplo::lower ? i >= j : i <= j;
        if (given) whole(i, j) = whole(j, i) = Wide<T>(a(i, j));
        if (!given) a(i, j) = nan<T>();
      }
      if (!hermitian) continue;
      whole(j, j) = Wide<T>(real(a(j, j)));
      a(j, j) = scalar<T>(static_cast<double>(real(a(j, j))), std::nan(""));
    }
    expect_norms(norms_of(whole), this->upload(a), c.symmetry, c.uplo);
  }
};
TYPED_TEST_SUITE(ReductionContract, Precisions);

TYPED_TEST(ReductionContract, OfManyShapes) {
  using T = TypeParam;
  for (const Shape& shape : cross<Shape>(kSizes, kSizes)) {
    const auto [m, n] = shape;
    const auto expected = norms_of(widen<T>(this->matrix(m, n, 0).view()));
    for (const Index padding : {0, 3, 4}) {  // unaligned, too
      SCOPED_TRACE(testing::Message() << shape << "+" << padding);
      this->expect_norms(expected, this->upload(this->matrix(m, n, padding)));
    }
  }
}

TYPED_TEST(ReductionContract, OfTrianglesOfManyOrders) {
  constexpr Index kOrders[] = {1, 2, 7, 42, 133, 666}, kPaddings[] = {0, 3, 4};
  constexpr Symmetry kSymmetries[] = {Symmetry::symmetric, Symmetry::hermitian};
  auto orders = cross<TriangleCase::Order>(kOrders, kPaddings);
  orders.push_back({this->device().emulated() ? 1030 : 2048, 3});  // others take a while
  for (const auto& c : cross<TriangleCase>(orders, kSymmetries, kUplos)) {
    SCOPED_TRACE(c.name());
    this->of_triangle(c);
  }
}

TYPED_TEST(ReductionContract, ReportIntoStagingMemory) {
  using T = TypeParam;
  const auto a = this->matrix(133, 42, 1);
  const auto there = this->upload(a);
  const Buffer<Real<T>> result(this->device(), Space::host, 1);
  for (const Norm norm : kNorms) {
    *result.data() = -1;
    this->queue().enqueue(MatrixNorm<T>{
        norm, Symmetry::none, Uplo::lower, there, {}, DeviceView<Real<T>>(result.data(), 1)});
    this->queue().synchronize();
    EXPECT_EQ(*result.data(), this->norm(norm, there)) << static_cast<char>(norm);
  }
}

TYPED_TEST(ReductionContract, DoNotDependOnTheAlignment) {
  using T = TypeParam;
  const Index m = 701, n = 90;
  const auto a = this->matrix(m, n, 0);
  std::vector<Real<T>> first;
  for (const Index padding : {3, 4, 5, 6, 7}) {
    for (const Index offset : {0, 1}) {
      Padded<T> larger(m + offset, n, padding - offset);
      reference::lacpy<T>(a.view(), larger.view().block(offset, 0, m, n));
      const auto on_device = this->upload(larger);
      const DeviceView<const T> view = on_device.view.block(offset, 0, m, n);
      std::vector<Real<T>> norms;
      for (const Norm norm : kNorms) norms.push_back(this->norm(norm, view));
      if (first.empty()) first = norms;
      EXPECT_EQ(norms, first) << "padding " << padding << ", offset " << offset;
    }
  }
}

TYPED_TEST(ReductionContract, SpreadNaNsAndInfinities) {
  using T = TypeParam;
  const Index n = 300;
  for (const auto& [i, j] :
       {std::pair<Index, Index>{0, 0}, {299, 0}, {150, 150}, {299, 299}, {298, 130}, {77, 3}}) {
    for (const bool with_infinity : {false, true}) {
      auto a = this->matrix(n, n, 1);
      const auto norms = [&](const Padded<T>& matrix) {
        const auto on_device = this->upload(matrix);
        std::vector<Real<T>> result;
        for (const Norm norm : kNorms) {
          result.push_back(this->norm(norm, on_device));
          result.push_back(this->norm(norm, on_device, Symmetry::symmetric, Uplo::lower));
        }
        return result;
      };
      if (with_infinity) {
        a(200, 10) = infinity<T>();
        a(250, 20) = -infinity<T>();
        for (const Real<T> norm : norms(a)) EXPECT_TRUE(std::isinf(norm) && norm > 0) << norm;
      }
      a(i, j) = nan<T>();
      for (const Real<T> norm : norms(a)) EXPECT_TRUE(std::isnan(norm)) << i << " " << j;
    }
  }
}

TYPED_TEST(ReductionContract, FrobeniusNormsNearTheEndsOfTheRange) {
  using T = TypeParam;
  using R = Real<T>;
  const R largest = std::numeric_limits<R>::max() / 256, least = std::numeric_limits<R>::min();
  const R tiniest = std::numeric_limits<R>::denorm_min();
  // Two kinds of numbers, and how many of the second there are among 64 x 64.
  const std::tuple<R, R, Index> cases[] = {
      {largest, largest, 0},         {largest, R(1), 4000},         {least, least, 0},
      {tiniest, tiniest, 0},         {least, R(0), 4095},           {R(1), least, 5},
      {tiniest, R(0), 4000},         {largest, least, 4095},        {R(0), R(0), 0},
      {std::sqrt(least), R(0), 100}, {std::sqrt(largest), R(1), 7}, {R(1), std::sqrt(least), 9}};
  for (const auto& [x, y, count] : cases) {
    SCOPED_TRACE(testing::Message() << x << ", " << count << " times " << y);
    Padded<T> a(64, 64, 2);
    long double squares = 0;
    for (Index k = 0; k < 64 * 64; ++k) {
      const R element = k < count ? y : x;
      a(k % 64, k / 64) = T(k % 3 == 0 ? -element : element);
      squares += static_cast<long double>(element) * element;
    }
    const auto expected = static_cast<double>(std::sqrt(squares));
    EXPECT_NEAR(static_cast<double>(this->norm(Norm::frobenius, this->upload(a))), expected,
                40 * epsilon<T>() * expected + static_cast<double>(tiniest));
  }
}

TYPED_TEST(ReductionContract, OfNothingAreZero) {
  using T = TypeParam;
  const auto a = this->upload(Padded<T>(3, 3));
  for (const Norm norm : kNorms) {
    for (const auto& [m, n] : {std::pair<Index, Index>{0, 3}, {3, 0}, {0, 0}}) {
      EXPECT_EQ(this->norm(norm, a.view.block(0, 0, m, n)), 0);
    }
    EXPECT_EQ(this->norm(norm, a.view.block(0, 0, 0, 0), Symmetry::hermitian), 0);
  }
}

}  // namespace
}  // namespace overlapack
