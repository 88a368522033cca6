// The schedule of an LU factorization on the device: which block is updated, factored and final
// when, and in which queue.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/lu/long_step.hpp"
#include "algorithms/lu/panel_on_cpu.hpp"
#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/factorization.hpp"
#include "algorithms/shared/split.hpp"
#include "algorithms/shared/substitution.hpp"

namespace overlapack::algorithms {

/// The factorization of [A B] on the device, by block columns.
///
/// A block column is factored in steps, whose panels are a kernel each. `panel` (high priority) is
/// the queue of the chain of panels; while one is factored, `update` applies the step before to
/// what takes part, or the block before if that is worth while: then `near` (high priority) applies
/// steps to what the next panels need. `late` brings blocks up that arrive late.
///
/// Interchanges are costly in a matrix that is stored by columns, where each number of a row lies
/// in another piece of memory. So columns that get the steps of whole blocks are kept by rows
/// meanwhile, as A^H. They are put back in their places when it is almost their turn, for panels
/// and single steps. Where L is split (algorithms/shared/split.hpp), it is split once for all of
/// them.
///
/// In a very large matrix in double precision, blocks far from the panels get the steps of many
/// blocks as one, a long step (algorithms/lu/long_step.hpp). They join the others, who get steps
/// block by block, when it is almost their turn.
template <class T>
class Lu {
 public:
  /// A is m x n; B, if nrhs > 0, is one more block column. [A B] gets memory of its own, unless it
  /// is to be factored in `place`.
  Lu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index m, Index n,
     Index nrhs, DeviceView<T> place = {});
  /// Bytes of device memory, with that for [A B]; and those that interchange_left() and
  /// interchange() take beyond that.
  static std::size_t bytes(Device& device, const Options& options, Index m, Index n, Index nrhs);
  static std::size_t bytes_to_interchange(Device& device, const Options& options, Index m, Index n);

  Kernels<T>& kernels() const { return kernels_; }
  Index panels() const { return panels_; }
  /// Block columns of A.
  Index count() const { return static_cast<Index>(blocks_.size()); }
  /// The last one is B, if there are right-hand sides.
  Index total() const { return count() + (nrhs_ > 0 ? 1 : 0); }
  Range block(Index j) const { return j < count() ? blocks_[at(j)] : Range{n_, n_ + nrhs_}; }
  /// Where A and B are to arrive, and where the factors appear: in the columns of a panel without
  /// the interchanges of later panels.
  DeviceView<T> matrix() const { return matrix_; }
  /// For a flow that brings columns c before the factorization needs them: where their adjoint may
  /// go instead, if it may.
  std::optional<DeviceView<T>> place_by_rows(Range c);
  /// B, or what is left of it: its first rows, of which X will be.
  DeviceView<T> rhs() const { return matrix().block(0, n_, std::min(m_, n_), nrhs_); }
  DeviceView<Index> pivots(Index i) const { return pivots(block(i)); }
  /// What panels report into staging memory: LAPACK's pivots, and of each panel where its first
  /// pivot that is exactly zero stands, or 0.
  const Buffer<Index>& pivots_home() const { return pivots_home_; }
  const Buffer<Index>& info() const { return info_; }
  /// In staging memory, zero at first: for a flow that wants to tell the host how many panels have
  /// reported.
  Flag& panels_known() const { return *panels_known_.data(); }
  /// Of all queues the one that all others have been waited for in when factor() is through.
  Queue& update() const { return *update_; }

  /// Enqueues the factorization. The flow is told when a block of A is final; what is left of B is
  /// L^-1 P B then.
  void factor(Flow& flow);
  /// All that factor() and the flow have enqueued is known to be done.
  void settle();

  /// Carries out, in the factors `a`, the interchanges of the given panels in the columns of panels
  /// before each of them.
  void interchange_left(Queue& queue, DeviceView<T> a, Range panels);
  /// Carries out all interchanges in an m x nrhs matrix.
  void interchange(DeviceView<T> b);
  /// X := U^-1 X in update(), once A is factored.
  void solve_with_u(DeviceView<T> x) { solve_with_u_(update(), matrix().block(0, 0, m_, n_), x); }

 private:
  // Blocks [0, joined) take part in the updates. Blocks [joined, pending) have arrived later and
  // catch up, in groups, each on a queue of its own: a group makes many small steps one after the
  // other, and the next panel must not wait for them, but groups can make theirs at the same time.
  struct Group {
    Index first, last;  // blocks
    Index steps;        // the next block whose steps they have not seen
    std::size_t queue;  // of the late ones
    std::size_t far;    // which of those for long steps
    bool is_far;        // their latest work is there, up to `done`
    EventLease done;
  };

  // Where far groups make long steps.
  struct Far {
    typename LongStep<T>::Workspace workspace;
    QueueLease queue;
  };
  static constexpr Index kLong = 8;  // blocks of a long step
  static constexpr Index kFarQueues = 3;

