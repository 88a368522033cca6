// Cholesky factorization of one panel: the diagonal block A11 = L11 L11^H and all rows below it,
// L21 = A21 L11^-H, in one launch and in registers.
//
// The block is divided into 16 x 16 tiles and factored right-looking. Step k is, with tiles A(i,
// j),
//
//   1. A(k, k) = L(k, k) L(k, k)^H, and the inverse M of L(k, k);
//   2. L(i, k) = A(i, k) M^H             for i > k;
//   3. A(i, j) -= L(i, k) L(j, k)^H      for i >= j > k.
//
// The rows below the block take part: for them i is beyond the last column, and that is all the
// difference. One warp owns one row of tiles and keeps it in registers, in the layout of tile.cuh:
// tiles are loaded from global memory once, at the start, and stored once, when they are final.
//
// Of the diagonal block and its rows one thread block takes care. Time goes into the chain of its
// small factorizations (phase 1), so the chain has a warp to itself, with little tensor core work
// in its quarter of the multiprocessor, and runs ahead of the rows: as soon as it has published
// L(k, k) and M it computes L(k + 1, k) and A(k + 1, k + 1) for itself, from what the owner of row
// k + 1 handed over after step k - 1, and factors on.
//
// The other thread blocks have strips of the rows below. What step k needs of the diagonal block is
// the same for all of them: L(k, k), M, and the L(j, k). The warp of row k + 1, which has nothing
// else to do any more, copies it to global memory, a warp in each of the others, the courier,
// copies it from there. (Copying and the fence behind it take longer than a step of the chain, so
// one warp for all steps would be what everybody waits for.) So the strips follow a step or two
// behind, and when the diagonal block is finished so are they, almost. Thread blocks start in the
// order of their numbers, and the first one waits for nobody, so it does not matter how many of the
// others can run at the same time. (CUB's scan relies on the same order.)
//
// Phase 2 multiplies with an inverse, which by itself is as stable as the tile is well conditioned.
// Where that is in doubt, one step of iterative refinement makes the result as good as that of
// substitution (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., Theorem 12.3).
//
// All precisions compute in double: the FP64 tensor cores are no slower than the FP32 units.
// The upper triangle is handled as the lower one of the conjugate transpose: A = U^H U with
// U = L^H.
#include <cuda_pipeline.h>

#include <algorithm>

#include "device/cuda/panels/panels.hpp"
#include "device/cuda/parts/tile.cuh"
#include "device/cuda/parts/trapezoid.cuh"
#include "device/cuda/ptx/gate.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

// Who does what. Warp w runs in quarter w % 4 of the multiprocessor. The first warp is the chain in
// the thread block of the diagonal block, and the courier in the others. The other warps have rows,
// spread so that each quarter has the same work, but the chain's little: row 1 is finished after
// the first step. (A ninth warp would leave each of them only two thirds of the registers.)
constexpr int kWarps = 8;
constexpr int kRowWarps = kWarps - 1;
/// The row of tiles of a warp other than the first.
__device__ inline int row_of(int warp) {
  static constexpr signed char kRows[kWarps] = {0, 7, 6, 5, 1, 2, 3, 4};
  return kRows[warp];
}

/// What the chain tells the others in one step.
template <class E>
struct alignas(16) Step {
  Rows<E> factor;    ///< L, zeros above the diagonal
  Rows<E> inverse;   ///< M = L^-1
  int completed;     ///< number of columns before the first pivot that is not positive
  unsigned regular;  ///< bit j: pivot j is positive and finite
  bool refine;       ///< products with M need refinement
};
constexpr unsigned kAllRegular = (1u << kTile) - 1;

/// Everything that rows need to know of the diagonal block.
template <class E>
struct Board {
  static constexpr int kTilesBelow = kTiles<E> * (kTiles<E> - 1) / 2;
  Step<E> step[kTiles<E>];
  Tile<E> tiles[kTilesBelow];  // L(j, k), j > k, by columns

  /// The tiles of column k; that of row k + 1 comes first.
  __device__ Tile<E>* column(int k) { return &tiles[k * (2 * kTiles<E> - 1 - k) / 2]; }
};

/// Columns that the chain eliminates at a time.
constexpr int kStrip = 4;
template <class E>
using Square = E[kStrip][kStrip];

