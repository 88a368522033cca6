// Thread blocks of a cluster that send each other messages through their shared memories (Hopper
// and later; PTX ISA, "mbarrier" and "st.async").
//
// A message arrives together with its count of bytes in a barrier of the receiver, so the receiver
// waits for nothing but the message, and the sender for nothing at all.
#pragma once

#include "device/cuda/ptx/gate.cuh"

namespace overlapack::cuda {

/// Counts the bytes that arrive in a block's shared memory. Its phases complete one after the
/// other, each when the bytes expected in it are there.
using Barrier = unsigned long long;

__device__ inline int rank_in_cluster() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline int blocks_in_cluster() {
  int blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

// All threads of the cluster wait for each other. What a thread has written before it arrives, the
// others see after they have waited.
__device__ inline void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
/// The same where nobody will look at what this thread has written: it tells only that what it has
/// read may be overwritten. Making all that was written visible would take 0.5 to 1 us.
__device__ inline void arrive_at_cluster_having_read() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ inline void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ inline void synchronize_cluster() {
  arrive_at_cluster();
  wait_for_cluster();
}

/// One thread makes the barrier, for so many threads that arrive in each phase; before anything is
/// sent, synchronize_cluster() must follow, or __syncthreads() where that comes from no other
/// block.
__device__ inline void make_barrier(Barrier* barrier, unsigned arrivals = 1) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// The current phase is complete when `bytes` bytes have arrived in it. One thread calls it once a
/// phase, before or after the arrival of the first of them.
__device__ inline void expect(Barrier* barrier, unsigned bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

/// One of the threads without whom the phase is not complete arrives, and expects nothing.
__device__ inline void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Waits until a phase is complete: phases have parity 0, 1, 0, 1, ... What is waited for comes
/// into this block's own shared memory, so the scope is the block: that of the cluster would
/// invalidate the cache of global memory every time.
__device__ inline void await(const Barrier* barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred done;\n"
        "  mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        "  selp.u32 %0, 1, 0, done; }"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

/// Some numbers, as they are sent.
template <class T>
struct alignas(sizeof(int4)) Chunk {
  static constexpr int kElements = sizeof(int4) / sizeof(T);
  T element[kElements];
};

/// Stores 16 bytes at the place in block `to` that has the address `at` here; they count in that
/// block's `barrier`.
__device__ inline void send(int to, void* at, Barrier* barrier, int4 value) {
  unsigned remote_at, remote_barrier;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote_at) : "r"(shared_address(at)), "r"(to));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(remote_barrier)
      : "r"(shared_address(barrier)), "r"(to));
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(remote_at),
      "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(remote_barrier)
      : "memory");
}

}  // namespace overlapack::cuda
