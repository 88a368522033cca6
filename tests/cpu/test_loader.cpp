// The library that the user names as the CPU LAPACK.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cpu/lapack.hpp"

namespace overlapack {
namespace {

TEST(ConfiguredLapack, SaysWhyItIsIgnored) {
  const std::string pipe = testing::TempDir() + "lapack." + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(cpu::configure(pipe), "it is not a file");
  std::remove(pipe.c_str());
  EXPECT_EQ(cpu::configure("/"), "it is not a file");
  EXPECT_NE(cpu::configure("/nowhere/liblapack.so").find("/nowhere/liblapack.so"),
            std::string::npos);
  EXPECT_EQ(cpu::configure("libm.so.6"), "it has no routine of LAPACK, or is this library");
  EXPECT_EQ(cpu::configure(""), "");
}

}  // namespace
}  // namespace overlapack
