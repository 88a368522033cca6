// The table of tuning: what was measured of a generation of devices, and what follows from that.
// It has rates, block sizes, thresholds and sizes of rings. Each generation has one instance.
//
// Algorithms take what depends on the device from here. Some values stand elsewhere:
//
//   kernels (device/cuda)   tiles, warps, stages, numbers of thread blocks, and the orders from
//                           which one kernel takes over from another
//   host/tuning.hpp         values of the CPU; they are constants, which the table repeats
//   cpu                     widths of loops in registers
//   dispatch/plan.*         how long CUDA takes to start, and how fast a core is taken to be
//   dispatch/residency.hpp  from which size on a call asks where its matrix lies
//
// A name tells role and unit. This file has the fields, tuning_fields.cpp their texts (unit,
// meaning, where each was measured), and tuning_sm80.cpp, tuning_sm90.cpp and tuning_emulated.cpp
// the values. tuning_of_gpu.cpp chooses the instance. `overlapack info --tuning` prints it.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "host/tuning.hpp"

namespace overlapack {

/// A value for each type of numbers.
template <class V>
struct PerType {
  V s, d, c, z;

  /// That of a type, or of its letter.
  template <class T>
  constexpr V of() const {
    return of(ScalarTraits<T>::letter);
  }
  constexpr V of(char letter) const {
    return letter == 's' ? s : letter == 'd' ? d : letter == 'c' ? c : z;
  }
};

struct Tuning {
  /// A size that nothing reaches.
  static constexpr Index kNever = std::numeric_limits<Index>::max();

  /// For split_pays() and its sisters below. A rate of 0: the device has no such products.
  struct Rates {
    double fp32_flops, fp64_flops;
    double split_fp32_flops, split_tf32_flops, split_fp16_flops;
    double split_bytes_per_second;
    double split_overhead_seconds;
    PerType<double> residue_flops;
    double residue_bytes_per_sum, residue_bytes_per_second;
    PerType<double> residue_overhead_seconds;
    double scaled_residue_overhead_seconds, scaled_residue_seconds_per_number;
    Index residue_summands_at_least;

    double split_flops(Precision precision) const {
      return precision == Precision::fp32   ? split_fp32_flops
             : precision == Precision::tf32 ? split_tf32_flops
                                            : split_fp16_flops;
    }
  };

  /// The order of diagonal blocks, by the order of the matrix.
  struct Blocks {
    Index narrow_columns, medium_columns, wide_columns;
    Index narrow_up_to_order;  ///< and medium from there to
    Index wide_from_order;
    PerType<Index> wide_from_order_with_residues;
  };

  struct Cholesky {
    Blocks blocks;
    Index one_queue_up_to_order;
    PerType<Index> leading_from_order, leading_from_order_with_residues;
    Index leading_large_from_order;
    Index leading_percent;
    PerType<Index> leading_percent_of_large;
    Index row_multiple, column_multiple;
  };

  struct Lu {
    /// How many blocks of a matrix have arrived when block b is factored.
    struct Arrival {
      Index quarters_per_block, blocks_ahead;
      Index blocks(Index b) const { return quarters_per_block * b / 4 + blocks_ahead; }
    };

    Blocks blocks;
    Arrival arrival, arrival_of_tall, arrival_of_halves;
    Index tall_from_rows;
    Index whole_blocks_from_panel_widths;
    Index late_groups_at_most, late_group_blocks_at_least, late_steps_per_block;
    Index long_step_blocks, far_group_blocks, far_queues;
    PerType<Index> blocks_before_far;
    Index residue_product_columns;
    Index resident_blocks_copied_alone;
    Index immediate_interchanges_up_to_blocks, first_interchanges_columns_left;
    Index signals_from_blocks, blocks_per_signal;
    Index gather_up_to_rows_per_interchange;
    Index interchange_task_bytes;
    Index interchange_task_columns_at_least, interchange_task_columns_at_most;
  };

  struct Qr {
    Index block_columns, ungrouped_block_columns;
    Index group_blocks, groups_from_order;
    Index reflector_columns;
    Lu::Arrival arrival;
  };

  struct Eigen {
    Index panel_columns, way_back_columns;
    Index bandwidth, update_columns;
    Index two_stages_from_order, two_stages_from_order_without_vectors;
  };

