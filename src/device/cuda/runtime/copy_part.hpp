// A copy of all or a trapezoid of a matrix from one place in device memory to another.
#pragma once

#include <cuda_runtime_api.h>

#include "device/runtime.hpp"

namespace overlapack::cuda {

/// Queue::copy_on_device().
void copy_part(cudaStream_t stream, const PartCopy& copy);

}  // namespace overlapack::cuda
