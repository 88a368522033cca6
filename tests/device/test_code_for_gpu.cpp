// What is said of a plug-in that was not built for the GPU it finds.
#include <gtest/gtest.h>

#include "device/cuda/runtime/code_for_gpu.hpp"

namespace overlapack::cuda {
namespace {

constexpr ComputeCapability kAmpere{8, 0}, kHopper{9, 0}, kBlackwell{10, 0};

TEST(CodeForGpu, IsMissedOnHopperAlone) {
  EXPECT_EQ(what_is_missing(kHopper, Code::common),
            "slower than it could be: the CUDA plug-in has no code for 90a; build it with "
            "-DCMAKE_CUDA_ARCHITECTURES=90a");
  EXPECT_EQ(what_is_missing(kHopper, Code::hopper), "");
  EXPECT_EQ(what_is_missing(kAmpere, Code::common), "");
  EXPECT_EQ(what_is_missing(kBlackwell, Code::common), "");
}

TEST(CodeForGpu, IsAskedForByItsName) {
  EXPECT_EQ(why_no_code("NVIDIA B200", kBlackwell, "no kernel image"),
            "NVIDIA B200 has compute capability 10.0, for which the CUDA plug-in has no code (no "
            "kernel image); build it with -DCMAKE_CUDA_ARCHITECTURES=100");
  EXPECT_EQ(kHopper.architecture(), "90a");
  EXPECT_EQ(kAmpere.architecture(), "80");
}

}  // namespace
}  // namespace overlapack::cuda
