// What the lanes of a warp tell each other.
#pragma once

#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {

__device__ inline int lane_of_warp() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline int warp_of_block() { return static_cast<int>(threadIdx.x) / kWarp; }

template <class R>
__device__ inline R of_other_lane(R x, int mask) {
  return __shfl_xor_sync(kAllLanes, x, mask);
}
template <class R>
__device__ inline Complex<R> of_other_lane(Complex<R> x, int mask) {
  return {of_other_lane(x.re, mask), of_other_lane(x.im, mask)};
}

template <class R>
__device__ inline R of_lane(R x, int lane) {
  return __shfl_sync(kAllLanes, x, lane);
}
template <class R>
__device__ inline Complex<R> of_lane(Complex<R> x, int lane) {
  return {of_lane(x.re, lane), of_lane(x.im, lane)};
}

/// What combine() makes of so many numbers that each of kCount lanes has, whose numbers are
/// `kLaneStride` apart: lane i of them, of which only the lower bits count, gets that of the x[i].
/// Destroys `x`.
///
/// Each exchange with another lane leaves half as many numbers. (A loop over the exchanges would
/// not be unrolled, and `x` not be in registers.)
template <int kCount, int kLaneStride = 1, class T, int kSize, class Combine>
__device__ inline T combined_of_mine(T (&x)[kSize], int i, Combine combine) {
  static_assert(kCount <= kSize && kCount * kLaneStride <= kWarp);
  if constexpr (kCount > 1) {
    constexpr int kHalf = kCount / 2;
    const bool upper = i & kHalf;
#pragma unroll
    for (int k = 0; k < kHalf; ++k) {
      const T keep = upper ? x[kHalf + k] : x[k], give = upper ? x[k] : x[kHalf + k];
      x[k] = combine(keep, of_other_lane(give, kHalf * kLaneStride));
    }
    return combined_of_mine<kHalf, kLaneStride>(x, i, combine);
  } else {
    return x[0];
  }
}

/// Their sums.
template <int kCount, int kLaneStride = 1, class T, int kSize>
__device__ inline T sum_of_mine(T (&x)[kSize], int i) {
  return combined_of_mine<kCount, kLaneStride>(x, i, [](T y, T z) { return add(y, z); });
}

/// What combine() makes of the numbers of all lanes, in all lanes.
template <class T, class Combine>
__device__ inline T combined_of_warp(T x, Combine combine) {
#pragma unroll
  for (int mask = kWarp / 2; mask > 0; mask /= 2) x = combine(x, of_other_lane(x, mask));
  return x;
}
template <class T>
__device__ inline T sum_of_warp(T x) {
  return combined_of_warp(x, [](T y, T z) { return add(y, z); });
}

}  // namespace overlapack::cuda
