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
};

/// A kernel that uses more dynamic shared memory has to say so.
constexpr std::size_t kSharedWithoutAsking = 48 * 1024;

/// kernel<<<...>>>(arguments...).
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, const LaunchShape& shape, const char* what,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = shape.cooperative ? 1 : 0;
  if (shape.shared_bytes > kSharedWithoutAsking) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)),
          what);
  }
  check(cudaLaunchKernelEx(&config, kernel, arguments...), what);
}

}  // namespace overlapack::cuda
