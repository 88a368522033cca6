// The emulated device's operations.
#pragma once

#include <memory>

#include "device/emulated/emulated_formats.hpp"
#include "device/emulated/machine.hpp"

namespace overlapack::emulated {

/// The operations for one precision, and the formats that they refer to.
template <class T>
struct OwnedKernels {
  std::unique_ptr<EmulatedFormats<T>> formats;
  std::unique_ptr<Kernels<T>> kernels;
};

/// For queues of that machine. With `core_only` the device has only what every device must have.
template <class T>
OwnedKernels<T> make_kernels(Device& device, Machine& machine, bool core_only);

}  // namespace overlapack::emulated
