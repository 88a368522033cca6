// Norms by this library's own loops on the CPU: all kinds of matrices, in tiles of any size, by any
// number of threads.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/norms/on_cpu.hpp"
#include "support/cases.hpp"
#include "support/child.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using algorithms::norm_on_cpu;
using algorithms::Tiles;

constexpr Norm kNorms[] = {Norm::max, Norm::one, Norm::infinity, Norm::frobenius};

/// What a matrix may be that is given whole or by a triangle.
template <class T>
std::vector<NormOf> kinds(bool square) {
  std::vector<NormOf> all = {{}};
  for (const Part part : {Part::lower, Part::upper}) {
    for (const Diag diag : {Diag::non_unit, Diag::unit}) {
      all.push_back({{}, part, Symmetry::none, diag});
    }
    if (square) all.push_back({{}, part, Symmetry::symmetric});
    if (square && is_complex<T>) all.push_back({{}, part, Symmetry::hermitian});
  }
  return all;
}

/// All of them, of a matrix of this shape.
template <class T>
std::vector<NormOf> all_norms(Shape shape) {
  std::vector<NormOf> all;
  for (const Norm norm : kNorms) {
    for (NormOf of : kinds<T>(shape.rows == shape.cols)) {
      of.norm = norm;
      all.push_back(of);
    }
  }
  return all;
}

std::string text(const NormOf& of) {
  return (testing::Message() << char(of.norm) << " " << testing_support::name_of(of.part) << " "
                             << int(of.symmetry) << " " << char(of.diag))
      .GetString();
}

/// Whether a norm depends on what stands at (i, j).
bool is_read(const NormOf& of, Index i, Index j) {
  return inside(of.part, i, j) && !(i == j && of.diag == Diag::unit);
}

/// The modulus at (i, j) of the matrix that is meant.
template <class T>
long double modulus(const NormOf& of, const Padded<T>& a, Index i, Index j) {
  if (i == j && of.diag == Diag::unit) return 1;
  if (i == j && of.symmetry == Symmetry::hermitian) return std::abs(real(a(i, i)));
  if (!inside(of.part, i, j)) {
    if (of.symmetry == Symmetry::none) return 0;
    std::swap(i, j);
  }
  return std::hypot(static_cast<long double>(std::real(a(i, j))),
                    static_cast<long double>(std::imag(a(i, j))));
}

/// By the definition.
template <class T>
long double expected(const NormOf& of, const Padded<T>& a) {
  std::vector<long double> rows(static_cast<std::size_t>(a.rows())),
      cols(static_cast<std::size_t>(a.cols()));
  long double largest = 0, squares = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      const long double x = modulus(of, a, i, j);
      largest = std::max(largest, x);
      squares += x * x;
      rows[static_cast<std::size_t>(i)] += x;
      cols[static_cast<std::size_t>(j)] += x;
    }
  }
  if (of.norm == Norm::max) return largest;
  if (of.norm == Norm::frobenius) return std::sqrt(squares);
  const auto& sums = of.norm == Norm::one ? cols : rows;
  return *std::max_element(sums.begin(), sums.end());
}

/// NaNs wherever nothing may be read.
template <class T>
Padded<T> without_unread(const NormOf& of, const Padded<T>& a) {
  Padded<T> result(a.rows(), a.cols(), a.ld() - a.rows());
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.ld(); ++i) {
      const bool read = i < a.rows() && is_read(of, i, j);
      result.data()[i + j * a.ld()] = read ? a(i, j) : nan<T>();
    }
    if (of.symmetry == Symmetry::hermitian && j < a.rows()) {
      const auto x = result(j, j);
      result(j, j) = T(real(x));
      if constexpr (is_complex<T>) result(j, j) = T(real(x), nan<Real<T>>());
    }
  }
  return result;
}

template <class T>
void expect_norm(const NormOf& of, const Padded<T>& a, Index threads, Tiles tiles) {
  SCOPED_TRACE(testing::Message() << text(of) << ", " << threads << " threads, tiles " << tiles.rows
                                  << "x" << tiles.cols);
  const long double right = expected(of, a);
  const Padded<T> given = without_unread(of, a);
  const Real<T> norm = norm_on_cpu<T>(of, given.view(), threads, tiles);
  const long double least = std::numeric_limits<Real<T>>::denorm_min();  // moduli are rounded to it
  EXPECT_LE(std::abs(norm - right), 40 * epsilon<T>() * right + 60 * least) << norm << " " << right;
}

