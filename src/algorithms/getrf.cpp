#include "algorithms/getrf.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>

#include "algorithms/factorization.hpp"
#include "algorithms/panel_on_cpu.hpp"
#include "algorithms/split.hpp"
#include "algorithms/substitution.hpp"
#include "algorithms/transfer.hpp"
#include "cpu/reference.hpp"
#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

/// The block columns of an m x n matrix: panels up to column min(m, n), then what is only updated.
std::vector<Range> block_columns(Index m, Index n, Index nb) {
  const Index k = std::min(m, n);
  std::vector<Range> blocks = partition(k, nb);
  for (Range range : partition(n - k, nb)) blocks.push_back({k + range.first, k + range.last});
  return blocks;
}

/// Carries out in the caller's memory, in columns of panels that have come home, the interchanges
/// of later panels.
///
/// While the device computes, idle threads do so in sweeps over all panels at home, through the
/// last of them. The first one begins when half of the panels are home, each further one when a
/// quarter of the rest has followed. Together they move almost three times what one pass at the end
/// would, and little is left for that. What is done when does not matter to the result:
/// interchanges only move data.
template <class T>
class LaterInterchanges {
 public:
  LaterInterchanges(Device& device, HostView<T> a, Interchanges& interchanges, Index nb)
      : device_(device),
        a_(a),
        pivots_(interchanges.pivots),
        seen_(interchanges.seen),
        nb_(nb),
        panels_((count() + nb - 1) / nb),
        groups_per_panel_((nb + kColumns - 1) / kColumns) {}

  /// Does one task of a sweep, if there is one. `home` panels have come home, with their pivots.
  /// Any number of threads may call it at once.
  bool advance(Index home) {
    Index group = 0, end = 0;
    {
      const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
      if (!lock || (next_ == last_ && !begin_sweep(home))) return false;
      group = next_++;
      end = end_;
      under_way_.fetch_add(1, std::memory_order_relaxed);
    }
    apply(group, end);
    under_way_.fetch_sub(1, std::memory_order_release);
    return true;
  }

  /// Does the rest, once all panels are home and advance() is not called any more.
  void finish(Index threads) {
    const Index groups = groups_before(panels_);
    Workers::instance().parallel_for(std::min(threads, groups), groups,
                                     [this](Index group) { apply(group, count()); });
  }

 private:
  static constexpr Index kColumns = 32;  // per task: enough to pay for composing the permutation
  static constexpr Index kManyRows = 4;  // per interchange: beyond, single swaps cost less

  Index count() const { return static_cast<Index>(pivots_.size()); }
  /// Groups of columns, no wider than a task, in panels before the last of the first `panels`.
  Index groups_before(Index panels) const {
    return std::max<Index>(panels - 1, 0) * groups_per_panel_;
  }
  Range columns(Index group) const {
    const Index panel = group / groups_per_panel_;
    const Index first = panel * nb_ + group % groups_per_panel_ * kColumns;
    return {first, std::min(first + kColumns, (panel + 1) * nb_)};
  }

  /// A sweep begins when nothing of the one before is under way: no column has two tasks at once.
  bool begin_sweep(Index home) {
    home = std::min(home, panels_);
    if (home < due_ || under_way_.load(std::memory_order_acquire) > 0) return false;
    due_ = home + (panels_ - home) / 4 + 1;
    next_ = 0;
    last_ = groups_before(home);
    end_ = std::min(home * nb_, count());
    return next_ < last_;
  }

  /// The interchanges before `end` that a group has not seen yet.
  void apply(Index group, Index end) {
    const Range c = columns(group);
    const Index first = seen_[at(c.first)];
    if (first >= end) return;
    const Span span(device_, "interchange", c.first / nb_);
    const auto swap = [&] {
      reference::laswp(a_.block(0, c.first, a_.rows, c.size()), first, end, pivots_.data());
    };
    if (a_.rows - first > kManyRows * (end - first)) {
      swap();
    } else {
      try {
        gather(c, first, end);
      } catch (const std::bad_alloc&) {  // nothing has been moved yet, and this needs no memory
        swap();
      }
    }
    std::fill(&seen_[at(c.first)], &seen_[at(c.first)] + c.size(), end);
  }