template <class E>
struct Shared {
  Board<E> board;
  struct {
    Tile<E> below, diagonal;    // A(k + 1, k) and A(k + 1, k + 1) after step k - 1
  } ahead[kTiles<E>];           // for the chain
  Tile<E> scratch[kRowWarps];   // a warp's own, in a strip
  Square<E> pivots;             // the chain's own
  Gate factored[kTiles<E>];     // step k is on the board; in a strip: with its column of tiles
  Gate solved[kTiles<E>];       // all rows have published their tiles of column k
  Gate handed_over[kTiles<E>];  // ahead[k] is there
};

/// The problem: rows 0 ... n-1 are the diagonal block. Where those have been factored before, the
/// first row in memory is row n.
template <class T>
struct Panel {
  Index rows;
  int n;
  Index first;
  Trapezoid<const T> a;
  Trapezoid<T> factor;
  Index* info;
  Index offset;

  __device__ int tiles() const { return (n + kTile - 1) / kTile; }
  /// Where element (row, column) of a trapezoid is.
  template <class U>
  __device__ U* place(const Trapezoid<U>& x, Index row, int column) const {
    return x.at(row - first, column);
  }
};

template <class E>
__device__ E zero_or_one(bool one) {
  return from_real<E>(one ? 1.0 : 0.0);
}

/// A tile of a panel's matrix where it lies in memory. It may reach beyond the last row, the last
/// column or, upwards, the diagonal.
template <class T>
struct TileInMemory {
  T* data;
  Index row_stride, column_stride;
  bool mirrored;
  int rows, columns;  // which there are
  int diagonal;       // element (r, r + diagonal) is on the diagonal

  __device__ bool complete() const { return rows >= kTile && columns >= kTile; }
  __device__ bool exists(int r, int c) const {
    return r < rows && c < columns && c <= r + diagonal;
  }
  /// Calls f(element, h, j, e) for every element of the lane.
  template <class F>
  __device__ void for_each(int lane, F f) const {
    T* const first =
        data + fragment_row(lane, 0) * row_stride + fragment_column(lane, 0, 0) * column_stride;
    Index down = row_stride, right = column_stride;
    compute_now(down);  // or else each element would be found by two multiplications
    compute_now(right);
    for_each_element([&](int h, int j, int e) {
      f(first + fragment_row(0, h) * down + fragment_column(0, j, e) * right, h, j, e);
    });
  }
  template <class E>
  __device__ void load(Fragment<E>& x, const T& element, int h, int j, int e) const {
    E value;
    convert(value, mirrored ? conjugate(element) : element);
    x.set(h, j, e, value);
  }
  template <class E>
  __device__ void store(T& element, const Fragment<E>& x, int h, int j, int e) const {
    const E value = x.get(h, j, e);
    convert(element, mirrored ? conjugate(value) : value);
  }
};

/// That of the rows from `row` on and of column tile k.
template <class T, class U>
__device__ TileInMemory<U> tile_of(const Panel<T>& panel, const Trapezoid<U>& x, Index row, int k) {
  const int column = k * kTile;
  return {panel.place(x, row, column),
          x.row_stride,
          x.column_stride,
          x.mirrored,
          static_cast<int>(min(panel.rows - row, Index{kTile})),
          panel.n - column,
          static_cast<int>(min(row - column, Index{kTile}))};
}

// Most tiles are complete, and the chain waits for some of these. What is done for the others is
// kept out of the way: instructions that are not at hand have to be waited for like data.

template <class E, class T>
__device__ __noinline__ Fragment<E> load_edge_tile(TileInMemory<const T> tile, int lane) {
  Fragment<E> x;
  tile.for_each(lane, [&](const T* from, int h, int j, int e) {
    const int r = fragment_row(lane, h), c = fragment_column(lane, j, e);
    tile.load(x, tile.exists(r, c) ? *from : from_real<T>(c == r + tile.diagonal), h, j, e);
  });
  return x;
}

/// Beyond row n or column n of the diagonal block it is that of a unit matrix, beyond the last row
/// zero. Above the diagonal it has whatever lies there.
template <class E, class T>
__device__ Fragment<E> load_tile(const Panel<T>& panel, Index row, int k, int lane) {
  const TileInMemory<const T> tile = tile_of(panel, panel.a, row, k);
  if (!tile.complete()) return load_edge_tile<E>(tile, lane);
  Fragment<E> x;
  tile.for_each(lane, [&](const T* from, int h, int j, int e) { tile.load(x, *from, h, j, e); });
  return x;
}

