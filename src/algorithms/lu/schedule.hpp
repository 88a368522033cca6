// The schedule of an LU factorization on the device: which block is updated, factored and final
// when, and in which queue. The algorithm without a schedule is in algorithms/lu/textbook.hpp.
#pragma once

#include "algorithms/lu/late_blocks.hpp"
#include "algorithms/lu/matrix.hpp"
#include "algorithms/lu/panels.hpp"
#include "algorithms/lu/steps.hpp"
#include "algorithms/shared/factorization.hpp"
#include "algorithms/shared/substitution.hpp"

namespace overlapack::algorithms {

/// The factorization of [A B] on the device, by block columns (LuMatrix).
///
/// A block is factored panel by panel (LuPanels). A factored panel makes a step: its effect on the
/// columns behind it (LuSteps). Three queues share the work:
///
///   panel   (high priority) factors the panels, one after the other.
///   update  applies, meanwhile, the step of the panel before to the columns that take part. Where
///           updates take longer than panels, the steps of a whole block become one, for the sake
///           of longer products.
///   near    (high priority) completes blocks that are factored. Where steps are by whole blocks,
///           it also applies steps to the columns that the next panels need.
///
/// Blocks that arrive late catch up in queues of their own (LateBlocks).
template <class T>
class Lu {
 public:
  /// A is m x n; B, if nrhs > 0, is one more block. [A B] gets memory of its own, unless it is to
  /// be factored in `place`.
  Lu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index m, Index n,
     Index nrhs, DeviceView<T> place = {});
  /// Of device memory, with memory of its own for [A B].
  static std::size_t bytes(Device& device, const Options& options, Index m, Index n, Index nrhs);

  /// Where A and B are to arrive, and where the factors appear: in the columns of a block without
  /// the interchanges of later blocks.
  const LuMatrix<T>& matrix() const { return matrix_; }
  LuMatrix<T>& matrix() { return matrix_; }
  const LuPanels<T>& panels() const { return panels_; }
  /// Of all queues the one that all others have been waited for in when factor() is through.
  Queue& update() const { return *update_.queue; }

  /// Enqueues the factorization. The flow is told when a block of A is final; what is left of B is
  /// L^-1 P B then.
  void factor(Flow& flow);
  /// All that factor() and the flow have enqueued is known to be done.
  void settle();

  /// Carries out, in the factors `a`, the interchanges of the given blocks in the columns of blocks
  /// before each of them.
  void interchange_left(Queue& queue, DeviceView<T> a, Range blocks) {
    panels_.interchange_left(queue, a, blocks);
  }
  /// Carries out all interchanges in an m x nrhs matrix, in update().
  void interchange(DeviceView<T> b) { panels_.interchange(update(), b); }
  /// X := U^-1 X in update(), once A is factored.
  void solve_with_u(DeviceView<T> x) { solve_with_u_(update(), matrix_.a(), x); }

 private:
  Queue& panel() const { return *panel_.queue; }
  Queue& near() const { return *near_.queue; }
  bool by_whole_blocks(Index b) const;
  Index end_of_single_steps(Index b) const;
  void begin_updates(Flow& flow);
  void update_by_panel(bool whole, Index b, Range panel, Index column);
  void end_block(Flow& flow, Index b, bool whole, Range panel, Index column);
  void end_whole_block(Flow& flow, Index b);
  void complete(Flow& flow, Index b);
  void put_joined_back();

  LuMatrix<T> matrix_;
  LuPanels<T> panels_;
  LuSteps<T> steps_;
  EventLease panel_begun_;  // it has the multiprocessors that it needs
  EventLease factored_;     // the panel
  EventLease updated_;      // the columns of the next panel
  EventLease near_done_;    // what near() does for a whole block,
  EventLease update_done_;  // and what update() does
  Substitution<T> solve_with_u_;
  LuLane<T> panel_, near_, update_;
  LateBlocks<T> late_;
};

}  // namespace overlapack::algorithms
