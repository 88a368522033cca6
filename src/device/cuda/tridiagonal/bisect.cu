// Bisection: a thread for each eigenvalue. All of a warp read the same row of the matrix at a time.
// What bounds the speed is a chain of quotients, one for each row and step.
#include "cpu/tridiagonal.hpp"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 64;

template <class T>
__global__ void __launch_bounds__(kThreads)
    bisect_kernel(Index n, const T* __restrict__ d, const T* __restrict__ squares, T low, T high,
                  Index first, Index count, T* values) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) values[i] = tridiagonal::bisect(n, d, squares, low, high, first + i);
}

template <class T>
void enqueue(CudaQueue& queue, const Bisect<T>& op) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(op.values.rows, kThreads));
  shape.threads = kThreads;
  launch_kernel(queue.stream(), shape, op.kName, bisect_kernel<T>, op.d.rows, op.d.data,
                op.squares.data, op.low, op.high, op.first, op.values.rows, op.values.data);
}

}  // namespace

OVERLAPACK_LAUNCH(Bisect<float>)
OVERLAPACK_LAUNCH(Bisect<double>)

}  // namespace overlapack::cuda
