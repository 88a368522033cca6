// Memory that is written for the first time: what is provided of it, and that it stays as it is.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "algorithms/new_memory.hpp"
#include "algorithms/strided_copy.hpp"
#include "algorithms/workers.hpp"
#include "dispatch/calls.hpp"
#include "support/matrices.hpp"
#include "support/threads.hpp"

namespace overlapack::algorithms {
namespace {

using testing_support::Padded;
using testing_support::random_matrix;
using testing_support::threads_of_process;

constexpr std::size_t kPage = 4096, kLarge = 2 << 20;

/// New memory, `count` large pages from the beginning of one on, with memory behind it that must
/// not be touched.
class NewMemory {
 public:
  explicit NewMemory(std::size_t count) : bytes_((count + 2) * kLarge) {
    all_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const auto first = (reinterpret_cast<std::uintptr_t>(all_) + kLarge - 1) / kLarge * kLarge;
    begin_ = reinterpret_cast<char*>(first);
    mprotect(begin_, count * kLarge, PROT_READ | PROT_WRITE);
  }
  ~NewMemory() { munmap(all_, bytes_); }
  NewMemory(const NewMemory&) = delete;

  char* begin() const { return begin_; }
  std::uintptr_t at(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(begin_) + offset;
  }
  /// Whether all pages between two offsets are there, or none is.
  bool is_there(std::size_t first, std::size_t last) const {
    return pages(first, last) == count(first, last);
  }
  bool is_missing(std::size_t first, std::size_t last) const { return pages(first, last) == 0; }

 private:
  static std::size_t count(std::size_t first, std::size_t last) { return (last - first) / kPage; }
  std::size_t pages(std::size_t first, std::size_t last) const {
    std::vector<unsigned char> there(count(first, last));
    EXPECT_EQ(mincore(begin_ + first, last - first, there.data()), 0);
    std::size_t found = 0;
    for (const unsigned char page : there) found += page & 1;
    return found;
  }

  std::size_t bytes_;
  void* all_;
  char* begin_;
};

// The first of all, since threads that have been made stay.
TEST(NewMemoryTest, OneCopyIntoItIsSharedOutIfItsElementsLieApart) {
  if (available_cores() < 2) GTEST_SKIP() << "the process has one core";
  constexpr Index kRows = 3000, kPitch = 1024;
  const NewMemory memory(12);
  auto* const y = reinterpret_cast<double*>(memory.begin());
  const auto x = random_matrix<double>(kRows, 1, 1);
  const auto before = threads_of_process();
  dispatch::copy<double>(nullptr, kRows, &x(0, 0), 1, y, 2);
  EXPECT_EQ(threads_of_process(), before) << "side by side";
  y[(kRows - 1) * kPitch] = 1;
  dispatch::copy<double>(nullptr, kRows, &x(0, 0), 1, y, kPitch);
  EXPECT_EQ(threads_of_process(), before) << "the last page is there";
  const NewMemory other(12);
  auto* const z = reinterpret_cast<double*>(other.begin());
  dispatch::copy<double>(nullptr, kRows, &x(0, 0), 1, z, kPitch);
  EXPECT_GT(threads_of_process(), before);
  for (Index i = 0; i < kRows; ++i) {
    ASSERT_EQ(y[i * kPitch], x(i, 0));
    ASSERT_EQ(z[i * kPitch], x(i, 0));
  }
}

/// Whether the system may provide large pages at an address.
bool may_be_large(std::uintptr_t address) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2) {
      here = begin <= address && address < end;
    }
    if (here && line.rfind("VmFlags:", 0) == 0) return line.find(" nh") == std::string::npos;
  }
  ADD_FAILURE() << "nothing is there";
  return false;
}

/// Of 5000 elements, few of whose lines have places in a cache if they are 32 KB apart.
TEST(NewMemoryTest, IsInSmallPagesWhereLinesWouldBeInEachOthersWay) {
  constexpr Index kRows = 5000;
  const auto x = random_matrix<double>(kRows, 1, 1);
  for (const Index pitch : {4096, 4104}) {
    const auto bytes = static_cast<std::size_t>(kRows * pitch) * sizeof(double);
    const NewMemory memory(bytes / kLarge + 2);
    const std::uintptr_t end = memory.at(bytes - static_cast<std::size_t>(pitch) * sizeof(double));
    auto* const y = reinterpret_cast<double*>(memory.begin());
    y[0] = 1;  // as malloc() does, next to it
    dispatch::copy<double>(nullptr, kRows, &x(0, 0), 1, y, pitch);
    for (const std::uintptr_t address : {memory.at(kLarge), end}) {
      EXPECT_EQ(may_be_large(address), pitch != 4096);
    }
    EXPECT_TRUE(may_be_large(end + kPage));
    for (Index i = 0; i < kRows; ++i) ASSERT_EQ(y[i * pitch], x(i, 0));
    y[1] = 1;
    dispatch::copy<double>(nullptr, kRows - 1, &x(0, 0), 1, y + 1, pitch);  // not new any more
    EXPECT_EQ(may_be_large(memory.at(kLarge)), pitch != 4096);
  }
}

