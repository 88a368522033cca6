#include "device/cuda/blas/shared_blas.hpp"

#include "device/cuda/runtime/check.hpp"

namespace overlapack::cuda {
namespace {

/// Whether the current device has less memory left than a library may want for its start.
bool is_short_of_memory() {
  constexpr std::size_t kMinFreeBytes = std::size_t{1} << 30;
  std::size_t free = 0, total = 0;
  ignore(cudaMemGetInfo(&free, &total));
  return free < kMinFreeBytes;
}

cublasHandle_t make_handle() {
  cublasHandle_t handle = nullptr;
  cublasStatus_t status = cublasCreate(&handle);
  if (status == CUBLAS_STATUS_NOT_INITIALIZED && is_short_of_memory()) {
    status = CUBLAS_STATUS_ALLOC_FAILED;  // cuBLAS does not tell
  }
  check(status, "starting cuBLAS");
  return handle;
}

}  // namespace

void SharedBlas::close() noexcept {
  if (handle_ != nullptr) cublasDestroy(handle_);
  handle_ = nullptr;
}

SharedBlas::Lease SharedBlas::lease(cudaStream_t stream, void* workspace, std::size_t bytes) {
  Lease lease(mutex_);
  if (handle_ == nullptr) handle_ = make_handle();
  if (stream != stream_ || workspace != workspace_) {
    stream_ = nullptr;                                  // until both are set
    check(cublasSetStream(handle_, stream), "cuBLAS");  // which takes the workspace away
    check(cublasSetWorkspace(handle_, workspace, bytes), "cuBLAS");
    stream_ = stream;
    workspace_ = workspace;
  }
  lease.handle_ = handle_;
  return lease;
}

}  // namespace overlapack::cuda
