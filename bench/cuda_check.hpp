// Errors of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace overlapack::bench {

/// Throws std::runtime_error; where the driver is the reason, it says what to do.
inline void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::string text = std::string("CUDA: ") + cudaGetErrorString(status);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;  // 0: there is none
    cudaDriverGetVersion(&driver);
    text = driver == 0 ? "no NVIDIA driver is installed" : text + ": install a later driver";
  }
  throw std::runtime_error(text);
}

}  // namespace overlapack::bench
