// Messages between thread blocks through device memory. Each word of a message says by its tag that
// it has arrived, so nobody needs a fence or a second round trip for a flag.
#pragma once

#include "device/cuda/launch.cuh"

namespace overlapack::cuda {

struct alignas(16) Word {
  unsigned long long tagged;  // whatever tells this word from what was there before
  unsigned long long value;
};

// 128-bit accesses that are single, also in the memory model (PTX ISA, "ld" and "st", type .b128).
__device__ inline void store(Word* to, unsigned long long tagged, unsigned long long value) {
  asm volatile(
      "{ .reg .b128 word;\n"
      "  mov.b128 word, {%1, %2};\n"
      "  st.relaxed.gpu.global.b128 [%0], word; }"
      :
      : "l"(__cvta_generic_to_global(to)), "l"(tagged), "l"(value)
      : "memory");
}
__device__ inline Word load(const Word* from) {
  Word word;
  asm volatile(
      "{ .reg .b128 word;\n"
      "  ld.relaxed.gpu.global.b128 word, [%2];\n"
      "  mov.b128 {%0, %1}, word; }"
      : "=l"(word.tagged), "=l"(word.value)
      : "l"(__cvta_generic_to_global(from))
      : "memory");
  return word;
}

}  // namespace overlapack::cuda
