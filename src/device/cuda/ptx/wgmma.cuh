// Products by Hopper's tensor cores, which read their factors from shared memory (PTX ISA,
// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"). Four warps execute an
// instruction together.
#pragma once

#include <cstdint>

#include "device/cuda/ptx/gate.cuh"

namespace overlapack::cuda {

constexpr int kGroupThreads = 128;  // what executes a product
/// Rows of 128 bytes are permuted in groups of eight, which begin at multiples of this.
constexpr std::size_t kSwizzledBytes = 1024;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// Rows of 128 bytes, whose chunks of 16 bytes are permuted so that no two of eight rows meet in a
/// bank ("128-byte swizzling mode").
__device__ inline std::uint64_t descriptor(const void* rows) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t kEightRows = std::uint64_t{kSwizzledBytes >> 4} << 32;
  return (shared_address(rows) & 0x3ffff) >> 4 | std::uint64_t{1} << 16 | kEightRows | kSwizzle128;
}
/// What leads from a descriptor to that of the next 32 bytes of each row.
constexpr std::uint64_t kNext32Bytes = 32 >> 4;

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_of_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// How many registers each thread of a group may have from now on, by all of them.
template <int kRegisters>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// All threads of a group, which has that number, wait for each other.
__device__ inline void synchronize_group(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(kGroupThreads) : "memory");
}
#endif

}  // namespace overlapack::cuda
