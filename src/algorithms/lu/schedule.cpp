#include "algorithms/lu/schedule.hpp"

#include <algorithm>
#include <vector>

namespace overlapack::algorithms {
namespace {

template <class T>
LuLane<T> make_lane(Device& device, const Options& options, const LuMatrix<T>& matrix,
                    Index columns, Priority priority, const char* name) {
  const Index summands = std::min(options.nb, matrix.pivot_count());
  return {Subtraction<T>(device, options, matrix.rows(), columns, summands),
          QueueLease(device, priority, name)};
}

}  // namespace

template <class T>
Lu<T>::Lu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index m, Index n,
          Index nrhs, DeviceView<T> place)
    : matrix_(device, m, n, nrhs, options.nb, place),
      panels_(device, cpu, options, matrix_),
      steps_(device, matrix_, panels_),
      panel_begun_(device),
      factored_(device),
      updated_(device),
      near_done_(device),
      update_done_(device),
      solve_with_u_(device, Uplo::upper, Diag::non_unit),
      panel_(make_lane(device, options, matrix_, matrix_.block(0).size(), Priority::high, "panel")),
      near_(
          make_lane(device, options, matrix_, 2 * matrix_.block(0).size(), Priority::high, "near")),
      update_(make_lane(device, options, matrix_, n + nrhs, Priority::normal, "update")),
      late_(device, options, matrix_, panels_, steps_, update()) {
  if (options.by_rows && panels_.of(0).size() > 1) {
    try_to_allocate([&] {  // or else all is by columns
      steps_.make_room_for_inverses(device);
      matrix_.make_room_by_rows(device);
    });
  }
  steps_.make_room_to_split(device, options);
  late_.plan_long_steps(options);
}

template <class T>
std::size_t Lu<T>::bytes(Device& device, const Options& options, Index m, Index n, Index nrhs) {
  const Index nb = std::min({options.nb, m, n}), columns = n + nrhs;
  const auto lane = [&](Index of_columns) {
    return Subtraction<T>::bytes(device, options, m, of_columns, nb);
  };
  const std::size_t sum = LuMatrix<T>::bytes(m, columns) + LuPanels<T>::bytes(m, n) +
                          Substitution<T>::bytes(device, n, nrhs) + lane(nb) + lane(2 * nb) +
                          lane(columns) + LateBlocks<T>::bytes(device, options, m, nb, columns);
  const bool several_panels =
      !options.hybrid && nb > device.kernels<T>().limits().getrf_panel_width;
  if (!options.by_rows || !several_panels) return sum;
  return sum + LuMatrix<T>::bytes_by_rows(m, columns) +
         LuSteps<T>::bytes_of_inverses(device.kernels<T>(), options, m, n) +
         LuSteps<T>::bytes_to_split(device, options, m, n, columns) +
         LongSteps<T>::bytes(device, options, m, n, columns);
}

template <class T>
void Lu<T>::factor(Flow& flow) {
  const Index blocks = matrix_.pivot_blocks(), total = matrix_.total();
  late_.begin(flow);
  if (matrix_.has_room_by_rows() && by_whole_blocks(0)) {
    matrix_.keep_by_rows_from(matrix_.block(std::min<Index>(1, total - 1)).last);
  }
  flow.before(panel(), 0);
  Range before;  // the panel before
  bool whole_before = false;
  for (Index b = 0; b < blocks; ++b) {
    const std::vector<Range> panels = panels_.of(b);
    const bool whole = by_whole_blocks(b);
    for (std::size_t k = 0; k < panels.size(); ++k) {
      const bool last = k + 1 == panels.size();
      panels_.start(panel(), b, panels[k], *panel_begun_);
      if (k == 0 && b > 0) late_.bring_up(flow, b - 1);  // behind it: it keeps the host busy
      // Meanwhile what remains of the step before.
      if (before.empty()) {
        begin_updates(flow);
      } else if (k > 0) {
        update_by_panel(whole, b, before, panels[k].last);
      } else {
        end_block(flow, b - 1, whole_before, before, panels[k].last);
        if (!whole) put_joined_back();
      }
      panels_.finish(panel(), b, panels[k]);
      panel().record(*factored_);
      const Range next = last ? panels_.first_of(b + 1) : panels[k + 1];
      if (!next.empty()) {  // the next panel's columns, ahead of the rest
        panel().wait(*updated_);
        steps_.apply(panel_, panels[k], next);
      }
      before = panels[k];
    }
    whole_before = whole;
  }
  late_.bring_up(flow, blocks - 1);

  // What holds no pivots: the columns beyond row m of a wide matrix, and B.
  complete(flow, blocks - 1);
  update().wait(panels_.final(blocks - 1));
  steps_.apply(update_, whole_before ? matrix_.block(blocks - 1) : before,
               matrix_.columns_of(blocks, late_.joined()));
  late_.bring_rest(flow);
  late_.long_steps_are_waited_for();
  put_joined_back();
  for (Index b = blocks; b < matrix_.count(); ++b) flow.release(update(), b);
}

