// Buffers in shared memory that are filled in turn, each time by one thread, with copies of the
// hardware's (PTX ISA, "cp.async.bulk.tensor"), and that warps or groups of them read.
#pragma once

#include <cuda.h>

#include "device/cuda/ptx/cluster.cuh"

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

/// Has a box copied to shared memory whose first element is (i, j); its bytes count in the barrier.
__device__ inline void copy_box(void* to, const CUtensorMap& from, int i, int j, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(&from), "r"(i), "r"(j), "r"(shared_address(barrier))
      : "memory");
}

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
