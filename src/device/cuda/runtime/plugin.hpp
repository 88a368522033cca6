// The one symbol of the CUDA plug-in.
#pragma once

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
inline constexpr const char* kCudaPlugin = "liboverlapack_cuda.so";

}  // namespace overlapack

extern "C" overlapack::Device* overlapack_open_cuda_device(int index, int rank,
                                                           const overlapack::ProcessEnd& end);
