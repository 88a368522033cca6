// The split form of a factor of a product (device.hpp): every float becomes three TF32 numbers, or
// one, or one FP16 number.
//
// A thread block takes a tile of the matrix through shared memory, in which the parts stand as they
// will in the split form. So it reads along the columns of the matrix and writes along the columns
// of the split form, both without gaps, whichever of the two runs along the summation. The parts
// are three quarters of all bytes moved in FP32 form, and what limits the kernel is the memory.
#include <cuda_fp16.h>

#include <algorithm>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kLines = 32;  // rows of a left factor, columns of a right one, per tile
constexpr int kThreads = 256;
constexpr Index kMaxBlocks = 1 << 20;  // beyond it a block takes several tiles

__device__ bool is_finite(float x) { return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u; }

/// Rounds a finite x to TF32 as reference::to_tf32 does: never to infinity, unlike the conversion
/// instruction, and with subnormal results.
__device__ float to_tf32(float x) {
  constexpr unsigned lost = 0x1fff;  // the bits of a float that TF32 has not
  const unsigned bits = __float_as_uint(x);
  const float rounded = __uint_as_float((bits + (lost + 1) / 2) & ~lost);
  return is_finite(rounded) ? rounded : __uint_as_float(bits & ~lost);
}

/// A column of the split form in a tile: what an element of it holds, and how it gets there. One
/// element more than there are makes the pitch odd, so that no two threads of a warp meet in a bank
/// of shared memory.
template <Precision kPrecision>
struct Column;

template <>
struct Column<Precision::fp32> {
  static constexpr int kElements = 96, kNumbers = 32;
  float elements[kElements + 1];
  /// Number i is x.
  __device__ void put(int i, bool left, float x) {
    const bool finite = is_finite(x);
    const float hi = finite ? to_tf32(x) : 0, lo = finite ? to_tf32(x - hi) : 0;
    elements[3 * i] = finite ? hi : x;
    elements[3 * i + 1] = left ? hi : lo;
    elements[3 * i + 2] = left ? lo : hi;
  }
};

template <>
struct Column<Precision::tf32> {
  static constexpr int kElements = 32, kNumbers = 32;
  float elements[kElements + 1];
  __device__ void put(int i, bool, float x) { elements[i] = is_finite(x) ? to_tf32(x) : x; }
};

template <>
struct Column<Precision::fp16> {
  static constexpr int kElements = 32, kNumbers = 64;
  float elements[kElements + 1];
  __device__ void put(int i, bool, float x) {
    constexpr float largest = 65504;
    if (is_finite(x)) x = fminf(fmaxf(x, -largest), largest);
    reinterpret_cast<__half*>(elements)[i] = __float2half_rn(x);
  }
};

/// x as summand l of line i of a tile. `tile` has room for two columns each of a complex left
/// factor.
template <class C>
__device__ void put(C* tile, int i, int l, bool left, bool, float x) {
  tile[i].put(l, left, x);
}
template <class C>
__device__ void put(C* tile, int i, int l, bool left, bool conjugated, Complex<float> x) {
  if (conjugated) x = conjugate(x);
  if (left) {
    tile[2 * i].put(2 * l, left, x.re);
    tile[2 * i].put(2 * l + 1, left, -x.im);
    tile[2 * i + 1].put(2 * l, left, x.im);
    tile[2 * i + 1].put(2 * l + 1, left, x.re);
  } else {
    tile[i].put(2 * l, left, x.re);
    tile[i].put(2 * l + 1, left, x.im);
  }
}

/// `n` lines of `k` summands each. Summand l of line i is from[l + i ld], or from[i + l ld] if
/// `across`. T has `kReals` real numbers. `rows` is the length of the split form.
template <class T, int kReals, Precision kPrecision>
__global__ void __launch_bounds__(kThreads)
    split_kernel(const T* __restrict__ from, Index ld, bool across, bool conjugated, bool left,
                 Index k, Index n, float* __restrict__ to, Index rows, Index to_ld) {
  using C = Column<kPrecision>;
  constexpr int kSummands = C::kNumbers / kReals;
  __shared__ C tile[kLines * kReals];
  const int columns_per_line = left ? kReals : 1;
  const Index steps = (k + kSummands - 1) / kSummands;
  const Index tiles = steps * ((n + kLines - 1) / kLines);
  for (Index t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Index l0 = t % steps * kSummands, i0 = t / steps * kLines;
#pragma unroll
    for (int s = 0; s < kLines * kSummands; s += kThreads) {
      const int e = s + static_cast<int>(threadIdx.x);
      const int l = across ? e / kLines : e % kSummands, i = across ? e % kLines : e / kSummands;
      T x = {};  // beyond the end of an odd column, too
      if (l0 + l < k && i0 + i < n) {
        x = across ? from[i0 + i + (l0 + l) * ld] : from[l0 + l + (i0 + i) * ld];
      }
      put(tile, i, l, left, conjugated, x);
    }
    __syncthreads();
    const Index row0 = t % steps * C::kElements, column0 = i0 * columns_per_line;
    const Index rows_left = rows - row0, columns_left = n * columns_per_line - column0;
    const int elements = kLines * columns_per_line * C::kElements;
#pragma unroll 4
    for (int e = static_cast<int>(threadIdx.x); e < elements; e += kThreads) {
      const int row = e % C::kElements, column = e / C::kElements;
      if (row < rows_left && column < columns_left) {
        to[row0 + row + (column0 + column) * to_ld] = tile[column].elements[row];
      }
    }
    __syncthreads();  // the tile is read before the next one replaces it
  }
}

template <Precision kPrecision, class T>
void launch_split(cudaStream_t stream, Side side, Op op, DeviceView<const T> from,
                  DeviceView<Real<T>> to) {
  constexpr int kReals = is_complex<T> ? 2 : 1;
  const bool left = side == Side::left;
  const bool across = left == (op == Op::none);  // rows of op(from) are summands of the right
  const Index k = across ? from.cols : from.rows, n = across ? from.rows : from.cols;
  constexpr Index kSummands = Column<kPrecision>::kNumbers / kReals;
  const Index tiles = (k + kSummands - 1) / kSummands * ((n + kLines - 1) / kLines);
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(tiles, kMaxBlocks));
  shape.threads = kThreads;
  launch(stream, shape, "split", split_kernel<typename DeviceScalar<T>::type, kReals, kPrecision>,
         device_cast(from.data), from.ld, across, op == Op::conj_trans, left, k, n, to.data,
         to.rows, to.ld);
}

}  // namespace

template <class T>
void split(cudaStream_t stream, Precision precision, Side side, Op op, DeviceView<const T> from,
           DeviceView<Real<T>> to) {
  switch (precision) {
    case Precision::fp16:
      return launch_split<Precision::fp16>(stream, side, op, from, to);
    case Precision::tf32:
      return launch_split<Precision::tf32>(stream, side, op, from, to);
    case Precision::fp32:
      return launch_split<Precision::fp32>(stream, side, op, from, to);
  }
}

template void split(cudaStream_t, Precision, Side, Op, DeviceView<const float>, DeviceView<float>);
template void split(cudaStream_t, Precision, Side, Op, DeviceView<const std::complex<float>>,
                    DeviceView<float>);

}  // namespace overlapack::cuda
