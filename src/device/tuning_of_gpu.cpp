// Which table of tuning a GPU gets.
#include "device/tuning.hpp"

namespace overlapack {

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
