// A small triangle L in shared memory, and x L^H = a for rows x of 16 x 16 tiles.
//
// With a tile L(k, k) of the diagonal this is a product with its inverse and one step of iterative
// refinement, which makes it as good as substitution (Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., Theorem 12.3). A row x that is not finite goes through substitution
// itself: a product would spread that to columns before it. What is not finite in L, or a zero on
// its diagonal, does spread within a tile.
//
// All precisions compute in double.
#pragma once

#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/tile.cuh"
#include "device/cuda/parts/trapezoid.cuh"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {

/// L in device memory.
template <class T>
struct Triangle {
  int n;
  bool unit;  // ones on the diagonal, which are not stored
  Trapezoid<const T> l;

  __device__ int tiles() const { return (n + kTile - 1) / kTile; }
};

/// L in shared memory, up to N tiles on the diagonal.
template <class E, int N>
struct TriangleMemory {
  Rows<E> diagonal[N], inverse[N];
  Tile<E> below[N * (N - 1) / 2];  // -L(j, k), j > k, by columns

  /// The tiles of column k below the diagonal.
  __device__ Tile<E>* column(int k) { return &below[k * (2 * N - 1 - k) / 2]; }
};

/// One tile of x in shared memory, a warp's own: whole rows, or for products.
template <class E>
union TileMemory {
  Rows<E> rows;
  Tile<E> tile;
};

/// Tile (j, k) of L, on the diagonal or below; beyond order n that of a unit matrix.
template <bool kDiagonal, class T>
__device__ void load_l(RawFragment<T>& x, const Triangle<T>& triangle, int j, int k, int lane) {
  const int row = j * kTile + fragment_row(lane, 0);
  const int column = k * kTile + fragment_column(lane, 0, 0);
  const T* const corner = triangle.l.at(row, column);
  Index down = triangle.l.row_stride, right = triangle.l.column_stride;
  compute_now(down);  // or else each element would be found by two multiplications
  compute_now(right);
  for_each_element([&](int h, int half, int e) {
    const int r = row + 8 * h, c = column + 8 * half + e;
    const bool inside = !kDiagonal || c < r || (c == r && !triangle.unit);
    T& to = x.value[h][half][e];
    to = from_real<T>(kDiagonal && r == c);
    if (r < triangle.n && inside) {
      to = corner[8 * h * down + (8 * half + e) * right];
    }
  });
}

/// L to shared memory, by at least N warps; invert_diagonal() must follow.
template <class E, int N, class T>
__device__ void load_triangle(TriangleMemory<E, N>& memory, const Triangle<T>& triangle, int warp,
                              int lane) {
  // Of the tiles (j, k) and (k, j) that a warp k passes going round from (k, k), the lower one is
  // its own: half a round for each. All loads are under way before anything waits for one.
  constexpr int kBelow = N / 2;
  RawFragment<T> diagonal, below[kBelow];
  const int tiles = triangle.tiles();
  const auto for_each_below = [&](auto f) {
#pragma unroll
    for (int i = 0; i < kBelow; ++i) {
      const int other = (warp + i + 1) % N, j = max(warp, other), k = min(warp, other);
      const bool twice = i == kBelow - 1 && warp >= kBelow;  // the other warp has it
      if (warp < N && j < tiles && !twice) f(below[i], j, k);
    }
  };
  const auto value = [&](const RawFragment<T>& x) { return converted<E>(x, triangle.l.mirrored); };
  if (warp < tiles) load_l<true>(diagonal, triangle, warp, warp, lane);
  for_each_below([&](RawFragment<T>& x, int j, int k) { load_l<false>(x, triangle, j, k, lane); });
  if (warp < tiles) memory.diagonal[warp].store(lane, value(diagonal));
  for_each_below([&](const RawFragment<T>& x, int j, int k) {
    memory.column(k)[j - k - 1].store(lane, negated(value(x)));
  });
}