  /// Each column is one gather by the composed permutation; rows above `first` stay. The column is
  /// copied first, since memory is read faster in order: what is then read in any order is in the
  /// cache.
  void gather(Range c, Index first, Index end) {
    std::vector<Index> source(at(a_.rows - first));
    std::iota(source.begin(), source.end(), Index{0});
    for (Index j = first; j < end; ++j) {
      std::swap(source[at(j - first)], source[at(pivots_[at(j)] - 1 - first)]);
    }
    std::vector<T> copy(source.size());
    for (Index j = c.first; j < c.last; ++j) {
      T* const column = &a_(first, j);
      std::copy_n(column, copy.size(), copy.begin());
      for (std::size_t i = 0; i < source.size(); ++i) column[i] = copy[at(source[i])];
    }
  }

  Device& device_;
  const HostView<T> a_;
  const std::vector<Index>& pivots_;
  std::vector<Index>& seen_;
  const Index nb_, panels_, groups_per_panel_;
  std::mutex mutex_;  // guards the sweep: groups [next_, last_) are left, interchanges before end_
  Index next_ = 0, last_ = 0, end_ = 0;
  Index due_ = panels_ / 2 + 1;  // so many panels at home begin the next one
  std::atomic<Index> under_way_{0};
};

/// The factorization of [A B] on the device, by block columns.
///
/// A block column is factored in steps, whose panels are a kernel each. `panel` (high priority) is
/// the queue of the chain of panels; while one is factored, `update` applies the step before to
/// what takes part, or the block before if that is worth while: then `near` (high priority) applies
/// steps to what the next panels need. `late` brings blocks up that arrive late.
template <class T>
class Lu {
 public:
  /// A is m x n; B, if nrhs > 0, is one more block column.
  Lu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index m, Index n,
     Index nrhs)
      : device_(device),
        kernels_(device.kernels<T>()),
        m_(m),
        n_(n),
        nrhs_(nrhs),
        blocks_(block_columns(m, n, options.nb)),
        panels_(static_cast<Index>(partition(std::min(m, n), options.nb).size())),
        matrix_(device, m, n + nrhs),
        pivots_(device, Space::device, std::min(m, n)),
        info_(device, Space::device, panels_),
        step_width_(kernels_.getrf_panel_width()),
        factored_(device),
        updated_(device),
        near_done_(device),
        far_done_(device),
        caught_up_(device),
        begun_(device),
        in_panel_(device, options, m, width(options), width(options)),
        in_near_(device, options, m, 2 * width(options), width(options)),
        in_update_(device, options, m, n + nrhs, width(options)) {
    if (options.hybrid) {
      panel_on_cpu_ = std::make_unique<PanelOnCpu<T>>(device, cpu, m, width(options));
    }
    for (Index i = 0; i < panels_; ++i) final_.emplace_back(device);
    panel_ = std::make_unique<QueueLease>(device, Priority::high, "panel");
    near_ = std::make_unique<QueueLease>(device, Priority::high, "near");
    update_ = std::make_unique<QueueLease>(device, Priority::normal, "update");
    for (Index g = 0; g < most_groups(); ++g) {
      late_.push_back(std::make_unique<QueueLease>(device, Priority::normal, "catch up"));
      in_catch_up_.emplace_back(device, options, m, n + nrhs, width(options));
    }
    panel().zero(info_.data(), sizeof(Index) * at(panels_));
  }

  Kernels<T>& kernels() const { return kernels_; }
  Index panels() const { return panels_; }
  /// Block columns of A.
  Index count() const { return static_cast<Index>(blocks_.size()); }
  /// The last one is B, if there are right-hand sides.
  Index total() const { return count() + (nrhs_ > 0 ? 1 : 0); }
  Range block(Index j) const { return j < count() ? blocks_[at(j)] : Range{n_, n_ + nrhs_}; }
  /// Where A and B are to arrive, and where the factors appear: in the columns of a panel without
  /// the interchanges of later panels.
  DeviceView<T> matrix() const { return matrix_.view(); }
  /// B, or what is left of it: its first rows, of which X will be.
  DeviceView<T> rhs() const { return matrix().block(0, n_, std::min(m_, n_), nrhs_); }
  DeviceView<Index> pivots(Index i) const { return pivots(block(i)); }
  /// Of panel i, on the device: where its first pivot that is exactly zero stands, or 0.
  DeviceView<Index> info(Index i) const { return {info_.data() + i, 1}; }
  /// Of all queues the one that all others have been waited for in when factor() is through.
  Queue& update() const { return **update_; }

  /// Enqueues the factorization. The flow is told when a block of A is final; what is left of B is
  /// L^-1 P B then.
  void factor(Flow& flow) {
    joined_ = pending_ = std::clamp<Index>(flow.at_once(), std::min<Index>(2, total()), total());
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
        // Meanwhile what remains of the step before.
        if (before.empty()) {
          begin_updates(flow);
        } else if (k > 0) {
          update_by_step(whole, i, before, step.last);
        } else {
          end_block(flow, i - 1, whole_before, before, step.last);
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
      bring_up(flow, i);
    }

    // What has no panel of its own: the columns beyond row m of a wide matrix, and B.
    complete(flow, panels_ - 1);
    update().wait(*final_[at(panels_ - 1)]);
    apply(update(), in_update_, whole_before ? block(panels_ - 1) : before,
          columns(panels_, joined_));
    arrive(flow, total());
    while (!groups_.empty()) join(panels_);
    for (Index j = panels_; j < count(); ++j) flow.release(update(), j);
  }

  /// Whether the interchanges are there as permutations, of so few rows that these can be used.
  bool compose_interchanges() {
    if (m_ > kernels_.permutable_rows()) return false;
    if (!sources_) {
      try {
        sources_.emplace(device_, m_, panels_);
      } catch (const DeviceError& error) {  // of many panels it is large
        if (error.lost()) throw;
        return false;
      }
      kernels_.compose_interchanges(update(), {pivots_.data(), pivots_.size()}, block(0).size(),
                                    sources_->view());
    }
    return true;
  }

  /// Carries out, in the columns of panels of the factors `a`, the interchanges of later panels.
  void interchange_left(DeviceView<T> a) {
    if (panels_ == 1) return;
    if (compose_interchanges()) {
      kernels_.permute_rows(update(), a.block(0, 0, m_, block(panels_ - 1).first), block(0).size(),
                            sources_->view().block(0, 1, m_, panels_ - 1));
      return;
    }
    for (Index i = 1; i < panels_; ++i) interchange_left(update(), a, i);
  }
  /// Those of panel i in the columns before it.
  void interchange_left(Queue& queue, DeviceView<T> a, Index i) const {
    const Index i0 = block(i).first;
    kernels_.swap_rows(queue, a.block(i0, 0, m_ - i0, i0), pivots(i), i0);
  }

  /// X := U^-1 B, once A is factored.
  void back_substitute() {
    const Span span(update(), "solve", count());
    kernels_.trsm(update(), Side::left, Uplo::upper, Op::none, Diag::non_unit, T(1),
                  matrix().block(0, 0, m_, n_), rhs());
  }

  /// Carries out all interchanges in an m x nrhs matrix.
  void interchange(DeviceView<T> b) {
    if (compose_interchanges()) {
      kernels_.permute_rows(update(), b, b.cols, sources_->view().block(0, 0, m_, 1));
    } else {
      kernels_.swap_rows(update(), b, {pivots_.data(), pivots_.size()}, 0);
    }
  }

 private:
  Index width(const Options& options) const { return std::min(options.nb, std::min(m_, n_)); }
  Queue& panel() const { return **panel_; }
  Queue& near() const { return **near_; }

  /// The columns of block i that are factored at a time: by the device in panels of its width.
  std::vector<Range> steps_of(Index i) const {
    std::vector<Range> steps =
        partition(block(i).size(), panel_on_cpu_ ? block(i).size() : step_width_);
    for (Range& step : steps) step = {step.first + block(i).first, step.last + block(i).first};
    return steps;
  }
  Range first_step_of(Index i) const { return i < panels_ ? steps_of(i).front() : Range{}; }
  DeviceView<Index> pivots(Range step) const { return {pivots_.data() + step.first, step.size()}; }
  /// Whether what lies beyond the block after block i gets the steps of block i as one. That makes
  /// longer products, which are faster, and few steps for late blocks to catch up with; it pays
  /// where updates take longer than panels. Steps by themselves leave less to do between panels.
  bool by_whole_blocks(Index i) const {
    if (block(i).size() <= step_width_ || panel_on_cpu_) return false;
    const Index long_side = 32 * step_width_, end = block(i).last;
    return joined_ < total() || (m_ - end) * (n_ + nrhs_ - end) >= long_side * long_side;
  }

  /// What the first updates need, once the first panel is under way.
  void begin_updates(Flow& flow) {
    for (Index j = 1; j < joined_; ++j) flow.before(update(), j);
    for (EventLease* event : {&updated_, &far_done_}) update().record(**event);
    near().wait(*far_done_);
    near().record(*near_done_);
  }

  void start_panel(Index i, Range step) {
    if (panel_on_cpu_) {
      panel().record(*begun_);
      panel_on_cpu_->start(panel(), panel_of(step));
    } else {
      const Span span(panel(), "panel", i);
      kernels_.getrf_panel(panel(), panel_of(step), pivots(step), info(i), step.first, &*begun_);
    }
  }
  void finish_panel(Index i, Range step) {
    if (panel_on_cpu_) {
      panel_on_cpu_->finish(panel(), panel_of(step), pivots(step), info(i), step.first);
    }
    panel().record(*factored_);
  }
  DeviceView<T> panel_of(Range step) const {
    return matrix().block(step.first, step.first, m_ - step.first, step.size());
  }

  /// A step of block b, as soon as it is factored, on the columns from `column` on: through those
  /// of the next block's first step, in the near queue, if the others get the whole block; or else
  /// on all of them. It starts behind the next panel, which needs some multiprocessors for itself
  /// and would have to wait for them.
  void update_by_step(bool whole, Index b, Range step, Index column) {
    Queue& queue = whole ? near() : update();
    queue.wait(*factored_);
    queue.wait(*begun_);
    if (!whole) queue.wait(*near_done_);
    const Index end = whole ? by_steps_until(b) : block(joined_ - 1).last;
    apply(queue, whole ? in_near_ : in_update_, step, {column, end});
    queue.record(*updated_);
  }
  /// Where the columns end that get the steps of block b one by one.
  Index by_steps_until(Index b) const {
    return b + 1 < panels_ ? first_step_of(b + 1).last : block(b).last;
  }

  /// What remains of block b when its last step is factored.
  void end_block(Flow& flow, Index b, bool whole, Range step, Index column) {
    if (!whole) {
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
    near().record(*updated_);
    near().wait(*far_done_);
    apply(near(), in_near_, block(b), columns(b + 2, far));
    near().record(*near_done_);
    update().wait(*final_[at(b)]);
    update().wait(*begun_);
    apply(update(), in_update_, block(b), columns(far, joined_));
    update().record(*far_done_);
  }

  /// The part of L in panel i sees the interchanges of all its steps, and goes home.
  void complete(Flow& flow, Index i) {
    const Index first = block(i).first;
    near().wait(*factored_);
    for (const Range& step : steps_of(i)) {
      if (step.first == first) continue;
      near().wait(*updated_);  // by the steps before the last, as they are
      kernels_.swap_rows(near(),
                         matrix().block(step.first, first, m_ - step.first, step.first - first),
                         pivots(step), step.first);
    }
    near().record(*final_[at(i)]);
    flow.release(near(), i);
  }

  /// The columns of blocks [first, last).
  Range columns(Index first, Index last) const {
    if (first >= last) return {};
    return {block(first).first, block(last - 1).last};
  }

  /// A step on the columns c: interchange, U_ic := L_ii^-1 A_ic, A(i+1:, c) -= L(i+1:, i) U_ic.
  void apply(Queue& queue, const Subtraction<T>& subtract, Range step, Range c) {
    if (c.empty()) return;
    const Index i0 = step.first, i1 = step.last, w = i1 - i0;
    const Span span(queue, "update", i0 / block(0).size());
    const DeviceView<T> A = matrix();
    kernels_.interchange_and_solve(queue, A.block(i0, i0, w, w), pivots(step), i0,
                                   A.block(i0, c.first, m_ - i0, c.size()));
    subtract(queue, A.block(i1, i0, m_ - i1, w), A.block(i0, c.first, w, c.size()),
             A.block(i1, c.first, m_ - i1, c.size()));
  }

  // Blocks [0, joined) take part in the updates. Blocks [joined, pending) have arrived later and
  // catch up, in groups, each on a queue of its own: a group makes many small steps one after the
  // other, and the next panel must not wait for them, but groups can make theirs at the same time.
  struct Group {
    Index first, last;  // blocks
    Index steps;        // the next block whose steps they have not seen
    std::size_t queue;  // of the late ones
  };

  /// Where a block is one step, there are enough steps to keep the host busy with one group.
  Index most_groups() const { return block(0).size() > step_width_ ? 3 : 1; }

  /// What the late blocks do while panel i is computed. The next panel but one must have joined by
  /// the next step.
  void bring_up(Flow& flow, Index i) {
    constexpr Index kStepsAtOnce = 2;  // of a group, lest the next panel wait for the host
    const Index needed = std::min(i + 3, total());
    // The link brings blocks faster than panels are factored: three in the time of two.
    const Index arrived = std::min(std::max(needed, 3 * i / 2 + 4), total());
    // Groups that are side by side have two blocks each, at least: one took longer at n = 8192.
    const Index least = most_groups() > 1 ? 2 : 1;
    const bool room = static_cast<Index>(groups_.size()) < most_groups();
    const bool enough = arrived == total() || arrived - pending_ >= least;
    if ((room && enough) || pending_ < needed) arrive(flow, arrived);
    for (Group& group : groups_) {
      for (Index k = 0; k < kStepsAtOnce && group.steps < i; ++k) catch_up(group);
    }
    while (joined_ < needed || (!groups_.empty() && groups_.front().steps == i)) join(i);
  }
  void arrive(Flow& flow, Index end) {
    if (pending_ == end) return;
    groups_.push_back({pending_, end, 0, next_late_++ % late_.size()});
    for (; pending_ < end; ++pending_) flow.before(late(groups_.back()), pending_);
  }
  void catch_up(Group& group) {
    late(group).wait(*final_[at(group.steps)]);
    apply(late(group), in_catch_up_[group.queue], block(group.steps),
          columns(group.first, group.last));
    ++group.steps;
  }
  /// The first group joins, with the steps of the blocks before `end`.
  void join(Index end) {
    Group& group = groups_.front();
    while (group.steps < end) catch_up(group);
    late(group).record(*caught_up_);
    for (Queue* queue : {&near(), &update()}) queue->wait(*caught_up_);
    joined_ = group.last;
    groups_.pop_front();
  }
  Queue& late(const Group& group) const { return **late_[group.queue]; }

  Device& device_;
  Kernels<T>& kernels_;
  Index m_, n_, nrhs_;
  std::vector<Range> blocks_;
  Index panels_;
  Index joined_ = 0, pending_ = 0;
  std::deque<Group> groups_;  // of [joined, pending)
  std::size_t next_late_ = 0;
  DeviceMatrix<T> matrix_;
  Buffer<Index> pivots_, info_;
  std::optional<DeviceMatrix<Index>> sources_;  // of rows, by panel: see compose_interchanges()
  std::unique_ptr<PanelOnCpu<T>> panel_on_cpu_;
  const Index step_width_;
  std::vector<EventLease> final_;  // final_[i]: panel i holds its part of L and U
  EventLease factored_, updated_, near_done_, far_done_, caught_up_, begun_;
  Subtraction<T> in_panel_, in_near_, in_update_;  // one for each queue
  std::vector<Subtraction<T>> in_catch_up_;
  std::unique_ptr<QueueLease> panel_, near_, update_;
  std::vector<std::unique_ptr<QueueLease>> late_;
};

