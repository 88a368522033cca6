#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "cpu/loader.hpp"
#include "dispatch/calls.hpp"
#include "dispatch/context.hpp"
#include "host/new_memory.hpp"
#include "host/once.hpp"
#include "host/process_memory.hpp"
#include "host/strided_copy.hpp"
#include "host/thread_memory.hpp"
#include "host/tuning.hpp"
#include "host/workers.hpp"

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

/// How far copies for a caller may go beyond their operands (docs/user/numpy-copies.md).
enum class Reach {
  operands,  ///< not at all
  lines,     ///< read what lies between two elements of a column; have memory provided
  columns,   ///< read and write columns before they are named
};

Reach reach_for(const void* caller) {
  try {
    if (!cpu::is_in_numpy_linalg(caller) || Context::instance().settings().strict_copies ||
        algorithms::is_watched()) {
      return Reach::operands;
    }
    return algorithms::malloc_is_glibcs(caller) ? Reach::columns : Reach::lines;
  } catch (const std::bad_alloc&) {
    return Reach::operands;
  }
}

std::uintptr_t address(const void* element) { return reinterpret_cast<std::uintptr_t>(element); }

/// Whether n elements that are so many bytes apart in large pages have too few places in the
/// caches, which look for a line by the lower bits of its address. Small pages lie here and there.
bool are_in_each_others_way(Index n, Index distance) {
  const Index power_of_two = distance & -distance;
  return n > kNumPyCopies.conflict_free_bytes /
                 std::min(power_of_two, kNumPyCopies.conflicting_distance_bytes);
}

/// Whether several threads may take less time for a copy than one. What is smaller one core copies
/// in the time that it takes to tell others. What lies side by side takes it less, except in memory
/// that is written for the first time.
template <class T>
bool is_worth_telling(Index n, Index incx, Index incy) {
  constexpr Index kBytes = sizeof(T);
  const bool apart =
      std::max(std::abs(incx), std::abs(incy)) >= kNumPyCopies.apart_from_bytes / kBytes;
  return n >= (apart ? kNumPyCopies.threads_from_elements
                     : kNumPyCopies.threads_from_adjacent_bytes / kBytes);
}

/// What NumPy has copied into memory of its own last.
struct Filled {
  algorithms::Memory allocation;  // NumPy's, which has room for several matrices
  Index columns = 0;              // of the matrix that was copied there last

  /// One more column, of that matrix or the first one of another.
  void add(Index n_of_column, std::uintptr_t from, Index increment, std::uintptr_t to) {
    const bool is_next = columns > 0 && n_of_column == n && increment == incx &&
                         (columns == 1 || (from - x == x_pitch && to - y == y_pitch));
    *this = {allocation, is_next ? columns + 1 : 1, n_of_column, increment, from, to, from - x,
             to - y};
  }

  // Of the last column, and the bytes from the one before.
  Index n = 0, incx = 0;
  std::uintptr_t x = 0, y = 0, x_pitch = 0, y_pitch = 0;
};

/// Copies of one thread, each like the one before and close behind it: the columns of a matrix.
/// The first ones are done by that thread alone, which tells what a copy takes and that there will
/// be more; then several threads take part, for as long as that is faster. If other threads of the
/// program keep their cores, as those of a CPU LAPACK do for a while after a call, it is not.
///
/// numpy.linalg copies a matrix in a loop that does nothing else. So what it will copy next is
/// known, and that this stays as it is until then. Copies for others stay within their operands.
template <class T>
class Series {
 public:
  Series() = default;

  void copy(const void* caller, Index n, const T* x, Index incx, T* y, Index incy) {
    const Clock::time_point now = Clock::now();
    const Clock::duration gap = now - time_;
    const bool continues = caller == caller_ && n == n_ && incx == incx_ && incy == incy_ &&
                           gap < Workers::kAwake && (!reads_along_ || source_.room() == room());
    const bool unchanged = continues && gap < kMaxGapOfCopies;
    if (!continues) *this = Series(caller, n, x, incx, y, incy, filled_);
    if (!unchanged) {
      ahead_ = {};
      in_row_ = 0;
    }
    if (incy == 1) {
      if (reach_ != Reach::operands) provide_memory_for(y);
      if (is_filled(y)) filled_.add(n, address(x), incx, address(y));
    }
    if (!unchanged || !take_ahead(x, y)) {
      const Index threads = incy == 1 ? threads_ : threads_for(y);
      time_ = Clock::now();  // memory for many copies has nothing to do with this one
      if (reads_along_ && continues) {
        source_.copy(n, x, incx, y, threads, unchanged);
      } else {
        algorithms::copy(n, x, incx, y, incy, threads);
      }
      end();
    }
    ++in_row_;
    x_ = x;
    y_ = y;
    time_ = Clock::now();
  }