TEST(NewMemoryTest, SmallPagesWhereThereIsNoMemory) {
  errno = ERANGE;
  provide_small_pages(kPage, 3 * kPage);  // nobody has these
  EXPECT_EQ(errno, ERANGE);
}

/// What is read along with a column is part of the matrix, up to its last element.
TEST(NewMemoryTest, BehindAMatrixIsNotReadAlongWithIt) {
  constexpr Index kRows = 100;
  const NewMemory memory(1);
  auto* const end = reinterpret_cast<double*>(memory.begin() + kLarge);
  for (const Index ld : {2, 15, 16, 17, 48}) {
    double* const a = end - ((kRows - 1) * ld + 2);  // two columns
    std::vector<double> room(static_cast<std::size_t>(NextColumns<double>::kRoom));
    NextColumns<double> columns(room.data());
    Padded<double> y(kRows, 1);
    for (Index j = 0; j < 2; ++j) {
      for (Index i = 0; i < kRows; ++i) a[i * ld + j] = static_cast<double>(i + j);
      columns.copy(kRows, a + j, ld, y.data(), 1, false);
      for (Index i = 0; i < kRows; ++i) EXPECT_EQ(y(i, 0), static_cast<double>(i + j));
    }
  }
}

/// Older kernels have no such service.
class ProvideMemory : public testing::Test {
 protected:
  void SetUp() override {
    const NewMemory memory(1);
    provide(memory.at(0), memory.at(kLarge), 1);
    if (memory.is_missing(0, kLarge)) GTEST_SKIP() << "the kernel does not provide memory";
  }
};

TEST_F(ProvideMemory, WholeLargePagesByAnyNumberOfThreads) {
  for (const Index threads : {1, 3}) {
    const NewMemory memory(6);
    memory.begin()[3 * kLarge + 5] = 'x';
    errno = ERANGE;
    provide(memory.at(100), memory.at(5 * kLarge + 100), threads);
    EXPECT_EQ(errno, ERANGE);
    EXPECT_TRUE(memory.is_there(kLarge, 5 * kLarge));
    EXPECT_TRUE(memory.is_missing(0, kLarge));
    EXPECT_TRUE(memory.is_missing(5 * kLarge, 6 * kLarge));
    EXPECT_EQ(memory.begin()[3 * kLarge + 5], 'x');
  }
}

TEST_F(ProvideMemory, NothingWhereThereIsSomethingOrNoMemory) {
  const NewMemory memory(4);
  memory.begin()[0] = 'x';  // which may bring a large page
  provide(memory.at(0), memory.at(4 * kLarge), 2);
  EXPECT_TRUE(memory.is_missing(kLarge, 4 * kLarge));
  provide(memory.at(4 * kLarge), memory.at(6 * kLarge), 2);  // not the process's to write
  provide(memory.at(kLarge), memory.at(kLarge), 2);
  provide(memory.at(2 * kLarge), memory.at(kLarge), 2);
  provide(memory.at(kLarge), memory.at(2 * kLarge - 1), 2);
  EXPECT_TRUE(memory.is_missing(kLarge, 4 * kLarge));
  provide(memory.at(3 * kLarge), memory.at(5 * kLarge), 2);  // in part
  EXPECT_TRUE(memory.is_missing(kLarge, 3 * kLarge));
}

/// Tells `columns` of the first `count` columns from `offset` on.
void announce(NewColumns& columns, const NewMemory& memory, std::size_t offset, std::size_t pitch,
              std::size_t bytes, Index n, std::size_t count, Index threads = 2) {
  for (std::size_t j = 0; j < count; ++j)
    columns.before(memory.at(offset + j * pitch), bytes, n, threads);
}

TEST_F(ProvideMemory, AsMuchAgainAsHasBeenWritten) {
  constexpr std::size_t kColumn = 64 << 10, kHalf = kLarge / kColumn;  // columns for 2 MB
  constexpr Index kOrder = kColumn / sizeof(double);
  const NewMemory memory(20);
  NewColumns columns;
  announce(columns, memory, 0, kColumn, kColumn, kOrder, 2 * kHalf - 2);
  EXPECT_TRUE(memory.is_missing(0, 20 * kLarge));  // too small until now
  announce(columns, memory, 0, kColumn, kColumn, kOrder, 2 * kHalf + 2);
  EXPECT_TRUE(memory.is_there(2 * kLarge, 3 * kLarge));
  EXPECT_TRUE(memory.is_missing(4 * kLarge, 20 * kLarge));
  announce(columns, memory, 0, kColumn, kColumn, kOrder, 4 * kHalf + 2);
  EXPECT_TRUE(memory.is_there(2 * kLarge, 7 * kLarge));
  EXPECT_TRUE(memory.is_missing(9 * kLarge, 20 * kLarge));
}

