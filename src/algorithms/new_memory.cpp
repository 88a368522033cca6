#include "algorithms/new_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "algorithms/workers.hpp"

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

/// The program's errno is what it was.
class KeepErrno {
 public:
  ~KeepErrno() { errno = before_; }

 private:
  const int before_ = errno;
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
  const std::uintptr_t first = large_page_from(begin);
  if (end < first + kLargePage) return;
  const auto count = static_cast<Index>((end - first) / kLargePage);
  if (!is_new(address(first))) return;
  const KeepErrno keep_errno;
  madvise(address(first), kLargePage * static_cast<std::uintptr_t>(count), MADV_HUGEPAGE);
  share_out(threads, count, [=](Index i) {
    madvise(address(first + kLargePage * static_cast<std::uintptr_t>(i)), kLargePage,
            kPopulateWrite);
  });
}

void provide_small_pages(std::uintptr_t begin, std::uintptr_t end) {
  const KeepErrno keep_errno;
  const std::uintptr_t first = (begin + kSmallPage - 1) / kSmallPage * kSmallPage;
  if (first < end) madvise(address(first), end - first, MADV_NOHUGEPAGE);
}

void NewColumns::before(std::uintptr_t column, std::uintptr_t bytes, Index n, Index threads) {
  // What is smaller is not worth it; of more, what has been cleared leaves the caches again before
  // it is written.
  constexpr std::uintptr_t kLeast = 2 * kLargePage, kMost = 32 * kLargePage;
  if (column - column_ != pitch_) {
    begin_ = column_;
    pitch_ = column - column_;
    written_ = provided_ = end_of_mine_ = 0;
  }
  column_ = column;
  written_ += bytes;
  const bool adjacent = pitch_ >= bytes && pitch_ - bytes < kSmallPage;
  if (!adjacent || threads <= 1 || written_ < kLeast || column + bytes <= provided_) return;
  const std::uintptr_t end_of_square = begin_ + pitch_ * static_cast<std::uintptr_t>(n);
  const std::uintptr_t begin = std::max(column, provided_);
  std::uintptr_t end = std::min(column + std::min(written_, kMost), end_of_square);
  if (begin >= end_of_mine_ && is_new(address(large_page_from(begin)))) {
    end_of_mine_ = end_of_private_memory(begin);  // takes a while
  }
  if (begin < end_of_mine_) {
    end = std::min(end, end_of_mine_);
    provide(begin, end, threads);
  }
  provided_ = std::max(column + bytes, end);
}

}  // namespace overlapack::algorithms
