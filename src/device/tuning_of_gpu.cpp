// Which table of tuning a GPU gets, and what stands in it of which nobody knows anything.
#include <cmath>

#include "device/tuning.hpp"

namespace overlapack {

Index Tuning::BreakEven::Sizes::of(char type, Index cores) const {
  const auto one = static_cast<double>(one_core.of(type));
  const auto sixteen = static_cast<double>(sixteen_cores.of(type));
  return std::llround(one *
                      std::pow(sixteen / one, std::log(static_cast<double>(cores)) / std::log(16)));
}

Tuning::BreakEven cautious_break_even() {
  constexpr Tuning::BreakEven::Sizes kFactorizations = {{2048, 2048, 2048, 2048},
                                                        {2048, 2048, 2048, 2048}};
  constexpr Tuning::BreakEven::Sizes kSolves = {{1024, 1024, 1024, 1024}, {1024, 1024, 1024, 1024}};
  Tuning::BreakEven sizes{};
  sizes.potrf = sizes.posv = sizes.getrf = sizes.gesv = kFactorizations;
  sizes.mixed_posv = sizes.mixed_gesv = kFactorizations;
  sizes.trtri = sizes.lauum = sizes.potri = sizes.getri = kFactorizations;
  sizes.potrs = sizes.getrs = sizes.trtrs = kSolves;
  sizes.geqrf = sizes.orgqr = sizes.ormqr = sizes.gels = kFactorizations;
  sizes.syevd = sizes.sytrd = sizes.stedc = kFactorizations;
  sizes.gecon = sizes.pocon = sizes.trcon = kFactorizations;
  sizes.update = hopper_tuning().break_even.update;
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
