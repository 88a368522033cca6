// A step of LU on the columns to the right of a panel, where these are kept by rows, as A^H: column
// interchanges and X := X L^-H for the first columns, in one pass; or the solve alone.
//
// A thread block has 16 rows at a time, in which it does everything, so that only its own threads
// have to wait for each other. It makes the interchanges a list of moves for itself
// (interchange.cuh). Each warp gathers the tiles in a column of tiles into its registers.
//
// Substitution solves for these tiles one after the other (triangle.cuh), which is a chain of as
// many links, most of whose time goes into messages between warps. Of L a warp needs the tiles of
// one row of tiles, each of them once for 16 rows, so they come from memory when it is their turn.
//
// A product with V = L^-1 has no chain: a warp needs the tiles of one row of V. It is as good where
// V has no large elements: |A - X L^H| is at most about eps |A| |V|^H |L|^H then. Those that
// partial pivoting leaves are hardly larger than elements of L in practice (Viswanath and
// Trefethen, Condition numbers of random triangular matrices, SIAM J. Matrix Anal. Appl. 19, 1998).
// That is so as long as pivots are chosen among rows of one size. Rows d(i) times as large make
// v(i, k) d(i) / d(k) of v(i, k), which is small wherever d(i) is, so it counts in proportion.
// Where one is large, or a row of A is not finite, it is substitution after all. V is the solution
// for the rows of a unit matrix.
#include <math_constants.h>

#include <algorithm>

#include "device/cuda/fused/fused.hpp"
#include "device/cuda/fused/interchange.cuh"
#include "device/cuda/parts/triangle.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kWarps = 16;
constexpr int kThreads = kWarps * kWarp;
constexpr Index kMaxBlocks = 128;  // about one for each multiprocessor

constexpr int kOrder = kWarps * kTile;  // of L at most
static_assert(kOrder == FindInverses<double>::kOrder);

/// V, and the largest modulus in each of its columns of tiles, as compared with the sizes of rows
/// of U. There are no more tiles than V has.
template <class E>
struct Inverse {
  double largest[kWarps];
  Tile<E> tiles[kWarps * (kWarps + 1) / 2];  // by rows, from the left to the diagonal

  __device__ Tile<E>* row(int j) { return &tiles[j * (j + 1) / 2]; }
  __device__ const Tile<E>* row(int j) const { return &tiles[j * (j + 1) / 2]; }
  /// Whether products with it are as good as substitution. By whole warps.
  __device__ bool is_moderate(int tiles_of_l, int lane) const {
    constexpr double kMaxElement = FindInverses<double>::kLargestElement;
    return __all_sync(kAllLanes, lane >= tiles_of_l || largest[lane] <= kMaxElement) != 0;
  }
};

template <class E>
union Memory {
  struct {
    Rows<E> diagonal[kWarps], inverse[kWarps];
    TileMemory<E> solved[2];
  } substitution;
  Tile<E> given[kWarps];  // what is multiplied
  double largest[kWarps];
};

template <class T>
struct Step {
  Triangle<T> triangle;
  const Inverse<DoubleScalar<T>>* inverse;  // or null
  const Index* pivots;                      // or null: no interchanges
  Index offset;
  T* a;
  Index rows, ld;
};

/// Takes the tile of L's diagonal that a warp solves with. A __syncwarp() must follow.
template <class E, class T>
__device__ void begin_substitution(Memory<E>& memory, const Triangle<T>& triangle, int warp,
                                   int lane) {
  if (warp >= triangle.tiles()) return;
  Rows<E>& diagonal = memory.substitution.diagonal[warp];
  RawFragment<T> raw;
  load_l<true>(raw, triangle, warp, warp, lane);
  diagonal.store(lane, converted<E>(raw, triangle.l.mirrored));
  __syncwarp();
  invert_tile(memory.substitution.inverse[warp], diagonal, triangle.unit, lane);
}

