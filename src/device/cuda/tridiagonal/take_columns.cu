// Columns in another order: a thread block for each of them.
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/tridiagonal/merge.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
__device__ void take_column(const T* from, Index rows, int step, T* to) {
  for (Index i = threadIdx.x; i < rows; i += kThreads) {
    to[step * i] = from[i];
    if (step == 2) to[2 * i + 1] = 0;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    take_columns_kernel(const T* from, Index from_ld, Index rows, const Index* columns, T* to,
                        Index to_ld, int step) {
  const Index j = blockIdx.x;
  take_column(from + columns[j] * from_ld, rows, step, to + j * to_ld);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    take_columns_of_merges_kernel(const Index* parts, const T* from, Index from_ld,
                                  const Index* columns, T* to, Index to_ld) {
  const Merge merge(parts);
  const Index j = merge.first + blockIdx.x;
  if (j >= merge.last) return;
  take_column(from + merge.first + columns[j] * from_ld, merge.size(), 1,
              to + merge.first + j * to_ld);
}

template <class T>
void enqueue(CudaQueue& queue, const TakeColumns<T>& op) {
  if (op.parts.empty()) {
    LaunchShape shape;
    shape.blocks = static_cast<unsigned>(op.to.cols);
    shape.threads = kThreads;
    launch_kernel(queue.stream(), shape, op.kName, take_columns_kernel<T>, op.from.data, op.from.ld,
                  op.from.rows, op.columns.data, op.to.data, op.to.ld, static_cast<int>(op.step));
    return;
  }
  launch_kernel(queue.stream(), shape_of_merges(op.longest, op.parts.cols, 1, kThreads), op.kName,
                take_columns_of_merges_kernel<T>, op.parts.data, op.from.data, op.from.ld,
                op.columns.data, op.to.data, op.to.ld);
}

}  // namespace

OVERLAPACK_LAUNCH(TakeColumns<float>)
OVERLAPACK_LAUNCH(TakeColumns<double>)

}  // namespace overlapack::cuda
