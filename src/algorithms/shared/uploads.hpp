// The way up of a matrix by block columns.
#pragma once

#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// The blocks of a matrix on their way up, for a computation that needs them in order.
class Uploads {
 public:
  Uploads(Transfer& transfer, Queue& queue, const std::vector<Range>& blocks)
      : transfer_(transfer), queue_(queue), blocks_(blocks) {}
  /// Work enqueued from now on sees the blocks up to the last one of these columns.
  void before(Range columns) {
    for (; next_ < blocks_.size() && blocks_[next_].first < columns.last; ++next_) {
      transfer_.before(queue_, static_cast<Index>(next_));
    }
  }

 private:
  Transfer& transfer_;
  Queue& queue_;
  const std::vector<Range>& blocks_;
  std::size_t next_ = 0;
};

}  // namespace overlapack::algorithms
