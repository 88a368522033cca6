// Reductions of a column-major device matrix, whole or line by line, by any associative operator.
//
// A `Reduction` tells how elements of type T are gathered:
//
//   Value, Result                   types; a Value consists of whole 32-bit words
//   Value identity()                what nothing is gathered in
//   void fold(Value& v, T x)        takes an element in
//   Value operator()(Value, Value)  joins what two have gathered: associative
//   Value twice(Value v)            for a whole matrix: every element counts once more
//   Result result(Value, Index j)   of line j, once all its elements are in
//
// One kernel does it all. The matrix is cut into tiles, a thread block gathers a tile, and whoever
// completes a line, as the last of the blocks that share it, joins their parts in their order; with
// an outer operator the last block of all joins the lines' results as well. The cut depends on the
// shape alone, so results are reproducible bit by bit, whatever the alignment and the GPU.
//
// Memory is what bounds it. Each thread has `kBatch` loads of 16 bytes under way at a time; where
// pointer or leading dimension are not aligned to that, it takes the same elements one by one (the
// cache has them after the first). Threads lie side by side along a column, as many as its length
// makes sense for; the others take other columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/view.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {

constexpr int kReduceThreads = 256;
constexpr int kBatch = 8;
/// Blocks of a launch at most: enough to fill any GPU, and to be shared out evenly.
constexpr Index kReduceBlocks = 4096;
/// Lines of a tile at most whose parts are joined by several blocks.
constexpr int kTileLines = 128;

/// What has a result of its own: the matrix, or each of its columns or rows.
enum class Lines { one, columns, rows };

/// The `Outer` of a reduction that leaves a result for each line.
struct EachLine {};

/// A matrix, or one strict triangle of it. The reduction of a triangle to one line takes in the
/// diagonal and counts the triangle twice; the diagonal of a Hermitian matrix is real.
template <class T>
struct ReducedMatrix {
  const T* data;
  Index rows, cols, ld;
  Part part = Part::all;
  bool hermitian = false;
  bool aligned = false;
};

/// How a matrix is cut. Groups of lines are cut into chunks; `rows` x `cols` is a tile.
struct Cut {
  int width = 1;  // threads side by side along a column, a power of two
  Index groups = 1, chunks = 1;
  Index rows = 1, cols = 1;
};

/// Device memory through which the blocks of a reduction talk to each other. Every ticket is zero
/// before and after.
struct ReduceMemory {
  void* parts;        // of lines, one for each tile
  void* totals;       // of blocks
  unsigned* tickets;  // the first for all blocks, one for each group
};

// ---- Within a block -----------------------------------------------------------------------

/// `value` of the lane that many further up.
template <class Value>
__device__ Value shuffle_down(Value value, int distance) {
  unsigned words[sizeof(Value) / sizeof(unsigned)];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_down_sync(kAllLanes, word, distance);
  memcpy(&value, words, sizeof value);
  return value;
}

/// Joins the values of each `count` consecutive threads, a power of two; the first of them has the
/// result. By all threads of a block.
template <class Reduction, class Value>
__device__ Value join(const Reduction& reduce, Value value, int count) {
  for (int s = (count < kWarp ? count : kWarp) / 2; s > 0; s /= 2) {
    value = reduce(value, shuffle_down(value, s));
  }
  if (count > kWarp) {
    __shared__ Value of_warp[kReduceThreads / kWarp];
    const int t = static_cast<int>(threadIdx.x), warp = t / kWarp;
    __syncthreads();  // an earlier call may still be reading
    if (t % kWarp == 0) of_warp[warp] = value;
    __syncthreads();
    if (t % count == 0) {
      for (int w = 1; w < count / kWarp; ++w) value = reduce(value, of_warp[warp + w]);
    }
  }
  return value;
}

template <class T>
constexpr int kPack = 16 / static_cast<int>(sizeof(T));

/// 16 bytes of a column.
template <class T>
struct Pack {
  T x[kPack<T>];
};

