#include "device/cuda/runtime/cuda_device.hpp"

#include <string>
#include <utility>

#include "device/cuda/runtime/check.hpp"
#include "device/cuda/runtime/contexts.hpp"
#include "device/cuda/runtime/cuda_queue.hpp"

namespace overlapack::cuda {

CudaDevice::CudaDevice(const Gpu& gpu, const cudaDeviceProp& properties, bool fast_tf32,
                       std::string shortcoming)
    : Device("cuda:" + std::to_string(gpu.index), properties.name, properties.totalGlobalMem, false,
             tuning_of_gpu(gpu.has_hopper_code, fast_tf32)),
      gpu_(gpu),
      pool_(gpu.index),
      s_(*this, gpu),
      d_(*this, gpu),
      c_(*this, gpu),
      z_(*this, gpu) {
  set_kernels(s_.kernels, d_.kernels, c_.kernels, z_.kernels);
  set_shortcoming(std::move(shortcoming));
}

CudaDevice::~CudaDevice() {
  clear_pools();
  const CurrentDevice current(gpu_.index);
  blas_.close();
}

void* CudaDevice::do_allocate(Space space, std::size_t bytes) {
  const CurrentDevice current(gpu_.index);
  if (space == Space::device) return pool_.allocate(bytes, "device memory");
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "staging memory");
  return memory;
}

void CudaDevice::do_free(Space space, void* memory) noexcept {
  const CurrentDevice current(gpu_.index);
  if (space == Space::device) {
    pool_.free(memory);
  } else {
    ignore(cudaFreeHost(memory));
  }
}

void CudaDevice::do_trim() noexcept {
  const CurrentDevice current(gpu_.index);
  pool_.trim();
}

std::size_t CudaDevice::do_free_memory() {
  const CurrentDevice current(gpu_.index);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking how much memory is free");
  return free;
}

MemoryKind CudaDevice::do_kind_of(const void* memory) {
  const CurrentDevice current(gpu_.index);
  cudaPointerAttributes attributes = {};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, memory);
  check(status, "asking what a pointer points to");
  switch (attributes.type) {
    case cudaMemoryTypeHost:
      return MemoryKind::pinned;
    case cudaMemoryTypeDevice:
      require_no_reset();
      if (attributes.device != gpu_.index) throw DeviceError("the matrix lies on another GPU");
      if (is_of_foreign_context(gpu_.index, memory)) {
        throw DeviceError("the matrix belongs to a CUDA context other than the GPU's primary one");
      }
      return MemoryKind::device;
    default:
      return MemoryKind::pageable;
  }
}

std::unique_ptr<Queue> CudaDevice::do_make_queue(Priority priority) {
  return std::make_unique<CudaQueue>(*this, gpu_, pool_, blas_, priority);
}

std::shared_ptr<void> CudaDevice::do_make_current() {
  auto current = std::make_shared<CurrentDevice>(gpu_.index);
  require_no_reset();
  return current;
}

void CudaDevice::require_no_reset() const {
  if (sentinel_.device_was_reset()) throw DeviceError("the program has reset the GPU", true);
}

void CudaDevice::do_await_all() {
  const CurrentDevice current(gpu_.index);
  check(cudaDeviceSynchronize(), "waiting for the program's work on the GPU");
}

std::unique_ptr<Event> CudaDevice::do_make_event(Timed timed) {
  return std::make_unique<CudaEvent>(*this, gpu_.index, timed);
}

}  // namespace overlapack::cuda
