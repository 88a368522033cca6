// Which device is current: the driver's contexts, and the program's own use of them.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/runtime/check.hpp"

namespace overlapack::cuda {

/// Makes a device current for the calling thread while it lives. Calls come from any thread, and
/// the application may use CUDA itself: it gets its own device, or its own context of the same
/// device, back. That is done by the driver's stack of contexts. Setting the runtime's device, and
/// that of before again, would start the other device, too: half a gigabyte of its memory in a
/// program that does not use it.
///
/// Meanwhile this thread takes no notice of CUDA graphs that the application captures elsewhere: as
/// a rule a capture forbids all threads to allocate memory or to ask for what has been done, and
/// both the call and the capture fail.
class CurrentDevice {
 public:
  explicit CurrentDevice(int index) noexcept;
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;

 private:
  int outer_;  // what an outer one has made current in this thread
  bool pushed_ = false;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // the application's, meanwhile
};

/// Tells whether the program has reset the device that is current when this is made: memory,
/// streams and events are gone then, and to use one of them may crash the process.
class Sentinel {
 public:
  Sentinel();
  bool device_was_reset() const noexcept;

 private:
  DeviceMemory memory_;
  unsigned long long id_ = 0;  // of memory_; no other memory of the process ever gets it
};

/// Whether the program has made a context current in the calling thread. The driver must have been
/// started.
bool thread_has_context();

/// Whether memory of a device belongs to a context other than the primary one, where the
/// runtime's kernels cannot reach it.
bool is_of_foreign_context(int index, const void* memory) noexcept;

}  // namespace overlapack::cuda