/// A pack of which only the first `count` elements exist, all if `kAligned`.
template <bool kAligned, class T>
__device__ Pack<T> load(const T* __restrict__ p, int count) {
  Pack<T> pack;
  if constexpr (kAligned) {
    const uint4 bits = __ldg(reinterpret_cast<const uint4*>(p));
    memcpy(&pack, &bits, sizeof bits);
  } else {
#pragma unroll
    for (int e = 0; e < kPack<T>; ++e) pack.x[e] = p[e < count ? e : 0];
  }
  return pack;
}

/// take(pack) for the packs at p, p + stride, ...: kBatch of them if `kFull`, or else the first
/// `packs`. None of the loads is conditional, so that the compiler starts them all at once; a batch
/// that is not full loads its first pack again and again.
template <bool kAligned, bool kFull, class T, class Take>
__device__ void for_batch(const T* __restrict__ p, Index stride, int packs, int count, Take take) {
  Pack<T> batch[kBatch];
#pragma unroll
  for (int u = 0; u < kBatch; ++u) {
    batch[u] = load<kAligned>(p + (kFull || u < packs ? u * stride : 0), count);
  }
#pragma unroll
  for (int u = 0; u < kBatch; ++u) {
    if (kFull || u < packs) take(batch[u]);
  }
}

/// take(pack) for the packs that begin at p + i for i = 0, unit, 2 unit, ... while i < left, where
/// they lie `stride` apart.
template <bool kAligned, class T, class Take>
__device__ void for_packs(const T* __restrict__ p, Index stride, int unit, Index left, int count,
                          Take take) {
  for (; left > (kBatch - 1) * unit; left -= kBatch * unit) {
    for_batch<kAligned, true>(p, stride, kBatch, count, take);
    p += kBatch * stride;
  }
  if (left > 0) {
    const int packs = (static_cast<int>(left) + unit - 1) / unit;
    for_batch<kAligned, false>(p, stride, packs, count, take);
  }
}

__device__ inline int at_most(Index value, int bound) {
  return value < bound ? static_cast<int>(value) : bound;
}

/// Takes in rows first <= i < end of a column, shared by `width` threads, of which this is the
/// x-th.
template <bool kAligned, class Reduction, class T, class Value>
__device__ void fold_down(const Reduction& reduce, Value& value, const T* __restrict__ column,
                          Index first, Index end, int x, int width) {
  constexpr int size = kPack<T>;
  const Index whole = (first + size - 1) / size * size;  // packs begin here,
  Index rest = end / size * size;                        // and end here
  if (rest < whole) rest = whole;
  if (x == 0) {
#pragma unroll 1
    for (Index i = first; i < whole && i < end; ++i) reduce.fold(value, column[i]);
  }
  if (x == width - 1) {
#pragma unroll 1
    for (Index i = rest; i < end; ++i) reduce.fold(value, column[i]);
  }
  const int step = width * size;
  const Index mine = whole + x * size;
  for_packs<kAligned>(column + mine, step, step, rest - mine, size, [&](const Pack<T>& pack) {
#pragma unroll
    for (int e = 0; e < size; ++e) reduce.fold(value, pack.x[e]);
  });
}

/// Takes in columns first <= j < end of the `count` rows that begin at `row`, a value for each row,
/// shared by `height` threads, of which this is the y-th.
template <bool kAligned, class Reduction, class T, class Value>
__device__ void fold_across(const Reduction& reduce, Value (&values)[kPack<T>],
                            const T* __restrict__ row, Index ld, Index first, Index end, int count,
                            int y, int height) {
  const Index mine = first + y;
  for_packs<kAligned>(row + mine * ld, height * ld, height, end - mine, count,
                      [&](const Pack<T>& pack) {
#pragma unroll
                        for (int e = 0; e < kPack<T>; ++e) reduce.fold(values[e], pack.x[e]);
                      });
}

// ---- A tile -------------------------------------------------------------------------------

/// Takes in what the matrix has of column j in rows first <= i < end.
template <class Reduction, class T, class Value>
__device__ void fold_column(const Reduction& reduce, Value& value, const ReducedMatrix<T>& a,
                            Index j, Index first, Index end, int x, int width) {
  if (end > a.rows) end = a.rows;
  if (a.part == Part::lower && first < j + 1) first = j + 1;
  if (a.part == Part::upper && end > j) end = j;
  const T* const column = a.data + j * a.ld;
  if (a.aligned) {
    fold_down<true>(reduce, value, column, first, end, x, width);
  } else {
    fold_down<false>(reduce, value, column, first, end, x, width);
  }
}

