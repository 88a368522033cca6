// How warps of a thread block wait for each other (PTX ISA, "mbarrier").
#pragma once

#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// A barrier: waiting ends when all expected warps have arrived. Each step has its own, so nobody
/// can be overtaken. It is for one use, or for several (of parity 0, 1, 0, ...) if all threads meet
/// in between.
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
  /// By all lanes; each has arrived when its asynchronous copies until now have been written.
  __device__ void arrive_with_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address()) : "memory");
  }
  __device__ void wait(unsigned parity = 0) {
    unsigned open = 0;
    while (open == 0) {
#if __CUDA_ARCH__ >= 900
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(open)
          : "r"(address()), "r"(parity)
          : "memory");
#else
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
          "}"
          : "=r"(open)
          : "r"(address()), "r"(parity)
          : "memory");
#endif
    }
  }

 private:
  __device__ unsigned address() { return shared_address(&state_); }
  unsigned long long state_;
};

}  // namespace overlapack::cuda
