// What the caller has given, as it was: for a fault while results take its place.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "algorithms/shared/blocks.hpp"
#include "host/workers.hpp"

namespace overlapack::algorithms {

/// A copy, in ordinary memory, of a matrix or of a triangle of it. It takes its place again, unless
/// that is not wanted any more.
template <class T>
class OperandBefore {
 public:
  OperandBefore(Part part, HostView<T> a)
      : part_(part),
        a_(a),
        columns_(std::max<Index>(kTaskBytes / static_cast<Index>(sizeof(T)) / a.rows, 1)),
        tasks_(quotient_up(a.cols, columns_)),
        memory_(static_cast<T*>(std::malloc(sizeof(T) * at(place_of(a.cols))))) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  OperandBefore(const OperandBefore&) = delete;
  /// Nobody else may write the matrix any more.
  ~OperandBefore() {
    if (!is_wanted_ || done_.load() < tasks_) return;
    for_each_column({0, a_.cols}, [](T* of_a, T* kept, Index n) { std::copy_n(kept, n, of_a); });
  }

  /// Copies some of the columns that nobody has taken yet. False if there are none.
  bool copy_some() {
    const Index task = next_++;
    if (task >= tasks_) return false;
    for_each_column({task * columns_, std::min((task + 1) * columns_, a_.cols)},
                    [](T* of_a, T* kept, Index n) { std::copy_n(of_a, n, kept); });
    ++done_;
    return true;
  }
  /// Copies what is left by so many threads, since new memory takes longer than a copy, and waits
  /// for others who copy. The matrix must not change before.
  void complete(Index threads) {
    share_out(threads, tasks_, [this](Index) { copy_some(); });
    while (done_.load() < tasks_) std::this_thread::yield();
  }
  void forget() { is_wanted_ = false; }

 private:
  static constexpr Index kTaskBytes = Index{1} << 22;
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };

  /// Elements of the columns before this one.
  Index place_of(Index column) const {
    const Index triangle = column * (column - 1) / 2;
    return part_ == Part::upper   ? triangle + column
           : part_ == Part::lower ? column * a_.rows - triangle
                                  : column * a_.rows;
  }
  template <class F>
  void for_each_column(Range columns, F f) const {
    for (Index j = columns.first; j < columns.last; ++j) {
      const Range i = rows_of_column(part_, 0, a_.rows, j);
      f(&a_(i.first, j), memory_.get() + place_of(j), i.size());
    }
  }

  const Part part_;
  const HostView<T> a_;
  const Index columns_, tasks_;
  const std::unique_ptr<T, Free> memory_;  // not written before it is needed
  std::atomic<Index> next_{0}, done_{0};
  bool is_wanted_ = true;
};

}  // namespace overlapack::algorithms