/// Tile number `chunk` of a whole matrix, for the first thread.
template <class Reduction, class T>
__device__ auto one_of_tile(const Reduction& reduce, const ReducedMatrix<T>& a, const Cut& cut,
                            Index chunk) {
  const int t = static_cast<int>(threadIdx.x), x = t % cut.width, y = t / cut.width;
  const Index strips = (a.rows + cut.rows - 1) / cut.rows;
  const Index r = chunk % strips * cut.rows, c = chunk / strips * cut.cols;
  const Index end = c + cut.cols < a.cols ? c + cut.cols : a.cols;
  auto value = reduce.identity();
  for (Index j = c + y; j < end; j += kReduceThreads / cut.width) {
    fold_column(reduce, value, a, j, r, r + cut.rows, x, cut.width);
  }
  if (a.part != Part::all) {
    value = reduce.twice(value);
    for (Index j = (r > c ? r : c) + t; j < end && j < r + cut.rows; j += kReduceThreads) {
      const T x_jj = a.data[j + j * a.ld];
      reduce.fold(value, a.hermitian ? from_real<T>(real_part(x_jj)) : x_jj);
    }
  }
  return join(reduce, value, kReduceThreads);
}

/// The columns of a tile, each for the first of the threads that share it.
template <class Reduction, class T>
__device__ auto columns_of_tile(const Reduction& reduce, const ReducedMatrix<T>& a, const Cut& cut,
                                Index group, Index chunk) {
  const int t = static_cast<int>(threadIdx.x), x = t % cut.width, y = t / cut.width;
  const Index j = group * cut.cols + y, r = chunk * cut.rows;
  auto value = reduce.identity();
  if (j < a.cols) fold_column(reduce, value, a, j, r, r + cut.rows, x, cut.width);
  return join(reduce, value, cut.width);
}

/// The rows of a tile, each for the first of as many threads as there are for one row.
template <class Reduction, class T>
__device__ auto rows_of_tile(const Reduction& reduce, const ReducedMatrix<T>& a, const Cut& cut,
                             Index group, Index chunk) {
  using Value = typename Reduction::Value;
  constexpr int size = kPack<T>;
  __shared__ Value of_thread[size][kReduceThreads];
  const int height = kReduceThreads / cut.width;
  const int t = static_cast<int>(threadIdx.x), x = t % cut.width, y = t / cut.width;
  const Index i = group * cut.rows + x * size, c = chunk * cut.cols;
  const Index end = c + cut.cols < a.cols ? c + cut.cols : a.cols;
  const int count = i < a.rows ? at_most(a.rows - i, size) : 0;
  Value values[size];
  for (Value& value : values) value = reduce.identity();
  if (count > 0) {
    // Columns of which all these rows count, then the few that cross the diagonal.
    const Index first_whole = a.part == Part::upper && c < i + size ? i + size : c;
    const Index end_whole = a.part == Part::lower && end > i ? i : end;
    const T* const row = a.data + i;
    if (a.aligned && count == size) {
      fold_across<true>(reduce, values, row, a.ld, first_whole, end_whole, size, y, height);
    } else {
      fold_across<false>(reduce, values, row, a.ld, first_whole, end_whole, count, y, height);
    }
    if (a.part != Part::all && y == 0) {
#pragma unroll 1
      for (Index j = c > i ? c : i; j < end && j < i + size; ++j) {
#pragma unroll
        for (int e = 0; e < size; ++e) {
          const bool counts = a.part == Part::lower ? i + e > j : i + e < j;
          if (counts && e < count) reduce.fold(values[e], row[e + j * a.ld]);
        }
      }
    }
  }
  __syncthreads();  // the last tile's values have been read
#pragma unroll
  for (int e = 0; e < size; ++e) of_thread[e][t] = values[e];
  __syncthreads();
  const int share = kReduceThreads / (cut.width * size);  // threads for one row
  const int line = t / share;
  Value value = reduce.identity();
  for (int k = t % share; k < height; k += share) {
    value = reduce(value, of_thread[line % size][k * cut.width + line / size]);
  }
  return join(reduce, value, share);
}

