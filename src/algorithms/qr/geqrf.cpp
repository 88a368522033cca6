#include <algorithm>

#include "algorithms/qr/flow.hpp"
#include "algorithms/qr/qr.hpp"
#include "algorithms/qr/textbook.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

using cpu::Reflectors;

template <class T>
void geqrf(Device& device, const Options& options, Reflectors kind, HostView<T> a, T* tau,
           Index& committed) {
  if (a.empty()) return;
  if (options.textbook) return textbook_geqrf(device, options, kind, a, tau);
  Qr<T> qr(device, options, order_of(kind, a.rows, a.cols), lines_of(kind, a.rows, a.cols));
  const Lines<T> lines(device, kind, a, qr.matrix());
  Transfer transfer(device, options.threads, committed);
  QrFlow<T> flow(transfer, qr, lines, device.kind_of(a.data) == MemoryKind::device);
  flow.declare(tau, [](Index) { return true; });
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
