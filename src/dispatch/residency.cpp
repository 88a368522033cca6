#include "dispatch/residency.hpp"

#include <atomic>

#include "core/once.hpp"

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

/// The device if a matrix of the caller lies in its memory, or else null; the device is opened if
/// it is not yet. Throws DeviceError if the matrix lies on a device that cannot be used.
Device* device_holding(Context& context, const void* matrix) {
  Device* const device = context.device();
  if (device != nullptr) return device->kind_of(matrix) == MemoryKind::device ? device : nullptr;
  // Not in a child, which must not look for libraries that its parent may have been loading.
  if (!context.forked() && cuda_without_device() && is_cuda_memory(matrix)) {
    throw DeviceError("the matrix lies on a device that is not in use");
  }
  return nullptr;
}

}  // namespace

Device* device_of_call(Context& context, Index n, const void* matrix) {
  return may_lie_on_device(context, n) ? device_holding(context, matrix) : nullptr;
}

Device* device_of_norm(Context& context, Index elements, const void* matrix) {
  if (!context.opened() && elements < kLargeMatrix) return nullptr;
  const NoCancellation no_cancellation;  // locks would be left behind
  if (!context.opened() && !is_cuda_memory(matrix)) return nullptr;
  return device_holding(context, matrix);
}

}  // namespace overlapack::dispatch
