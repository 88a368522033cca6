// What the plug-in knows of a GPU, and what it asks of one.
#pragma once

#include <cstddef>

#include "core/scalar.hpp"

namespace overlapack::cuda {

/// Bytes of shared memory that any kernel may ask for that does not need a Hopper GPU: what a
/// thread block of compute capability 8.0 may have.
constexpr std::size_t kSharedByAll = 163 * 1024;

/// Whether the current GPU is of compute capability 9.0, and code for it has been built.
bool has_hopper_code();

struct Gpu {
  int index;  ///< the driver's
  int multiprocessors;
  Index shared_bytes;    ///< that a thread block may have
  bool has_hopper_code;  ///< has_hopper_code() of this GPU
};

}  // namespace overlapack::cuda
