#include "cpu/instructions.hpp"

namespace overlapack::cpu {

bool supported(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return __builtin_cpu_supports("avx512f") != 0;
  if (instructions == Instructions::avx2) {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  }
#endif
  return instructions == Instructions::baseline;
}

Instructions best_instructions() {
  Instructions best = Instructions::baseline;
  for (const Instructions one : kInstructions) {
    if (supported(one)) best = one;
  }
  return best;
}

}  // namespace overlapack::cpu
