#include "algorithms/lu/schedule.hpp"

#include <new>

#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

constexpr Index kFarBlocks = 4;  // of a group that gets long steps

/// The block columns of an m x n matrix: panels up to column min(m, n), then what is only updated.
std::vector<Range> block_columns(Index m, Index n, Index nb) {
  const Index k = std::min(m, n);
  std::vector<Range> blocks = partition(k, nb);
  for (const Range& rest : partition({k, n}, nb)) blocks.push_back(rest);
  return blocks;
}

}  // namespace

template <class T>
Lu<T>::Lu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index m, Index n,
          Index nrhs, DeviceView<T> place)
    : device_(device),
      kernels_(device.kernels<T>()),
      m_(m),
      n_(n),
      nrhs_(nrhs),
      blocks_(block_columns(m, n, options.nb)),
      panels_(static_cast<Index>(partition(std::min(m, n), options.nb).size())),
      matrix_(place),
      first_by_rows_(n + nrhs),
      pivots_(device, Space::device, std::min(m, n)),
      pivots_home_(device, Space::host, std::min(m, n)),
      info_(device, Space::host, panels_),
      panels_known_(device, Space::host, 1),
      step_width_(kernels_.getrf_panel_width()),
      there_(device),
      factored_(device),
      updated_(device),
      near_done_(device),
      far_done_(device),
      begun_(device),
      in_panel_(device, options, m, width(options), width(options)),
      in_near_(device, options, m, 2 * width(options), width(options)),
      in_update_(device, options, m, n + nrhs, width(options)),
      solve_with_u_(device, Uplo::upper, Diag::non_unit),
      panel_(device, Priority::high, "panel"),
      near_(device, Priority::high, "near"),
      update_(device, Priority::normal, "update") {
  if (place.empty()) matrix_ = memory_.emplace(device, m, n + nrhs).view();
  if (options.hybrid) {
    panel_on_cpu_ = std::make_unique<PanelOnCpu<T>>(device, cpu, m, width(options));
  }
  for (Index i = 0; i < panels_; ++i) final_.emplace_back(device);
  for (Index g = 0; g < most_groups(block(0).size(), step_width_); ++g) {
    late_.emplace_back(device, Priority::normal, "catch up");
    in_catch_up_.emplace_back(device, options, m, n + nrhs, width(options));
  }
  if (options.by_rows && steps_of(0).size() > 1) {
    try_to_allocate([&] {  // or else all is by columns
      // In single precision panels are what takes time.
      if (!Kernels<T>::kSplits) {
        inverses_.emplace(device, Kernels<T>::elements_of_inverses(block(0).size()), panels_);
      }
      by_rows_.emplace(device, n + nrhs, m);
    });
  }
  make_room_to_split(options);
  plan_long_steps(options);
  std::fill_n(info_.data(), info_.size(), Index{0});
  new (panels_known_.data()) Flag(0);
}

template <class T>
std::size_t Lu<T>::bytes(Device& device, const Options& options, Index m, Index n, Index nrhs) {
  const Kernels<T>& kernels = device.kernels<T>();
  const Index k = std::min(m, n), nb = std::min(options.nb, k), columns = n + nrhs;
  const Index panels = quotient_up(k, options.nb), step_width = kernels.getrf_panel_width();
  const Index products_of_all = 1 + most_groups(nb, step_width);
  std::size_t sum = DeviceMatrix<T>::bytes(m, columns) + Buffer<Index>::bytes(k) +
                    Substitution<T>::bytes(n, nrhs) +
                    Subtraction<T>::bytes(device, options, m, nb, nb) +
                    Subtraction<T>::bytes(device, options, m, 2 * nb, nb) +
                    at(products_of_all) * Subtraction<T>::bytes(device, options, m, columns, nb);
  if (!options.by_rows || options.hybrid || nb <= step_width) return sum;
  if (!Kernels<T>::kSplits) {
    sum += DeviceMatrix<Index>::bytes(Kernels<T>::elements_of_inverses(nb), panels);
  }
  sum += DeviceMatrix<T>::bytes(columns, m);
  for (Index end = options.nb; options.split && end <= k; end += options.nb) {
    if (!kernels.split_pays(options.precision, columns - end, m - end, options.nb)) break;
    sum += SplitAdjoint<T>::bytes(options, m - end, options.nb);
  }
  return sum + bytes_of_long_steps(device, options, m, n, columns);
}