/// Blocks come by a transfer's uploads, and go by its downloads of the same numbers.
class TransferFlow final : public Flow {
 public:
  /// `uploads`: the number of that with block j; several blocks may have the same.
  TransferFlow(Transfer& transfer, std::vector<Index> uploads, Index at_once)
      : transfer_(transfer), uploads_(std::move(uploads)), at_once_(at_once) {}
  Index at_once() const override { return at_once_; }
  bool before(Queue& queue, Index j) override { return transfer_.before(queue, uploads_[at(j)]); }
  void release(Queue& queue, Index j) override { transfer_.release(queue, j); }

 private:
  Transfer& transfer_;
  std::vector<Index> uploads_;
  Index at_once_;
};

/// The caller's matrix lies on the device. Blocks are copied in the queues that want them, the
/// first two by themselves and the others at once: to launch a copy of each would take longer than
/// to copy it. Factored ones go home in a queue of their own.
///
/// The interchanges of later panels follow at the end, unless there are few panels: then each
/// panel's at once, while the next ones are factored. Among many they would keep the panels and the
/// products from the multiprocessors (a matrix of order 8192 took 5 % longer, one of order 1024
/// takes 3 % less).
template <class T>
class ResidentFlow final : public Flow {
 public:
  /// `input`, too, lies on the device, and may be `a`. B, if there is one, comes as upload 0 of
  /// `transfer`.
  ResidentFlow(Device& device, Lu<T>& lu, HostView<const T> input, HostView<T> a,
               Transfer* transfer)
      : lu_(lu),
        input_(on_device(input)),
        a_(on_device(a)),
        transfer_(transfer),
        few_panels_(lu.panels() <= kFewPanels),
        there_(device),
        queue_(device, Priority::normal, "home") {}

