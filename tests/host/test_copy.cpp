// BLAS's ?copy: NumPy's way from rows to columns and back.
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "cpu/loader.hpp"
#include "exported.hpp"
#include "host/new_memory.hpp"
#include "host/process_memory.hpp"
#include "host/strided_copy.hpp"
#include "host/workers.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/numpy_loop.hpp"
#include "support/threads.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
namespace ilp64 = compat::ilp64;
namespace scipy_lp64 = compat::scipy_lp64;
namespace scipy_ilp64 = compat::scipy_ilp64;

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

struct Increments {
  Index n, incx, incy, threads;  // no threads: by the name of BLAS

  std::string name() const {
    return (testing::Message() << "n " << n << " incx " << incx << " incy " << incy << " threads "
                               << threads)
        .GetString();
  }
  /// Where element i of n with that increment lies.
  Index place(Index increment, Index i) const {
    return increment < 0 ? (i - n + 1) * increment : i * increment;
  }
};

TYPED_TEST(CopyTest, IncrementsOfEitherSign) {
  using T = TypeParam;
  constexpr Index kNumbers[] = {0, 1, 3, 2500}, kIncrements[] = {-40, -2, -1, 1, 2, 40};
  constexpr Index kThreads[] = {0, 1, 3, 1000};
  const auto x = random_matrix<T>(2500 * 40 + 1, 1, 1);
  for (const Increments& c : cross<Increments>(kNumbers, kIncrements, kIncrements, kThreads)) {
    Padded<T> y(c.n * std::abs(c.incy) + 1, 1), expected = y;
    for (Index i = 0; i < c.n; ++i) expected(c.place(c.incy, i), 0) = x(c.place(c.incx, i), 0);
    if (c.threads == 0) {
      copy_by_name(c.n, &x(0, 0), c.incx, &y(0, 0), c.incy);
    } else {
      algorithms::copy(c.n, &x(0, 0), c.incx, &y(0, 0), c.incy, c.threads);
    }
    EXPECT_TRUE(equal_elements(y, expected)) << c.name();
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
  constexpr Index kColumnCount = 400;
  const auto a = random_matrix<double>(kColumnCount, kRows, 4);
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::unique_ptr<double[]> b(new double[kRows * kColumnCount]);
    for (Index j = 0; j < kColumnCount; ++j) {
      copy_by_name(kRows, &a(j, 0), a.ld(), b.get() + j * kRows, Index{1});
    }
    Index wrong = 0;
    for (Index j = 0; j < kColumnCount; ++j) {
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
  Room() : std::vector<T>(static_cast<std::size_t>(algorithms::NextColumns<T>::kKeptElements)) {}
};

/// Columns from the first on, of a matrix by rows.
struct NextColumnsCase {
  Index ld, first, threads;

  std::string name() const {
    return (testing::Message() << "ld " << ld << ", columns from " << first << " on, " << threads
                               << " threads")
        .GetString();
  }
};

TYPED_TEST(CopyTest, OfNextColumns) {
  using T = TypeParam;
  Room<T> room;
  using Matrix = ByRows<T>;
  constexpr Index kLine = Matrix::kLine, kCols = 3 * kLine;
  constexpr Index kPitches[] = {kCols, 5 * kLine, kCols + 1, 2}, kFirst[] = {0, 1, kLine - 1};
  constexpr Index kThreads[] = {1, 3};
  for (const auto& c : cross<NextColumnsCase>(kPitches, kFirst, kThreads)) {
    SCOPED_TRACE(c.name());
    Matrix a(c.ld);
    algorithms::NextColumns<T> columns(c.first == 1 ? nullptr : room.data());
    Padded<T> y(Matrix::kRows, 1, 3);
    for (Index j = c.first; j < kCols; ++j) {
      columns.copy(Matrix::kRows, a.column(j), c.ld, y.data(), c.threads, j % 7 != 0);
      EXPECT_TRUE(
          all_elements({Matrix::kRows, 1}, [&](Index i, Index) { return y(i, 0) == a(i, j); }))
          << "of column " << j;
    }
    EXPECT_TRUE(y.padding_untouched());
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
        numpy_loop(&scipy_ilp64::d::scipy_dcopy_64_, kRows, kCols, {a.data() + first, ld, 1},
                   {y.data(), 1, kRows});
        EXPECT_TRUE(all_elements(
            {kRows, kCols}, [&](Index i, Index j) { return y(i, j) == a(i * ld + first + j, 0); }));
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
    while (by_numpy && std::chrono::steady_clock::now() - start < std::chrono::microseconds(25)) {
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
  numpy_loop(&scipy_ilp64::d::scipy_dcopy_64_, kRows, kCols, {a.data(), kLd, 1},
             {y.data(), 1, kRows}, between, &change);
  expect_changes();
  a = random_matrix<double>(kLd * kRows, 1, 8);
  change = {a.data() + 1, false};
  for (Index j = 0; j < kCols; ++j) {
    copy_by_name(kRows, a.data() + j, kLd, y.data() + j * kRows, Index{1});
    between(&change);
  }
  expect_changes();
}

enum class Order { rows, columns };

/// A matrix of n x count elements, whose lines in memory are its rows or its columns.
template <class T>
struct Ordered {
  Ordered(Order order, Index n, Index count, Index offset)
      : order(order),
        offset(offset),
        all((order == Order::rows ? count : n) + 4, order == Order::rows ? n : count) {}
  algorithms::Strided<T> strided() {
    T* const begin = all.data() + offset;
    return order == Order::rows ? algorithms::Strided<T>{begin, all.ld(), 1}
                                : algorithms::Strided<T>{begin, 1, all.ld()};
  }
  /// The first rows and columns of x.
  void fill(const Padded<T>& x, Index rows, Index columns) {
    const auto to = strided();
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) to.column(j)[i * to.inc] = x(i, j);
    }
  }
  Order order;
  Index offset;
  Padded<T> all;
};

struct AheadCase {
  struct Way {
    Order from, to;
  } way;
  Index columns, offset, threads;

  std::string name() const {
    const auto name_of = [](Order order) { return order == Order::rows ? "rows" : "columns"; };
    return (testing::Message() << "from " << name_of(way.from) << " to " << name_of(way.to) << ", "
                               << columns << " columns, offset " << offset << ", " << threads
                               << " threads")
        .GetString();
  }
};

/// Y = X, whatever the order of either: in one piece, with what waits for its turn.
TYPED_TEST(CopyTest, OfColumnsAhead) {
  using T = TypeParam;
  constexpr Index kN = 1300, kAll = 150;
  constexpr AheadCase::Way kWays[] = {{Order::rows, Order::columns},
                                      {Order::columns, Order::rows},
                                      {Order::columns, Order::columns}};
  constexpr Index kColumns[] = {2, 64, kAll}, kOffsets[] = {0, 1, 3}, kThreads[] = {1, 3};
  const auto x = random_matrix<T>(kN, kAll, 11);
  for (const auto& c : cross<AheadCase>(kWays, kColumns, kOffsets, kThreads)) {
    SCOPED_TRACE(c.name());
    Ordered<T> source(c.way.from, kN, kAll, 0), target(c.way.to, kN, kAll, c.offset);
    source.fill(x, kN, kAll);
    auto expected = target;
    expected.fill(x, kN - 1, c.columns);
    const auto a = source.strided(), y = target.strided();
    algorithms::ColumnsAhead<T> ahead;
    EXPECT_FALSE(ahead.take(kN, a.begin, y.begin));
    ahead.copy(kN, c.columns, {a.begin, a.inc, a.ld}, y, c.threads);
    EXPECT_TRUE(same_bits(target.all, expected.all)) << "before the last row";
    EXPECT_FALSE(ahead.take(kN, a.column(1), y.column(1))) << "not the next one";
    for (Index j = 0; j < c.columns; ++j) {
      EXPECT_FALSE(ahead.take(kN, a.column(j), y.column(j) + 1));
      EXPECT_TRUE(ahead.take(kN, a.column(j), y.column(j)));
    }
    EXPECT_FALSE(ahead.take(kN, a.column(c.columns), y.column(c.columns))) << "none is left";
    expected.fill(x, kN, c.columns);
    EXPECT_TRUE(same_bits(target.all, expected.all));
  }
}

/// NumPy's loops between matrices that malloc() has given pages of their own.
class NumPyCopy : public testing::Test {
 protected:
  static constexpr Index kN = 2100, kColumns = 900;
  using Elements = std::unique_ptr<double, void (*)(void*)>;
  struct Layout {
    Index inc, ld;
  };
  static constexpr Layout kByRows{kColumns, 1}, kByColumns{1, kN};
  struct Way {
    Layout from, to;
  };
  static constexpr Way kWays[] = {
      {kByRows, kByColumns}, {kByColumns, kByRows}, {kByColumns, kByColumns}};

  static Elements allocate(Index count = kN * kColumns) { return {numpy_memory(count), std::free}; }
  static Elements random(unsigned seed) {
    const auto values = random_matrix<double>(kN * kColumns, 1, seed);
    Elements elements = allocate();
    std::copy_n(&values(0, 0), kN * kColumns, elements.get());
    return elements;
  }
  /// For that way. What is copied back into rows is where NumPy has copied a matrix to before.
  static Elements random(unsigned seed, const Way& way) {
    Elements elements = random(seed);
    if (way.to.inc == 1) return elements;
    Elements memory = allocate();
    copy(elements.get(), kByColumns, memory.get(), kByColumns);
    return memory;
  }
  static std::uintptr_t address(const double* element) {
    return reinterpret_cast<std::uintptr_t>(element);
  }
  void SetUp() override {
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    if (algorithms::is_watched()) GTEST_SKIP() << "a sanitizer, or valgrind";
    const Elements a = allocate();  // or it would not be known yet what the call goes to
    if (!algorithms::malloc_is_glibcs(reinterpret_cast<const void*>(&numpy_loop)) ||
        !algorithms::allocation_at(address(a.get())).contains(address(a.get()))) {
      GTEST_SKIP() << "another malloc()";
    }
    if (!algorithms::is_new(a.get() + 1024)) GTEST_SKIP() << "malloc() writes to what it gives";
  }

  static void copy(const double* x, Layout from, double* y, Layout to, Index columns = kColumns,
                   void (*between)(void*) = nullptr, void* data = nullptr) {
    numpy_loop(&scipy_ilp64::d::scipy_dcopy_64_, kN, columns, {x, from.inc, from.ld},
               {y, to.inc, to.ld}, between, data);
  }
  static Index differences(const double* x, Layout from, const double* y, Layout to,
                           Index columns = kColumns) {
    Index found = 0;
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < kN; ++i) {
        found += x[i * from.inc + j * from.ld] != y[i * to.inc + j * to.ld];
      }
    }
    return found;
  }
};

