// A step of LU on the columns to the right of a panel: row interchanges and U := L^-1 U by one
// kernel; and for few columns and rows the product that follows by the same kernel, too.
//
// A thread block has 16 columns at a time, in which it does everything, so that only its own
// threads have to wait for each other. What takes time are the latencies of memory and of one
// instruction after the other, so the halves of its warps work side by side. One makes the
// interchanges a list of moves (interchange.cuh), gathers the rows of U into shared memory, and
// keeps those that they displace in registers until all are read. The other one brings L and
// inverts the tiles on its diagonal. Then U is solved for as U^H L^H = A^H, tile by tile
// (triangle.cuh), by one half; the other one has nothing to do, or the product.
//
// With the product, 16 columns have the thread blocks of a cluster. Each solves for all of U, which
// takes no longer than to wait for others, and has some of the rows below, whose L is on its way to
// registers meanwhile. They wait for each other once: before anything is stored, all that moves has
// been read.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/cuda/fused/fused.hpp"
#include "device/cuda/fused/interchange.cuh"
#include "device/cuda/parts/triangle.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/ptx/cluster.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kWarps = 8, kHalf = kWarps / 2;
constexpr int kThreads = kWarps * kWarp;
constexpr Index kMaxBlocks = 128;  // about one for each multiprocessor

constexpr int kOrder = kWarps * kTile;  // of L at most
static_assert(kOrder == kHalf * kWarp);
constexpr double kLargestOfInverse = FindInverses<double>::kLargestElement, kMaxPivotRatio = 8;

template <class T>
struct Step {
  Triangle<T> triangle;
  const Index* pivots;
  Index offset;
  T* a;
  Index rows, columns, ld;
};

/// The lower tiles of L as they are stored, by columns. Between the columns of a tile are 16 bytes
/// more than its rows take, so that a warp reads a fragment without bank conflicts.
template <class T>
struct alignas(16) Columns {
  static constexpr int kPadding = 16 / sizeof(T);
  static constexpr int kElements = kOrder * (kOrder + kTile + 2 * kPadding) / 2;
  T element[kElements];

  /// Element (0, 0) of tile (j, k), j >= k.
  __device__ static int tile(int j, int k) {
    return k * kTile * (kOrder + kPadding - (k - 1) * kTile / 2) + (j - k) * kTile;
  }
  /// From one column to the next in the tiles (j, k).
  __device__ static int ld(int k) { return kOrder - k * kTile + kPadding; }
};

template <class T, class E>
struct Memory {
  Columns<T> l;
  Rows<E> inverse[kWarps];  // of the tiles on the diagonal of L
  bool moderate[kWarps];    // products with it are as good as substitution
  TileMemory<E> strip[kWarps];
  Gate solved[kWarps];  // a tile of U is in its strip
  Interchanges<kOrder> interchanges;
};

// ---- L, by one half of the warps ----

/// Starts copying the tiles of L that are a warp's own, by pieces of so many elements of a column.
/// What is beyond the order of L is zero.
template <int kPiece, class T>
__device__ void start_copying(Columns<T>& to, const Triangle<T>& triangle, int warp, int lane) {
  constexpr int kPieces = kTile / kPiece,
                kColumnsPerCopy = kWarp / kPieces;  // of a column; columns
  const int n = triangle.n, tiles = triangle.tiles();
  const int row = lane % kPieces * kPiece, column = lane / kPieces;
#pragma unroll 1
  for (int k = 0; k < tiles; ++k) {
#pragma unroll
    for (int i = 0; i < kWarps / kHalf; ++i) {
      const int j = warp + i * kHalf;
      if (j < k || j >= tiles) continue;
      const T* const from = triangle.l.at(j * kTile + row, k * kTile + column);
      T* const place = &to.element[Columns<T>::tile(j, k) + row + column * Columns<T>::ld(k)];
      const int rows = min(max(n - j * kTile - row, 0), kPiece);
#pragma unroll
      for (int c = 0; c < kTile; c += kColumnsPerCopy) {
        const bool there = k * kTile + column + c < n;
        start_copy<kPiece * sizeof(T)>(&place[c * Columns<T>::ld(k)],
                                       &from[c * triangle.l.column_stride],
                                       there ? rows * static_cast<int>(sizeof(T)) : 0);
      }
    }
  }
}

