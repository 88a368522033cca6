// Copies from device memory to shared memory in the background.
#pragma once

#include "device/cuda/ptx/gate.cuh"

namespace overlapack::cuda {

/// Starts copying one element of 4, 8 or 16 bytes. The thread waits for all it has started in
/// finish_copies(); other threads see them after they have met behind that.
template <class T>
__device__ void start_copy(T* to, const T* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
               "n"(sizeof(T))
               : "memory");
}
/// The same for kBytes bytes, 4, 8 or 16, that begin at a multiple of kBytes: only the first
/// `count` bytes are copied, and zeros stored behind them.
template <int kBytes>
__device__ void start_copy(void* to, const void* from, int count) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from),
               "n"(kBytes), "r"(count)
               : "memory");
}
__device__ inline void finish_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// What the thread has started since the last time is a group.
__device__ inline void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until all groups of copies have arrived but the latest kPending.
template <int kPending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace overlapack::cuda
