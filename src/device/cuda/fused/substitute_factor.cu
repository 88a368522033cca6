// Substitution with a Cholesky factor for a few right-hand sides, in one launch. Backward, L^H X =
// Y, from the last block to the first,
//
//   X(b) = L(b, b)^-H (Y(b) - sum over j > b of L(j, b)^H X(j)),
//
// and forward, L X = Y, from the first to the last,
//
//   X(b) = L(b, b)^-1 (Y(b) - sum over j < b of L(b, j) X(j)),
//
// where L may have rows below the last block, for which there is no X(b).
//
// A thread block has one block b and 8, 16 or 32 right-hand sides, and each of its warps 16 rows of
// the block. As soon as some X(j) is there, as a message (message.cuh), everybody who waits for it
// subtracts his share. What counts is the chain from one block to the next: a message, two small
// products and another message. So what does not depend on the message is there before it comes:
// L(j, b) in registers, where each tile makes room for the one of the next message as soon as it
// has been used, and the inverse in shared memory.
//
// Thread blocks start in the order of their numbers, and each waits for earlier ones only.
//
// All precisions compute in double.
#include <algorithm>

#include "device/cuda/fused/fused.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/tile.cuh"
#include "device/cuda/parts/trapezoid.cuh"
#include "device/cuda/ptx/message.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kHalf = kTile / 2;  // right-hand sides that a tensor core takes at a time

// Of the templates: kColumns right-hand sides, kHalf or a multiple of kTile, of a thread block.
// Each fragment of X and Y has those of a tile, or half of one.
template <int kColumns>
constexpr int kHalves = kColumns == kHalf ? 1 : 2;
template <int kColumns>
constexpr int kFragments = (kColumns + kTile - 1) / kTile;

template <class E>
constexpr int kOrder = kTiles<E>* kTile;  // of a block at most
template <class E>
constexpr int kThreads = kTiles<E>* kWarp;
/// Pairs of real numbers in a column of a block.
template <class E>
constexpr int kPairs = kOrder<E>* static_cast<int>(sizeof(E)) / static_cast<int>(sizeof(double2));

enum class Direction { forward, backward };

/// The problem: the first n columns of L, in blocks of `order`; X, which replaces Y.
template <class T>
struct Problem {
  Index rows;
  Index n;
  Index order;
  Trapezoid<const T> l;
  const T* inverses;  // of the blocks, side by side
  Index inverses_ld;
  T* x;
  Index ld;
  Index columns;      // right-hand sides
  double2* messages;  // empty at first
  Index blocks;       // that are solved for
  Index chunks;
  // Forward only: what is left of Y before each panel of so many blocks.
  Index panel;
  T* states;
  Index states_ld;

  __device__ int rows_of(Index block) const {
    return static_cast<int>(min(order, rows - block * order));
  }
  /// Where -X(block)^H arrives, column by column of X, from right-hand side `column` on.
  __device__ double2* message(Index block, Index column) const {
    return messages + (block * columns + column) * kPairs<DoubleScalar<T>>;
  }
};

/// A block of X for kColumns right-hand sides. The padding avoids bank conflicts.
template <class E, int kColumns>
struct alignas(16) Columns {
  static constexpr int kStride = kOrder<E> + 4;
  E column[kColumns][kStride];

  __device__ double2* pairs(int c) { return reinterpret_cast<double2*>(column[c]); }
};

template <class E, int kColumns>
struct Shared {
  Tile<E> inverse[kTiles<E> * (kTiles<E> + 1) / 2];  // L(b, b)^-H or L(b, b)^-1
  Columns<E, kColumns> x[2];                         // -X(j)^H for odd and even steps; Y(b)^H

  /// Tile (i, j) of the triangle, with the larger one of i and j first.
  __device__ Tile<E>& inverse_tile(int larger, int other) {
    return inverse[larger * (larger + 1) / 2 + other];
  }
};

/// Which summand of a product of tiles element (j, e) of a lane belongs to. Any order will do that
/// is the same for both factors; with this one four lanes together read consecutive numbers.
__device__ inline int summand(int lane, int j, int e) { return 8 * j + 4 * e + lane % 4; }

