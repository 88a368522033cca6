// The interchanges of columns that end ?getri, in the caller's memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "host/workers.hpp"

namespace overlapack::algorithms {

/// Exchanges columns j and pivots[j] - 1 for j = n-1, ..., 0. That one does not stand before j. So
/// when the columns come home from the right, idle threads can begin as soon as there are some.
/// Each strip of rows goes on by itself.
template <class T>
class ColumnInterchanges {
 public:
  ColumnInterchanges(HostView<T> a, const std::vector<Index>& pivots)
      : a_(a), pivots_(pivots), count_(quotient_up(a.rows, kRows)), strips_(new Strip[at(count_)]) {
    for (Index s = 0; s < count_; ++s) strips_[at(s)].done_from = a.cols;
  }

  /// Does one task, if there is one, once the columns from `first` on are at home. Any number of
  /// threads may call it at once.
  bool advance(Index first) {
    for (Index s = 0; s < count_; ++s) {
      Strip& strip = strips_[at(s)];
      if (strip.done_from.load(std::memory_order_relaxed) <= first) continue;
      if (strip.taken.exchange(true, std::memory_order_acquire)) continue;
      const Index from = strip.done_from;
      interchange(s, std::max(first, from - kColumnsOfTask));
      strip.taken.store(false, std::memory_order_release);
      if (from > first) return true;
    }
    return false;
  }
  /// Does the rest, once all columns are at home and advance() is not called any more.
  void finish(Index threads) {
    share_out(threads, count_, [this](Index s) { interchange(s, 0); });
  }
  /// Puts all columns back that have been exchanged. Neither may advance() be called any more.
  void undo() {
    for (Index s = 0; s < count_; ++s) {
      Index j = strips_[at(s)].done_from;
      for (; j < a_.cols; ++j) exchange(s, j);
      strips_[at(s)].done_from = j;
    }
  }
  /// All of them have been done by somebody else.
  void note_done() {
    for (Index s = 0; s < count_; ++s) strips_[at(s)].done_from = 0;
  }

 private:
  static constexpr Index kRows = 512;           // pieces of columns that are copied fast
  static constexpr Index kColumnsOfTask = 256;  // less than a millisecond
  struct Strip {
    std::atomic<Index> done_from;
    std::atomic<bool> taken{false};
  };

  void interchange(Index s, Index first) {
    Index j = strips_[at(s)].done_from;
    while (j > first) exchange(s, --j);
    strips_[at(s)].done_from = j;
  }
  void exchange(Index s, Index j) {
    const Index p = pivots_[at(j)] - 1, first = s * kRows, last = std::min(first + kRows, a_.rows);
    if (p != j) std::swap_ranges(&a_(first, j), &a_(first, j) + (last - first), &a_(first, p));
  }

  const HostView<T> a_;
  const std::vector<Index>& pivots_;
  const Index count_;
  const std::unique_ptr<Strip[]> strips_;
};

}  // namespace overlapack::algorithms
