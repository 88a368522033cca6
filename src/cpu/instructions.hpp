// Which vector instructions the processor has.
#pragma once

namespace overlapack::cpu {

/// Instructions that there are versions for.
enum class Instructions { baseline, avx2, avx512 };
inline constexpr Instructions kInstructions[] = {Instructions::baseline, Instructions::avx2,
                                                 Instructions::avx512};
/// Whether the processor has them.
bool supported(Instructions instructions);
/// The best that it has.
Instructions best_instructions();

}  // namespace overlapack::cpu
