// Streams and events of the CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "device/cuda/blas/blas_handles.hpp"
#include "device/cuda/runtime/async_pool.hpp"
#include "device/cuda/runtime/check.hpp"
#include "device/cuda/runtime/gpu.hpp"
#include "device/device.hpp"

namespace overlapack::cuda {

class Exchange;
class ReduceScratch;
class ReflectorScratch;
class Relay;
class UpdateScratch;

class CudaEvent final : public Event {
 public:
  CudaEvent(Device& device, int index, Timed timed);
  ~CudaEvent() override;
  cudaEvent_t handle() const { return event_; }

 private:
  void do_synchronize() override;
  bool do_done() override;
  double do_since(Event& earlier) override;

  int index_;
  cudaEvent_t event_ = nullptr;
};

/// A stream with everything that work in it needs for itself, because queues run at the same time:
/// a workspace for cuBLAS, and the memory through which the thread blocks of panels talk to each
/// other.
class CudaQueue final : public Queue {
 public:
  CudaQueue(Device& device, const Gpu& gpu, AsyncPool& pool, BlasHandles& blas, Priority priority);
  ~CudaQueue() override;
  const Gpu& gpu() const { return gpu_; }
  cudaStream_t stream() const { return stream_; }
  // Made at the first use: queues that only copy need none.
  BlasHandles::Lease cublas();
  Exchange& exchange();
  Relay& relay();
  const UpdateScratch& update_scratch();
  const ReduceScratch& reduce_scratch();
  const ReflectorScratch& reflector_scratch();

 private:
  class HostFlag;
  void release() noexcept;
  /// Whether the stream is at its end. Throws DeviceError if something has failed.
  bool is_done();
  template <class X, class... Arguments>
  X& made(std::unique_ptr<X>& x, Arguments... arguments);
  void copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
            std::size_t bytes, std::size_t count, cudaMemcpyKind kind);
  void do_copy_to_device(void*, std::size_t, const void*, std::size_t, std::size_t,
                         std::size_t) override;
  void do_copy_to_host(void*, std::size_t, const void*, std::size_t, std::size_t,
                       std::size_t) override;
  void do_copy_on_device(const PartCopy& operands) override;
  void do_zero(void*, std::size_t, std::size_t, std::size_t) override;
  void do_signal(Flag&, std::uint32_t) override;
  void do_poll() override;
  void do_record(Event&) override;
  void do_wait(Event&) override;
  void do_synchronize() override;
  void do_drain() noexcept override;

  const Gpu gpu_;
  AsyncPool& pool_;
  BlasHandles& blas_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<PooledMemory> workspace_;  // of cuBLAS
  std::unique_ptr<HostFlag> waited_for_;     // by do_synchronize()
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<UpdateScratch> update_scratch_;
  std::unique_ptr<ReduceScratch> reduce_scratch_;
  std::unique_ptr<ReflectorScratch> reflector_scratch_;
};

}  // namespace overlapack::cuda