/// X = A L^-H for 16 rows, of which a warp has one tile, by all warps. Tiles before `first` are
/// zero.
template <class E, class T>
__device__ Fragment<E> by_substitution(Memory<E>& memory, const Triangle<T>& triangle,
                                       Fragment<E> x, int first, int warp, int lane) {
  const int tiles = triangle.tiles();
  RawFragment<T> l;
  const auto load_column = [&](int k) {
    if (k < warp && warp < tiles) load_l<false>(l, triangle, warp, k, lane);
  };
  load_column(first);
#pragma unroll 1
  for (int k = first; k < tiles; ++k) {
    // One of two places: whoever writes there knows that all have read what was there before.
    TileMemory<E>& solved = memory.substitution.solved[k % 2];
    if (k == warp) {
      x = solve_tile(solved.rows, memory.substitution.diagonal[k], memory.substitution.inverse[k],
                     x, lane);
      __syncwarp();
      solved.tile.store(lane, x);
    }
    __syncthreads();
    if (k >= warp || warp >= tiles) continue;
    const Fragment<E> minus_l = negated(converted<E>(l, triangle.l.mirrored));
    multiply_add(x, solved.tile.load_left_operand(lane), minus_l, x);
    load_column(k + 1);
  }
  return x;
}

/// X = A V^H for the rows A in memory.given, by warps that have a tile.
template <class E>
__device__ Fragment<E> by_product(const Memory<E>& memory, const Inverse<E>& inverse, int warp,
                                  int lane) {
  constexpr int kTilesInFlight = sizeof(E) == sizeof(double) ? 2 : 1;  // tiles of V on their way
  const Tile<E>* const row = inverse.row(warp);
  Fragment<E> v[kTilesInFlight];
#pragma unroll
  for (int i = 0; i < kTilesInFlight; ++i) {
    if (i <= warp) v[i] = row[i].load(lane);
  }
  Fragment<E> x = zero_fragment<E>();
#pragma unroll 1
  for (int first = 0; first <= warp; first += kTilesInFlight) {
#pragma unroll
    for (int i = 0; i < kTilesInFlight; ++i) {
      const int k = first + i;
      if (k > warp) break;
      multiply_add(x, memory.given[k].load_left_operand(lane), v[i], x);
      if (k + kTilesInFlight <= warp) v[i] = row[k + kTilesInFlight].load(lane);
    }
  }
  return x;
}

/// What the two kernels have in dynamic shared memory.
template <class E>
struct StepMemory {
  Memory<E> solve;
  Interchanges<kOrder> interchanges;
};

/// Calls f(row, column, h, half, e) for the elements of the warp's tile that a lane has, of the
/// rows from `row` on; f gets the row as a pointer to its first element.
template <class T, class F>
__device__ void for_each_own(const Step<T>& step, Index row, int warp, int lane, F f) {
  for_each_element([&](int h, int half, int e) {
    const Index r = row + fragment_row(lane, h);
    const int c = warp * kTile + fragment_column(lane, half, e);
    if (r < step.rows && c < step.triangle.n) f(step.a + r, c, h, half, e);
  });
}

/// What the interchanges bring to the tile, and what they take from there.
template <class E, class T>
__device__ Fragment<E> gather(const Step<T>& step, const RowMoves* moves, Index row, int warp,
                              int lane, RawFragment<T>& displaced) {
  Fragment<E> a = zero_fragment<E>();
  for_each_own(step, row, warp, lane, [&](const T* from, int c, int h, int half, int e) {
    E value;
    convert(value, from[moves[c].source * step.ld]);
    a.set(h, half, e, value);
    if (moves[c].place >= 0) displaced.value[h][half][e] = from[moves[c].displaced * step.ld];
  });
  return a;
}
template <class T>
__device__ void store_displaced(const Step<T>& step, const RowMoves* moves, Index row, int warp,
                                int lane, const RawFragment<T>& displaced) {
  for_each_own(step, row, warp, lane, [&](T* to, int c, int h, int half, int e) {
    if (moves[c].place >= 0) to[moves[c].place * step.ld] = displaced.value[h][half][e];
  });
}
template <class E, class T>
__device__ void store(const Step<T>& step, Index row, int warp, int lane, const Fragment<E>& x) {
  for_each_own(step, row, warp, lane, [&](T* to, int c, int h, int half, int e) {
    convert(to[c * step.ld], x.get(h, half, e));
  });
}

