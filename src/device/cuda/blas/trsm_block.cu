// Triangular solves with one small block: x L^H = b for many rows x, or x L = b.
//
// The block is divided into 16 x 16 tiles L(j, k). Each warp has 16 rows in registers, in the
// layout of tile.cuh, and goes through the columns of tiles like the rows of potrf_panel.cu:
//
//   x(k) = a(k) L(k, k)^-H,   a(j) -= x(k) L(j, k)^H for j > k.
//
// Every thread block inverts the tiles on the diagonal for itself (triangle.cuh). If there are few
// rows, a thread block has only 16 of them, and each of its warps one tile: then a solve takes less
// time, but more of it is spent waiting.
#include <algorithm>

#include "device/cuda/blas/blas.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/triangle.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarp;
constexpr Index kTargetBlocks = 128;  // about one for each multiprocessor
constexpr Index kMaxBlocks = 1024;    // more would only invert again

template <class E>
struct Memory {
  TriangleMemory<E, kTiles<E>> triangle;
  TileMemory<E> scratch[kWarps];
};

/// The problem: `count` rows x, which replace the rows b.
template <class T>
struct Solve {
  Triangle<T> triangle;
  Index count;
  Trapezoid<T> b;
};

/// Calls f(element, h, j, e) for what there is of tile k of the rows from `row` on.
template <class T, class F>
__device__ void for_each_of_b(const Solve<T>& problem, Index row, int k, int lane, F f) {
  for_each_element([&](int h, int j, int e) {
    const Index r = row + fragment_row(lane, h);
    const int c = k * kTile + fragment_column(lane, j, e);
    if (r < problem.count && c < problem.triangle.n) f(*problem.b.at(r, c), h, j, e);
  });
}

template <class E, class T>
__device__ Fragment<E> load_b(const Solve<T>& problem, Index row, int k, int lane) {
  Fragment<E> x = zero_fragment<E>();
  for_each_of_b(problem, row, k, lane, [&](const T& from, int h, int j, int e) {
    E to;
    convert(to, problem.b.mirrored ? conjugate(from) : from);
    x.set(h, j, e, to);
  });
  return x;
}

template <class E, class T>
__device__ void store_b(const Solve<T>& problem, Index row, int k, int lane, const Fragment<E>& x) {
  for_each_of_b(problem, row, k, lane, [&](T& to, int h, int j, int e) {
    const E value = x.get(h, j, e);
    convert(to, problem.b.mirrored ? conjugate(value) : value);
  });
}

/// A thread block for every 16 rows.
template <class T>
__global__ void __launch_bounds__(kThreads) solve_few_kernel(Solve<T> problem) {
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E>*>(raw_memory);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const Index row = Index{blockIdx.x} * kTile;
  load_triangle(memory.triangle, problem.triangle, warp, lane);
  Fragment<E> x = load_b<E>(problem, row, warp, lane);
  invert_diagonal(memory.triangle, problem.triangle, warp, lane);
  __syncthreads();
  x = solve_strip(memory.triangle, memory.scratch, problem.triangle.tiles(), x, warp, lane);
  store_b(problem, row, warp, lane, x);
}

/// Only the first row_warps warps of a block have rows, 16 at a time; the others help to invert.
template <class T>
__global__ void __launch_bounds__(kThreads) solve_many_kernel(Solve<T> problem, int row_warps) {
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E>*>(raw_memory);
  TriangleMemory<E, kTiles<E>>& triangle = memory.triangle;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int tiles = problem.triangle.tiles();
  load_triangle(triangle, problem.triangle, warp, lane);
  invert_diagonal(triangle, problem.triangle, warp, lane);
  __syncthreads();

  if (warp >= row_warps) return;
  TileMemory<E>& scratch = memory.scratch[warp];
  const Index stride = Index{gridDim.x} * row_warps * kTile;
  for (Index row = (Index{blockIdx.x} * row_warps + warp) * kTile; row < problem.count;
       row += stride) {
    Fragment<E> tile[kTiles<E>];  // tile[j] belongs to column k + j in step k
#pragma unroll
    for (int k = 0; k < kTiles<E>; ++k) {
      if (k == tiles) break;
      tile[k] = load_b<E>(problem, row, k, lane);
    }
#pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
      Fragment<E> x =
          solve_tile(scratch.rows, triangle.diagonal[k], triangle.inverse[k], tile[0], lane);
      __syncwarp();
      scratch.tile.store(lane, x);
      __syncwarp();
      x = scratch.tile.load_left_operand(lane);
#pragma unroll
      for (int j = 1; j < kTiles<E>; ++j) {
        if (j >= tiles - k) break;
        multiply_add(tile[j - 1], x, triangle.column(k)[j - 1].load(lane), tile[j]);
      }
      store_b(problem, row, k, lane, x);
    }
  }
}

}  // namespace

template <class T>
Index trsm_block_order() {
  return kTiles<DoubleScalar<typename DeviceScalar<T>::type>> * kTile;
}

template <class T>
void trsm_block(cudaStream_t stream, const BlockSolveForm& form, DeviceView<const T> a,
                DeviceView<T> b) {
  using D = typename DeviceScalar<T>::type;
  using E = DoubleScalar<D>;
  const bool left = form.side == Side::left;  // L X = B is X^H L^H = B^H
  const Index count = left ? b.cols : b.rows, last = a.rows - 1;
  const Index strips = quotient_up(count, kTile);
  Trapezoid<const D> l(a, form.uplo == Uplo::upper);
  Trapezoid<D> rows(b, left);
  if (form.backward) {
    // With the columns of x and b in the opposite order, and rows and columns of L^H, too, x L = b
    // has the forward form.
    l = Trapezoid<const D>(a, form.uplo == Uplo::lower).backwards(last, last);
    rows = rows.columns_backwards(last);
  }
  const Solve<D> problem{{static_cast<int>(a.rows), form.diag == Diag::unit, l}, count, rows};
  LaunchShape shape;
  shape.threads = kThreads;
  shape.shared_bytes = shared_by_all<Memory<E>>();
  if (strips <= kTargetBlocks) {
    shape.blocks = static_cast<unsigned>(strips);
    launch_kernel(stream, shape, "trsm block", solve_few_kernel<D>, problem);
    return;
  }
  // Rows are spread over all multiprocessors: warps of one compete for its tensor cores.
  const Index row_warps = std::min<Index>(quotient_up(strips, kTargetBlocks), kWarps);
  shape.blocks = static_cast<unsigned>(std::min(quotient_up(strips, row_warps), kMaxBlocks));
  launch_kernel(stream, shape, "trsm block", solve_many_kernel<D>, problem,
                static_cast<int>(row_warps));
}

#define OVERLAPACK_INSTANTIATE(T)       \
  template Index trsm_block_order<T>(); \
  template void trsm_block(cudaStream_t, const BlockSolveForm&, DeviceView<const T>, DeviceView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