template <class T>
class NormsOnCpu : public testing::Test {};
TYPED_TEST_SUITE(NormsOnCpu, Precisions);

TYPED_TEST(NormsOnCpu, OfAllShapesInAllTiles) {
  using T = TypeParam;
  constexpr Shape kShapes[] = {{1, 1}, {1, 9}, {9, 1}, {12, 5}, {5, 12}, {35, 35}};
  constexpr Tiles kTiles[] = {{1, 1}, {4, 3}, {16, 40}};
  for (const Shape& shape : kShapes) {
    for (const Index padding : {0, 3}) {
      SCOPED_TRACE(testing::Message() << shape << "+" << padding);
      const auto a = random_matrix<T>(shape.rows, shape.cols, 1, padding);
      for (const NormOf& of : all_norms<T>(shape)) {
        for (const Tiles& tiles : kTiles) expect_norm<T>(of, a, 1, tiles);
        expect_norm<T>(of, a, 1, algorithms::tiles_for<T>(of, a.view()));
      }
    }
  }
}

TYPED_TEST(NormsOnCpu, AreTheSameByAnyNumberOfThreads) {
  using T = TypeParam;
  const Shape shape{90, 90};
  const auto a = random_matrix<T>(shape.rows, shape.cols, 2, 1);
  for (const NormOf& of : all_norms<T>(shape)) {
    const Tiles tiles{17, 6};
    expect_norm<T>(of, a, 3, tiles);
    const Real<T> alone = norm_on_cpu<T>(of, a.view(), 1, tiles);
    for (const Index threads : {2, 5}) {
      EXPECT_EQ(norm_on_cpu<T>(of, a.view(), threads, tiles), alone) << text(of);
    }
  }
}

TYPED_TEST(NormsOnCpu, OfRandomShapesInRandomTiles) {
  using T = TypeParam;
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    Shape shape{random.integer(1, 60), random.integer(1, 60)};
    if (round % 2 == 0) shape.cols = shape.rows;
    const auto a = random_matrix<T>(shape.rows, shape.cols, 100 + static_cast<unsigned>(round),
                                    random.integer(0, 5));
    const auto norms = all_norms<T>(shape);
    const NormOf& of =
        norms[static_cast<std::size_t>(random.integer(0, static_cast<Index>(norms.size()) - 1))];
    SCOPED_TRACE(testing::Message() << shape);
    expect_norm<T>(of, a, random.integer(1, 4), {random.integer(1, 70), random.integer(1, 70)});
  }
}

TYPED_TEST(NormsOnCpu, OfMatricesThatAreWorthSeveralThreads) {
  using T = TypeParam;
  const Shape shapes[] = {{40, 7000}, {70000, 4}};
  for (const Shape& shape : shapes) {
    const auto a = random_matrix<T>(shape.rows, shape.cols, 3);
    for (const Norm norm : kNorms) {
      const NormOf of{norm};
      EXPECT_NEAR(static_cast<double>(norm_on_cpu<T>(of, a.view(), 3) / expected(of, a)), 1,
                  40 * epsilon<T>())
          << shape << char(norm);
    }
  }
}

TYPED_TEST(NormsOnCpu, NaNsAndInfinitiesAtEveryPlace) {
  using T = TypeParam;
  const Shape shape{9, 9};
  for (const NormOf& of : all_norms<T>(shape)) {
    const auto a = without_unread(of, random_matrix<T>(shape.rows, shape.cols, 4, 1));
    for (Index j = 0; j < shape.cols; ++j) {
      for (Index i = 0; i < shape.rows; ++i) {
        if (!is_read(of, i, j)) continue;
        SCOPED_TRACE(testing::Message() << text(of) << " at " << i << ", " << j);
        auto b = a;
        for (const Tiles tiles : {Tiles{9, 9}, Tiles{4, 3}}) {
          b(i, j) = nan<T>();
          EXPECT_TRUE(std::isnan(norm_on_cpu<T>(of, b.view(), 1, tiles)));
          b(i, j) = infinity<T>();
          EXPECT_TRUE(std::isinf(norm_on_cpu<T>(of, b.view(), 1, tiles)));
        }
      }
    }
  }
}

