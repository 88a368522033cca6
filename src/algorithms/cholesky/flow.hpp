// How the pieces of the caller's matrix come to a Cholesky factorization, and its factor to the
// caller.
#pragma once

#include <utility>
#include <vector>

#include "algorithms/cholesky/back_substitution.hpp"
#include "algorithms/cholesky/regions.hpp"
#include "algorithms/cholesky/schedule.hpp"
#include "algorithms/shared/factorization.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// Pieces come and go by a transfer's regions of one or several pieces, and B comes with the first.
template <class T>
class RegionFlow final : public Flow {
 public:
  /// `solve` is null if there is no B.
  RegionFlow(Transfer& transfer, const Cholesky<T>& cholesky, std::vector<Range> regions,
             BackSubstitution<T>* solve)
      : transfer_(transfer), cholesky_(cholesky), regions_(std::move(regions)), solve_(solve) {}

  /// Declares what goes up, and what comes home to `a` and `b`. `nb`: the order of a diagonal
  /// block.
  void declare(const Input<T>& input, HostView<T> a, HostView<T> b, Index nb);

  bool before(Queue& queue, Index p) override;
  void release(Queue& queue, Index p) override;
  /// X has been found.
  void release_solution(Queue& queue) {
    transfer_.release(queue, static_cast<Index>(regions_.size()));
  }

  /// The first column that has not come home if pivot k is not positive: that of the region in
  /// whose diagonal blocks it lies.
  Index first_missing(Index k) const;

 private:
  Transfer& transfer_;
  const Cholesky<T>& cholesky_;
  const std::vector<Range> regions_;
  std::vector<Piece> homes_;    // by region, whose numbers downloads have
  std::vector<Index> uploads_;  // by region
  Index upload_of_b_ = 0;
  BackSubstitution<T>* const solve_;
};

}  // namespace overlapack::algorithms