/// Tile (j, k) of L, j > k.
template <class E, class T>
__device__ Fragment<E> load_tile(const Columns<T>& l, int j, int k, int lane) {
  const T* const from = &l.element[Columns<T>::tile(j, k)];
  const int ld = Columns<T>::ld(k);
  RawFragment<T> x;
  for_each_element([&](int h, int half, int e) {
    x.value[h][half][e] = from[fragment_row(lane, h) + fragment_column(lane, half, e) * ld];
  });
  return converted<E>(x, false);
}
/// Tile (k, k), with ones on the diagonal and zeros above.
template <class E, class T>
__device__ Fragment<E> load_diagonal(const Columns<T>& l, int k, int lane) {
  Fragment<E> x = load_tile<E>(l, k, k, lane);
  for_each_element([&](int h, int half, int e) {
    const int row = fragment_row(lane, h), column = fragment_column(lane, half, e);
    if (row <= column) x.set(h, half, e, from_real<E>(row == column));
  });
  return x;
}

/// The inverses of the tiles on the diagonal, two by a warp; a lane has a column. One is moderate
/// if it has no large elements, and if the pivots are about as large as the first one: among rows
/// of different sizes it would not be known by its elements (see interchange_and_solve_by_rows.cu).
template <class T, class E>
__device__ void invert_diagonal(Memory<T, E>& memory, int tiles, int warp, int lane) {
  const int tile = 2 * warp + lane / kTile, column = lane % kTile;
  if (tile >= tiles) return;
  const unsigned lanes = 0xffffu << (lane - column);  // of this tile
  const T* const l = &memory.l.element[Columns<T>::tile(tile, tile)];
  const int ld = Columns<T>::ld(tile);
  E x[kTile], u;
  convert(u, l[column + column * ld]);
  const double pivot = abs1(u), first = __shfl_sync(lanes, pivot, lane - column);
  bool moderate = pivot <= kMaxPivotRatio * first && first <= kMaxPivotRatio * pivot;
#pragma unroll
  for (int i = 0; i < kTile; ++i) x[i] = from_real<E>(i == column ? 1 : 0);
#pragma unroll
  for (int k = 0; k < kTile; ++k) {
#pragma unroll
    for (int i = k + 1; i < kTile; ++i) {
      E factor;
      convert(factor, l[i + k * ld]);
      x[i] = subtract_product(x[i], factor, x[k]);
    }
    moderate &= abs1(x[k]) <= kLargestOfInverse;
    memory.inverse[tile].row(k)[column] = x[k];
  }
  moderate = __all_sync(lanes, moderate);
  if (column == 0) memory.moderate[tile] = moderate;
}

template <class T, class E>
__device__ void bring_l(Memory<T, E>& memory, const Triangle<T>& triangle, int warp, int lane) {
  constexpr std::uintptr_t kPiece = 16 / sizeof(T);
  const auto address = reinterpret_cast<std::uintptr_t>(triangle.l.data) / sizeof(T);
  const auto ld = static_cast<std::uintptr_t>(triangle.l.column_stride);
  if ((address | ld) % kPiece == 0) {
    start_copying<kPiece>(memory.l, triangle, warp, lane);
  } else {
    start_copying<1>(memory.l, triangle, warp, lane);
  }
  finish_copies();
  synchronize_some(1, kHalf * kWarp);
  invert_diagonal(memory, triangle.tiles(), warp, lane);
  __syncwarp();
}

// ---- the rows that interchanges move, by the other half ----

