// Launching a kernel with its errors reported as DeviceError, and the shape of a warp.
#pragma once

#include <cuda_runtime.h>

#include "device/cuda/check.hpp"

namespace overlapack::cuda {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;

struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 1;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
  bool cooperative = false;      ///< all blocks are resident at the same time
  unsigned cluster = 1;          ///< so many blocks reach each other's shared memory
};

/// What a kernel may have without asking for it.
constexpr std::size_t kSharedWithoutAsking = 48 * 1024;
constexpr unsigned kClusterWithoutAsking = 8;

/// A launch as the runtime wants it.
class Launch {
 public:
  Launch(cudaStream_t stream, const LaunchShape& shape) {
    config_.gridDim = dim3(shape.blocks);
    config_.blockDim = dim3(shape.threads);
    config_.dynamicSmemBytes = shape.shared_bytes;
    config_.stream = stream;
    config_.attrs = attributes_;
    if (shape.cooperative) {
      cudaLaunchAttribute& attribute = attributes_[config_.numAttrs++];
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    }
    if (shape.cluster > 1) {
      cudaLaunchAttribute& attribute = attributes_[config_.numAttrs++];
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {shape.cluster, 1, 1};
    }
  }
  Launch(const Launch&) = delete;

  const cudaLaunchConfig_t& config() const { return config_; }

 private:
  cudaLaunchConfig_t config_ = {};
  cudaLaunchAttribute attributes_[2] = {};
};

/// Asks for what the kernel needs for launches of this shape.
template <class... Parameters>
cudaError_t ask_for(const LaunchShape& shape, void (*kernel)(Parameters...)) {
  cudaError_t status = cudaSuccess;
  if (shape.shared_bytes > kSharedWithoutAsking) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shape.shared_bytes));
  }
  if (shape.cluster > kClusterWithoutAsking && status == cudaSuccess) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  return status;
}

/// kernel<<<...>>>(arguments...).
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, const LaunchShape& shape, const char* what,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  check(ask_for(shape, kernel), what);
  check(cudaLaunchKernelEx(&Launch(stream, shape).config(), kernel, arguments...), what);
}

}  // namespace overlapack::cuda