/// An infinite part makes the modulus infinite, also beside a part that is no number.
TEST(NormsOnCpuOfComplexNumbers, AnInfinitePartCountsMoreThanANaN) {
  using T = std::complex<double>;
  auto a = random_matrix<T>(20, 20, 5);
  a(7, 9) = {nan<double>(), infinity<double>()};
  for (const Norm norm : {Norm::max, Norm::one, Norm::infinity}) {
    EXPECT_TRUE(std::isinf(norm_on_cpu<T>({norm}, a.view(), 1))) << char(norm);
  }
  EXPECT_TRUE(std::isnan(norm_on_cpu<T>({Norm::frobenius}, a.view(), 1)));
  a(3, 9) = {nan<double>(), 1};
  EXPECT_TRUE(std::isnan(norm_on_cpu<T>({Norm::max}, a.view(), 1)));
}

/// A matrix whose squares overflow, or are too small, or both, in a part of it or everywhere.
TYPED_TEST(NormsOnCpu, OfHugeAndTinyNumbers) {
  using T = TypeParam;
  using R = Real<T>;
  using Limits = std::numeric_limits<R>;
  const Shape shape{30, 30};
  const R huge = Limits::max() / 4096, tiny = Limits::min(), least = Limits::denorm_min() * 65536;
  const R scales[][2] = {{huge, huge}, {tiny, tiny}, {least, least},         {huge, 1},
                         {1, tiny},    {huge, tiny}, {std::sqrt(tiny), tiny}};
  for (const auto& [some, others] : scales) {
    auto a = random_matrix<T>(shape.rows, shape.cols, 6);
    for (Index j = 0; j < shape.cols; ++j) {
      for (Index i = 0; i < shape.rows; ++i) a(i, j) *= (i + 2 * j) % 11 == 0 ? some : others;
    }
    for (const NormOf& of : all_norms<T>(shape)) {
      for (const Tiles tiles : {Tiles{30, 30}, Tiles{7, 4}}) expect_norm<T>(of, a, 1, tiles);
    }
  }
}

TYPED_TEST(NormsOnCpu, OfZeros) {
  using T = TypeParam;
  Padded<T> a(50, 50);
  std::fill_n(a.data(), 2500, T(0));
  for (const NormOf& of : all_norms<T>({50, 50})) {
    if (of.diag == Diag::unit) continue;
    EXPECT_EQ(norm_on_cpu<T>(of, a.view(), 1), 0) << text(of);
  }
}

/// Squares that overflow in vain are none of the caller's business, whatever traps it has set.
TEST(NormsOnCpuUnderTraps, DoNotTrap) {
  expect_in_child(20, [] {
    auto a = random_matrix<double>(300, 300, 8);
    for (Index j = 0; j < 300; ++j) a(j, j) = 1e300;
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
    const double norm =
        norm_on_cpu<double>({Norm::frobenius}, a.view(), 3, algorithms::Tiles{50, 50});
    return norm > 1e301 && norm < 1e302 && fetestexcept(FE_OVERFLOW) == 0 &&
           (fegetexcept() & FE_OVERFLOW) != 0;
  });
}

/// Sums beyond all numbers are infinite, as in LAPACK.
TYPED_TEST(NormsOnCpu, MayOverflow) {
  using T = TypeParam;
  Padded<T> a(10, 10);
  std::fill_n(a.data(), 100, T(std::numeric_limits<Real<T>>::max()));
  for (const Norm norm : {Norm::one, Norm::infinity, Norm::frobenius}) {
    EXPECT_TRUE(std::isinf(norm_on_cpu<T>({norm}, a.view(), 1))) << char(norm);
  }
  EXPECT_EQ(norm_on_cpu<T>({Norm::max}, a.view(), 1), std::numeric_limits<Real<T>>::max());
}

}  // namespace
}  // namespace overlapack
