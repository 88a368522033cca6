// How the blocks of the caller's matrix come to a QR factorization, and its factors to the caller.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "algorithms/qr/lines.hpp"
#include "algorithms/qr/schedule.hpp"
#include "algorithms/shared/factorization.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// Blocks come by a transfer's uploads from number `first` on, and go home in pieces, which are its
/// first downloads. Of columns, each block is one piece.
template <class T>
class QrFlow : public Flow {
 public:
  QrFlow(Transfer& transfer, const Qr<T>& qr, const Lines<T>& lines, bool on_device,
         Index first = 0)
      : transfer_(transfer), qr_(qr), lines_(lines), on_device_(on_device), first_(first) {}

  /// Declares what goes up, and what comes home: with the columns their part of tau, unless that is
  /// null. Before anything of block b is committed, `accept(b)` is asked whether it may be.
  template <class Accept>
  void declare(T* tau, Accept accept) {
    for (const Range& block : qr_.blocks()) {
      const auto b = static_cast<Index>(ends_.size());
      const bool has_tau = b < qr_.steps() && tau != nullptr;
      lines_.add_upload(transfer_, all(), block);
      for (const Range& piece : lines_.pieces(block, block.size())) {
        lines_.add_download(transfer_, piece, [&qr = qr_, tau, piece, has_tau, accept, b] {
          if (!accept(b)) return false;
          if (has_tau) std::copy_n(qr.staged_tau(piece), piece.size(), tau + piece.first);
          return true;
        });
        ++pieces_;
      }
      ends_.push_back(pieces_);
    }
  }

  Index present() const override { return on_device_ ? static_cast<Index>(ends_.size()) : 0; }
  bool before(Queue& queue, Index b) override {
    if (!transfer_.before(queue, first_ + b)) return false;
    lines_.arrive(queue, all(), qr_.blocks()[at(b)]);
    return true;
  }
  void release(Queue& queue, Index b) override {
    lines_.leave(queue, qr_.blocks()[at(b)]);
    for (; released_ < ends_[at(b)]; ++released_) transfer_.release(queue, released_);
  }

 private:
  Range all() const { return {0, qr_.matrix().rows}; }

  Transfer& transfer_;
  const Qr<T>& qr_;
  const Lines<T>& lines_;
  const bool on_device_;
  const Index first_;
  std::vector<Index> ends_;  // by block: pieces of it and of those before
  Index pieces_ = 0, released_ = 0;
};

}  // namespace overlapack::algorithms
