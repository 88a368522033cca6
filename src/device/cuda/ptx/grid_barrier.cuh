// How all thread blocks of a launch wait for each other (PTX ISA, "Memory Consistency Model").
#pragma once

#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {

/// A barrier for a cooperative launch. What any thread has written before it all threads see behind
/// it: the release by one thread takes along what __syncthreads() has shown to it, and its acquire
/// is for all who wait for it there. `arrived` counts blocks for one launch, from 0 on.
class GridBarrier {
 public:
  __device__ explicit GridBarrier(unsigned* arrived) : arrived_(arrived) {}

  __device__ void wait() {
    __syncthreads();
    if (gridDim.x == 1) return;
    if (threadIdx.x == 0) {
      expected_ += gridDim.x;
      asm volatile(
          "red.release.gpu.global.add.u32 [%0], 1;" ::"l"(__cvta_generic_to_global(arrived_))
          : "memory");
      unsigned arrived = 0;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                     : "=r"(arrived)
                     : "l"(__cvta_generic_to_global(arrived_))
                     : "memory");
      } while (arrived < expected_);
    }
    __syncthreads();
  }

 private:
  unsigned* const arrived_;
  unsigned expected_ = 0;
};

}  // namespace overlapack::cuda
