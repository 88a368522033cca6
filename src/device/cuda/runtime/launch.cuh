// Launching a kernel with its errors reported as DeviceError, and the shape of a warp.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <utility>

#include "device/cuda/runtime/check.hpp"
#include "device/cuda/runtime/gpu.hpp"

namespace overlapack::cuda {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;

struct LaunchShape {
  unsigned blocks = 1;
  unsigned blocks_y = 1;  ///< rows of so many blocks
  unsigned threads = 1;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
  bool cooperative = false;      ///< all blocks are resident at the same time
  unsigned cluster = 1;          ///< so many blocks reach each other's shared memory
  cudaEvent_t begun = nullptr;   ///< recorded when all blocks are running
  /// Blocks may begin before what is in front of the kernel in its queue has ended, where the GPU
  /// can do that (Hopper and later). They must call wait_for_queue().
  bool early = false;
};

/// Waits for what is in front of the kernel in its queue: before that nothing may touch what others
/// have written or read.
__device__ inline void wait_for_queue() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// So many threads of a block, whole warps, wait for each other, as all do in __syncthreads(). They
/// have one of the barriers 1 to 15 to themselves.
__device__ inline void synchronize_some(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// One warp arrives there, and does not wait.
__device__ inline void arrive_at(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// What a kernel may have without asking for it. It may have 48 KB of shared memory in all, but the
/// size of a launch is only what comes on top of its own.
constexpr std::size_t kSharedWithoutAsking = 16 * 1024;
constexpr unsigned kClusterWithoutAsking = 8;
/// The shared memory of such a kernel.
template <class Memory>
constexpr std::size_t shared_by_all() {
  static_assert(sizeof(Memory) <= kSharedByAll);
  return sizeof(Memory);
}
/// The oldest code with clusters and early launches, as cudaFuncAttributes has it.
constexpr int kHopperCode = 90;

/// A launch as the runtime wants it.
class Launch {
 public:
  Launch(cudaStream_t stream, const LaunchShape& shape) {
    config_.gridDim = dim3(shape.blocks, shape.blocks_y);
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
    if (shape.early) {
      cudaLaunchAttribute& attribute = attributes_[config_.numAttrs++];
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    if (shape.begun != nullptr) {
      cudaLaunchAttribute& attribute = attributes_[config_.numAttrs++];
      attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
      attribute.val.launchCompletionEvent = {shape.begun, 0};
    }
  }
  Launch(const Launch&) = delete;

  const cudaLaunchConfig_t& config() const { return config_; }

 private:
  cudaLaunchConfig_t config_ = {};
  cudaLaunchAttribute attributes_[4] = {};
};

/// What each kernel has asked for on each device: asking costs more than a launch does otherwise.
struct Asked {
  struct Limits {
    std::size_t shared_bytes = kSharedWithoutAsking;
    unsigned cluster = kClusterWithoutAsking;
    int code = 0;  // code_of() once it is known
  };
  std::mutex mutex;
  std::map<std::pair<int, const void*>, Limits> limits;  // by device and kernel

  static Asked& instance() {
    static Asked& asked = *new Asked;  // never destroyed
    return asked;
  }
};

/// Asks for what the kernel needs for launches of this shape, if it does not have it yet.
template <class... Parameters>
cudaError_t ask_for(const LaunchShape& shape, void (*kernel)(Parameters...)) {
  if (shape.shared_bytes <= kSharedWithoutAsking && shape.cluster <= kClusterWithoutAsking) {
    return cudaSuccess;
  }
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  const std::lock_guard<std::mutex> lock(Asked::instance().mutex);
  Asked::Limits& limits = Asked::instance().limits[{device, reinterpret_cast<const void*>(kernel)}];
  if (shape.shared_bytes > limits.shared_bytes && status == cudaSuccess) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shape.shared_bytes));
    if (status == cudaSuccess) limits.shared_bytes = shape.shared_bytes;
  }
  if (shape.cluster > limits.cluster && status == cudaSuccess) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (status == cudaSuccess) limits.cluster = shape.cluster;
  }
  return status;
}

/// What the kernel's code for the current device has been compiled for, or -1.
template <class... Parameters>
int code_of(void (*kernel)(Parameters...)) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  const std::lock_guard<std::mutex> lock(Asked::instance().mutex);
  int& code = Asked::instance().limits[{device, reinterpret_cast<const void*>(kernel)}].code;
  if (code == 0) {
    cudaFuncAttributes attributes = {};
    if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, kernel);
    ignore(status);
    code = status == cudaSuccess ? attributes.ptxVersion : -1;
  }
  return code;
}

/// Whether the driver can record LaunchShape::begun; since CUDA 12.3.
inline bool records_beginnings() {
  static const bool result = [] {
    constexpr int kMinDriverVersion = 12030;
    int version = 0;
    ignore(cudaDriverGetVersion(&version));
    return version >= kMinDriverVersion;
  }();
  return result;
}

/// kernel<<<...>>>(arguments...).
template <class... Parameters, class... Arguments>
void launch_kernel(cudaStream_t stream, LaunchShape shape, const char* what,
                   void (*kernel)(Parameters...), const Arguments&... arguments) {
  check(ask_for(shape, kernel), what);
  shape.early = shape.early && code_of(kernel) >= kHopperCode;
  if (shape.begun != nullptr && !records_beginnings()) {  // then a little too early
    check(cudaEventRecord(shape.begun, stream), what);
    shape.begun = nullptr;
  }
  check(cudaLaunchKernelEx(&Launch(stream, shape).config(), kernel, arguments...), what);
}

}  // namespace overlapack::cuda