/// 16 columns at a time: a thread has one row of the block, and of the one that this displaces.
template <class T>
class Moving {
 public:
  __device__ void compose(const Step<T>& step, Interchanges<kOrder>& interchanges, int thread) {
    row_ = thread;
    const bool there = row_ < step.triangle.n;
    const Index pivot = there ? step.pivots[row_] : 0;
    interchanges.compose(step.triangle.n, static_cast<int>(pivot - 1 - step.offset),
                         [] { synchronize_some(2, kHalf * kWarp); });
    moves_ = there ? interchanges.moves[row_] : RowMoves{0, 0, -1};
    columns_ = there ? step.columns : 0;
  }
  __device__ void load(const Step<T>& step, Index column) {
    const T* const from = &step.a[column * step.ld];
    for_each_column(column, [&](int c, bool there) {
      gathered_[c] = there ? from[moves_.source + c * step.ld] : from_real<T>(0);
      if (there && moves_.place >= 0) displaced_[c] = from[moves_.displaced + c * step.ld];
    });
  }
  /// The rows of the block, as their conjugates.
  template <class E>
  __device__ void put_gathered(TileMemory<E>* strip) const {
#pragma unroll
    for (int c = 0; c < kTile; ++c) {
      convert(strip[row_ / kTile].rows.row(c)[row_ % kTile], conjugate(gathered_[c]));
    }
  }
  __device__ void store_displaced(const Step<T>& step, Index column) const {
    T* const to = &step.a[column * step.ld];
    for_each_column(column, [&](int c, bool there) {
      if (there && moves_.place >= 0) to[moves_.place + c * step.ld] = displaced_[c];
    });
  }
  /// Of `count` rows from `begin` on, those that displaced ones come to: these, and in `source`
  /// which interchange takes each there.
  __device__ void put_displaced(T (*to)[kOrder], int* source, int begin, int count) const {
    const auto row = static_cast<unsigned>(moves_.place - begin);
    if (row < static_cast<unsigned>(count)) {
      source[row] = row_;
#pragma unroll
      for (int c = 0; c < kTile; ++c) to[c][row_] = displaced_[c];
    }
  }

 private:
  template <class F>
  __device__ void for_each_column(Index column, F f) const {
#pragma unroll
    for (int c = 0; c < kTile; ++c) f(c, column + c < columns_);
  }

  int row_;
  RowMoves moves_;
  Index columns_;
  T gathered_[kTile], displaced_[kTile];
};

// ---- U ----

/// x L^H = a for 16 rows, tile by tile: each of half of the warps has two tiles of x, one after the
/// other. A gate opens when a tile is in its strip.
template <class T, class E>
class Solve {
 public:
  /// By all threads, who must meet before anybody calls run(). (One makes all gates: racecheck
  /// takes the addresses of threads that make none for written, too.)
  __device__ Solve(Memory<T, E>& memory, int tiles, int thread, int lane)
      : memory_(memory), tiles_(tiles), lane_(lane) {
    if (thread != 0) return;
#pragma unroll
    for (int k = 0; k < kWarps; ++k) memory_.solved[k].expect(1);
  }

  /// By warp `solver`, which gets tiles 2 solver and 2 solver + 1.
  __device__ void run(int solver, Fragment<E> (&x)[2], unsigned parity = 0) {
    const int first = 2 * solver;
    if (first >= tiles_) return;
    const bool two = first + 1 < tiles_;
    // What is needed when it is this warp's turn is in registers before.
    Fragment<E> minus_l, inverse[2];
    bool moderate[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int k = two ? first + i : first;
      x[i] = memory_.strip[k].rows.load(lane_);
      inverse[i] = memory_.inverse[k].load(lane_);
      moderate[i] = memory_.moderate[k];
    }
    if (two) minus_l = negated(load_tile<E>(memory_.l, first + 1, first, lane_));
#pragma unroll 1
    for (int k = 0; k < first; ++k) {
      const Fragment<E> minus_l0 = negated(load_tile<E>(memory_.l, first, k, lane_));
      memory_.solved[k].wait(parity);
      const Fragment<E> of_k = memory_.strip[k].tile.load_left_operand(lane_);
      multiply_add(x[0], of_k, minus_l0, x[0]);
      if (!two) continue;
      multiply_add(x[1], of_k, negated(load_tile<E>(memory_.l, first + 1, k, lane_)), x[1]);
    }
    finish(first, x[0], inverse[0], moderate[0]);
    if (!two) return;
    multiply_add(x[1], x[0], minus_l, x[1]);
    finish(first + 1, x[1], inverse[1], moderate[1]);
  }