template <class T>
std::size_t Lu<T>::bytes_of_long_steps(Device& device, const Options& options, Index m, Index n,
                                       Index columns) {
  const Kernels<T>& kernels = device.kernels<T>();
  const Index nb = options.nb, width = kLong * nb;
  std::size_t sum = 0;
  if (!options.residues || nb % kernels.residue_unit() != 0) return sum;
  for (Index first = 0; first + width < std::min(m, n); first += width) {
    const Index rows = m - first;
    if (!kernels.scaled_residues_pay(rows - width, columns - first - width, width)) break;
    if (first == 0) {
      sum += kFarQueues * LongStep<T>::workspace_bytes(device, rows, kLong, nb, kFarBlocks * nb);
    }
    sum += LongStep<T>::bytes(device, rows, kLong, nb);
  }
  return sum;
}

template <class T>
std::size_t Lu<T>::bytes_to_interchange(Device& device, const Options& options, Index m, Index n) {
  const Index panels = quotient_up(std::min(m, n), options.nb);
  return DeviceMatrix<Index>::bytes(std::min(m, device.kernels<T>().permutable_rows()), panels);
}

template <class T>
void Lu<T>::factor(Flow& flow) {
  at_once_ = std::clamp<Index>(flow.at_once(), std::min<Index>(2, total()), total());
  joined_ = pending_ = std::min(at_once_, first_far(0));
  if (by_rows_ && by_whole_blocks(0)) first_by_rows_ = block(std::min<Index>(1, total() - 1)).last;
  flow.before(panel(), 0);
  Range before;  // the step before
  bool whole_before = false;
  for (Index i = 0; i < panels_; ++i) {
    const std::vector<Range> steps = steps_of(i);
    const bool whole = by_whole_blocks(i);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const Range step = steps[k];
      const bool last = k + 1 == steps.size();
      start_panel(i, step);
      if (k == 0 && i > 0) bring_up(flow, i - 1);  // behind the panel: it keeps the host busy
      // Meanwhile what remains of the step before.
      if (before.empty()) {
        begin_updates(flow);
      } else if (k > 0) {
        update_by_step(whole, i, before, step.last);
      } else {
        end_block(flow, i - 1, whole_before, before, step.last);
        if (!whole) put_joined_back();
      }
      finish_panel(i, step);
      const Range next = last ? first_step_of(i + 1) : steps[k + 1];
      if (!next.empty()) {  // the next step's columns, ahead of the rest
        panel().wait(*updated_);
        apply(panel(), in_panel_, step, next);
      }
      before = step;
    }
    whole_before = whole;
  }
  bring_up(flow, panels_ - 1);

  // What has no panel of its own: the columns beyond row m of a wide matrix, and B.
  complete(flow, panels_ - 1);
  update().wait(*final_[at(panels_ - 1)]);
  apply(update(), in_update_, whole_before ? block(panels_ - 1) : before,
        columns(panels_, joined_));
  arrive(flow, total());
  while (!groups_.empty()) join(panels_);
  for (const Far& far : far_) {
    far.queue->record(*there_);
    update().wait(*there_);
  }
  put_joined_back();
  for (Index j = panels_; j < count(); ++j) flow.release(update(), j);
}

template <class T>
void Lu<T>::settle() {
  for (QueueLease* queue : {&panel_, &near_, &update_}) queue->settle();
  for (QueueLease& queue : late_) queue.settle();
}

