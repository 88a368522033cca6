#include "device/cuda/runtime/cuda_device.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "device/cuda/runtime/driver.hpp"
#include "device/cuda/runtime/plugin.hpp"

namespace overlapack::cuda {
namespace {

/// cuBLAS's workspace per handle, the size that NVIDIA recommends for Hopper. A handle with a
/// workspace of its own allocates nothing later, which would synchronise the device.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

/// Whether the current device has less memory left than a library may want for its start.
bool is_short_of_memory() {
  constexpr std::size_t kEnough = std::size_t{1} << 30;
  std::size_t free = 0, total = 0;
  ignore(cudaMemGetInfo(&free, &total));
  return free < kEnough;
}

/// Lets a stream write a word.
auto stream_write_value() {
  static const auto function =
      driver_function<decltype(cuStreamWriteValue32)>("cuStreamWriteValue32");
  if (function == nullptr) throw DeviceError("the driver has no cuStreamWriteValue32", true);
  return function;
}

/// Whether the program has made a context current in the calling thread. The driver must have been
/// started.
bool thread_has_context() {
  const auto function = driver_function<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  CUcontext context = nullptr;
  return function != nullptr && function(&context) == CUDA_SUCCESS && context != nullptr;
}

/// The primary contexts of devices, which are those that the runtime uses, and the calling thread's
/// stack of contexts.
class Contexts {
 public:
  static const Contexts& instance() {
    static const Contexts contexts;
    return contexts;
  }
  bool push_primary(int index) const noexcept {
    const CUcontext context = primary(index);
    return context != nullptr && push_ != nullptr && pop_ != nullptr &&
           push_(context) == CUDA_SUCCESS;
  }
  void pop() const noexcept {
    CUcontext popped;
    pop_(&popped);
  }
  /// Whether memory of a device belongs to a context other than the primary one, where the
  /// runtime's kernels cannot reach it.
  bool is_foreign(int index, const void* memory) const noexcept {
    CUcontext context = nullptr;  // stays so for memory that belongs to all contexts
    return attribute_ != nullptr &&
           attribute_(&context, CU_POINTER_ATTRIBUTE_CONTEXT,
                      reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS &&
           context != nullptr && context != primary(index);
  }

 private:
  /// Null if there is none. Retained once for each device, and never given back.
  CUcontext primary(int index) const noexcept {
    constexpr int kDevices = 64;
    static std::atomic<CUcontext> contexts[kDevices];
    if (device_ == nullptr || retain_ == nullptr || index >= kDevices) return nullptr;
    CUcontext context = contexts[index];
    CUdevice handle;
    if (context == nullptr && device_(&handle, index) == CUDA_SUCCESS &&
        retain_(&context, handle) == CUDA_SUCCESS) {
      contexts[index] = context;
    }
    return context;
  }

  decltype(cuDeviceGet)* device_ = driver_function<decltype(cuDeviceGet)>("cuDeviceGet");
  decltype(cuDevicePrimaryCtxRetain)* retain_ =
      driver_function<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  decltype(cuCtxPushCurrent)* push_ =
      driver_function<decltype(cuCtxPushCurrent)>("cuCtxPushCurrent");
  decltype(cuCtxPopCurrent)* pop_ = driver_function<decltype(cuCtxPopCurrent)>("cuCtxPopCurrent");
  decltype(cuPointerGetAttribute)* attribute_ =
      driver_function<decltype(cuPointerGetAttribute)>("cuPointerGetAttribute");
};

constexpr int kNoDevice = -1;
thread_local int current_device = kNoDevice;  // of the innermost CurrentDevice

}  // namespace

// ---- CurrentDevice ------------------------------------------------------------------------

CurrentDevice::CurrentDevice(int index) noexcept : outer_(std::exchange(current_device, index)) {
  if (outer_ == index) return;
  pushed_ = Contexts::instance().push_primary(index);
  if (!pushed_) ignore(cudaSetDevice(index));  // what fails here, too, is told by what comes next
  ignore(cudaThreadExchangeStreamCaptureMode(&mode_));
}

CurrentDevice::~CurrentDevice() {
  const int index = std::exchange(current_device, outer_);
  if (outer_ == index) return;
  ignore(cudaThreadExchangeStreamCaptureMode(&mode_));
  if (pushed_) Contexts::instance().pop();
}

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
  check(cudaEventSynchronize(event_), "waiting for an event");
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
  for (const cudaEvent_t event : {from, event_}) {
    check(cudaEventSynchronize(event), "waiting for an event");
  }
  float ms = 0;
  check(cudaEventElapsedTime(&ms, from, event_), "reading the time of an event");
  return 1e3 * static_cast<double>(ms);
}

// ---- CudaQueue ----------------------------------------------------------------------------

CudaQueue::CudaQueue(Device& device, int index, int multiprocessors, Priority priority)
    : Queue(device), index_(index), multiprocessors_(multiprocessors) {
  const CurrentDevice current(index_);
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
  const CurrentDevice current(index_);
  release();
}

cublasHandle_t CudaQueue::cublas() {
  if (cublas_ == nullptr) {
    void* const workspace = made(workspace_, kWorkspaceBytes, "cuBLAS workspace").at(0);
    cublasHandle_t handle = nullptr;
    cublasStatus_t status = cublasCreate(&handle);
    if (status == CUBLAS_STATUS_NOT_INITIALIZED && is_short_of_memory()) {
      status = CUBLAS_STATUS_ALLOC_FAILED;  // cuBLAS does not tell
    }
    check(status, "starting cuBLAS");
    cublas_ = handle;
    check(cublasSetStream(cublas_, stream_), "starting cuBLAS");
    check(cublasSetWorkspace(cublas_, workspace, kWorkspaceBytes), "starting cuBLAS");
  }
  return cublas_;
}

template <class X, class... Arguments>
X& CudaQueue::made(std::unique_ptr<X>& x, Arguments... arguments) {
  if (!x) {
    const CurrentDevice current(index_);
    x = std::make_unique<X>(arguments...);
  }
  return *x;
}

Exchange& CudaQueue::exchange() { return made(exchange_, multiprocessors_); }
Relay& CudaQueue::relay() { return made(relay_); }
const UpdateScratch& CudaQueue::update_scratch() { return made(update_scratch_); }
const ReduceScratch& CudaQueue::reduce_scratch() { return made(reduce_scratch_, stream_); }

void CudaQueue::release() noexcept {
  if (stream_ != nullptr) ignore(cudaStreamSynchronize(stream_));
  reduce_scratch_.reset();
  update_scratch_.reset();
  relay_.reset();
  exchange_.reset();
  if (cublas_ != nullptr) cublasDestroy(cublas_);
  workspace_.reset();
  if (stream_ != nullptr) ignore(cudaStreamDestroy(stream_));
}

void CudaQueue::copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t bytes, std::size_t count, cudaMemcpyKind kind) {
  const CurrentDevice current(index_);
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

void CudaQueue::do_copy_on_device(void* to, std::size_t to_pitch, const void* from,
                                  std::size_t from_pitch, std::size_t element, Index rows,
                                  Index cols, Part part, Index diagonal) {
  const CurrentDevice current(index_);
  copy_part(stream_, to, to_pitch, from, from_pitch, element, rows, cols, part, diagonal);
}

void CudaQueue::do_zero(void* device_memory, std::size_t pitch, std::size_t bytes,
                        std::size_t count) {
  const CurrentDevice current(index_);
  const cudaError_t status =
      count == 1 ? cudaMemsetAsync(device_memory, 0, bytes, stream_)
                 : cudaMemset2DAsync(device_memory, pitch, 0, bytes, count, stream_);
  check(status, "zero");
}

void CudaQueue::do_signal(Flag& flag, std::uint32_t value) {
  const CurrentDevice current(index_);
  // Page-locked memory has the same address on the device. The default mode makes all earlier
  // writes of the stream visible before the flag.
  const CUresult status = stream_write_value()(stream_, reinterpret_cast<CUdeviceptr>(&flag), value,
                                               CU_STREAM_WRITE_VALUE_DEFAULT);
  if (status != CUDA_SUCCESS) {
    throw DeviceError("signal: CUDA driver error " + std::to_string(status), true);
  }
}

void CudaQueue::do_poll() {
  const CurrentDevice current(index_);
  const cudaError_t status = cudaStreamQuery(stream_);
  if (status == cudaErrorNotReady) {
    ignore(status);
  } else {
    check(status, "asking about a stream");
  }
}

void CudaQueue::do_record(Event& event) {
  const CurrentDevice current(index_);
  check(cudaEventRecord(static_cast<CudaEvent&>(event).handle(), stream_), "recording an event");
}

void CudaQueue::do_wait(Event& event) {
  const CurrentDevice current(index_);
  check(cudaStreamWaitEvent(stream_, static_cast<CudaEvent&>(event).handle(), 0),
        "making a stream wait");
}

void CudaQueue::do_synchronize() {
  const CurrentDevice current(index_);
  check(cudaStreamSynchronize(stream_), "waiting for a stream");
}

void CudaQueue::do_drain() noexcept {
  const CurrentDevice current(index_);
  ignore(cudaStreamSynchronize(stream_));
}

// ---- CudaDevice ---------------------------------------------------------------------------

CudaDevice::CudaDevice(int index, const cudaDeviceProp& properties, bool fast_tf32,
                       bool has_hopper_code)
    : Device("cuda:" + std::to_string(index), properties.name, properties.totalGlobalMem, false,
             tuning_of_gpu(has_hopper_code, fast_tf32)),
      index_(index),
      multiprocessors_(properties.multiProcessorCount),
      s_(*this, index, properties, has_hopper_code),
      d_(*this, index, properties, has_hopper_code),
      c_(*this, index, properties, has_hopper_code),
      z_(*this, index, properties, has_hopper_code) {}

CudaDevice::~CudaDevice() { clear_pools(); }

void* CudaDevice::do_allocate(Space space, std::size_t bytes) {
  const CurrentDevice current(index_);
  void* memory = nullptr;
  if (space == Space::device) {
    check(cudaMalloc(&memory, bytes), "device memory");
  } else {
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "staging memory");
  }
  return memory;
}

