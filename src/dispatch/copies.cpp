#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "algorithms/new_memory.hpp"
#include "algorithms/strided_copy.hpp"
#include "algorithms/workers.hpp"
#include "core/once.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

Index threads_of_copy(Index n) {
  try {
    return cpu_threads(n);
  } catch (const std::bad_alloc&) {  // no memory for the settings
    return 1;
  }
}

/// Copies of one thread, each like the one before and close behind it: the columns of a matrix.
/// The first ones are done by that thread alone, which tells what a copy takes and that there will
/// be more; then several threads take part, for as long as that is faster. If other threads of the
/// program keep their cores, as those of a CPU LAPACK do for a while after a call, it is not.
class Series {
 public:
  Series() = default;
  /// How many threads are to make a copy to y, which is about to begin.
  template <class T>
  Index begin(Index n, Index incx, const T* y, Index incy) {
    const Clock::time_point now = Clock::now();
    const bool continues =
        n == n_ && incx == incx_ && incy == incy_ && now - time_ < Workers::kAwake;
    if (!continues) *this = Series(n, incx, incy);
    if (incy == 1) {
      columns_.before(reinterpret_cast<std::uintptr_t>(y),
                      sizeof(T) * static_cast<std::uintptr_t>(n), n, threads_);
    }
    time_ = Clock::now();  // memory for many copies has nothing to do with this one
    // One copy whose elements lie apart makes the system provide all of a new matrix.
    constexpr Index kPage = algorithms::kPage / sizeof(T);
    const bool provides = threads_ == 1 && std::abs(incy) >= kPage && algorithms::is_new(y);
    return provides ? threads_of_copy(n) : threads_;
  }

  void end() {
    const Clock::time_point now = Clock::now();
    ++length_;
    if (length_ != kBlock + 1) block_ += now - time_;  // in that one threads are made, or woken
    time_ = now;
    if (length_ > kBlock && block_ > alone_) threads_ = 1;
    if (length_ == kBlock) {
      alone_ = block_;
      threads_ = threads_of_copy(n_);
    }
    if (length_ % kBlock == 0) block_ = {};
  }

 private:
  static constexpr Index kBlock = 16;

  Series(Index n, Index incx, Index incy) : n_(n), incx_(incx), incy_(incy) {}

  Index n_ = 0, incx_ = 0, incy_ = 0, length_ = 0, threads_ = 1;
  algorithms::NewColumns columns_;
  Clock::time_point time_;             // of the last event
  Clock::duration block_{}, alone_{};  // what the copies of this and of the first block took
};

}  // namespace

template <class T>
void copy(Index n, const T* x, Index incx, T* y, Index incy) {
  // What is smaller one core copies in the time that it takes to tell others. What lies side by
  // side takes it less, except in memory that is written for the first time.
  constexpr Index kMany = 2048, kApart = 256 / sizeof(T), kManyTogether = 32768 / sizeof(T);
  const bool apart = std::max(std::abs(incx), std::abs(incy)) >= kApart;
  if (n < (apart ? kMany : kManyTogether)) return algorithms::copy(n, x, incx, y, incy, 1);
  const NoCancellation no_cancellation;
  static thread_local Series series;
  const Index threads = series.begin(n, incx, y, incy);
  algorithms::copy(n, x, incx, y, incy, threads);
  series.end();
}

#define OVERLAPACK_INSTANTIATE(T) template void copy<T>(Index, const T*, Index, T*, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::dispatch