template <class T>
void Lu<T>::interchange_left(Queue& queue, DeviceView<T> a, Range panels) {
  const Index first = block(panels.first).first, last = block(panels.last - 1).first;
  const Index rows = m_ - first;
  if (panels.size() > 1 && compose(queue, panels)) {
    // Columns before all of them see all of them, those of a panel among them only later ones.
    const DeviceView<Index> sources = sources_->view();
    kernels_.permute_rows(queue, a.block(first, 0, rows, first), first,
                          sources.block(0, 0, rows, 1));
    kernels_.permute_rows(queue, a.block(first, first, rows, last - first), block(0).size(),
                          sources.block(0, 1, rows, panels.size() - 1));
    return;
  }
  for (Index i = panels.first; i < panels.last; ++i) {
    const Index i0 = block(i).first;
    kernels_.swap_rows(queue, a.block(i0, 0, m_ - i0, i0), pivots(i), i0);
  }
}

template <class T>
void Lu<T>::interchange(DeviceView<T> b) {
  if (compose(update(), {0, panels_})) {
    kernels_.permute_rows(update(), b, b.cols, sources_->view().block(0, 0, m_, 1));
  } else {
    kernels_.swap_rows(update(), b, {pivots_.data(), pivots_.size()}, 0);
  }
}

/// The interchanges of panels as permutations of the rows from the first of them on, in sources_.
/// Later ones are of panels behind these. False if there are too many rows to use them, or no
/// memory.
template <class T>
bool Lu<T>::compose(Queue& queue, Range panels) {
  const Range columns = {block(panels.first).first, block(panels.last - 1).last};
  const Index rows = m_ - columns.first;
  if (!composes_ || rows > kernels_.permutable_rows()) return false;
  if (composed_.first == panels.first && composed_.last == panels.last) return true;
  if (!sources_) {  // of many panels it is large
    const Index most = std::max(panels.size(), panels_ - panels.last);
    composes_ = try_to_allocate([&] { sources_.emplace(device_, rows, most); });
    if (!composes_) return false;
  }
  composed_ = panels;
  kernels_.compose_interchanges(queue, pivots(columns), columns.first, block(0).size(),
                                sources_->view().block(0, 0, rows, panels.size()));
  return true;
}

/// The columns of block i that are factored at a time: by the device in panels of its width.
template <class T>
std::vector<Range> Lu<T>::steps_of(Index i) const {
  return partition(block(i), panel_on_cpu_ ? block(i).size() : step_width_);
}

/// Whether what lies beyond the block after block i gets the steps of block i as one. That makes
/// longer products, which are faster, and few steps for late blocks to catch up with; it pays
/// where updates take longer than panels. Steps by themselves leave less to do between panels.
template <class T>
bool Lu<T>::by_whole_blocks(Index i) const {
  if (block(i).size() <= step_width_ || panel_on_cpu_) return false;
  const Index long_side = 32 * step_width_, end = block(i).last;
  return joined_ < total() || (m_ - end) * (n_ + nrhs_ - end) >= long_side * long_side;
}

/// What the first updates need, once the first panel is under way.
template <class T>
void Lu<T>::begin_updates(Flow& flow) {
  for (Index j = 1; j < at_once_; ++j) flow.before(update(), j);
  put_by_rows(update(), columns(0, at_once_));
  update().record(*there_);
  for (EventLease* event : {&updated_, &far_done_}) update().record(**event);
  near().wait(*far_done_);
  near().record(*near_done_);
}

template <class T>
void Lu<T>::start_panel(Index i, Range step) {
  if (panel_on_cpu_) {
    panel().record(*begun_);
    panel_on_cpu_->start(panel(), panel_of(step));
  } else {
    const Span span(panel(), "panel", i);
    kernels_.getrf_panel(panel(), panel_of(step), pivots(step),
                         {pivots_home_.data() + step.first, step.size()}, {info_.data() + i, 1},
                         step.first, &*begun_);
  }
}

