// Reductions of a column-major device matrix along its columns or its rows, by any associative
// operator.
//
// A `Reduction` tells how elements of type T become results of type R:
//
//   R identity()          of the operator
//   R map(T x)            an element as an operand
//   R operator()(R, R)    the operator; it must be associative, and commutative
//
// Two stages, both in one kernel: every thread folds the elements that it reads, then the threads
// of a block fold their results in shared memory. Reads are whole lines of a column in either
// direction. The order is fixed by the shape, so results are reproducible.
#pragma once

#include <algorithm>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {

constexpr int kReduceThreads = 1024;

/// Folds the values of all threads that differ in their upper bits only: those of threads t,
/// t + stride, t + 2 stride and so on end up in thread t < stride. A power of two of threads.
template <class Reduction, class R>
__device__ R fold_block(const Reduction& reduce, R value, int stride) {
  __shared__ R values[kReduceThreads];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = value;
  for (int s = kReduceThreads / 2; s >= stride; s /= 2) {
    __syncthreads();
    if (t < s) values[t] = value = reduce(value, values[t + s]);
  }
  return value;
}

/// results[j] := the reduction of column j; one block for each column.
template <class Reduction, class T, class R>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_columns_kernel(Reduction reduce, Index rows, Index cols, const T* __restrict__ a,
                          Index ld, R* __restrict__ results) {
  for (Index j = blockIdx.x; j < cols; j += gridDim.x) {
    R value = reduce.identity();
#pragma unroll 4
    for (Index i = threadIdx.x; i < rows; i += kReduceThreads) {
      value = reduce(value, reduce.map(a[i + j * ld]));
    }
    value = fold_block(reduce, value, 1);
    if (threadIdx.x == 0) results[j] = value;
    __syncthreads();  // the shared values are read before the next column's replace them
  }
}

/// results[i] := the reduction of row i; one block for each kWarp rows, a lane for each row, and
/// each warp takes every 32nd column.
template <class Reduction, class T, class R>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_rows_kernel(Reduction reduce, Index rows, Index cols, const T* __restrict__ a, Index ld,
                       R* __restrict__ results) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index i = Index{blockIdx.x} * kWarp + lane;
  R value = reduce.identity();
  if (i < rows) {
#pragma unroll 8
    for (Index j = threadIdx.x / kWarp; j < cols; j += kReduceThreads / kWarp) {
      value = reduce(value, reduce.map(a[i + j * ld]));
    }
  }
  value = fold_block(reduce, value, kWarp);
  if (threadIdx.x < kWarp && i < rows) results[i] = value;
}

template <class Reduction, class T, class R>
void reduce_columns(cudaStream_t stream, const char* what, Reduction reduce, Index rows, Index cols,
                    const T* a, Index ld, R* results) {
  constexpr Index kMaxBlocks = 4096;  // enough to fill any GPU
  LaunchShape shape;
  shape.threads = kReduceThreads;
  shape.blocks = static_cast<unsigned>(std::min(cols, kMaxBlocks));
  launch(stream, shape, what, reduce_columns_kernel<Reduction, T, R>, reduce, rows, cols, a, ld,
         results);
}

template <class Reduction, class T, class R>
void reduce_rows(cudaStream_t stream, const char* what, Reduction reduce, Index rows, Index cols,
                 const T* a, Index ld, R* results) {
  LaunchShape shape;
  shape.threads = kReduceThreads;
  shape.blocks = static_cast<unsigned>((rows + kWarp - 1) / kWarp);
  launch(stream, shape, what, reduce_rows_kernel<Reduction, T, R>, reduce, rows, cols, a, ld,
         results);
}

}  // namespace overlapack::cuda
