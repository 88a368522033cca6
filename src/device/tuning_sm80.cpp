// Ampere (compute capability 8.0), and GPUs after Hopper: what has not the machine code for Hopper.
// Products of split operands in FP32 have no kernel there. Residues are multiplied by cuBLAS, which
// has no complex products of small integers. All else is as on Hopper.
#include "device/tuning.hpp"

namespace overlapack {

const Tuning& ampere_tuning() {
  static const Tuning tuning = [] {
    Tuning result = hopper_tuning();
    result.generation = "Ampere (compute capability 8.0), and later ones but Hopper";
    result.rates.split_fp32_flops = 0;
    result.rates.residue_flops = {0, 90e12, 0, 0};
    result.rates.residue_bytes_per_sum = 112;
    result.rates.residue_bytes_per_second = 4e12;
    result.break_even = cautious_break_even();
    return result;
  }();
  return tuning;
}

}  // namespace overlapack