template <class T>
void Lu<T>::finish_panel(Index i, Range step) {
  if (panel_on_cpu_) {
    panel_on_cpu_->finish(panel(), panel_of(step), pivots(step),
                          {pivots_home_.data() + step.first, step.size()}, info_.data()[i],
                          step.first);
  }
  panel().record(*factored_);
}

/// A step of block b, as soon as it is factored, on the columns from `column` on: through those
/// of the next block's first step, in the near queue, if the others get the whole block; or else
/// on all of them. It starts behind the next panel, which needs some multiprocessors for itself
/// and would have to wait for them.
template <class T>
void Lu<T>::update_by_step(bool whole, Index b, Range step, Index column) {
  Queue& queue = whole ? near() : update();
  queue.wait(*factored_);
  queue.wait(*begun_);
  if (!whole) queue.wait(*near_done_);
  const Index end = whole ? by_steps_until(b) : block(joined_ - 1).last;
  apply(queue, whole ? in_near_ : in_update_, step, {column, end});
  queue.record(*updated_);
}

/// Where the columns end that get the steps of block b one by one.
template <class T>
Index Lu<T>::by_steps_until(Index b) const {
  return b + 1 < panels_ ? first_step_of(b + 1).last : block(b).last;
}

/// What remains of block b when its last step is factored.
template <class T>
void Lu<T>::end_block(Flow& flow, Index b, bool whole, Range step, Index column) {
  if (!whole) {
    near_waits_for_joined();
    complete(flow, b);  // which waits for the steps before this one
    update_by_step(whole, b, step, column);
    return;
  }
  complete(flow, b);
  near().wait(*begun_);
  // The rest of block b + 1 is needed by its next panel, then block b + 2; for what comes after
  // that there is time until block b + 1 ends.
  const Index far = std::min(b + 3, panels_);
  apply(near(), in_near_, block(b), {by_steps_until(b), block(b + 1).last});
  put_back(near(), block(b + 1).last);
  near().record(*updated_);
  split(b);  // not sooner: the next panel would wait for it
  near().wait(*far_done_);
  near_waits_for_joined();  // so late, lest the next panels wait, too
  apply(near(), in_near_, block(b), columns(b + 2, far));
  put_back(near(), first_step_of(b + 2).last);
  near().record(*near_done_);
  update().wait(*final_[at(b)]);
  update().wait(*begun_);
  apply(update(), in_update_, block(b), columns(far, joined_));
  update().record(*far_done_);
}

/// Whole blocks meet most columns by rows, and groups one after the other: their L is split once.
/// If there is no memory for that, it is for each product.
template <class T>
void Lu<T>::make_room_to_split(const Options& options) {
  if (!options.split || !by_rows_) return;
  try_to_allocate([&] {
    for (Index i = 0; i < panels_ && block(i).size() == options.nb; ++i) {
      const Index rows = m_ - block(i).last, columns = n_ + nrhs_ - block(i).last;
      if (!kernels_.split_pays(options.precision, columns, rows, options.nb)) break;
      split_.emplace_back(device_, options, rows, options.nb);
    }
  });
}

/// What lies below block b, for columns that are by rows.
template <class T>
void Lu<T>::split(Index b) {
  if (!may_be_split(b) || first_by_rows_ >= n_ + nrhs_) return;
  const Range i = {block(b).last, m_}, c = block(b);
  split_[at(b)].split(near(), matrix().block(i, c));
}

/// L of a step as split(), or null.
template <class T>
const SplitAdjoint<T>* Lu<T>::split_of(Range step) const {
  const Index b = index_of(blocks_, step.first);
  const bool may_be = step.size() == block(b).size() && may_be_split(b);
  return may_be && split_[at(b)].is_split() ? &split_[at(b)] : nullptr;
}

/// What columns by rows are multiplied by instead of solving, for a whole block.
template <class T>
DeviceView<const Index> Lu<T>::inverses_of(Range step) const {
  const Index b = index_of(blocks_, step.first);
  if (!inverses_ || step.size() != block(b).size()) return {};
  return inverses_->view().column(b);
}

