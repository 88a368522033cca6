#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "algorithms/new_memory.hpp"
#include "algorithms/strided_copy.hpp"
#include "algorithms/workers.hpp"
#include "core/once.hpp"
#include "core/thread_memory.hpp"
#include "cpu/loader.hpp"
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

/// Whether n elements that are so many bytes apart in large pages have too few places in the
/// caches, which look for a line by the lower bits of its address. Small pages lie here and there.
bool are_in_each_others_way(Index n, Index distance) {
  constexpr Index kLowerBits = Index{128} << 10, kRoom = Index{64} << 20;  // measured
  return n > kRoom / std::min(distance & -distance, kLowerBits);
}

/// Copies of one thread, each like the one before and close behind it: the columns of a matrix.
/// The first ones are done by that thread alone, which tells what a copy takes and that there will
/// be more; then several threads take part, for as long as that is faster. If other threads of the
/// program keep their cores, as those of a CPU LAPACK do for a while after a call, it is not.
///
/// numpy.linalg copies a matrix in a loop that does nothing else. So what it will copy next is
/// known, and that this stays as it is until then.
template <class T>
class Series {
 public:
  Series() = default;

  void copy(const void* caller, Index n, const T* x, Index incx, T* y, Index incy) {
    const Clock::time_point now = Clock::now();
    const Clock::duration gap = now - time_;
    const bool continues = caller == caller_ && n == n_ && incx == incx_ && incy == incy_ &&
                           gap < Workers::kAwake && (!reads_along_ || source_.room() == room());
    if (!continues) {
      columns_.await();
      *this = Series(caller, n, incx, incy);
    }
    const Index threads = incy == 1 ? threads_after_memory_for(y) : threads_for(y);
    time_ = Clock::now();  // memory for many copies has nothing to do with this one
    if (reads_along_ && continues) {
      source_.copy(n, x, incx, y, threads, gap < kNothingElse);
    } else {
      algorithms::copy(n, x, incx, y, incy, threads);
    }
    end();
  }

 private:
  static constexpr Index kBlock = 16;
  /// Nothing but a loop of copies takes less between two of them: no call of a Python function, and
  /// no factorization.
  static constexpr std::chrono::microseconds kNothingElse{2};

  Series(const void* caller, Index n, Index incx, Index incy)
      : caller_(caller),
        n_(n),
        incx_(incx),
        incy_(incy),
        reads_along_(incx > 1 && incy == 1 && cpu::is_in_numpy_linalg(caller)),
        source_(reads_along_ ? room() : nullptr),
        columns_(reads_along_) {}

  /// It ends with the thread, which may copy even then.
  static T* room() {
    static ThreadMemory memory;
    return static_cast<T*>(memory.get(sizeof(T) * algorithms::NextColumns<T>::kRoom));
  }

  /// A matrix that lies by rows has no more columns than there is room for in a row.
  Index threads_after_memory_for(const T* y) {
    const Index columns = incx_ > 1 ? std::min(incx_, n_) : n_;
    return columns_.before(reinterpret_cast<std::uintptr_t>(y),
                           sizeof(T) * static_cast<std::uintptr_t>(n_), columns, threads_);
  }

  Index threads_for(const T* y) const {
    // One copy whose elements lie apart makes the system provide all of a new matrix. Whoever has
    // allocated it may have written to the page in which it begins.
    const Index distance = std::abs(incy_) * static_cast<Index>(sizeof(T));
    const T* const last = y + (n_ - 1) * std::abs(incy_);
    if (threads_ > 1 || distance < algorithms::kPage || !algorithms::is_new(last)) return threads_;
    if (are_in_each_others_way(n_, distance)) {
      algorithms::provide_small_pages(reinterpret_cast<std::uintptr_t>(y),
                                      reinterpret_cast<std::uintptr_t>(last + 1));
    }
    return threads_of_copy(n_);
  }

  void end() {
    const Clock::time_point now = Clock::now();
    ++length_;
    if (length_ != kBlock + 1) block_ += now - time_;  // in that one threads are made, or woken
    time_ = now;
    ++in_block_;
    if (length_ == kBlock) {
      alone_ = block_;
      threads_ = threads_of_copy(n_);
    } else if (length_ > kBlock && block_ > alone_) {
      // Once may be because the system has provided pages.
      if (is_slow_) threads_ = 1;
      is_slow_ = true;
    } else if (in_block_ == kBlock) {
      is_slow_ = false;
    } else {
      return;
    }
    block_ = {};
    in_block_ = 0;
  }

  const void* caller_ = nullptr;
  Index n_ = 0, incx_ = 0, incy_ = 0, threads_ = 1;
  bool reads_along_ = false;
  algorithms::NextColumns<T> source_;
  algorithms::NewColumns columns_;
  Clock::time_point time_;             // of the last event
  Index length_ = 0, in_block_ = 0;    // copies until now, and those of this block
  Clock::duration block_{}, alone_{};  // what those of this and of the first block took
  bool is_slow_ = false;               // the block before took longer than the first one
};

}  // namespace

template <class T>
void copy(const void* caller, Index n, const T* x, Index incx, T* y, Index incy) {
  // What is smaller one core copies in the time that it takes to tell others. What lies side by
  // side takes it less, except in memory that is written for the first time.
  constexpr Index kMany = 2048, kApart = 256 / sizeof(T), kManyTogether = 32768 / sizeof(T);
  const bool apart = std::max(std::abs(incx), std::abs(incy)) >= kApart;
  if (n < (apart ? kMany : kManyTogether)) return algorithms::copy(n, x, incx, y, incy, 1);
  const AtWork at_work;
  static thread_local Series<T> series;
  series.copy(caller, n, x, incx, y, incy);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template void copy<T>(const void*, Index, const T*, Index, T*, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::dispatch
