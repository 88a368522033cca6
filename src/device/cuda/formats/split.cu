// The split form of a factor of a product (device.hpp): every float becomes two scaled FP16
// numbers, or one TF32 number, or one FP16 number.
//
// A thread block takes a tile of the matrix through shared memory, in which the parts stand as they
// will in the split form. So it reads along the columns of the matrix and writes along the columns
// of the split form, both without gaps, whichever of the two runs along the summation.
#include <cuda_fp16.h>

#include <algorithm>
#include <type_traits>

#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

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

/// A column of a form with one part for each number in a tile: how an element gets there. One
/// element more than there are makes the pitch odd, so that no two threads of a warp meet in a bank
/// of shared memory.
template <Precision kPrecision>
struct Column;

template <>
struct Column<Precision::tf32> {
  static constexpr int kElements = 32, kNumbers = 32;
  float elements[kElements + 1];
  __device__ void put(int i, float x) { elements[i] = is_finite(x) ? to_tf32(x) : x; }
};

template <>
struct Column<Precision::fp16> {
  static constexpr int kElements = 32, kNumbers = 64;
  float elements[kElements + 1];
  __device__ void put(int i, float x) {
    constexpr float largest = 65504;
    if (is_finite(x)) x = fminf(fmaxf(x, -largest), largest);
    reinterpret_cast<__half*>(elements)[i] = __float2half_rn(x);
  }
};

/// x as summand l of line i of a tile. `tile` has room for two columns each of a complex left
/// factor.
template <class C>
__device__ void put(C* tile, int i, int l, bool, bool, float x) {
  tile[i].put(l, x);
}
template <class C>
__device__ void put(C* tile, int i, int l, bool left, bool conjugated, Complex<float> x) {
  if (conjugated) x = conjugate(x);
  if (left) {
    tile[2 * i].put(2 * l, x.re);
    tile[2 * i].put(2 * l + 1, -x.im);
    tile[2 * i + 1].put(2 * l, x.im);
    tile[2 * i + 1].put(2 * l + 1, x.re);
  } else {
    tile[i].put(2 * l, x.re);
    tile[i].put(2 * l + 1, x.im);
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

constexpr int kPiece = SplitForm::kNumbersPerCacheLine, kHeader = SplitForm::kHeader;
constexpr int kPieces = 8;  // of a section, at most
static_assert(kThreads == kPieces * kWarp && kLines == kWarp);

/// The exponent of the power of two that takes numbers of up to this size to 2^14 and beyond, or as
/// far as it goes without leaving the normal range.
__device__ int scale_of(float largest) {
  const int exponent = static_cast<int>(__float_as_uint(largest) >> 23) - 127;
  return largest > 0 ? min(14 - exponent, 126) : 0;
}
__device__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}
/// The exponent of the power of two that sizes(l) stands for.
__device__ int exponent_of(float size) {
  const int exponent = static_cast<int>(__float_as_uint(size) >> 23) - 127;
  return min(max(exponent, -126), 0);
}

/// The real numbers of summand l in a column of the split form: of its line's first one, or, with a
/// complex left factor, of its second.
__device__ void put(float* x, int l, bool, bool, float from) { x[l] = from; }
__device__ void put(float* x, int l, bool left, bool second, Complex<float> from) {
  x[2 * l] = second ? from.im : from.re;
  x[2 * l + 1] = second ? from.re : left ? -from.im : from.im;
}

__device__ void get(const float* x, int l, float& to) { to = x[l]; }
__device__ void get(const float* x, int l, Complex<float>& to) { to = {x[2 * l], x[2 * l + 1]}; }

/// The FP32 form of `n` lines of `k` summands each, as above. A warp makes one piece of a section
/// for 32 lines, each lane that of one line.
template <class T, int kReals>
__global__ void __launch_bounds__(kThreads)
    split_fp32_kernel(const T* __restrict__ from, Index ld, bool across, bool conjugated, bool left,
                      Index k, Index n, const float* __restrict__ sizes, bool divide,
                      float* __restrict__ to, int section, Index to_ld) {
  constexpr int kSummands = kPiece / kReals;
  __shared__ __align__(16) float tiles[kPieces][kLines * (kPiece + 1)];
  __shared__ float maxima[kPieces][kLines];
  const int warp = static_cast<int>(threadIdx.x) / kWarp,
            lane = static_cast<int>(threadIdx.x) % kWarp;
  float* const tile = tiles[warp];
  const Index sections = (k + section - 1) / section, bands = (n + kLines - 1) / kLines;
  const auto rows_of = [](Index numbers) {
    return kHeader + (numbers + kPiece - 1) / kPiece * kPiece;
  };
  for (Index t = blockIdx.x; t < sections * bands; t += gridDim.x) {
    const Index l0 = t % sections * section, i0 = t / sections * kLines;
    const int summands = static_cast<int>(min(k - l0, Index{section}));
    const int first = warp * kSummands;  // of this warp's summands
    T mine[kSummands];                   // those of this lane's line
    if (across) {
#pragma unroll
      for (int l = 0; l < kSummands; ++l) {
        const bool there = first + l < summands && i0 + lane < n;
        mine[l] = there ? from[i0 + lane + (l0 + first + l) * ld] : T{};
      }
    } else {
      constexpr int kLinesPerRead = kWarp / kSummands;  // lines that a warp reads at once
      const int l = lane % kSummands;
#pragma unroll 8
      for (int i = lane / kSummands; i < kLines; i += kLinesPerRead) {
        const bool there = first + l < summands && i0 + i < n;
        const T x = there ? from[l0 + first + l + (i0 + i) * ld] : T{};
        put(tile + i * (kPiece + 1), l, false, false, x);
      }
      __syncwarp();
#pragma unroll
      for (int l = 0; l < kSummands; ++l) {
        get(tile + lane * (kPiece + 1), l, mine[l]);
      }
    }
    if (sizes != nullptr) {
#pragma unroll
      for (int l = 0; l < kSummands; ++l) {
        const int exponent = first + l < summands ? exponent_of(sizes[l0 + first + l]) : 0;
        mine[l] = scale(mine[l], power_of_two(divide ? -exponent : exponent));
      }
    }
    float largest = 0;
#pragma unroll
    for (int l = 0; l < kSummands; ++l) {
      if (conjugated) mine[l] = conjugate(mine[l]);
      float x[kReals];
      put(x, 0, false, false, mine[l]);
      for (const float y : x) largest = is_finite(y) ? fmaxf(largest, fabsf(y)) : largest;
    }
    maxima[warp][lane] = largest;
    __syncthreads();
#pragma unroll
    for (int w = 0; w < kPieces; ++w) largest = fmaxf(largest, maxima[w][lane]);
    const int exponent = scale_of(largest);
    const float scale = power_of_two(exponent);
    const int columns_per_line = left ? kReals : 1;
    float* const begin = to + l0 / section * rows_of(kReals * section);
    for (int c = 0; c < columns_per_line; ++c) {
      if (warp == 0 && i0 + lane < n) {
        float4* const header =
            reinterpret_cast<float4*>(begin + ((i0 + lane) * columns_per_line + c) * to_ld);
        header[0] = {power_of_two(-exponent), 0, 0, 0};
#pragma unroll
        for (int i = 1; i < kHeader / 4; ++i) header[i] = {0, 0, 0, 0};
      }
      if (kReals * summands <= warp * kPiece) continue;
      float x[kPiece];
#pragma unroll
      for (int l = 0; l < kSummands; ++l) put(x, l, left, c == 1, mine[l]);
      alignas(16) __half2 high[kPiece / 2], low[kPiece / 2];
#pragma unroll
      for (int i = 0; i < kPiece / 2; ++i) {
        const float a = x[2 * i] * scale, b = x[2 * i + 1] * scale;
        high[i] = __floats2half2_rn(a, b);
        low[i] = __floats2half2_rn(is_finite(a) ? a - __low2float(high[i]) : 0,
                                   is_finite(b) ? b - __high2float(high[i]) : 0);
      }
      __syncwarp();
      // Eight numbers a chunk; permuted so that neither side meets in a bank.
      float4* const chunks = reinterpret_cast<float4*>(tile);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const __half2* const eight = i < 4 ? high + 4 * i : low + 4 * (i - 4);
        chunks[lane * 8 + (i ^ lane % 8)] = *reinterpret_cast<const float4*>(eight);
      }
      __syncwarp();
#pragma unroll
      for (int s = 0; s < 8; ++s) {
        const int line = 4 * s + lane / 8, i = lane % 8;
        if (i0 + line < n) {
          float* const column = begin + ((i0 + line) * columns_per_line + c) * to_ld;
          *reinterpret_cast<float4*>(column + kHeader + warp * kPiece + 4 * i) =
              chunks[line * 8 + (i ^ line % 8)];
        }
      }
    }
    __syncthreads();  // the maxima are read before the next ones replace them
  }
}

