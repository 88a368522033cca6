// Triangular solves with one small block: x L^H = b for many rows x.
//
// The block is divided into 16 x 16 tiles L(j, k). Each warp has 16 rows in registers, in the
// layout of tile.cuh, and goes through the columns of tiles like the rows of potrf_panel.cu:
//
//   x(k) = a(k) L(k, k)^-H,   a(j) -= x(k) L(j, k)^H for j > k.
//
// Every thread block inverts the tiles on the diagonal for itself, and x(k) is a product with the
// inverse and one step of iterative refinement, which makes it as good as substitution (Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd ed., Theorem 12.3). What is not finite goes
// through substitution itself: a product would spread it to columns before it.
//
// All precisions compute in double.
#include <algorithm>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/cuda/tile.cuh"
#include "device/cuda/trapezoid.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kWarps = 8;
constexpr Index kMaxBlocks = 1024;  // more would only invert again

template <class E>
struct Shared {
  Rows<E> diagonal[kTiles<E>], inverse[kTiles<E>];
  Tile<E> below[kTiles<E> * (kTiles<E> - 1) / 2];  // L(j, k), j > k, by columns
  union {                                          // a warp's own
    Tile<E> tile;
    Rows<E> rows;
  } scratch[kWarps];

  /// The tiles of column k below the diagonal.
  __device__ Tile<E>* column(int k) { return &below[k * (2 * kTiles<E> - 1 - k) / 2]; }
};

/// The problem: n columns; `count` rows x, which replace the rows b.
template <class T>
struct Solve {
  int n;
  bool unit;  // L has ones on its diagonal, which are not stored
  Trapezoid<const T> l;
  Index count;
  Trapezoid<T> b;

  __device__ int tiles() const { return (n + kTile - 1) / kTile; }
};

/// Tile (j, k), j >= k, of L; beyond order n that of a unit matrix.
template <class E, class T>
__device__ Fragment<E> load_l(const Solve<T>& problem, int j, int k, int lane) {
  Fragment<E> x;
  for_each_element([&](int h, int half, int e) {
    const int r = j * kTile + fragment_row(lane, h), c = k * kTile + fragment_column(lane, half, e);
    T loaded = from_real<T>(r == c);
    if (r < problem.n && (c < r || (c == r && !problem.unit))) loaded = *problem.l.at(r, c);
    E value;
    convert(value, problem.l.mirrored ? conjugate(loaded) : loaded);
    x.set(h, half, e, value);
  });
  return x;
}

/// Calls f(element, h, j, e) for what there is of tile k of the rows from `row` on.
template <class T, class F>
__device__ void for_each_of_b(const Solve<T>& problem, Index row, int k, int lane, F f) {
  for_each_element([&](int h, int j, int e) {
    const Index r = row + fragment_row(lane, h);
    const int c = k * kTile + fragment_column(lane, j, e);
    if (r < problem.count && c < problem.n) f(*problem.b.at(r, c), h, j, e);
  });
}

/// inverse := l^-1 for a lower triangular tile. One warp; a lane has a column.
template <class E>
__device__ void invert_tile(Rows<E>& inverse, const Rows<E>& l, int lane) {
  if (lane >= kTile) return;
  E x[kTile];
#pragma unroll
  for (int i = 0; i < kTile; ++i) {
    E sum = from_real<E>(i == lane ? 1 : 0);
#pragma unroll
    for (int j = 0; j < i; ++j) sum = subtract_product(sum, l.row(i)[j], x[j]);
    x[i] = divide(sum, l.row(i)[i]);
    inverse.row(i)[lane] = x[i];
  }
}

__device__ inline bool is_finite(double x) { return isfinite(x); }
__device__ inline bool is_finite(Complex<double> x) { return isfinite(x.re) && isfinite(x.im); }

/// x l^H = a by substitution; a lane has a row. `rows` is the warp's own.
template <class E>
__device__ Fragment<E> substitute(Rows<E>& rows, const Rows<E>& l, const Fragment<E>& a, int lane) {
  __syncwarp();
  rows.store(lane, a);
  __syncwarp();
  if (lane < kTile) {
    for (int c = 0; c < kTile; ++c) {
      E x = rows.row(lane)[c];
      for (int j = 0; j < c; ++j) {
        x = subtract_product(x, rows.row(lane)[j], conjugate(l.row(c)[j]));
      }
      rows.row(lane)[c] = divide(x, conjugate(l.row(c)[c]));
    }
  }
  __syncwarp();
  return rows.load(lane);
}

