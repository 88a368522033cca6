// Interchanges in the caller's memory, in columns of blocks that have come home without those of
// later blocks.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// The interchanges of a factorization, and how far the caller's memory has come with them.
struct Interchanges {
  std::vector<Index> pivots;  ///< min(m, n) of them, 1-based as LAPACK's ipiv
  std::vector<Index> seen;    ///< for each column at home with a pivot, how many it has seen
};

/// Carries out in the caller's memory, in columns of blocks that have come home, the interchanges
/// of later blocks.
///
/// While the device computes, idle threads do so in sweeps over all blocks at home. The first one
/// begins when half of the blocks are known, each further one when a quarter of the rest has
/// followed. Together they move almost three times what one pass at the end would, and little is
/// left for that. Each column goes as far as blocks are known when it is its turn: when the last
/// one is, while the last columns are still on their way, that is the end. What is done when does
/// not matter to the result: interchanges only move data.
template <class T>
class LaterInterchanges {
 public:
  /// The pivots of the first so many blocks as `known` says stand in `pivots`, in staging memory.
  LaterInterchanges(Device& device, HostView<T> a, const Buffer<Index>& pivots, const Flag& known,
                    Interchanges& interchanges, Index nb);

  /// Block b, which has not seen the interchanges of later ones, is about to be stored.
  void arrives(Index b);
  /// Does one task of a sweep, if there is one. `home` blocks have come home. Any number of threads
  /// may call it at once.
  bool advance(Index home);
  /// Does the rest, once all blocks are home and advance() is not called any more.
  void finish(Index threads);

 private:
  Index count() const { return static_cast<Index>(pivots_.size()); }
  Range block(Index b) const { return {b * nb_, std::min((b + 1) * nb_, count())}; }
  Range columns(Index group) const;
  void learn(Index blocks);
  bool begin_sweep(Index groups);
  void apply(Index group, Index end);
  void gather(Range c, Index first, Index end);

  Device& device_;
  const HostView<T> a_;
  const Buffer<Index>& staged_;
  const Flag& staged_blocks_;
  std::vector<Index>& pivots_;
  std::vector<Index>& seen_;
  const Index nb_, blocks_, width_, groups_per_block_;
  // Who changes these, or pivots_ as long as known_ grows, has the mutex; who has not may look.
  std::mutex mutex_;
  std::atomic<Index> next_{0}, last_{0};     // groups that are left of the sweep
  std::atomic<Index> known_{0};              // blocks
  std::atomic<Index> due_{blocks_ / 2 + 1};  // so many known blocks begin the next sweep

  std::atomic<Index> under_way_{0};  // tasks
};

}  // namespace overlapack::algorithms