TEST_F(NumPyCopy, WhateverTheOrder) {
  for (const Way& way : kWays) {
    const auto& [from, to] = way;
    const Elements a = random(21, way);
    for (int repetition = 0; repetition < 3; ++repetition) {
      const Elements y = allocate();
      copy(a.get(), from, y.get(), to);
      EXPECT_EQ(differences(a.get(), from, y.get(), to), 0);
      copy(a.get(), from, y.get(), to);  // it is not new any more
      EXPECT_EQ(differences(a.get(), from, y.get(), to), 0);
    }
  }
}

/// Columns that change after those before them have been copied.
struct Changing {
  double *next, *end;
  Index ld;
  std::chrono::microseconds after;
  static void change(void* data) {
    auto& [next, end, ld, after] = *static_cast<Changing*>(data);
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < after) {
    }
    if (next < end) *next = 5;
    next += ld;
  }
};

/// That is how one sees it. Other processes may take the core away for a while.
TEST_F(NumPyCopy, CopiesAhead) {
  if (available_cores() < 2) GTEST_SKIP() << "the process has one core";
  for (const Way& way : kWays) {
    const auto& [from, to] = way;
    Index seen = kColumns;
    for (int attempt = 0; attempt < 100 && seen > kColumns / 2; ++attempt) {
      const Elements a = random(22, way), y = allocate();
      Changing changing{a.get() + from.ld, a.get() + kColumns * from.ld, from.ld, {}};
      copy(a.get(), from, y.get(), to, kColumns, &Changing::change, &changing);
      seen = 0;
      for (Index j = 1; j < kColumns; ++j) seen += y.get()[j * to.ld] == 5;
    }
    EXPECT_LT(seen, kColumns / 2);
  }
}