/// Columns from `completed` on become those of a unit matrix.
template <class E, class T>
__device__ __noinline__ void store_edge_tile(TileInMemory<T> tile, int completed, int lane,
                                             Fragment<E> x) {
  tile.for_each(lane, [&](T* to, int h, int j, int e) {
    const int r = fragment_row(lane, h), c = fragment_column(lane, j, e);
    if (c >= completed) x.set(h, j, e, zero_or_one<E>(c == r + tile.diagonal));
    if (tile.exists(r, c)) tile.store(*to, x, h, j, e);
  });
}

/// Stores it in the factor, of which only the columns before `completed` are right.
template <class E, class T>
__device__ void store_tile(const Panel<T>& panel, int completed, Index row, int k, int lane,
                           const Fragment<E>& x) {
  const TileInMemory<T> tile = tile_of(panel, panel.factor, row, k);
  if (tile.complete() && tile.diagonal > 0 && completed == panel.n) {
    tile.for_each(lane, [&](T* to, int h, int j, int e) { tile.store(*to, x, h, j, e); });
  } else {
    store_edge_tile(tile, completed - k * kTile, lane, x);
  }
}

/// d y - x conj(l).
__device__ inline double cross_eliminated(double y, double x, double l, double d) {
  return fma(d, y, -(x * l));
}
__device__ inline Complex<double> cross_eliminated(Complex<double> y, Complex<double> x,
                                                   Complex<double> l, double d) {
  const double re = fma(x.im, l.im, x.re * l.re), im = fma(x.im, l.re, -(x.re * l.im));
  return {fma(d, y.re, -re), fma(d, y.im, -im)};
}

/// The upper half of a double: sign, exponent (biased), and some of the significand.
constexpr int kExponentShift = 20;
constexpr unsigned kExponentBias = 1023;
__device__ inline unsigned upper_half(double x) { return static_cast<unsigned>(__double2hiint(x)); }
/// x 2^n for an x not too far from 1, by integer arithmetic.
__device__ inline double times_power(double x, int n) {
  return __hiloint2double(__double2hiint(x) + n * (1 << kExponentShift), __double2loint(x));
}

// Phase 1: Cholesky factorization of a tile by one warp, with one row of [A; I] in each lane: lane
// r < 16 has row r of A, which becomes that of L, and lane 16 + r has row r of the unit matrix,
// which becomes that of L^-H. kStrip columns at a time; the square on the strip's diagonal is in
// every lane, because doing the same many times over costs less than exchanging it column by
// column.

/// Products with M are as good as substitution if L, its rows scaled to unit length, is well
/// conditioned. Its condition number is less than 2 / det = 2 sqrt(reduction), where the reduction
/// is the product of the quotients (diagonal element of A) / pivot (Guggenheimer, Edelman and
/// Johnson, A simple estimate of the condition number of a linear system, 1995).
constexpr double kLargestReduction = 100;

/// Only the lower triangle.
template <class E>
__device__ void load_square(Square<E>& to, const E* from, int stride) {
#pragma unroll
  for (int i = 0; i < kStrip; ++i) {
#pragma unroll
    for (int j = 0; j <= i; ++j) to[i][j] = from[i * stride + j];
  }
}

template <class E>
__device__ void load_row(E (&row)[kTile], const Step<E>& step, int lane) {
  const int r = lane % kTile;
#pragma unroll
  for (int c = 0; c < kTile; ++c) {
    row[c] = lane < kTile ? step.factor.row(r)[c] : zero_or_one<E>(r == c);
  }
}

/// Column c of the strip that is finished: a row of L, or a column of M.
template <class E>
__device__ void store_column(Step<E>& step, int c, E x, int lane) {
  const int r = lane % kTile;
  if (lane < kTile) {
    step.factor.row(r)[c] = c < r ? x : from_real<E>(c == r ? real_part(x) : 0);
  } else {
    step.inverse.row(c)[r] = r <= c ? conjugate(x) : from_real<E>(0);
  }
}

/// The columns [next, next + kStrip) of all rows, given the finished strip before them. `x` times
/// L^H is what is subtracted.
template <class E>
__device__ void update_strip(E (&row)[kTile], const Step<E>& step, const E (&x)[kStrip], int first,
                             int next) {
#pragma unroll
  for (int j = next; j < next + kStrip; ++j) {
    const E* const l = step.factor.row(j) + first;
#pragma unroll
    for (int k = 0; k < kStrip; ++k) row[j] = subtract_product(row[j], x[k], conjugate(l[k]));
  }
}

/// The square of the next strip, from the lanes that have its rows to all.
template <class E>
__device__ void exchange_square(Square<E>& pivots, Square<E>& shared, const E (&row)[kTile],
                                int next, int lane) {
  if (lane / kStrip == next / kStrip) {
#pragma unroll
    for (int j = 0; j < kStrip; ++j) shared[lane % kStrip][j] = row[next + j];
  }
  __syncwarp();
  load_square(pivots, shared[0], kStrip);
}