/// The step on the thread block's rows from `row` on, by substitution. Products would lack the
/// registers it takes, were it not a function.
template <class T>
__device__ __noinline__ void substitute_from(Index row, Step<T> step,
                                             StepMemory<DoubleScalar<T>>& memory, int warp,
                                             int lane) {
  using E = DoubleScalar<T>;
  const RowMoves* const moves = memory.interchanges.moves;
  begin_substitution(memory.solve, step.triangle, warp, lane);
  for (; row < step.rows; row += Index{gridDim.x} * kTile) {
    RawFragment<T> displaced;
    Fragment<E> x = gather<E>(step, moves, row, warp, lane, displaced);
    __syncthreads();  // these rows are read
    store_displaced(step, moves, row, warp, lane, displaced);
    x = by_substitution(memory.solve, step.triangle, x, 0, warp, lane);
    store(step, row, warp, lane, x);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, 1) by_rows_kernel(Step<T> step) {
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<StepMemory<E>*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const int n = step.triangle.n, tiles = step.triangle.tiles();
  const bool moving = step.pivots != nullptr && t < n;
  const int partner = moving ? static_cast<int>(step.pivots[t] - 1 - step.offset) : t;
  const bool multiplies = step.inverse != nullptr && step.inverse->is_moderate(tiles, lane);
  memory.interchanges.compose(n, partner);

  const RowMoves* const moves = memory.interchanges.moves;
  Index row = Index{blockIdx.x} * kTile;
  for (; multiplies && row < step.rows; row += Index{gridDim.x} * kTile) {
    RawFragment<T> displaced;
    const Fragment<E> a = gather<E>(step, moves, row, warp, lane, displaced);
    memory.solve.given[warp].store(lane, a);
    // Here these rows are read. A sum that overflows costs time and no more.
    if (!__syncthreads_and(is_finite(sum_of(a)))) break;
    store_displaced(step, moves, row, warp, lane, displaced);
    if (warp < tiles) {
      store(step, row, warp, lane, by_product(memory.solve, *step.inverse, warp, lane));
    }
    __syncthreads();  // what was given may be overwritten
  }
  if (row < step.rows) substitute_from(row, step, memory, warp, lane);
}

/// The size of row i of U: the largest modulus in the last columns of the block.
template <class T>
__device__ double size_of_row(const Triangle<T>& lu, int i) {
  constexpr int kColumns = static_cast<int>(FindInverses<double>::kSizingColumns);
  double size = 0;
#pragma unroll
  for (int e = 0; e < kColumns; ++e) {
    const int j = lu.n - kColumns + e;
    if (j < i) continue;
    DoubleScalar<T> u;
    convert(u, *lu.l.at(i, j));
    const double x = modulus(u);
    size = fmax(size, isfinite(x) ? x : CUDART_INF);
  }
  return size;
}

/// V of blocks of kOrder on the diagonal of a unit lower triangle. Thread block (k, b) finds column
/// k of tiles of that of block b: rows of a unit matrix are solved for.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    find_inverses_kernel(Triangle<T> triangle, Inverse<DoubleScalar<T>>* inverses) {
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& memory = reinterpret_cast<StepMemory<E>*>(raw_memory)->solve;
  __shared__ double sizes[kOrder];  // of rows of U
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const int k = static_cast<int>(blockIdx.x), first = static_cast<int>(blockIdx.y) * kOrder;
  triangle.l = triangle.l.from(first, first);
  triangle.n = min(triangle.n - first, kOrder);
  const int tiles = triangle.tiles();
  if (k >= tiles) return;
  Inverse<E>& inverse = inverses[blockIdx.y];
  if (t < kOrder) sizes[t] = t < triangle.n ? size_of_row(triangle, t) : 1;
  begin_substitution(memory, triangle, warp, lane);
  Fragment<E> x;
  for_each_element([&](int h, int j, int e) {
    const bool one = warp == k && fragment_row(lane, h) == fragment_column(lane, j, e);
    x.set(h, j, e, from_real<E>(one ? 1 : 0));
  });
  __syncwarp();
  x = by_substitution(memory, triangle, x, k, warp, lane);
  __syncthreads();  // of memory there is nothing left to read, and sizes are known

  double largest = 0;
  if (warp >= k && warp < tiles) {
    // A lane has elements of V(warp, k)^H, of which the adjoint is wanted.
    Rows<E>& tile = memory.substitution.diagonal[warp];
    for_each_element([&](int h, int j, int e) {
      const E v = conjugate(x.get(h, j, e));
      const int r = fragment_column(lane, j, e), c = fragment_row(lane, h);
      tile.row(r)[c] = v;
      const double size = modulus(v) * sizes[k * kTile + c] / sizes[warp * kTile + r];
      largest = fmax(largest, isfinite(size) ? size : CUDART_INF);
    });
    __syncwarp();
    inverse.row(warp)[k].store(lane, tile.load(lane));
  }
#pragma unroll
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    largest = fmax(largest, __shfl_xor_sync(kAllLanes, largest, lanes));
  }
  __syncthreads();
  if (lane == 0) memory.largest[warp] = largest;
  __syncthreads();
  if (t > 0) return;
  for (int w = 1; w < kWarps; ++w) largest = fmax(largest, memory.largest[w]);
  inverse.largest[k] = largest;
}

