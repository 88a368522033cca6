// Memory that is written for the first time: what is provided of it, and that it stays as it is.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/calls.hpp"
#include "host/new_memory.hpp"
#include "host/process_memory.hpp"
#include "host/strided_copy.hpp"
#include "host/workers.hpp"
#include "support/matrices.hpp"
#include "support/numpy_loop.hpp"
#include "support/threads.hpp"

namespace overlapack::algorithms {
namespace {

using testing_support::Padded;
using testing_support::random_matrix;
using testing_support::threads_of_process;

constexpr std::size_t kPage = 4096, kLarge = 2 << 20;

/// What comes from there comes from NumPy.
const void* const kNumPy = reinterpret_cast<const void*>(&testing_support::numpy_loop);

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
  if (is_watched()) GTEST_SKIP() << "a sanitizer, or valgrind";
  constexpr Index kRows = 5000;
  const auto x = random_matrix<double>(kRows, 1, 1);
  struct Way {
    const void* caller;
    Index pitch;
  };
  for (const auto& [caller, pitch] : {Way{kNumPy, 4096}, {kNumPy, 4104}, {nullptr, 4096}}) {
    const bool small = caller == kNumPy && pitch == 4096;
    const auto bytes = static_cast<std::size_t>(kRows * pitch) * sizeof(double);
    const NewMemory memory(bytes / kLarge + 2);
    const std::uintptr_t end = memory.at(bytes - static_cast<std::size_t>(pitch) * sizeof(double));
    auto* const y = reinterpret_cast<double*>(memory.begin());
    y[0] = 1;  // as malloc() does, next to it
    dispatch::copy<double>(caller, kRows, &x(0, 0), 1, y, pitch);
    for (const std::uintptr_t address : {memory.at(kLarge), end}) {
      EXPECT_EQ(may_be_large(address), !small);
    }
    EXPECT_TRUE(may_be_large(end + kPage));
    for (Index i = 0; i < kRows; ++i) ASSERT_EQ(y[i * pitch], x(i, 0));
    y[1] = 1;
    dispatch::copy<double>(caller, kRows - 1, &x(0, 0), 1, y + 1, pitch);  // not new any more
    EXPECT_EQ(may_be_large(memory.at(kLarge)), !small);
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
    std::vector<double> room(static_cast<std::size_t>(NextColumns<double>::kKeptElements));
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
bool kernel_provides_memory() {
  const NewMemory memory(1);
  provide(memory.at(0), memory.at(kLarge), 1);
  return !memory.is_missing(0, kLarge);
}

class ProvideMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernel_provides_memory()) GTEST_SKIP() << "the kernel does not provide memory";
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

/// What malloc() gives with pages of its own, whatever it has given and got back before.
class Allocation : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 11 * kLarge + 1000;
  using Bytes = std::unique_ptr<char, void (*)(void*)>;
  static Bytes allocate(std::size_t bytes = kBytes) {
    return {static_cast<char*>(std::malloc(bytes)), std::free};
  }
  static std::uintptr_t at(const Bytes& bytes, std::size_t offset = 0) {
    return reinterpret_cast<std::uintptr_t>(bytes.get()) + offset;
  }
  void SetUp() override {
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    const Bytes bytes = allocate();
    if (!allocation_at(at(bytes)).contains(at(bytes))) GTEST_SKIP() << "another malloc()";
  }
};

TEST_F(Allocation, HasAnEnd) {
  const Bytes bytes = allocate();
  const Memory memory = allocation_at(at(bytes));
  EXPECT_EQ(memory.begin, at(bytes));
  EXPECT_GE(memory.end, at(bytes, kBytes));
  EXPECT_LE(memory.end, at(bytes, kBytes + kPage));
  EXPECT_TRUE(memory.contains(at(bytes, kBytes - 1)));
  EXPECT_FALSE(memory.contains(at(bytes) - 1));
  EXPECT_FALSE(memory.contains(at(bytes, kBytes + kPage)));
}

TEST_F(Allocation, IsThereUntilItIsGivenBack) {
  Bytes bytes = allocate();
  const Memory memory = allocation_at(at(bytes));
  errno = ERANGE;
  EXPECT_TRUE(is_there(memory));
  EXPECT_FALSE(is_there({memory.begin, memory.end + kPage}));
  EXPECT_FALSE(is_there({memory.begin, memory.end + (std::uintptr_t{1} << 32)}));
  EXPECT_FALSE(is_there({memory.begin + kPage, memory.end}));
  bytes.reset();
  EXPECT_FALSE(is_there(memory));
  EXPECT_EQ(errno, ERANGE);
}

TEST_F(Allocation, IsKnownHere) {
  EXPECT_FALSE(is_watched());
  std::free(
      testing_support::numpy_memory(1));  // or it would not be known yet what the call goes to
  EXPECT_TRUE(malloc_is_glibcs(kNumPy));
  EXPECT_FALSE(malloc_is_glibcs(nullptr));
}

TEST_F(Allocation, IsNoOtherMemory) {
  const Bytes bytes = allocate(), small = allocate(100);
  const auto is_none = [](std::uintptr_t begin) {
    const Memory memory = allocation_at(begin);
    return memory.begin == 0 && memory.end == 0;
  };
  EXPECT_TRUE(is_none(at(small)));
  EXPECT_TRUE(is_none(at(bytes, 1)));
  EXPECT_TRUE(is_none(at(bytes, kPage))) << "zeros before it";
  const Bytes aligned(static_cast<char*>(std::aligned_alloc(kPage, kBytes / kPage * kPage)),
                      std::free);
  EXPECT_TRUE(is_none(at(aligned)));
  EXPECT_TRUE(is_none(at(aligned, 2 * sizeof(std::size_t))));
  auto* const words = reinterpret_cast<std::size_t*>(aligned.get());
  const auto with_words = [&](std::size_t first, std::size_t second) {
    words[0] = first;
    words[1] = second;
    return is_none(at(aligned, 2 * sizeof(std::size_t)));
  };
  EXPECT_FALSE(with_words(0, kPage | 2));  // so it is these that tell
  EXPECT_TRUE(with_words(0, kPage));
  EXPECT_TRUE(with_words(0, kPage | 3));
  EXPECT_TRUE(with_words(0, (kPage + 16) | 2));
  EXPECT_TRUE(with_words(kPage, kPage | 2));
  EXPECT_TRUE(with_words(0, 2));
  EXPECT_TRUE(with_words(0, 0));
  EXPECT_TRUE(with_words(0, (std::size_t{1} << 46) | 2)) << "there is no memory";
  EXPECT_TRUE(with_words(0, 0x3FF0000000000002)) << "1 + 2^-51, in a matrix";
  EXPECT_TRUE(with_words(0, 0xBFF0000000000002));
  EXPECT_TRUE(is_none(at(bytes) | std::uintptr_t{1} << 57)) << "a tag";
}

/// Memory that malloc() has taken from its heap, wherever it begins in a page.
TEST_F(Allocation, IsNotOfTheHeap) {
  mallopt(M_MMAP_MAX, 0);
  constexpr std::size_t kBlocks = 300;  // each begins 16 bytes later in a page than the last
  std::vector<Bytes> blocks;
  blocks.reserve(kBlocks);
  bool begins_like_pages = false;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks.push_back(allocate(kPage + 8));
    begins_like_pages = begins_like_pages || at(blocks.back()) % kPage == 16;
    EXPECT_EQ(allocation_at(at(blocks.back())).end, 0u);
  }
  mallopt(M_MMAP_MAX, 65536);
  EXPECT_TRUE(begins_like_pages);
}