/// The part of L in panel i sees the interchanges of all its steps, and goes home. If columns by
/// rows still need it, its diagonal block is inverted (inverses_).
template <class T>
void Lu<T>::complete(Flow& flow, Index i) {
  const Index first = block(i).first;
  near().wait(*factored_);
  for (const Range& step : steps_of(i)) {
    if (step.first == first) continue;
    near().wait(*updated_);  // by the steps before the last, as they are
    kernels_.swap_rows(near(),
                       matrix().block(step.first, first, m_ - step.first, step.first - first),
                       pivots(step), step.first);
  }
  const bool needed = first_by_rows_ < n_ + nrhs_;
  if (needed && inverses_) {
    kernels_.find_inverses(near(), matrix().block(block(i), block(i)), inverses_->view().column(i));
  }
  near().record(*final_[at(i)]);
  flow.release(near(), i);
}

/// A step on the columns c: interchange, U_ic := L_ii^-1 A_ic, A(i+1:, c) -= L(i+1:, i) U_ic.
template <class T>
void Lu<T>::apply(Queue& queue, const Subtraction<T>& subtract, Range step, Range c) {
  if (c.empty()) return;
  const Span span(queue, "update", step.first / block(0).size());
  const Index border = std::clamp(first_by_rows_, c.first, c.last);
  apply_by_columns(queue, subtract, step, {c.first, border});
  apply_by_rows(queue, subtract, step, {border, c.last});
}

template <class T>
void Lu<T>::apply_by_columns(Queue& queue, const Subtraction<T>& subtract, Range step, Range c) {
  if (c.empty()) return;
  const Index i0 = step.first, i1 = step.last, w = i1 - i0;
  const DeviceView<T> A = matrix(), rest = A.block(i0, c.first, m_ - i0, c.size());
  if (kernels_.step_at_once(queue, panel_of(step), pivots(step), i0, rest)) return;
  kernels_.interchange_and_solve(queue, A.block(i0, i0, w, w), pivots(step), i0, rest);
  subtract(queue, A.block(i1, i0, m_ - i1, w), A.block(i0, c.first, w, c.size()),
           A.block(i1, c.first, m_ - i1, c.size()));
}

template <class T>
void Lu<T>::apply_by_rows(Queue& queue, const Subtraction<T>& subtract, Range step, Range c) {
  if (c.empty()) return;
  const Index i0 = step.first, w = step.size();
  const Range i = {step.last, m_};
  const DeviceView<T> A = matrix();
  kernels_.interchange_and_solve_by_rows(queue, A.block(i0, i0, w, w), pivots(step), i0,
                                         by_rows({i0, m_}, c), inverses_of(step));
  subtract.by_rows(queue, A.block(i.first, i0, i.size(), w), by_rows(step, c), by_rows(i, c),
                   split_of(step));
}

template <class T>
std::optional<DeviceView<T>> Lu<T>::place_by_rows(Range c) {
  if (c.first < first_by_rows_) return {};
  placed_by_rows_ = c.last;
  return by_rows({0, m_}, c);
}

/// Those of the columns that have arrived in their places and are to be by rows.
template <class T>
void Lu<T>::put_by_rows(Queue& queue, Range c) {
  c.first = std::max({c.first, first_by_rows_, placed_by_rows_});
  if (c.empty()) return;
  kernels_.copy(queue, Op::conj_trans, matrix().block(0, c.first, m_, c.size()),
                by_rows({0, m_}, c));
}

/// Columns up to `end` are by columns from now on, as matrix() is.
template <class T>
void Lu<T>::put_back(Queue& queue, Index end) {
  const Range c = {first_by_rows_, end};
  if (c.empty()) return;
  kernels_.copy(queue, Op::conj_trans, by_rows({0, m_}, c),
                matrix().block(0, c.first, m_, c.size()));
  first_by_rows_ = end;
}

