// Hopper (compute capability 9.0): measured on an H200 and on H100s.
#include "device/tuning.hpp"

namespace overlapack {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

constexpr Tuning::Rates rates() {
  Tuning::Rates rates{};
  rates.fp32_flops = 44e12;
  rates.fp64_flops = 50e12;
  rates.split_fp32_flops = 180e12;
  rates.split_tf32_flops = 250e12;
  rates.split_fp16_flops = 450e12;
  rates.split_bytes_per_second = 4e12;
  rates.split_overhead_seconds = 5e-6;
  rates.residue_flops = {0, 100e12, 0, 100e12};
  rates.residue_bytes_per_sum = 44;
  rates.residue_bytes_per_second = 2e12;
  rates.residue_overhead_seconds = {0, 100e-6, 0, 150e-6};
  rates.scaled_residue_overhead_seconds = 0;
  rates.scaled_residue_seconds_per_number = 47e-12;
  rates.residue_summands_at_least = 0;
  return rates;
}

constexpr Tuning::Cholesky cholesky() {
  constexpr Index kNever = Tuning::kNever;
  Tuning::Cholesky cholesky{};
  cholesky.blocks.narrow_columns = 128;
  cholesky.blocks.medium_columns = 256;
  cholesky.blocks.wide_columns = 512;
  cholesky.blocks.narrow_up_to_order = 1024;
  cholesky.blocks.wide_from_order = 32768;
  cholesky.blocks.wide_from_order_with_residues = {9216, 9216, 9216, 9216};
  cholesky.one_queue_up_to_order = 2048;
  cholesky.leading_from_order = {kNever, 4096, kNever, kNever};
  cholesky.leading_from_order_with_residues = {kNever, 4096, kNever, 12288};
  cholesky.leading_large_from_order = 12288;
  cholesky.leading_percent = 50;
  cholesky.leading_percent_of_large = {70, 70, 70, 60};
  cholesky.row_multiple = 64;
  cholesky.column_multiple = 2;
  return cholesky;
}

constexpr Tuning::Lu lu() {
  Tuning::Lu lu{};
  lu.blocks.narrow_columns = 128;
  lu.blocks.medium_columns = 256;
  lu.blocks.wide_columns = 512;
  lu.blocks.narrow_up_to_order = 4096;
  lu.blocks.wide_from_order = 12288;
  lu.blocks.wide_from_order_with_residues = {12288, 12288, 12288, Tuning::kNever};
  lu.arrival = {6, 4};
  lu.arrival_of_tall = {5, 3};
  lu.arrival_of_halves = {8, 4};
  lu.tall_from_rows = 8192;
  lu.whole_blocks_from_panel_widths = 32;
  lu.late_groups_at_most = 3;
  lu.late_group_blocks_at_least = 2;
  lu.late_steps_per_block = 3;
  lu.long_step_blocks = 8;
  lu.far_group_blocks = 4;
  lu.far_queues = 3;
  lu.blocks_before_far = {5, 5, 4, 4};
  lu.residue_product_columns = 512;
  lu.resident_blocks_copied_alone = 2;
  lu.immediate_interchanges_up_to_blocks = 16;
  lu.first_interchanges_columns_left = 2048;
  lu.signals_from_blocks = 17;
  lu.blocks_per_signal = 4;
  lu.gather_up_to_rows_per_interchange = 4;
  lu.interchange_task_bytes = kMiB;
  lu.interchange_task_columns_at_least = 8;
  lu.interchange_task_columns_at_most = 32;
  return lu;
}

constexpr Tuning::Qr qr() {
  Tuning::Qr qr{};
  qr.block_columns = 128;
  qr.ungrouped_block_columns = 256;
  qr.group_blocks = 4;
  qr.groups_from_order = 8192;
  qr.reflector_columns = 512;
  qr.arrival = {14, 4};
  return qr;
}

constexpr Tuning::Eigen eigen() {
  Tuning::Eigen eigen{};
  eigen.panel_columns = 64;
  eigen.way_back_columns = 128;
  eigen.bandwidth = 64;
  eigen.update_columns = 256;
  eigen.two_stages_from_order = 6000;
  eigen.two_stages_from_order_without_vectors = 6000;
  return eigen;
}

constexpr Tuning::Update update() {
  Tuning::Update update{};
  update.region_unit_columns = 64;
  update.region_columns = 256;
  update.region_columns_of_large = 512;
  update.large_from_order = 8192;
  update.region_columns_per_vector = 8;
  update.region_staging_bytes = 64 * kMiB;
  update.short_of_memory_region_columns = 32;
  update.window_regions = 6;
  update.independent_region_panels = 2;
  update.independent_panel_queues = 2;
  return update;
}

constexpr Tuning::BreakEven break_even() {
  Tuning::BreakEven sizes{};
  sizes.potrf = {{160, 128, 128, 128}, {112, 72, 72, 72}};
  sizes.posv = {{192, 192, 160, 160}, {128, 72, 72, 72}};
  sizes.potrs = {{72, 72, 64, 64}, {288, 264, 256, 224}};
  sizes.getrf = {{224, 192, 160, 160}, {120, 100, 100, 100}};
  sizes.gesv = {{256, 256, 128, 128}, {144, 152, 108, 108}};
  sizes.getrs = {{80, 80, 64, 64}, {208, 248, 208, 240}};
  sizes.trtrs = {{96, 96, 80, 80}, {400, 352, 352, 336}};
  sizes.gecon = {{640, 600, 420, 360}, {544, 480, 400, 336}};
  sizes.pocon = {{720, 680, 420, 384}, {544, 480, 400, 336}};
  sizes.trcon = {{720, 680, 420, 384}, {640, 576, 420, 352}};
  sizes.trtri = {{128, 112, 128, 120}, {72, 72, 100, 100}};
  sizes.lauum = {{320, 300, 200, 160}, {72, 64, 80, 80}};
  sizes.potri = {{128, 120, 112, 112}, {72, 64, 80, 80}};
  sizes.getri = {{136, 128, 120, 112}, {88, 80, 72, 64}};
  sizes.geqrf = {{384, 272, 208, 160}, {160, 144, 144, 144}};
  sizes.orgqr = {{176, 144, 112, 96}, {112, 96, 96, 96}};
  sizes.ormqr = {{400, 400, 320, 320}, {112, 112, 112, 112}};
  sizes.gels = {{400, 288, 224, 176}, {176, 160, 160, 160}};
  sizes.syevd = {{320, 256, 256, 192}, {320, 256, 256, 192}};
  sizes.sytrd = {{512, 448, 384, 320}, {512, 448, 384, 320}};
  sizes.stedc = {{320, 320, 320, 320}, {320, 320, 320, 320}};
  sizes.mixed_posv = {{144, 144, 112, 112}, {144, 144, 112, 112}};
  sizes.mixed_gesv = {{216, 216, 96, 96}, {216, 216, 96, 96}};
  sizes.update = {{10240, 6656, 5120, 640}, {10240, 6656, 5120, 640}};
  sizes.origin = "mostly measured on an H200";
  return sizes;
}

constexpr Tuning::Transfer transfer() {
  Tuning::Transfer transfer{};
  transfer.shared_up_to_bytes = 36 * kMiB;
  transfer.caller_issues_up_to_bytes = 16 * kMiB;
  transfer.bytes_per_helper = kMiB;
  transfer.threads_woken_by_caller = 2;
  transfer.chunks = 128;
  transfer.chunk_bytes_at_least = kMiB;
  transfer.chunk_bytes_at_most = 2 * kMiB;
  transfer.ring_bytes = 24 * kMiB;
  transfer.units_per_chunk = 4;
  transfer.unit_bytes_at_least = 64 * kKiB;
  transfer.scattered_below_column_bytes = 16 * kKiB;
  transfer.scattered_beyond_span_bytes = 128 * kMiB;
  transfer.unpacking_threads = 6;
  transfer.uploads_per_signal = 3;
  transfer.chunks_packed_ahead = 8;
  transfer.past_cache_from_bytes = 128 * kMiB;
  transfer.kept_upload_bytes = 200 * kMiB;
  return transfer;
}

constexpr Tuning hopper() {
  Tuning tuning{};
  tuning.generation = "Hopper (compute capability 9.0)";
  tuning.rates = rates();
  tuning.cholesky = cholesky();
  tuning.lu = lu();
  tuning.qr = qr();
  tuning.eigen = eigen();
  tuning.solve.substitution_columns_at_most = 8;
  tuning.solve.columns_at_once = 2048;
  tuning.inverse.block_columns = 512;
  tuning.inverse.unit_from_order = 1536;
  tuning.refine.halves_from_order = 6144;
  tuning.refine.halves_from_threads = 12;
  tuning.refine.joined_regions_per_block = 3;
  tuning.update = update();
  tuning.break_even = break_even();
  tuning.transfer = transfer();
  return tuning;
}

}  // namespace

const Tuning& hopper_tuning() {
  static constexpr Tuning tuning = hopper();
  return tuning;
}

}  // namespace overlapack
