// Between double and single precision, and from a triangle to the whole of a Hermitian matrix. What
// limits these kernels is the memory: consecutive threads take consecutive elements of a column,
// and what is written across columns goes through shared memory.
#include <algorithm>
#include <cfloat>

#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;
constexpr Index kPerThread = 8;     // elements, about, before another block shares the column
constexpr Index kMaxBlocks = 8192;  // enough to fill any GPU

/// The shape of a kernel whose blocks share each column by `stripes`.
struct Stripes {
  explicit Stripes(Index rows, Index cols) : stripes(rows / (kThreads * kPerThread) + 1) {
    shape.threads = kThreads;
    shape.blocks = static_cast<unsigned>(std::min(cols * stripes, kMaxBlocks));
  }
  Index stripes;
  LaunchShape shape;
};

__device__ bool overflows(double x) { return fabs(x) > static_cast<double>(FLT_MAX); }
__device__ bool overflows(Complex<double> x) { return overflows(x.re) || overflows(x.im); }

/// 1 / p(sizes[i]) of Round, or 1 if there are no sizes. What is subnormal counts as
/// 2^-1022, which is as good.
__device__ double inverse_power(const double* sizes, Index i) {
  if (sizes == nullptr) return 1;
  const double x = sizes[i];
  const int field = __double2hiint(x) >> 20 & 0x7ff;
  if (field == 0x7ff || x == 0) return 1;
  return __hiloint2double((1023 - max(-500, min(field - 1022, 500))) << 20, 0);
}

/// Calls f(j, first, end) with what this thread is to do of column j: rows first, first + step, ...
/// before `end`, where step is stripes * kThreads.
template <class F>
__device__ void for_each_stripe(Part part, Index rows, Index cols, Index stripes, F f) {
  for (Index item = blockIdx.x; item < cols * stripes; item += gridDim.x) {
    const Index j = item / stripes, stripe = item % stripes;
    const Index first = part == Part::lower ? min(j, rows) : 0;
    const Index end = part == Part::upper ? min(j + 1, rows) : rows;
    f(j, first + stripe * kThreads + threadIdx.x, end);
  }
}

template <class T, class S>
__global__ void __launch_bounds__(kThreads)
    round_kernel(Part part, Index rows, Index cols, const T* __restrict__ from, Index from_ld,
                 S* __restrict__ to, Index to_ld, Index stripes, Index* overflow,
                 const double* __restrict__ row_sizes, const double* __restrict__ column_sizes) {
  bool over = false;
  for_each_stripe(part, rows, cols, stripes, [&](Index j, Index first, Index end) {
    const double by_column = inverse_power(column_sizes, j);
#pragma unroll 4
    for (Index i = first; i < end; i += stripes * kThreads) {
      const T x = from[i + j * from_ld];
      over = over || overflows(x);
      convert(to[i + j * to_ld], scale(x, by_column * inverse_power(row_sizes, i)));
    }
  });
  if (over) *overflow = 1;  // whoever writes writes the same
}

__device__ void join_words(double& x, float high, float low) {
  x = __hiloint2double(__float_as_int(high), __float_as_int(low));
}
__device__ void join_words(Complex<double>& x, Complex<float> high, Complex<float> low) {
  join_words(x.re, high.re, low.re);
  join_words(x.im, high.im, low.im);
}

template <class T, class S>
__global__ void __launch_bounds__(kThreads)
    round_high_kernel(Part part, Index rows, Index cols, const S* __restrict__ high, Index high_ld,
                      S* __restrict__ to, Index to_ld, Index stripes) {
  for_each_stripe(part, rows, cols, stripes, [&](Index j, Index first, Index end) {
#pragma unroll 4
    for (Index i = first; i < end; i += stripes * kThreads) {
      T x;
      join_words(x, high[i + j * high_ld], S{});
      convert(to[i + j * to_ld], x);
    }
  });
}

template <class T, class S>
__global__ void __launch_bounds__(kThreads)
    join_kernel(Part part, Index rows, Index cols, const S* __restrict__ high, Index high_ld,
                const S* __restrict__ low, Index low_ld, T* __restrict__ to, Index to_ld,
                Index stripes, Index* overflow) {
  bool over = false;
  for_each_stripe(part, rows, cols, stripes, [&](Index j, Index first, Index end) {
#pragma unroll 4
    for (Index i = first; i < end; i += stripes * kThreads) {
      T& x = to[i + j * to_ld];
      join_words(x, high[i + j * high_ld], low[i + j * low_ld]);
      over = over || overflows(x);
    }
  });
  if (over) *overflow = 1;
}

/// beta = 0 means that `to` is not read.
template <class T, class S>
__global__ void __launch_bounds__(kThreads)
    widen_kernel(Index rows, Index cols, const S* __restrict__ from, Index from_ld, T beta, T* to,
                 Index to_ld, Index stripes, const double* __restrict__ row_sizes) {
  for_each_stripe(Part::all, rows, cols, stripes, [&](Index j, Index first, Index end) {
#pragma unroll 4
    for (Index i = first; i < end; i += stripes * kThreads) {
      T x;
      convert(x, from[i + j * from_ld]);
      x = scale(x, inverse_power(row_sizes, i));
      T& result = to[i + j * to_ld];
      result = is_zero(beta) ? x : add_product(x, beta, result);
    }
  });
}