/// All columns that take part, for single steps and in the end. near() may have some of them.
template <class T>
void Lu<T>::put_joined_back() {
  const Index end = block(joined_ - 1).last;
  if (first_by_rows_ >= end) return;
  update().wait(*near_done_);
  put_back(update(), end);
}

/// Where a block is one step, there are enough steps to keep the host busy with one group.
template <class T>
Index Lu<T>::most_groups(Index nb, Index step_width) {
  return nb > step_width ? 3 : 1;
}

/// What the late blocks do while panel i is computed. The next panel but one must have joined by
/// the next step.
template <class T>
void Lu<T>::bring_up(Flow& flow, Index i) {
  constexpr Index kStepsAtOnce = 3;  // of a group, lest the next panel wait for the host
  const Index needed = std::min(i + 3, total());
  const Index arrived = std::min(std::max({needed, flow.arrived(i), at_once_}), total());
  const Index far = first_far(0), arrived_near = std::min(arrived, far);
  constexpr Index kLeast = 2;  // blocks of a group: groups of one take longer
  const bool room = static_cast<Index>(groups_.size()) < most_groups(block(0).size(), step_width_);
  const bool enough = arrived_near == far || arrived_near - pending_ >= kLeast;
  if ((room && enough) || pending_ < needed) arrive(flow, arrived_near);
  take_long_steps(flow, i, arrived);
  for (Group& group : groups_) {
    for (Index k = 0; k < kStepsAtOnce && group.steps < i && takes_single_steps(group, i); ++k) {
      catch_up(group);
    }
  }
  // Far groups join when they are needed, and not before: panels would wait for their long steps.
  const auto has_caught_up = [&](const Group& group) {
    return group.steps == i && group.first < far;
  };
  while (joined_ < needed || (!groups_.empty() && has_caught_up(groups_.front()))) join(i);
}

/// Blocks up to `end` become a group.
template <class T>
void Lu<T>::arrive(Flow& flow, Index end, bool is_far) {
  if (pending_ >= end) return;
  groups_.push_back(
      {pending_, end, 0, next_late_++ % late_.size(), next_far_, is_far, EventLease(device_)});
  if (is_far) next_far_ = (next_far_ + 1) % far_.size();
  Queue& queue = is_far ? *far_[groups_.back().far].queue : late(groups_.back());
  queue.wait(*there_);
  for (; pending_ < end; ++pending_) {
    if (pending_ < at_once_) continue;
    flow.before(queue, pending_);
    put_by_rows(queue, block(pending_));
  }
  if (is_far) queue.record(*groups_.back().done);
}

template <class T>
void Lu<T>::catch_up(Group& group) {
  if (group.is_far) late(group).wait(*group.done);
  group.is_far = false;
  late(group).wait(*final_[at(group.steps)]);
  apply(late(group), in_catch_up_[group.queue], block(group.steps),
        columns(group.first, group.last));
  ++group.steps;
}

/// The first group joins, with the steps of the blocks before `end`.
template <class T>
void Lu<T>::join(Index end) {
  Group& group = groups_.front();
  while (group.steps < end) {
    if (!catch_up_far(group, end)) catch_up(group);
  }
  if (!group.is_far) late(group).record(*group.done);
  update().wait(*group.done);
  joined_done_.push_back(std::move(group.done));
  joined_ = group.last;
  groups_.pop_front();
}

template <class T>
void Lu<T>::near_waits_for_joined() {
  for (const EventLease& done : joined_done_) near().wait(*done);
  joined_done_.clear();
}

// ---- long steps ----