  Index at_once() const override { return lu_.total(); }
  bool before(Queue& queue, Index j) override {
    constexpr Index kAlone = 2;
    if (j == lu_.count()) return transfer_->before(queue, 0);
    if (j > kAlone) return true;
    const Range c = {lu_.block(j).first, j < kAlone ? lu_.block(j).last : a_.cols};
    copy(queue, "upload", j, input_, lu_.matrix(), c);
    return true;
  }
  void release(Queue& queue, Index j) override {
    Range c = lu_.block(j);
    if (j >= lu_.panels()) {  // all blocks without a panel become final together
      if (j + 1 < lu_.count()) return;
      c.first = lu_.block(lu_.panels()).first;
    }
    queue.record(*there_);
    queue_->wait(*there_);
    copy(*queue_, "download", j, lu_.matrix(), a_, c);
    if (few_panels_ && j > 0 && j < lu_.panels()) lu_.interchange_left(*queue_, a_, j);
  }
  /// Waits until all is there.
  void finish(const Buffer<Index>& pivots, const Buffer<Index>& info) {
    if (!few_panels_) {
      lu_.compose_interchanges();
      queue_->record(*there_);
      lu_.update().wait(*there_);
      lu_.interchange_left(a_);
      lu_.update().record(*there_);
      queue_->wait(*there_);
    }
    const auto fetch = [this](const Buffer<Index>& to, const Index* from) {
      queue_->template copy<Index>(HostView<Index>(to.data(), to.size()),
                                   DeviceView<const Index>(from, to.size()));
    };
    fetch(pivots, lu_.pivots(0).data);
    fetch(info, lu_.info(0).data);
    queue_->synchronize();
  }