/// From the middle of the allocation that NumPy has copied to before, as it does with an inverse;
/// and from memory that is there instead of it.
TEST_F(NumPyCopy, KnowsItsLastAllocation) {
  if (available_cores() < 2) GTEST_SKIP() << "the process has one core";
  constexpr Index kCopied = kColumns / 2;
  const Elements a = random(29);
  Index seen = kCopied;
  for (int attempt = 0; attempt < 100 && seen > kCopied / 2; ++attempt) {
    const Elements memory = allocate(), y = allocate();
    double* const result = memory.get() + kCopied * kN;
    copy(a.get(), kByRows, memory.get(), kByColumns, kCopied);
    std::copy_n(memory.get(), kCopied * kN, result);
    Changing changing{result + kN, result + kCopied * kN, kN, {}};
    copy(result, kByColumns, y.get(), {kCopied, 1}, kCopied, &Changing::change, &changing);
    seen = 0;
    for (Index j = 1; j < kCopied; ++j) seen += y.get()[j] == 5;
  }
  EXPECT_LT(seen, kCopied / 2);

  const auto elsewhere = [&](bool has_beginning) {
    Elements memory = allocate();
    const std::uintptr_t begin = address(memory.get()) - 2 * sizeof(double);
    const Index kept = kCopied * kN, bytes = (kN * kColumns * 8 + 16 + 4095) / 4096 * 4096;
    copy(a.get(), kByRows, memory.get(), kByColumns, kCopied);
    memory.reset();
    // A matrix of fewer columns in the middle than there were, nothing behind it.
    constexpr Index kFoundColumns = 200, kRowPitch = 300;
    const std::uintptr_t middle = (begin + kept * sizeof(double)) / 4096 * 4096,
                         behind = middle + kFoundColumns * kN * sizeof(double) / 4096 * 4096;
    const auto map = [](std::uintptr_t from, std::uintptr_t to, int access) {
      void* const at = reinterpret_cast<void*>(from);
      return mmap(at, to - from, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                  0) == at;
    };
    if (!map(middle, behind, PROT_READ | PROT_WRITE)) return;  // somebody else's
    const bool both = map(behind, begin + bytes, PROT_NONE);
    const bool first = has_beginning && map(begin, middle, PROT_READ | PROT_WRITE);
    const auto* const x = reinterpret_cast<const double*>(middle);
    const Elements y = allocate();
    copy(x, kByColumns, y.get(), {kRowPitch, 1}, kFoundColumns - 1);
    EXPECT_EQ(differences(x, kByColumns, y.get(), {kRowPitch, 1}, kFoundColumns - 1), 0);
    munmap(reinterpret_cast<void*>(middle), behind - middle);
    if (both) munmap(reinterpret_cast<void*>(behind), begin + bytes - behind);
    if (first) munmap(reinterpret_cast<void*>(begin), middle - begin);
  };
  elsewhere(false);
  elsewhere(true);
}

