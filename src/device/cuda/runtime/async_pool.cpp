#include "device/cuda/runtime/async_pool.hpp"

#include <algorithm>

#include "device/cuda/runtime/check.hpp"
#include "device/cuda/runtime/contexts.hpp"

namespace overlapack::cuda {

AsyncPool::AsyncPool(int device) {
  const CurrentDevice current(device);
  const char* const what = "making a pool of device memory";
  int has_pools = 0;  // some virtual GPUs have none
  check(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device), what);
  if (has_pools == 0) return;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), what);
  const cudaError_t status = cudaMemPoolCreate(&pool_, &properties);
  if (status != cudaSuccess) ignore(cudaStreamDestroy(stream_));
  check(status, what);
}

AsyncPool::~AsyncPool() {
  if (pool_ == nullptr) return;
  ignore(cudaMemPoolDestroy(pool_));
  ignore(cudaStreamDestroy(stream_));
}

void* AsyncPool::allocate(std::size_t bytes, const char* what) {
  if (pool_ == nullptr) return allocate_directly(bytes, what);
  void* memory = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream_);
  if (status == cudaErrorMemoryAllocation) {
    // A pool grows by tens of megabytes at a time. There may be less, and enough.
    ignore(status);
    return allocate_directly(bytes, what);
  }
  check(status, what);
  check(cudaStreamSynchronize(stream_), what);  // other streams may use the memory now
  return memory;
}

void* AsyncPool::allocate_directly(std::size_t bytes, const char* what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  direct_.reserve(direct_.size() + 1);
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), what);
  direct_.push_back(memory);
  return memory;
}

void AsyncPool::free(void* memory) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto direct = std::find(direct_.begin(), direct_.end(), memory);
    if (direct != direct_.end()) {
      direct_.erase(direct);
      ignore(cudaFree(memory));
      return;
    }
  }
  ignore(cudaFreeAsync(memory, stream_));
}

void AsyncPool::trim() noexcept {
  if (pool_ == nullptr) return;
  ignore(cudaStreamSynchronize(stream_));  // memory counts as freed once that has been seen
  ignore(cudaMemPoolTrimTo(pool_, 0));
}

}  // namespace overlapack::cuda
