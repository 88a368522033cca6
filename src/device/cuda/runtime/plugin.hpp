// The one symbol of the CUDA plug-in.
#pragma once

#include <string>

#include "device/device.hpp"

namespace overlapack {

/// Opens CUDA device `index` (the driver's numbering), or for kAnyDevice that of the calling
/// thread: to which its CUDA context belongs. If it has none, processes number `rank` = 0, 1, ...
/// of a machine take turns at its devices. The caller owns the result. Throws DeviceError: no
/// driver, no such device, a device older than the plug-in was built for, or `end` has begun in the
/// middle of it.
using OpenCudaDevice = Device*(int index, int rank, const ProcessEnd& end);
inline constexpr int kAnyDevice = -1;
inline constexpr const char* kOpenCudaDevice = "overlapack_open_cuda_device";

/// Major versions of CUDA that a plug-in may have been built with, in the order in which they are
/// tried. A plug-in needs the run time of the same major version.
inline constexpr int kCudaMajors[] = {13, 12};
inline constexpr const char* kCudaPluginPrefix = "liboverlapack_cuda";
/// The file's name.
inline std::string cuda_plugin(int cuda_major) {
  return kCudaPluginPrefix + std::to_string(cuda_major) + ".so";
}
/// Its folder in an installation, which lies in that of the library.
inline constexpr const char* kCudaPluginFolder = "overlapack";

}  // namespace overlapack

extern "C" overlapack::Device* overlapack_open_cuda_device(int index, int rank,
                                                           const overlapack::ProcessEnd& end);
