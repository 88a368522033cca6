// How an operation of the contract becomes kernels. Plain C++: the kernels themselves and the
// arithmetic of the GPU are known to the .cu files alone.
#pragma once

#include "device/cuda/runtime/contexts.hpp"
#include "device/cuda/runtime/cuda_queue.hpp"
#include "device/device.hpp"

namespace overlapack::cuda {

/// Enqueues the kernels of an operation, or calls of cuBLAS; the queue's device is current. Throws
/// DeviceError. Each file that has an operation defines this for it, for all types.
template <class Operation>
void launch(CudaQueue& queue, const Operation& operation);

/// launch() with the queue's device made current.
template <class Operation>
void launch_here(Queue& queue, const Operation& operation) {
  CudaQueue& here = static_cast<CudaQueue&>(queue);
  const CurrentDevice current(here.gpu().index);
  launch(here, operation);
}

/// Defines launch() by what the file calls enqueue().
#define OVERLAPACK_LAUNCH(Operation)                   \
  template <>                                          \
  void launch(CudaQueue& queue, const Operation& op) { \
    enqueue(queue, op);                                \
  }

}  // namespace overlapack::cuda
