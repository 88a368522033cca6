// Buffers in shared memory that one thread has filled in turn, by copies of the hardware's (PTX
// ISA, "cp.async.bulk.tensor"), and that groups of warps read.
#pragma once

#include "device/cuda/cluster.cuh"

namespace overlapack::cuda {

/// What tells when a buffer has been filled, and when it has been read and may be filled again.
template <int kBuffers>
struct Ring {
  Barrier arrived[kBuffers], read[kBuffers];

  /// By all threads of the block; so many will tell that they have read a buffer.
  __device__ void make(unsigned readers) {
    if (threadIdx.x == 0) {
      for (Barrier& barrier : arrived) make_barrier(&barrier);
      for (Barrier& barrier : read) make_barrier(&barrier, readers);
    }
    __syncthreads();
  }
};

/// Which buffer is next, and how often it has been filled before, modulo 2.
template <int kBuffers>
struct RingPlace {
  int buffer = 0;
  unsigned parity = 0;

  __device__ void next() {
    buffer = buffer + 1 == kBuffers ? 0 : buffer + 1;
    parity ^= buffer == 0 ? 1 : 0;
  }
};

}  // namespace overlapack::cuda