  struct Solve {
    Index substitution_columns_at_most;
    Index columns_at_once;
  };

  struct Inverse {
    Index block_columns;
    Index unit_from_order;
  };

  struct Refine {
    Index halves_from_order;
    Index halves_from_threads;
    Index joined_regions_per_block;
  };

  struct Update {
    Index region_unit_columns;
    Index region_columns, region_columns_of_large, large_from_order;
    Index region_columns_per_vector;
    Index region_staging_bytes;
    Index short_of_memory_region_columns;
    Index window_regions;
    Index independent_region_panels, independent_panel_queues;
  };

  /// From which size on calls go to the device (FamilyTraits::size), unless a profile says it.
  struct BreakEven {
    /// With so many cores for the CPU LAPACK. Between them, and beyond, the size goes as a power of
    /// the number of cores.
    struct Sizes {
      PerType<Index> one_core, sixteen_cores;
      Index of(char type, Index cores) const;
    };

    Sizes potrf, posv, potrs, getrf, gesv, getrs, trtrs, gecon, pocon, trcon, trtri, lauum, potri,
        getri, geqrf, orgqr, ormqr, gels, syevd, sytrd, stedc, mixed_posv, mixed_gesv, update;
    const char* origin;  ///< on what they were measured, or why they are cautious
  };

  /// How transfers are cut and paced (transfer/transfer.hpp).
  struct Transfer {
    std::size_t shared_up_to_bytes, caller_issues_up_to_bytes, bytes_per_helper;
    Index threads_woken_by_caller;
    std::size_t chunks, chunk_bytes_at_least, chunk_bytes_at_most;
    std::size_t ring_bytes;
    std::size_t units_per_chunk, unit_bytes_at_least;
    std::size_t scattered_below_column_bytes, scattered_beyond_span_bytes;
    Index unpacking_threads;
    Index uploads_per_signal;
    Index chunks_packed_ahead;
    std::size_t past_cache_from_bytes;
    std::size_t kept_upload_bytes;
  };

  const char* generation;
  Rates rates;
  Cholesky cholesky;
  Lu lu;
  Qr qr;
  Eigen eigen;
  Solve solve;
  Inverse inverse;
  Refine refine;
  Update update;
  BreakEven break_even;
  Transfer transfer;
  HostTuning host;
  NumPyCopies numpy;
};

/// A break-even that no call reaches.
inline constexpr Index kNever = 1000000000;

/// The tables: NVIDIA's Hopper (H100, H200), what has not its code (Ampere, and GPUs after Hopper),
/// and the emulated device, whose limits are so low that small matrices of tests turn every ring.
const Tuning& hopper_tuning();
const Tuning& ampere_tuning();
const Tuning& emulated_tuning();
/// Sizes so high that a current GPU wins from there on, whatever the CPU.
Tuning::BreakEven cautious_break_even();
/// That of a GPU. `fast_tf32`: it multiplies TF32 numbers faster than floats, as GPUs made for
/// computing do.
Tuning tuning_of_gpu(bool has_hopper_code, bool fast_tf32);

/// Whether a product of an m x k and a k x n matrix in single precision is faster by split operands
/// (Split), the work of splitting them included.
template <class T>
bool split_pays(const Tuning::Rates& rates, Precision precision, Index m, Index n, Index k);
/// Whether C - A B^H in double precision, for matrices of m x k and n x k, is faster by residues
/// (FindResidues), of which those of m times n numbers must be found for it.
template <class T>
bool residues_pay(const Tuning::Rates& rates, Index m, Index n, Index k);
/// The same for FindScaledResidues, where the residues of both factors must be found.
template <class T>
bool scaled_residues_pay(const Tuning::Rates& rates, Index m, Index n, Index k);

/// One field of the table, for people.
struct TuningField {
  std::string name;      ///< "lu.far_group_blocks"
  std::string value;     ///< four of them, of s, d, c and z, where they differ by type
  std::string unit;      ///< "blocks"
  std::string meaning;   ///< a phrase
  std::string measured;  ///< the entry of bench/log, without its folder and ".md"
  std::size_t bytes;     ///< of the field itself
};
/// All of them, in the order in which they stand in Tuning.
std::vector<TuningField> fields_of(const Tuning& tuning);

}  // namespace overlapack