 private:
  static constexpr Index kFewPanels = 16;

  void copy(Queue& queue, const char* kind, Index j, DeviceView<const T> from, DeviceView<T> to,
            Range c) const {
    const Span span(queue, kind, j);
    queue.copy<T>(to.block(0, c.first, a_.rows, c.size()),
                  from.block(0, c.first, a_.rows, c.size()));
  }

  Lu<T>& lu_;
  const DeviceView<const T> input_;
  const DeviceView<T> a_;
  Transfer* const transfer_;
  const bool few_panels_;
  EventLease there_;  // the block last released, in that queue
  QueueLease queue_;
};

/// The factors stay where they are, for solves.
template <class T>
class LuOnDevice final : public Factorization<T> {
 public:
  LuOnDevice(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index n)
      : host_pivots_(device, Space::host, n),
        status_(device, Space::host, static_cast<Index>(partition(n, options.nb).size())),
        substitute_(device, n),
        lu_(device, cpu, options, n, n, 0) {}

  DeviceView<T> input() const override { return lu_.matrix(); }
  Queue& queue() const override { return lu_.update(); }

  void factor(Flow& flow) override {
    lu_.factor(flow);
    lu_.interchange_left(lu_.matrix());
    queue().template copy<Index>(HostView<Index>(host_pivots_.data(), host_pivots_.size()),
                                 DeviceView<const Index>(lu_.pivots(0).data, host_pivots_.size()));
    queue().template copy<Index>(HostView<Index>(status_.data(), status_.size()),
                                 DeviceView<const Index>(lu_.info(0).data, status_.size()));
  }

