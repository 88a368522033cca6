// Messages between thread blocks through device memory. Each word of a message says by its tag that
// it has arrived, so nobody needs a fence or a second round trip for a flag.
#pragma once

#include "device/cuda/runtime/launch.cuh"

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

// A double as a message, which takes no more room than the number: it has arrived when the memory
// is no longer empty, and empty memory holds a NaN that nobody sends.

constexpr int kEmptyByte = 0xff;
constexpr unsigned long long kEmpty = ~0ull;

__device__ inline void store(double* to, double x) {
  auto bits = static_cast<unsigned long long>(__double_as_longlong(x));
  if (bits == kEmpty) --bits;  // a NaN, too
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(bits)
               : "memory");
}
/// Each of the two numbers may have arrived or not.
__device__ inline double2 load(const double2* from) {
  double2 pair;
  asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];"
               : "=d"(pair.x), "=d"(pair.y)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return pair;
}
__device__ inline bool arrived(double2 pair) {
  return static_cast<unsigned long long>(__double_as_longlong(pair.x)) != kEmpty &&
         static_cast<unsigned long long>(__double_as_longlong(pair.y)) != kEmpty;
}

/// For those whose turn is not near.
__device__ inline void leave_memory_to_others() {
  constexpr unsigned kPauseNanoseconds = 300;
  __nanosleep(kPauseNanoseconds);
}

}  // namespace overlapack::cuda
