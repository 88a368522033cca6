#include "algorithms/new_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "algorithms/workers.hpp"

namespace overlapack::algorithms {
namespace {

constexpr std::uintptr_t kSmallPage = kPage, kLargePage = 2 << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older C libraries do not name

/// Where a page begins.
void* address(std::uintptr_t page) { return reinterpret_cast<void*>(page); }

/// The program's errno is what it was.
class KeepErrno {
 public:
  ~KeepErrno() { errno = before_; }

 private:
  const int before_ = errno;
};

}  // namespace

bool is_new(const void* byte) {
  const KeepErrno keep_errno;
  unsigned char there = 0;
  const auto page = reinterpret_cast<std::uintptr_t>(byte) / kSmallPage * kSmallPage;
  return mincore(address(page), kSmallPage, &there) == 0 && (there & 1) == 0;
}

void provide(std::uintptr_t begin, std::uintptr_t end, Index threads) {
  const std::uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
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
    written_ = provided_ = 0;
  }
  column_ = column;
  written_ += bytes;
  const bool adjacent = pitch_ >= bytes && pitch_ - bytes < kSmallPage;
  if (!adjacent || threads <= 1 || written_ < kLeast || column + bytes <= provided_) return;
  const std::uintptr_t end_of_square = begin_ + pitch_ * static_cast<std::uintptr_t>(n);
  const std::uintptr_t end = std::min(column + std::min(written_, kMost), end_of_square);
  provide(std::max(column, provided_), end, threads);
  provided_ = std::max(column + bytes, end);
}

}  // namespace overlapack::algorithms
