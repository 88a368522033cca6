// Whether code for Hopper alone runs here.
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"

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
  int result = 0;
  check(cudaMemcpyFromSymbol(&result, for_hopper, sizeof result), "reading the GPU's data");
  return result != 0;
}

}  // namespace overlapack::cuda