void CudaDevice::do_free(Space space, void* memory) noexcept {
  const CurrentDevice current(index_);
  ignore(space == Space::device ? cudaFree(memory) : cudaFreeHost(memory));
}

MemoryKind CudaDevice::do_kind_of(const void* memory) {
  const CurrentDevice current(index_);
  cudaPointerAttributes attributes = {};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, memory);
  check(status, "asking what a pointer points to");
  switch (attributes.type) {
    case cudaMemoryTypeHost:
      return MemoryKind::pinned;
    case cudaMemoryTypeDevice:
      if (attributes.device != index_) throw DeviceError("the matrix lies on another GPU");
      if (Contexts::instance().is_foreign(index_, memory)) {
        throw DeviceError("the matrix belongs to a CUDA context other than the GPU's primary one");
      }
      return MemoryKind::device;
    default:
      return MemoryKind::pageable;
  }
}

std::unique_ptr<Queue> CudaDevice::do_make_queue(Priority priority) {
  return std::make_unique<CudaQueue>(*this, index_, multiprocessors_, priority);
}

std::shared_ptr<void> CudaDevice::do_make_current() {
  return std::make_shared<CurrentDevice>(index_);
}

void CudaDevice::do_await_all() {
  const CurrentDevice current(index_);
  check(cudaDeviceSynchronize(), "waiting for the program's work on the GPU");
}

