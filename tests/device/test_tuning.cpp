// The table of tuning: that every field has its text, and which products pay by its rates.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "core/view.hpp"
#include "device/emulated/emulated_device.hpp"
#include "device/residues.hpp"
#include "device/tuning.hpp"

namespace overlapack {
namespace {

// ---- Fields -------------------------------------------------------------------------------

TEST(TuningFields, HaveUnitMeaningAndLogEntry) {
  std::set<std::string> names;
  for (const TuningField& field : fields_of(hopper_tuning())) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name << " stands there twice";
    EXPECT_FALSE(field.value.empty()) << field.name;
    EXPECT_FALSE(field.unit.empty()) << field.name;
    EXPECT_FALSE(field.meaning.empty()) << field.name;
    const auto entry = std::filesystem::path(OVERLAPACK_LOG) / (field.measured + ".md");
    EXPECT_TRUE(std::filesystem::is_regular_file(entry)) << field.name << ": " << entry;
  }
}

TEST(TuningFields, AreAllOfTheTable) {
  const auto fields = fields_of(hopper_tuning());
  const std::size_t bytes =
      std::accumulate(fields.begin(), fields.end(), sizeof hopper_tuning().generation,
                      [](std::size_t sum, const TuningField& field) { return sum + field.bytes; });
  EXPECT_EQ(bytes, sizeof(Tuning)) << "a field of the table has no text";
}

/// The names of the fields in which two tables differ.
std::set<std::string> differences(const Tuning& one, const Tuning& other) {
  const auto fields = fields_of(one), others = fields_of(other);
  std::set<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].value != others[i].value) names.insert(fields[i].name);
  }
  return names;
}

TEST(TuningTables, DifferWhereGenerationsDo) {
  using Names = std::set<std::string>;
  EXPECT_EQ(differences(hopper_tuning(), ampere_tuning()), (Names{"rates.split_fp32_flops",
                                                                  "rates.residue_flops",
                                                                  "rates.residue_bytes_per_sum",
                                                                  "rates.residue_bytes_per_second",
                                                                  "break_even.potrf_1_core",
                                                                  "break_even.potrf_16_cores",
                                                                  "break_even.posv_1_core",
                                                                  "break_even.posv_16_cores",
                                                                  "break_even.potrs_1_core",
                                                                  "break_even.potrs_16_cores",
                                                                  "break_even.getrf_1_core",
                                                                  "break_even.getrf_16_cores",
                                                                  "break_even.gesv_1_core",
                                                                  "break_even.gesv_16_cores",
                                                                  "break_even.getrs_1_core",
                                                                  "break_even.getrs_16_cores",
                                                                  "break_even.trtrs_1_core",
                                                                  "break_even.trtrs_16_cores",
                                                                  "break_even.gecon_1_core",
                                                                  "break_even.gecon_16_cores",
                                                                  "break_even.pocon_1_core",
                                                                  "break_even.pocon_16_cores",
                                                                  "break_even.trcon_1_core",
                                                                  "break_even.trcon_16_cores",
                                                                  "break_even.mixed_posv_1_core",
                                                                  "break_even.mixed_posv_16_cores",
                                                                  "break_even.mixed_gesv_1_core",
                                                                  "break_even.mixed_gesv_16_cores",
                                                                  "break_even.trtri_1_core",
                                                                  "break_even.trtri_16_cores",
                                                                  "break_even.lauum_1_core",
                                                                  "break_even.lauum_16_cores",
                                                                  "break_even.potri_1_core",
                                                                  "break_even.potri_16_cores",
                                                                  "break_even.getri_1_core",
                                                                  "break_even.getri_16_cores",
                                                                  "break_even.geqrf_1_core",
                                                                  "break_even.geqrf_16_cores",
                                                                  "break_even.orgqr_1_core",
                                                                  "break_even.orgqr_16_cores",
                                                                  "break_even.ormqr_1_core",
                                                                  "break_even.ormqr_16_cores",
                                                                  "break_even.gels_1_core",
                                                                  "break_even.gels_16_cores",
                                                                  "break_even.syevd_1_core",
                                                                  "break_even.syevd_16_cores",
                                                                  "break_even.sytrd_1_core",
                                                                  "break_even.sytrd_16_cores",
                                                                  "break_even.stedc_1_core",
                                                                  "break_even.stedc_16_cores",
                                                                  "break_even.origin"}));
  EXPECT_EQ(differences(hopper_tuning(), tuning_of_gpu(true, true)), Names());
  EXPECT_EQ(differences(ampere_tuning(), tuning_of_gpu(false, true)), Names());
  EXPECT_EQ(differences(ampere_tuning(), tuning_of_gpu(false, false)),
            (Names{"rates.split_tf32_flops", "rates.split_fp16_flops"}));
  EXPECT_EQ(make_emulated_device()->tuning().generation, emulated_tuning().generation);
}

// ---- Products that pay --------------------------------------------------------------------

/// A GPU as its kernels see it, or the emulated device.
struct Machine {
  bool has_hopper_code, fast_tf32;
  bool emulated = false;