/// Reads tiles (w, 0), (w, 1), ... of a block, in this order, so that the next element is but an
/// addition away.
template <class T>
class TileReader {
 public:
  /// Element (i, q) of the block is at block[i * row_stride + q * column_stride].
  __device__ TileReader(const T* block, Index row_stride, Index column_stride, int rows,
                        int columns, int w, int lane) {
    const int i = w * kTile + fragment_row(lane, 0), q = summand(lane, 0, 0);
    from_ = block + i * row_stride + q * column_stride;
    down_ = fragment_row(0, 1) * row_stride;
    right_ = summand(0, 0, 1) * column_stride;
    rows_ = rows - i;
    columns_ = columns - q;
  }
  /// Tile (w, k).
  __device__ void next(RawFragment<T>& tile, int k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int j = i / 2, e = i % 2;
      const bool there = k * kTile + summand(0, j, e) < columns_;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        tile.value[h][j][e] =
            there && fragment_row(0, h) < rows_ ? from_[h * down_] : from_real<T>(0);
      }
      from_ += right_;
    }
  }

 private:
  const T* from_;
  Index down_, right_;
  int rows_, columns_;  // from here on
};

/// Tile (f, k) of X^H or Y^H as the right factor of a product.
template <class E, int kColumns>
__device__ Fragment<E> load_right_factor(const Columns<E, kColumns>& from, int f, int k, int lane) {
  Fragment<E> x;
  for_each_element([&](int h, int j, int e) {
    if (h >= kHalves<kColumns>) return;
    x.set(h, j, e, from.column[f * kTile + fragment_row(lane, h)][k * kTile + summand(lane, j, e)]);
  });
  return x;
}

/// D += A B^H, of which only the first kCount halves of the columns count.
template <int kCount>
__device__ void multiply_add_halves(Fragment<double>& d, const Fragment<double>& a,
                                    const Fragment<double>& b) {
#pragma unroll
  for (int n = 0; n < kCount; ++n) multiply_add_half<2>(n, d, a, b, d);
}
template <int kCount>
__device__ void multiply_add_halves(Fragment<Complex<double>>& d,
                                    const Fragment<Complex<double>>& a,
                                    const Fragment<Complex<double>>& b) {
  multiply_add_halves<kCount>(d.re, a.re, b.re);
  multiply_add_halves<kCount>(d.im, a.im, b.re);
  multiply_add_halves<kCount>(d.re, a.im, b.im);
  multiply_add_halves<kCount>(d.im, a.re, negated(b.im));
}

/// X += L Y for tile k of Y^H.
template <class E, int kColumns>
__device__ void multiply_add_columns(Fragment<E> (&x)[kFragments<kColumns>], const Fragment<E>& l,
                                     const Columns<E, kColumns>& y, int k, int lane) {
#pragma unroll
  for (int f = 0; f < kFragments<kColumns>; ++f) {
    multiply_add_halves<kHalves<kColumns>>(x[f], l, load_right_factor(y, f, k, lane));
  }
}

/// Sends element i of a column.
__device__ inline void send(double2* column, int i, double x) {
  store(&column[i / 2].x + i % 2, x);
}
__device__ inline void send(double2* column, int i, Complex<double> x) {
  store(&column[i].x, x.re);
  store(&column[i].y, x.im);
}

/// Waits for `count` columns and puts them into `to`; the other columns become zero.
template <class E, int kColumns>
__device__ void receive(Columns<E, kColumns>& to, const double2* message, int count, bool near) {
  constexpr int kPairsPerThread = kColumns * kPairs<E> / kThreads<E>;
  double2 pair[kPairsPerThread];
  bool complete = false;
  while (!complete) {
    complete = true;
#pragma unroll
    for (int s = 0; s < kPairsPerThread; ++s) {
      const int i = s * kThreads<E> + static_cast<int>(threadIdx.x);
      pair[s] = i < count * kPairs<E> ? load(message + i) : make_double2(0, 0);
    }
#pragma unroll
    for (int s = 0; s < kPairsPerThread; ++s) complete = complete && arrived(pair[s]);
    if (!complete && !near) leave_memory_to_others();
  }
#pragma unroll
  for (int s = 0; s < kPairsPerThread; ++s) {
    const int i = s * kThreads<E> + static_cast<int>(threadIdx.x);
    to.pairs(i / kPairs<E>)[i % kPairs<E>] = pair[s];
  }
}

