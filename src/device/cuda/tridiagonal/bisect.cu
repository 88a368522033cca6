// Bisection by some lanes of a warp for each eigenvalue: they count at as many points of its
// interval at a time. All of a warp read the same row of the matrix at a time. What bounds the
// speed is a chain of quotients, one for each row and step. So there are the more lanes, and the
// fewer steps, the fewer eigenvalues there are.
#include "cpu/tridiagonal.hpp"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 64;
constexpr Index kMostThreads = 1 << 17;  // that have something to do at a time, or nearly so

template <class T>
__global__ void __launch_bounds__(kThreads)
    bisect_kernel(Index n, const T* __restrict__ d, const T* __restrict__ squares, T low, T high,
                  Index first, Index count, int lanes, T* values) {
  const Index number = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / lanes;
  if (number >= count) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int before = static_cast<int>(threadIdx.x) % kWarp - lane;  // lanes of other eigenvalues
  const unsigned ours = kAllLanes >> (kWarp - lanes) << before;
  while (!tridiagonal::are_close(low, high)) {
    const T point = low + (high - low) * (static_cast<T>(lane + 1) / static_cast<T>(lanes + 1));
    const bool is_above = tridiagonal::eigenvalues_below(n, d, squares, tridiagonal::kLeastPivot<T>,
                                                         point) > first + number;
    const unsigned above = (__ballot_sync(ours, is_above) & ours) >> before;
    const int at = above == 0 ? lanes : __ffs(static_cast<int>(above)) - 1;  // the first of them
    const T below_it = __shfl_sync(ours, point, before + (at > 0 ? at - 1 : 0));
    const T itself = __shfl_sync(ours, point, before + (at < lanes ? at : lanes - 1));
    if (at > 0) low = below_it;
    if (at < lanes) high = itself;
  }
  if (lane == 0) values[number] = low + (high - low) / 2;
}

template <class T>
void enqueue(CudaQueue& queue, const Bisect<T>& op) {
  int lanes = kWarp;
  while (lanes > 1 && op.values.rows * lanes > kMostThreads) lanes /= 2;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(op.values.rows * lanes, kThreads));
  shape.threads = kThreads;
  launch_kernel(queue.stream(), shape, op.kName, bisect_kernel<T>, op.d.rows, op.d.data,
                op.squares.data, op.low, op.high, op.first, op.values.rows, lanes, op.values.data);
}

}  // namespace

OVERLAPACK_LAUNCH(Bisect<float>)
OVERLAPACK_LAUNCH(Bisect<double>)

}  // namespace overlapack::cuda