 private:
  /// x l^H = a with tile k on the diagonal, as triangle.cuh says; without refinement if its
  /// inverse is moderate.
  __device__ void finish(int k, Fragment<E>& a, const Fragment<E>& inverse, bool moderate) {
    Fragment<E> x;
    multiply_add_lower(x, a, inverse, zero_fragment<E>());
    // The products take time in which the lanes can look.
    const bool finite = __all_sync(kAllLanes, is_finite(sum_of(a)));
    if (finite && !moderate) {
      Fragment<E> residual;
      multiply_add_lower(residual, x, negated(load_diagonal<E>(memory_.l, k, lane_)), a);
      multiply_add_lower(x, residual, inverse, x);
    }
    if (!finite) {
      const T* const l = &memory_.l.element[Columns<T>::tile(k, k)];
      const auto element = [&](int i, int j) {
        E value;
        convert(value, l[i + j * Columns<T>::ld(k)]);
        return i == j ? from_real<E>(1) : value;
      };
      x = substitute(memory_.strip[k].rows, element, a, lane_);
      __syncwarp();
    }
    memory_.strip[k].tile.store(lane_, x);
    memory_.solved[k].arrive();
    a = x;
  }

  Memory<T, E>& memory_;
  const int tiles_, lane_;
};

/// A warp stores one of its tiles of U.
template <class T, class E>
__device__ void store_u(const Step<T>& step, Index column, const Fragment<E>& x, int tile,
                        int lane) {
  for_each_element([&](int h, int j, int e) {
    const Index c = column + fragment_row(lane, h);
    const int r = tile * kTile + fragment_column(lane, j, e);
    if (r < step.triangle.n && c < step.columns) {
      convert(step.a[r + c * step.ld], conjugate(x.get(h, j, e)));
    }
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads) interchange_and_solve_kernel(Step<T> step) {
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<T, E>*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const bool solves = warp < kHalf;
  Moving<T> moving;
  if (solves) {
    moving.compose(step, memory.interchanges, t);
  } else {
    bring_l(memory, step.triangle, warp - kHalf, lane);
  }
  Solve<T, E> solve(memory, step.triangle.tiles(), t, lane);
  const Index stride = Index{gridDim.x} * kTile;
  unsigned parity = 0;
  for (Index column = Index{blockIdx.x} * kTile; column < step.columns; column += stride) {
    if (solves) {
      moving.load(step, column);
      moving.put_gathered(memory.strip);
    }
    __syncthreads();  // these columns are read
    if (solves) {
      moving.store_displaced(step, column);
      Fragment<E> x[2];
      solve.run(warp, x, parity);
#pragma unroll
      for (int i = 0; i < 2; ++i) store_u(step, column, x[i], 2 * warp + i, lane);
    }
    parity ^= 1;
    __syncthreads();
  }
}

constexpr int kMaxRowBlocks = 8;  // thread blocks of a cluster
constexpr Index kColumnsOfLuStep = 128;

template <class T>
struct LuStepMemory {
  Memory<T, DoubleScalar<T>> memory;
  T displaced[kTile][kOrder];  // rows, by the interchange that takes them to their place
  int source[kOrder];          // of this thread block's rows below: such an interchange, or -1
};

/// The product, by the other half of the warps. Each has 16 rows or twice as many, and multiplies
/// its tiles of L with those of U as they come.
template <class T>
class Product {
 public:
  using E = DoubleScalar<T>;
  /// Of `count` rows from `begin` on those from `first` on.
  __device__ Product(const Step<T>& step, Index column, int begin, int count, int first, int lane)
      : step_(step), column_(column), begin_(begin), count_(count), first_(first), lane_(lane) {}

  /// The first tiles of L are on their way.
  __device__ void begin() {
#pragma unroll
    for (int k = 0; k < kTilesInFlight; ++k) load_l(k);
  }

  /// What is there before.
  __device__ void load(const int* sources, const T (*displaced)[kOrder]) {
    for_each([&](int i, int h, int j, int e, int row, int c) {
      const int source = sources[row];
      before_[i].value[h][j][e] = source < 0 ? *at(row, c) : displaced[c][source];
    });
  }
  __device__ void run(Memory<T, E>& memory) {
    const int tiles = step_.triangle.tiles();
#pragma unroll
    for (int i = 0; i < kRows; ++i) product_[i] = zero_fragment<E>();
#pragma unroll
    for (int k = 0; k < kWarps; ++k) {
      if (k >= tiles) break;
      memory.solved[k].wait();
      const Fragment<E> u = memory.strip[k].tile.load(lane_);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (first_ + i * kRowStride >= count_) break;
        RawFragment<T>& l = l_[k % kTilesInFlight][i];
        for_each_element([&](int h, int j, int e) { compute_now(l.value[h][j][e]); });
        multiply_add(product_[i], converted<E>(l, false), u, product_[i]);
      }
      if (k + kTilesInFlight < kWarps) load_l(k + kTilesInFlight);
    }
  }
  __device__ void store() const {
    for_each([&](int i, int h, int j, int e, int row, int c) {
      E value;
      convert(value, before_[i].value[h][j][e]);
      convert(*at(row, c), add(value, negate(product_[i].get(h, j, e))));
    });
  }

 private:
  static constexpr int kRows = 2, kRowStride = kHalf * kTile;  // tiles of rows
  static constexpr int kTilesInFlight = 3;                     // tiles of L that are on their way

  __device__ T* at(int row, int c) const {
    return &step_.a[begin_ + row + (column_ + c) * step_.ld];
  }
  __device__ void load_l(int k) {
    const int row = first_ + fragment_row(lane_, 0), column = fragment_column(lane_, 0, 0);
    const Index ld = step_.triangle.l.column_stride;
    const T* const from = step_.triangle.l.at(begin_ + row, column + k * kTile);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      for_each_element([&](int h, int j, int e) {
        const int down = i * kRowStride + 8 * h, right = 8 * j + e;
        const bool there = row + down < count_ && k * kTile + column + right < step_.triangle.n;
        l_[k % kTilesInFlight][i].value[h][j][e] =
            there ? from[down + right * ld] : from_real<T>(0);
      });
    }
  }
  template <class F>
  __device__ void for_each(F f) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      for_each_element([&](int h, int j, int e) {
        const int row = first_ + i * kRowStride + fragment_row(lane_, h);
        const int c = fragment_column(lane_, j, e);
        if (row < count_ && column_ + c < step_.columns) f(i, h, j, e, row, c);
      });
    }
  }

  const Step<T>& step_;
  const Index column_;
  const int begin_, count_, first_, lane_;
  RawFragment<T> l_[kTilesInFlight][kRows], before_[kRows];
  Fragment<E> product_[kRows];
};