/// Of 16 threads three provide the next part while the others copy.
TEST_F(ProvideMemory, InALoopMoreIsProvidedAhead) {
  constexpr std::size_t kColumn = 64 << 10, kHalf = kLarge / kColumn;
  constexpr Index kOrder = 10 * kHalf;
  const NewMemory memory(20);
  NewColumns columns(true);
  const auto before = [&](std::size_t j) {
    return columns.before(memory.at(j * kColumn), kColumn, kOrder, 16);
  };
  Index most = 0;
  for (std::size_t j = 0; j < 2 * kHalf; ++j) most = std::max(most, 16 - before(j));
  EXPECT_EQ(most, 0) << "too small until now";
  EXPECT_TRUE(memory.is_missing(0, 20 * kLarge));
  for (std::size_t j = 2 * kHalf; j < 10 * kHalf; ++j) {
    ASSERT_EQ(before(j), j < 6 * kHalf ? 13 : 16) << j;
    ASSERT_TRUE(memory.is_there(j * kColumn, (j + 1) * kColumn)) << j;
  }
  EXPECT_TRUE(memory.is_missing(10 * kLarge, 20 * kLarge)) << "beyond the square matrix";
}

TEST_F(ProvideMemory, NothingBeyondASquareMatrix) {
  constexpr std::size_t kColumn = 8 << 10;
  constexpr Index kOrder = kColumn / sizeof(double);  // 8 MB
  const NewMemory memory(8);
  NewColumns columns;
  announce(columns, memory, 0, kColumn, kColumn, kOrder, 1500);
  EXPECT_TRUE(memory.is_there(3 * kLarge, 4 * kLarge));
  EXPECT_TRUE(memory.is_missing(4 * kLarge, 8 * kLarge));
}

/// It has no more columns than a row of the source has room for.
TEST_F(ProvideMemory, NothingBehindTheColumnsOfAMatrixByRows) {
  // (The first to ask takes a while, in which a series would end.)
  if (dispatch::cpu_threads(1000) < 2) GTEST_SKIP() << "the process has one core";
  constexpr Index kRows = 64 << 10, kCols = 24;  // 12 MB; the first 16 copies are by one thread
  const auto x = random_matrix<double>(kCols, kRows, 1);
  const NewMemory memory(20);
  auto* const y = reinterpret_cast<double*>(memory.begin());
  for (Index j = 0; j < kCols; ++j) {
    dispatch::copy<double>(nullptr, kRows, &x(j, 0), x.ld(), y + j * kRows, 1);
  }
  EXPECT_TRUE(memory.is_there(0, 6 * kLarge));
  EXPECT_TRUE(memory.is_missing(6 * kLarge, 20 * kLarge));
}

TEST_F(ProvideMemory, NothingThatOthersMayNeed) {
  constexpr std::size_t kColumn = 64 << 10, kHalf = kLarge / kColumn;
  constexpr Index kOrder = kColumn / sizeof(double);
  const NewMemory memory(20);
  const auto share = [&](std::size_t first, std::size_t last) {
    void* const begin = memory.begin() + first * kLarge;
    ASSERT_EQ(mmap(begin, (last - first) * kLarge, PROT_READ | PROT_WRITE,
                   MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS, -1, 0),
              begin);
  };
  share(5, 20);  // behind the matrix
  NewColumns columns;
  announce(columns, memory, 0, kColumn, kColumn, kOrder, 4 * kHalf + 2);
  EXPECT_TRUE(memory.is_there(2 * kLarge, 5 * kLarge));
  EXPECT_TRUE(memory.is_missing(5 * kLarge, 20 * kLarge));
  share(0, 5);  // and all of it
  announce(columns, memory, 0, kColumn, kColumn, kOrder, 10 * kHalf);
  EXPECT_TRUE(memory.is_missing(0, 20 * kLarge));
}

TEST_F(ProvideMemory, NothingForOneThreadOrColumnsThatLieApart) {
  constexpr std::size_t kColumn = 64 << 10;
  constexpr Index kOrder = kColumn / sizeof(double);
  const NewMemory memory(20);
  NewColumns columns;
  announce(columns, memory, 0, kColumn, kColumn, kOrder, 200, 1);  // by one thread
  announce(columns, memory, 0, 2 * kColumn, kColumn, kOrder, 200);
  announce(columns, memory, 0, 0, kColumn, kOrder, 200);  // the same one again and again
  for (std::size_t j = 500; j > 0; --j) columns.before(memory.at(j * kColumn), kColumn, kOrder, 2);
  announce(columns, memory, 10 * kLarge, kColumn, kColumn, kOrder, 3);  // of another matrix
  EXPECT_TRUE(memory.is_missing(0, 20 * kLarge));
}

}  // namespace
}  // namespace overlapack::algorithms