constexpr int kTile = 32;     // order of the tiles of mirror
constexpr int kTileRows = 8;  // of them are in flight: kThreads = kTile * kTileRows

/// Tile (p, q) of the given triangle becomes tile (q, p); one on the diagonal does both halves by
/// itself. A block for each of `tiles` x `tiles`, of which almost half have nothing to do.
template <class T>
__global__ void __launch_bounds__(kThreads)
    mirror_kernel(bool lower, Index n, Index tiles, T* a, Index ld) {
  __shared__ T tile[kTile][kTile + 1];  // [column][row]
  const Index larger = blockIdx.x % tiles, smaller = blockIdx.x / tiles;
  if (larger < smaller) return;
  const Index p = lower ? larger : smaller, q = lower ? smaller : larger;
  const int lane = static_cast<int>(threadIdx.x) % kTile;
  const int line = static_cast<int>(threadIdx.x) / kTile;
  for (int c = line; c < kTile; c += kTileRows) {
    const Index i = p * kTile + lane, j = q * kTile + c;
    if (i < n && j < n) tile[c][lane] = a[i + j * ld];
  }
  __syncthreads();
  // Element (lane, c) of tile (q, p) is element (c, lane) of tile (p, q).
  for (int c = line; c < kTile; c += kTileRows) {
    const Index i = q * kTile + lane, j = p * kTile + c;
    if (i >= n || j >= n) continue;
    if (i == j) {
      a[i + j * ld] = from_real<T>(real_part(tile[c][lane]));
    } else if (p != q || (lower ? i < j : i > j)) {
      a[i + j * ld] = conjugate(tile[lane][c]);
    }
  }
}

template <class T>
void enqueue(CudaQueue& queue, const Round<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using S = typename DeviceScalar<Single<T>>::type;
  const Stripes over(op.from.rows, op.from.cols);
  launch_kernel(queue.stream(), over.shape, op.kName, round_kernel<D, S>, op.part, op.from.rows,
                op.from.cols, device_cast(op.from.data), op.from.ld, device_cast(op.to.data),
                op.to.ld, over.stripes, op.overflow.data, op.row_sizes.data, op.column_sizes.data);
}

template <class T>
void enqueue(CudaQueue& queue, const RoundHigh<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using S = typename DeviceScalar<Single<T>>::type;
  const Stripes over(op.to.rows, op.to.cols);
  launch_kernel(queue.stream(), over.shape, op.kName, round_high_kernel<D, S>, op.part, op.to.rows,
                op.to.cols, device_cast(op.high.data), op.high.ld, device_cast(op.to.data),
                op.to.ld, over.stripes);
}

template <class T>
void enqueue(CudaQueue& queue, const Join<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using S = typename DeviceScalar<Single<T>>::type;
  const Stripes over(op.to.rows, op.to.cols);
  launch_kernel(queue.stream(), over.shape, op.kName, join_kernel<D, S>, op.part, op.to.rows,
                op.to.cols, device_cast(op.high.data), op.high.ld, device_cast(op.low.data),
                op.low.ld, device_cast(op.to.data), op.to.ld, over.stripes, op.overflow.data);
}

template <class T>
void enqueue(CudaQueue& queue, const Widen<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using S = typename DeviceScalar<Single<T>>::type;
  const Stripes over(op.to.rows, op.to.cols);
  launch_kernel(queue.stream(), over.shape, op.kName, widen_kernel<D, S>, op.to.rows, op.to.cols,
                device_cast(op.from.data), op.from.ld, *device_cast(&op.beta),
                device_cast(op.to.data), op.to.ld, over.stripes, op.row_sizes.data);
}

template <class T>
void enqueue(CudaQueue& queue, const Mirror<T>& op) {
  const Index tiles = quotient_up(op.a.rows, kTile);
  LaunchShape shape;
  shape.threads = kThreads;
  shape.blocks = static_cast<unsigned>(tiles * tiles);
  launch_kernel(queue.stream(), shape, op.kName, mirror_kernel<typename DeviceScalar<T>::type>,
                op.uplo == Uplo::lower, op.a.rows, tiles, device_cast(op.a.data), op.a.ld);
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) \
  OVERLAPACK_LAUNCH(Round<T>)     \
  OVERLAPACK_LAUNCH(RoundHigh<T>) OVERLAPACK_LAUNCH(Join<T>) OVERLAPACK_LAUNCH(Widen<T>)
OVERLAPACK_INSTANTIATE(double)
OVERLAPACK_INSTANTIATE(std::complex<double>)
#undef OVERLAPACK_INSTANTIATE

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(Mirror<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