/// For any tile. After the first pivot that is not positive, columns are those of the unit matrix.
template <class E>
__device__ __noinline__ void factor_tile_carefully(Step<E>& step, Square<E>& shared, int lane) {
  E row[kTile], pivots[kStrip][kStrip];
  load_row(row, step, lane);
  load_square(pivots, step.factor.row(0), Rows<E>::kStride);
  __syncwarp();
  int completed = kTile;
  unsigned regular = kAllRegular;
#pragma unroll
  for (int first = 0; first < kTile; first += kStrip) {
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {
      const int c = first + k;
      const double pivot = real_part(pivots[k][k]), root = sqrt(pivot);
      if (!(pivot > 0)) completed = min(completed, c);  // a NaN fails, too
      if (completed < kTile || isinf(pivot)) regular &= ~(1u << c);
      const double reciprocal = 1 / root;  // no root is so small that this overflows
      row[c] = lane == c ? from_real<E>(root) : scale(row[c], reciprocal);
#pragma unroll
      for (int i = k + 1; i < kStrip; ++i) pivots[i][k] = scale(pivots[i][k], reciprocal);
#pragma unroll
      for (int j = k + 1; j < kStrip; ++j) {
        const E ljk = conjugate(pivots[j][k]);
#pragma unroll
        for (int i = j; i < kStrip; ++i) {
          pivots[i][j] = subtract_product(pivots[i][j], pivots[i][k], ljk);
        }
        row[first + j] = subtract_product(row[first + j], row[c], ljk);
      }
    }
    E x[kStrip];
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {
      const int c = first + k;
      x[k] = c < completed ? row[c] : zero_or_one<E>(lane % kTile == c);
      store_column(step, c, x[k], lane);
    }
    __syncwarp();
#pragma unroll
    for (int next = first + kStrip; next < kTile; next += kStrip) {
      update_strip(row, step, x, first, next);
    }
    const int next = first + kStrip;
    if (next < kTile) exchange_square(pivots, shared, row, next, lane);
    __syncwarp();
  }
  if (lane == 0) {
    step.completed = completed;
    step.regular = regular;
    step.refine = true;
  }
}

