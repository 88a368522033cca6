// What the fields of the table of tuning mean: the one place where this stands. Each row has the
// field, its unit, its meaning, and the entry of bench/log that has or bounds the measurement.
#include <locale>
#include <sstream>
#include <utility>

#include "device/tuning.hpp"

namespace overlapack {
namespace {

template <class V>
std::string text_of(V value) {
  if constexpr (std::is_same_v<V, Index>) {
    if (value == Tuning::kNever) return "never";
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << value;
  return out.str();
}

template <class V>
std::string text_of(const PerType<V>& value) {
  return "s " + text_of(value.s) + ", d " + text_of(value.d) + ", c " + text_of(value.c) + ", z " +
         text_of(value.z);
}

/// The fields of one part of the table.
class Part {
 public:
  Part(std::vector<TuningField>& fields, std::string name)
      : fields_(fields), name_(std::move(name)) {}

  template <class V>
  void operator()(const char* name, const V& value, const char* unit, const char* meaning,
                  const char* measured) const {
    fields_.push_back({name_ + "." + name, text_of(value), unit, meaning, measured, sizeof value});
  }

 private:
  std::vector<TuningField>& fields_;
  std::string name_;
};

constexpr const char* kLogOfEigen = "2026-11-30-tridiagonal-reduction";
constexpr const char* kLogOfEigenproblems = "2026-11-30-reduction-in-shared-memory";

void add(const Part& row, const Tuning::Rates& rates) {
  row("fp32_flops", rates.fp32_flops, "flop/s", "products of floats by cuBLAS",
      "2026-11-22-single-in-fp16-parts");
  row("fp64_flops", rates.fp64_flops, "flop/s", "products in double precision by cuBLAS",
      "2026-11-23-cholesky-by-residues");
  row("split_fp32_flops", rates.split_fp32_flops, "flop/s",
      "products of floats, each split into two numbers of FP16; 0: there is no kernel for them",
      "2026-11-26-split-products-by-cache-lines");
  row("split_tf32_flops", rates.split_tf32_flops, "flop/s",
      "products of floats rounded to TF32; 0: not faster than those of floats",
      "2026-11-22-single-in-fp16-parts");
  row("split_fp16_flops", rates.split_fp16_flops, "flop/s",
      "products of floats rounded to FP16: an estimate, which decides about small products only",
      "2026-11-22-single-in-fp16-parts");
  row("split_bytes_per_second", rates.split_bytes_per_second, "bytes/s",
      "the kernels that split read factors and write their parts",
      "2026-11-26-split-products-by-cache-lines");
  row("split_overhead_seconds", rates.split_overhead_seconds, "seconds",
      "for each product, the launches of the kernels that split; below 0: every product is split",
      "2026-11-26-split-products-by-cache-lines");
  row("residue_flops", rates.residue_flops, "flop/s",
      "products by residues, counted as products in double precision; 0: there are none",
      "2026-11-26-residues-by-own-kernel");
  row("residue_bytes_per_sum", rates.residue_bytes_per_sum, "bytes",
      "written and read for an element of the result: remainders for each modulus, or sums",
      "2026-11-26-residues-by-own-kernel");
  row("residue_bytes_per_second", rates.residue_bytes_per_second, "bytes/s",
      "the kernels that take remainders back to numbers", "2026-11-26-residues-by-own-kernel");
  row("residue_overhead_seconds", rates.residue_overhead_seconds, "seconds",
      "for each block column of Cholesky: to find its residues, and that it must be wide; below 0: "
      "every product is by residues",
      "2026-11-26-residues-from-when");
  row("scaled_residue_overhead_seconds", rates.scaled_residue_overhead_seconds, "seconds",
      "for each product of LU by residues; below 0: every product is by residues",
      "2026-11-26-residues-from-when");
  row("scaled_residue_seconds_per_number", rates.scaled_residue_seconds_per_number, "seconds",
      "to find scale and residues of a number of either factor, beside other kernels",
      "2026-11-26-residues-from-when");
  row("residue_summands_at_least", rates.residue_summands_at_least, "summands",
      "of products by residues; 0: rates alone decide", "2026-11-26-residues-from-when");
}

void add(const Part& row, const Tuning::Blocks& blocks, const char* measured) {
  row("blocks.narrow_columns", blocks.narrow_columns, "columns",
      "of a block of a small matrix: the chain of diagonal blocks and panels decides", measured);
  row("blocks.medium_columns", blocks.medium_columns, "columns",
      "of a block between both thresholds", measured);
  row("blocks.wide_columns", blocks.wide_columns, "columns",
      "of a block of a large matrix: products with more summands are faster", measured);
  row("blocks.narrow_up_to_order", blocks.narrow_up_to_order, "order",
      "up to this one blocks are narrow", measured);
  row("blocks.wide_from_order", blocks.wide_from_order, "order", "from this one on blocks are wide",
      measured);
  row("blocks.wide_from_order_with_residues", blocks.wide_from_order_with_residues, "order",
      "the same where long sums are by residues, whose products are faster with wide blocks; in "
      "complex LU narrower blocks let more columns have them",
      "2026-11-26-residues-from-when");
}

void add(const Part& row, const Tuning::Cholesky& cholesky) {
  add(row, cholesky.blocks, "2026-11-26-cholesky-panel-one-warp");
  row("one_queue_up_to_order", cholesky.one_queue_up_to_order, "order",
      "up to this one the host needs longer to enqueue work than the device to do it: one queue, "
      "no lookahead",
      "2026-11-25-small-matrices-host-time");
  row("leading_from_order", cholesky.leading_from_order, "order",
      "from this one on a leading triangle goes up first, where the device takes about as long as "
      "the link",
      "2026-11-24-leading-triangle-first");
  row("leading_from_order_with_residues", cholesky.leading_from_order_with_residues, "order",
      "the same where long sums are by residues", "2026-11-26-complex-residues");
  row("leading_large_from_order", cholesky.leading_large_from_order, "order",
      "from this one on the device takes longer than the link, and more may come first",
      "2026-11-27-half-of-the-order-first");
  row("leading_percent", cholesky.leading_percent, "percent",
      "of the order, that of the leading triangle: half of it makes the largest block as small as "
      "it gets",
      "2026-11-27-half-of-the-order-first");
  row("leading_percent_of_large", cholesky.leading_percent_of_large, "percent",
      "the same of a large matrix", "2026-11-27-half-of-the-order-first");
  row("row_multiple", cholesky.row_multiple, "rows",
      "to a multiple of these the rows of L are padded: products of odd shapes take longer",
      "2026-11-29-odd-orders");
  row("column_multiple", cholesky.column_multiple, "columns",
      "the same of its columns: cuBLAS takes ten times as long for an odd number of them",
      "2026-11-29-odd-orders");
}

void add(const Part& row, const std::string& name, const Tuning::Lu::Arrival& value, const char* of,
         const char* measured) {
  row((name + ".quarters_per_block").c_str(), value.quarters_per_block, "blocks / 4", of, measured);
  row((name + ".blocks_ahead").c_str(), value.blocks_ahead, "blocks",
      "that are there before the first panel is factored", measured);
}

/// How blocks arrive, and late ones catch up.
void add_late_blocks(const Part& row, const Tuning::Lu& lu) {
  add(row, "arrival", lu.arrival, "that arrive in the time of a panel",
      "2026-11-26-who-waits-for-late-blocks");
  add(row, "arrival_of_tall", lu.arrival_of_tall, "the same of tall blocks in double precision",
      "2026-11-27-late-blocks-more-steps");
  add(row, "arrival_of_halves", lu.arrival_of_halves,
      "the same of a matrix that comes in two halves", "2026-11-25-high-words-first");
  row("tall_from_rows", lu.tall_from_rows, "rows", "of a block in double precision, to be tall",
      "2026-11-27-late-blocks-more-steps");
  row("whole_blocks_from_panel_widths", lu.whole_blocks_from_panel_widths, "panel widths",
      "of the side of a square with as many elements as are left: from there on they get the steps "
      "of a whole block as one",
      "2026-11-22-wide-blocks-and-late-blocks");
  row("late_groups_at_most", lu.late_groups_at_most, "groups",
      "of late blocks that catch up side by side, where blocks have several steps",
      "2026-11-22-wide-blocks-and-late-blocks");
  row("late_group_blocks_at_least", lu.late_group_blocks_at_least, "blocks",
      "of a group of late blocks: groups of one take longer",
      "2026-11-22-wide-blocks-and-late-blocks");
  row("late_steps_per_block", lu.late_steps_per_block, "steps",
      "that a group is given for each panel, lest the next panel wait for the host",
      "2026-11-25-late-blocks-one-kernel");
}

void add(const Part& row, const Tuning::Lu& lu) {
  add(row, lu.blocks, "2026-11-22-wide-blocks-and-late-blocks");
  add_late_blocks(row, lu);
  row("long_step_blocks", lu.long_step_blocks, "blocks",
      "whose steps far blocks get as one, by residues", "2026-11-23-lu-by-long-steps");
  row("far_group_blocks", lu.far_group_blocks, "blocks", "of a group that gets long steps",
      "2026-11-23-lu-by-long-steps");
  row("far_queues", lu.far_queues, "queues",
      "for long steps side by side, whose solves are many small products",
      "2026-11-23-lu-by-long-steps");
  row("blocks_before_far", lu.blocks_before_far, "blocks",
      "behind those of a long step that do not wait for it, one fewer while blocks arrive",
      "2026-11-27-long-steps-complex-double");
  row("residue_product_columns", lu.residue_product_columns, "columns",
      "of a product by residues at a time: with twice as many it is a third slower",
      "2026-11-23-lu-by-long-steps");
  row("resident_blocks_copied_alone", lu.resident_blocks_copied_alone, "blocks",
      "of a matrix on the device that are copied one by one before all others",
      "2026-11-22-resident-lu-and-checks");
  row("immediate_interchanges_up_to_blocks", lu.immediate_interchanges_up_to_blocks, "panels",
      "up to as many, interchanges follow each panel on the device, and a matrix is factored in "
      "place",
      "2026-11-22-resident-lu-and-checks");
  row("first_interchanges_columns_left", lu.first_interchanges_columns_left, "columns",
      "left to factor when interchanges of many panels begin on the device",
      "2026-11-23-interchanges-and-solves-tried");
  row("signals_from_blocks", lu.signals_from_blocks, "panels",
      "of a matrix from which on the host is told of panels before they are home",
      "2026-11-27-last-sweep-of-interchanges");
  row("blocks_per_signal", lu.blocks_per_signal, "panels",
      "that one signal to the host tells of, each of which takes the caller 5 microseconds",
      "2026-11-27-last-sweep-of-interchanges");
  row("gather_up_to_rows_per_interchange", lu.gather_up_to_rows_per_interchange, "rows",
      "for each interchange up to which the host gathers columns: beyond, single swaps cost less",
      "2026-11-25-lu-last-pass");
  row("interchange_task_bytes", lu.interchange_task_bytes, "bytes",
      "of the columns that a thread of the host interchanges at a time", "2026-11-25-lu-last-pass");
  row("interchange_task_columns_at_least", lu.interchange_task_columns_at_least, "columns",
      "of them at least: enough to pay for composing the permutation", "2026-11-25-lu-last-pass");
  row("interchange_task_columns_at_most", lu.interchange_task_columns_at_most, "columns",
      "of them at most: tasks are short", "2026-11-25-lu-last-pass");
}

void add(const Part& row, const Tuning::Qr& qr) {
  constexpr const char* kLog = "2026-11-30-qr-on-the-device";
  row("block_columns", qr.block_columns, "columns",
      "of a block: panels are reflected into it and the next one", kLog);
  row("ungrouped_block_columns", qr.ungrouped_block_columns, "columns",
      "of a block of a matrix without groups", "2026-11-30-panel-of-qr-in-tiles");
  row("group_blocks", qr.group_blocks, "blocks",
      "of a large matrix whose reflectors what is far gets as one: such products are faster", kLog);
  row("groups_from_order", qr.groups_from_order, "order", "from this one on", kLog);
  row("reflector_columns", qr.reflector_columns, "columns",
      "of a block of reflectors that are given to ?orgqr, ?ormqr and those of LQ", kLog);
  add(row, "arrival", qr.arrival, "that arrive in the time of a block's panels", kLog);
}

void add(const Part& row, const Tuning::Eigen& eigen) {
  row("panel_columns", eigen.panel_columns, "columns",
      "of a panel of ?sytrd, behind which the rest of the matrix is updated", kLogOfEigen);
  constexpr const char* kLog = "2026-11-30-reduction-in-two-stages";
  row("way_back_columns", eigen.way_back_columns, "columns",
      "of a block of reflectors that eigenvectors go back through, at most: wider ones are faster "
      "and less accurate",
      kLog);
  row("bandwidth", eigen.bandwidth, "rows",
      "below the diagonal of the band matrix that a driver's reduction in two stages has between "
      "them, and columns of a panel of the first stage",
      kLog);
  row("update_columns", eigen.update_columns, "columns",
      "of such panels behind which the rest of the matrix is updated: long sums are faster", kLog);
  row("two_stages_from_order", eigen.two_stages_from_order, "order",
      "from which on a driver's reduction has two stages", kLog);
  row("two_stages_from_order_without_vectors", eigen.two_stages_from_order_without_vectors, "order",
      "the same of eigenvalues alone, which need no second way back", kLog);
}

void add(const Part& row, const Tuning::Solve& solve) {
  row("substitution_columns_at_most", solve.substitution_columns_at_most, "columns",
      "of right-hand sides that one kernel solves for: with more trsm is faster",
      "2026-11-25-substitution-in-refinement");
  row("columns_at_once", solve.columns_at_once, "columns",
      "of right-hand sides of ?gesv that are solved for before they go home",
      "2026-11-30-inverses-and-conditions");
}

void add(const Part& row, const Tuning::Inverse& inverse) {
  row("block_columns", inverse.block_columns, "columns",
      "of a block, which is solved with: all else is products, which are fast from there on",
      "2026-11-30-inverses-and-conditions");
  row("unit_from_order", inverse.unit_from_order, "order",
      "from which on ?gesv looks whether B is the unit matrix, which then does not go up",
      "2026-11-30-inverses-and-conditions");
}

void add(const Part& row, const Tuning::Refine& refine) {
  row("halves_from_order", refine.halves_from_order, "order",
      "from this one on high words go up first for LU: smaller matrices arrive soon enough, and "
      "their factors are better than 21 bits are",
      "2026-11-25-high-words-first");
  row("halves_from_threads", refine.halves_from_threads, "threads",
      "that copy, for halves: a matrix is read twice, and fewer would not keep up with the link",
      "2026-11-25-how-fast-threads-pack");
  row("joined_regions_per_block", refine.joined_regions_per_block, "regions",
      "whose halves are joined at each block, lest the factorization wait for the host",
      "2026-11-25-high-words-first");
}

void add(const Part& row, const Tuning::Update& update) {
  row("region_unit_columns", update.region_unit_columns, "columns",
      "of which a region has a multiple", "2026-11-22-updates-without-waiting");
  row("region_columns", update.region_columns, "columns", "of a region at least",
      "2026-11-22-updates-without-waiting");
  row("region_columns_of_large", update.region_columns_of_large, "columns",
      "of a region of a large matrix at least: rows of an upper factor are copied in pieces of "
      "this length",
      "2026-11-25-updates-on-an-h200");
  row("large_from_order", update.large_from_order, "order", "of a matrix, to be large",
      "2026-11-25-updates-on-an-h200");
  row("region_columns_per_vector", update.region_columns_per_vector, "columns",
      "of a region for each vector, since all vectors come home with each region",
      "2026-11-25-updates-three-runs");
  row("region_staging_bytes", update.region_staging_bytes, "bytes",
      "of staging memory that a region may take", "2026-11-25-updates-three-runs");
  row("short_of_memory_region_columns", update.short_of_memory_region_columns, "columns",
      "to which a region may shrink where the device's memory is short",
      "2026-11-25-updates-three-runs");
  row("window_regions", update.window_regions, "regions",
      "on the device at a time: one is computed with, those around it travel",
      "2026-11-22-updates-without-waiting");
  row("independent_region_panels", update.independent_region_panels, "panels",
      "of a region, where no panel waits for another one", "2026-11-22-updates-without-waiting");
  row("independent_panel_queues", update.independent_panel_queues, "queues",
      "for panels that do not wait for each other", "2026-11-22-updates-without-waiting");
}

void add(const Part& row, const Tuning::BreakEven& sizes) {
  constexpr const char* kLog = "2026-11-29-break-evens-and-starts";
  constexpr const char* kLogOfInverses = "2026-11-30-inverses-and-conditions";
  constexpr const char* kLogOfQr = "2026-11-30-qr-on-the-device";
  const auto both = [&](const std::string& name, const Tuning::BreakEven::Sizes& size,
                        const char* unit, const char* meaning, const char* log = nullptr) {
    if (log == nullptr) log = kLog;
    row((name + "_1_core").c_str(), size.one_core, unit, meaning, log);
    row((name + "_16_cores").c_str(), size.sixteen_cores, unit, meaning, log);
  };
  both("potrf", sizes.potrf, "order", "from which on ?potrf goes to the device");
  both("posv", sizes.posv, "order", "from which on ?posv does");
  both("potrs", sizes.potrs, "columns", "of right-hand sides, from which on ?potrs does");
  both("getrf", sizes.getrf, "order", "from which on ?getrf does");
  both("gesv", sizes.gesv, "order", "from which on ?gesv does");
  both("getrs", sizes.getrs, "columns", "of right-hand sides, from which on ?getrs does");
  both("trtrs", sizes.trtrs, "columns", "of right-hand sides, from which on ?trtrs does");
  both("gecon", sizes.gecon, "order", "from which on ?gecon does", kLogOfInverses);
  both("pocon", sizes.pocon, "order", "from which on ?pocon does", kLogOfInverses);
  both("trcon", sizes.trcon, "order", "from which on ?trcon does", kLogOfInverses);
  both("mixed_posv", sizes.mixed_posv, "order", "from which on dsposv and zcposv do");
  both("mixed_gesv", sizes.mixed_gesv, "order", "from which on dsgesv and zcgesv do");
  both("update", sizes.update, "order", "from which on updates by 16 vectors or more do");
  both("trtri", sizes.trtri, "order", "from which on ?trtri does", kLogOfInverses);
  both("lauum", sizes.lauum, "order", "from which on ?lauum does", kLogOfInverses);
  both("potri", sizes.potri, "order", "from which on ?potri does", kLogOfInverses);
  both("getri", sizes.getri, "order", "from which on ?getri does", kLogOfInverses);
  both("geqrf", sizes.geqrf, "order", "from which on ?geqrf and ?gelqf do", kLogOfQr);
  both("orgqr", sizes.orgqr, "order", "from which on ?orgqr and ?orglq do", kLogOfQr);
  both("ormqr", sizes.ormqr, "order",
       "of a square matrix of as many reflectors, from which on ?ormqr and ?ormlq do", kLogOfQr);
  both("gels", sizes.gels, "order", "from which on ?gels does, an estimate", kLogOfQr);
  both("syevd", sizes.syevd, "order", "from which on ?syevd does", kLogOfEigenproblems);
  both("sytrd", sizes.sytrd, "order", "from which on ?sytrd does", kLogOfEigenproblems);
  both("stedc", sizes.stedc, "order", "from which on ?stedc does", kLogOfEigenproblems);
  row("origin", sizes.origin, "text", "what these sizes rest on", kLog);
}

/// How a transfer is shared out and cut.
void add_chunks(const Part& row, const Tuning::Transfer& transfer) {
  row("shared_up_to_bytes", transfer.shared_up_to_bytes, "bytes",
      "staged in both directions up to which several calls use the device at a time, one of them "
      "with copy threads",
      "2026-11-30-many-callers");
  row("caller_issues_up_to_bytes", transfer.caller_issues_up_to_bytes, "bytes",
      "staged in both directions up to which the caller issues and copies by itself: one core "
      "copies them in hardly more time than many threads need to wake",
      "2026-11-24-small-transfers-early");
  row("bytes_per_helper", transfer.bytes_per_helper, "bytes",
      "for each of which the caller then gets a copy thread to help",
      "2026-11-24-small-transfers-early");
  row("threads_woken_by_caller", transfer.threads_woken_by_caller, "threads",
      "that it wakes itself: it copies, too, and should begin soon",
      "2026-11-24-small-transfers-early");
  row("chunks", transfer.chunks, "chunks",
      "into about as many a direction is cut: smaller ones cost more to issue than to move, larger "
      "ones lengthen the pipeline",
      "2026-11-24-what-slows-uploads");
  row("chunk_bytes_at_least", transfer.chunk_bytes_at_least, "bytes", "of a chunk",
      "2026-11-24-what-slows-uploads");
  row("chunk_bytes_at_most", transfer.chunk_bytes_at_most, "bytes", "of a chunk",
      "2026-11-24-what-slows-uploads");
  row("ring_bytes", transfer.ring_bytes, "bytes",
      "of staging memory of a direction: with less, copy threads wait for slots; with more, the "
      "caches do not keep it",
      "2026-11-25-how-fast-threads-pack");
  row("units_per_chunk", transfer.units_per_chunk, "units",
      "that copy threads share of a chunk, more where chunks are at their lower limit",
      "2026-11-25-how-fast-threads-pack");
  row("unit_bytes_at_least", transfer.unit_bytes_at_least, "bytes",
      "of a unit that is worth a hand-over", "2026-11-25-how-fast-threads-pack");
}

void add(const Part& row, const Tuning::Transfer& transfer) {
  add_chunks(row, transfer);
  row("scattered_below_column_bytes", transfer.scattered_below_column_bytes, "bytes",
      "of a column of page-locked memory, below which it is staged if it is far from the next: the "
      "device reads those at two thirds of the speed of the link",
      "2026-11-27-cholesky-page-locked");
  row("scattered_beyond_span_bytes", transfer.scattered_beyond_span_bytes, "bytes",
      "over which such a matrix extends", "2026-11-27-cholesky-page-locked");
  row("unpacking_threads", transfer.unpacking_threads, "threads",
      "that unpack past the cache when nothing goes up any more: the device writes into memory "
      "that lies in the caches of all cores at two thirds of the speed of the link",
      "2026-11-26-driver-calls-and-unpacking");
  row("uploads_per_signal", transfer.uploads_per_signal, "chunks",
      "that one signal tells of at most: each is a call of the driver, for whose lock the caller "
      "waits, too",
      "2026-11-26-driver-calls-and-unpacking");
  row("chunks_packed_ahead", transfer.chunks_packed_ahead, "chunks",
      "that copy threads pack ahead of the device before they turn to what has come home",
      "2026-11-22-updates-without-waiting");
  row("past_cache_from_bytes", transfer.past_cache_from_bytes, "bytes",
      "of downloads from which on stores into the caller's memory go past the cache, and those "
      "into staging memory do not",
      "2026-11-26-downloads-into-caches");
  row("kept_upload_bytes", transfer.kept_upload_bytes, "bytes",
      "of staging memory that uploads may keep to the end, so that an update can be undone",
      "2026-11-22-updates-without-waiting");
}

void add(const Part& row, const HostTuning& host) {
  row("awake_microseconds", host.awake_microseconds, "microseconds",
      "for which a thread without work stays awake: longer than the gap between two calls of a "
      "loop",
      "2026-11-25-small-matrices-host-time");
  row("timer_slack_nanoseconds", host.timer_slack_nanoseconds, "nanoseconds",
      "by which a thread of the library may sleep too long", "2026-11-26-copy-threads-bound");
  row("computing_threads_at_most", host.computing_threads_at_most, "threads",
      "for updates and norms on the CPU, and NumPy's copies: more gain nothing where memory is the "
      "limit",
      "2026-11-27-numpy-column-by-column");
  row("computing_threads_from_order", host.computing_threads_from_order, "order",
      "from this one on they are several: below, waking them takes longer",
      "2026-11-25-updates-break-even");
  row("numbers_looked_at_per_thread", host.numbers_looked_at_per_thread, "numbers",
      "to be checked for what is not finite, or summed for a norm, in the time that another thread "
      "takes to wake",
      "2026-11-22-resident-lu-and-checks");
  row("norm_elements_at_least", host.norm_elements_at_least, "elements",
      "of a matrix in ordinary memory whose norm this library computes: below, the CPU LAPACK does",
      "2026-11-30-norms-on-the-host");
  row("norm_rows_at_least", host.norm_rows_at_least, "rows",
      "of such a matrix: in shorter columns vectors gain nothing", "2026-11-30-norms-on-the-host");
  row("update_vectors_per_sweep", host.update_vectors_per_sweep, "vectors",
      "that a factor is taken through at a time on the CPU: with more, a panel would not stay in a "
      "core's first cache",
      "2026-11-22-updates-without-waiting");
  row("update_numbers_per_thread", host.update_numbers_per_thread, "numbers",
      "of an update on the CPU, times vectors, for each thread: less takes as long as waking it",
      "2026-11-25-updates-break-even");
  row("update_spins_before_yield", host.update_spins_before_yield, "spins",
      "of a thread that waits in an update: who lets others run may wait for a whole time slice",
      "2026-11-25-updates-break-even");
  row("rotations_by_threads_from_order", host.rotations_by_threads_from_order, "order",
      "from this one on rotations on the CPU are shared among threads",
      "2026-11-25-updates-break-even");
  row("rotations_by_sweeps_from_order", host.rotations_by_sweeps_from_order, "order",
      "from this one on an update by one vector is made by sweeps",
      "2026-11-25-updates-break-even");
  row("region_pieces_at_most", host.region_pieces_at_most, "blocks",
      "of an upper triangle that move together: for the last ones the caller waits",
      "2026-11-25-upper-triangles-by-four-blocks");
  row("double_regions_from_bytes", host.double_regions_from_bytes, "bytes",
      "of an upper triangle with so many pages that the tables of their addresses do not stay in "
      "a core's caches: regions are twice as large",
      "2026-11-27-largest-region-upper-triangle");
}

void add(const Part& row, const NumPyCopies& numpy) {
  const char *const by_column = "2026-11-27-numpy-column-by-column",
                    *const new_memory = "2026-11-27-numpy-new-memory",
                    *const ahead = "2026-11-28-numpy-matrix-at-once";
  row("threads_from_elements", numpy.threads_from_elements, "elements",
      "of a column from which on threads may share its copy: one core copies less in the time that "
      "it takes to tell others",
      by_column);
  row("threads_from_adjacent_bytes", numpy.threads_from_adjacent_bytes, "bytes",
      "the same of elements that lie side by side", by_column);
  row("apart_from_bytes", numpy.apart_from_bytes, "bytes",
      "between two elements that do not lie side by side", by_column);
  row("conflicting_distance_bytes", numpy.conflicting_distance_bytes, "bytes",
      "to which the largest power of two that divides the distance of elements counts: caches look "
      "for a line by the lower bits of its address",
      "2026-11-27-column-of-8192-rows");
  row("conflict_free_bytes", numpy.conflict_free_bytes, "bytes",
      "of that power of two times the number of elements, up to which caches have places for all",
      "2026-11-27-column-of-8192-rows");
  row("copies_per_measurement", numpy.copies_per_measurement, "copies",
      "whose time tells whether several threads are faster", by_column);
  row("unchanged_microseconds", numpy.unchanged_microseconds, "microseconds",
      "between two copies, in which a program cannot have changed what is copied next",
      "2026-11-28-lines-read-once");
  row("first_columns_ahead", numpy.first_columns_ahead, "columns",
      "that are copied at once before they are asked for", ahead);
  row("columns_ahead_per_copied", numpy.columns_ahead_per_copied, "columns",
      "ahead for each that has been copied", ahead);
  row("kept_columns_bytes", numpy.kept_columns_bytes, "bytes",
      "of columns kept for the next copies: of more no cache would have them",
      "2026-11-28-lines-read-once");
  row("provide_from_bytes", numpy.provide_from_bytes, "bytes",
      "written, from which on memory is provided ahead", new_memory);
  row("provide_at_most_bytes", numpy.provide_at_most_bytes, "bytes",
      "provided ahead at a time, of memory of unknown size",
      "2026-11-28-memory-provided-while-copying");
}

}  // namespace

std::vector<TuningField> fields_of(const Tuning& tuning) {
  std::vector<TuningField> fields;
  add(Part(fields, "rates"), tuning.rates);
  add(Part(fields, "cholesky"), tuning.cholesky);
  add(Part(fields, "lu"), tuning.lu);
  add(Part(fields, "qr"), tuning.qr);
  add(Part(fields, "eigen"), tuning.eigen);
  add(Part(fields, "solve"), tuning.solve);
  add(Part(fields, "inverse"), tuning.inverse);
  add(Part(fields, "refine"), tuning.refine);
  add(Part(fields, "update"), tuning.update);
  add(Part(fields, "break_even"), tuning.break_even);
  add(Part(fields, "transfer"), tuning.transfer);
  add(Part(fields, "host"), tuning.host);
  add(Part(fields, "numpy"), tuning.numpy);
  return fields;
}

}  // namespace overlapack
