// cuBLAS for all queues of a device.
#pragma once

#include <cublas_v2.h>

#include <cstddef>
#include <mutex>

namespace overlapack::cuda {

/// One handle, since each takes some 70 MB of device memory and milliseconds to make.
/// Thread-safe. It is made at the first use: queues that only copy need none.
class SharedBlas {
 public:
  SharedBlas() = default;
  SharedBlas(const SharedBlas&) = delete;
  /// On the current device, which must be the handle's. Nobody uses it any more.
  void close() noexcept;

  /// The handle for one call of cuBLAS, which goes to that stream. Other threads wait meanwhile.
  class Lease {
   public:
    operator cublasHandle_t() const { return handle_; }

   private:
    friend class SharedBlas;
    Lease(std::mutex& mutex) : lock_(mutex) {}
    std::unique_lock<std::mutex> lock_;
    cublasHandle_t handle_ = nullptr;
  };
  /// `workspace`: device memory that no other stream uses.
  Lease lease(cudaStream_t stream, void* workspace, std::size_t bytes);

 private:
  std::mutex mutex_;
  cublasHandle_t handle_ = nullptr;
  cudaStream_t stream_ = nullptr;  // that of the last lease, and its workspace
  void* workspace_ = nullptr;
};

}  // namespace overlapack::cuda