  /// Whether a copy that is not worth telling others of may be one of many: of a series, or of one
  /// that begins.
  bool may_copy_ahead(const void* caller, Index n, const T* y) const {
    if (n < kNumPyCopies.threads_from_elements) return false;
    const bool goes_on = caller == caller_ && n == n_ && threads_ahead_ > 1;
    return goes_on || is_filled(y) ||
           (algorithms::may_begin_allocation(address(y)) && reach_for(caller) == Reach::columns &&
            algorithms::allocation_at(address(y)).contains(address(y)));
  }

 private:
  static constexpr Index kBlock = kNumPyCopies.copies_per_measurement;
  /// Between the copies of two columns that are next to each other, on either side, a program that
  /// does more than to copy takes longer, and an interrupt less.
  static constexpr std::chrono::microseconds kMaxGapOfCopies{kNumPyCopies.unchanged_microseconds};

  Series(const void* caller, Index n, const T* x, Index incx, T* y, Index incy,
         const Filled& filled)
      : caller_(caller),
        n_(n),
        incx_(incx),
        incy_(incy),
        reach_(reach_for(caller)),
        filled_(filled) {
    if (incx < 1 || incy < 1 || reach_ == Reach::operands) return;
    reads_along_ = incx > 1 && incy == 1;
    if (reads_along_) source_ = algorithms::NextColumns<T>(room());
    if (reach_ == Reach::columns) look_ahead(x, y);
  }

  /// Finds out what else of the matrices there is.
  void look_ahead(const T* x, T* y) {
    const algorithms::Memory allocation = allocation_of(y);
    if (!allocation.contains(address(y))) return;
    const bool is_result = incx_ == 1 && is_filled(x) && is_there(filled_.allocation);
    if (incy_ > 1) {
      // A result with other columns than the matrix before it may be for a part of a larger one.
      if (!is_result || incy_ != filled_.columns) return;
      threads_ahead_ = threads_of_copy(n_);
      source_allocation_ = filled_.allocation;
      new_row_ = provide_rows(y, allocation);
      return;
    }
    if (is_result) return;
    filled_.allocation = allocation;
    if (incx_ == 1) {
      source_allocation_ = algorithms::allocation_at(address(x));
      if (!source_allocation_.contains(address(x))) return;
    }
    threads_ahead_ = threads_of_copy(n_);
    columns_ = algorithms::NewColumns(allocation);
  }

  /// Whether an element lies where NumPy has copied to last.
  bool is_filled(const T* element) const { return filled_.allocation.contains(address(element)); }

  /// The allocation that begins with an element, or NumPy's last one if the element lies there.
  /// Nothing if neither is known.
  algorithms::Memory allocation_of(const T* element) const {
    return is_filled(element) && is_there(filled_.allocation)
               ? filled_.allocation
               : algorithms::allocation_at(address(element));
  }

  /// Has memory provided for a new matrix that is written by rows. Returns its first row, if nobody
  /// has written to any of the matrix and it is not wider than high; nothing otherwise.
  algorithms::Memory provide_rows(const T* y, algorithms::Memory allocation) const {
    if (incy_ > n_) return {};
    const std::uintptr_t begin = address(y), end = address(y + n_ * incy_);
    // malloc() has written to the page in which it begins.
    if (end > allocation.end || !algorithms::is_new(begin, end)) return {};
    algorithms::provide(begin, end, threads_ahead_);
    return {begin, address(y + incy_)};
  }

  /// It ends with the thread, which may copy even then.
  static T* room() {
    static ThreadMemory memory;
    return static_cast<T*>(memory.get(sizeof(T) * algorithms::NextColumns<T>::kKeptElements));
  }

  /// A matrix that lies by rows has no more columns than there is room for in a row.
  void provide_memory_for(const T* y) {
    const Index columns = incx_ > 1 ? std::min(incx_, n_) : n_;
    columns_.before(address(y), sizeof(T) * static_cast<std::uintptr_t>(n_), columns,
                    std::max(threads_, threads_ahead_));
  }

