// The split form of a factor of a product (device.hpp): every float becomes three TF32 numbers.
//
// A thread block takes a tile of the matrix through shared memory, in which the parts stand as they
// will in the split form. So it reads along the columns of the matrix and writes along the columns
// of the split form, both without gaps, whichever of the two runs along the summation. The parts
// are three quarters of all bytes moved, and what limits the kernel is the memory.
#include <algorithm>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kLines = 32;          // rows of a left factor, columns of a right one, per tile
constexpr int kParts = 96;          // rows of the split form per tile
constexpr int kPitch = kParts + 1;  // no two threads of a warp meet in a bank of shared memory
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

__device__ void put_parts(float* to, bool left, float x) {
  const bool finite = is_finite(x);
  const float hi = finite ? to_tf32(x) : 0, lo = finite ? to_tf32(x - hi) : 0;
  to[0] = finite ? hi : x;
  to[1] = left ? hi : lo;
  to[2] = left ? lo : hi;
}

/// The parts of x in line i of a tile, for summand l. `tile` has room for two lines each of a
/// complex left factor.
__device__ void put(float (*tile)[kPitch], int i, int l, bool left, bool, float x) {
  put_parts(&tile[i][3 * l], left, x);
}
__device__ void put(float (*tile)[kPitch], int i, int l, bool left, bool conjugated,
                    Complex<float> x) {
  if (conjugated) x = conjugate(x);
  if (left) {
    put_parts(&tile[2 * i][6 * l], left, x.re);
    put_parts(&tile[2 * i][6 * l + 3], left, -x.im);
    put_parts(&tile[2 * i + 1][6 * l], left, x.im);
    put_parts(&tile[2 * i + 1][6 * l + 3], left, x.re);
  } else {
    put_parts(&tile[i][6 * l], left, x.re);
    put_parts(&tile[i][6 * l + 3], left, x.im);
  }
}

/// `n` lines of `k` summands each. Summand l of line i is from[l + i ld], or from[i + l ld] if
/// `across`. T has `kReals` real numbers.
template <class T, int kReals>
__global__ void __launch_bounds__(kThreads)
    split_kernel(const T* __restrict__ from, Index ld, bool across, bool conjugated, bool left,
                 Index k, Index n, float* __restrict__ to, Index to_ld) {
  constexpr int kSummands = kParts / (3 * kReals);
  constexpr int kColumns = kLines * kReals;  // of the split form, at most
  __shared__ float tile[kColumns][kPitch];
  const int columns_per_line = left ? kReals : 1;
  const Index steps = (k + kSummands - 1) / kSummands;
  const Index tiles = steps * ((n + kLines - 1) / kLines);
  for (Index t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Index l0 = t % steps * kSummands, i0 = t / steps * kLines;
#pragma unroll
    for (int s = 0; s < kLines * kSummands; s += kThreads) {
      const int e = s + static_cast<int>(threadIdx.x);
      const int l = across ? e / kLines : e % kSummands, i = across ? e % kLines : e / kSummands;
      if (l0 + l < k && i0 + i < n) {
        const T x = across ? from[i0 + i + (l0 + l) * ld] : from[l0 + l + (i0 + i) * ld];
        put(tile, i, l, left, conjugated, x);
      }
    }
    __syncthreads();
    const Index row0 = l0 * 3 * kReals, rows = k * 3 * kReals - row0;
    const Index column0 = i0 * columns_per_line, columns = n * columns_per_line - column0;
    const int parts = kLines * columns_per_line * kParts;
#pragma unroll 4
    for (int e = static_cast<int>(threadIdx.x); e < parts; e += kThreads) {
      const int row = e % kParts, column = e / kParts;
      if (row < rows && column < columns) {
        to[row0 + row + (column0 + column) * to_ld] = tile[column][row];
      }
    }
    __syncthreads();  // the tile is read before the next one replaces it
  }
}

}  // namespace

template <class T>
void split(cudaStream_t stream, Side side, Op op, DeviceView<const T> from,
           DeviceView<Real<T>> to) {
  constexpr int kReals = is_complex<T> ? 2 : 1;
  const bool left = side == Side::left;
  const bool across = left == (op == Op::none);  // rows of op(from) are summands of the right
  const Index k = across ? from.cols : from.rows, n = across ? from.rows : from.cols;
  constexpr Index kSummands = kParts / (3 * kReals);
  const Index tiles = (k + kSummands - 1) / kSummands * ((n + kLines - 1) / kLines);
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min(tiles, kMaxBlocks));
  shape.threads = kThreads;
  launch(stream, shape, "split", split_kernel<typename DeviceScalar<T>::type, kReals>,
         device_cast(from.data), from.ld, across, op == Op::conj_trans, left, k, n, to.data, to.ld);
}

template void split(cudaStream_t, Side, Op, DeviceView<const float>, DeviceView<float>);
template void split(cudaStream_t, Side, Op, DeviceView<const std::complex<float>>,
                    DeviceView<float>);

}  // namespace overlapack::cuda