  void solve(DeviceView<T> b) override {
    const DeviceView<T> A = lu_.matrix();
    lu_.interchange(b);
    substitute_(queue(), Uplo::lower, Diag::unit, A, b);
    substitute_(queue(), Uplo::upper, Diag::non_unit, A, b);
  }

  Index info() const override { return first_failure(status_); }
  std::vector<Index> pivots() const override {
    return {host_pivots_.data(), host_pivots_.data() + host_pivots_.size()};
  }

 private:
  Buffer<Index> host_pivots_, status_;
  Substitution<T> substitute_;
  Lu<T> lu_;
};

}  // namespace

template <class T>
std::unique_ptr<Factorization<T>> make_lu(Device& device, const cpu::Lapack<T>& cpu,
                                          const Options& options, Index n) {
  return std::make_unique<LuOnDevice<T>>(device, cpu, options, n);
}

namespace {

/// gesv() of a matrix in the device's memory.
template <class T>
Index gesv_in_place(Device& device, Lu<T>& lu, const Options& options, Input<T> input,
                    HostView<T> a, Interchanges& interchanges, HostView<T> b, Index& committed) {
  const Buffer<Index> host_pivots(device, Space::host, std::min(a.rows, a.cols)),
      status(device, Space::host, lu.panels());
  std::optional<Transfer> transfer;  // of B
  if (!b.empty()) {
    transfer.emplace(device, options.threads, committed);
    transfer->add_upload(make_region<T>(input.b, lu.rhs()));
    transfer->add_download(make_region<T>(b, lu.rhs()),
                           {{lu.info(0).data, status.data(), sizeof(Index) * at(status.size())}},
                           [&status] {
                             return first_failure(status) == 0;  // else B stays as it is
                           });
    transfer->start();
  }
  ResidentFlow<T> flow(device, lu, input.a, a, transfer ? &*transfer : nullptr);
  lu.factor(flow);
  if (transfer) {
    lu.back_substitute();
    transfer->release(lu.update(), 0);
    transfer->finish();
  }
  flow.finish(host_pivots, status);
  std::copy_n(host_pivots.data(), host_pivots.size(), interchanges.pivots.begin());
  return first_failure(status);
}

}  // namespace

