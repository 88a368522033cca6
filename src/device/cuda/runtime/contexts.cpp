#include "device/cuda/runtime/contexts.hpp"

#include <atomic>
#include <utility>

#include "device/cuda/runtime/check.hpp"
#include "device/cuda/runtime/driver.hpp"

namespace overlapack::cuda {
namespace {

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
    return ask(context, CU_POINTER_ATTRIBUTE_CONTEXT, memory) == CUDA_SUCCESS &&
           context != nullptr && context != primary(index);
  }
  /// What the driver knows of a pointer.
  template <class Answer>
  CUresult ask(Answer& answer, CUpointer_attribute attribute, const void* pointer) const noexcept {
    if (attribute_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    return attribute_(&answer, attribute, reinterpret_cast<CUdeviceptr>(pointer));
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

Sentinel::Sentinel() : memory_(1, "starting the GPU") {
  Contexts::instance().ask(id_, CU_POINTER_ATTRIBUTE_BUFFER_ID, memory_.at(0));
}

bool Sentinel::device_was_reset() const noexcept {
  unsigned long long id = 0;
  const CUresult status =
      Contexts::instance().ask(id, CU_POINTER_ATTRIBUTE_BUFFER_ID, memory_.at(0));
  return status == CUDA_ERROR_INVALID_VALUE || (status == CUDA_SUCCESS && id != id_);
}

bool thread_has_context() {
  const auto function = driver_function<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  CUcontext context = nullptr;
  return function != nullptr && function(&context) == CUDA_SUCCESS && context != nullptr;
}

bool is_of_foreign_context(int index, const void* memory) noexcept {
  return Contexts::instance().is_foreign(index, memory);
}

}  // namespace overlapack::cuda
