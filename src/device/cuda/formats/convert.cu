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

/// 1 / p(sizes[i]) of Kernels<T>::round, or 1 if there are no sizes. What is subnormal counts as
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

}  // namespace

template <class T>
void round_part(cudaStream_t stream, Part part, DeviceView<const T> from, DeviceView<Single<T>> to,
                Index* overflow, const double* row_sizes, const double* column_sizes) {
  using D = typename DeviceScalar<T>::type;
  using S = typename DeviceScalar<Single<T>>::type;
  const Stripes over(from.rows, from.cols);
  launch(stream, over.shape, "round", round_kernel<D, S>, part, from.rows, from.cols,
         device_cast(from.data), from.ld, device_cast(to.data), to.ld, over.stripes, overflow,
         row_sizes, column_sizes);
}

template <class T>
void round_high(cudaStream_t stream, Part part, DeviceView<const Single<T>> high,
                DeviceView<Single<T>> to) {
  using D = typename DeviceScalar<T>::type;
  using S = typename DeviceScalar<Single<T>>::type;
  const Stripes over(to.rows, to.cols);
  launch(stream, over.shape, "round high words", round_high_kernel<D, S>, part, to.rows, to.cols,
         device_cast(high.data), high.ld, device_cast(to.data), to.ld, over.stripes);
}

template <class T>
void join(cudaStream_t stream, Part part, DeviceView<const Single<T>> high,
          DeviceView<const Single<T>> low, DeviceView<T> to, Index* overflow) {
  using D = typename DeviceScalar<T>::type;
  using S = typename DeviceScalar<Single<T>>::type;
  const Stripes over(to.rows, to.cols);
  launch(stream, over.shape, "join words", join_kernel<D, S>, part, to.rows, to.cols,
         device_cast(high.data), high.ld, device_cast(low.data), low.ld, device_cast(to.data),
         to.ld, over.stripes, overflow);
}

template <class T>
void widen(cudaStream_t stream, DeviceView<const Single<T>> from, T beta, DeviceView<T> to,
           const double* row_sizes) {
  using D = typename DeviceScalar<T>::type;
  using S = typename DeviceScalar<Single<T>>::type;
  const Stripes over(to.rows, to.cols);
  launch(stream, over.shape, "widen", widen_kernel<D, S>, to.rows, to.cols, device_cast(from.data),
         from.ld, *device_cast(&beta), device_cast(to.data), to.ld, over.stripes, row_sizes);
}

template <class T>
void mirror(cudaStream_t stream, Uplo uplo, DeviceView<T> a) {
  const Index tiles = quotient_up(a.rows, kTile);
  LaunchShape shape;
  shape.threads = kThreads;
  shape.blocks = static_cast<unsigned>(tiles * tiles);
  launch(stream, shape, "mirror", mirror_kernel<typename DeviceScalar<T>::type>,
         uplo == Uplo::lower, a.rows, tiles, device_cast(a.data), a.ld);
}

#define OVERLAPACK_INSTANTIATE(T)                                                                  \
  template void round_part(cudaStream_t, Part, DeviceView<const T>, DeviceView<Single<T>>, Index*, \
                           const double*, const double*);                                          \
  template void round_high<T>(cudaStream_t, Part, DeviceView<const Single<T>>,                     \
                              DeviceView<Single<T>>);                                              \
  template void join(cudaStream_t, Part, DeviceView<const Single<T>>, DeviceView<const Single<T>>, \
                     DeviceView<T>, Index*);                                                       \
  template void widen(cudaStream_t, DeviceView<const Single<T>>, T, DeviceView<T>, const double*);
OVERLAPACK_INSTANTIATE(double)
OVERLAPACK_INSTANTIATE(std::complex<double>)
#undef OVERLAPACK_INSTANTIATE

#define OVERLAPACK_INSTANTIATE(T) template void mirror(cudaStream_t, Uplo, DeviceView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
