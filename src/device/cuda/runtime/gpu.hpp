// What the plug-in knows of a GPU, and what it asks of one.
#pragma once

#include <cstddef>
#include <string>

#include "core/scalar.hpp"
#include "device/cuda/runtime/code_for_gpu.hpp"

namespace overlapack::cuda {

/// Bytes of shared memory that any kernel may ask for that does not need a Hopper GPU: what a
/// thread block of compute capability 8.0 may have.
constexpr std::size_t kSharedByAll = 163 * 1024;

/// Which code has been built that the current GPU can run. `reason`: CUDA's, if there is none.
Code find_code(std::string& reason);

struct Gpu {
  int index;  ///< the driver's
  int multiprocessors;
  Index shared_bytes;     ///< that a thread block may have
  bool has_hopper_code;   ///< Code::hopper runs on this GPU
  bool has_fast_doubles;  ///< it is made for computing: half as fast as floats, or better
};

}  // namespace overlapack::cuda
