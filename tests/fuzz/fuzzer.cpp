// The entry points of libFuzzer. OVERLAPACK_FUZZ_TARGET names the reader (scripts/fuzz).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/targets.hpp"

namespace {
const overlapack::fuzz::Target* target = nullptr;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const name = std::getenv("OVERLAPACK_FUZZ_TARGET");
  for (const auto& known : overlapack::fuzz::kTargets) {
    if (name != nullptr && std::string(known.name) == name) target = &known;
  }
  if (target != nullptr) return 0;
  std::fprintf(stderr, "OVERLAPACK_FUZZ_TARGET names no reader\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target->read(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
