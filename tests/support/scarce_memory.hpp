// Memory that runs out. To be included by one file of a program: it replaces the operators by which
// all of the program's C++ code takes memory.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace overlapack::testing_support {

/// While one of these exists, the `at`-th request for memory, counted from 1, is refused, whichever
/// thread makes it; `for_good`, all later ones, too.
class ScarceMemory {
 public:
  explicit ScarceMemory(long at, bool for_good = false) {
    at_ = at;
    for_good_ = for_good;
    count_ = 0;
    scarce_ = true;
  }
  ~ScarceMemory() { scarce_ = false; }
  ScarceMemory(const ScarceMemory&) = delete;

  /// Requests so far.
  static long count() { return count_; }
  static bool refuses() {
    if (!scarce_) return false;
    const long number = ++count_;
    return number == at_ || (for_good_ && number > at_);
  }

 private:
  static inline std::atomic<bool> scarce_{false}, for_good_{false};
  static inline std::atomic<long> at_{0}, count_{0};
};

}  // namespace overlapack::testing_support

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory =
      overlapack::testing_support::ScarceMemory::refuses() ? nullptr : std::malloc(bytes + 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = overlapack::testing_support::ScarceMemory::refuses()
                           ? nullptr
                           : std::aligned_alloc(unit, (bytes / unit + 1) * unit);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
