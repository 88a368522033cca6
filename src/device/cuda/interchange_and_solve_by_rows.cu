// A step of LU on the columns to the right of a panel, where these are kept by rows, as A^H: column
// interchanges and X := X L^-H for the first columns, in one pass; or the solve alone.
//
// A thread block has 16 rows at a time, in which it does everything, so that only its own threads
// have to wait for each other. It makes the interchanges a list of moves for itself
// (interchange.cuh). Each warp gathers the tiles in a column of tiles into its registers, where
// they are solved for, one after the other (triangle.cuh). Of L it needs the tiles of one row of
// tiles, each of them once for 16 rows, so they come from memory when it is their turn.
#include <algorithm>

#include "device/cuda/interchange.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/triangle.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kWarps = 16;
constexpr int kThreads = kWarps * kWarp;
constexpr Index kMaxBlocks = 128;  // about one for each multiprocessor

constexpr int kOrder = kWarps * kTile;  // of L at most
static_assert(kOrder == kInterchangeAndSolveByRowsOrder);

template <class E>
struct Memory {
  Rows<E> diagonal[kWarps], inverse[kWarps];
  TileMemory<E> solved[2];
  Interchanges<kOrder> interchanges;
};

template <class T>
struct Step {
  Triangle<T> triangle;
  const Index* pivots;  // or null: no interchanges
  Index offset;
  T* a;
  Index rows, ld;
};

template <class T>
__global__ void __launch_bounds__(kThreads, 1) by_rows_kernel(Step<T> step) {
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E>*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const Triangle<T>& triangle = step.triangle;
  const int n = triangle.n, tiles = triangle.tiles();
  const bool moving = step.pivots != nullptr && t < n;
  const int partner = moving ? static_cast<int>(step.pivots[t] - 1 - step.offset) : t;

  Rows<E>&diagonal = memory.diagonal[warp], &inverse = memory.inverse[warp];
  if (warp < tiles) {
    RawFragment<T> raw;
    load_l<true>(raw, triangle, warp, warp, lane);
    diagonal.store(lane, converted<E>(raw, triangle.l.mirrored));
  }
  memory.interchanges.compose(n, partner);
  if (warp < tiles) invert_tile(inverse, diagonal, triangle.unit, lane);
  __syncwarp();

  const RowMoves* const moves = memory.interchanges.moves;
  for (Index row = Index{blockIdx.x} * kTile; row < step.rows; row += Index{gridDim.x} * kTile) {
    // Calls f(row, column, h, half, e) for the elements of the warp's tile that a lane has.
    const auto for_each_own = [&](auto f) {
      for_each_element([&](int h, int half, int e) {
        const Index r = row + fragment_row(lane, h);
        const int c = warp * kTile + fragment_column(lane, half, e);
        if (r < step.rows && c < n) f(step.a + r, c, h, half, e);
      });
    };
    Fragment<E> x = zero_fragment<E>();
    RawFragment<T> displaced;
    for_each_own([&](const T* from, int c, int h, int half, int e) {
      E value;
      convert(value, from[moves[c].source * step.ld]);
      x.set(h, half, e, value);
      if (moves[c].place >= 0) displaced.value[h][half][e] = from[moves[c].displaced * step.ld];
    });
    __syncthreads();  // these rows are read
    for_each_own([&](T* to, int c, int h, int half, int e) {
      if (moves[c].place >= 0) to[moves[c].place * step.ld] = displaced.value[h][half][e];
    });

    RawFragment<T> l;
    const auto load_column = [&](int k) {
      if (k < warp && warp < tiles) load_l<false>(l, triangle, warp, k, lane);
    };
    load_column(0);
#pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
      // One of two places: whoever writes there knows that all have read what was there before.
      TileMemory<E>& solved = memory.solved[k % 2];
      if (k == warp) {
        x = solve_tile(solved.rows, diagonal, inverse, x, lane);
        __syncwarp();
        solved.tile.store(lane, x);
      }
      __syncthreads();
      if (k >= warp || warp >= tiles) continue;
      const Fragment<E> minus_l = negated(converted<E>(l, triangle.l.mirrored));
      multiply_add(x, solved.tile.load_left_operand(lane), minus_l, x);
      load_column(k + 1);
    }
    for_each_own(
        [&](T* to, int c, int h, int half, int e) { convert(to[c * step.ld], x.get(h, half, e)); });
  }
}

}  // namespace

template <class T>
void interchange_and_solve_by_rows(cudaStream_t stream, Uplo uplo, Diag diag, DeviceView<const T> l,
                                   const Index* pivots, Index offset, DeviceView<T> a) {
  using D = typename DeviceScalar<T>::type;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(quotient_up(a.rows, kTile), kMaxBlocks));
  shape.threads = kThreads;
  shape.shared_bytes = shared_by_all<Memory<DoubleScalar<D>>>();
  const Triangle<D> triangle{static_cast<int>(l.rows), diag == Diag::unit,
                             Trapezoid<const D>(l, uplo == Uplo::upper)};
  const Step<D> step{triangle, pivots, offset, device_cast(a.data), a.rows, a.ld};
  launch(stream, shape, "interchange and solve by rows", by_rows_kernel<D>, step);
}

#define OVERLAPACK_INSTANTIATE(T)                                                            \
  template void interchange_and_solve_by_rows(cudaStream_t, Uplo, Diag, DeviceView<const T>, \
                                              const Index*, Index, DeviceView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
