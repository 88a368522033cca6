// How the blocks of the caller's matrix come to an LU factorization, and its factors to the caller.
#pragma once

#include <vector>

#include "algorithms/lu/schedule.hpp"
#include "algorithms/shared/factorization.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

/// Blocks come by a transfer's uploads, and go by its downloads of the same numbers. The host
/// learns of some blocks' pivots before they are home.
template <class T>
class TransferFlow final : public Flow {
 public:
  /// `uploads`: the number of that with block b; several blocks may have the same.
  TransferFlow(Transfer& transfer, const Lu<T>& lu, std::vector<Index> uploads, Index present)
      : transfer_(transfer), lu_(lu), uploads_(std::move(uploads)), present_(present) {}
  Index present() const override { return present_; }
  /// Of tall blocks in double precision fewer arrive, and panels would wait for what is counted too
  /// soon.
  Tuning::Lu::Arrival arrival(const Tuning::Lu& tuning) const override;
  bool before(Queue& queue, Index b) override { return transfer_.before(queue, uploads_[at(b)]); }
  void release(Queue& queue, Index b) override;

 private:
  bool tells_of(Index b) const;

  Transfer& transfer_;
  const Lu<T>& lu_;
  std::vector<Index> uploads_;
  Index present_;
};

/// The caller's matrix lies on the device. Blocks are copied in the queues that want them, the
/// first two by themselves and the others together: to launch a copy of each would take longer than
/// to copy it. Factored ones go home in a queue of their own.
///
/// The interchanges of later blocks follow right behind them if there are few blocks. Among many,
/// they would keep panels and products from the multiprocessors: then they begin when few columns
/// are left, where panels take longer than all that is beside them, and go on each time that a
/// quarter of those is left.
template <class T>
class ResidentFlow final : public Flow {
 public:
  /// `input`, too, lies on the device, and may be `a`. B, if there is one, comes as upload 0 of
  /// `transfer`.
  ResidentFlow(Device& device, Lu<T>& lu, HostView<const T> input, HostView<T> a,
               Transfer* transfer);

  Index present() const override { return lu_.matrix().total(); }
  bool before(Queue& queue, Index b) override;
  void release(Queue& queue, Index b) override;
  /// Waits until all is there.
  void finish() { queue_->synchronize(); }

 private:
  void copy(Queue& queue, const char* kind, Index b, DeviceView<const T> from, DeviceView<T> to,
            Range c) const;

  Kernels<T>& kernels_;
  Lu<T>& lu_;
  const DeviceView<const T> input_;
  const DeviceView<T> a_;
  Transfer* const transfer_;
  const Tuning::Lu& tuning_;
  const bool immediate_interchanges_;  // few blocks, but with right-hand sides
  Index interchanged_ = 0;             // so many blocks have been
  Index due_;                          // the next ones are when so many columns are left
  EventLease there_;                   // the block last released, in that queue
  QueueLease queue_;
};

/// The caller's matrix lies on the device, and is factored where it is. L sees the interchanges of
/// a later block once no product needs it any more.
template <class T>
class InPlaceFlow final : public Flow {
 public:
  InPlaceFlow(Device& device, Lu<T>& lu) : lu_(lu), there_(device) {}

  Index present() const override { return lu_.matrix().total(); }
  bool before(Queue&, Index) override { return true; }
  void release(Queue& queue, Index b) override;
  /// Waits until all is there.
  void finish();

 private:
  Lu<T>& lu_;
  EventLease there_;
};

}  // namespace overlapack::algorithms