/// A thread block has so many rows below the triangle, a multiple of 16.
template <class T>
__global__ void __launch_bounds__(kThreads) lu_step_kernel(Step<T> step, int share) {
#if __CUDA_ARCH__ >= 900
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& step_memory = *reinterpret_cast<LuStepMemory<T>*>(raw_memory);
  auto& memory = step_memory.memory;
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const int rank = rank_in_cluster(), begin = step.triangle.n + rank * share;
  const int count = min(share, static_cast<int>(step.rows) - begin);
  const Index column = static_cast<int>(blockIdx.x) / blocks_in_cluster() * kTile;
  const bool solves = warp < kHalf;
  Solve<T, E> solve(memory, step.triangle.tiles(), t, lane);
  Product<T> product(step, column, begin, count, (warp - kHalf) * kTile, lane);
  if (t < kOrder) step_memory.source[t] = -1;
  __syncthreads();
  if (solves) {
    Moving<T> moving;
    moving.compose(step, memory.interchanges, t);
    moving.load(step, column);
    moving.put_displaced(step_memory.displaced, step_memory.source, begin, count);
    moving.put_gathered(memory.strip);
  } else {
    bring_l(memory, step.triangle, warp - kHalf, lane);
    product.begin();
  }
  __syncthreads();
  arrive_at_cluster_having_read();
  if (solves) {
    Fragment<E> x[2];
    solve.run(warp, x);
    wait_for_cluster();
#  pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int tile = 2 * warp + i;
      if (tile % blocks_in_cluster() == rank) store_u(step, column, x[i], tile, lane);
    }
  } else {
    product.load(step_memory.source, step_memory.displaced);
    product.run(memory);
    wait_for_cluster();
    product.store();
  }
