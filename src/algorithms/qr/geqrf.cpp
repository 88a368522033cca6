#include <algorithm>

#include "algorithms/qr/qr.hpp"
#include "algorithms/qr/schedule.hpp"
#include "algorithms/qr/textbook.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// Blocks come by a transfer's uploads, and go by its downloads of the same numbers.
class TransferFlow final : public Flow {
 public:
  TransferFlow(Transfer& transfer, Index present) : transfer_(transfer), present_(present) {}
  Index present() const override { return present_; }
  bool before(Queue& queue, Index b) override { return transfer_.before(queue, b); }
  void release(Queue& queue, Index b) override { transfer_.release(queue, b); }

 private:
  Transfer& transfer_;
  const Index present_;
};

}  // namespace

template <class T>
void geqrf(Device& device, const Options& options, HostView<T> a, T* tau, Index& committed) {
  if (a.empty()) return;
  if (options.textbook) return textbook_geqrf(device, options, a, tau);
  Qr<T> qr(device, options, a.rows, a.cols);
  Transfer transfer(device, options.threads, committed);
  Index b = 0;
  for (const Range& block : qr.blocks()) {
    const Range all = {0, a.rows};
    const Region region = make_region<T>(a.block(all, block), qr.matrix().block(all, block));
    transfer.add_upload(region);
    if (b++ >= qr.steps()) {
      transfer.add_download(region);
      continue;
    }
    transfer.add_download(region, [&qr, tau, block] {
      std::copy_n(qr.staged_tau(block), block.size(), tau + block.first);
      return true;
    });
  }
  transfer.start();
  const bool on_device = device.kind_of(a.data) == MemoryKind::device;
  TransferFlow flow(transfer, on_device ? b : 0);
  qr.factor(flow);
  transfer.finish();
}

template <class T>
std::size_t geqrf_bytes(const Options& options, Index m, Index n) {
  return Qr<T>::bytes(options, m, n);
}

Index geqrf_block_columns(const Device& device, Index m, Index n) {
  const Tuning::Qr& tuning = device.tuning().qr;
  return std::min(m, n) < tuning.wide_from_order ? tuning.narrow_block_columns
                                                 : tuning.wide_block_columns;
}

#define OVERLAPACK_INSTANTIATE(T)                                           \
  template void geqrf<T>(Device&, const Options&, HostView<T>, T*, Index&); \
  template std::size_t geqrf_bytes<T>(const Options&, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
