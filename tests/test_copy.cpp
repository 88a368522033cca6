// BLAS's ?copy: NumPy's way from rows to columns and back.
#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "algorithms/strided_copy.hpp"
#include "algorithms/workers.hpp"
#include "cpu/loader.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/numpy_loop.hpp"
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

/// A matrix that lies by rows. The first one begins with a line.
template <class T>
struct ByRows {
  static constexpr Index kRows = 1300;
  explicit ByRows(Index ld) : ld(ld), all(random_matrix<T>(ld * kRows + 4 * kLine, 1, 5)) {
    const auto in_line = reinterpret_cast<std::uintptr_t>(all.data()) % 128 / sizeof(T);
    a = all.data() + (kLine - static_cast<Index>(in_line)) % kLine;
  }
  T& operator()(Index i, Index j) { return a[i * ld + j]; }
  const T* column(Index j) const { return a + j; }

  static constexpr Index kLine = 128 / sizeof(T);
  Index ld;
  Padded<T> all;
  T* a;
};

template <class T>
struct Room : std::vector<T> {
  Room() : std::vector<T>(static_cast<std::size_t>(algorithms::NextColumns<T>::kRoom)) {}
};

TYPED_TEST(CopyTest, OfNextColumns) {
  using T = TypeParam;
  Room<T> room;
  using Matrix = ByRows<T>;
  constexpr Index kLine = Matrix::kLine, kCols = 3 * kLine;
  for (const Index ld : {kCols, 5 * kLine, kCols + 1, Index{2}}) {
    for (const Index first : {Index{0}, Index{1}, kLine - 1}) {
      for (const Index threads : {1, 3}) {
        Matrix a(ld);
        algorithms::NextColumns<T> columns(first == 1 ? nullptr : room.data());
        Padded<T> y(Matrix::kRows, 1, 3);
        for (Index j = first; j < kCols; ++j) {
          columns.copy(Matrix::kRows, a.column(j), ld, y.data(), threads, j % 7 != 0);
          Index wrong = 0;
          for (Index i = 0; i < Matrix::kRows; ++i) wrong += y(i, 0) != a(i, j);
          EXPECT_EQ(wrong, 0) << "ld " << ld << " column " << j << " of those from " << first;
        }
        EXPECT_TRUE(y.padding_untouched());
      }
    }
  }
}

/// What is kept is used where it is said to be unchanged, and nowhere else.
TYPED_TEST(CopyTest, OfNextColumnsThatChange) {
  using T = TypeParam;
  using Matrix = ByRows<T>;
  Matrix a(Matrix::kLine);
  Room<T> room;
  algorithms::NextColumns<T> columns(room.data());
  Padded<T> y(Matrix::kRows, 1);
  const auto copy = [&](Index j, bool unchanged) {
    columns.copy(Matrix::kRows, a.column(j), a.ld, y.data(), 1, unchanged);
  };
  copy(0, false);
  const T old = a(7, 1);
  a(7, 1) = a(Matrix::kRows - 1, 1) = T(2);
  copy(1, true);
  EXPECT_EQ(y(7, 0), old);
  EXPECT_EQ(y(Matrix::kRows - 1, 0), T(2));  // nothing behind the last element has been read
  copy(0, true);                             // not the next one
  EXPECT_EQ(y(7, 0), a(7, 0));
  copy(1, false);
  EXPECT_EQ(y(7, 0), T(2));
  a(7, 2) = T(3);
  copy(2, true);
  EXPECT_NE(y(7, 0), T(3));
  a(7, 3) = T(4);
  copy(3, false);
  EXPECT_EQ(y(7, 0), T(4));
}

TEST(Copy, KnowsWhoCalls) {
  EXPECT_TRUE(cpu::is_in_numpy_linalg(reinterpret_cast<const void*>(&numpy_loop)));
  EXPECT_FALSE(cpu::is_in_numpy_linalg(reinterpret_cast<const void*>(&std::abort)));
  EXPECT_FALSE(cpu::is_in_numpy_linalg(&kRows));  // of the program, which has no name
  EXPECT_FALSE(cpu::is_in_numpy_linalg(nullptr));
}

