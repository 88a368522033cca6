// What racecheck makes of gates: the smallest kernels that hand shared memory from warp to warp as
// our kernels do, and one that forgets to.
//
//   gates          names the kernels
//   gates KERNEL   runs one
//
// scripts/gpu-check runs each under racecheck. It must report `race`, and none of the others.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/ptx/gate.cuh"

namespace {

using overlapack::cuda::finish_copies;
using overlapack::cuda::Gate;
using overlapack::cuda::start_copy;

constexpr int kWarp = 32, kWarps = 4, kRounds = 3;

/// A thread's place.
struct Place {
  int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
};

/// One warp writes, the other waits and reads.
__global__ void handed_over(int* out) {
  __shared__ Gate gate;
  __shared__ int numbers[kWarp];
  const Place my;
  if (threadIdx.x == 0) gate.expect(1);
  __syncthreads();
  if (my.warp == 0) {
    numbers[my.lane] = my.lane;
    gate.arrive();
  } else {
    gate.wait();
    out[my.lane] = numbers[kWarp - 1 - my.lane];
  }
}

/// The same gate again, by its parity.
__global__ void used_again(int* out) {
  __shared__ Gate gate;
  __shared__ int numbers[kWarp];
  const Place my;
  if (threadIdx.x == 0) gate.expect(1);
  __syncthreads();
  for (unsigned round = 0; round < kRounds; ++round) {
    if (my.warp == 0) {
      numbers[my.lane] = my.lane;
      gate.arrive();
    } else {
      gate.wait(round % 2);
      out[my.lane] = numbers[kWarp - 1 - my.lane];
    }
    __syncthreads();
  }
}

/// What has been read is written over.
__global__ void read_before(int* out) {
  __shared__ Gate gate;
  __shared__ int numbers[kWarp];
  const Place my;
  if (threadIdx.x == 0) gate.expect(1);
  if (my.warp == 0) numbers[my.lane] = my.lane;
  __syncthreads();
  if (my.warp == 1) {
    out[my.lane] = numbers[kWarp - 1 - my.lane];
    gate.arrive();
  } else {
    gate.wait();
    numbers[my.lane] = -1;
  }
}

/// Each warp needs what all before it have written, as the warps that solve for U do. Either one
/// thread makes all gates, or each gate is made by a thread of its own.
template <bool kOneThread>
__global__ void chain(int* out) {
  __shared__ Gate gates[kWarps];
  __shared__ int numbers[kWarps][kWarp];
  const Place my;
  for (int k = 0; k < kWarps; ++k) {
    if (static_cast<int>(threadIdx.x) == (kOneThread ? 0 : k)) gates[k].expect(1);
  }
  __syncthreads();
  for (unsigned round = 0; round < kRounds; ++round) {
    int sum = my.lane;
    for (int k = 0; k < my.warp; ++k) {
      gates[k].wait(round % 2);
      sum += numbers[k][kWarp - 1 - my.lane];
    }
    numbers[my.warp][my.lane] = sum;
    gates[my.warp].arrive();
    out[threadIdx.x] = sum;
    __syncthreads();
  }
}

/// Copies that arrive at the gate by themselves.
__global__ void copies(int* out) {
  __shared__ Gate gate;
  __shared__ int numbers[kWarp];
  const Place my;
  if (threadIdx.x == 0) gate.expect(1);
  __syncthreads();
  if (my.warp == 0) {
    start_copy(&numbers[my.lane], &out[kWarp + my.lane]);
    gate.arrive_with_copies();
  } else {
    gate.wait();
    out[my.lane] = numbers[kWarp - 1 - my.lane];
  }
}

/// Copies, and a meeting of all.
__global__ void copies_and_meeting(int* out) {
  __shared__ int numbers[kWarp];
  const Place my;
  if (my.warp == 0) {
    start_copy(&numbers[my.lane], &out[kWarp + my.lane]);
    finish_copies();
  }
  __syncthreads();
  if (my.warp == 1) out[my.lane] = numbers[kWarp - 1 - my.lane];
}

/// Nobody waits.
__global__ void race(int* out) {
  __shared__ int numbers[kWarp];
  const Place my;
  if (my.warp == 0) numbers[my.lane] = my.lane;
  if (my.warp == 1) out[my.lane] = numbers[kWarp - 1 - my.lane];
}

struct Named {
  const char* name;
  void (*kernel)(int*);
  int warps;
};
constexpr Named kKernels[] = {{"handed_over", handed_over, 2},
                              {"used_again", used_again, 2},
                              {"read_before", read_before, 2},
                              {"chain_by_one", chain<true>, kWarps},
                              {"chain_by_each", chain<false>, kWarps},
                              {"copies", copies, 2},
                              {"copies_and_meeting", copies_and_meeting, 2},
                              {"race", race, 2}};

int run(const Named& named) {
  int* memory = nullptr;
  cudaError_t status = cudaMalloc(&memory, sizeof(int) * kWarps * kWarp);
  if (status == cudaSuccess) status = cudaMemset(memory, 0, sizeof(int) * kWarps * kWarp);
  if (status == cudaSuccess) {
    named.kernel<<<1, named.warps * kWarp>>>(memory);
    status = cudaDeviceSynchronize();
  }
  if (status != cudaSuccess) std::fprintf(stderr, "gates: %s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Named& named : kKernels) {
    if (argc < 2) std::puts(named.name);
    if (argc >= 2 && std::strcmp(argv[1], named.name) == 0) return run(named);
  }
  return argc < 2 ? 0 : 2;
}
