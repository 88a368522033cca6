// The QR panel in memory, for any number of rows and every GPU: that of geqrf_cluster.cu, with two
// launches for each column, which are the barriers between thread blocks.
//
//   decide    one block adds up the sums of step k that all blocks have left, comes to the
//             reflector, and stores row k and column k of T
//   reflect   all blocks reflect their rows below, and leave their sums of step k + 1
//
// So each column takes one reading and writing of the panel. A thread has one row at a time. Before
// the first step two launches multiply the columns by powers of two. Where that is not enough
// (is_safe()), the one block reads the panel by itself, which is slow, and rare.
#include <algorithm>

#include "device/cuda/panels/householder.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kMaxBlocks = ReflectorScratch::kMaxBlocks;

/// Columns of a panel: a row, and a sum for each of its elements, are in registers.
template <class T>
constexpr int kWidth = sizeof(T) == 16 ? 16 : 32;

/// What one launch leaves for the next ones.
template <class T>
struct Scratch {
  static constexpr int W = kWidth<T>;
  T largest[kMaxBlocks][W], sums[kMaxBlocks][W];  // by block
  T row[W];                                       // the present one, before its step
  T loss[W], scale;                               // of the present step
  int exponent[W];                                // of the powers of two
};

/// A thread's numbers, one for each column.
template <class T>
using Numbers = T[kWidth<T>];

template <class T>
__device__ void clear(Numbers<T>& x) {
#pragma unroll
  for (T& one : x) one = from_real<T>(0);
}

/// Calls f(c) for all columns there are, with c as good as known to the compiler.
template <class T, class F>
__device__ void for_each_column(int n, F f) {
#pragma unroll
  for (int c = 0; c < kWidth<T>; ++c) {
    if (c < n) f(c);
  }
}

/// Calls f(i) for the thread's rows from `first` on.
template <class F>
__device__ void for_each_row(Index first, Index m, F f) {
  const Index own = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index stride = static_cast<Index>(gridDim.x) * kThreads;
  for (Index i = first + own; i < m; i += stride) f(i);
}

/// Of columns, so many at a time, so that there are registers for them.
template <class T>
constexpr int kPass = sizeof(T) == 16 ? 8 : 16;

/// What all lanes of a warp have for each of W columns, combined: lane c stores that of column c to
/// of_columns[c]. start(first, x) is to make x[c] the own number for column first + c.
template <int W, class T, class Combine, class Start>
__device__ void combine_in_warp(Combine combine, Start start, T* of_columns) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int first = 0; first < W; first += kPass<T>) {
    T x[kPass<T>];
    start(first, x);
    T total = combined_of_mine<kPass<T>>(x, lane, combine);
#pragma unroll
    for (int mask = kPass<T>; mask < kWarp; mask *= 2) {
      total = combine(total, of_other_lane(total, mask));
    }
    if (lane < kPass<T>) of_columns[first + lane] = total;
  }
}

/// What all threads of the block have is combined. All warps get it, lane c that of column c.
template <class T, class Combine>
__device__ T combine_in_block(Combine combine, const Numbers<T>& of_thread) {
  constexpr int W = kWidth<T>;
  __shared__ T of_warp[kWarps][W];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  __syncthreads();  // nobody reads what was there before
  combine_in_warp<W>(
      combine,
      [&](int first, T(&x)[kPass<T>]) {
#pragma unroll
        for (int c = 0; c < kPass<T>; ++c) x[c] = of_thread[first + c];
      },
      of_warp[threadIdx.x / kWarp]);
  __syncthreads();
  T total = from_real<T>(0);
  if (lane < W) {
    for (int w = 0; w < kWarps; ++w) total = combine(total, of_warp[w][lane]);
  }
  return total;
}

/// What all blocks have left is combined likewise.
template <class T, class Combine>
__device__ T combine_of_blocks(Combine combine, const T (*of_block)[kWidth<T>], int blocks) {
  constexpr int W = kWidth<T>;
  __shared__ T of_warp[kWarps][W];
  const int lane = static_cast<int>(threadIdx.x) % kWarp,
            warp = static_cast<int>(threadIdx.x) / kWarp;
  T total = from_real<T>(0);
  if (lane < W) {
    for (int b = warp; b < blocks; b += kWarps) total = combine(total, of_block[b][lane]);
    of_warp[warp][lane] = total;
  }
  __syncthreads();
  total = from_real<T>(0);
  if (lane < W) {
    for (int w = 0; w < kWarps; ++w) total = combine(total, of_warp[w][lane]);
  }
  return total;
}

