#include "algorithms/new_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "algorithms/workers.hpp"
#include "core/traces.hpp"

namespace overlapack::algorithms {
namespace {

constexpr std::uintptr_t kSmallPage = kPage, kLargePage = 2 << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older C libraries do not name

/// Where a page begins.
void* address(std::uintptr_t page) { return reinterpret_cast<void*>(page); }

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
  const KeepErrno keep_errno;
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

}  // namespace

bool is_new(const void* byte) {
  const KeepErrno keep_errno;
  unsigned char there = 0;
  const auto page = reinterpret_cast<std::uintptr_t>(byte) / kSmallPage * kSmallPage;
  return mincore(address(page), kSmallPage, &there) == 0 && (there & 1) == 0;
}

void provide(std::uintptr_t begin, std::uintptr_t end, Index threads) {
  const KeepErrno keep_errno;
  const LargePages pages(begin, end);
  share_out(threads, pages.count(), [=](Index i) { pages.provide(i); });
}

void provide_small_pages(std::uintptr_t begin, std::uintptr_t end) {
  const KeepErrno keep_errno;
  const std::uintptr_t first = (begin + kSmallPage - 1) / kSmallPage * kSmallPage;
  if (first < end) madvise(address(first), end - first, MADV_NOHUGEPAGE);
}

Index NewColumns::before(std::uintptr_t column, std::uintptr_t bytes, Index columns,
                         Index threads) {
  constexpr std::uintptr_t kLeast = 2 * kLargePage;  // what is smaller is not worth it
  const std::uintptr_t last = column_;
  if (column - last != pitch_) {
    await();
    *this = NewColumns(in_loop_);
    begin_ = last;
    pitch_ = column - last;
  }
  column_ = column;
  written_ += bytes;
  const bool adjacent = pitch_ >= bytes && pitch_ - bytes < kSmallPage;
  if (!adjacent || threads <= 1 || written_ < kLeast) return threads;
  const std::uintptr_t needed = column + bytes,
                       end_of_matrix = begin_ + pitch_ * static_cast<std::uintptr_t>(columns);
  if (needed > there_) await();
  if (needed > provided_) provide_next(column, needed, end_of_matrix, threads);
  const Index ahead = in_loop_ ? (threads + 2) / 5 : 0;  // which keep up with the others
  if (ahead > 0 && job_ == 0) provide_ahead(end_of_matrix, ahead);
  return job_ != 0 ? threads - ahead : threads;
}

/// Where that ends what is provided at a time from `begin` on. Of more, what has been cleared
/// leaves the caches again before it is written.
std::uintptr_t NewColumns::end_of_part(std::uintptr_t begin) const {
  constexpr std::uintptr_t kMost = 32 * kLargePage;
  return (begin + std::min(written_, kMost)) / kLargePage * kLargePage;
}

/// From what has been provided until now on, or from `column` on if more is needed than that.
void NewColumns::provide_next(std::uintptr_t column, std::uintptr_t needed,
                              std::uintptr_t end_of_matrix, Index threads) {
  const std::uintptr_t begin = std::max(column, provided_);
  std::uintptr_t end = std::min(end_of_part(column), end_of_matrix);
  if (begin >= end) return;
  if (begin >= end_of_mine_ && is_new(address(large_page_from(begin)))) {
    end_of_mine_ = end_of_private_memory(begin);  // takes a while
  }
  if (begin < end_of_mine_) {
    end = std::min(end, end_of_mine_);
    provide(begin, end, threads);
  }
  there_ = provided_ = std::max(needed, end);
}

/// What comes after that, while columns are copied.
void NewColumns::provide_ahead(std::uintptr_t end_of_matrix, Index threads) {
  const std::uintptr_t end = std::min({end_of_part(provided_), end_of_matrix, end_of_mine_});
  if (provided_ >= end) return;
  const LargePages pages(provided_, end);
  job_ = compute_in_background(threads, pages.count(), [=](Index i) { pages.provide(i); });
  if (job_ != 0) provided_ = end;
}

void NewColumns::await() {
  if (job_ != 0) await_background(job_);
  job_ = 0;
  there_ = provided_;
}

}  // namespace overlapack::algorithms