template <class T>
void enqueue(CudaQueue& queue, const Split<T>& op) {
  using D = typename DeviceScalar<T>::type;
  constexpr int kReals = is_complex<T> ? 2 : 1;
  const DeviceView<const T>& from = op.from;
  const DeviceView<Real<T>>& to = op.to;
  const bool left = op.side == Side::left, conjugated = op.op == Op::conj_trans;
  const bool across = left == (op.op == Op::none);  // rows of op(from) are summands of the right
  const Index k = across ? from.cols : from.rows, n = across ? from.rows : from.cols;
  const auto shape_for = [&](Index summands) {  // of a tile
    const Index tiles = quotient_up(k, summands) * quotient_up(n, kLines);
    LaunchShape shape;
    shape.blocks = static_cast<unsigned>(std::min(tiles, kMaxBlocks));
    shape.threads = kThreads;
    return shape;
  };
  const auto in_one_part = [&](auto precision) {
    constexpr Precision kPrecision = decltype(precision)::value;
    launch_kernel(queue.stream(), shape_for(Column<kPrecision>::kNumbers / kReals), op.kName,
                  split_kernel<D, kReals, kPrecision>, device_cast(from.data), from.ld, across,
                  conjugated, left, k, n, to.data, to.rows, to.ld);
  };
  switch (op.form.precision) {
    case Precision::fp16:
      return in_one_part(std::integral_constant<Precision, Precision::fp16>{});
    case Precision::tf32:
      return in_one_part(std::integral_constant<Precision, Precision::tf32>{});
    case Precision::fp32:
      launch_kernel(queue.stream(), shape_for(op.form.section), op.kName,
                    split_fp32_kernel<D, kReals>, device_cast(from.data), from.ld, across,
                    conjugated, left, k, n, op.sizes.data, op.weigh == Weigh::divide, to.data,
                    static_cast<int>(op.form.section), to.ld);
  }
}

}  // namespace

OVERLAPACK_LAUNCH(Split<float>)
OVERLAPACK_LAUNCH(Split<std::complex<float>>)

}  // namespace overlapack::cuda