std::unique_ptr<Event> CudaDevice::do_make_event(Timed timed) {
  return std::make_unique<CudaEvent>(*this, index_, timed);
}

}  // namespace overlapack::cuda

// ---- the plug-in's door ---------------------------------------------------------------------

namespace {

using overlapack::DeviceError;
using overlapack::cuda::ignore;

/// "13.0" from CUDA's 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The driver can be there and still be unusable; says which, and what to do about it.
[[noreturn]] void throw_no_driver(cudaError_t status) {
  int driver = 0;
  ignore(cudaDriverGetVersion(&driver));
  std::string text;
  if (driver == 0) {
    text = "no NVIDIA driver is installed; install one that supports CUDA " +
           version_text(CUDART_VERSION) + " or later";
  } else if (status == cudaErrorInsufficientDriver) {
    text = "the NVIDIA driver supports CUDA " + version_text(driver) +
           " only; install one that supports CUDA " + version_text(CUDART_VERSION) + " or later";
  } else if (status == cudaErrorNoDevice) {
    text = "the NVIDIA driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES";
  } else {
    text = std::string("the NVIDIA driver does not work (") + cudaGetErrorString(status) +
           "); check nvidia-smi";
  }
  throw DeviceError(text, true);
}

}  // namespace

// The one symbol that is not hidden.
[[gnu::visibility("default")]] overlapack::Device* overlapack_open_cuda_device(int index,
                                                                               int rank) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  ignore(status);
  if (status != cudaSuccess) throw_no_driver(status);
  if (count == 0) throw_no_driver(cudaErrorNoDevice);
  if (index == overlapack::kAnyDevice && !overlapack::cuda::thread_has_context()) {
    index = rank % count;
  } else if (index == overlapack::kAnyDevice) {
    overlapack::cuda::check(cudaGetDevice(&index), "asking which GPU the program uses");
  }
  if (index < 0 || index >= count) {
    throw DeviceError("there is no CUDA device " + std::to_string(index) + "; this machine has " +
                          (count == 1 ? std::string("device 0 only")
                                      : "devices 0 to " + std::to_string(count - 1)),
                      true);
  }
  cudaDeviceProp properties;
  overlapack::cuda::check(cudaGetDeviceProperties(&properties, index), "reading the GPU's data");
  constexpr int kOldestMajor = 8;  // the oldest architecture that CMakeLists.txt builds for
  if (properties.major < kOldestMajor) {
    throw DeviceError(std::string(properties.name) + " has compute capability " +
                          std::to_string(properties.major) + "." +
                          std::to_string(properties.minor) +
                          "; a GPU with 8.0 or later (Ampere and newer) is needed",
                      true);
  }
  if (properties.sharedMemPerBlockOptin < overlapack::cuda::kSharedByAll) {
    throw DeviceError(std::string(properties.name) + " has " +
                          std::to_string(properties.sharedMemPerBlockOptin / 1024) +
                          " KiB of shared memory for a thread block; " +
                          std::to_string(overlapack::cuda::kSharedByAll / 1024) +
                          " are needed, which GPUs made for computing have (A100, H100, B200)",
                      true);
  }
  const overlapack::cuda::CurrentDevice current(index);
  // Starts the device, so that one that refuses (exclusive use, no memory) is found here.
  overlapack::cuda::check(cudaFree(nullptr), "starting the GPU");
  // GPUs made for computing, known by their fast double precision, multiply TF32 numbers eight
  // times as fast as floats; those made for graphics about as fast.
  int single_to_double = 0;
  overlapack::cuda::check(
      cudaDeviceGetAttribute(&single_to_double, cudaDevAttrSingleToDoublePrecisionPerfRatio, index),
      "reading the GPU's data");
  return new overlapack::cuda::CudaDevice(index, properties, single_to_double <= 2,
                                          overlapack::cuda::has_hopper_code());
}
