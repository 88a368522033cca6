// One hook before every device operation: tracing, counters and fault injection all use it.
#pragma once

#include <atomic>
#include <cstddef>

namespace overlapack {

enum class Action {
  allocate,        ///< device or staging memory; amount in bytes
  create,          ///< a queue or an event
  copy_to_device,  ///< amount in bytes
  copy_to_host,    ///< amount in bytes
  kernel,          ///< amount in floating-point operations (0 where none are counted)
  record,          ///< an event or a signal is recorded in a queue
  wait,            ///< a queue waits for an event
  synchronize,     ///< the host waits for, or asks about, an event or a queue
  give_back,       ///< idle device memory goes back to the driver
};

/// Called before an operation is enqueued, from any thread. May throw DeviceError: the operation
/// then fails exactly as if the device had refused it.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(Action action, const char* name, double amount) = 0;
};

/// Counts what reaches a device: bytes for the call log, kernels for those who want to know whether
/// it was used.
struct DeviceCounters {
  std::atomic<std::size_t> bytes_to_device{0};
  std::atomic<std::size_t> bytes_to_host{0};
  std::atomic<std::size_t> kernels{0};
};

/// What has been moved, so far or in a while.
struct Traffic {
  std::size_t up = 0, down = 0;
  Traffic operator-(const Traffic& before) const { return {up - before.up, down - before.down}; }
  Traffic& operator+=(const Traffic& more) {
    up += more.up;
    down += more.down;
    return *this;
  }
};
/// By this thread.
inline thread_local Traffic own_traffic;

}  // namespace overlapack
