// Device memory of reductions.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/runtime/check.hpp"

namespace overlapack::cuda {

/// Device memory through which the thread blocks of a reduction talk to each other. One per queue,
/// because the queues run at the same time.
class ReduceScratch {
 public:
  /// On the current device. Enqueues a memset.
  explicit ReduceScratch(cudaStream_t stream);

  void* parts() const { return memory_.at(0); }
  void* totals() const { return totals_; }
  void* tickets() const { return tickets_; }

 private:
  DeviceMemory memory_;
  void *totals_, *tickets_;
};

}  // namespace overlapack::cuda