template <class T, int kColumns, Direction kDirection>
__global__ void __launch_bounds__(kThreads<DoubleScalar<T>>, 1) substitution_kernel(Problem<T> p) {
  using E = DoubleScalar<T>;
  constexpr bool kForward = kDirection == Direction::forward;
  constexpr int kCount = kTiles<E>;
  constexpr int kUrgentBlocks = 3;  // blocks
  extern __shared__ double2 memory[];
  auto& shared = *reinterpret_cast<Shared<E, kColumns>*>(memory);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  // The row of tiles of the warp, which has more or fewer tiles of the inverse the further down it
  // is. Warps i and i + 4 share a tensor core, so they should not both have many.
  const int w = warp < kCount / 2 ? warp : kCount + kCount / 2 - 1 - warp;
  // Blocks in the order in which they are solved for.
  const auto block = [&](Index number) { return kForward ? number : p.blocks - 1 - number; };
  const Index number = blockIdx.x / p.chunks, column = blockIdx.x % p.chunks * kColumns;
  const Index b = block(number), steps = min(number, p.blocks);
  const bool solves = b < p.blocks;
  const int count = static_cast<int>(min(p.columns - column, Index{kColumns}));
  const int rows = p.rows_of(b);
  // Calls f(fragment, h, n, e, i, c) for the elements of the block that the lane has: row i and
  // right-hand side c.
  const auto for_each_of_mine = [&](auto f) {
#pragma unroll
    for (int g = 0; g < kFragments<kColumns>; ++g) {
      for_each_element([&](int h, int n, int e) {
        if (n >= kHalves<kColumns>) return;
        f(g, h, n, e, w * kTile + fragment_row(lane, h), g * kTile + fragment_column(lane, n, e));
      });
    }
  };
  T* const mine = p.x + b * p.order + column * p.ld;
  const auto has = [&](int k) { return kForward ? k <= w : k >= w; };  // tile k of the inverse
  const auto inverse_tile = [&](int k) -> Tile<E>& {
    return kForward ? shared.inverse_tile(w, k) : shared.inverse_tile(k, w);
  };

  RawFragment<T> l[kCount];  // row w of tiles of L(b, j) or L(j, b)^H; of the inverse at first
  const T* const given = p.inverses + b * p.order * p.inverses_ld;
  TileReader<T> inverse(given, kForward ? 1 : p.inverses_ld, kForward ? p.inverses_ld : 1,
                        solves ? rows : 0, solves ? rows : 0, w, lane);
#pragma unroll
  for (int k = 0; k < kCount; ++k) inverse.next(l[k], k);
  Fragment<E> y[kFragments<kColumns>];
  for_each_of_mine([&](int g, int h, int n, int e, int i, int c) {
    E value = from_real<E>(0);
    if (i < rows && c < count) convert(value, mine[i + c * p.ld]);
    y[g].set(h, n, e, value);
  });
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    if (has(k)) inverse_tile(k).store(lane, converted<E>(l[k], !kForward));
  }

  const auto read = [&](Index step) {
    const Index j = block(step);
    return kForward ? TileReader<T>(p.l.at(b * p.order, j * p.order), p.l.row_stride,
                                    p.l.column_stride, rows, static_cast<int>(p.order), w, lane)
                    : TileReader<T>(p.l.at(j * p.order, b * p.order), p.l.column_stride,
                                    p.l.row_stride, rows, p.rows_of(j), w, lane);
  };
  const bool conjugated = kForward == p.l.mirrored;
  const auto store = [&](T* to, Index ld, const Fragment<E>(&x)[kFragments<kColumns>]) {
    for_each_of_mine([&](int g, int h, int n, int e, int i, int c) {
      if (i < rows && c < count) convert(to[i + c * ld], x[g].get(h, n, e));
    });
  };
  const auto store_state = [&](Index step) {
    if (!kForward || step % p.panel != 0) return;
    store(p.states + b * p.order + (step / p.panel * p.columns + column) * p.states_ld, p.states_ld,
          y);
  };
  if (steps > 0) {
    TileReader<T> first = read(0);
#pragma unroll
    for (int k = 0; k < kCount; ++k) first.next(l[k], k);
  }