TEST_F(NumPyCopy, SeesWhatHasChangedWhenTimeHasPassed) {
  for (const Way& way : kWays) {
    const auto& [from, to] = way;
    const Elements a = random(23, way), y = allocate();
    Changing changing{a.get() + from.ld, a.get() + kColumns * from.ld, from.ld,
                      std::chrono::microseconds(25)};
    copy(a.get(), from, y.get(), to, kColumns, &Changing::change, &changing);
    EXPECT_EQ(differences(a.get(), from, y.get(), to), 0);
  }
}

/// Of a matrix that is part of a larger one nothing else is written where somebody has been.
TEST_F(NumPyCopy, LeavesWhatIsThere) {
  constexpr Index kCopied = 400, kPage = 4096 / sizeof(double);
  for (const Way& way : kWays) {
    const auto& [from, to] = way;
    const Elements a = random(24, way);
    for (const Index row : {Index{0}, kN / 2, kN - 1}) {
      const Elements y = allocate();
      // The first whole page behind the columns, or in a row behind them.
      const Index last = to.inc == 1 ? kCopied * kN : row * to.inc + kCopied;
      double* const page = y.get() + (last / kPage + 1) * kPage;
      if (page >= y.get() + kN * kColumns) continue;
      *page = 7;
      copy(a.get(), from, y.get(), to, kCopied);
      EXPECT_EQ(differences(a.get(), from, y.get(), to, kCopied), 0);
      EXPECT_EQ(*page, 7);
    }
  }
}

