#include "device/cuda/runtime/cuda_queue.hpp"

#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "device/cuda/panels/panels.hpp"
#include "device/cuda/reductions/reduce_scratch.hpp"
#include "device/cuda/runtime/contexts.hpp"
#include "device/cuda/runtime/copy_part.hpp"
#include "device/cuda/runtime/driver.hpp"
#include "host/backoff.hpp"

namespace overlapack::cuda {
namespace {

/// cuBLAS's workspace for a stream, the size that NVIDIA recommends for Hopper. With a workspace
/// from us it allocates nothing later, which would synchronise the device.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

/// Waits for an event. It asks, as the wait of the runtime would not end with the process. The
/// thread keeps its core for a while, and then shares it, as in Backoff.
void await(const Device& device, cudaEvent_t event) {
  constexpr int kSpins = 256, kRoundsAwake = 4096;
  constexpr int kPauses = 4;  // between two questions, since each takes the driver's lock
  cudaError_t status;
  for (int round = 0; (status = cudaEventQuery(event)) == cudaErrorNotReady; ++round) {
    ignore(status);
    device.refuse_at_end();
    if (round >= kRoundsAwake) {
      round = kRoundsAwake;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    } else if (round >= kSpins) {
      std::this_thread::yield();
    } else {
      for (int i = 0; i < kPauses; ++i) pause_spinning();
    }
  }
  check(status, "waiting for an event");
}

/// Lets a stream write a word.
auto stream_write_value() {
  static const auto function =
      driver_function<decltype(cuStreamWriteValue32)>("cuStreamWriteValue32");
  if (function == nullptr) throw DeviceError("the driver has no cuStreamWriteValue32", true);
  return function;
}

}  // namespace

// ---- CudaEvent ----------------------------------------------------------------------------

CudaEvent::CudaEvent(Device& device, int index, Timed timed) : Event(device, timed), index_(index) {
  const CurrentDevice current(index_);
  check(cudaEventCreateWithFlags(&event_,
                                 timed == Timed::yes ? cudaEventDefault : cudaEventDisableTiming),
        "creating an event");
}

CudaEvent::~CudaEvent() {
  const CurrentDevice current(index_);
  ignore(cudaEventDestroy(event_));
}

void CudaEvent::do_synchronize() {
  const CurrentDevice current(index_);
  await(device_, event_);
}

bool CudaEvent::do_done() {
  const CurrentDevice current(index_);
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) {
    ignore(status);
    return false;
  }
  check(status, "asking about an event");
  return true;
}

double CudaEvent::do_since(Event& earlier) {
  const CurrentDevice current(index_);
  const cudaEvent_t from = static_cast<CudaEvent&>(earlier).handle();
  for (const cudaEvent_t event : {from, event_}) await(device_, event);
  float ms = 0;
  check(cudaEventElapsedTime(&ms, from, event_), "reading the time of an event");
  return 1e3 * static_cast<double>(ms);
}

// ---- HostFlag -----------------------------------------------------------------------------

/// A word in page-locked memory.
class CudaQueue::HostFlag {
 public:
  HostFlag() {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(Flag), cudaHostAllocDefault), "making a flag");
    flag_ = new (memory) Flag(0);
  }
  ~HostFlag() { ignore(cudaFreeHost(flag_)); }
  HostFlag(const HostFlag&) = delete;
  Flag& flag() const { return *flag_; }

 private:
  Flag* flag_ = nullptr;
};

// ---- CudaQueue ----------------------------------------------------------------------------

CudaQueue::CudaQueue(Device& device, const Gpu& gpu, AsyncPool& pool, BlasHandles& blas,
                     Priority priority)
    : Queue(device), gpu_(gpu), pool_(pool), blas_(blas) {
  const CurrentDevice current(gpu_.index);
  try {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "reading the stream priorities");
    const int value = priority == Priority::high ? greatest : (least + greatest) / 2;
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, value),
          "creating a stream");
  } catch (...) {
    release();
    throw;
  }
}

CudaQueue::~CudaQueue() {
  const CurrentDevice current(gpu_.index);
  release();
}

BlasHandles::Lease CudaQueue::cublas() {
  const CurrentDevice current(gpu_.index);
  if (!workspace_) {
    workspace_ = std::make_unique<PooledMemory>(pool_, kWorkspaceBytes, "cuBLAS workspace");
  }
  return blas_.lease(stream_, workspace_->get(), kWorkspaceBytes);
}

template <class X, class... Arguments>
X& CudaQueue::made(std::unique_ptr<X>& x, Arguments... arguments) {
  if (!x) {
    const CurrentDevice current(gpu_.index);
    x = std::make_unique<X>(arguments...);
  }
  return *x;
}

Exchange& CudaQueue::exchange() { return made(exchange_, gpu_.multiprocessors); }
Relay& CudaQueue::relay() { return made(relay_); }
const UpdateScratch& CudaQueue::update_scratch() { return made(update_scratch_); }
const ReduceScratch& CudaQueue::reduce_scratch() { return made(reduce_scratch_, stream_); }
const ReflectorScratch& CudaQueue::reflector_scratch() { return made(reflector_scratch_); }

