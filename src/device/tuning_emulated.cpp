// The emulated device, which meets the small matrices of tests. Products by split operands and by
// residues begin at once, and limits are so low that these matrices turn every ring. All else is as
// on Hopper.
#include "device/tuning.hpp"

namespace overlapack {

const Tuning& emulated_tuning() {
  static const Tuning tuning = [] {
    Tuning result = hopper_tuning();
    result.generation = "emulated device";
    // An overhead below zero: whatever the shape, the product pays.
    result.rates.split_bytes_per_second = result.rates.residue_bytes_per_second =
        std::numeric_limits<double>::infinity();
    result.rates.split_overhead_seconds = -1;
    result.rates.residue_overhead_seconds = {-1, -1, -1, -1};
    result.rates.scaled_residue_overhead_seconds = -1;
    result.rates.scaled_residue_seconds_per_number = 0;
    result.rates.residue_summands_at_least = 16;
    result.break_even = cautious_break_even();
    result.solve.columns_at_once = 16;
    result.inverse.block_columns = 32;
    result.inverse.unit_from_order = 24;
    result.cholesky.one_queue_up_to_order = 64;
    result.lu.first_interchanges_columns_left = 80;
    result.qr.group_blocks = 3;
    result.qr.groups_from_order = 48;
    result.eigen.bandwidth = 5;
    result.eigen.update_columns = 15;
    result.eigen.two_stages_from_order = 40;
    result.eigen.two_stages_from_order_without_vectors = 30;
    constexpr std::size_t kKiB = 1024;
    result.transfer.shared_up_to_bytes = 64 * kKiB;
    result.transfer.caller_issues_up_to_bytes = 32 * kKiB;
    result.transfer.bytes_per_helper = 8 * kKiB;
    result.transfer.chunk_bytes_at_least = 4 * kKiB;
    result.transfer.ring_bytes = 48 * kKiB;
    result.transfer.unit_bytes_at_least = kKiB;
    result.transfer.past_cache_from_bytes = 64 * kKiB;
    result.transfer.kept_upload_bytes = 140 * kKiB;
    return result;
  }();
  return tuning;
}

}  // namespace overlapack