/// A result may be for a part of a larger matrix, of which the rest is zero without anybody having
/// written to it.
TEST_F(NumPyCopy, LeavesTheRestOfAMatrix) {
  constexpr Index kRowPitch = 2 * kColumns, kColumnPitch = kN + 100;
  struct Place {
    Layout to;
    Index behind;  // columns in NumPy's memory
  };
  const Elements a = random(30);
  for (const auto& [to, behind] :
       {Place{{kRowPitch, 1}, 100},
        {{kRowPitch, 1}, kRowPitch},
        {{kColumns + 1, 1}, 1},  // of an inverse, behind which are as many pivots
        {kByColumns, 100},
        {{kColumnPitch, 1}, kN}}) {
    for (const Index first : {Index{0}, kColumns}) {  // the result is where A was, or behind it
      const Elements memory = allocate((first + kColumns + behind) * kN);
      copy(a.get(), kByRows, memory.get(), kByColumns);
      double* const result = memory.get() + first * kN;
      std::copy_n(a.get(), kColumns * kN, result);
      std::fill_n(result + kColumns * kN, behind * kN, 1.0);
      const Elements y(static_cast<double*>(std::calloc(kN * kColumnPitch, sizeof(double))),
                       std::free);
      copy(result, kByColumns, y.get(), to);
      EXPECT_EQ(differences(result, kByColumns, y.get(), to), 0);
      Index written = 0;
      for (Index j = kColumns; j < (to.inc > 1 ? to.inc : kRowPitch); ++j) {
        for (Index i = 0; i < kN; ++i) written += y.get()[i * to.inc + j * to.ld] != 0;
      }
      EXPECT_EQ(written, 0);
    }
  }
}

/// A loop that follows another one at once may be into memory of another kind.
TEST_F(NumPyCopy, WritesNothingIntoOtherMemory) {
  constexpr Index kCopied = 100;
  constexpr std::size_t kBytes = sizeof(double) * kN * kColumns;
  for (const Way& way : kWays) {
    const auto& [from, to] = way;
    const Elements a = random(25, way);
    auto* const other = static_cast<double*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const Elements y = allocate();
    copy(a.get(), from, y.get(), to);
    copy(a.get(), from, other, to, kCopied);
    EXPECT_EQ(differences(a.get(), from, other, to, kCopied), 0);
    Index written = 0;
    for (Index j = kCopied; j < kColumns; ++j) {
      for (Index i = 0; i < kN; ++i) written += other[i * to.inc + j * to.ld] != 0;
    }
    EXPECT_EQ(written, 0);
    munmap(other, kBytes);
  }
}

