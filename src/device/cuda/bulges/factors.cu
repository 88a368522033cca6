// The triangles T of all blocks of reflectors: a thread block for each of them, or several.
//
// Column j of T is -tau T z above the diagonal, where z has the products of vectors before column j
// with vector j. These are found first, a thread for each. Then one warp makes column after column,
// a lane for each row. There are so many blocks that no chain counts.
#include <algorithm>

#include "device/cuda/bulges/blocks.cuh"
#include "device/cuda/bulges/bulges.hpp"
#include "device/cuda/panels/householder.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kGroup = static_cast<int>(kBulgeGroup);
constexpr int kRows = static_cast<int>(kChaseBandwidth) + kGroup - 1;  // of a block
static_assert(kGroup <= kWarp, "a lane has a row of T");

template <class T>
struct Memory {
  T v[kGroup][kRows + kRows % 2 + 1];  // by columns, in different banks
  T products[kGroup][kGroup + 1];      // [j][i]: of vectors i and j
  T t[kGroup][kGroup + 1];             // [j][i]: element (i, j)
};

template <class T>
__device__ void load_vectors(const ReflectorBlock<T>& block, Memory<T>& memory) {
  for (int e = static_cast<int>(threadIdx.x); e < kGroup * kRows; e += kThreads) {
    const int i = e % kRows, j = e / kRows;
    if (block.has(i, j)) start_copy(&memory.v[j][i], block.at(i, j));
  }
  finish_copies();
}

/// v_i^H v_j, whose rows in common are j to the last one of v_i.
template <class T>
__device__ void multiply_vectors(const ReflectorBlock<T>& block, Memory<T>& memory) {
  for (int e = static_cast<int>(threadIdx.x); e < kGroup * kGroup; e += kThreads) {
    const int i = e % kGroup, j = e / kGroup;
    if (i >= j || j >= block.columns) continue;
    const int last = min(i + block.width, block.rows);
    T sum = from_real<T>(0);
    for (int r = j; r < last; ++r) sum = add_conjugated(sum, memory.v[j][r], memory.v[i][r]);
    memory.products[j][i] = sum;
  }
}

/// By one warp.
template <class T>
__device__ void make_triangle(const ReflectorBlock<T>& block, Memory<T>& memory) {
  const int i = lane_of_warp();
  for (int j = 0; j < block.columns; ++j) {
    const T tau = *block.factor_at(j, j);
    if (i < j) {
      T sum = from_real<T>(0);
#pragma unroll 4
      for (int l = i; l < j; ++l) sum = add_product(sum, memory.t[l][i], memory.products[j][l]);
      sum = negate(product(tau, sum));
      memory.t[j][i] = sum;
      *block.factor_at(i, j) = sum;
    } else if (i == j) {
      memory.t[j][i] = tau;
    }
    __syncwarp();
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    bulge_factors_kernel(Index n, int width, int group, T* v, Index ld) {
  extern __shared__ __align__(16) char raw_memory[];
  Memory<T>& memory = *reinterpret_cast<Memory<T>*>(raw_memory);
  const Index sweep = static_cast<Index>(blockIdx.x) * group;
  const Index blocks = blocks_of_group(n, width, sweep);
  for (Index k = blockIdx.y; k < blocks; k += gridDim.y) {
    const ReflectorBlock<T> block(v, ld, n, width, group, sweep, k);
    load_vectors(block, memory);
    __syncthreads();
    multiply_vectors(block, memory);
    __syncthreads();
    if (warp_of_block() == 0) make_triangle(block, memory);
    __syncthreads();
  }
}

template <class T>
void enqueue(CudaQueue& queue, const BulgeFactors<T>& op) {
  using D = typename DeviceScalar<T>::type;
  constexpr Index kMostRowsOfBlocks = 65535;
  const Index n = op.v.rows;
  if (n < 2) return;
  if (op.bandwidth > kChaseBandwidth || op.group > kBulgeGroup) {
    throw DeviceError("bulge_factors: the blocks are too large");
  }
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(n - 1, op.group));
  shape.blocks_y =
      static_cast<unsigned>(std::min(quotient_up(n - 1, op.bandwidth), kMostRowsOfBlocks));
  shape.threads = kThreads;
  shape.shared_bytes = shared_by_all<Memory<D>>();
  launch_kernel(queue.stream(), shape, op.kName, bulge_factors_kernel<D>, n,
                static_cast<int>(op.bandwidth), static_cast<int>(op.group), device_cast(op.v.data),
                op.v.ld);
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(BulgeFactors<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