/// inverse := l^-1 for a lower triangular tile. One warp; a lane has a column.
template <class E>
__device__ void invert_tile(Rows<E>& inverse, const Rows<E>& l, bool unit, int lane) {
  if (lane >= kTile) return;
  E x[kTile];
#pragma unroll
  for (int i = 0; i < kTile; ++i) x[i] = from_real<E>(i == lane ? 1 : 0);
#pragma unroll
  for (int k = 0; k < kTile; ++k) {
    if (!unit) x[k] = divide(x[k], l.row(k)[k]);
#pragma unroll
    for (int i = k + 1; i < kTile; ++i) x[i] = subtract_product(x[i], l.row(i)[k], x[k]);
  }
#pragma unroll
  for (int k = 0; k < kTile; ++k) inverse.row(k)[lane] = x[k];
}

/// Each warp inverts the tile of the diagonal that it has loaded. A __syncthreads() must follow.
template <class E, int N, class T>
__device__ void invert_diagonal(TriangleMemory<E, N>& memory, const Triangle<T>& triangle, int warp,
                                int lane) {
  __syncwarp();
  if (warp >= triangle.tiles()) return;
  invert_tile(memory.inverse[warp], memory.diagonal[warp], triangle.unit, lane);
}

__device__ inline bool is_finite(double x) { return isfinite(x); }
__device__ inline bool is_finite(Complex<double> x) { return is_finite(x.re) && is_finite(x.im); }

/// x l^H = a by substitution, where l(i, j) is an element of l; a lane has a row. `rows` is the
/// warp's own.
template <class E, class L>
__device__ Fragment<E> substitute(Rows<E>& rows, L l, const Fragment<E>& a, int lane) {
  __syncwarp();
  rows.store(lane, a);
  __syncwarp();
  if (lane < kTile) {
    for (int c = 0; c < kTile; ++c) {
      E x = rows.row(lane)[c];
      for (int j = 0; j < c; ++j) {
        x = subtract_product(x, rows.row(lane)[j], conjugate(l(c, j)));
      }
      rows.row(lane)[c] = divide(x, conjugate(l(c, c)));
    }
  }
  __syncwarp();
  return rows.load(lane);
}

/// The sum of a lane's elements, which is not finite if one of them is not.
template <class E>
__device__ E sum_of(const Fragment<E>& a) {
  const auto of_four = [&](int h) {
    return add(add(a.get(h, 0, 0), a.get(h, 0, 1)), add(a.get(h, 1, 0), a.get(h, 1, 1)));
  };
  return add(of_four(0), of_four(1));
}

/// x l^H = a.
template <class E>
__device__ Fragment<E> solve_tile(Rows<E>& rows, const Rows<E>& l, const Rows<E>& inverse,
                                  const Fragment<E>& a, int lane) {
  const Fragment<E> m = inverse.load(lane);
  Fragment<E> x, residual;
  multiply_add_lower(x, a, m, zero_fragment<E>());
  multiply_add_lower(residual, x, negated(l.load(lane)), a);
  multiply_add_lower(x, residual, m, x);
  // Only now, because the products take time in which the lanes can look.
  return __all_sync(kAllLanes, is_finite(sum_of(a)))
             ? x
             : substitute(
                   rows, [&](int i, int j) { return l.row(i)[j]; }, a, lane);
}

/// x L^H = a for 16 rows, by all warps of a block: warp j has tile a(j), and gets x(j).
template <class E, int N>
__device__ Fragment<E> solve_strip(TriangleMemory<E, N>& memory, TileMemory<E>* scratch, int tiles,
                                   Fragment<E> a, int warp, int lane) {
#pragma unroll 1
  for (int k = 0; k < tiles; ++k) {
    const bool later = k < warp && warp < tiles;
    Fragment<E> minus_l;
    if (later) minus_l = memory.column(k)[warp - k - 1].load(lane);
    if (warp == k) {
      a = solve_tile(scratch[k].rows, memory.diagonal[k], memory.inverse[k], a, lane);
      __syncwarp();
      scratch[k].tile.store(lane, a);
    }
    __syncthreads();
    if (later) multiply_add(a, scratch[k].tile.load_left_operand(lane), minus_l, a);
  }
  return a;
}

}  // namespace overlapack::cuda
