// A triangle turned around the centre of its matrix, in place: what is given is read from one
// triangle and written to the other, so nobody writes what others read. Of the diagonal each
// exchange is one thread's.
#include <algorithm>

#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;
constexpr Index kMaxColumns = 32768;  // of the grid at a time

/// A thread has one row of some columns.
template <class T>
__global__ void __launch_bounds__(kThreads) turn_kernel(bool lower, Index n, T* a, Index ld) {
  const Index i = Index{blockIdx.x} * kThreads + threadIdx.x, last = n - 1;
  for (Index j = blockIdx.y; j < n; j += gridDim.y) {
    if (i < n && (lower ? i > j : i < j)) a[last - i + (last - j) * ld] = a[i + j * ld];
    if (i == j && j < last - j) {
      T &one = a[j + j * ld], &other = a[(last - j) * (ld + 1)];
      const T kept = one;
      one = other;
      other = kept;
    }
  }
}

template <class T>
void enqueue(CudaQueue& queue, const TurnTriangle<T>& op) {
  using D = typename DeviceScalar<T>::type;
  const Index n = op.a.rows;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(n, Index{kThreads}));
  shape.blocks_y = static_cast<unsigned>(std::min(n, kMaxColumns));
  shape.threads = kThreads;
  launch_kernel(queue.stream(), shape, op.kName, turn_kernel<D>, op.uplo == Uplo::lower, n,
                device_cast(op.a.data), op.a.ld);
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(TurnTriangle<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
