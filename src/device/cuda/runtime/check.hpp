// The one place where CUDA status codes become exceptions.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "core/error.hpp"

namespace overlapack::cuda {

/// Throws DeviceError, "<what>: <CUDA's own words>", unless `status` is success.
///
/// Only a failed allocation, and what a graph that somebody captures forbids, leave the device
/// usable. Nearly every other error is sticky (the context is corrupt, each later call fails too)
/// and the few that are not mean that the plug-in does not fit this machine: in both cases the rest
/// of the process is better served by the CPU. The runtime's record of the error is cleared,
/// because the application may read it as its own.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  const bool passes =
      status == cudaErrorMemoryAllocation ||
      (status >= cudaErrorStreamCaptureUnsupported && status <= cudaErrorStreamCaptureWrongThread);
  throw DeviceError(std::string(what) + ": " + cudaGetErrorString(status), !passes);
}

inline void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  cudaGetLastError();
  throw DeviceError(std::string(what) + ": " + cublasGetStatusString(status),
                    status != CUBLAS_STATUS_ALLOC_FAILED);
}

/// For clean-up that must not fail: drops the error, also from the runtime's record.
inline void ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) cudaGetLastError();
}

/// Device memory of its own, on the device that is current when it is made.
class DeviceMemory {
 public:
  /// `what`: for the message if there is not enough.
  DeviceMemory(std::size_t bytes, const char* what) { check(cudaMalloc(&memory_, bytes), what); }
  ~DeviceMemory() { ignore(cudaFree(memory_)); }
  DeviceMemory(const DeviceMemory&) = delete;

  void* at(std::size_t offset) const { return static_cast<char*>(memory_) + offset; }

 private:
  void* memory_ = nullptr;
};

}  // namespace overlapack::cuda