template <class T>
__device__ void leave(T of_column, T* to) {
  if (threadIdx.x < kWidth<T>) to[threadIdx.x] = of_column;
}

/// Before the first step: the largest element of each column.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    find_largest_kernel(Index m, int n, QrOperands<T> op, Scratch<T>* scratch) {
  Numbers<T> largest;
  clear<T>(largest);
  for_each_row(0, m, [&](Index i) {
    const T* const from = op.a + i;
    for_each_column<T>(n, [&](int c) {
      const auto one = largest_part(from[column_offset(c, op.lda)]);
      largest[c] = from_real<T>(fmax(real_part(largest[c]), one));
    });
  });
  leave(combine_in_block<T>(Largest(), largest), scratch->largest[blockIdx.x]);
}

/// Sums of step k, by one row below row k: x, whose element in column k is `present`.
template <class T>
__device__ void add_products(int n, const Numbers<T>& x, T present, Numbers<T>& sums) {
  for_each_column<T>(n, [&](int c) { sums[c] = add_conjugated(sums[c], x[c], present); });
}

template <class T>
__device__ void keep_row(const Numbers<T>& x, Scratch<T>* scratch) {
#pragma unroll
  for (int c = 0; c < kWidth<T>; ++c) scratch->row[c] = x[c];
}

/// Then each column is divided by a power of two, and the sums of step 0 are found.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    scale_columns_kernel(Index m, int n, QrOperands<T> op, Scratch<T>* scratch) {
  using R = DeviceReal<T>;
  constexpr int W = kWidth<T>;
  __shared__ R factor[W];
  const T largest = combine_of_blocks<T>(Largest(), scratch->largest, static_cast<int>(gridDim.x));
  if (threadIdx.x < W) {
    const int exponent = exponent_of(real_part(largest));
    factor[threadIdx.x] = power_of_two<R>(-exponent);
    if (blockIdx.x == 0) scratch->exponent[threadIdx.x] = exponent;
  }
  __syncthreads();
  Numbers<T> sums;
  clear<T>(sums);
  for_each_row(0, m, [&](Index i) {
    T* const row = op.a + i;
    Numbers<T> x;
    clear<T>(x);
    for_each_column<T>(n, [&](int c) {
      T& element = row[column_offset(c, op.lda)];
      x[c] = element = scale(element, factor[c]);
    });
    if (i == 0) {
      keep_row<T>(x, scratch);
    } else {
      add_products<T>(n, x, x[0], sums);
    }
  });
  leave(combine_in_block<T>(Sum(), sums), scratch->sums[blockIdx.x]);
}

/// What is left of column k is divided by another power of two; its element of row k is in lane k.
/// Returns whether there are only zeros (or NaNs) below. All rows are the one block's.
template <class T>
__device__ bool scale_column(Index m, int k, const QrOperands<T>& op, T& of_row,
                             Scratch<T>* scratch) {
  using R = DeviceReal<T>;
  T* const column = op.a + column_offset(k, op.lda);
  Numbers<T> largest;
  clear<T>(largest);
  for_each_row(k + 1, m, [&](Index i) {
    largest[0] = from_real<T>(fmax(real_part(largest[0]), largest_part(column[i])));
  });
  const R below = real_part(of_lane(combine_in_block<T>(Largest(), largest), 0));
  const int exponent = exponent_of(fmax(below, largest_part(of_lane(of_row, k))));
  const R factor = power_of_two<R>(-exponent);
  for_each_row(k + 1, m, [&](Index i) { column[i] = scale(column[i], factor); });
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane == k) of_row = scale(of_row, factor);
  if (static_cast<int>(threadIdx.x) == k) scratch->exponent[k] += exponent;
  return below == 0;
}

/// The sums of step k, by the one block. Its threads have scaled their own rows.
template <class T>
__device__ T sums_by_one_block(Index m, int n, int k, const QrOperands<T>& op) {
  Numbers<T> sums;
  clear<T>(sums);
  for_each_row(k + 1, m, [&](Index i) {
    const T* const from = op.a + i;
    Numbers<T> x;
    clear<T>(x);
    for_each_column<T>(n, [&](int c) { x[c] = from[column_offset(c, op.lda)]; });
    add_products<T>(n, x, from[column_offset(k, op.lda)], sums);
  });
  return combine_in_block<T>(Sum(), sums);
}

