// The end of the process while calls are on the device: by exit(), that is, by a return from main
// or in any other way that runs handlers at exit.
#pragma once

#include <atomic>
#include <thread>

#include "device/runtime.hpp"

namespace overlapack::dispatch {

/// For devices of this process to heed.
const ProcessEnd& process_end();
/// Whether the process ends: no call may begin to use the device.
inline bool at_process_end() { return process_end().begun.load(); }

/// Has exit() first wait for all threads that use the device, which then refuses them: before the
/// handlers that have been registered by now run, those of the device's libraries among them.
/// Called again whenever there may be new ones of these.
void guard_exit();

/// While one lives, a thread of its own calls guard_exit() again and again. For the start of the
/// device, in which its libraries register handlers at times that nobody knows.
class ExitGuard {
 public:
  ExitGuard();
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;  // none if there cannot be one
};

/// While one lives, exit() waits for the calling thread. Whoever has made one asks whether the
/// process ends, by at_process_end() or Device::refuse_at_end(), before it uses the device.
class DeviceUse {
 public:
  /// For a start exit() waits no longer than a start may take: one that hangs may have done so for
  /// long.
  enum class Kind { call, start };
  explicit DeviceUse(Kind kind = Kind::call);
  ~DeviceUse();
  DeviceUse(const DeviceUse&) = delete;

 private:
  const Kind kind_;
};

/// For a thread that the device was to serve, before it goes on without: gives the end of the
/// process a second to come, from when all have left the device, if it has begun. So a call is
/// finished for those who wait for it in the course of exit(), and for all others the process is
/// gone first. Returns at once to the thread that has called exit().
void give_way_to_exit();

/// While one lives, the CPU LAPACK serves a call that the device was to serve. It gives way to
/// exit(). If the call goes on all the same, the CPU LAPACK is not destroyed before its end; and if
/// libraries are being destroyed already, the thread waits for the process to be gone.
class CpuUse {
 public:
  CpuUse();
  ~CpuUse();
  CpuUse(const CpuUse&) = delete;

 private:
  bool late_ = false;  // the process ends
};

}  // namespace overlapack::dispatch