  Index width(const Options& options) const { return std::min(options.nb, std::min(m_, n_)); }
  static std::size_t bytes_of_long_steps(Device& device, const Options& options, Index m, Index n,
                                         Index columns);
  Queue& panel() const { return *panel_; }
  Queue& near() const { return *near_; }
  Queue& late(const Group& group) const { return *late_[group.queue]; }
  DeviceView<Index> pivots(Range step) const { return {pivots_.data() + step.first, step.size()}; }
  DeviceView<T> panel_of(Range step) const {
    return matrix().block(step.first, step.first, m_ - step.first, step.size());
  }
  /// The columns of blocks [first, last).
  Range columns(Index first, Index last) const {
    if (first >= last) return {};
    return {block(first).first, block(last - 1).last};
  }

  bool compose(Queue& queue, Range panels);
  std::vector<Range> steps_of(Index i) const;
  Range first_step_of(Index i) const { return i < panels_ ? steps_of(i).front() : Range{}; }
  bool by_whole_blocks(Index i) const;
  Index by_steps_until(Index b) const;
  void begin_updates(Flow& flow);
  void start_panel(Index i, Range step);
  void finish_panel(Index i, Range step);
  void update_by_step(bool whole, Index b, Range step, Index column);
  void end_block(Flow& flow, Index b, bool whole, Range step, Index column);
  void complete(Flow& flow, Index i);
  void apply(Queue& queue, const Subtraction<T>& subtract, Range step, Range c);
  void apply_by_columns(Queue& queue, const Subtraction<T>& subtract, Range step, Range c);
  void apply_by_rows(Queue& queue, const Subtraction<T>& subtract, Range step, Range c);
  DeviceView<T> by_rows(Range i, Range c) const { return by_rows_->view().block(c, i); }
  DeviceView<const Index> inverses_of(Range step) const;
  void put_by_rows(Queue& queue, Range c);
  void put_back(Queue& queue, Index end);
  void put_joined_back();
  static Index most_groups(Index nb, Index step_width);
  void bring_up(Flow& flow, Index i);
  void arrive(Flow& flow, Index end, bool is_far = false);
  void catch_up(Group& group);
  void join(Index end);
  void near_waits_for_joined();
  void make_room_to_split(const Options& options);
  bool may_be_split(Index b) const { return b < static_cast<Index>(split_.size()); }
  void split(Index b);
  const SplitAdjoint<T>* split_of(Range step) const;
  void plan_long_steps(const Options& options);
  Index long_steps() const { return static_cast<Index>(long_steps_.size()); }
  Index first_far(Index i) const;
  bool takes_single_steps(const Group& group, Index i) const;
  void take_long_steps(Flow& flow, Index i, Index arrived);
  bool catch_up_far(Group& group, Index end);

  Device& device_;
  Kernels<T>& kernels_;
  Index m_, n_, nrhs_;
  std::vector<Range> blocks_;
  Index panels_;
  Index joined_ = 0, pending_ = 0;
  Index at_once_ = 0;                    // blocks that are there from the beginning
  std::deque<Group> groups_;             // of [joined, pending)
  std::vector<EventLease> joined_done_;  // of groups that have joined, for near()
  std::size_t next_late_ = 0;
  std::optional<DeviceMatrix<T>> memory_;
  DeviceView<T> matrix_;
  // The adjoint of columns from first_by_rows_ on.
  std::optional<DeviceMatrix<T>> by_rows_;
  // Column b: of L in block b, for columns by rows (Kernels<T>::find_inverses).
  std::optional<DeviceMatrix<Index>> inverses_;
  Index first_by_rows_;
  Index placed_by_rows_ = 0;  // up to there a flow has put them there
  Buffer<Index> pivots_, pivots_home_, info_;
  Buffer<Flag> panels_known_;
  std::optional<DeviceMatrix<Index>> sources_;  // of rows, by panel: see compose()
  Range composed_;                              // the panels of which they are
  bool composes_ = true;                        // there has been memory for them
  std::unique_ptr<PanelOnCpu<T>> panel_on_cpu_;
  const Index step_width_;
  std::vector<EventLease> final_;  // final_[i]: panel i holds its part of L and U
  EventLease there_, factored_, updated_, near_done_, far_done_, begun_;
  Subtraction<T> in_panel_, in_near_, in_update_;  // one for each queue
  std::vector<Subtraction<T>> in_catch_up_;
  std::vector<SplitAdjoint<T>> split_;  // split_[b]: what lies below block b
  Substitution<T> solve_with_u_;
  std::deque<LongStep<T>> long_steps_;
  Index begun_long_steps_ = 0;
  std::deque<Far> far_;  // if there are long steps; groups take turns
  std::size_t next_far_ = 0;
  QueueLease panel_, near_, update_;
  std::vector<QueueLease> late_;
};

}  // namespace overlapack::algorithms
