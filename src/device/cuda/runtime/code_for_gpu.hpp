// What there is to be said of a plug-in that was not built for the GPU it finds.
#pragma once

#include <string>

namespace overlapack::cuda {

/// Which machine code of the plug-in a GPU can run.
enum class Code {
  none,    ///< nor can the driver make it some
  common,  ///< what every GPU has
  hopper,  ///< the GPU is of compute capability 9.0, and there is code for 90a
};

/// A GPU's generation: 9 and 0 of an H200.
struct ComputeCapability {
  int major, minor;
  std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
  /// As CMake has it.
  std::string architecture() const {
    const std::string number = std::to_string(10 * major + minor);
    return is_hopper() ? number + "a" : number;
  }
  bool is_hopper() const { return major == 9 && minor == 0; }
};

inline std::string how_to_build(const ComputeCapability& gpu) {
  return "build it with -DCMAKE_CUDA_ARCHITECTURES=" + gpu.architecture();
}

/// Why a GPU is refused for which there is no code. `reason` is CUDA's.
inline std::string why_no_code(const std::string& model, const ComputeCapability& gpu,
                               const std::string& reason) {
  return model + " has compute capability " + gpu.text() +
         ", for which the CUDA plug-in has no code (" + reason + "); " + how_to_build(gpu);
}

/// What is missing for a GPU that is used all the same; empty if nothing is.
inline std::string what_is_missing(const ComputeCapability& gpu, Code code) {
  if (!gpu.is_hopper() || code == Code::hopper) return {};
  return "slower than it could be: the CUDA plug-in has no code for 90a; " + how_to_build(gpu);
}

}  // namespace overlapack::cuda
