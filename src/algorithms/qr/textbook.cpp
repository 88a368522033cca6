#include "algorithms/qr/textbook.hpp"

#include <algorithm>

#include "algorithms/qr/lines.hpp"
#include "algorithms/shared/round_trip.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

template <class T>
void textbook_qr(QrOperations<T>& with, DeviceView<T> a, Index nb) {
  const Kernels<T>& kernels = with.queue.device().template kernels<T>();
  const Index steps = std::min(a.rows, a.cols);
  Index b = 0;
  for (Index k = 0; k < steps; k += b) {
    b = std::min({nb, kernels.geqrf_panel_width(a.rows - k), steps - k});
    householder_step(with, QrParts<T>(a, k, b));
  }
}

template <class T>
void textbook_geqrf(Device& device, const Options& options, cpu::Reflectors kind, HostView<T> a,
                    T* tau) {
  const bool rows = kind == cpu::Reflectors::rows;
  const Index k = std::min(a.rows, a.cols), nb = std::min(options.nb, k);
  const Index order = order_of(kind, a.rows, a.cols), lines = lines_of(kind, a.rows, a.cols);
  const RoundTrip<T> matrix(device, a.rows, a.cols);
  const DeviceMatrix<T> adjoint(device, rows ? order : 0, rows ? lines : 0);
  const DeviceMatrix<T> v(device, order, nb), t(device, nb, nb);
  const Buffer<T> staged_tau(device, Space::host, k);
  const Reflection<T> reflection(device, nb, lines);
  const QueueLease queue(device, Priority::normal, "textbook");
  QrOperations<T> with{*queue, {staged_tau.data(), k}, v.view(), t.view(), reflection};

  matrix.bring(*queue, a);
  if (rows) queue->enqueue(Copy<T>{Op::conj_trans, matrix.view(), adjoint.view()});
  textbook_qr(with, rows ? adjoint.view() : matrix.view(), options.nb);
  if (rows) queue->enqueue(Copy<T>{Op::conj_trans, adjoint.view(), matrix.view()});
  matrix.fetch(*queue, a);
  queue->synchronize();

  matrix.put(*queue, a);
  std::copy_n(staged_tau.data(), k, tau);
}

#define OVERLAPACK_INSTANTIATE(T)                                       \
  template void textbook_qr<T>(QrOperations<T>&, DeviceView<T>, Index); \
  template void textbook_geqrf<T>(Device&, const Options&, cpu::Reflectors, HostView<T>, T*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