/// For ordinary tiles, without a division or a root in the chain of dependent operations.
/// Elimination of column k of a strip multiplies by the pivot d instead of dividing by it,
///
///   y(i, j) := d y(i, j) - y(i, k) conj(y(j, k)),
///
/// so that behind it all elements have the factor s(k + 1) = s(k) d, s(0) = 1, more than they
/// should; and L(i, k) = y(i, k) / sqrt(s(k + 1)). A is scaled by 4^-shift, so that its largest
/// diagonal element is about 1 and no product of its elements overflows. (The others see an L that
/// is not scaled.) False if a pivot is not positive or a factor s not an ordinary number, or if the
/// diagonal is of extreme range; nothing is valid then.
template <class E>
__device__ bool factor_tile_fast(Step<E>& step, Square<E>& shared, int lane) {
  constexpr unsigned kLargestSpread = 600;
  // The exponent, biased, with the sign.
  const unsigned exponent =
      upper_half(real_part(step.factor.row(lane % kTile)[lane % kTile])) >> kExponentShift;
  const unsigned most = __reduce_max_sync(kAllLanes, exponent);
  const unsigned least = __reduce_min_sync(kAllLanes, exponent);
  if (least == 0 || most > 2 * kExponentBias || most - least > kLargestSpread) return false;
  const int shift = (static_cast<int>(most) - static_cast<int>(kExponentBias)) / 2;
  const double to_scaled = times_power(1.0, -2 * shift);

  E row[kTile], pivots[kStrip][kStrip];
  double diagonal[kTile];
  load_row(row, step, lane);
  load_square(pivots, step.factor.row(0), Rows<E>::kStride);
#pragma unroll
  for (int c = 0; c < kTile; ++c) {
    if (lane < kTile) row[c] = scale(row[c], to_scaled);
    diagonal[c] = real_part(step.factor.row(c)[c]) * to_scaled;
  }
#pragma unroll
  for (int i = 0; i < kStrip; ++i) {
#pragma unroll
    for (int j = 0; j <= i; ++j) pivots[i][j] = scale(pivots[i][j], to_scaled);
  }
  __syncwarp();

  bool ordinary = true;
  double reduction = 1;
#pragma unroll
  for (int first = 0; first < kTile; first += kStrip) {
    E x[kStrip];
    double s = 1;
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {
      const int c = first + k;
      const double d = real_part(pivots[k][k]);
#pragma unroll
      for (int j = k + 1; j < kStrip; ++j) {
#pragma unroll
        for (int i = j; i < kStrip; ++i) {
          pivots[i][j] = cross_eliminated(pivots[i][j], pivots[i][k], pivots[j][k], d);
        }
        row[first + j] = cross_eliminated(row[first + j], row[c], pivots[j][k], d);
      }
      const double previous = s;
      s *= d;
      // So far from underflow that what is lost is far below the rounding errors.
      constexpr unsigned kMinExponentBits = (kExponentBias - 900) << kExponentShift;
      constexpr unsigned kMaxExponentBits = (kExponentBias + 900) << kExponentShift;
      ordinary = ordinary &&
                 upper_half(d) - kMinExponentBits < kMaxExponentBits - kMinExponentBits &&
                 upper_half(s) - kMinExponentBits < kMaxExponentBits - kMinExponentBits;
      // About 20 bits, and a step of third order: with e = 1 - s z^2, 1 / sqrt(s) = z (1 + e / 2 +
      // 3 e^2 / 8 + ...).
      double z;
      asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(z) : "d"(s));
      const double e = fma(-s, z * z, 1.0);
      const double root = fma(fma(e, 0.375, 0.5), e * z, z);
      reduction *= diagonal[c] * (previous * root) * (previous * root);
      // In terms of L 2^-shift = y root, the others' L is 2^shift times that, and M 2^-shift times.
      x[k] = scale(row[c], times_power(root, -shift));
      store_column(step, c, lane < kTile ? scale(row[c], times_power(root, shift)) : x[k], lane);
    }
    const int next = first + kStrip;
    if (next == kTile) break;
    __syncwarp();
    update_strip(row, step, x, first, next);
    exchange_square(pivots, shared, row, next, lane);
#pragma unroll
    for (int later = next + kStrip; later < kTile; later += kStrip) {
      update_strip(row, step, x, first, later);
    }
  }
  if (lane == 0) {
    step.completed = kTile;
    step.regular = kAllRegular;
    step.refine = !(reduction <= kLargestReduction);
  }
  return ordinary;
}

/// Phase 1 for the tile `a`, of which only the lower triangle is used.
template <class E>
__device__ void factor_tile(Step<E>& step, Square<E>& shared, const Fragment<E>& a, int lane) {
  step.factor.store(lane, a);  // L takes its place strip by strip
  __syncwarp();
  if (factor_tile_fast(step, shared, lane)) return;
  __syncwarp();
  step.factor.store(lane, a);
  __syncwarp();
  factor_tile_carefully(step, shared, lane);
}

/// Sets columns to zero whose bit in `kept` is not set.
template <class E>
__device__ void keep_columns(Fragment<E>& x, unsigned kept, int lane) {
  for_each_element([&](int h, int j, int e) {
    if ((kept >> fragment_column(lane, j, e) & 1) == 0) x.set(h, j, e, from_real<E>(0));
  });
}

/// Phase 2: A L^-H. In columns without a positive and finite pivot the result is zero (a quotient
/// by infinity) or of no account, but nothing that stands there may get into the other columns.
template <class E>
__device__ Fragment<E> solve(const Step<E>& step, Fragment<E> a, int lane) {
  const Fragment<E> m = step.inverse.load(lane);
  const unsigned regular = step.regular;
  if (regular != kAllRegular) keep_columns(a, regular, lane);
  Fragment<E> x;
  multiply_add_lower(x, a, m, zero_fragment<E>());
  if (step.refine) {
    multiply_add_lower(a, x, negated(step.factor.load(lane)), a);  // now the residual
    if (regular != kAllRegular) keep_columns(a, regular, lane);
    multiply_add_lower(x, a, m, x);
  }
  return x;
}

/// Phase 3 for one row: tile[j - 1] := tile[j] - x L(k + j, k)^H for j = 1, ..., count. The tiles
/// move to the left because x's tile is final.
template <class E>
__device__ void update(const Tile<E>* column, int count, const Fragment<E>& x,
                       Fragment<E> (&tile)[kTiles<E>], int lane) {
#pragma unroll
  for (int j = 1; j < kTiles<E>; ++j) {
    if (j > count) break;
    multiply_add(tile[j - 1], x, negated(column[j - 1].load(lane)), tile[j]);
  }
}

