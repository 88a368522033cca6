#include <algorithm>

#include "algorithms/qr/flow.hpp"
#include "algorithms/qr/qr.hpp"
#include "algorithms/qr/textbook.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {

using cpu::Reflectors;

namespace {

/// With blocks that consist of whole blocks of so many columns.
Options with_blocks_of(Index columns, Options options) {
  options.nb = round_up(options.nb, columns);
  return options;
}

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
  flow.declare(tau, [](Index) { return true; });
  transfer.start();
  qr.factor(flow);
  transfer.finish();
}

template <class T>
std::size_t geqrf_bytes(const Device& device, const Options& options, Reflectors kind, Index m,
                        Index n) {
  const Index order = order_of(kind, m, n), lines = lines_of(kind, m, n);
  return Qr<T>::bytes(device, options, order, lines) + Lines<T>::bytes(kind, order, lines);
}

template <class T>
void geqrt(Device& device, const Options& options, HostView<T> a, T* tau, HostView<T> t,
           Index& committed) {
  Qr<T> qr(device, with_blocks_of(t.rows, options), a.rows, a.cols);
  const Lines<T> lines(device, Reflectors::columns, a, qr.matrix());
  Transfer transfer(device, options.threads, committed);
  QrFlow<T> flow(transfer, qr, lines, device.kind_of(a.data) == MemoryKind::device);
  flow.declare(tau, [](Index) { return true; });
  std::vector<Index> triangles;
  for (const Range& b : partition(t.cols, t.rows)) {
    triangles.push_back(transfer.add_download(
        make_region<T>(t.block({0, b.size()}, b), qr.triangle(b), Part::upper)));
  }
  transfer.start();
  qr.factor(flow);
  for (const Index triangle : triangles) transfer.release(qr.queue(), triangle);
  transfer.finish();
}

template <class T>
std::size_t geqrt_bytes(const Device& device, const Options& options, Index block, Index m,
                        Index n) {
  return Qr<T>::bytes(device, with_blocks_of(block, options), m, n);
}

#define OVERLAPACK_INSTANTIATE(T)                                                               \
  template void geqrf<T>(Device&, const Options&, Reflectors, HostView<T>, T*, Index&);         \
  template std::size_t geqrf_bytes<T>(const Device&, const Options&, Reflectors, Index, Index); \
  template void geqrt<T>(Device&, const Options&, HostView<T>, T*, HostView<T>, Index&);        \
  template std::size_t geqrt_bytes<T>(const Device&, const Options&, Index, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