#pragma unroll 1
  for (Index step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    TileReader<T> next = read(more ? step + 1 : step);
    store_state(step);
    auto& x = shared.x[step % 2];
    receive(x, p.message(block(step), column), count, steps - step <= kUrgentBlocks);
    __syncthreads();  // and nobody needs the x before the last one
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      multiply_add_columns(y, converted<E>(l[k], conjugated), x, k, lane);
      if (more) next.next(l[k], k);
    }
  }
  if (!solves) {
    store(mine, p.ld, y);
    return;
  }
  store_state(steps);

  // What is left of Y(b), where nobody needs the x before the last one.
  auto& left = shared.x[steps % 2];
  for_each_of_mine([&](int g, int h, int n, int e, int i, int c) {
    left.column[c][i] = conjugate(y[g].get(h, n, e));
  });
  __syncthreads();
  Fragment<E> x[kFragments<kColumns>];
#pragma unroll
  for (int g = 0; g < kFragments<kColumns>; ++g) x[g] = zero_fragment<E>();
#pragma unroll 1
  for (int k = kForward ? 0 : w; has(k) && k < kCount; ++k) {
    multiply_add_columns(x, inverse_tile(k).load_left_operand(lane), left, k, lane);
  }
  for_each_of_mine([&](int g, int h, int n, int e, int i, int c) {
    if (c >= count || blockIdx.x + p.chunks >= gridDim.x) return;
    send(p.message(b, column + c), i, negate(conjugate(x[g].get(h, n, e))));
  });
  store(mine, p.ld, x);
}

template <int kColumns, Direction kDirection, class T>
void launch_for(cudaStream_t stream, Problem<T> problem) {
  using E = DoubleScalar<T>;
  problem.chunks = quotient_up(problem.columns, Index{kColumns});
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(problem.rows, problem.order) * problem.chunks);
  shape.threads = kThreads<E>;
  shape.shared_bytes = shared_by_all<Shared<E, kColumns>>();
  launch_kernel(stream, shape, "substitution with a factor",
                substitution_kernel<T, kColumns, kDirection>, problem);
}

/// Backward without width and states.
template <Direction kDirection, class T>
void substitute_factor(CudaQueue& queue, const Eliminate<T>& op) {
  using D = typename DeviceScalar<T>::type;
  const DeviceView<const T>&factor = op.factor, &inverses = op.inverses;
  const DeviceView<T>& x = op.x;
  const Index n = inverses.cols, order = inverses.rows, blocks = quotient_up(n, order);
  const auto numbers = static_cast<std::size_t>(factor_progress<T>(blocks, x.cols));
  cudaStream_t const stream = queue.stream();
  check(cudaMemsetAsync(op.progress.data, kEmptyByte, sizeof(double) * numbers, stream),
        "substitution with a factor");
  const Problem<D> problem{x.rows,
                           n,
                           order,
                           {device_cast(factor.data), factor.ld, op.uplo == Uplo::upper},
                           device_cast(inverses.data),
                           inverses.ld,
                           device_cast(x.data),
                           x.ld,
                           x.cols,
                           reinterpret_cast<double2*>(op.progress.data),
                           blocks,
                           0,
                           std::max<Index>(op.width / order, 1),
                           device_cast(op.states.data),
                           op.states.ld};
  // Few right-hand sides at a time make the chain faster; but for each chunk of them all of L is
  // read again, which takes longer than the chain where thread blocks take many turns at the
  // multiprocessors.
  constexpr int kMaxTurns = 3;
  const Index narrow = quotient_up(x.rows, order) * quotient_up(x.cols, Index{kTile});
  if (x.cols <= kHalf) {
    launch_for<kHalf, kDirection>(stream, problem);
  } else if (x.cols <= kTile || narrow <= kMaxTurns * queue.gpu().multiprocessors) {
    launch_for<kTile, kDirection>(stream, problem);
  } else {
    launch_for<2 * kTile, kDirection>(stream, problem);
  }
}

template <class T>
void enqueue(CudaQueue& queue, const BackSubstitute<T>& op) {
  substitute_factor<Direction::backward, T>(
      queue, {op.uplo, op.factor, op.inverses, op.x, 0, DeviceView<T>(), op.progress});
}

template <class T>
void enqueue(CudaQueue& queue, const Eliminate<T>& op) {
  substitute_factor<Direction::forward, T>(queue, op);
}

}  // namespace

template <class T>
Index factor_progress(Index blocks, Index columns) {
  return blocks * columns * 2 * kPairs<DoubleScalar<typename DeviceScalar<T>::type>>;
}

#define OVERLAPACK_INSTANTIATE(T)                  \
  template Index factor_progress<T>(Index, Index); \
  OVERLAPACK_LAUNCH(BackSubstitute<T>) OVERLAPACK_LAUNCH(Eliminate<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