#endif
}

/// How LuStep shares out the rows below the triangle.
struct RowShares {
  explicit RowShares(Index rows)
      : each(round_up(quotient_up(rows, Index{kMaxRowBlocks}), kTile)),
        count(quotient_up(rows, each)) {}
  Index each, count;
};

template <class T>
Step<typename DeviceScalar<T>::type> make_step(DeviceView<const T> l, const Index* pivots,
                                               Index offset, DeviceView<T> a) {
  using D = typename DeviceScalar<T>::type;
  const Triangle<D> triangle{static_cast<int>(std::min(l.rows, l.cols)), true,
                             Trapezoid<const D>(l, false)};
  return {triangle, pivots, offset, device_cast(a.data), a.rows, a.cols, a.ld};
}

/// Whether one kernel can do it.
template <class T>
bool fits_in_one_pass(const Gpu& gpu, const InterchangeAndSolve<T>& op) {
  using D = typename DeviceScalar<T>::type;
  constexpr Index kMaxRows = std::numeric_limits<int>::max();
  return static_cast<Index>(sizeof(Memory<D, DoubleScalar<D>>)) <= gpu.shared_bytes &&
         op.l.rows <= kOrder && op.a.rows <= kMaxRows;
}

template <class T>
void enqueue(CudaQueue& queue, const InterchangeAndSolve<T>& op) {
  using D = typename DeviceScalar<T>::type;
  if (!fits_in_one_pass(queue.gpu(), op)) {
    launch(queue, SwapRows<T>{op.a, op.pivots, op.offset});
    launch(queue, Trsm<T>{Side::left, Uplo::lower, Op::none, Diag::unit, T(1), op.l,
                          op.a.block(0, 0, op.l.rows, op.a.cols)});
    return;
  }
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(quotient_up(op.a.cols, kTile), kMaxBlocks));
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(Memory<D, DoubleScalar<D>>);
  launch_kernel(queue.stream(), shape, "interchange and solve", interchange_and_solve_kernel<D>,
                make_step(op.l, op.pivots.data, op.offset, op.a));
}

template <class T>
void enqueue(CudaQueue& queue, const LuStep<T>& op) {
  if constexpr (!is_complex<T>) {
    const RowShares shares(op.a.rows - op.panel.cols);
    LaunchShape shape;
    shape.cluster = static_cast<unsigned>(shares.count);
    shape.blocks = static_cast<unsigned>(quotient_up(op.a.cols, kTile) * shares.count);
    shape.threads = kThreads;
    shape.shared_bytes = sizeof(LuStepMemory<T>);
    launch_kernel(queue.stream(), shape, "step of LU", lu_step_kernel<T>,
                  make_step(op.panel, op.pivots.data, op.offset, op.a),
                  static_cast<int>(shares.each));
  }
}

}  // namespace

template <class T>
int lu_step_cluster(Index rows, Index order, Index columns, Index shared_bytes) {
  const bool has = !is_complex<T> && order <= kOrder && rows > order &&
                   rows - order <= kMaxRowBlocks * kOrder && columns <= kColumnsOfLuStep &&
                   shared_bytes >= static_cast<Index>(sizeof(LuStepMemory<T>));
  return has ? static_cast<int>(RowShares(rows - order).count) : 0;
}

#define OVERLAPACK_INSTANTIATE(T)                              \
  template int lu_step_cluster<T>(Index, Index, Index, Index); \
  OVERLAPACK_LAUNCH(InterchangeAndSolve<T>) OVERLAPACK_LAUNCH(LuStep<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
