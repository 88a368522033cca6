// Functions of the driver that the runtime has no counterpart of.
#pragma once

#include <cuda.h>

#include "device/cuda/runtime/check.hpp"

namespace overlapack::cuda {

/// A function of the driver, or null. To ask the runtime for it spares us linking the driver's
/// library.
template <class Function>
Function* driver_function(const char* name) noexcept {
  constexpr unsigned kVersion = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  ignore(cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result));
  return reinterpret_cast<Function*>(found);
}

}  // namespace overlapack::cuda
