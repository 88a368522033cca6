// What calls share whose matrix stays with the caller: parts of it pass through the device.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// Parts of a matrix of the caller, one after the other, in few places on the device: while work
/// uses one part, the next ones are on their way.
template <class T>
class PieceRing {
 public:
  static constexpr Index kPlaces = 2;
  /// For parts of at most that many rows and columns.
  PieceRing(Device& device, Index rows, Index columns) {
    for (Index p = 0; p < kPlaces; ++p) places_.emplace_back(device, rows, columns);
  }
  /// Of device memory.
  static std::size_t bytes(Index rows, Index columns) {
    return at(kPlaces) * DeviceMatrix<T>::bytes(rows, columns);
  }

  /// Forgets the parts of a transfer that has ended. The next ones come by another one.
  void begin(Transfer& transfer) {
    transfer_ = &transfer;
    uploads_.clear();
    parts_.clear();
  }
  /// Declares the next part, before the transfer starts.
  void add(HostView<const T> part, Part which = Part::all, Index diagonal = 0) {
    const Region region = make_region<T>(part, place(count(), part), which, diagonal);
    uploads_.push_back(count() < kPlaces ? transfer_->add_upload(region)
                                         : transfer_->add_upload_over_work(region));
    parts_.push_back(place(count() - 1, part));
  }
  Index count() const { return static_cast<Index>(uploads_.size()); }

  /// Work enqueued in `queue` from now on sees part q, and may change it.
  DeviceView<T> before(Queue& queue, Index q) const {
    transfer_->before(queue, uploads_[at(q)]);
    return parts_[at(q)];
  }
  /// No more work uses part q than what is in `queue` now.
  void pass(Queue& queue, Index q) const {
    if (q + kPlaces < count()) transfer_->vacate(queue, uploads_[at(q + kPlaces)]);
  }

 private:
  DeviceView<T> place(Index q, HostView<const T> part) const {
    return places_[at(q % kPlaces)].view().block(0, 0, part.rows, part.cols);
  }

  std::vector<DeviceMatrix<T>> places_;
  Transfer* transfer_ = nullptr;
  std::vector<Index> uploads_;
  std::vector<DeviceView<T>> parts_;
};

/// How many columns pass through a ring at a time: whole blocks, so that products have many
/// summands, but not so many that a large part of the memory is for them. `rows`: of the matrix.
template <class T>
Index ring_columns(const Options& options, Index rows) {
  constexpr Index kBlocksAtMost = 4;
  constexpr double kShareOfMemory = 0.125;
  const double of_block = static_cast<double>(PieceRing<T>::bytes(rows, options.nb));
  const double blocks = kShareOfMemory * static_cast<double>(options.memory) / of_block;
  return options.nb * std::clamp(static_cast<Index>(blocks), Index{1}, kBlocksAtMost);
}

/// The largest number of columns for which fits(columns): whole blocks of nb, or all of `count`. 0
/// if even one block does not fit. What fits must not need more than what does not.
template <class Fits>
Index most_columns(Index nb, Index count, Fits fits) {
  Index most = 0, beyond = quotient_up(count, nb) + 1;  // blocks
  while (beyond - most > 1) {
    const Index middle = most + (beyond - most) / 2;
    (fits(std::min(middle * nb, count)) ? most : beyond) = middle;
  }
  return std::min(most * nb, count);
}

/// Whether it pays to have so many columns, of `count`, on the device at a time. With fewer than
/// two blocks, the CPU may well be as fast as the link.
inline bool columns_pay(const Options& options, Index columns, Index count) {
  return columns >= std::min(2 * options.nb, count);
}

/// Whether so many bytes are beyond all memory, so that sums of them might overflow.
inline bool beyond_memory(const Options& options, double bytes) {
  return !(bytes <= static_cast<double>(options.memory));
}

}  // namespace overlapack::algorithms
