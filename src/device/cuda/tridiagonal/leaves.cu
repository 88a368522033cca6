// The eigenproblems of the leaves: a warp for each of them.
//
// Every lane does the QL iteration by itself, and all of them get the same numbers. A lane keeps
// one row of Q, which it rotates. So no lane waits for another one. What bounds the speed is the
// chain of a rotation: a root and two quotients.
#include "cpu/tridiagonal.hpp"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr Index kMaxOrder = Limits{}.leaf_order;
static_assert(kMaxOrder == kWarp, "a lane has one row");

template <class T>
__global__ void __launch_bounds__(kWarp)
    diagonalize_leaves_kernel(const Index* starts, T* d, const T* e, T* q, Index ld,
                              Index* failed) {
  const Index row = threadIdx.x, first = starts[blockIdx.x], n = starts[blockIdx.x + 1] - first;
  T values[kMaxOrder], beside[kMaxOrder], mine[kMaxOrder];
  for (Index j = 0; j < n; ++j) {
    values[j] = d[first + j];
    beside[j] = j + 1 < n ? e[first + j] : T(0);
    mine[j] = T(j == row ? 1 : 0);
  }
  __syncwarp();  // all have read d
  const bool converged = tridiagonal::iterate_ql(n, values, beside, [&](Index j, T c, T s) {
    const T x = mine[j], y = mine[j + 1];
    mine[j] = c * x - s * y;
    mine[j + 1] = s * x + c * y;
  });
  if (row < n) {
    d[first + row] = values[row];
    for (Index j = 0; j < n; ++j) q[first + row + (first + j) * ld] = mine[j];
  }
  if (row == 0 && !converged) *failed = 1;
}

template <class T>
void enqueue(CudaQueue& queue, const DiagonalizeLeaves<T>& op) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(op.count());
  shape.threads = kWarp;
  launch_kernel(queue.stream(), shape, op.kName, diagonalize_leaves_kernel<T>, op.starts.data,
                op.d.data, op.e.data, op.q.data, op.q.ld, op.failed.data);
}

}  // namespace

OVERLAPACK_LAUNCH(DiagonalizeLeaves<float>)
OVERLAPACK_LAUNCH(DiagonalizeLeaves<double>)

}  // namespace overlapack::cuda
