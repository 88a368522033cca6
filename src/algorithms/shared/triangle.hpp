// One text for both triangles. The algorithms speak of A = L L^H; in an upper triangle, which holds
// U = L^H, block (i, j) of L stands conjugate-transposed as block (j, i).
#pragma once

#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// A part of L that becomes final at once: some columns, from the diagonal on or below it.
struct Piece {
  Range rows;
  Range columns;
  bool on_diagonal() const { return rows.first == columns.first; }
};

/// L of order n in the order in which it becomes final: by block columns of nb, those of the
/// leading block first, then the rows below it, then the rest. `leading`: its order, a multiple of
/// nb, or 0.
inline std::vector<Piece> pieces_of(Index n, Index nb, Index leading) {
  std::vector<Piece> pieces;
  for (const Range& j : partition(leading, nb)) pieces.push_back({{j.first, leading}, j});
  for (const Range& j : partition(leading, nb)) pieces.push_back({{leading, n}, j});
  for (const Range& j : partition({leading, n}, nb)) pieces.push_back({{j.first, n}, j});
  return pieces;
}

/// How L is stored.
struct Storage {
  Uplo uplo;

  bool lower() const { return uplo == Uplo::lower; }

  /// Rows `i` and columns `j` of L as they are stored in x.
  template <class U, Space S>
  View<U, S> block(const View<U, S>& x, Range i, Range j) const {
    return lower() ? x.block(i, j) : x.block(j, i);
  }

  /// The operation on a stored block of L that gives L itself.
  Op direct() const { return lower() ? Op::none : Op::conj_trans; }
  /// The operation that gives L^H.
  Op adjoint() const { return lower() ? Op::conj_trans : Op::none; }
};

template <class T>
struct Triangle : Storage {
  Kernels<T>& kernels;

  /// C := C - A B^H.
  void subtract(Queue& queue, DeviceView<const T> a, DeviceView<const T> b, DeviceView<T> c) const {
    if (lower()) {
      queue.enqueue(Gemm<T>{Op::none, Op::conj_trans, T(-1), a, b, T(1), c});
    } else {
      queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(-1), b, a, T(1), c});
    }
  }
};

}  // namespace overlapack::algorithms
