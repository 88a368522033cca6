// The blocks of an LU factorization that arrive late, and catch up with the others.
#pragma once

#include <deque>
#include <vector>

#include "algorithms/lu/long_steps.hpp"
#include "algorithms/lu/matrix.hpp"
#include "algorithms/lu/panels.hpp"
#include "algorithms/lu/steps.hpp"
#include "algorithms/shared/factorization.hpp"

namespace overlapack::algorithms {

/// Blocks [0, joined) take part in the updates. Blocks [joined, arrived) have arrived later and
/// catch up, in groups, each in a queue of its own: a group makes many small steps one after the
/// other, and the next panel must not wait for them, but groups can make theirs at the same time.
///
/// Where there are long steps, blocks far from the panels get those first, in queues of their own,
/// and step by step only what follows the last one when it is almost their turn.
template <class T>
class LateBlocks {
 public:
  /// `update` is the queue that waits for blocks that join.
  LateBlocks(Device& device, const Options& options, LuMatrix<T>& matrix, const LuPanels<T>& panels,
             const LuSteps<T>& steps, Queue& update);
  void plan_long_steps(const Options& options);
  /// Of device memory, without long steps, for blocks of nb columns: that of products of an m x nb
  /// matrix with `columns` columns.
  static std::size_t bytes(Device& device, const Options& options, Index m, Index nb,
                           Index columns) {
    const Index groups =
        most_groups(device.tuning().lu, nb, device.kernels<T>().limits().getrf_panel_width);
    return at(groups) * Subtraction<T>::bytes(device, options, m, columns, nb);
  }

  /// From here on blocks come by `flow`, which says how many are present from the beginning.
  void begin(const Flow& flow);
  /// In update(), the blocks that are present.
  void bring_present(Flow& flow);
  /// What the late blocks do while block b is factored. The next block but one must have joined by
  /// the next step.
  void bring_up(Flow& flow, Index b);
  /// All blocks that are left arrive and join.
  void bring_rest(Flow& flow);

  Index joined() const { return joined_; }
  bool all_have_joined() const { return joined_ == matrix_.total(); }
  /// Blocks that have joined are waited for in `queue`, too.
  void joined_are_waited_for_in(Queue& queue);
  /// update() waits for all that long steps have been enqueued for.
  void long_steps_are_waited_for() { long_steps_.are_waited_for_in(update_, *present_ready_); }
  /// All that has been enqueued is known to be done.
  void settle();

 private:
  struct Group {
    Index first, last;       // blocks
    Index next;              // the next block whose step they have not seen
    std::size_t lane;        // for single steps
    std::size_t long_queue;  // for long ones
    bool in_long_queue;      // their latest work is there, up to `done`
    EventLease done;
  };

  Queue& queue(const Group& group) const { return *lanes_[group.lane].queue; }
  Range columns(const Group& group) const { return matrix_.columns_of(group.first, group.last); }
  /// Where a block is one panel, there are enough panels to keep the host busy with one group.
  static Index most_groups(const Tuning::Lu& tuning, Index nb, Index panel_width) {
    return nb > panel_width ? tuning.late_groups_at_most : 1;
  }
  Index most_groups() const {
    return most_groups(tuning_, matrix_.block(0).size(), panels_.width());
  }
  void arrive(Flow& flow, Index end, bool in_long_queue);
  void take_step(Group& group);
  bool take_long_step(Group& group, Index end);
  void join(Index end);
  Index first_by_long_steps(Index b) const;
  bool takes_single_steps(const Group& group, Index b) const;
  void take_long_steps(Flow& flow, Index b, Index arrived);

  Device& device_;
  const Tuning::Lu& tuning_;
  LuMatrix<T>& matrix_;
  const LuPanels<T>& panels_;
  const LuSteps<T>& steps_;
  Queue& update_;
  Index present_ = 0;  // blocks that are there from the beginning
  Index joined_ = 0, arrived_ = 0;
  EventLease present_ready_;             // those are in their places
  std::deque<Group> groups_;             // of blocks [joined, arrived)
  std::vector<EventLease> joined_done_;  // of groups that have joined, not yet waited for
  LongSteps<T> long_steps_;
  std::vector<LuLane<T>> lanes_;
  std::size_t next_lane_ = 0;
};

}  // namespace overlapack::algorithms
