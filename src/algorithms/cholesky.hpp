// The schedule of a Cholesky factorization on the device: which block is updated, factored and
// final when, and in which queue.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/blocks.hpp"
#include "algorithms/factorization.hpp"
#include "algorithms/residues.hpp"
#include "algorithms/split.hpp"
#include "algorithms/triangle.hpp"

namespace overlapack::algorithms {

/// From so many blocks on (n >= 12288 with blocks of 256) a matrix is large: its computation then
/// begins to outweigh the transfer.
inline constexpr Index kManyBlocks = 48;

/// The factorization on the device, by two matrices:
///
///   W(j:, j) = A(j:, j) - L(j:, 0:j) L(j, 0:j)^H,
///   W(j, j)  = L(j, j) L(j, j)^H,
///   L(j:, j) = W(j:, j) L(j, j)^-H       from W into L.
///
/// `panel` (high priority) is the queue of the chain that bounds small matrices: the update of
/// block j by block j - 1 and its factorization. Meanwhile `update` prepares block j + 1 with all
/// blocks before j (lookahead).
///
/// Long sums are by residues where that is faster (algorithms/residues.hpp).
///
/// In a large matrix the long block columns at the beginning come slower than the device works. So,
/// unless sums are by residues, with which the device catches up as well, a third queue, `ahead`
/// (low priority), applies the first columns to everything right of them as soon as they are final.
/// W then gathers -L L^H before A is there; A arrives in the place of L and is added. The order of
/// all sums is fixed, whatever the timing.
template <class T>
class Cholesky {
 public:
  /// The `uplo` triangle of a matrix of order n, below it the rows of B^H if there are right-hand
  /// sides. `from_host`: it comes by the link.
  Cholesky(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo, Index n,
           Index nrhs, bool from_host);

  const Triangle<T>& triangle() const { return triangle_; }
  Index count() const { return static_cast<Index>(blocks_.size()); }
  Range block(Index j) const { return blocks_[at(j)]; }
  /// Where A is to arrive; its blocks are overwritten. B^H belongs below it (B right of an upper
  /// A).
  DeviceView<T> input() const { return adds_input() ? factor_.view() : work_.view(); }
  DeviceView<T> factor() const { return factor_.view(); }
  /// The right-hand sides in input() and factor().
  Range rhs() const { return {n_, n_ + nrhs_}; }
  Range columns() const { return {0, n_}; }
  /// Whether block j is positive definite: LAPACK's info or 0, on the device.
  Index* info(Index j) const { return info_.data() + j; }
  Queue& panel() const { return **panel_; }

  /// Whether the factorization must know A's diagonal beforehand.
  bool needs_diagonal() const { return long_sums_.used(); }
  void give_diagonal(const std::vector<T>& diagonal) { long_sums_.begin(**update_, diagonal); }
  /// Enqueues the factorization. The flow is told when a block is final.
  void factor(Flow& flow);

 private:
  DeviceMatrix<T> matrix(Device& device) const {
    return triangle_.lower() ? DeviceMatrix<T>(device, rows_, n_)
                             : DeviceMatrix<T>(device, n_, rows_);
  }
  Range rows_from(Index j) const { return {block(j).first, rows_}; }
  /// Of these, the rows of A, and those of right-hand sides, if there are any.
  Range rows_of_a(Index j) const { return {block(j).first, n_}; }
  Range rows_of_b() const { return {n_, nrhs_ > 0 ? rows_ : n_}; }
  DeviceView<T> work(Range i, Range j) const { return triangle_.block(work_.view(), i, j); }
  DeviceView<T> factor(Range i, Range j) const { return triangle_.block(factor_.view(), i, j); }
  /// Reached when block j of the factor is complete.
  Event& final(Index j) const { return *final_[at(j)]; }
  bool adds_input() const { return ahead_panels_ > 0; }
  // Columns are applied ahead by panels of two blocks.
  Index panel_of(Index j) const { return block(j).first / panel_width_; }
  Range panel_columns(Index p) const {
    return {p * panel_width_, std::min((p + 1) * panel_width_, n_)};
  }
  Index panels_ahead_of(Index j) const;
  HostView<T> staged_diagonal(Range j) const {
    return {diagonal_.data(), j.size(), j.size(), j.size()};
  }

  bool step(Index j, Flow& flow);
  bool prepare(Index j, Flow& flow);
  void subtract(Queue& queue, Range i, Range j, Range k, T beta = T(1));
  void subtract_all(Index j, Range k, T beta);
  void apply_ahead(Index j);
  void factor_columns(Index block_number, Range j);
  void fetch_diagonal(Range j);
  void factor_diagonal_on_cpu(Index block_number);
  void solve_below(Range j);

  const cpu::Lapack<T>& cpu_;
  Triangle<T> triangle_;
  Index n_;
  Index nrhs_;
  Index rows_;  // of L: those of A and the right-hand sides, padded; nobody reads the padding
  std::vector<Range> blocks_;
  Index panel_width_;
  bool hybrid_;
  DeviceMatrix<T> work_, factor_;
  Buffer<Index> info_;  // one per block
  ResidueUpdates<T> long_sums_;
  Updates<T> updates_;
  typename Updates<T>::Workspace update_space_, ahead_space_;
  Index ahead_panels_;                     // how many panels are applied ahead
  EventLease prepared_;                    // the next block needs the one before it only
  EventLease diagonal_arrived_;            // hybrid
  std::vector<EventLease> final_;          // by block
  std::vector<EventLease> applied_ahead_;  // by panel: it has all updates that come ahead
  Buffer<T> diagonal_;                     // hybrid: staging
  Buffer<Index> block_info_;
  std::unique_ptr<QueueLease> panel_, update_, ahead_;
};

}  // namespace overlapack::algorithms
