#include "host/strided_copy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include "host/new_memory.hpp"
#include "host/stores.hpp"
#include "host/workers.hpp"

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
  const Index parts = std::min({threads, n * size / kPage, Workers::kMaxParts});
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
  if (incx < kWidth || columns_ == nullptr || (kWidth - 1) * pitch(n) > kKeptElements) return 1;
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

namespace {

/// Rows and columns that are turned around at a time. They are read by pieces of 512 bytes, and the
/// first cache has them meanwhile.
constexpr Index kTileRows = 64;
template <class T>
constexpr Index kTileColumns = 512 / Index{sizeof(T)};

/// The last row up to `row` > 0 of a column at y with which a cache line begins.
template <class T>
Index row_at_line(const T* y, Index row) {
  return row - static_cast<Index>(reinterpret_cast<std::uintptr_t>(y + row) % 64 / sizeof(T));
}

/// Copies elements to where nobody reads them soon; those of `next` are copied next.
template <class T>
void copy_past_cache(const T* from, Index count, T* to, const T* next) {
  store_past_cache(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from),
                   static_cast<std::size_t>(count) * sizeof(T),
                   reinterpret_cast<const char*>(next));
}

/// y[i + j * ldy] := x[i * ldx + j] for first <= i < last, j < columns <= kTileColumns<T>.
template <class T>
void turn_around(Index first, Index last, Index columns, const T* x, Index ldx, T* y, Index ldy) {
  constexpr Index kLine = 64 / Index{sizeof(T)}, kRowsAhead = 4;  // more than that is no faster
  std::array<T, kTileRows * kTileColumns<T>> tile;
  for (Index row = first, end; row < last; row = end) {
    end = std::min(row_at_line(y, row + kTileRows), last);
    const Index rows = end - row;
    for (Index i = 0; i < rows; ++i) {
      const T* const line = x + (row + i) * ldx;
      const T* const ahead = x + std::min(row + i + kRowsAhead, last - 1) * ldx;
      for (Index j = 0; j < columns; j += kLine) __builtin_prefetch(ahead + j);
      for (Index j = 0; j < columns; ++j) tile[j * kTileRows + i] = line[j];
    }
    for (Index j = 0; j < columns; ++j) {
      const T* const column = tile.data() + j * kTileRows;
      copy_past_cache(column, rows, y + row + j * ldy, column + kTileRows);
    }
  }
  stores_complete();
}

/// The same for i < rows and any number of columns, by up to `threads` threads.
template <class T>
void turn_around(Index rows, Index columns, const T* x, Index ldx, T* y, Index ldy, Index threads) {
  constexpr Index kRows = 8 * kTileRows, kWidth = kTileColumns<T>;
  const Index blocks = quotient_up(rows, kRows), strips = quotient_up(columns, kWidth);
  share_out(threads, blocks * strips, [=](Index i) {
    const Index block = i % blocks, j = i / blocks * kWidth;
    // Lines of the first column are written as a whole, and those of others as a rule.
    const Index first = block == 0 ? 0 : row_at_line(y, block * kRows);
    const Index last = block == blocks - 1 ? rows : row_at_line(y, (block + 1) * kRows);
    turn_around(first, last, std::min(kWidth, columns - j), x + j, ldx, y + j * ldy, ldy);
  });
}

}  // namespace

template <class T>
void ColumnsAhead<T>::copy(Index n, Index columns, Strided<const T> x, Strided<T> y,
                           Index threads) {
  if (x.inc != 1) {
    turn_around(n - 1, columns, x.begin, x.inc, y.begin, y.ld, threads);
  } else if (y.inc != 1) {
    turn_around(columns, n - 1, x.begin, x.ld, y.begin, y.inc, threads);
  } else {
    share_out(threads, columns, [=](Index j) {
      copy_past_cache(x.column(j), n - 1, y.column(j), x.column(j + 1));
      stores_complete();
    });
  }
  x_ = x;
  y_ = y;
  left_ = columns;
}

template <class T>
bool ColumnsAhead<T>::take(Index n, const T* x, T* y) {
  if (left_ == 0 || x != x_.begin || y != y_.begin) return false;
  y[(n - 1) * y_.inc] = x[(n - 1) * x_.inc];
  x_.begin = x_.column(1);
  y_.begin = y_.column(1);
  --left_;
  return true;
}

#define OVERLAPACK_INSTANTIATE(T)                                  \
  template void copy<T>(Index, const T*, Index, T*, Index, Index); \
  template class NextColumns<T>;                                   \
  template class ColumnsAhead<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
