// Which code of the plug-in runs here: for Hopper alone, for all GPUs, or none.
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

/// What CUDA says where the plug-in has neither machine code for a GPU, nor PTX that the driver can
/// compile.
bool is_lack_of_code(cudaError_t status) {
  return status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidKernelImage ||
         status == cudaErrorInvalidDeviceFunction || status == cudaErrorInvalidSymbol ||
         status == cudaErrorSymbolNotFound || status == cudaErrorInvalidPtx ||
         status == cudaErrorUnsupportedPtxVersion || status == cudaErrorJitCompilerNotFound ||
         status == cudaErrorJitCompilationDisabled;
}

}  // namespace

Code find_code(std::string& reason) {
  const char* const what = "reading the GPU's data";
  int result = 0;
  cudaStream_t stream = nullptr;  // the default one may be one that the application captures
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), what);
  cudaError_t status = cudaMemcpyFromSymbolAsync(&result, for_hopper, sizeof result, 0,
                                                 cudaMemcpyDeviceToHost, stream);
  if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  ignore(status);
  ignore(cudaStreamDestroy(stream));
  if (is_lack_of_code(status)) {
    reason = cudaGetErrorString(status);
    return Code::none;
  }
  check(status, what);
  return result != 0 ? Code::hopper : Code::common;
}

}  // namespace overlapack::cuda
