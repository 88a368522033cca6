// Whether a matrix has an infinity or a NaN.
#include <algorithm>

#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

template <class D>
__global__ void find_not_finite_kernel(Part part, Index rows, Index cols, const D* a, Index ld,
                                       Index* found) {
  bool all_finite = true;
  for (Index j = blockIdx.x; j < cols; j += gridDim.x) {
    const Index first = part == Part::lower ? j : 0;
    const Index end = part == Part::upper ? min(j + 1, rows) : rows;
    for (Index i = first + static_cast<int>(threadIdx.x); i < end; i += blockDim.x) {
      // Times zero that is a NaN or zero.
      const DeviceReal<D> zero = abs1(scale(a[i + j * ld], DeviceReal<D>(0)));
      all_finite = all_finite && zero == 0;
    }
  }
  if (!all_finite) *found = 1;
}

template <class T>
void enqueue(CudaQueue& queue, const FindNotFinite<T>& op) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min<Index>(op.a.cols, 4096));
  shape.threads = 256;
  launch_kernel(queue.stream(), shape, op.kName,
                find_not_finite_kernel<typename DeviceScalar<T>::type>, op.part, op.a.rows,
                op.a.cols, device_cast(op.a.data), op.a.ld, op.found.data);
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(FindNotFinite<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
