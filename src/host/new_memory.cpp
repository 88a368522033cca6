#include "host/new_memory.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "host/errno_guard.hpp"
#include "host/process_memory.hpp"
#include "host/tuning.hpp"
#include "host/workers.hpp"

namespace overlapack::algorithms {
namespace {

constexpr std::uintptr_t kSmallPage = kPage, kLargePage = 2 << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older C libraries do not name

/// Where a page begins.
void* address(std::uintptr_t page) { return reinterpret_cast<void*>(page); }

/// The first page that begins there or later.
std::uintptr_t small_page_from(std::uintptr_t begin) {
  return (begin + kSmallPage - 1) / kSmallPage * kSmallPage;
}

/// The first large page that begins there or later.
std::uintptr_t large_page_from(std::uintptr_t begin) {
  return (begin + kLargePage - 1) / kLargePage * kLargePage;
}

/// The whole large pages between two addresses, or none if the first of them is not new.
class LargePages {
 public:
  LargePages(std::uintptr_t begin, std::uintptr_t end) : first_(large_page_from(begin)) {
    if (end < first_ + kLargePage || !is_new(address(first_))) return;
    count_ = static_cast<Index>((end - first_) / kLargePage);
    madvise(address(first_), kLargePage * static_cast<std::uintptr_t>(count_), MADV_HUGEPAGE);
  }
  Index count() const { return count_; }
  void provide(Index i) const {
    madvise(address(first_ + kLargePage * static_cast<std::uintptr_t>(i)), kLargePage,
            kPopulateWrite);
  }

