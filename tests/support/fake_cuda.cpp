// Stands for the CUDA driver in a process of a test: it knows one range of addresses.
#include "support/fake_cuda.hpp"

#include <cstdint>

namespace {
FakeMemory kind_of_memory = FakeMemory::host;
std::uintptr_t first = 0, last = 0;
}  // namespace

void fake_memory(FakeMemory kind, const void* begin, const void* end) {
  kind_of_memory = kind;
  first = reinterpret_cast<std::uintptr_t>(begin);
  last = reinterpret_cast<std::uintptr_t>(end);
}

extern "C" [[gnu::visibility("default")]] int cuPointerGetAttribute(void* value, int attribute,
                                                                    std::uintptr_t pointer) {
  constexpr int kMemoryType = 2;
  constexpr unsigned kHost = 1, kDevice = 2;
  if (pointer < first || pointer >= last) return 1;
  const unsigned type = kind_of_memory == FakeMemory::host ? kHost : kDevice;
  const unsigned managed = kind_of_memory == FakeMemory::managed;
  *static_cast<unsigned*>(value) = attribute == kMemoryType ? type : managed;
  return 0;
}