/// x l^H = a.
template <class E>
__device__ Fragment<E> solve_tile(Rows<E>& rows, const Rows<E>& l, const Rows<E>& inverse,
                                  Fragment<E> a, int lane) {
  bool finite = true;
  for_each_element([&](int h, int j, int e) { finite = finite && is_finite(a.get(h, j, e)); });
  if (!__all_sync(kAllLanes, finite)) return substitute(rows, l, a, lane);
  const Fragment<E> m = inverse.load(lane);
  Fragment<E> x;
  multiply_add_lower(x, a, m, zero_fragment<E>());
  multiply_add_lower(a, x, negated(l.load(lane)), a);  // now the residual
  multiply_add_lower(x, a, m, x);
  return x;
}

template <class T>
__global__ void __launch_bounds__(kWarps* kWarp) trsm_block_kernel(Solve<T> problem) {
  using E = typename DoubleOf<T>::type;
  extern __shared__ double2 memory[];
  Shared<E>& shared = *reinterpret_cast<Shared<E>*>(memory);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int tiles = problem.tiles();
  if (warp < tiles) {  // column `warp` of L
    Rows<E>& l = shared.diagonal[warp];
    l.store(lane, load_l<E>(problem, warp, warp, lane));
    for (int j = warp + 1; j < tiles; ++j) {
      shared.column(warp)[j - warp - 1].store(lane, load_l<E>(problem, j, warp, lane));
    }
    __syncwarp();
    invert_tile(shared.inverse[warp], l, lane);
  }
  __syncthreads();

  const Index stride = Index{gridDim.x} * kWarps * kTile;
  for (Index row = (Index{blockIdx.x} * kWarps + warp) * kTile; row < problem.count;
       row += stride) {
    auto& scratch = shared.scratch[warp];
    Fragment<E> tile[kTiles<E>];  // tile[j] belongs to column k + j in step k
#pragma unroll
    for (int k = 0; k < kTiles<E>; ++k) {
      if (k == tiles) break;
      tile[k] = zero_fragment<E>();
      for_each_of_b(problem, row, k, lane, [&](const T& from, int h, int j, int e) {
        E to;
        convert(to, problem.b.mirrored ? conjugate(from) : from);
        tile[k].set(h, j, e, to);
      });
    }
#pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
      Fragment<E> x =
          solve_tile(scratch.rows, shared.diagonal[k], shared.inverse[k], tile[0], lane);
      __syncwarp();
      scratch.tile.store(lane, x);
      __syncwarp();
      x = scratch.tile.load_left_operand(lane);
#pragma unroll
      for (int j = 1; j < kTiles<E>; ++j) {
        if (j >= tiles - k) break;
        multiply_add(tile[j - 1], x, negated(shared.column(k)[j - 1].load(lane)), tile[j]);
      }
      for_each_of_b(problem, row, k, lane, [&](T& to, int h, int j, int e) {
        const E value = x.get(h, j, e);
        convert(to, problem.b.mirrored ? conjugate(value) : value);
      });
    }
  }
}

}  // namespace

template <class T>
Index trsm_block_order() {
  return kTiles<typename DoubleOf<typename DeviceScalar<T>::type>::type> * kTile;
}

template <class T>
void trsm_block(cudaStream_t stream, Side side, Uplo uplo, Diag diag, DeviceView<const T> a,
                DeviceView<T> b) {
  using D = typename DeviceScalar<T>::type;
  using E = typename DoubleOf<D>::type;
  const bool left = side == Side::left;  // L X = B is X^H L^H = B^H
  const Index count = left ? b.cols : b.rows;
  constexpr Index kRows = kWarps * kTile;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min((count + kRows - 1) / kRows, kMaxBlocks));
  shape.threads = kWarps * kWarp;
  shape.shared_bytes = sizeof(Shared<E>);
  const Solve<D> problem{static_cast<int>(a.rows), diag == Diag::unit,
                         Trapezoid<const D>(device_cast(a.data), a.ld, uplo == Uplo::upper), count,
                         Trapezoid<D>(device_cast(b.data), b.ld, left)};
  launch(stream, shape, "trsm block", trsm_block_kernel<D>, problem);
}

#define OVERLAPACK_INSTANTIATE(T)       \
  template Index trsm_block_order<T>(); \
  template void trsm_block(cudaStream_t, Side, Uplo, Diag, DeviceView<const T>, DeviceView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