void CudaQueue::release() noexcept {
  if (stream_ != nullptr) ignore(cudaStreamSynchronize(stream_));
  reflector_scratch_.reset();
  reduce_scratch_.reset();
  update_scratch_.reset();
  relay_.reset();
  exchange_.reset();
  waited_for_.reset();
  workspace_.reset();
  if (stream_ != nullptr) ignore(cudaStreamDestroy(stream_));
}

void CudaQueue::copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t bytes, std::size_t count, cudaMemcpyKind kind) {
  const CurrentDevice current(gpu_.index);
  const char* const what = kind == cudaMemcpyHostToDevice ? "copy to device" : "copy to host";
  if (count == 1 || (to_pitch == bytes && from_pitch == bytes)) {
    check(cudaMemcpyAsync(to, from, bytes * count, kind, stream_), what);
    return;
  }
  // A pitch beyond the hardware's limit (2^31 - 1 bytes) is refused by the two-dimensional copy.
  constexpr std::size_t kMaxPitch = INT32_MAX;
  if (to_pitch <= kMaxPitch && from_pitch <= kMaxPitch) {
    check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, count, kind, stream_), what);
    return;
  }
  for (std::size_t j = 0; j < count; ++j) {
    check(cudaMemcpyAsync(static_cast<char*>(to) + j * to_pitch,
                          static_cast<const char*>(from) + j * from_pitch, bytes, kind, stream_),
          what);
  }
}

void CudaQueue::do_copy_to_device(void* to, std::size_t to_pitch, const void* from,
                                  std::size_t from_pitch, std::size_t bytes, std::size_t count) {
  copy(to, to_pitch, from, from_pitch, bytes, count, cudaMemcpyHostToDevice);
}

void CudaQueue::do_copy_to_host(void* to, std::size_t to_pitch, const void* from,
                                std::size_t from_pitch, std::size_t bytes, std::size_t count) {
  copy(to, to_pitch, from, from_pitch, bytes, count, cudaMemcpyDeviceToHost);
}

void CudaQueue::do_copy_on_device(const PartCopy& operands) {
  const CurrentDevice current(gpu_.index);
  copy_part(stream_, operands);
}

void CudaQueue::do_zero(void* device_memory, std::size_t pitch, std::size_t bytes,
                        std::size_t count) {
  const CurrentDevice current(gpu_.index);
  const cudaError_t status =
      count == 1 ? cudaMemsetAsync(device_memory, 0, bytes, stream_)
                 : cudaMemset2DAsync(device_memory, pitch, 0, bytes, count, stream_);
  check(status, "zero");
}

void CudaQueue::do_signal(Flag& flag, std::uint32_t value) {
  const CurrentDevice current(gpu_.index);
  // Page-locked memory has the same address on the device. The default mode makes all earlier
  // writes of the stream visible before the flag.
  const CUresult status = stream_write_value()(stream_, reinterpret_cast<CUdeviceptr>(&flag), value,
                                               CU_STREAM_WRITE_VALUE_DEFAULT);
  if (status != CUDA_SUCCESS) {
    throw DeviceError("signal: CUDA driver error " + std::to_string(status), true);
  }
}

void CudaQueue::do_poll() { is_done(); }

bool CudaQueue::is_done() {
  const CurrentDevice current(gpu_.index);
  const cudaError_t status = cudaStreamQuery(stream_);
  if (status == cudaErrorNotReady) {
    ignore(status);
    return false;
  }
  check(status, "asking about a stream");
  return true;
}

void CudaQueue::do_record(Event& event) {
  const CurrentDevice current(gpu_.index);
  check(cudaEventRecord(static_cast<CudaEvent&>(event).handle(), stream_), "recording an event");
}

void CudaQueue::do_wait(Event& event) {
  const CurrentDevice current(gpu_.index);
  check(cudaStreamWaitEvent(stream_, static_cast<CudaEvent&>(event).handle(), 0),
        "making a stream wait");
}

/// It waits for a word that the stream writes at its end, and seldom asks: each question takes the
/// driver's lock, for which other threads that launch something would wait.
void CudaQueue::do_synchronize() {
  if (is_done()) return;
  Flag& reached = made(waited_for_).flag();
  const std::uint32_t value = reached.load(std::memory_order_relaxed) + 1;
  do_signal(reached, value);
  Backoff wait(Backoff::kIssuerSpins);
  while (reached.load(std::memory_order_acquire) != value) {
    device_.refuse_at_end();
    wait();
    if (wait.time_to_ask()) do_poll();
  }
}

void CudaQueue::do_drain() noexcept {
  try {
    do_synchronize();
  } catch (...) {  // a device that has failed does no more work, and one at its end does no harm
  }
}

}  // namespace overlapack::cuda