// ---- Between blocks -----------------------------------------------------------------------

/// Whether this block is the last of `count` to come here; it sees what the others have stored.
/// Leaves the ticket at zero.
__device__ inline bool is_last(unsigned* ticket, Index count) {
  __shared__ bool last;
  const auto others = static_cast<unsigned>(count - 1);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(ticket, others) == others;
  __syncthreads();
  __threadfence();
  return last;
}

/// What another block has stored: not from this multiprocessor's own cache, which may be older.
template <class Value>
__device__ Value load_stored(const Value* p) {
  unsigned words[sizeof(Value) / sizeof(unsigned)];
  const auto* const from = reinterpret_cast<const unsigned*>(p);
  for (int w = 0; w < static_cast<int>(sizeof(Value) / sizeof(unsigned)); ++w) {
    words[w] = __ldcg(from + w);
  }
  Value value;
  memcpy(&value, words, sizeof value);
  return value;
}

/// Joins `count` stored values in their order, by `share` threads of which this is the k-th.
template <class Reduction, class Value>
__device__ Value join_stored(const Reduction& reduce, const Value* stored, Index count, int k,
                             int share) {
  Value value = reduce.identity();
#pragma unroll 4
  for (Index q = k; q < count; q += share) value = reduce(value, load_stored(stored + q));
  return join(reduce, value, share);
}

/// Blocks on a multiprocessor at a time. With more, threads would not have the registers for all
/// loads of a batch, and would wait for the first ones before they start the others.
template <Lines kLines, class T>
constexpr int kBlocksPerMultiprocessor = (kLines == Lines::rows || !std::is_floating_point_v<T>)
                                             ? 3
                                             : 4;

template <Lines kLines, class Reduction, class Outer, class T>
__global__ void __launch_bounds__(kReduceThreads, kBlocksPerMultiprocessor<kLines, T>)
    reduce_kernel(const Reduction reduce, const Outer outer, const ReducedMatrix<T> a,
                  const Cut cut, const ReduceMemory memory,
                  typename Reduction::Result* __restrict__ results) {
  using Value = typename Reduction::Value;
  using Result = typename Reduction::Result;
  constexpr bool each_line = std::is_same_v<Outer, EachLine>;
  const Index line_count = kLines == Lines::one ? 1 : kLines == Lines::columns ? a.cols : a.rows;
  // Lines of a group, and threads for each: the first of them has the line's value.
  const int height = kReduceThreads / cut.width;
  const int lines = kLines == Lines::one       ? 1
                    : kLines == Lines::columns ? height
                                               : cut.width * kPack<T>;
  const int share = kReduceThreads / lines;
  const int l = static_cast<int>(threadIdx.x) / share, k = static_cast<int>(threadIdx.x) % share;

  Result total{};
  if constexpr (!each_line) total = outer.identity();
  Index slot = blockIdx.x, slots = gridDim.x;  // of this block's total, and how many there are
  for (Index item = blockIdx.x; item < cut.groups * cut.chunks; item += gridDim.x) {
    const Index group = item / cut.chunks, chunk = item % cut.chunks;
    Value value;
    if constexpr (kLines == Lines::one) {
      value = one_of_tile(reduce, a, cut, chunk);
    } else if constexpr (kLines == Lines::columns) {
      value = columns_of_tile(reduce, a, cut, group, chunk);
    } else {
      value = rows_of_tile(reduce, a, cut, group, chunk);
    }
    const Index line = group * lines + l;
    if (cut.chunks > 1) {  // then every block has one item
      Value* const parts = static_cast<Value*>(memory.parts) + line * cut.chunks;
      if (k == 0) parts[chunk] = value;
      if (!is_last(memory.tickets + 1 + group, cut.chunks)) return;
      value = join_stored(reduce, parts, cut.chunks, k, share);
      slot = group;
      slots = cut.groups;
    }
    if (k == 0 && line < line_count) {
      const Result result = reduce.result(value, line);
      if constexpr (each_line) {
        results[line] = result;
      } else {
        total = outer(total, result);
      }
    }
  }
  if constexpr (!each_line) {
    Result* const totals = static_cast<Result*>(memory.totals);
    total = join(outer, total, kReduceThreads);
    if (threadIdx.x == 0) totals[slot] = total;
    if (!is_last(memory.tickets, slots)) return;
    total = join_stored(outer, totals, slots, static_cast<int>(threadIdx.x), kReduceThreads);
    if (threadIdx.x == 0) results[0] = total;
  }
}

