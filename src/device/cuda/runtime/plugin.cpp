#include "device/cuda/runtime/plugin.hpp"

#include <string>

#include "device/cuda/runtime/check.hpp"
#include "device/cuda/runtime/contexts.hpp"
#include "device/cuda/runtime/cuda_device.hpp"
#include "device/cuda/runtime/gpu.hpp"

namespace {

constexpr bool opens_plugin_of(int cuda_major) {
  for (const int major : overlapack::kCudaMajors) {
    if (major == cuda_major) return true;
  }
  return false;
}
static_assert(opens_plugin_of(CUDART_VERSION / 1000), "add this version to kCudaMajors");

using overlapack::DeviceError;
using overlapack::cuda::ignore;

/// "13.0" from CUDA's 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The driver can be there and still be unusable; says which, and what to do about it.
[[noreturn]] void throw_no_driver(cudaError_t status) {
  int driver = 0;
  ignore(cudaDriverGetVersion(&driver));
  std::string text;
  if (driver == 0) {
    text = "no NVIDIA driver is installed; install one that supports CUDA " +
           version_text(CUDART_VERSION) + " or later";
  } else if (status == cudaErrorInsufficientDriver) {
    text = "the NVIDIA driver supports CUDA " + version_text(driver) +
           " only; install one that supports CUDA " + version_text(CUDART_VERSION) + " or later";
  } else if (status == cudaErrorNoDevice) {
    text = "the NVIDIA driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES";
  } else {
    text = std::string("the NVIDIA driver does not work (") + cudaGetErrorString(status) +
           "); check nvidia-smi";
  }
  throw DeviceError(text, true);
}

/// Asked between two steps of the start, each of which may take a tenth of a second.
void refuse_at(const overlapack::ProcessEnd& end) {
  if (end.begun) throw DeviceError("the process ends");
}

}  // namespace

// The one symbol that is not hidden.
[[gnu::visibility("default")]] overlapack::Device* overlapack_open_cuda_device(
    int index, int rank, const overlapack::ProcessEnd& end) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  ignore(status);
  if (status != cudaSuccess) throw_no_driver(status);
  if (count == 0) throw_no_driver(cudaErrorNoDevice);
  refuse_at(end);
  if (index == overlapack::kAnyDevice && !overlapack::cuda::thread_has_context()) {
    index = rank % count;
  } else if (index == overlapack::kAnyDevice) {
    overlapack::cuda::check(cudaGetDevice(&index), "asking which GPU the program uses");
  }
  if (index < 0 || index >= count) {
    throw DeviceError("there is no CUDA device " + std::to_string(index) + "; this machine has " +
                          (count == 1 ? std::string("device 0 only")
                                      : "devices 0 to " + std::to_string(count - 1)),
                      true);
  }
  cudaDeviceProp properties;
  overlapack::cuda::check(cudaGetDeviceProperties(&properties, index), "reading the GPU's data");
  constexpr int kOldestMajor = 8;  // the oldest architecture that CMakeLists.txt builds for
  if (properties.major < kOldestMajor) {
    throw DeviceError(std::string(properties.name) + " has compute capability " +
                          std::to_string(properties.major) + "." +
                          std::to_string(properties.minor) +
                          "; a GPU with 8.0 or later (Ampere and newer) is needed",
                      true);
  }
  if (properties.sharedMemPerBlockOptin < overlapack::cuda::kSharedByAll) {
    throw DeviceError(std::string(properties.name) + " has " +
                          std::to_string(properties.sharedMemPerBlockOptin / 1024) +
                          " KiB of shared memory for a thread block; " +
                          std::to_string(overlapack::cuda::kSharedByAll / 1024) +
                          " are needed, which GPUs made for computing have (A100, H100, B200)",
                      true);
  }
  refuse_at(end);
  const overlapack::cuda::CurrentDevice current(index);
  // Starts the device, so that one that refuses (exclusive use, no memory) is found here.
  overlapack::cuda::check(cudaFree(nullptr), "starting the GPU");
  refuse_at(end);
  const overlapack::cuda::ComputeCapability capability{properties.major, properties.minor};
  std::string reason;
  const overlapack::cuda::Code code = overlapack::cuda::find_code(reason);
  if (code == overlapack::cuda::Code::none) {
    throw DeviceError(overlapack::cuda::why_no_code(properties.name, capability, reason), true);
  }
  // GPUs made for computing, known by their fast double precision, multiply TF32 numbers eight
  // times as fast as floats; those made for graphics about as fast.
  int single_to_double = 0;
  overlapack::cuda::check(
      cudaDeviceGetAttribute(&single_to_double, cudaDevAttrSingleToDoublePrecisionPerfRatio, index),
      "reading the GPU's data");
  const bool has_fast_doubles = single_to_double <= 2;
  const overlapack::cuda::Gpu gpu = {
      index, properties.multiProcessorCount,
      static_cast<overlapack::Index>(properties.sharedMemPerBlockOptin),
      code == overlapack::cuda::Code::hopper, has_fast_doubles};
  return new overlapack::cuda::CudaDevice(gpu, properties, has_fast_doubles,
                                          overlapack::cuda::what_is_missing(capability, code));
}
