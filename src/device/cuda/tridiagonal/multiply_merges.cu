// The products of all merges of a level, if they are small: a thread block for each tile of 32 x 32
// numbers of the results. A thread has four of them, in one row. Zeros in eigenvectors of the parts
// are multiplied like the rest.
//
// What bounds the speed is shared memory, which each multiply-add reads. Large merges have cuBLAS.
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/tridiagonal/merge.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kTile = kWarp, kGroups = 8, kColumnsOfThread = kTile / kGroups;

template <class T>
__global__ void __launch_bounds__(kTile* kGroups)
    multiply_merges_kernel(const Index* parts, const Index* counts, int tiles, const T* grouped,
                           Index grouped_ld, const T* s, Index s_ld, T* q, Index q_ld) {
  __shared__ T a[kTile][kTile + 1], b[kTile][kTile + 1];  // by summand and row; column and summand
  const Merge merge(parts);
  const Index size = merge.size(), k = poles_of_merge(counts);
  const Index top = static_cast<Index>(blockIdx.x) % tiles * kTile;
  const Index left = static_cast<Index>(blockIdx.x) / tiles * kTile;
  if (top >= size || left >= size) return;
  const int lane = static_cast<int>(threadIdx.x) % kTile,
            group = static_cast<int>(threadIdx.x) / kTile;
  grouped += merge.first + merge.first * grouped_ld;
  s += merge.first + merge.first * s_ld;
  q += merge.first + merge.first * q_ld;

  const Index row = top + lane;
  const Index summands = left < k ? k : 0;
  T sums[kColumnsOfThread] = {};
  for (Index base = 0; base < summands; base += kTile) {
    for (int u = 0; u < kColumnsOfThread; ++u) {
      const int line = group + kGroups * u;
      const bool in_a = row < size && base + line < k, in_b = base + lane < k && left + line < k;
      a[line][lane] = in_a ? grouped[row + (base + line) * grouped_ld] : T(0);
      b[line][lane] = in_b ? s[base + lane + (left + line) * s_ld] : T(0);
    }
    __syncthreads();
    for (int l = 0; l < kTile; ++l) {
      for (int u = 0; u < kColumnsOfThread; ++u) sums[u] += a[l][lane] * b[group + kGroups * u][l];
    }
    __syncthreads();
  }
  for (int u = 0; u < kColumnsOfThread; ++u) {
    const Index column = left + group + kGroups * u;
    if (row >= size || column >= size) continue;
    q[row + column * q_ld] = column < k ? sums[u] : grouped[row + column * grouped_ld];
  }
}

template <class T>
void enqueue(CudaQueue& queue, const MultiplyMerges<T>& op) {
  const Index tiles = quotient_up(op.longest, kTile);
  launch_kernel(queue.stream(), shape_of_merges(tiles * tiles, op.parts.cols, 1, kTile * kGroups),
                op.kName, multiply_merges_kernel<T>, op.parts.data, op.counts.data,
                static_cast<int>(tiles), op.grouped.data, op.grouped.ld, op.s.data, op.s.ld,
                op.q.data, op.q.ld);
}

}  // namespace

OVERLAPACK_LAUNCH(MultiplyMerges<float>)
OVERLAPACK_LAUNCH(MultiplyMerges<double>)

}  // namespace overlapack::cuda
