// A triangle of the caller as it was, column by column: for a fault while results take its place.
#pragma once

#include <algorithm>
#include <memory>

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// It takes its place again, unless that is not wanted any more.
template <class T>
class TriangleBefore {
 public:
  TriangleBefore(Uplo uplo, HostView<T> a)
      : part_(part_of(uplo)), a_(a), memory_(new char[sizeof(T) * at(a.rows * (a.rows + 1) / 2)]) {}
  TriangleBefore(const TriangleBefore&) = delete;
  ~TriangleBefore() {
    if (!kept_) return;
    for_each_column([](T* of_a, T* kept, Index count) { std::copy_n(kept, count, of_a); });
  }

  void keep() {
    for_each_column([](T* of_a, T* kept, Index count) { std::copy_n(of_a, count, kept); });
    kept_ = true;
  }
  void forget() { kept_ = false; }

 private:
  template <class F>
  void for_each_column(F f) const {
    T* kept = reinterpret_cast<T*>(memory_.get());
    for (Index j = 0; j < a_.cols; ++j) {
      const Range i = rows_of_column(part_, 0, a_.rows, j);
      f(&a_(i.first, j), kept, i.size());
      kept += i.size();
    }
  }

  const Part part_;
  const HostView<T> a_;
  const std::unique_ptr<char[]> memory_;  // not written before it is needed
  bool kept_ = false;
};

}  // namespace overlapack::algorithms