template <class T>
void Lu<T>::settle() {
  for (LuLane<T>* lane : {&panel_, &near_, &update_}) lane->queue.settle();
  late_.settle();
}

/// Whether what lies beyond the block after block b gets the steps of block b as one. That makes
/// longer products, which are faster, and few steps for late blocks to catch up with; it pays
/// where updates take longer than panels. Steps by themselves leave less to do between panels.
template <class T>
bool Lu<T>::by_whole_blocks(Index b) const {
  const Range c = matrix_.block(b);
  if (c.size() <= panels_.width() || panels_.on_cpu()) return false;
  const Index long_side =
      update().device().tuning().lu.whole_blocks_from_panel_widths * panels_.width();
  return !late_.all_have_joined() ||
         (matrix_.rows() - c.last) * (matrix_.columns() - c.last) >= long_side * long_side;
}

/// What the first updates need, once the first panel is under way.
template <class T>
void Lu<T>::begin_updates(Flow& flow) {
  late_.bring_present(flow);
  for (EventLease* event : {&updated_, &update_done_}) update().record(**event);
  near().wait(*update_done_);
  near().record(*near_done_);
}

/// The step of a panel of block b, as soon as it is factored, on the columns from `column` on:
/// through those of the next block's first panel, in near(), if the others get the whole block; or
/// else on all of them. It starts behind the next panel, which needs some multiprocessors for
/// itself and would have to wait for them.
template <class T>
void Lu<T>::update_by_panel(bool whole, Index b, Range panel, Index column) {
  const LuLane<T>& lane = whole ? near_ : update_;
  lane.queue->wait(*factored_);
  lane.queue->wait(*panel_begun_);
  if (!whole) lane.queue->wait(*near_done_);
  const Index end = whole ? end_of_single_steps(b) : matrix_.block(late_.joined() - 1).last;
  steps_.apply(lane, panel, {column, end});
  lane.queue->record(*updated_);
}

/// Where the columns end that get the steps of block b panel by panel.
template <class T>
Index Lu<T>::end_of_single_steps(Index b) const {
  return b + 1 < matrix_.pivot_blocks() ? panels_.first_of(b + 1).last : matrix_.block(b).last;
}

/// What remains of block b when its last panel is factored.
template <class T>
void Lu<T>::end_block(Flow& flow, Index b, bool whole, Range panel, Index column) {
  if (whole) return end_whole_block(flow, b);
  late_.joined_are_waited_for_in(near());
  complete(flow, b);  // which waits for the steps before this one
  update_by_panel(whole, b, panel, column);
}

/// The rest of block b + 1 is needed by its next panel, then block b + 2; for what comes after that
/// there is time until block b + 1 ends.
template <class T>
void Lu<T>::end_whole_block(Flow& flow, Index b) {
  const Range step = matrix_.block(b), next = matrix_.block(b + 1);
  const Index end_of_near = std::min(b + 3, matrix_.pivot_blocks());  // blocks
  complete(flow, b);
  near().wait(*panel_begun_);
  steps_.apply(near_, step, {end_of_single_steps(b), next.last});
  matrix_.put_back(near(), next.last);
  near().record(*updated_);
  steps_.split(near(), b);  // not sooner: the next panel would wait for it
  near().wait(*update_done_);
  late_.joined_are_waited_for_in(near());  // so late, lest the next panels wait, too
  steps_.apply(near_, step, matrix_.columns_of(b + 2, end_of_near));
  matrix_.put_back(near(), panels_.first_of(b + 2).last);
  near().record(*near_done_);
  update().wait(panels_.final(b));
  update().wait(*panel_begun_);
  steps_.apply(update_, step, matrix_.columns_of(end_of_near, late_.joined()));
  update().record(*update_done_);
}

/// The part of L in block b sees the interchanges of all its panels, and goes home. If columns by
/// rows still need it, its diagonal block is inverted.
template <class T>
void Lu<T>::complete(Flow& flow, Index b) {
  near().wait(*factored_);
  panels_.interchange_within(near(), b, *updated_);  // by the steps before the last, as they are
  steps_.invert(near(), b);
  near().record(panels_.final(b));
  flow.release(near(), b);
}

/// All columns that take part, for single steps and in the end. near() may have some of them.
template <class T>
void Lu<T>::put_joined_back() {
  const Index end = matrix_.block(late_.joined() - 1).last;
  if (matrix_.first_by_rows() >= end) return;
  update().wait(*near_done_);
  matrix_.put_back(update(), end);
}

#define OVERLAPACK_INSTANTIATE(T) template class Lu<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
