// BLAS's ?copy by several threads.
#pragma once

#include "core/scalar.hpp"
#include "host/tuning.hpp"

namespace overlapack::algorithms {

/// y := x, for n >= 0 elements that do not overlap. Element i of x is x[i * incx] or, if incx < 0,
/// x[(i - n + 1) * incx], as in BLAS, and of y likewise; an increment may be 0. The caller and up
/// to `threads - 1` others have a part each, and in calls that follow each other closely the same
/// one: next to an element lies one of the next row or column, and those share cache lines and
/// pages.
template <class T>
void copy(Index n, const T* x, Index incx, T* y, Index incy, Index threads);

/// Copies the columns of a matrix that lies by rows, one after the other, and reads each of its
/// cache lines once: what lies behind the elements of one column is kept for the next ones.
/// Otherwise the lines of a column must stay in the caches for as many columns as there are
/// elements in a line, and if rows are a power of two apart there are few places in which they may.
template <class T>
class NextColumns {
 public:
  /// Elements of the memory that it keeps columns in. Of more no cache would have them.
  static constexpr Index kKeptElements = kNumPyCopies.kept_columns_bytes / Index{sizeof(T)};

  /// `room` may be null, and then nothing is kept.
  constexpr explicit NextColumns(T* room = nullptr) : columns_(room) {}
  const T* room() const { return columns_; }

  /// y := the n > 0 elements x[i * incx], incx > 0, which do not overlap, by up to `threads`
  /// threads as in copy(). If x is `unchanged` since the last copy, what has been kept for it is
  /// used. n and incx are the same in all calls.
  void copy(Index n, const T* x, Index incx, T* y, Index threads, bool unchanged);

 private:
  /// Bytes: two lines, which memory delivers as fast as one.
  static constexpr Index kLine = 128, kWidth = kLine / Index{sizeof(T)};

  /// Between two kept columns. Not a power of two, for the caches' sake.
  static Index pitch(Index n) { return n + kWidth; }
  Index elements_of_row(Index n, const T* x, Index incx) const;
  void read_rows(Index n, const T* x, Index incx, T* y, Index threads);
  void copy_kept(Index n, T* y, Index threads);

  T* columns_;
  Index kept_ = 0, copied_ = 0;  // how many are there, and how many of these have been asked for
  const T* next_ = nullptr;      // the column that follows the one copied last
};

/// A matrix of which element (i, j) is begin[i * inc + j * ld].
template <class T>
struct Strided {
  T* begin;
  Index inc, ld;
  T* column(Index j) const { return begin + j * ld; }
};

/// Copies columns of a matrix before they are asked for, many at once by several threads. That
/// takes half as long as reading and writing column by column, with all threads told of each.
template <class T>
class ColumnsAhead {
 public:
  /// Y := X, n x columns matrices, n > 0. Of each, inc or ld is 1, and one inc at least. But the
  /// last row waits until take() asks for it: behind the last element of the first column there may
  /// be no more of X.
  void copy(Index n, Index columns, Strided<const T> x, Strided<T> y, Index threads);
  /// Whether the column at x has been copied to y, and is the next one of those. Now all of it is.
  bool take(Index n, const T* x, T* y);

 private:
  Strided<const T> x_{};  // from the next column on
  Strided<T> y_{};
  Index left_ = 0;
};

}  // namespace overlapack::algorithms
