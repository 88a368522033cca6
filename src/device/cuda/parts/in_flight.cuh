// Loops whose loads do not wait for each other.
#pragma once

#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {

/// take(load(k)) for k = first, first + step, ..., less than last, in this order. So many loads are
/// on their way at a time, also at the end of the loop, where an unrolled one would have a
/// remainder whose loads come one after the other.
template <int kInFlight, class Load, class Take>
__device__ inline void for_each_loaded(int first, int last, int step, Load load, Take take) {
  for (; first < last; first += kInFlight * step) {
    decltype(load(first)) x[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (first + k * step < last) x[k] = load(first + k * step);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (first + k * step < last) take(x[k], first + k * step);
    }
  }
}

}  // namespace overlapack::cuda