/// When step k, not everything before it, ends the factorization: columns of the factor that are
/// right; otherwise all n.
template <class E, class T>
__device__ int completed_columns(const Panel<T>& panel, const Step<E>& step, int k) {
  return step.completed < kTile ? k * kTile + step.completed : panel.n;
}

/// Row tiles `row` of the factor, from column tile k on, of a panel that is not positive definite.
template <class E, class T>
__device__ void store_unit_tiles(const Panel<T>& panel, int completed, Index row, int k, int last,
                                 int lane) {
  for (; k < last; ++k) store_tile(panel, completed, row, k, lane, zero_fragment<E>());
}

// ---- between the thread blocks ---------------------------------------------------------------

/// Objects from board to board, by one warp.
template <class X>
__device__ void publish(X* to, const X* from, int count, int lane) {
  const int words = count * static_cast<int>(sizeof(X) / sizeof(int4));
#pragma unroll 4
  for (int w = lane; w < words; w += kWarp) {
    reinterpret_cast<int4*>(to)[w] = reinterpret_cast<const int4*>(from)[w];
  }
}
template <class X>
__device__ void fetch(X* to, const X* from, int count, int lane) {
  const int words = count * static_cast<int>(sizeof(X) / sizeof(int4));
#pragma unroll 4
  for (int w = lane; w < words; w += kWarp) {
    __pipeline_memcpy_async(reinterpret_cast<int4*>(to) + w,
                            reinterpret_cast<const int4*>(from) + w, sizeof(int4));
  }
}

/// The board in global memory.
template <class E>
struct Relayed {
  Board<E>* board;
  /// By step: the number of the last launch that has written it. Null if all is there.
  unsigned* posted;
  unsigned launch;
  bool wanted;  ///< somebody reads it

  /// Says that the steps [k, last) are there, or will not be needed, after a warp has written them.
  __device__ void post(int k, int last, int lane) const {
    __syncwarp();
    if (k + lane < last) {
      asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(posted + k + lane), "r"(launch)
                   : "memory");
    }
  }
  __device__ void await(int k, int lane) const {
    if (lane == 0) {
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                     : "=r"(seen)
                     : "l"(posted + k)
                     : "memory");
      } while (seen != launch);
    }
    __syncwarp();
  }
};

// ---- the thread block of the diagonal block ------------------------------------------------

/// The chain: diagonal tiles and nothing else, until the last one.
template <class T, class E>
__device__ void factor_diagonal(const Panel<T>& panel, Shared<E>& shared, const Relayed<E>& relayed,
                                int lane) {
  const int tiles = panel.tiles();
  Fragment<E> diagonal = load_tile<E>(panel, 0, 0, lane);
  int k = 0;
  for (;; ++k) {
    Step<E>& step = shared.board.step[k];
    factor_tile(step, shared.pivots, diagonal, lane);
    shared.factored[k].arrive();
    __syncwarp();
    if (k + 1 == tiles || step.completed < kTile) break;
    shared.handed_over[k].wait();
    const Fragment<E> x = solve(step, shared.ahead[k].below.load(lane), lane);
    multiply_add(diagonal, x, negated(x), shared.ahead[k].diagonal.load(lane));
  }
  const Step<E>& step = shared.board.step[k];
  if (relayed.wanted) {
    publish(&relayed.board->step[k], &step, 1, lane);
    relayed.post(k, tiles, lane);
  }
  const int completed = completed_columns(panel, step, k);
  store_tile(panel, completed, k * kTile, k, lane, step.factor.load(lane));
  if (lane == 0 && completed < panel.n && *panel.info == 0) {
    *panel.info = panel.offset + completed + 1;
  }
}