// ---- On the host --------------------------------------------------------------------------

/// The smallest power of two that is at least `count`, but at most `largest`.
constexpr int power_of_two(Index count, int largest) {
  int power = 1;
  while (power < count && power < largest) power *= 2;
  return power;
}

/// How many chunks of at least `least` a line of `length` elements is cut into, so that there are
/// no more than kReduceBlocks in all; `size` becomes that of a chunk.
inline Index cut_lines(Index length, Index groups, Index least, Index& size) {
  const Index finest = std::max<Index>(1, quotient_up(length, least));
  const Index wanted = std::clamp<Index>(kReduceBlocks / groups, 1, finest);
  size = quotient_up(finest, wanted) * least;
  return std::max<Index>(1, quotient_up(length, size));
}

/// The cut of an m x n matrix of packs of `pack` elements.
inline Cut make_cut(Lines lines, Index m, Index n, int pack) {
  Cut cut;
  const Index packs = quotient_up(m, pack);
  if (lines == Lines::rows) {
    // As many columns at a time as keep a batch busy, and a row for each thread at most. Tiles
    // wider than a warp have all columns, so they are never cut into chunks.
    const int height = power_of_two(quotient_up(n, kBatch), kReduceThreads / kWarp);
    cut.width = power_of_two(packs, kReduceThreads / std::max(height, pack));
    cut.rows = cut.width * pack;
    cut.groups = quotient_up(m, cut.rows);
    cut.chunks = cut_lines(n, cut.groups, kReduceThreads / cut.width * kBatch, cut.cols);
    return cut;
  }
  cut.width = power_of_two(quotient_up(packs, kBatch), kReduceThreads);
  cut.cols = kReduceThreads / cut.width;
  const Index least = Index{cut.width} * pack * kBatch;
  if (lines == Lines::columns) {
    cut.groups = quotient_up(n, cut.cols);
    cut.chunks = cut_lines(m, cut.groups, least, cut.rows);
    return cut;
  }
  cut.rows = least;
  const auto tiles = [&] { return quotient_up(m, cut.rows) * quotient_up(n, cut.cols); };
  while (tiles() > kReduceBlocks) (cut.cols < n ? cut.cols : cut.rows) *= 2;
  cut.chunks = std::max<Index>(1, tiles());
  return cut;
}

/// results[line] := the reduction of each line of `a`, or, with an outer operator, *results := what
/// it makes of all of them.
template <Lines kLines, class Reduction, class Outer, class T>
void reduce(cudaStream_t stream, const char* what, const ReduceMemory& memory, Reduction reduction,
            Outer outer, ReducedMatrix<T> a, typename Reduction::Result* results) {
  if (kLines == Lines::one && a.part == Part::all && (a.ld == a.rows || a.cols <= 1)) {
    a = {a.data, a.rows * a.cols, 1, a.rows * a.cols};  // one long column
  }
  a.aligned =
      reinterpret_cast<std::uintptr_t>(a.data) % 16 == 0 && (a.cols <= 1 || a.ld % kPack<T> == 0);
  const Cut cut = make_cut(kLines, a.rows, a.cols, kPack<T>);
  LaunchShape shape;
  shape.threads = kReduceThreads;
  shape.blocks = static_cast<unsigned>(std::min(cut.groups * cut.chunks, kReduceBlocks));
  launch_kernel(stream, shape, what, reduce_kernel<kLines, Reduction, Outer, T>, reduction, outer,
                a, cut, memory, results);
}

}  // namespace overlapack::cuda