/// Long steps as far as they pay, and as there is memory for them. Several groups take theirs side
/// by side, since solves are many small products.
template <class T>
void Lu<T>::plan_long_steps(const Options& options) {
  const Index width = kLong * options.nb;
  if (!options.residues || !by_rows_ || options.nb % kernels_.residue_unit() != 0) return;
  const bool enough = try_to_allocate([&] {
    for (Index first = 0; first + width < std::min(m_, n_); first += width) {
      const Index rows = m_ - first;
      if (!kernels_.scaled_residues_pay(rows - width, n_ + nrhs_ - first - width, width)) break;
      for (Index q = 0; first == 0 && q < kFarQueues; ++q) {
        far_.push_back(
            {LongStep<T>::workspace(device_, rows, kLong, options.nb, kFarBlocks * options.nb),
             QueueLease(device_, Priority::normal, "far")});
      }
      long_steps_.emplace_back(device_, rows, kLong, options.nb);
    }
  });
  // Until the first one there is little to do, so that one alone does not pay.
  if (!enough || long_steps_.size() < 2) {
    long_steps_.clear();
    far_.clear();
  }
}

/// From which block on blocks get nothing but long steps while panel i is computed. Those just
/// behind a long step's blocks do not wait for it: they are needed before it is through. If blocks
/// arrive while others are factored, fewer of them: there is more to catch up with.
template <class T>
Index Lu<T>::first_far(Index i) const {
  const Index sooner = (is_complex<T> ? 4 : 5) - (at_once_ < total() ? 1 : 0), s = i / kLong;
  return s < long_steps() ? std::min((s + 1) * kLong + sooner, total()) : total();
}

/// Whether a group is to catch up block by block while panel i is computed: it is not at a long
/// step, or it has had them all, and the next one would come too late for it.
template <class T>
bool Lu<T>::takes_single_steps(const Group& group, Index i) const {
  const bool at_long_step = group.steps % kLong == 0 && group.steps < begun_long_steps_ * kLong;
  return group.first < first_far(i) && !at_long_step;
}

/// What the far blocks do while panel i is computed: a little of what they lag behind, those first
/// whose turn comes first, so that they keep the device busy until the end.
template <class T>
void Lu<T>::take_long_steps(Flow& flow, Index i, Index arrived) {
  for (; begun_long_steps_ < long_steps() && (begun_long_steps_ + 1) * kLong <= i;
       ++begun_long_steps_) {
    const Index s = begun_long_steps_;
    const Range c = columns(s * kLong, (s + 1) * kLong);
    Queue& queue = *far_[next_far_].queue;
    const Span span(queue, "long step", s);
    queue.wait(*final_[at((s + 1) * kLong - 1)]);
    long_steps_[at(s)].begin(queue, matrix().block(c.first, c.first, m_ - c.first, c.size()),
                             pivots(c), c.first,
                             inverses_->view().block(0, s * kLong, inverses_->view().rows, kLong));
  }
  if (begun_long_steps_ == 0) return;
  while (pending_ >= first_far(0) && pending_ < arrived) {
    arrive(flow, std::min(pending_ + kFarBlocks, arrived), true);
  }
  Index left = 1 + static_cast<Index>(groups_.size()) / kLong;
  for (Group& group : groups_) {
    while (left > 0 && catch_up_far(group, i)) --left;
  }
}

/// The next long step of a group, if it is one of blocks before `end`.
template <class T>
bool Lu<T>::catch_up_far(Group& group, Index end) {
  const Index s = group.steps / kLong, after = group.steps + kLong;
  if (group.steps % kLong != 0 || s >= begun_long_steps_ || after > end) return false;
  const Far& far = far_[group.far];
  Queue& queue = *far.queue;
  if (!group.is_far) {
    late(group).record(*group.done);
    queue.wait(*group.done);
    group.is_far = true;
  }
  const Index first = block(group.steps).first;
  const Range c = columns(group.first, group.last);
  const Span span(queue, "long update", group.first);
  long_steps_[at(s)].apply(queue, far.workspace, by_rows({first, m_}, c));
  queue.record(*group.done);
  group.steps = after;
  return true;
}

#define OVERLAPACK_INSTANTIATE(T) template class Lu<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