/// Columns that are announced in it are untouched as far as it goes, but for what has been there.
TEST_F(Allocation, WhatIsUntouchedOfIt) {
  constexpr std::size_t kColumn = 64 << 10, kColumns = kBytes / kColumn;
  const Bytes bytes = allocate();
  NewColumns columns(allocation_at(at(bytes)));
  const auto untouched = [&](std::size_t j, Index n = 1000) {
    columns.before(at(bytes, j * kColumn), kColumn, n, 2);
    return columns.untouched();
  };
  EXPECT_EQ(untouched(0), 0) << "nobody knows where the next one begins";
  EXPECT_EQ(untouched(1), kColumns - 1);
  EXPECT_EQ(untouched(2), kColumns - 2);
  EXPECT_EQ(untouched(kColumns - 1), 0) << "another matrix";

  for (const std::size_t there : {5 * kColumn + 100, 5 * kLarge}) {
    const Bytes others = allocate();
    others.get()[there] = 'x';
    columns = NewColumns(allocation_at(at(others)));
    bool seen = false;
    for (std::size_t j = 0; j < kColumns; ++j) {
      columns.before(at(others, j * kColumn), kColumn, 1000, 2);
      seen = seen || columns.untouched() > 0;
      ASSERT_TRUE(columns.untouched() == 0 || j * kColumn > there) << j;
    }
    EXPECT_EQ(seen, there < kLarge) << "the next large pages are";
    EXPECT_EQ(others.get()[there], 'x');
  }
}

