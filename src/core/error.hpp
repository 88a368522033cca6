// The exceptions of the library: a device that failed, or has no memory left.
#pragma once

#include <stdexcept>
#include <string>

namespace overlapack {

/// Thrown wherever a device operation fails; caught in dispatch at last, where the CPU finishes the
/// call. `lost` says that the device cannot be used again in this process (a sticky CUDA error);
/// otherwise (out of memory, say) later calls may try it again.
class DeviceError : public std::runtime_error {
 public:
  explicit DeviceError(const std::string& what, bool lost = false)
      : std::runtime_error(what), lost_(lost) {}
  bool lost() const { return lost_; }

 private:
  bool lost_;
};

/// There is not enough device memory for a lease: calls may do with less.
class OutOfDeviceMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace overlapack