/// Row i > 0 of the tiles below the diagonal, and what is left to do of step i - 1: telling the
/// strips, and storing the diagonal tile.
template <class T, class E>
__device__ void eliminate_block_row(const Panel<T>& panel, Shared<E>& shared,
                                    const Relayed<E>& relayed, int i, int lane) {
  const int tiles = panel.tiles();
  const Index row = i * kTile;
  Fragment<E> tile[kTiles<E>];  // tile[j] belongs to column k + j in step k
#pragma unroll
  for (int k = 0; k < kTiles<E>; ++k) {
    if (k > i) break;
    tile[k] = load_tile<E>(panel, row, k, lane);
  }
  const auto hand_over = [&] {  // to the chain, after step i - 2
    shared.ahead[i - 1].below.store(lane, tile[0]);
    shared.ahead[i - 1].diagonal.store(lane, tile[1]);
    shared.handed_over[i - 1].arrive();
  };
  if (i == 1) hand_over();
  for (int k = 0; k < i; ++k) {
    shared.factored[k].wait();
    const Step<E>& step = shared.board.step[k];
    const int completed = completed_columns(panel, step, k);
    Tile<E>* const column = shared.board.column(k);
    Tile<E>& mine = column[i - k - 1];
    mine.store(lane, solve(step, tile[0], lane));
    shared.solved[k].arrive();
    __syncwarp();
    const Fragment<E> x = mine.load_left_operand(lane);
    if (completed < panel.n) {
      store_tile(panel, completed, row, k, lane, x);
      store_unit_tiles<E>(panel, completed, row, k + 1, i + 1, lane);
      return;
    }
    if (k + 1 < i) {
      shared.solved[k].wait();
      update(column, i - k, x, tile, lane);
      if (k + 2 == i) hand_over();
    }
    store_tile(panel, completed, row, k, lane, x);
  }
  const int k = i - 1;
  const Step<E>& step = shared.board.step[k];
  if (relayed.wanted) {
    publish(&relayed.board->step[k], &step, 1, lane);
    shared.solved[k].wait();
    publish(relayed.board->column(k), shared.board.column(k), tiles - i, lane);
    relayed.post(k, i, lane);
  }
  store_tile(panel, panel.n, k * kTile, k, lane, step.factor.load(lane));
}

// ---- the thread blocks of strips -----------------------------------------------------------

/// Their courier. Behind a step that is not positive definite nothing on the board is valid, not
/// even the tiles of its column; they come all the same, but nobody looks at them.
template <class T, class E>
__device__ void fetch_board(const Panel<T>& panel, Shared<E>& shared, const Relayed<E>& relayed,
                            int lane) {
  const int tiles = panel.tiles();
  for (int k = 0; k < tiles; ++k) {
    if (relayed.posted != nullptr) relayed.await(k, lane);
    fetch(&shared.board.step[k], &relayed.board->step[k], 1, lane);
    fetch(shared.board.column(k), relayed.board->column(k), tiles - k - 1, lane);
    shared.factored[k].arrive_with_copies();
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

/// The rows from `row` >= n on.
template <class T, class E>
__device__ void eliminate_row(const Panel<T>& panel, Shared<E>& shared, Tile<E>& scratch, Index row,
                              int lane) {
  const int tiles = panel.tiles();
  Fragment<E> tile[kTiles<E>];  // as above
#pragma unroll
  for (int k = 0; k < kTiles<E>; ++k) {
    if (k == tiles) break;
    tile[k] = load_tile<E>(panel, row, k, lane);
  }
  for (int k = 0; k < tiles; ++k) {
    shared.factored[k].wait();
    const Step<E>& step = shared.board.step[k];
    const int completed = completed_columns(panel, step, k);
    Fragment<E> x = solve(step, tile[0], lane);
    if (completed == panel.n && k + 1 < tiles) {
      __syncwarp();
      scratch.store(lane, x);
      __syncwarp();
      x = scratch.load_left_operand(lane);
      update(shared.board.column(k), tiles - k - 1, x, tile, lane);
    }
    store_tile(panel, completed, row, k, lane, x);
    if (completed < panel.n) {
      store_unit_tiles<E>(panel, completed, row, k + 1, tiles, lane);
      return;
    }
  }
}

/// Thread block number `strip` of these.
template <class T, class E>
__device__ void eliminate_strip(const Panel<T>& panel, Shared<E>& shared, Index strip,
                                const Relayed<E>& relayed) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  if (warp == 0) {
    fetch_board(panel, shared, relayed, lane);
    return;
  }
  const Index row = panel.n + (strip * kRowWarps + (warp - 1)) * kTile;
  if (row < panel.rows) eliminate_row(panel, shared, shared.scratch[warp - 1], row, lane);
}

// ---- the kernels ---------------------------------------------------------------------------

template <class E>
__device__ Shared<E>& shared_memory(int tiles) {
  extern __shared__ double2 memory[];
  Shared<E>& shared = *reinterpret_cast<Shared<E>*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < tiles) {
    shared.factored[thread].expect(1);
    shared.handed_over[thread].expect(1);
    shared.solved[thread].expect(max(tiles - thread - 1, 1));  // all rows below
  }
  __syncthreads();
  return shared;
}

