// How warps of a thread block wait for each other (PTX ISA, "mbarrier"), and thread blocks.
#pragma once

#include "core/scalar.hpp"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// A barrier for one use: waiting ends when all expected warps have arrived. Each step has its own,
/// so nobody can be overtaken.
class Gate {
 public:
  __device__ void expect(int warps) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(warps * kWarp)
                 : "memory");
  }
  /// By all lanes, each for what it has written.
  __device__ void arrive() {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(address())
                 : "memory");
  }
  __device__ void wait() {
    unsigned open = 0;
    while (open == 0) {
#if __CUDA_ARCH__ >= 900
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
          : "=r"(open)
          : "r"(address())
          : "memory");
#else
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
          : "=r"(open)
          : "r"(address())
          : "memory");
#endif
    }
  }

 private:
  __device__ unsigned address() { return shared_address(&state_); }
  unsigned long long state_;
};

// Flags in device memory, 0 before they are raised. By one thread: what its thread block has
// written before, behind a __syncthreads(), is there for the thread block of whoever has waited.
__device__ inline void wait_for(const Index* flag) {
  long long there;
  do {
    asm volatile("ld.acquire.gpu.global.s64 %0, [%1];" : "=l"(there) : "l"(flag) : "memory");
  } while (there == 0);
}
__device__ inline void raise(Index* flag) {
  asm volatile("st.release.gpu.global.s64 [%0], %1;" ::"l"(flag), "l"(1ll) : "memory");
}

}  // namespace overlapack::cuda