template <class T>
void enqueue(CudaQueue& queue, const FindInverses<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using E = DoubleScalar<D>;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(quotient_up(op.lu.rows, kTile), Index{kWarps}));
  shape.blocks_y = static_cast<unsigned>(quotient_up(op.lu.rows, kOrder));
  shape.threads = kThreads;
  shape.shared_bytes = shared_by_all<StepMemory<E>>();
  const Triangle<D> triangle{static_cast<int>(op.lu.rows), true, Trapezoid<const D>(op.lu, false)};
  launch_kernel(queue.stream(), shape, op.kName, find_inverses_kernel<D>, triangle,
                reinterpret_cast<Inverse<E>*>(op.inverses.data));
}

}  // namespace

Index interchange_and_solve_by_rows_order() { return kOrder; }

template <class T>
void interchange_and_solve_by_rows(cudaStream_t stream, Uplo uplo, Diag diag, DeviceView<const T> l,
                                   const void* inverse, const Index* pivots, Index offset,
                                   DeviceView<T> a) {
  using D = typename DeviceScalar<T>::type;
  using E = DoubleScalar<D>;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(quotient_up(a.rows, kTile), kMaxBlocks));
  shape.threads = kThreads;
  shape.shared_bytes = shared_by_all<StepMemory<E>>();
  const Triangle<D> triangle{static_cast<int>(l.rows), diag == Diag::unit,
                             Trapezoid<const D>(l, uplo == Uplo::upper)};
  const Step<D> step{triangle,
                     static_cast<const Inverse<E>*>(inverse),
                     pivots,
                     offset,
                     device_cast(a.data),
                     a.rows,
                     a.ld};
  launch_kernel(stream, shape, "interchange and solve by rows", by_rows_kernel<D>, step);
}

/// Of the last block there are only as many tiles as it needs.
template <class T>
Index elements_of_inverses(Index n) {
  using E = DoubleScalar<typename DeviceScalar<T>::type>;
  constexpr Index kOfTile = Index{sizeof(Tile<E>) / sizeof(Index)};
  static_assert(sizeof(Inverse<E>) ==
                kWarps * sizeof(Index) + kWarps * (kWarps + 1) / 2 * kOfTile * sizeof(Index));
  const auto of_block = [](Index order) {
    const Index tiles = quotient_up(order, kTile);
    return order > 0 ? kWarps + tiles * (tiles + 1) / 2 * kOfTile : 0;
  };
  return n / kOrder * of_block(kOrder) + of_block(n % kOrder);
}

#define OVERLAPACK_INSTANTIATE(T)                                                               \
  template void interchange_and_solve_by_rows(cudaStream_t, Uplo, Diag, DeviceView<const T>,    \
                                              const void*, const Index*, Index, DeviceView<T>); \
  template Index elements_of_inverses<T>(Index);                                                \
  OVERLAPACK_LAUNCH(FindInverses<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
