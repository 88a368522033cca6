// Column-major matrix views. The memory space is part of the type, so that host memory cannot be
// handed to a device kernel by mistake.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/scalar.hpp"

namespace overlapack {

enum class Space { host, device };

/// The indices first <= i < last.
struct Range {
  Index first = 0;
  Index last = 0;
  Index size() const { return last - first; }
  bool empty() const { return last <= first; }
};

/// A non-owning rows x cols matrix; element (i, j) lies at data[i + j * ld], ld >= rows.
/// Vectors are views with one column.
template <class T, Space S>
struct View {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index ld = 1;

  View() = default;
  View(T* data_, Index rows_, Index cols_, Index ld_)
      : data(data_), rows(rows_), cols(cols_), ld(ld_) {}
  /// A vector of `count` contiguous elements.
  View(T* data_, Index count) : View(data_, count, 1, count > 0 ? count : 1) {}
  /// View<T> converts to View<const T>.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  View(const View<U, S>& other) : View(other.data, other.rows, other.cols, other.ld) {}

  /// The m x n block whose first element is (i, j). Empty blocks may lie at the edge.
  View block(Index i, Index j, Index m, Index n) const { return {data + i + j * ld, m, n, ld}; }
  View column(Index j) const { return block(0, j, rows, 1); }
  /// Rows i, columns j.
  View block(Range i, Range j) const { return block(i.first, j.first, i.size(), j.size()); }
  bool empty() const { return rows <= 0 || cols <= 0; }

  /// Element access exists for host memory only.
  template <Space Q = S, class = std::enable_if_t<Q == Space::host>>
  T& operator()(Index i, Index j = 0) const {
    return data[i + j * ld];
  }
};

/// Which elements of a matrix count: all, or a trapezoid. Part::lower means the elements with
/// i >= j + diagonal, Part::upper those with i <= j + diagonal, for a `diagonal` that goes with it.
enum class Part { all, lower, upper };

/// All of a number in double precision; or the half of it with its sign, its exponent and the first
/// 20 bits of its fraction; or the half with the other 32.
enum class Words { all, high, low };

/// The part that a triangle is, with its diagonal.
constexpr Part part_of(Uplo uplo) { return uplo == Uplo::lower ? Part::lower : Part::upper; }

/// Which norm, and of what: of all of a matrix, or of one that is given by a part of it. Elements
/// outside the part are zero or, with a symmetry, those of the other triangle. With Diag::unit the
/// diagonal is taken to be ones.
struct NormOf {
  Norm norm = Norm::max;
  Part part = Part::all;
  Symmetry symmetry = Symmetry::none;
  Diag diag = Diag::non_unit;

  bool of_triangle() const { return part != Part::all && symmetry == Symmetry::none; }
  /// Of the part.
  Uplo uplo() const { return part == Part::upper ? Uplo::upper : Uplo::lower; }
};

/// The rows of column j that belong to a part of a matrix with `rows` rows.
inline Range rows_of_column(Part part, Index diagonal, Index rows, Index j) {
  return {part == Part::lower ? std::clamp<Index>(j + diagonal, 0, rows) : 0,
          part == Part::upper ? std::clamp<Index>(j + diagonal + 1, 0, rows) : rows};
}

template <class T>
using HostView = View<T, Space::host>;
template <class T>
using DeviceView = View<T, Space::device>;

/// A matrix of the caller that lies in the device's memory: pointers do not tell, so every matrix
/// comes as a host view. And the other way round, for a matrix of ours that takes the place of the
/// caller's.
template <class T>
DeviceView<T> on_device(HostView<T> a) {
  return {a.data, a.rows, a.cols, a.ld};
}
template <class T>
HostView<T> as_argument(DeviceView<T> a) {
  return {a.data, a.rows, a.cols, a.ld};
}

}  // namespace overlapack
