// The long steps of an LU factorization, and the queues in which they are applied.
#pragma once

#include <deque>

#include "algorithms/lu/long_step.hpp"
#include "algorithms/lu/matrix.hpp"
#include "algorithms/lu/panels.hpp"
#include "algorithms/lu/steps.hpp"

namespace overlapack::algorithms {

/// In a very large matrix in double precision, blocks far from the panels get the steps of several
/// blocks as one, a long step (algorithms/lu/long_step.hpp). Long step s is that of the blocks from
/// s blocks() on.
template <class T>
class LongSteps {
 public:
  LongSteps(Device& device, const LuMatrix<T>& matrix, const LuPanels<T>& panels,
            const LuSteps<T>& steps);
  /// Decides how many there are: as many as pay and as there is memory for, to be applied to up to
  /// `columns` columns at a time. Before it there are none.
  void plan(const Options& options, Index columns);
  /// Of device memory, for an m x n matrix of which, with right-hand sides, `all` columns are.
  static std::size_t bytes(Device& device, const Options& options, Index m, Index n, Index all);

  /// Whose steps one long step is.
  Index blocks() const { return tuning_.long_step_blocks; }
  Index count() const { return static_cast<Index>(steps_.size()); }
  /// Enqueues, for all steps of blocks before `end`, what makes them ready to be applied.
  void begin_before(Index end);
  /// The first so many are ready.
  Index begun() const { return begun_; }
  /// Whether one that is ready begins with that block.
  bool begins_with(Index block) const { return block % blocks() == 0 && block < begun_ * blocks(); }

  /// Groups of blocks take turns in the queues: the number of the next one, and on to the one
  /// behind it.
  std::size_t next_queue() const { return next_lane_; }
  void end_turn() { next_lane_ = (next_lane_ + 1) % lanes_.size(); }
  Queue& queue(std::size_t number) const { return *lanes_[number].queue; }
  /// In that queue, step s on columns c, which are by rows.
  void apply(std::size_t number, Index s, Range c);
  /// `other` waits for all queues; `done` is recorded in each.
  void are_waited_for_in(Queue& other, Event& done) const;

 private:
  struct Lane {
    typename LongStep<T>::Workspace workspace;
    QueueLease queue;
  };

  Device& device_;
  const Tuning::Lu& tuning_;
  Kernels<T>& kernels_;
  const LuMatrix<T>& matrix_;
  const LuPanels<T>& panels_;
  const LuSteps<T>& l_;
  std::deque<LongStep<T>> steps_;
  Index begun_ = 0;
  std::deque<Lane> lanes_;  // if there are long steps
  std::size_t next_lane_ = 0;
};

}  // namespace overlapack::algorithms
