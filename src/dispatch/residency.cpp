#include "dispatch/residency.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "dispatch/process_end.hpp"
#include "host/errno_guard.hpp"
#include "host/once.hpp"

namespace overlapack::dispatch {
namespace {

/// Whether there is CUDA in the process, where the device is lost or could not be opened. That is
/// asked for only once, because it takes some system calls where there is none: to open the device,
/// the plug-in has loaded the driver if the machine has one.
bool cuda_without_device() {
  enum Answer { unknown, no, yes };
  static std::atomic<Answer> answer{unknown};
  if (answer == unknown) answer = cuda_in_process() ? yes : no;
  return answer == yes;
}

/// Whether the CPU can read a byte: a device's memory it cannot. Asked by a system call that every
/// sandbox lets pass, with an operation that there is not: the kernel reads the set of signals
/// first, and says if it cannot.
bool is_readable(const void* pointer) {
  constexpr std::uintptr_t kSetBytes = 8;  // the kernel's
  constexpr int kNoOperation = -1;
  const int before = errno;
  const std::uintptr_t set = reinterpret_cast<std::uintptr_t>(pointer) / kSetBytes * kSetBytes;
  syscall(SYS_rt_sigprocmask, kNoOperation, set, nullptr, kSetBytes);
  return std::exchange(errno, before) != EFAULT;
}

/// Whether a matrix lies in the memory of `device`. Should that have failed and not say, what the
/// CPU can read does not.
bool lies_on(Device& device, const void* matrix) {
  try {
    return device.kind_of(matrix) == MemoryKind::device;
  } catch (const DeviceError&) {
    if (is_readable(matrix)) return false;
    throw;
  }
}

/// The device if a matrix of the caller lies in its memory, or else null; the device is opened if
/// it is not yet. Throws DeviceError if the matrix lies on a device that cannot be used.
Device* device_holding(Context& context, const void* matrix) {
  const DeviceUse use;
  if (at_process_end()) {
    if (is_readable(matrix)) return nullptr;
    throw DeviceError("the process ends");
  }
  Device* const device = context.device();
  if (device != nullptr) {
    if (!lies_on(*device, matrix)) return nullptr;
    device->await_all();
    return device;
  }
  // Not in a child, which must not look for libraries that its parent may have been loading.
  if (!context.forked() && cuda_without_device() && is_cuda_memory(matrix)) {
    throw DeviceError("the matrix lies on a device that is not in use");
  }
  return nullptr;
}

}  // namespace

Device* device_of_call(Context& context, Index elements, std::size_t bytes, const void* matrix) {
  if (elements < kSmallestResident || !context.opened()) return nullptr;
  Device* const device = device_holding(context, matrix);
  if (device != nullptr) require_aligned(bytes, matrix);
  return device;
}

Device* device_of_norm(Context& context, Index elements, const void* matrix) {
  if (!context.opened() && elements < kLargeMatrix) return nullptr;
  const AtWork at_work;
  if (!context.opened() && !is_cuda_memory(matrix)) return nullptr;
  return device_holding(context, matrix);
}

void require_aligned(std::size_t bytes, const void* matrix) {
  if (reinterpret_cast<std::uintptr_t>(matrix) % bytes == 0) return;
  throw DeviceError(
      "a matrix in the device's memory must begin at a multiple of its elements' size, " +
      std::to_string(bytes) + " bytes");
}

bool cuda_in_process() {
  const DlerrorGuard dlerror_guard;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver != nullptr) dlclose(driver);  // the reference; the process keeps it
  return driver != nullptr;
}

bool is_cuda_memory(const void* pointer) {
  if (pointer == nullptr || is_readable(pointer)) return false;
  // The driver's header is not needed for this: CUresult and the attributes are integers.
  using GetPointerAttribute = int(void*, int, std::uintptr_t);
  constexpr int kSuccess = 0, kMemoryType = 2, kIsManaged = 8;
  constexpr unsigned kDevice = 2;
  static std::atomic<GetPointerAttribute*> found{nullptr};
  GetPointerAttribute* get = found.load();
  if (get == nullptr) {
    const DlerrorGuard dlerror_guard;
    // The reference is kept: the function must not go away.
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver == nullptr) return false;
    get = reinterpret_cast<GetPointerAttribute*>(dlsym(driver, "cuPointerGetAttribute"));
    if (get == nullptr) return false;
    found = get;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  unsigned type = 0, managed = 0;
  return get(&type, kMemoryType, address) == kSuccess && type == kDevice &&
         get(&managed, kIsManaged, address) == kSuccess && managed == 0;
}

}  // namespace overlapack::dispatch