/// Step k up to what it does to the rows below. A launch of one block.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    decide_kernel(Index m, int n, int k, int blocks, QrOperands<T> op, Scratch<T>* scratch) {
  constexpr int W = kWidth<T>;
  __shared__ T z[W];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  T sum = combine_of_blocks<T>(Sum(), scratch->sums, blocks);
  T of_row = lane < W ? scratch->row[lane] : from_real<T>(0);
  bool nothing_below = false;
  if (!is_safe(real_part(of_lane(sum, k)))) {
    const bool zero = scale_column<T>(m, k, op, of_row, scratch);
    sum = sums_by_one_block<T>(m, n, k, op);
    nothing_below = zero && is_zero(of_lane(sum, k));  // which a NaN is not
  }
  if (threadIdx.x >= kWarp) return;
  const Reflector<T> h =
      make_reflector(of_lane(of_row, k), real_part(of_lane(sum, k)), nothing_below);
  const T dot = add_product(of_row, conjugate(h.scale), sum);
  const bool is_later = lane > k && lane < n;
  const T loss = is_later ? product(conjugate(h.tau), dot) : from_real<T>(0);
  const T value = lane == k ? from_real<T>(h.beta) : is_later ? add(of_row, negate(loss)) : of_row;
  if (lane < W) {
    scratch->loss[lane] = loss;
    z[lane] = conjugate(dot);
    store_row(op, n, k, lane, value, scratch->exponent[lane]);
  }
  if (lane == 0) scratch->scale = h.scale;
  __syncwarp();
  store_column_of_t(op, n, k, h.tau, z, op.t, op.ldt);
}

/// The element of column k.
template <class T>
__device__ T element_of(const Numbers<T>& x, int k) {
  T element = x[0];
#pragma unroll
  for (int c = 1; c < kWidth<T>; ++c) {
    if (c == k) element = x[c];
  }
  return element;
}

/// What step k does to the rows below row k, and the sums of step k + 1.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    reflect_kernel(Index m, int n, int k, QrOperands<T> op, Scratch<T>* scratch) {
  constexpr int W = kWidth<T>;
  __shared__ T loss[W];
  if (threadIdx.x < W) loss[threadIdx.x] = scratch->loss[threadIdx.x];
  __syncthreads();
  const T factor = scratch->scale;
  const bool last = k + 1 == n;
  Numbers<T> sums;
  clear<T>(sums);
  for_each_row(k + 1, m, [&](Index i) {
    T* const row = op.a + i;
    Numbers<T> x;
    clear<T>(x);
    for_each_column<T>(n, [&](int c) { x[c] = row[column_offset(c, op.lda)]; });
    const T v = product(element_of<T>(x, k), factor);
    op.v[i + column_offset(k, op.ldv)] = v;
    for_each_column<T>(n, [&](int c) {
      if (c < k) return;
      x[c] = c == k ? v : subtract_product(x[c], v, loss[c]);
      row[column_offset(c, op.lda)] = x[c];
    });
    if (last) return;
    if (i == k + 1) {
      keep_row<T>(x, scratch);
    } else {
      add_products<T>(n, x, element_of<T>(x, k + 1), sums);
    }
  });
  if (!last) leave(combine_in_block<T>(Sum(), sums), scratch->sums[blockIdx.x]);
}

}  // namespace

template <class T>
Index geqrf_tall_width() {
  return kWidth<typename DeviceScalar<T>::type>;
}

template <class T>
void geqrf_tall(cudaStream_t stream, const ReflectorScratch& memory, const GeqrfPanel<T>& op) {
  using D = typename DeviceScalar<T>::type;
  static_assert(sizeof(Scratch<D>) <= ReflectorScratch::kBytes);
  auto* const scratch = static_cast<Scratch<D>*>(memory.memory());
  const Index m = op.a.rows;
  const int n = static_cast<int>(op.a.cols);
  const QrOperands<D> operands = operands_of(op);
  LaunchShape all, one;
  all.threads = one.threads = kThreads;
  all.blocks = static_cast<unsigned>(std::min<Index>(quotient_up(m, kThreads), kMaxBlocks));
  const char* const what = "geqrf panel in memory";
  launch_kernel(stream, all, what, find_largest_kernel<D>, m, n, operands, scratch);
  launch_kernel(stream, all, what, scale_columns_kernel<D>, m, n, operands, scratch);
  for (int k = 0; k < n; ++k) {
    launch_kernel(stream, one, what, decide_kernel<D>, m, n, k, static_cast<int>(all.blocks),
                  operands, scratch);
    launch_kernel(stream, all, what, reflect_kernel<D>, m, n, k, operands, scratch);
  }
}

#define OVERLAPACK_INSTANTIATE(T)       \
  template Index geqrf_tall_width<T>(); \
  template void geqrf_tall(cudaStream_t, const ReflectorScratch&, const GeqrfPanel<T>&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
