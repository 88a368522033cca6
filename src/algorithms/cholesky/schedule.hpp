// The schedule of a Cholesky factorization on the device: which block is updated, factored and
// final when, and in which queue.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/factorization.hpp"
#include "algorithms/shared/residues.hpp"
#include "algorithms/shared/split.hpp"
#include "algorithms/shared/triangle.hpp"

namespace overlapack::algorithms {

/// The factorization on the device, in place:
///
///   A(j:, j) := A(j:, j) - L(j:, 0:j) L(j, 0:j)^H,
///   A(j, j)   = L(j, j) L(j, j)^H,
///   L(j:, j)  = A(j:, j) L(j, j)^-H,  which takes the place of A(j:, j).
///
/// `panel` (high priority) is the queue of the chain that bounds small matrices: the update of
/// block j by block j - 1 and its factorization. Meanwhile `update` prepares block j + 1 with all
/// blocks before j (lookahead).
///
/// In a large matrix the long block columns at the beginning come slower than the device works. So
/// the rows below a leading block may come after it, Options::leading: a triangle brings more work
/// for each of its bytes than columns do. Then the same three steps are done for the rows of the
/// leading block first, and for the others, with the notes that are left of the L(j, j),
/// afterwards.
///
/// Long sums are by residues where that is faster (algorithms/shared/residues.hpp).
///
/// In a small matrix (Tuning::Cholesky::one_queue_up_to_order) to enqueue products takes longer
/// than to carry them out. So there is no lookahead: everything is in one queue, and all blocks
/// before a block update it in one product.
template <class T>
class Cholesky {
 public:
  /// The `uplo` triangle of a matrix of order n, below it the rows of B^H if there are right-hand
  /// sides.
  Cholesky(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo, Index n,
           Index nrhs);
  /// Of device memory.
  static std::size_t bytes(Device& device, const Options& options, Uplo uplo, Index n, Index nrhs);

  const Triangle<T>& triangle() const { return triangle_; }
  /// The blocks of the flow: pieces of L.
  const std::vector<Piece>& pieces() const { return pieces_; }
  /// Where A is to arrive, and L takes its place. B^H belongs below it (B right of an upper A).
  DeviceView<T> matrix() const { return matrix_.view(); }
  /// The right-hand sides in matrix().
  Range rhs() const { return {n_, n_ + nrhs_}; }
  Range columns() const { return {0, n_}; }
  /// Whether the diagonal blocks are positive definite: for each LAPACK's info or 0. In staging
  /// memory, where the panels' kernels write it.
  const Buffer<Index>& info() const { return info_; }
  Queue& panel() const { return *panel_; }

  /// Whether the factorization must know A's diagonal beforehand.
  bool needs_diagonal() const { return long_sums_.used(); }
  void give_diagonal(const std::vector<T>& diagonal) { long_sums_.begin(update(), diagonal); }
  /// Enqueues the factorization. The flow is told when a block is final.
  void factor(Flow& flow);

 private:
  DeviceMatrix<T> make_matrix(Device& device) const {
    return triangle_.lower() ? DeviceMatrix<T>(device, rows_, columns_)
                             : DeviceMatrix<T>(device, columns_, rows_);
  }
  Index count() const { return static_cast<Index>(pieces_.size()); }
  const Piece& piece(Index p) const { return pieces_[at(p)]; }
  /// The piece's rows, with those of right-hand sides and the padding behind the last one of A.
  Range all_rows(const Piece& piece) const {
    return {piece.rows.first, piece.rows.last == n_ ? rows_ : piece.rows.last};
  }
  /// Columns of L, with the padding behind the last one.
  Range all_columns(Range j) const { return {j.first, j.last == n_ ? columns_ : j.last}; }
  /// With lookahead the block column before, if there is one; and what comes before that.
  Range before(Range j) const {
    return {std::max<Index>(j.first - (lookahead_ ? nb_ : 0), 0), j.first};
  }
  Range long_before(Range j) const { return {0, before(j).first}; }
  DeviceView<T> block(Range i, Range j) const { return triangle_.block(matrix_.view(), i, j); }
  Queue& update() const { return lookahead_ ? **update_ : panel(); }
  /// Reached when piece p of the factor is complete; with lookahead.
  Event& final(Index p) const { return *final_[at(p)]; }
  /// How many panels of `width` columns, in blocks of nb, there are left of a panel's first column.
  static Index panels_before(Index column, Index nb, Index width) {
    return column / nb * quotient_up(nb, width) + column % nb / width;
  }
  Index panels_before(Index column) const {
    return panels_before(column, nb_, triangle_.kernels.limits().potrf_panel_width);
  }
  /// Of the panel of columns j, if rows below it come later.
  DeviceView<T> notes(Range j) const {
    const Index size = triangle_.kernels.limits().potrf_notes,
                first = panels_before(j.first) * size;
    if (first >= notes_.size()) return {};
    return {notes_.data() + first, size};
  }
  HostView<T> staged_diagonal(Range j) const {
    return {diagonal_.data(), j.size(), j.size(), j.size()};
  }

  bool step(Index p, Flow& flow);
  bool prepare(Index p, Flow& flow);
  void subtract(Queue& queue, Range i, Range j, Range k);
  void subtract_all(Index p, Range k);
  void factor_columns(Range rows, Range j, Index block_number);
  void fetch_diagonal(Range j);
  void factor_diagonal_on_cpu(Range j, Index block_number);
  void solve(Range rows, Range j);

  const cpu::Lapack<T>& cpu_;
  Triangle<T> triangle_;
  Index n_;
  Index nrhs_;
  // Of L: those of A and the right-hand sides, padded, and columns, since products of odd shapes
  // take longer. Nobody reads the padding.
  Index rows_, columns_;
  Index nb_;
  std::vector<Piece> pieces_;
  bool hybrid_, lookahead_;
  DeviceMatrix<T> matrix_;
  Buffer<Index> info_;  // one per diagonal block: staging
  Buffer<T> notes_;     // on the panels of the leading block
  ResidueUpdates<T> long_sums_;
  Updates<T> updates_;
  typename Updates<T>::Workspace update_space_;
  EventLease prepared_;            // the next piece needs the block column before it only
  EventLease diagonal_arrived_;    // hybrid
  std::vector<EventLease> final_;  // by piece, with lookahead
  Buffer<T> diagonal_;             // hybrid: staging
  QueueLease panel_;
  std::optional<QueueLease> update_;  // with lookahead
};

}  // namespace overlapack::algorithms
