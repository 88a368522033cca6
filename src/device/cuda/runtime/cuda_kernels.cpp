#include "device/cuda/runtime/cuda_kernels.hpp"

#include "device/cuda/panels/panels.hpp"

namespace overlapack::cuda {
namespace {

template <class T>
Limits limits_of(const Gpu& gpu) {
  Limits limits;
  limits.potrf_panel_width = potrf_panel_width<T>();
  limits.potrf_notes = potrf_notes<T>();
  limits.getrf_panel_width = 128;
  limits.sytrd_panel_width = sytrd_panel_width<T>();
  limits.chase_bandwidth = kChaseBandwidth;
  limits.bulge_group = kBulgeGroup;
  limits.update_panel_width = UpdateScratch::kOrder;
  limits.permutable_rows = permutable_rows<T>(gpu.shared_bytes);
  limits.small_merge_rows = 256;
  return limits;
}

}  // namespace

template <class T>
CudaKernels<T>::CudaKernels(Device& device, const Gpu& gpu, const CudaFormats<T>& formats)
    : Kernels<T>(device, limits_of<T>(gpu), formats.view()), gpu_(gpu) {}

template <class T>
bool CudaKernels<T>::has_lu_step(Index rows, Index order, Index columns) const {
  const int cluster = lu_step_cluster<T>(rows, order, columns, gpu_.shared_bytes);
  return cluster != 0 && cluster <= cluster_limit();
}

template <class T>
Index CudaKernels<T>::geqrf_panel_width(Index rows) const {
  const Index width = geqrf_cluster_width<T>(rows, cluster_limit());
  return width > 0 ? width : geqrf_tall_width<T>();
}

template <class T>
Index CudaKernels<T>::sytrd_work(Index n) const {
  return cuda::sytrd_work<T>(n, gpu_.multiprocessors);
}

template <class T>
int CudaKernels<T>::cluster_limit() const {
  if (cluster_limit_ < 0) {
    const CurrentDevice current(gpu_.index);
    cluster_limit_ = getrf_cluster_limit();
  }
  return cluster_limit_;
}

#define OVERLAPACK_INSTANTIATE(T) template class CudaKernels<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