/// Of NumPy's loop, with its columns in lines of their own or not.
TEST(Copy, ReadsAlongForNumPy) {
  for (const Index ld : {80, 81}) {
    auto a = random_matrix<double>(ld * kRows + 1, 1, 6);
    for (const Index first : {0, 1}) {
      Padded<double> y(kRows, kCols);
      for (int repetition = 0; repetition < 3; ++repetition) {
        numpy_loop(&scipy_ilp64::d::scipy_dcopy_64_, kRows, kCols, a.data() + first, ld, y.data());
        Index wrong = 0;
        for (Index j = 0; j < kCols; ++j) {
          for (Index i = 0; i < kRows; ++i) wrong += y(i, j) != a(i * ld + first + j, 0);
        }
        EXPECT_EQ(wrong, 0);
      }
    }
  }
}

/// Only NumPy's loop itself leaves the next column alone: not what it may call, and nobody else.
TEST(Copy, SeesWhatHasChangedInBetween) {
  constexpr Index kLd = 80;
  auto a = random_matrix<double>(kLd * kRows, 1, 7);
  Padded<double> y(kRows, kCols);
  struct Change {
    double* next;
    bool by_numpy;
  } change{};
  const auto between = [](void* data) {
    auto& [next, by_numpy] = *static_cast<Change*>(data);
    const auto start = std::chrono::steady_clock::now();
    while (by_numpy && std::chrono::steady_clock::now() - start < std::chrono::microseconds(3)) {
    }
    next[(kRows / 2) * kLd] = 5;
    ++next;
  };
  const auto expect_changes = [&] {
    Index changed = 0;
    for (Index j = 1; j < kCols; ++j) changed += y(kRows / 2, j) == 5;
    EXPECT_EQ(changed, kCols - 1);
  };
  change = {a.data() + 1, true};
  numpy_loop(&scipy_ilp64::d::scipy_dcopy_64_, kRows, kCols, a.data(), kLd, y.data(), between,
             &change);
  expect_changes();
  a = random_matrix<double>(kLd * kRows, 1, 8);
  change = {a.data() + 1, false};
  for (Index j = 0; j < kCols; ++j) {
    copy_by_name(kRows, a.data() + j, kLd, y.data() + j * kRows, Index{1});
    between(&change);
  }
  expect_changes();
}

/// A thread may copy to its very end, when the memory is gone in which columns were kept.
TEST(Copy, AsLongAsThereIsAThread) {
  static auto a = random_matrix<double>(80 * kRows, 1, 9);
  static Padded<double> y(kRows, kCols);
  const auto copy = [](Index first, Index columns) {
    numpy_loop(&scipy_ilp64::d::scipy_dcopy_64_, kRows, columns, a.data() + first, 80,
               y.data() + first * kRows);
  };
  copy(0, kCols);  // makes the memory's key
  constexpr Index kEarly = 20;
  static pthread_key_t key;  // of a destructor that comes after the memory's
  ASSERT_EQ(
      pthread_key_create(
          &key, [](void* call) { (*static_cast<decltype(copy)*>(call))(kEarly, kCols - kEarly); }),
      0);
  for (int round = 0; round < 10; ++round) {
    y = Padded<double>(kRows, kCols);
    std::thread([&] {
      pthread_setspecific(key, &copy);
      copy(0, kEarly);
    }).join();
    Index wrong = 0;
    for (Index j = 0; j < kCols; ++j) {
      for (Index i = 0; i < kRows; ++i) wrong += y(i, j) != a(i * 80 + j, 0);
    }
    ASSERT_EQ(wrong, 0);
  }
  pthread_key_delete(key);
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