/// Without the thread block of the diagonal block if its board is there.
template <class T, class E>
__global__ void __launch_bounds__(kWarps* kWarp)
    potrf_panel_kernel(Panel<T> panel, Relayed<E> relayed) {
  Shared<E>& shared = shared_memory<E>(panel.tiles());
  wait_for_queue();
  const bool factored = relayed.posted == nullptr;
  if (blockIdx.x > 0 || factored) {
    eliminate_strip(panel, shared, Index{blockIdx.x} - (factored ? 0 : 1), relayed);
    return;
  }
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  Panel<T> block = panel;
  block.rows = panel.n;
  if (warp == 0) {
    factor_diagonal(block, shared, relayed, lane);
  } else if (row_of(warp) < panel.tiles()) {
    eliminate_block_row(block, shared, relayed, row_of(warp), lane);
  }
}

template <class T>
using Accumulated = DoubleScalar<typename DeviceScalar<T>::type>;

/// In the memory of a Relay the board is behind what is posted, aligned.
constexpr std::size_t kPostedBytes = 256;
/// Notes are whole multiples of this, so that those behind them are aligned.
constexpr Index kNotesUnit = 64;

template <class T>
LaunchShape panel_shape(Index blocks) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(blocks);
  shape.threads = kWarps * kWarp;
  shape.shared_bytes = shared_by_all<Shared<Accumulated<T>>>();
  shape.early = true;
  return shape;
}

/// Thread blocks for so many rows below the diagonal block.
Index strips_of(Index rows) { return quotient_up(rows, Index{kRowWarps * kTile}); }

/// If the diagonal block is not positive definite, the panel is completed by columns (rows) of the
/// unit matrix, so that what is already enqueued behind spreads no Inf or NaN into columns that are
/// right.
template <class T>
void enqueue(CudaQueue& queue, const PotrfPanel<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using E = Accumulated<T>;
  const bool upper = op.uplo == Uplo::upper;
  const Index n = op.order(), below = op.below();
  const Panel<D> panel{n + below,
                       static_cast<int>(n),
                       0,
                       Trapezoid<const D>{op.a, upper},
                       Trapezoid<D>{op.factor, upper},
                       op.info.data,
                       op.offset};
  Relay& relay = queue.relay();
  T* const notes = op.notes.data;
  char* const memory = static_cast<char*>(relay.memory());
  const bool keep = notes != nullptr;
  const Index strips = strips_of(below);
  const Relayed<E> relayed{
      reinterpret_cast<Board<E>*>(keep ? reinterpret_cast<char*>(notes) : memory + kPostedBytes),
      reinterpret_cast<unsigned*>(memory), relay.next_launch(queue.stream()), keep || strips > 0};
  launch_kernel(queue.stream(), panel_shape<T>(1 + strips), "potrf panel", potrf_panel_kernel<D, E>,
                panel, relayed);
}

template <class T>
void enqueue(CudaQueue& queue, const PotrfRows<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using E = Accumulated<T>;
  const bool upper = op.uplo == Uplo::upper;
  const Index n = op.order(), rows = upper ? op.a.cols : op.a.rows;
  const Panel<D> panel{n + rows,
                       static_cast<int>(n),
                       n,
                       Trapezoid<const D>{op.a, upper},
                       Trapezoid<D>{op.factor, upper},
                       nullptr,
                       0};
  const Relayed<E> kept{const_cast<Board<E>*>(reinterpret_cast<const Board<E>*>(op.notes.data)),
                        nullptr, 0, true};
  launch_kernel(queue.stream(), panel_shape<T>(strips_of(rows)), "potrf rows",
                potrf_panel_kernel<D, E>, panel, kept);
}

}  // namespace

Relay::Relay()
    : memory_(kPostedBytes + std::max(sizeof(Board<double>), sizeof(Board<Complex<double>>)),
              "memory of the Cholesky panel") {}

unsigned Relay::next_launch(cudaStream_t stream) {
  if (launches_ == 0) {
    check(cudaMemsetAsync(memory(), 0, kPostedBytes, stream), "clearing the Cholesky panel");
    launches_ = 1;
  }
  return launches_++;
}

template <class T>
Index potrf_panel_width() {
  return kTiles<Accumulated<T>> * kTile;
}

template <class T>
Index potrf_notes() {
  constexpr auto kElements = (sizeof(Board<Accumulated<T>>) + sizeof(T) - 1) / sizeof(T);
  return round_up(static_cast<Index>(kElements), kNotesUnit);
}

#define OVERLAPACK_INSTANTIATE(T)        \
  template Index potrf_panel_width<T>(); \
  template Index potrf_notes<T>();       \
  OVERLAPACK_LAUNCH(PotrfPanel<T>) OVERLAPACK_LAUNCH(PotrfRows<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
