// A step of an LU factorization: what other columns get from a panel, or from a whole block.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/lu/matrix.hpp"
#include "algorithms/lu/panels.hpp"
#include "algorithms/shared/split.hpp"

namespace overlapack::algorithms {

/// A queue in which steps are applied, and the work space of its products.
template <class T>
struct LuLane {
  Subtraction<T> subtract;
  QueueLease queue;
};

/// Applies steps to columns that are kept by columns or by rows (LuMatrix).
///
/// A step on columns c is, for the columns i of a panel or block and the rows r below it:
/// interchanges, U(i, c) := L(i, i)^-1 A(i, c) and A(r, c) := A(r, c) - L(r, i) U(i, c). Columns by
/// rows meet whole blocks only, in several queues. What these need of a block's L is made once:
/// where products are of split operands, L is split, and inverses of its diagonal block take the
/// place of solves.
template <class T>
class LuSteps {
 public:
  LuSteps(Device& device, const LuMatrix<T>& matrix, const LuPanels<T>& panels);

  /// Each throws DeviceError if there is no memory for it.
  void make_room_for_inverses(Device& device);
  /// As far as there is memory and it pays. Other products split L for themselves.
  void make_room_to_split(Device& device, const Options& options);
  /// Of device memory, for an m x n matrix and right-hand sides, in all that many columns.
  static std::size_t bytes_of_inverses(const Kernels<T>& kernels, const Options& options, Index m,
                                       Index n);
  static std::size_t bytes_to_split(Device& device, const Options& options, Index m, Index n,
                                    Index columns);

  /// Block b is final. For columns by rows its diagonal block is inverted, and then L is split.
  void invert(Queue& queue, Index b);
  void split(Queue& queue, Index b);
  /// What invert() has left of blocks [first, last), as columns.
  DeviceView<const Index> inverses(Range blocks) const {
    const DeviceView<Index> all = inverses_->view();
    return all.block(0, blocks.first, all.rows, blocks.size());
  }

  /// The step of the columns `step`, a panel or a block, on the columns c.
  void apply(const LuLane<T>& lane, Range step, Range c) const;

 private:
  void apply_by_columns(const LuLane<T>& lane, Range step, Range c) const;
  void apply_by_rows(const LuLane<T>& lane, Range step, Range c) const;
  bool is_block(Range step) const {
    return step.size() == matrix_.block(matrix_.block_of(step.first)).size();
  }
  bool may_be_split(Index b) const { return b < static_cast<Index>(split_.size()); }
  const SplitAdjoint<T>* split_of(Range step) const;
  DeviceView<const Index> inverses_of(Range step) const;

  Kernels<T>& kernels_;
  const LuMatrix<T>& matrix_;
  const LuPanels<T>& panels_;
  // Column b: of L in block b (FindInverses).
  std::optional<DeviceMatrix<Index>> inverses_;
  std::vector<SplitAdjoint<T>> split_;  // split_[b]: what lies below block b
};

}  // namespace overlapack::algorithms