template <class T>
Index gesv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Input<T> input,
           HostView<T> a, Interchanges& interchanges, HostView<T> b, Index& committed) {
  const Index m = a.rows, n = a.cols;
  interchanges.pivots.assign(at(std::min(m, n)), 0);
  interchanges.seen.assign(interchanges.pivots.size(), 0);
  Lu<T> lu(device, cpu, options, m, n, b.cols);
  if (device.kind_of(a.data) == MemoryKind::device) {
    return gesv_in_place(device, lu, options, input, a, interchanges, b, committed);
  }
  const Buffer<Index> host_pivots(device, Space::host, std::min(m, n)),
      status(device, Space::host, lu.panels());
  LaterInterchanges<T> later(device, a, interchanges, options.nb);
  Transfer transfer(device, options.threads, committed);

  std::vector<Index> uploads;  // by block
  for (Index j = 0; j < lu.count(); ++j) {
    const Range c = lu.block(j);
    const auto block = [&](auto x) { return x.block(0, c.first, m, c.size()); };
    uploads.push_back(transfer.add_upload(make_region<T>(block(input.a), block(lu.matrix()))));
    const auto region = make_region<T>(block(a), block(lu.matrix()));
    if (j >= lu.panels()) {
      transfer.add_download(region);
      continue;
    }
    Index* const here = host_pivots.data() + c.first;
    transfer.add_download(region,
                          {{lu.pivots(j).data, here, sizeof(Index) * at(c.size())},
                           {lu.info(j).data, status.data() + j, sizeof(Index)}},
                          [&interchanges, here, c] {
                            std::copy(here, here + c.size(), &interchanges.pivots[at(c.first)]);
                            std::fill_n(&interchanges.seen[at(c.first)], c.size(), c.last);
                            return true;
                          });
  }
  if (!b.empty()) {
    uploads.push_back(transfer.add_upload(make_region<T>(input.b, lu.rhs())));
    transfer.add_download(make_region<T>(b, lu.rhs()), {}, [&status] {
      return first_failure(status) == 0;  // else B stays as it is
    });
  }
  // The hybrid form's CPU LAPACK wants the cores while the device computes.
  if (!options.hybrid) {
    transfer.when_idle([&later](Index home) { return later.advance(home); });
  }
  transfer.start();

  const bool on_device = device.kind_of(input.a.data) == MemoryKind::device;
  TransferFlow flow(transfer, std::move(uploads), on_device ? lu.total() : 0);
  lu.factor(flow);
  if (!b.empty()) {
    lu.back_substitute();
    transfer.release(lu.update(), lu.count());
  }
  transfer.finish();
  later.finish(options.threads);
  return first_failure(status);
}