 private:
  std::uintptr_t first_;
  Index count_ = 0;
};

/// Where the mapping ends that an address belongs to, if it is private and of no file: what is
/// provided of another one takes memory, or room on a disk, from others. 0 if it is none such, or
/// that cannot be told.
std::uintptr_t end_of_private_memory(std::uintptr_t address) {
  const ErrnoGuard errno_guard;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(
      std::fopen("/proc/self/maps", "re"), [](std::FILE* file) { return std::fclose(file); });
  if (!maps) return 0;
  char text[256];
  bool at_start = true;  // of a line, which may be longer
  while (std::fgets(text, sizeof text, maps.get()) != nullptr) {
    char* rest = text;
    const std::uintptr_t begin = at_start ? std::strtoull(rest, &rest, 16) : 0;
    const std::uintptr_t end = *rest == '-' ? std::strtoull(rest + 1, &rest, 16) : 0;
    at_start = std::strchr(text, '\n') != nullptr;
    if (address < begin || address >= end) continue;
    char access[5] = {};
    std::uintptr_t inode = 0;
    const bool read = std::sscanf(rest, " %4s %*s %*s %" SCNuPTR, access, &inode) == 2;
    return read && access[3] == 'p' && inode == 0 ? end : 0;
  }
  return 0;
}

// The GNU C library maps pages for whatever is large, and begins them with two words: how far from
// the mapping's begin that is, and its size, with bit 1 set for pages of its own.
constexpr std::uintptr_t kHeader = 2 * sizeof(std::size_t), kFlags = 7, kOwnPages = 2;

/// Of a process, with page tables of five levels.
constexpr std::uintptr_t kHighestAddress = (std::uintptr_t{1} << 56) - 1;

/// Whether there is memory in a page. Numbers of a matrix may look like a header; but if they are
/// of ordinary size, what they say as an integer is far beyond all memory.
bool is_mapped(std::uintptr_t page) {
  const ErrnoGuard errno_guard;
  unsigned char there = 0;
  return mincore(address(page), kSmallPage, &there) == 0;
}

/// Whether there is memory at an address, with that value. The kernel compares: another thread may
/// give the memory back in between.
bool holds(std::uintptr_t place, std::uint32_t value) {
  const timespec no_wait{};
  return syscall(SYS_futex, place, FUTEX_WAIT_PRIVATE, value, &no_wait, nullptr, 0) == -1 &&
         errno == ETIMEDOUT;
}

}  // namespace

bool is_new(const void* byte) {
  const auto page = reinterpret_cast<std::uintptr_t>(byte) / kSmallPage * kSmallPage;
  return is_new(page, page + kSmallPage);
}

bool is_new(std::uintptr_t begin, std::uintptr_t end) {
  const ErrnoGuard errno_guard;
  std::array<unsigned char, 4096> there;
  const std::uintptr_t step = kSmallPage * there.size();
  for (std::uintptr_t first = small_page_from(begin); first < end; first += step) {
    const std::uintptr_t bytes = std::min(end - first, step);
    if (mincore(address(first), bytes, there.data()) != 0) return false;
    const auto last = there.begin() + static_cast<Index>((bytes + kSmallPage - 1) / kSmallPage);
    if (std::any_of(there.begin(), last, [](unsigned char page) { return (page & 1) != 0; })) {
      return false;
    }
  }
  return true;
}

bool may_begin_allocation(std::uintptr_t address) {
  // A pointer with a tag in its upper bits has an owner who looks at every access.
  return address % kSmallPage == kHeader && address <= kHighestAddress;
}

Memory allocation_at(std::uintptr_t begin) {
  if (!may_begin_allocation(begin)) return {};
  std::array<std::size_t, 2> header;
  std::memcpy(header.data(), address(begin - kHeader), kHeader);
  const std::uintptr_t size = header[1] - kOwnPages, end = begin - kHeader + size;
  const bool has_pages = header[0] == 0 && (header[1] & kFlags) == kOwnPages && size > kHeader &&
                         size % kSmallPage == 0;
  const bool is_allocation = has_pages && size < kHighestAddress && is_mapped(end - kSmallPage) &&
                             usable_size(begin) == end - begin;
  return is_allocation ? Memory{begin, end} : Memory{};
}

bool is_there(Memory allocation) {
  const ErrnoGuard errno_guard;
  const std::uintptr_t size = allocation.end - allocation.begin + kHeader + kOwnPages,
                       place = allocation.begin - sizeof size;
  const auto low = static_cast<std::uint32_t>(size), high = static_cast<std::uint32_t>(size >> 32);
  return holds(place, low) && holds(place + sizeof low, high);
}

void provide(std::uintptr_t begin, std::uintptr_t end, Index threads) {
  const ErrnoGuard errno_guard;
  const LargePages pages(begin, end);
  share_out(threads, pages.count(), [=](Index i) { pages.provide(i); });
}

void provide_small_pages(std::uintptr_t begin, std::uintptr_t end) {
  const ErrnoGuard errno_guard;
  const std::uintptr_t first = small_page_from(begin);
  if (first < end) madvise(address(first), end - first, MADV_NOHUGEPAGE);
}

void NewColumns::before(std::uintptr_t column, std::uintptr_t bytes, Index columns, Index threads) {
  constexpr std::uintptr_t kProvideFromBytes = kNumPyCopies.provide_from_bytes;
  const std::uintptr_t last = column_;
  if (column - last != pitch_) {
    *this = NewColumns(allocation_);
    begin_ = last;
    pitch_ = column - last;
  }
  column_ = column;
  bytes_ = bytes;
  written_ += bytes;
  const bool adjacent = pitch_ >= bytes && pitch_ - bytes < kSmallPage;
  const bool is_much = allocation_.contains(column_) || written_ >= kProvideFromBytes;
  if (!adjacent || threads <= 1 || !is_much || column + bytes <= provided_) return;
  provide_next(begin_ + pitch_ * static_cast<std::uintptr_t>(columns), threads);
}

/// From what has been provided until now on, or from the column on if more is needed than that.
void NewColumns::provide_next(std::uintptr_t end_of_matrix, Index threads) {
  constexpr std::uintptr_t kProvideAtMostBytes = kNumPyCopies.provide_at_most_bytes;
  const bool is_known = allocation_.contains(column_);
  const std::uintptr_t begin = std::max(column_, provided_), first = large_page_from(begin);
  std::uintptr_t end =
      (column_ + std::min(written_, kProvideAtMostBytes)) / kLargePage * kLargePage;
  end = is_known ? allocation_.end : std::min(end, end_of_matrix);
  if (begin >= end) return;
  if (is_known) {
    end_of_mine_ = allocation_.end;
  } else if (begin >= end_of_mine_ && is_new(address(first))) {
    end_of_mine_ = end_of_private_memory(begin);  // takes a while
  }
  if (begin < end_of_mine_) {
    end = std::min(end, end_of_mine_);
    // Where small pages come first, malloc() or the column before may have brought large ones.
    const std::uintptr_t page = small_page_from(begin), rest = std::min(first, end);
    const std::uintptr_t first_new = is_new(page, rest) ? page : rest;
    if (first_new < end && is_new(rest, end)) new_ = {first_new, end};
    provide(begin, end, threads);
  }
  provided_ = std::max(column_ + bytes_, end);
}

Index NewColumns::untouched() const {
  const std::uintptr_t behind = column_ + bytes_;
  if (!allocation_.contains(column_) || behind < new_.begin || behind > new_.end) return 0;
  return static_cast<Index>((new_.end - behind) / pitch_) + 1;
}

}  // namespace overlapack::algorithms
