// cuBLAS for all queues of a device.
#pragma once

#include <cublas_v2.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace overlapack::cuda {

/// As many handles of cuBLAS as threads have called it at the same time: each takes some 70 MB of
/// device memory, and milliseconds to make. To destroy one waits for the device, so all stay.
/// Thread-safe. The device must be current in each call.
class BlasHandles {
 public:
  BlasHandles() = default;
  BlasHandles(const BlasHandles&) = delete;
  /// Destroys all. Nobody uses them any more.
  void close() noexcept;

 private:
  struct Handle {
    Handle();
    ~Handle();
    void use(cudaStream_t stream, void* workspace, std::size_t bytes);

    cublasHandle_t handle = nullptr;
    cudaStream_t stream = nullptr;  // that it has, and its workspace
    void* workspace = nullptr;
  };

 public:
  /// The handle for one call of cuBLAS.
  class Lease {
   public:
    Lease(BlasHandles& handles, std::unique_ptr<Handle> handle)
        : handles_(handles), handle_(std::move(handle)) {}
    ~Lease() { handles_.give_back(std::move(handle_)); }
    Lease(const Lease&) = delete;
    operator cublasHandle_t() const { return handle_->handle; }

   private:
    BlasHandles& handles_;
    std::unique_ptr<Handle> handle_;
  };
  /// The call goes to that stream. `workspace`: device memory that no other stream uses.
  Lease lease(cudaStream_t stream, void* workspace, std::size_t bytes);

 private:
  std::unique_ptr<Handle> take(cudaStream_t stream);
  void give_back(std::unique_ptr<Handle> handle) noexcept;

  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Handle>> idle_;
  std::size_t count_ = 0;  // with those in use
};

}  // namespace overlapack::cuda
