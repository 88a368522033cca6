// Interchanges in the caller's memory, in columns of panels that have come home without those of
// later panels.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "algorithms/blocks.hpp"

namespace overlapack::algorithms {

/// The interchanges of a factorization, and how far the caller's memory has come with them.
struct Interchanges {
  std::vector<Index> pivots;  ///< min(m, n) of them, 1-based as LAPACK's ipiv
  std::vector<Index> seen;    ///< for each column at home with a pivot, how many it has seen
};

/// Carries out in the caller's memory, in columns of panels that have come home, the interchanges
/// of later panels.
///
/// While the device computes, idle threads do so in sweeps over all panels at home, through the
/// last of them. The first one begins when half of the panels are home, each further one when a
/// quarter of the rest has followed. Together they move almost three times what one pass at the end
/// would, and little is left for that. What is done when does not matter to the result:
/// interchanges only move data.
template <class T>
class LaterInterchanges {
 public:
  LaterInterchanges(Device& device, HostView<T> a, Interchanges& interchanges, Index nb);

  /// Does one task of a sweep, if there is one. `home` panels have come home, with their pivots.
  /// Any number of threads may call it at once.
  bool advance(Index home);
  /// Does the rest, once all panels are home and advance() is not called any more.
  void finish(Index threads);

 private:
  Index count() const { return static_cast<Index>(pivots_.size()); }
  Index groups_before(Index panels) const;
  Range columns(Index group) const;
  bool begin_sweep(Index home);
  void apply(Index group, Index end);
  void gather(Range c, Index first, Index end);

  Device& device_;
  const HostView<T> a_;
  const std::vector<Index>& pivots_;
  std::vector<Index>& seen_;
  const Index nb_, panels_, groups_per_panel_;
  std::mutex mutex_;  // guards the sweep: groups [next_, last_) are left, interchanges before end_
  Index next_ = 0, last_ = 0, end_ = 0;
  Index due_ = panels_ / 2 + 1;  // so many panels at home begin the next one
  std::atomic<Index> under_way_{0};
};

}  // namespace overlapack::algorithms
