#include <algorithm>
#include <functional>
#include <vector>

#include "algorithms/qr/lines.hpp"
#include "algorithms/qr/qr.hpp"
#include "algorithms/qr/schedule.hpp"
#include "algorithms/qr/textbook.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

using cpu::Reflectors;

namespace {

/// Blocks come by a transfer's uploads of the same numbers, and go home in pieces.
template <class T>
class QrFlow final : public Flow {
 public:
  QrFlow(Transfer& transfer, const Qr<T>& qr, const Lines<T>& lines, bool on_device)
      : transfer_(transfer), qr_(qr), lines_(lines), on_device_(on_device) {}

  /// Declares what goes up, and what comes home: with the columns their part of tau.
  void declare(T* tau) {
    for (const Range& block : qr_.blocks()) {
      const bool reflects = static_cast<Index>(ends_.size()) < qr_.steps();
      lines_.add_upload(transfer_, all(), block);
      for (const Range& piece : lines_.pieces(block, block.size())) {
        lines_.add_download(transfer_, piece, reflects ? taker_of(tau, piece) : nullptr);
        ++pieces_;
      }
      ends_.push_back(pieces_);
    }
  }

  Index present() const override { return on_device_ ? static_cast<Index>(ends_.size()) : 0; }
  bool before(Queue& queue, Index b) override {
    if (!transfer_.before(queue, b)) return false;
    lines_.arrive(queue, all(), qr_.blocks()[at(b)]);
    return true;
  }
  void release(Queue& queue, Index b) override {
    lines_.leave(queue, qr_.blocks()[at(b)]);
    for (; released_ < ends_[at(b)]; ++released_) transfer_.release(queue, released_);
  }

 private:
  Range all() const { return {0, qr_.matrix().rows}; }
  std::function<bool()> taker_of(T* tau, Range columns) const {
    return [&qr = qr_, tau, columns] {
      std::copy_n(qr.staged_tau(columns), columns.size(), tau + columns.first);
      return true;
    };
  }

  Transfer& transfer_;
  const Qr<T>& qr_;
  const Lines<T>& lines_;
  const bool on_device_;
  std::vector<Index> ends_;  // by block: pieces of it and of those before
  Index pieces_ = 0, released_ = 0;
};

}  // namespace

template <class T>
void geqrf(Device& device, const Options& options, Reflectors kind, HostView<T> a, T* tau,
           Index& committed) {
  if (a.empty()) return;
  if (options.textbook) return textbook_geqrf(device, options, kind, a, tau);
  Qr<T> qr(device, options, order_of(kind, a.rows, a.cols), lines_of(kind, a.rows, a.cols));
  const Lines<T> lines(device, kind, a, qr.matrix());
  Transfer transfer(device, options.threads, committed);
  QrFlow<T> flow(transfer, qr, lines, device.kind_of(a.data) == MemoryKind::device);
  flow.declare(tau);
  transfer.start();
  qr.factor(flow);
  transfer.finish();
}

template <class T>
std::size_t geqrf_bytes(const Options& options, Reflectors kind, Index m, Index n) {
  const Index order = order_of(kind, m, n), lines = lines_of(kind, m, n);
  return Qr<T>::bytes(options, order, lines) + Lines<T>::bytes(kind, order, lines);
}

Index geqrf_block_columns(const Device& device, Index m, Index n) {
  const Tuning::Qr& tuning = device.tuning().qr;
  return std::min(m, n) < tuning.wide_from_order ? tuning.narrow_block_columns
                                                 : tuning.wide_block_columns;
}

#define OVERLAPACK_INSTANTIATE(T)                                                       \
  template void geqrf<T>(Device&, const Options&, Reflectors, HostView<T>, T*, Index&); \
  template std::size_t geqrf_bytes<T>(const Options&, Reflectors, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
