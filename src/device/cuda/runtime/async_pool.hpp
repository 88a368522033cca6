// Device memory that can be given back while the device works (record 0088).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>
#include <vector>

namespace overlapack::cuda {

/// Memory of one device, from a pool of our own in CUDA's stream-ordered allocator. cudaFree waits
/// for all work on the device, the program's too, and holds up threads that launch more. What comes
/// from a pool is unmapped without that. Thread-safe; its device must be current in each call.
class AsyncPool {
 public:
  explicit AsyncPool(int device);
  ~AsyncPool();
  AsyncPool(const AsyncPool&) = delete;

  /// For use in any stream. `what`: for the message if there is not enough.
  void* allocate(std::size_t bytes, const char* what);
  /// Nobody uses the memory any more, the device's queues included.
  void free(void* memory) noexcept;
  /// What has been freed leaves the process.
  void trim() noexcept;

 private:
  void* allocate_directly(std::size_t bytes, const char* what);

  cudaMemPool_t pool_ = nullptr;   // null if the device has no pools
  cudaStream_t stream_ = nullptr;  // in which the memory is allocated and freed
  std::mutex mutex_;               // guards what follows
  std::vector<void*> direct_;      // what did not come from the pool
};

/// Memory from a pool for as long as this lives.
class PooledMemory {
 public:
  PooledMemory(AsyncPool& pool, std::size_t bytes, const char* what)
      : pool_(pool), memory_(pool.allocate(bytes, what)) {}
  ~PooledMemory() { pool_.free(memory_); }
  PooledMemory(const PooledMemory&) = delete;

  void* get() const { return memory_; }

 private:
  AsyncPool& pool_;
  void* const memory_;
};

}  // namespace overlapack::cuda
