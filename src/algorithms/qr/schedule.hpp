// The schedule of a QR factorization on the device: which block is reflected, factored and final
// when, and in which queue. The algorithm without a schedule is in algorithms/qr/textbook.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/qr/reflectors.hpp"
#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/factorization.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// The factorization of an m x n matrix on the device, by block columns: first those that get
/// reflectors, then those of a wide matrix that get none.
///
/// A block is factored panel by panel. In a large matrix some blocks in a row are a group, whose
/// reflectors most of the matrix gets as one: the more reflectors, the faster are products. In
/// others a group is a block. Five queues share the work:
///
///   panel   (high priority) factors the panels, each with the reflectors of the one before it.
///   rest    (high priority) reflects a panel into the rest of its block and into the next block,
///           while the next panel is factored.
///   join    makes the triangle T of a block from those of its panels, and that of a group from
///           those of its blocks.
///   near    (high priority) reflects a block into the blocks behind the next one, as far as these
///           are of its group or the next one.
///   update  reflects a group into the blocks behind the next group. Blocks that have arrived since
///           get the reflectors of all groups before them there, and take part from then on.
///
/// So a panel waits for no more than the kernel before it, if the others keep up.
///
/// The panel's kernel leaves V with its ones and zeros in a matrix of its own. So columns of A that
/// are final can go home while V is multiplied by, and products need no more than one operand for
/// V.
template <class T>
class Qr {
 public:
  Qr(Device& device, const Options& options, Index m, Index n);
  /// Of device memory.
  static std::size_t bytes(const Device& device, const Options& options, Index m, Index n);

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
  /// The triangle T of some columns of a block, which is there then.
  DeviceView<T> triangle(Range columns) const { return triangle(columns, columns); }
  /// Enqueues there C := Q C, or Q^H C, by block reflectors. `by` is for nb of them.
  void multiply(Op op, const Reflection<T>& by, DeviceView<T> c) const;

 private:
  Index count() const { return static_cast<Index>(blocks_.size()); }
  /// The columns of blocks first, ..., last - 1, as far as there are so many.
  Range columns_of(Index first, Index last) const;
  /// Groups of blocks: that of a block, the first block of one, and the columns with reflectors.
  Index group_of(Index block) const { return block / group_; }
  Index first_of(Index group) const { return std::min(group * group_, count()); }
  Range columns_of_group(Index group) const {
    return columns_of(first_of(group), std::min(first_of(group + 1), steps_));
  }
  /// The reflectors of some columns of a group; a part of the group's triangle.
  BlockReflector<T> reflector(Range columns) const;
  DeviceView<T> triangle(Range rows, Range columns) const;

  void clear();
  void factor_panel(Flow& flow, std::size_t p);
  void start_panel(std::size_t p);
  void reflect_rest(std::size_t p);
  void join(Range before, Range columns);
  void update(Flow& flow, Index b);
  void update_near(Flow& flow, Index b);
  void update_far(Flow& flow, Index group);
  void bring(Flow& flow, Index end, Index groups);
  void reflect(Queue& queue, const Reflection<T>& by, Range reflectors, Range columns) const;

  Device& device_;
  const Index m_, n_, nb_, group_;
  const std::vector<Range> blocks_;
  const Index steps_;
  const std::vector<Range> panels_;
  const DeviceMatrix<T> matrix_, v_, t_;  // T of a group in its own columns
  const Buffer<T> staged_tau_;
  const DeviceMatrix<T> panel_work_;
  const Reflection<T> rest_reflection_, joining_, near_reflection_, update_reflection_;
  Index joined_ = 0;           // so many blocks have all reflectors that update_far() has come to
  EventLease begun_;           // the panel has the multiprocessors that it needs
  EventLease factored_;        // the panel
  EventLease rest_reflected_;  // what is behind the next panel, by the one before
  EventLease final_;           // the block's V and T
  EventLease group_final_;     // those of its group
  EventLease updated_;         // the block after the next one
  EventLease far_updated_;     // the group after the next one
  EventLease reflected_;       // in the end: what a queue has left to do
  const QueueLease panel_, rest_, join_, near_, update_;
};

}  // namespace overlapack::algorithms
