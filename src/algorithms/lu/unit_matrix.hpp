// A matrix of right-hand sides that is the unit matrix: its solution is an inverse.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "algorithms/shared/blocks.hpp"
#include "host/workers.hpp"

namespace overlapack::algorithms {

/// Finds out whether a square matrix in the caller's memory is the unit matrix, by idle threads
/// while the device computes. To read all of it takes a good part of the time of a factorization.
template <class T>
class UnitMatrix {
 public:
  explicit UnitMatrix(HostView<T> b)
      : b_(b),
        columns_of_task_(std::max<Index>(kBytesOfTask / (Index{sizeof(T)} * b.rows), 1)),
        tasks_(quotient_up(b.cols, columns_of_task_)) {}

  /// What a few elements say. Most other matrices differ in one of them.
  bool is_likely() const {
    const Index last = b_.rows - 1;
    return b_(0, 0) == T(1) && b_(last, last) == T(1) && b_(last, 0) == T(0) &&
           b_(0, last) == T(0) && is_unit_column(last / 2);
  }
  /// Does one task, or returns false if there is none. Any number of threads may call it at once.
  bool advance() {
    if (next_.load(std::memory_order_relaxed) >= tasks_) return false;  // threads ask all the time
    const Index task = next_++;
    if (task >= tasks_) return false;
    look_at(task);
    return true;
  }
  /// Does the rest, once advance() is not called any more. Whether it is the unit matrix. One with
  /// a negative zero is not.
  bool finish(Index threads) {
    const Index first = std::min(next_.load(), tasks_);
    share_out(threads, tasks_ - first, [this, first](Index i) { look_at(first + i); });
    return is_;
  }
  /// Makes it what it was.
  void restore(Index threads) const {
    share_out(threads, b_.cols, [this](Index j) {
      std::fill_n(&b_(0, j), b_.rows, T(0));
      b_(j, j) = T(1);
    });
  }

 private:
  static constexpr Index kBytesOfTask = Index{4} << 20;  // half a millisecond

  void look_at(Index task) {
    const Index last = std::min((task + 1) * columns_of_task_, b_.cols);
    for (Index j = task * columns_of_task_; j < last && is_; ++j) {
      if (!is_unit_column(j)) is_ = false;
    }
  }
  bool is_unit_column(Index j) const {
    const T* const column = &b_(0, j);
    return column[j] == T(1) && is_zero(column, j) && is_zero(column + j + 1, b_.rows - j - 1);
  }
  static bool is_zero(const T* x, Index count) {
    std::uint32_t bits = 0;  // a comparison of numbers could raise exceptions
    const Index words = count * Index{sizeof(T) / sizeof bits};
    const char* const bytes = reinterpret_cast<const char*>(x);
    for (Index i = 0; i < words; ++i) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes + i * Index{sizeof word}, sizeof word);
      bits |= word;
    }
    return bits == 0;
  }

  const HostView<T> b_;
  const Index columns_of_task_, tasks_;
  std::atomic<Index> next_{0};
  std::atomic<bool> is_{true};
};

}  // namespace overlapack::algorithms
