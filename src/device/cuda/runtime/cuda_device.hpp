// The CUDA device: memory, streams and events of the CUDA runtime, matrix operations by cuBLAS and
// by our own kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <complex>
#include <memory>

#include "device/cuda/blas/blas_handles.hpp"
#include "device/cuda/formats/cuda_formats.hpp"
#include "device/cuda/runtime/async_pool.hpp"
#include "device/cuda/runtime/cuda_kernels.hpp"
#include "device/cuda/runtime/gpu.hpp"
#include "device/device.hpp"

namespace overlapack::cuda {

class CudaDevice final : public Device {
 public:
  /// `fast_tf32`: products of TF32 numbers are faster than those of floats.
  CudaDevice(const Gpu& gpu, const cudaDeviceProp& properties, bool fast_tf32,
             std::string shortcoming);
  ~CudaDevice() override;

 private:
  void* do_allocate(Space space, std::size_t bytes) override;
  void do_free(Space space, void* memory) noexcept override;
  void do_trim() noexcept override;
  std::size_t do_free_memory() override;
  MemoryKind do_kind_of(const void* memory) override;
  std::unique_ptr<Queue> do_make_queue(Priority priority) override;
  std::unique_ptr<Event> do_make_event(Timed timed) override;
  std::shared_ptr<void> do_make_current() override;
  void do_await_all() override;
  void require_no_reset() const;

  /// What there is for one precision.
  template <class T>
  struct ForScalar {
    ForScalar(Device& device, const Gpu& gpu) : formats(gpu), kernels(device, gpu, formats) {}
    CudaFormats<T> formats;
    CudaKernels<T> kernels;
  };

  const Gpu gpu_;
  const Sentinel sentinel_;
  AsyncPool pool_;
  BlasHandles blas_;
  ForScalar<float> s_;
  ForScalar<double> d_;
  ForScalar<std::complex<float>> c_;
  ForScalar<std::complex<double>> z_;
};

}  // namespace overlapack::cuda
