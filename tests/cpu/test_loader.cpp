// The library that the user names as the CPU LAPACK.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
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

/// A file that ends too early, where the dynamic linker maps more than there is.
TEST(ConfiguredLapack, MayBeABrokenCopy) {
  const std::string copy = testing::TempDir() + "liblapack." + std::to_string(getpid()) + ".so";
  std::filesystem::copy_file("/proc/self/exe", copy);
  for (const auto bytes : {20000, 4096, 2000, 100}) {
    std::filesystem::resize_file(copy, static_cast<std::uintmax_t>(bytes));
    EXPECT_EQ(cpu::configure(copy), "the file is incomplete") << bytes;
  }
  std::filesystem::resize_file(copy, 0);
  EXPECT_NE(cpu::configure(copy), "");
  std::filesystem::remove(copy);
  EXPECT_EQ(cpu::configure(""), "");
}

}  // namespace
}  // namespace overlapack
