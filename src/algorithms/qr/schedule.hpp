// The schedule of a QR factorization on the device: which block is reflected, factored and final
// when, and in which queue. The algorithm without a schedule is in algorithms/qr/textbook.hpp.
#pragma once

#include <vector>

#include "algorithms/qr/reflectors.hpp"
#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/factorization.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// The factorization of an m x n matrix on the device, by block columns: first those that get
/// reflectors, then those of a wide matrix that get none.
///
/// A block is factored panel by panel. Three queues share the work:
///
///   panel   (high priority) factors the panels, and reflects each of them into the rest of its
///           block and into the next block, which so is complete when its first panel begins.
///   join    makes the triangle T of a block from those of its panels.
///   update  reflects a whole block into the blocks behind the next one. Blocks that have arrived
///           since get the reflectors of all blocks before them there, and take part from then on.
///
/// The panel's kernel leaves V with its ones and zeros in a matrix of its own. So columns of A that
/// are final can go home while V is multiplied by, and products need no more than one operand for
/// V.
template <class T>
class Qr {
 public:
  Qr(Device& device, const Options& options, Index m, Index n);
  /// Of device memory.
  static std::size_t bytes(const Options& options, Index m, Index n);

  /// Where A is to arrive, and where R and the reflectors appear.
  DeviceView<T> matrix() const { return matrix_.view(); }
  const std::vector<Range>& blocks() const { return blocks_; }
  /// How many of them have reflectors.
  Index steps() const { return steps_; }
  /// Columns of a block in staging memory: there once the block is final.
  const T* staged_tau(Range block) const { return staged_tau_.data() + block.first; }

  /// Enqueues the factorization. The flow is asked for all blocks, and told when each is final.
  void factor(Flow& flow);

  /// The queue in which all of the factorization is there, once it is enqueued.
  Queue& queue() const { return *update_; }
  /// Enqueues there C := Q C, or Q^H C, by block reflectors. `by` is for nb of them.
  void multiply(Op op, const Reflection<T>& by, DeviceView<T> c) const;

 private:
  Index count() const { return static_cast<Index>(blocks_.size()); }
  /// The columns of blocks first, ..., last - 1, as far as there are so many.
  Range columns_of(Index first, Index last) const;
  std::vector<Range> panels_of(Range block) const;
  /// The reflectors of some columns of a block, and their triangle.
  BlockReflector<T> reflector(Range block, Range columns) const;
  DeviceView<T> triangle(Range block, Range rows, Range columns) const;

  void clear();
  void factor_block(Flow& flow, Index b);
  void start_panel(Range block, Range panel);
  void update(Flow& flow, Index b);
  void bring(Flow& flow, Index end, Index steps);
  void reflect(Queue& queue, const Reflection<T>& by, const BlockReflector<T>& q, Index row,
               Range columns) const;

  Device& device_;
  const Index m_, n_, nb_;
  const std::vector<Range> blocks_;
  const Index steps_;
  const DeviceMatrix<T> matrix_, v_, t_;  // T of a block in its own columns
  const Buffer<T> staged_tau_;
  const Reflection<T> panel_reflection_, joining_, update_reflection_;
  Index joined_ = 0;      // so many blocks have all reflectors that update() has come to
  EventLease begun_;      // the panel has the multiprocessors that it needs
  EventLease factored_;   // the panel
  EventLease final_;      // the block's V and T
  EventLease updated_;    // the block after the next one
  EventLease reflected_;  // in the end: what the panel queue has left to do
  const QueueLease panel_, join_, update_;
};

}  // namespace overlapack::algorithms
