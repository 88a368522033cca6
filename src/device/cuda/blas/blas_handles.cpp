#include "device/cuda/blas/blas_handles.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace

BlasHandles::Handle::Handle() {
  cublasStatus_t status = cublasCreate(&handle);
  if (status == CUBLAS_STATUS_NOT_INITIALIZED && is_short_of_memory()) {
    status = CUBLAS_STATUS_ALLOC_FAILED;  // cuBLAS does not tell
  }
  check(status, "starting cuBLAS");
}

BlasHandles::Handle::~Handle() { cublasDestroy(handle); }

void BlasHandles::Handle::use(cudaStream_t new_stream, void* new_workspace, std::size_t bytes) {
  if (new_stream == stream && new_workspace == workspace) return;
  stream = nullptr;                                      // until both are set
  check(cublasSetStream(handle, new_stream), "cuBLAS");  // which takes the workspace away
  check(cublasSetWorkspace(handle, new_workspace, bytes), "cuBLAS");
  stream = new_stream;
  workspace = new_workspace;
}

void BlasHandles::close() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  count_ -= idle_.size();
  idle_.clear();
}

/// Preferably the one that has the stream, so that nothing must be set.
std::unique_ptr<BlasHandles::Handle> BlasHandles::take(cudaStream_t stream) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      const auto same = std::find_if(idle_.begin(), idle_.end(),
                                     [&](const auto& handle) { return handle->stream == stream; });
      std::swap(same == idle_.end() ? idle_.back() : *same, idle_.back());
      std::unique_ptr<Handle> handle = std::move(idle_.back());
      idle_.pop_back();
      return handle;
    }
    idle_.reserve(count_ + 1);  // so that it can be given back
    ++count_;
  }
  try {
    return std::make_unique<Handle>();
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    --count_;
    throw;
  }
}

void BlasHandles::give_back(std::unique_ptr<Handle> handle) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(handle));
}

BlasHandles::Lease BlasHandles::lease(cudaStream_t stream, void* workspace, std::size_t bytes) {
  std::unique_ptr<Handle> handle = take(stream);
  try {
    handle->use(stream, workspace, bytes);
  } catch (...) {
    give_back(std::move(handle));
    throw;
  }
  return Lease(*this, std::move(handle));
}

}  // namespace overlapack::cuda
