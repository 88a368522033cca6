// Whether code for Hopper alone runs here.
#include "device/cuda/runtime/gpu.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

/// Whether this machine code is Hopper's: what a build for compute capability 90 without the a has
/// instead runs there, too, but its kernels are empty.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
__device__ const int for_hopper = 1;
#else
__device__ const int for_hopper = 0;
#endif

}  // namespace

bool has_hopper_code() {
  const char* const what = "reading the GPU's data";
  int result = 0;
  cudaStream_t stream = nullptr;  // the default one may be one that the application captures
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), what);
  cudaError_t status = cudaMemcpyFromSymbolAsync(&result, for_hopper, sizeof result, 0,
                                                 cudaMemcpyDeviceToHost, stream);
  if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  ignore(cudaStreamDestroy(stream));
  check(status, what);
  return result != 0;
}

}  // namespace overlapack::cuda
