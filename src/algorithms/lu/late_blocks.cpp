#include "algorithms/lu/late_blocks.hpp"

#include <algorithm>
#include <utility>

namespace overlapack::algorithms {
template <class T>
LateBlocks<T>::LateBlocks(Device& device, const Options& options, LuMatrix<T>& matrix,
                          const LuPanels<T>& panels, const LuSteps<T>& steps, Queue& update)
    : device_(device),
      tuning_(device.tuning().lu),
      matrix_(matrix),
      panels_(panels),
      steps_(steps),
      update_(update),
      present_ready_(device),
      long_steps_(device, matrix, panels, steps) {
  const Index summands = std::min(options.nb, matrix.pivot_count());
  for (Index g = 0; g < most_groups(); ++g) {
    lanes_.push_back({Subtraction<T>(device, options, matrix.rows(), matrix.columns(), summands),
                      QueueLease(device, Priority::normal, "catch up")});
  }
}

template <class T>
void LateBlocks<T>::plan_long_steps(const Options& options) {
  long_steps_.plan(options, tuning_.far_group_blocks * options.nb);
}

template <class T>
void LateBlocks<T>::begin(const Flow& flow) {
  const Index total = matrix_.total();
  present_ = std::clamp<Index>(flow.present(), std::min<Index>(2, total), total);
  joined_ = arrived_ = std::min(present_, first_by_long_steps(0));
}

template <class T>
void LateBlocks<T>::bring_present(Flow& flow) {
  for (Index b = 1; b < present_; ++b) flow.before(update_, b);
  matrix_.put_by_rows(update_, matrix_.columns_of(0, present_));
  update_.record(*present_ready_);
}

template <class T>
void LateBlocks<T>::bring_up(Flow& flow, Index b) {
  const Index total = matrix_.total(), needed = std::min(b + 3, total);
  const Index arrived =
      std::min(std::max({needed, flow.arrival(tuning_).blocks(b), present_}), total);
  const Index single = first_by_long_steps(0);  // blocks that get single steps only
  const Index arrived_single = std::min(arrived, single);
  const bool room = static_cast<Index>(groups_.size()) < most_groups();
  const bool enough =
      arrived_single == single || arrived_single - arrived_ >= tuning_.late_group_blocks_at_least;
  if ((room && enough) || arrived_ < needed) arrive(flow, arrived_single, false);
  take_long_steps(flow, b, arrived);
  for (Group& group : groups_) {
    Index left = tuning_.late_steps_per_block;  // lest the next panel wait for the host
    while (left-- > 0 && group.next < b && takes_single_steps(group, b)) take_step(group);
  }
  // Groups with long steps join when they are needed, and not before: panels would wait for those.
  const auto has_caught_up = [&](const Group& group) {
    return group.next == b && group.first < single;
  };
  while (joined_ < needed || (!groups_.empty() && has_caught_up(groups_.front()))) join(b);
}

template <class T>
void LateBlocks<T>::bring_rest(Flow& flow) {
  arrive(flow, matrix_.total(), false);
  while (!groups_.empty()) join(matrix_.pivot_blocks());
}

/// Blocks up to `end` become a group.
template <class T>
void LateBlocks<T>::arrive(Flow& flow, Index end, bool in_long_queue) {
  if (arrived_ >= end) return;
  groups_.push_back({arrived_, end, 0, next_lane_++ % lanes_.size(), long_steps_.next_queue(),
                     in_long_queue, EventLease(device_)});
  const Group& group = groups_.back();
  if (in_long_queue) long_steps_.end_turn();
  Queue& queue = in_long_queue ? long_steps_.queue(group.long_queue) : this->queue(group);
  queue.wait(*present_ready_);
  for (; arrived_ < end; ++arrived_) {
    if (arrived_ < present_) continue;
    flow.before(queue, arrived_);
    matrix_.put_by_rows(queue, matrix_.block(arrived_));
  }
  if (in_long_queue) queue.record(*group.done);
}

/// The next step of a group, that of one block.
template <class T>
void LateBlocks<T>::take_step(Group& group) {
  if (group.in_long_queue) queue(group).wait(*group.done);
  group.in_long_queue = false;
  queue(group).wait(panels_.final(group.next));
  steps_.apply(lanes_[group.lane], matrix_.block(group.next), columns(group));
  ++group.next;
}

/// The first group joins, with the steps of the blocks before `end`.
template <class T>
void LateBlocks<T>::join(Index end) {
  Group& group = groups_.front();
  while (group.next < end) {
    if (!take_long_step(group, end)) take_step(group);
  }
  if (!group.in_long_queue) queue(group).record(*group.done);
  update_.wait(*group.done);
  joined_done_.push_back(std::move(group.done));
  joined_ = group.last;
  groups_.pop_front();
}

template <class T>
void LateBlocks<T>::joined_are_waited_for_in(Queue& queue) {
  for (const EventLease& done : joined_done_) queue.wait(*done);
  joined_done_.clear();
}

template <class T>
void LateBlocks<T>::settle() {
  for (LuLane<T>& lane : lanes_) lane.queue.settle();
}

// ---- long steps ----

/// From which block on blocks get nothing but long steps while block b is factored. Those just
/// behind a long step's blocks do not wait for it: they are needed before it is through. If blocks
/// arrive while others are factored, fewer of them: there is more to catch up with.
template <class T>
Index LateBlocks<T>::first_by_long_steps(Index b) const {
  const Index total = matrix_.total(), s = b / long_steps_.blocks();
  const Index sooner = tuning_.blocks_before_far.of<T>() - (present_ < total ? 1 : 0);
  return s < long_steps_.count() ? std::min((s + 1) * long_steps_.blocks() + sooner, total) : total;
}

/// Whether a group is to catch up block by block while block b is factored: it is not at a long
/// step, or it has had them all, and the next one would come too late for it.
template <class T>
bool LateBlocks<T>::takes_single_steps(const Group& group, Index b) const {
  return group.first < first_by_long_steps(b) && !long_steps_.begins_with(group.next);
}

/// What the blocks with long steps do while block b is factored: a little of what they lag behind,
/// those first whose turn comes first, so that they keep the device busy until the end.
template <class T>
void LateBlocks<T>::take_long_steps(Flow& flow, Index b, Index arrived) {
  long_steps_.begin_before(b);
  if (long_steps_.begun() == 0) return;
  while (arrived_ >= first_by_long_steps(0) && arrived_ < arrived) {
    arrive(flow, std::min(arrived_ + tuning_.far_group_blocks, arrived), true);
  }
  Index left = 1 + static_cast<Index>(groups_.size()) / long_steps_.blocks();
  for (Group& group : groups_) {
    while (left > 0 && take_long_step(group, b)) --left;
  }
}

/// The next long step of a group, if it is one of blocks before `end`.
template <class T>
bool LateBlocks<T>::take_long_step(Group& group, Index end) {
  const Index after = group.next + long_steps_.blocks();
  if (!long_steps_.begins_with(group.next) || after > end) return false;
  Queue& queue = long_steps_.queue(group.long_queue);
  if (!group.in_long_queue) {
    this->queue(group).record(*group.done);
    queue.wait(*group.done);
    group.in_long_queue = true;
  }
  long_steps_.apply(group.long_queue, group.next / long_steps_.blocks(), columns(group));
  queue.record(*group.done);
  group.next = after;
  return true;
}

#define OVERLAPACK_INSTANTIATE(T) template class LateBlocks<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