  /// Copies the column x if it has been copied with others before it, or can be with those behind
  /// it, and returns whether it is there.
  bool take_ahead(const T* x, T* y) {
    if (ahead_.take(n_, x, y)) return true;
    const algorithms::Strided<const T> from{x, incx_, x - x_};
    const algorithms::Strided<T> to{y, incy_, y - y_};
    const Index there = columns_to_read(from), room = columns_to_write(to);
    // Of rows that have more room than there are columns some may be another matrix's.
    if (incy_ > 1 && there < room) return false;
    // A matrix may have fewer columns than that. It costs little to begin with some.
    const Index wanted =
        std::max(kNumPyCopies.first_columns_ahead, kNumPyCopies.columns_ahead_per_copied * in_row_);
    const Index columns = std::min({there, room, wanted});
    if (columns <= 1) return false;
    ahead_.copy(n_, columns, from, to, threads_ahead_);
    return ahead_.take(n_, x, y);
  }

  /// How many columns are the program's to read. Those of a matrix that lies by rows are between
  /// two elements of the first one.
  Index columns_to_read(const algorithms::Strided<const T>& x) const {
    if (x.inc > 1) return x.ld == 1 ? x.inc : 0;
    const std::uintptr_t begin = address(x.begin), behind = address(x.begin + n_);
    if (x.ld < n_ || !source_allocation_.contains(begin) || behind > source_allocation_.end)
      return 0;
    return static_cast<Index>((source_allocation_.end - behind) / sizeof(T)) / x.ld + 1;
  }

  /// How many columns lie in memory that nobody has written to.
  Index columns_to_write(const algorithms::Strided<T>& y) const {
    if (y.inc == 1) return y.ld >= n_ ? columns_.untouched() : 0;
    const std::uintptr_t begin = address(y.begin);
    if (y.ld != 1 || !new_row_.contains(begin)) return 0;
    return static_cast<Index>((new_row_.end - begin) / sizeof(T));
  }

  Index threads_for(const T* y) const {
    // One copy whose elements lie apart makes the system provide all of a new matrix. Whoever has
    // allocated it may have written to the page in which it begins.
    const Index distance = std::abs(incy_) * static_cast<Index>(sizeof(T));
    const T* const last = y + (n_ - 1) * std::abs(incy_);
    if (threads_ > 1 || distance < algorithms::kPage || !algorithms::is_new(last)) return threads_;
    if (reach_ != Reach::operands && are_in_each_others_way(n_, distance)) {
      algorithms::provide_small_pages(address(y), address(last + 1));
    }
    return threads_of_copy(n_);
  }

  void end() {
    ++length_;
    if (length_ != kBlock + 1) block_ += Clock::now() - time_;  // threads are made, or woken, then
    ++in_block_;
    if (length_ == kBlock) {
      alone_ = block_;
      if (is_worth_telling<T>(n_, incx_, incy_)) threads_ = threads_of_copy(n_);
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
  Reach reach_ = Reach::operands;
  bool reads_along_ = false;
  algorithms::NextColumns<T> source_;
  algorithms::NewColumns columns_;
  algorithms::ColumnsAhead<T> ahead_;
  Index threads_ahead_ = 1;
  Filled filled_;
  algorithms::Memory source_allocation_;  // of a matrix by columns
  algorithms::Memory new_row_;            // the first one of a matrix by rows
  Index in_row_ = 0;                      // columns since anything else may have happened
  const T* x_ = nullptr;                  // the column before
  T* y_ = nullptr;
  Clock::time_point time_;             // of the last event
  Index length_ = 0, in_block_ = 0;    // copies until now, and those of this block
  Clock::duration block_{}, alone_{};  // what those of this and of the first block took
  bool is_slow_ = false;               // the block before took longer than the first one
};

}  // namespace

template <class T>
void copy(const void* caller, Index n, const T* x, Index incx, T* y, Index incy) {
  static thread_local Series<T> series;
  if (!is_worth_telling<T>(n, incx, incy) && !series.may_copy_ahead(caller, n, y)) {
    return algorithms::copy(n, x, incx, y, incy, 1);
  }
  const AtWork at_work;
  series.copy(caller, n, x, incx, y, incy);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template void copy<T>(const void*, Index, const T*, Index, T*, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::dispatch
