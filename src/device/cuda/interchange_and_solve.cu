// A step of LU on the columns to the right of a panel: row interchanges and U := L^-1 U in one
// pass.
//
// A thread block has 16 columns at a time, in which it does everything, so that only its own
// threads have to wait for each other. Every thread block makes the interchanges a list of moves
// for itself (interchange.cuh). The rows of U are gathered into shared memory, the rows that they
// displace wait in registers until all are read. U is solved for as U^H L^H = A^H, tile by tile
// (triangle.cuh). In between the next columns are on their way.
#include <algorithm>

#include "device/cuda/interchange.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/triangle.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarp;
constexpr Index kMaxBlocks = 128;  // about one for each multiprocessor

constexpr int kOrder = kWarps * kTile;  // of L at most

template <class E>
struct Memory {
  TriangleMemory<E, kWarps> triangle;
  TileMemory<E> strip[kWarps];
  Interchanges<kOrder> interchanges;
};

template <class T>
struct Step {
  Triangle<T> triangle;
  const Index* pivots;
  Index offset;
  T* a;
  Index columns, ld;
};

template <class T>
__global__ void __launch_bounds__(kThreads) interchange_and_solve_kernel(Step<T> step) {
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E>*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const int n = step.triangle.n, tiles = step.triangle.tiles();
  const Index pivot = t < n ? step.pivots[t] : 0;
  load_triangle(memory.triangle, step.triangle, warp, lane);
  memory.interchanges.compose(n, static_cast<int>(pivot - 1 - step.offset));

  // A thread has one row of the block, and of the one it displaces, in some of the 16 columns.
  constexpr int kApart = kThreads / kOrder, kColumns = kTile / kApart;
  const int row = t % kOrder, first = t / kOrder;
  const RowMoves moves = row < n ? memory.interchanges.moves[row] : RowMoves{0, 0, -1};
  const Index columns = row < n ? step.columns : 0, apart = kApart * step.ld;
  T gathered[kColumns], displaced[kColumns];
  const auto load = [&](Index column) {
    const T* const from = &step.a[(column + first) * step.ld];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const bool there = column + first + i * kApart < columns;
      gathered[i] = there ? from[moves.source + i * apart] : from_real<T>(0);
      if (there && moves.place >= 0) displaced[i] = from[moves.displaced + i * apart];
    }
  };
  const Index stride = Index{gridDim.x} * kTile;
  Index column = Index{blockIdx.x} * kTile;
  load(column);
  invert_diagonal(memory.triangle, step.triangle, warp, lane);

  for (; column < step.columns; column += stride) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      E& to = memory.strip[row / kTile].rows.row(first + i * kApart)[row % kTile];
      convert(to, conjugate(gathered[i]));
    }
    __syncthreads();  // these columns are read
    T* const to = &step.a[(column + first) * step.ld];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const bool there = column + first + i * kApart < columns;
      if (there && moves.place >= 0) to[moves.place + i * apart] = displaced[i];
    }
    if (column + stride < step.columns) load(column + stride);
    Fragment<E> x = zero_fragment<E>();
    if (warp < tiles) x = memory.strip[warp].rows.load(lane);
    x = solve_strip(memory.triangle, memory.strip, tiles, x, warp, lane);
    for_each_element([&](int h, int j, int e) {
      const Index c = column + fragment_row(lane, h);
      const int r = warp * kTile + fragment_column(lane, j, e);
      if (r < n && c < step.columns) convert(step.a[r + c * step.ld], conjugate(x.get(h, j, e)));
    });
  }
}

}  // namespace

template <class T>
Index interchange_and_solve_order(Index shared_bytes) {
  using E = DoubleScalar<typename DeviceScalar<T>::type>;
  return static_cast<Index>(sizeof(Memory<E>)) <= shared_bytes ? kOrder : 0;
}

template <class T>
void interchange_and_solve(cudaStream_t stream, DeviceView<const T> l, const Index* pivots,
                           Index offset, DeviceView<T> a) {
  using D = typename DeviceScalar<T>::type;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(quotient_up(a.cols, kTile), kMaxBlocks));
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(Memory<DoubleScalar<D>>);
  const Triangle<D> triangle{static_cast<int>(l.rows), true, Trapezoid<const D>(l, false)};
  const Step<D> step{triangle, pivots, offset, device_cast(a.data), a.cols, a.ld};
  launch(stream, shape, "interchange and solve", interchange_and_solve_kernel<D>, step);
}

#define OVERLAPACK_INSTANTIATE(T)                                                             \
  template Index interchange_and_solve_order<T>(Index);                                       \
  template void interchange_and_solve(cudaStream_t, DeviceView<const T>, const Index*, Index, \
                                      DeviceView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