TEST_F(Allocation, NothingIsUntouchedOutsideOfIt) {
  constexpr std::size_t kColumn = 64 << 10;
  const Bytes bytes = allocate(), others = allocate();
  NewColumns columns(allocation_at(at(bytes)));
  const auto announce = [&](const Bytes& memory, Index n, Index threads) {
    for (std::size_t j = 0; j < 70; ++j) {  // 4 MB and more
      columns.before(at(memory, j * kColumn), kColumn, n, threads);
    }
    return columns.untouched();
  };
  EXPECT_EQ(announce(bytes, 80, 1), 0) << "one thread provides nothing";
  columns = NewColumns(allocation_at(at(bytes)));
  EXPECT_EQ(announce(bytes, 80, 2), kBytes / kColumn - 69) << "of a wide matrix, too";
  EXPECT_NE(is_new(bytes.get() + kBytes - 2 * kLarge), kernel_provides_memory())
      << "what will be written behind it";
  EXPECT_EQ(announce(others, 80, 2), 0);
  columns = NewColumns();
  EXPECT_EQ(announce(others, 80, 2), 0);
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
  if (is_watched()) GTEST_SKIP() << "a sanitizer, or valgrind";
  constexpr Index kRows = 64 << 10, kCols = 24;  // 12 MB; the first 16 copies are by one thread
  const auto x = random_matrix<double>(kCols, kRows, 1);
  for (const void* const caller : {kNumPy, static_cast<const void*>(nullptr)}) {
    const NewMemory memory(20);
    auto* const y = reinterpret_cast<double*>(memory.begin());
    const auto copy = [&](Index first, Index last) {
      for (Index j = first; j < last; ++j) {
        dispatch::copy<double>(caller, kRows, &x(j, 0), x.ld(), y + j * kRows, 1);
      }
    };
    copy(0, kCols - 4);  // 10 MB
    EXPECT_EQ(memory.is_missing(5 * kLarge, 6 * kLarge), caller != kNumPy);
    copy(kCols - 4, kCols);
    EXPECT_TRUE(memory.is_there(0, 6 * kLarge));
    EXPECT_TRUE(memory.is_missing(6 * kLarge, 20 * kLarge));
  }
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
  for (std::size_t j = 500; j > 0; --j) {
    columns.before(memory.at(j * kColumn), kColumn, kOrder, 2);
  }
  announce(columns, memory, 10 * kLarge, kColumn, kColumn, kOrder, 3);  // of another matrix
  EXPECT_TRUE(memory.is_missing(0, 20 * kLarge));
}

}  // namespace
}  // namespace overlapack::algorithms
