// What was measured of hosts alone: it is the same beside every device, and is known where there is
// none. The text of each field stands in device/tuning_fields.cpp, and `overlapack info --tuning`
// prints it.
#pragma once

#include "core/scalar.hpp"

namespace overlapack {

/// Threads that compute or copy, and how a matrix lies in the host's memory.
struct HostTuning {
  Index awake_microseconds = 50;
  Index timer_slack_nanoseconds = 1000;
  Index computing_threads_at_most = 16;
  Index computing_threads_from_order = 256;
  Index numbers_looked_at_per_thread = Index{1} << 18;
  Index norm_elements_at_least = 4096;
  Index norm_rows_at_least = 32;
  Index update_vectors_per_sweep = 32;
  Index update_numbers_per_thread = 2000000;
  Index update_spins_before_yield = 8192;
  Index rotations_by_threads_from_order = 512;
  Index rotations_by_sweeps_from_order = 256;
  Index region_pieces_at_most = 4;
  Index double_regions_from_bytes = Index{256} << 20;
};

/// Copies as NumPy makes them: a matrix column by column, each by a call of ?copy.
struct NumPyCopies {
  Index threads_from_elements = 2048;
  Index threads_from_adjacent_bytes = 32768;
  Index apart_from_bytes = 256;
  Index conflicting_distance_bytes = Index{128} << 10;
  Index conflict_free_bytes = Index{64} << 20;
  Index copies_per_measurement = 16;
  Index unchanged_microseconds = 20;
  Index first_columns_ahead = 64;
  Index columns_ahead_per_copied = 4;
  Index kept_columns_bytes = Index{4} << 20;
  Index provide_from_bytes = Index{4} << 20;
  Index provide_at_most_bytes = Index{64} << 20;
};

inline constexpr HostTuning kHostTuning;
inline constexpr NumPyCopies kNumPyCopies;

}  // namespace overlapack
