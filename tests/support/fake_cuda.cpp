// Stands for the CUDA driver in a process of a test: it calls one range of addresses device memory.
#include "support/fake_cuda.hpp"

#include <cstdint>

namespace {
std::uintptr_t first = 0, last = 0;
}

void fake_device_memory(const void* begin, const void* end) {
  first = reinterpret_cast<std::uintptr_t>(begin);
  last = reinterpret_cast<std::uintptr_t>(end);
}

extern "C" [[gnu::visibility("default")]] int cuPointerGetAttribute(void* value, int attribute,
                                                                    std::uintptr_t pointer) {
  constexpr int kMemoryType = 2;
  constexpr unsigned kDevice = 2;
  if (pointer < first || pointer >= last) return 1;
  *static_cast<unsigned*>(value) = attribute == kMemoryType ? kDevice : 0;
  return 0;
}