  Tuning tuning() const {
    return emulated ? emulated_tuning() : tuning_of_gpu(has_hopper_code, fast_tf32);
  }
};
constexpr Machine kMachines[] = {
    {true, true}, {true, false}, {false, true}, {false, false}, {false, false, true}};

// What is won and lost, written out with the rates of each machine.

template <class T>
bool split_wins(const Machine& machine, Precision precision, Index m, Index n, Index k) {
  if (machine.emulated) return true;
  if (precision == Precision::fp32 && !machine.has_hopper_code) return false;
  const double rate = precision == Precision::fp32   ? 180e12
                      : precision == Precision::tf32 ? 250e12
                                                     : 450e12;
  const double won_per_flop = 1 / 44e12 - 1 / rate;
  const double lost_per_float = 4 * (precision == Precision::fp16 ? 1.5 : 2.) / 4e12;
  constexpr double kReals = is_complex<T> ? 2 : 1;
  const auto rows = static_cast<double>(m), cols = static_cast<double>(n);
  const auto summands = static_cast<double>(k);
  const double flops = 2 * kReals * kReals * rows * cols * summands;
  const double floats = kReals * (kReals * rows + cols) * summands;
  return machine.fast_tf32 && won_per_flop * flops > lost_per_float * floats + 5e-6;
}

template <class T>
double won_by_residues(const Machine& machine, Index m, Index n, Index k) {
  constexpr double kReal = is_complex<T> ? 4 : 1, kProducts = is_complex<T> ? 3 : 1;
  const bool exist = machine.has_hopper_code || !is_complex<T>;
  if (!exist || k > residues::kSummands) return -1;
  const double won = kReal / 50e12 - kProducts / (machine.has_hopper_code ? 100e12 : 90e12);
  const double lost = kProducts * (machine.has_hopper_code ? 44 / 2e12 : 112 / 4e12);
  const double elements = static_cast<double>(m) * static_cast<double>(n);
  return elements * (2 * static_cast<double>(k) * won - lost);
}

template <class T>
bool residues_win(const Machine& machine, Index m, Index n, Index k) {
  if (machine.emulated) return k >= 16;
  return won_by_residues<T>(machine, m, n, k) > (is_complex<T> ? 150e-6 : 100e-6);
}

template <class T>
bool scaled_residues_win(const Machine& machine, Index m, Index n, Index k) {
  if (machine.emulated) return k >= 16;
  return won_by_residues<T>(machine, m, n, k) >
         47e-12 * static_cast<double>(k) * static_cast<double>(m + n);
}

/// Sizes on both sides of every threshold.
constexpr Index kSizes[] = {0,    1,    15,   16,    17,    64,    100,   255,   256,
                            511,  512,  700,  1000,  1024,  1500,  2048,  3000,  4096,
                            6000, 8192, 9216, 12000, 16384, 20000, 32768, 100000};

/// Calls f(m, n, k) with all of them.
template <class F>
void for_each_shape(F f) {
  for (const Index m : kSizes) {
    for (const Index n : kSizes) {
      for (const Index k : kSizes) f(m, n, k);
    }
  }
}

template <class T>
class ProductsThatPay : public ::testing::Test {};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ProductsThatPay, Types);

TYPED_TEST(ProductsThatPay, AreThoseThatWinMoreThanTheyLose) {
  using T = TypeParam;
  for (const Machine& machine : kMachines) {
    const Tuning tuning = machine.tuning();
    const Tuning::Rates& rates = tuning.rates;
    Index wrong = 0, paying = 0;
    const auto compare = [&](bool pays, bool wins) {
      wrong += pays != wins ? 1 : 0;
      paying += pays ? 1 : 0;
    };
    for_each_shape([&](Index m, Index n, Index k) {
      if constexpr (std::is_same_v<Real<T>, float>) {
        for (const Precision precision : kPrecisions) {
          compare(split_pays<T>(rates, precision, m, n, k),
                  split_wins<T>(machine, precision, m, n, k));
        }
      } else {
        compare(residues_pay<T>(rates, m, n, k), residues_win<T>(machine, m, n, k));
        compare(scaled_residues_pay<T>(rates, m, n, k), scaled_residues_win<T>(machine, m, n, k));
      }
    });
    EXPECT_EQ(wrong, 0) << tuning.generation;
    const bool split = std::is_same_v<Real<T>, float>;
    const bool any =
        machine.emulated || (split ? machine.fast_tf32 : machine.has_hopper_code || !is_complex<T>);
    EXPECT_EQ(paying > 0, any) << tuning.generation;
  }
}

TEST(ProductsByResidues, HaveNoMoreSummandsThanResiduesAllow) {
  constexpr Index kMaxSummands = residues::kSummands;
  for (const Tuning& tuning : {hopper_tuning(), ampere_tuning(), emulated_tuning()}) {
    EXPECT_TRUE(residues_pay<double>(tuning.rates, 4096, 4096, kMaxSummands)) << tuning.generation;
    EXPECT_FALSE(residues_pay<double>(tuning.rates, 4096, 4096, kMaxSummands + 1))
        << tuning.generation;
  }
}

}  // namespace
}  // namespace overlapack