/// A matrix that ends with the memory of the process, in one of malloc()'s allocations or not.
class LastMatrix {
 public:
  LastMatrix(Index elements, bool is_allocation) {
    const auto needed = static_cast<std::size_t>(elements) * sizeof(double) + kHeader;
    bytes_ = (needed + kPage - 1) / kPage * kPage;
    begin_ = static_cast<char*>(
        mmap(nullptr, bytes_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(begin_ + bytes_, kPage, PROT_NONE);
    if (is_allocation) reinterpret_cast<std::size_t*>(begin_)[1] = bytes_ | 2;
    const auto values = random_matrix<double>(elements, 1, 26);
    std::copy_n(&values(0, 0), elements, data());
  }
  ~LastMatrix() { munmap(begin_, bytes_ + kPage); }
  LastMatrix(const LastMatrix&) = delete;
  double* data() const { return reinterpret_cast<double*>(begin_ + kHeader); }

 private:
  static constexpr std::size_t kPage = 4096, kHeader = 2 * sizeof(std::size_t);
  std::size_t bytes_;
  char* begin_;
};

TEST_F(NumPyCopy, ReadsNothingBehindAMatrix) {
  for (const bool is_allocation : {false, true}) {
    const LastMatrix a(kN * kColumns, is_allocation);
    for (const auto& [from, to] : kWays) {
      const Elements y = allocate(2 * kN * kColumns);
      copy(a.data(), from, y.get(), to);
      EXPECT_EQ(differences(a.data(), from, y.get(), to), 0);
    }
  }
}

/// Nor behind one whose columns follow at once those of an allocation that goes on.
TEST_F(NumPyCopy, ReadsNothingBehindTheNextMatrix) {
  constexpr Index kCopied = 200;
  const Elements a = random(27);
  std::list<LastMatrix> matrices;  // before the allocation in memory, and behind it
  for (int i = 0; i < 10; ++i) {
    const LastMatrix& next = matrices.emplace_back(kCopied * kN, false);
    const Elements y = allocate();
    copy(a.get(), kByColumns, y.get(), kByColumns, kCopied);
    copy(next.data(), kByColumns, y.get() + kCopied * kN, kByColumns, kCopied);
    EXPECT_EQ(differences(a.get(), kByColumns, y.get(), kByColumns, kCopied), 0);
    EXPECT_EQ(differences(next.data(), kByColumns, y.get() + kCopied * kN, kByColumns, kCopied), 0);
  }
}

/// What has been copied ahead is of no use when time has passed, not even when it goes on.
TEST_F(NumPyCopy, ForgetsWhatItHasCopiedAhead) {
  const Elements a = random(28);
  for (int repetition = 0; repetition < 10; ++repetition) {
    const Elements y = allocate();
    copy(a.get(), kByRows, y.get(), kByColumns, 3);
    const auto again = [&](double value) {
      a.get()[3] = value;
      numpy_loop(&scipy_ilp64::d::scipy_dcopy_64_, kN, 1, {a.get() + 3, kByRows.inc, 1},
                 {y.get() + 3 * kN, 1, kN});
      EXPECT_EQ(y.get()[3 * kN], value);
    };
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(25)) {
    }
    again(1);
    again(2);
  }
}

/// A thread may copy to its very end, when the memory is gone in which columns were kept.
TEST(Copy, AsLongAsThereIsAThread) {
  static auto a = random_matrix<double>(80 * kRows, 1, 9);
  static Padded<double> y(kRows, kCols);
  const auto copy = [](Index first, Index columns) {
    numpy_loop(&scipy_ilp64::d::scipy_dcopy_64_, kRows, columns, {a.data() + first, 80, 1},
               {y.data() + first * kRows, 1, kRows});
  };
  copy(0, kCols);  // makes the memory's key
  constexpr Index kEarlyColumns = 20;
  static pthread_key_t key;  // of a destructor that comes after the memory's
  ASSERT_EQ(pthread_key_create(&key,
                               [](void* call) {
                                 (*static_cast<decltype(copy)*>(call))(kEarlyColumns,
                                                                       kCols - kEarlyColumns);
                               }),
            0);
  for (int round = 0; round < 10; ++round) {
    y = Padded<double>(kRows, kCols);
    std::thread([&] {
      pthread_setspecific(key, &copy);
      copy(0, kEarlyColumns);
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
