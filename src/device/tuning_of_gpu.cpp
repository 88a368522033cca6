// Which table of tuning a GPU gets, and what stands in it of which nobody knows anything.
#include "device/tuning.hpp"

namespace overlapack {

Tuning::BreakEven cautious_break_even() {
  Tuning::BreakEven sizes{};
  sizes.cholesky = sizes.lu = sizes.mixed_cholesky = sizes.mixed_lu = {2048, 2048, 2048, 2048};
  sizes.update = hopper_tuning().break_even.update;
  sizes.solve_of_one_core = sizes.triangle_of_one_core = 256;
  sizes.origin = "cautious, since none of this generation was measured";
  return sizes;
}

Tuning tuning_of_gpu(bool has_hopper_code, bool fast_tf32) {
  Tuning tuning = has_hopper_code ? hopper_tuning() : ampere_tuning();
  if (!fast_tf32) {
    tuning.rates.split_fp32_flops = 0;
    tuning.rates.split_tf32_flops = 0;
    tuning.rates.split_fp16_flops = 0;
  }
  return tuning;
}

}  // namespace overlapack
