// BLAS's ?copy: NumPy's way from rows to columns and back.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <vector>

#include "algorithms/strided_copy.hpp"
#include "algorithms/workers.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/threads.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

#define OVERLAPACK_ENTRY(symbol, name, parameters, arguments) extern "C" void symbol parameters;
#define OVERLAPACK_TABLE "blas.def"
#include "wheel_spellings.def"
#undef OVERLAPACK_ENTRY

/// scipy_dcopy_64_ and its kin.
template <class T>
void copy_by_name(Index n, const T* x, Index incx, T* y, Index incy) {
  if constexpr (std::is_same_v<T, float>) scipy_ilp64::s::scipy_scopy_64_(&n, x, &incx, y, &incy);
  if constexpr (std::is_same_v<T, double>) scipy_ilp64::d::scipy_dcopy_64_(&n, x, &incx, y, &incy);
  if constexpr (std::is_same_v<T, std::complex<float>>) {
    scipy_ilp64::c::scipy_ccopy_64_(&n, x, &incx, y, &incy);
  }
  if constexpr (std::is_same_v<T, std::complex<double>>) {
    scipy_ilp64::z::scipy_zcopy_64_(&n, x, &incx, y, &incy);
  }
}

/// Columns of this matrix are long enough for several threads, and its rows for elements of a
/// column to lie far apart.
constexpr Index kRows = 4100, kCols = 70;

// The first of them, since threads that have been made stay.
TEST(Copy, ThreadsAreForTranspositions) {
  if (available_cores() < 2) GTEST_SKIP() << "the process has one core";
  const std::vector<double> a(kRows * kCols, 1);
  std::vector<double> b(kRows * kCols);
  const auto before = threads_of_process();
  const auto column = [&](Index j) {
    copy_by_name(kRows, a.data() + j, kCols, b.data() + j * kRows, Index{1});
  };
  for (Index j = 0; j < kCols; ++j) {  // others in between
    column(j);
    copy_by_name(kRows - 1, a.data(), kCols, b.data(), Index{1});
    copy_by_name(Index{100}, a.data(), kCols, b.data(), Index{1});
  }
  for (Index j = 0; j < kCols; ++j) {  // too short
    copy_by_name(Index{4000}, a.data(), Index{1}, b.data(), Index{1});
    EXPECT_EQ(threads_of_process(), before);
  }
  // Somebody else may have the core for a while, which ends a series.
  for (int i = 0; i < 10000 && threads_of_process() == before; ++i) {
    for (Index j = 0; j < kCols; ++j) column(j);
  }
  EXPECT_GT(threads_of_process(), before);
}

template <class T>
class CopyTest : public testing::Test {};
TYPED_TEST_SUITE(CopyTest, Precisions);

TYPED_TEST(CopyTest, IncrementsOfEitherSign) {
  using T = TypeParam;
  constexpr Index kIncrements[] = {-40, -2, -1, 1, 2, 40};
  const auto place = [](Index n, Index increment, Index i) {
    return increment < 0 ? (i - n + 1) * increment : i * increment;
  };
  for (const Index n : {0, 1, 3, 2500}) {
    for (const Index incx : kIncrements) {
      for (const Index incy : kIncrements) {
        const auto x = random_matrix<T>(n * std::abs(incx) + 1, 1, 1);
        for (const Index threads : {0, 1, 3, 1000}) {  // 0: by its name
          Padded<T> y(n * std::abs(incy) + 1, 1), expected = y;
          for (Index i = 0; i < n; ++i) expected(place(n, incy, i), 0) = x(place(n, incx, i), 0);
          if (threads == 0) {
            copy_by_name(n, &x(0, 0), incx, &y(0, 0), incy);
          } else {
            algorithms::copy(n, &x(0, 0), incx, &y(0, 0), incy, threads);
          }
          Index wrong = 0;
          for (Index i = 0; i < y.rows(); ++i) wrong += y(i, 0) != expected(i, 0);
          EXPECT_EQ(wrong, 0) << "n " << n << " incx " << incx << " incy " << incy << " threads "
                              << threads;
        }
      }
    }
  }
}

TYPED_TEST(CopyTest, OfAnIncrementOfZero) {
  using T = TypeParam;
  const T one(3);
  Padded<T> y(9, 1);
  copy_by_name(Index{9}, &one, Index{0}, y.data(), Index{1});
  for (Index i = 0; i < 9; ++i) EXPECT_EQ(y(i, 0), one);
  const auto x = random_matrix<T>(kRows, 1, 3);
  for (int repeat = 0; repeat < 100; ++repeat) {
    algorithms::copy(kRows, &x(0, 0), Index{1}, y.data(), Index{0}, Index{4});
    ASSERT_EQ(y(0, 0), x(kRows - 1, 0));
  }
  copy_by_name(Index{-1}, &one, Index{1}, static_cast<T*>(nullptr), Index{1});
}

TYPED_TEST(CopyTest, TransposesThereAndBack) {
  using T = TypeParam;
  const auto a = random_matrix<T>(kCols, kRows, 2);  // its columns are the rows of the other
  Padded<T> transposed(kRows, kCols, 3), back(kCols, kRows);
  for (Index j = 0; j < kCols; ++j) {
    copy_by_name(kRows, &a(j, 0), a.ld(), &transposed(0, j), Index{1});
  }
  for (Index j = 0; j < kCols; ++j) {
    copy_by_name(kRows, &transposed(0, j), Index{1}, &back(j, 0), back.ld());
  }
  Index wrong = 0;
  for (Index j = 0; j < kCols; ++j) {
    for (Index i = 0; i < kRows; ++i) {
      wrong += transposed(i, j) != a(j, i) || back(j, i) != a(j, i);
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(transposed.padding_untouched());
}

/// Enough for memory to be provided.
TEST(Copy, TransposesIntoNewMemory) {
  constexpr Index kMany = 400;
  const auto a = random_matrix<double>(kMany, kRows, 4);
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::unique_ptr<double[]> b(new double[kRows * kMany]);
    for (Index j = 0; j < kMany; ++j) {
      copy_by_name(kRows, &a(j, 0), a.ld(), b.get() + j * kRows, Index{1});
    }
    Index wrong = 0;
    for (Index j = 0; j < kMany; ++j) {
      for (Index i = 0; i < kRows; ++i)
        wrong += b[static_cast<std::size_t>(j * kRows + i)] != a(j, i);
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Copy, BySpellingsOfEitherWidth) {
  const double x[] = {1, 2, 3};
  double y[3] = {};
  const std::int32_t three = 3, back = -1, on = 1;
  scipy_lp64::d::scipy_dcopy_(&three, x, &back, y, &on);
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(y[2], 1);
  const std::int64_t wide_three = 3, wide_on = 1;
  ilp64::d::dcopy_64_(&wide_three, x, &wide_on, y, &wide_on);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[2], 3);
}

}  // namespace
}  // namespace overlapack
