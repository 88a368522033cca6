// A sequence of row interchanges as one gather, of a matrix that is stored by columns or by rows.
//
// `count` interchanges touch at most 2 count rows: the rows j of the sequence and their partners
// pivots[j]. Each such row is the business of one thread. It finds out which row ends up in its
// place by walking through the sequence backwards with a finger on its row: an interchange of the
// rows x and y moves a finger on x to y and one on y to x. All fingers walk at the same time, every
// thread block for itself, so there is no list in global memory and no serial composition. Then the
// threads load their rows from a few columns at a time, wait for each other, and store.
//
// By columns, numbers of a row lie far apart, and each one moves by itself. By rows they lie side
// by side: a few neighbouring threads have a row, all of which goes through memory in whole
// sectors.
//
// Long sequences go in batches, one launch each; the batches are applied one after the other like
// the interchanges in them.
#include <algorithm>
#include <limits>

#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kBatch = 256;        // interchanges per launch
constexpr int kColumns = 8;        // columns in flight per thread
constexpr int kPieceBytes = 128;   // of a row, where they are stored by rows
constexpr Index kMaxBlocks = 256;  // two for each multiprocessor; more would only compose again

/// A row that a thread fills, and the one that ends up there; the same if there is nothing to do.
template <class Row>
struct Move {
  Row to, from;
};

/// What thread t is to move for the interchanges of rows first + i and pivots[first + i] - 1 -
/// offset, i = 0 ... count-1 or backwards. All threads of a block, at least 2 count. Row is what
/// numbers of rows fit in: a walk takes half the time with 32 bits.
template <class Row>
__device__ Move<Row> compose(const Index* __restrict__ pivots, Row first, int count, Index offset,
                             bool forward) {
  __shared__ Row partner[kBatch];
  const int t = static_cast<int>(threadIdx.x);
  if (t < count) partner[t] = static_cast<Row>(pivots[first + t] - 1 - offset);
  __syncthreads();

  // The row this thread fills. A partner that is itself in the sequence, or that an earlier
  // interchange has named, already has its thread.
  const bool is_partner = t >= count;
  const int mine = is_partner ? t - count : t;
  bool active = t < 2 * count;
  Row row = 0;
  if (active) row = is_partner ? partner[mine] : first + mine;
  if (is_partner && row >= first && row < first + count) active = false;

  Row source = row;
#pragma unroll 4
  for (int s = 0; s < count; ++s) {
    const int i = forward ? count - 1 - s : s;  // from the last interchange to the first
    const Row x = first + i, y = partner[i], other = source == y ? x : source;
    source = source == x ? y : other;
    active = active && !(y == row && is_partner && i < mine);
  }
  return {row, active ? source : row};
}

/// Carries out these interchanges in the columns of `a`.
template <class T, class Row>
__global__ void __launch_bounds__(2 * kBatch)
    swap_rows_kernel(T* a, Index columns, Index ld, const Index* __restrict__ pivots, Row first,
                     int count, Index offset, bool forward) {
  const auto [row, source] = compose(pivots, first, count, offset, forward);
  const bool active = source != row;
  const Index stride = Index{kColumns} * gridDim.x;
  for (Index c = Index{kColumns} * blockIdx.x; c < columns; c += stride) {
    T x[kColumns];
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      if (active && c + k < columns) x[k] = a[source + (c + k) * ld];
    }
    __syncthreads();  // all of these columns are loaded before any of them is stored
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      if (active && c + k < columns) a[row + (c + k) * ld] = x[k];
    }
  }
}

/// The same where rows are the columns of `a`, of `rows` numbers each: pieces of kPiece of them at
/// a time, by as many neighbouring threads.
template <class T, class Row>
__global__ void __launch_bounds__(2 * kBatch)
    swap_columns_kernel(T* a, Index rows, Index ld, const Index* __restrict__ pivots, Row first,
                        int count, Index offset) {
  constexpr int kPiece = kPieceBytes / static_cast<int>(sizeof(T));
  __shared__ Move<Row> moves[2 * kBatch];
  const int t = static_cast<int>(threadIdx.x), lane = t % kPiece;
  moves[t] = compose(pivots, first, count, offset, true);
  __syncthreads();
  const int apart = static_cast<int>(blockDim.x) / kPiece;
  const Index stride = Index{kPiece} * gridDim.x;
  for (Index i = Index{kPiece} * blockIdx.x + lane; i - lane < rows; i += stride) {
    T x[kPiece];  // a thread is one of kPiece for each of blockDim.x / apart moves
    const auto for_each_move = [&](auto f) {
#pragma unroll
      for (int k = 0; k < kPiece; ++k) {
        const Move<Row> move = moves[t / kPiece + k * apart];
        if (move.to != move.from && i < rows) f(move, x[k]);
      }
    };
    for_each_move([&](const Move<Row>& move, T& to) { to = a[i + move.from * ld]; });
    __syncthreads();  // all of these pieces are loaded before any of them is stored
    for_each_move([&](const Move<Row>& move, const T& from) { a[i + move.to * ld] = from; });
  }
}

/// Calls launch_batch(first, count, threads) for batches of interchanges, in their order.
template <class F>
void for_each_batch(Index interchanges, bool forward, F launch_batch) {
  const Index batches = quotient_up(interchanges, kBatch);
  for (Index b = 0; b < batches; ++b) {
    const Index first = (forward ? b : batches - 1 - b) * kBatch;
    const int count = static_cast<int>(std::min(interchanges - first, Index{kBatch}));
    launch_batch(first, count, static_cast<unsigned>(round_up(2 * count, kWarp)));
  }
}

/// Calls f(number) with a row's number of the smallest type that holds all of `rows`.
template <class F>
void with_row(Index rows, Index number, F f) {
  if (rows <= std::numeric_limits<int>::max()) {
    f(static_cast<int>(number));
  } else {
    f(number);
  }
}

template <class T>
void enqueue(CudaQueue& queue, const SwapRows<T>& op) {
  using D = typename DeviceScalar<T>::type;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(quotient_up(op.a.cols, kColumns), kMaxBlocks));
  for_each_batch(op.pivots.rows, op.forward, [&](Index first, int count, unsigned threads) {
    shape.threads = threads;
    with_row(op.a.rows, first, [&](auto row) {
      launch_kernel(queue.stream(), shape, op.kName, swap_rows_kernel<D, decltype(row)>,
                    device_cast(op.a.data), op.a.cols, op.a.ld, op.pivots.data, row, count,
                    op.offset, op.forward);
    });
  });
}

template <class T>
void enqueue(CudaQueue& queue, const SwapColumns<T>& op) {
  using D = typename DeviceScalar<T>::type;
  constexpr Index kPiece = kPieceBytes / sizeof(T);
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(quotient_up(op.a.rows, kPiece), kMaxBlocks));
  for_each_batch(op.pivots.rows, true, [&](Index first, int count, unsigned threads) {
    shape.threads = threads;
    with_row(op.a.cols, first, [&](auto row) {
      launch_kernel(queue.stream(), shape, op.kName, swap_columns_kernel<D, decltype(row)>,
                    device_cast(op.a.data), op.a.rows, op.a.ld, op.pivots.data, row, count,
                    op.offset);
    });
  });
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(SwapRows<T>) OVERLAPACK_LAUNCH(SwapColumns<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
