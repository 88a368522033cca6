// A copy of all or a trapezoid of a matrix from one place in device memory to another.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::cuda {

/// The operands of Queue::copy_on_device().
struct PartCopy {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch, element;
  Index rows, cols;
  Part part;
  Index diagonal;
};
void copy_part(cudaStream_t stream, const PartCopy& copy);

}  // namespace overlapack::cuda
