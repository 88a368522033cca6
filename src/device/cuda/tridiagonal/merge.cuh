// A merge of the divide-and-conquer method, as its kernels see it: thread blocks of row blockIdx.y
// of a launch do merge blockIdx.y.
#pragma once

#include "device/cuda/runtime/launch.cuh"
#include "device/tridiagonal.hpp"

namespace overlapack::cuda {

/// Its parts are the rows `first` to `middle` - 1 and `middle` to `last` - 1.
struct Merge {
  Index first, middle, last;

  __device__ explicit Merge(const Index* parts)
      : first(parts[kPartsOfMerge * blockIdx.y]),
        middle(parts[kPartsOfMerge * blockIdx.y + 1]),
        last(parts[kPartsOfMerge * blockIdx.y + 2]) {}
  __device__ Index size() const { return last - first; }
};

/// The poles that remain of it.
__device__ inline Index poles_of_merge(const Index* counts) {
  const Index* const mine = counts + kCountsOfMerge * blockIdx.y;
  return mine[0] + mine[1] + mine[2];
}

/// Thread blocks for all merges of so many rows at most, each of which does `of_block` of them.
inline LaunchShape shape_of_merges(Index longest, Index merges, Index of_block, unsigned threads) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(longest, of_block));
  shape.blocks_y = static_cast<unsigned>(merges);
  shape.threads = threads;
  return shape;
}

}  // namespace overlapack::cuda