template <class T>
Index resume_gesv(const cpu::Lapack<T>& cpu, HostView<T> a, Interchanges& interchanges,
                  HostView<T> b, Index committed) {
  std::vector<Index>& pivots = interchanges.pivots;
  const Index m = a.rows, n = a.cols, p = std::min(m, n);
  const Index c = std::min(committed, n);  // columns of A that came home
  const Index k = std::min(c, p);          // of them, those with a pivot
  const Index solved = committed - c;
  const auto column_block = [&](Index first, Index last) {
    return a.block(0, first, m, last - first);
  };

  // Bring the columns that came home to the state after k columns: those of a panel of which only a
  // part came home have seen interchanges beyond k, others not all before k.
  for (Index j = 0; j < k; ++j) {
    const Index seen = interchanges.seen[at(j)];
    reference::laswp(column_block(j, j + 1), k, seen, pivots.data(), false);
    reference::laswp(column_block(j, j + 1), seen, k, pivots.data(), true);
  }
  Index info = 0;
  for (Index j = k; j > 0; --j) {
    if (a(j - 1, j - 1) == T(0)) info = j;
  }

  if (c < n) {
    const HostView<T> rest = column_block(c, n);
    const HostView<T> u12 = rest.block(0, 0, k, n - c);
    reference::laswp(rest, 0, k, pivots.data(), true);
    cpu.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), a.block(0, 0, k, k), u12);
    if (k < p) {
      const HostView<T> a22 = rest.block(k, 0, m - k, n - c);
      cpu.gemm(Op::none, Op::none, T(-1), a.block(k, 0, m - k, k), u12, T(1), a22);
      const Index failed = cpu.getrf(a22, cpu::Pivots(pivots.data() + k));
      if (info == 0 && failed != 0) info = k + failed;
      for (Index j = k; j < p; ++j) pivots[at(j)] += k;
      reference::laswp(column_block(0, k), k, p, pivots.data(), true);
    }
  }
  if (info == 0 && solved < b.cols) {
    cpu.getrs(Op::none, a, cpu::Pivots(pivots.data()), b.block(0, solved, n, b.cols - solved));
  }
  return info;
}

#define OVERLAPACK_INSTANTIATE(T)                                                               \
  template Index gesv<T>(Device&, const cpu::Lapack<T>&, const Options&, Input<T>, HostView<T>, \
                         Interchanges&, HostView<T>, Index&);                                   \
  template Index resume_gesv<T>(const cpu::Lapack<T>&, HostView<T>, Interchanges&, HostView<T>, \
                                Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

template std::unique_ptr<Factorization<float>> make_lu(Device&, const cpu::Lapack<float>&,
                                                       const Options&, Index);
template std::unique_ptr<Factorization<std::complex<float>>> make_lu(
    Device&, const cpu::Lapack<std::complex<float>>&, const Options&, Index);

}  // namespace overlapack::algorithms
