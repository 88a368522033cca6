// The matrix of an LU factorization on the device: its block columns, and which of its columns are
// kept by rows.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// [A B] in block columns, "blocks" for short. A is m x n. Its first blocks, up to column min(m,
/// n), hold the pivots; those behind them are updated only. B, if it has columns, is the last
/// block.
///
/// Interchanges are costly in a matrix that is stored by columns, where each number of a row lies
/// in another piece of memory. So columns that get the steps of whole blocks are kept by rows
/// meanwhile, as A^H: those from first_by_rows() on. They are put back when it is almost their
/// turn.
template <class T>
class LuMatrix {
 public:
  /// [A B] gets memory of its own, unless it is to be factored in `place`.
  LuMatrix(Device& device, Index m, Index n, Index nrhs, Index nb, DeviceView<T> place);
  /// Of device memory, with memory of its own; and what make_room_by_rows() takes beyond that.
  static std::size_t bytes(Index m, Index columns) { return DeviceMatrix<T>::bytes(m, columns); }
  static std::size_t bytes_by_rows(Index m, Index columns) {
    return DeviceMatrix<T>::bytes(columns, m);
  }

  // ---- the blocks ----

  Index rows() const { return m_; }
  /// Columns of A and B.
  Index columns() const { return n_ + nrhs_; }
  /// Columns with a pivot, and the blocks that they make.
  Index pivot_count() const { return std::min(m_, n_); }
  Index pivot_blocks() const { return pivot_blocks_; }
  /// Blocks of A.
  Index count() const { return static_cast<Index>(blocks_.size()); }
  /// Blocks of [A B].
  Index total() const { return count() + (nrhs_ > 0 ? 1 : 0); }
  Range block(Index b) const { return b < count() ? blocks_[at(b)] : Range{n_, n_ + nrhs_}; }
  /// The columns of blocks [first, last).
  Range columns_of(Index first, Index last) const {
    if (first >= last) return {};
    return {block(first).first, block(last - 1).last};
  }
  /// The block of A that a column belongs to.
  Index block_of(Index column) const { return index_of(blocks_, column); }

  // ---- by columns ----

  /// [A B], and A.
  const DeviceView<T>& view() const { return view_; }
  DeviceView<T> a() const { return view_.block(0, 0, m_, n_); }
  /// The rows from the diagonal on of the columns c.
  DeviceView<T> from_diagonal(Range c) const {
    return view_.block(c.first, c.first, m_ - c.first, c.size());
  }
  /// B, or what is left of it: its first rows, of which X will be.
  DeviceView<T> rhs() const { return view_.block(0, n_, std::min(m_, n_), nrhs_); }

  // ---- by rows ----

  /// Makes it possible to keep columns by rows. Throws DeviceError if there is no memory for that.
  void make_room_by_rows(Device& device) { by_rows_.emplace(device, n_ + nrhs_, m_); }
  bool has_room_by_rows() const { return by_rows_.has_value(); }
  /// Columns from `first` on are to be by rows when they have come.
  void keep_by_rows_from(Index first) { first_by_rows_ = first; }
  Index first_by_rows() const { return first_by_rows_; }
  bool keeps_any_by_rows() const { return first_by_rows_ < columns(); }
  /// The adjoint of rows i and columns c.
  DeviceView<T> by_rows(Range i, Range c) const { return by_rows_->view().block(c, i); }
  /// For a flow that brings columns c before the factorization needs them: where their adjoint may
  /// go instead, if it may.
  std::optional<DeviceView<T>> place_by_rows(Range c);
  /// Takes to their rows those of the columns c that have come by columns and are to be by rows.
  void put_by_rows(Queue& queue, Range c);
  /// Columns up to `end` are by columns from now on.
  void put_back(Queue& queue, Index end);

 private:
  Kernels<T>& kernels_;
  const Index m_, n_, nrhs_;
  const std::vector<Range> blocks_;  // of A
  const Index pivot_blocks_;
  std::optional<DeviceMatrix<T>> memory_;
  DeviceView<T> view_;
  std::optional<DeviceMatrix<T>> by_rows_;
  Index first_by_rows_;
  Index placed_by_rows_ = 0;  // up to there a flow has put them there
};

}  // namespace overlapack::algorithms
