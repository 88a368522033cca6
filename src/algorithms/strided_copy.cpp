#include "algorithms/strided_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "algorithms/new_memory.hpp"
#include "algorithms/workers.hpp"

namespace overlapack::algorithms {
namespace {

template <class T>
void copy_part(Index first, Index last, const T* x, Index incx, T* y, Index incy) {
  if (incx == 1 && incy == 1) {
    std::copy(x + first, x + last, y + first);
    return;
  }
  for (Index i = first; i < last; ++i) y[i * incy] = x[i * incx];
}

/// Has body(first, last) copy parts of n elements of `size` bytes, each by a thread of its own.
template <class Body>
void in_parts(Index threads, Index n, Index size, const Body& body) {
  // Threads that are the first to write to the same page would wait for each other.
  const Index parts = std::min({threads, n * size / kPage, Workers::kMostParts});
  if (parts <= 1) return body(0, n);
  const auto part = [&](Index p) { body(n * p / parts, n * (p + 1) / parts); };
  compute_parts(parts, std::cref(part));  // or else it would need memory
}

}  // namespace

template <class T>
void copy(Index n, const T* x, Index incx, T* y, Index incy, Index threads) {
  if (incx < 0) x -= (n - 1) * incx;
  if (incy < 0) y -= (n - 1) * incy;
  // An element that all are written to must become the last one.
  in_parts(incy == 0 ? 1 : threads, n, sizeof(T),
           [=](Index first, Index last) { copy_part(first, last, x, incx, y, incy); });
}

/// How many elements of each row are read for a column that begins at x: as far as its line goes.
/// No more than to the row's next element, or what is read might not be the matrix's.
template <class T>
Index NextColumns<T>::elements_of_row(Index n, const T* x, Index incx) const {
  if (incx < kWidth || columns_ == nullptr || (kWidth - 1) * pitch(n) > kRoom) return 1;
  const auto in_line = static_cast<Index>(reinterpret_cast<std::uintptr_t>(x) % kLine);
  return kWidth - in_line / Index{sizeof(T)};
}

template <class T>
void NextColumns<T>::copy(Index n, const T* x, Index incx, T* y, Index threads, bool unchanged) {
  if (unchanged && copied_ < kept_ && x == next_) {
    copy_kept(n, y, threads);
  } else {
    kept_ = elements_of_row(n, x, incx) - 1;
    copied_ = 0;
    if (kept_ == 0) return algorithms::copy(n, x, incx, y, Index{1}, threads);
    read_rows(n, x, incx, y, threads);
  }
  // Behind the last element of a column there may be no more of the matrix.
  y[n - 1] = x[(n - 1) * incx];
  next_ = x + 1;
}

template <class T>
void NextColumns<T>::read_rows(Index n, const T* x, Index incx, T* y, Index threads) {
  // Enough to wait for at a time. What is further ahead would not stay in the cache until then.
  constexpr Index kRowsAhead = 8;
  T* const columns = columns_;
  const Index kept = kept_;
  in_parts(threads, n - 1, sizeof(T), [=](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const T *const line = x + i * incx, *const ahead = x + std::min(i + kRowsAhead, n - 1) * incx;
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + kept);
      y[i] = line[0];
      for (Index k = 0; k < kept; ++k) columns[k * pitch(n) + i] = line[k + 1];
    }
  });
}

template <class T>
void NextColumns<T>::copy_kept(Index n, T* y, Index threads) {
  const T* const column = columns_ + copied_++ * pitch(n);
  in_parts(threads, n - 1, sizeof(T), [=](Index first, Index last) {
    copy_part(first, last, column, 1, y, 1);
    // The next column is written behind this one, as a rule.
    constexpr Index kStep = 64 / sizeof(T);
    for (Index i = first; i < last; i += kStep) __builtin_prefetch(y + n + i, 1);
  });
}

#define OVERLAPACK_INSTANTIATE(T)                                  \
  template void copy<T>(Index, const T*, Index, T*, Index, Index); \
  template class NextColumns<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
