// When products in another form are faster: what they win against what they lose, by the rates of
// the device. Pure functions of shape and table, so that results never depend on timing.
#include "core/view.hpp"
#include "device/residues.hpp"
#include "device/tuning.hpp"

namespace overlapack {
namespace {

/// Real products of residues for one complex product, and real ones that it takes otherwise.
template <class T>
constexpr double kResidueProducts = is_complex<T> ? 3 : 1;
template <class T>
constexpr double kRealProducts = is_complex<T> ? 4 : 1;

/// Seconds, but for the time to find residues. Sums that do not pay, or do not exist, lose.
template <class T>
double won_by_residues(const Tuning::Rates& rates, Index m, Index n, Index k) {
  constexpr double kNeverWins = -1e300;
  const double flops = rates.residue_flops.of<T>();
  if (flops == 0 || k < rates.residue_summands_at_least || k > residues::kSummands)
    return kNeverWins;
  const double won = kRealProducts<T> / rates.fp64_flops - kResidueProducts<T> / flops;
  // Remainders for each modulus, or sums, are written and read.
  const double lost =
      kResidueProducts<T> * (rates.residue_bytes_per_sum / rates.residue_bytes_per_second);
  const double elements = static_cast<double>(m) * static_cast<double>(n);
  return elements * (2 * static_cast<double>(k) * won - lost);
}

}  // namespace

template <class T>
bool split_pays(const Tuning::Rates& rates, Precision precision, Index m, Index n, Index k) {
  const double flops_per_second = rates.split_flops(precision);
  if (flops_per_second == 0) return false;
  const double won_per_flop = 1 / rates.fp32_flops - 1 / flops_per_second;
  // The factors are read and their parts written, by two kernels more.
  const double lost_per_float =
      4 * (precision == Precision::fp16 ? 1.5 : 2.) / rates.split_bytes_per_second;
  constexpr double kReals = is_complex<T> ? 2 : 1;
  const auto rows = static_cast<double>(m), cols = static_cast<double>(n);
  const auto summands = static_cast<double>(k);
  const double flops = 2 * kReals * kReals * rows * cols * summands;
  const double floats = kReals * (kReals * rows + cols) * summands;
  return won_per_flop * flops > lost_per_float * floats + rates.split_overhead_seconds;
}

template <class T>
bool residues_pay(const Tuning::Rates& rates, Index m, Index n, Index k) {
  return won_by_residues<T>(rates, m, n, k) > rates.residue_overhead_seconds.of<T>();
}

template <class T>
bool scaled_residues_pay(const Tuning::Rates& rates, Index m, Index n, Index k) {
  const double lost =
      rates.scaled_residue_seconds_per_number * static_cast<double>(k) * static_cast<double>(m + n);
  return won_by_residues<T>(rates, m, n, k) > lost + rates.scaled_residue_overhead_seconds;
}

#define OVERLAPACK_INSTANTIATE(T)                                                    \
  template bool split_pays<T>(const Tuning::Rates&, Precision, Index, Index, Index); \
  template bool residues_pay<T>(const Tuning::Rates&, Index, Index, Index);          \
  template bool scaled_residues_pay<T>(const Tuning::Rates&, Index, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack
