#include "algorithms/cholesky/one_panel.hpp"

#include "algorithms/cholesky/failing_row.hpp"
#include "cpu/reference.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

template <class T>
Index potrf_one_panel(Device& device, const cpu::Lapack<T>& cpu, const Triangle<T>& triangle,
                      HostView<T> a) {
  const Index n = a.rows;
  const Buffer<T> staging(device, Space::host, n * n);
  const Buffer<Index> info(device, Space::host, 1);
  const QueueLease queue(device, Priority::high, "panel");
  const HostView<T> here(staging.data(), n, n, n);
  const DeviceView<T> there(staging.data(), n, n, n);
  const auto bytes = static_cast<double>(sizeof(T)) * static_cast<double>(n * n);
  *info.data() = 0;
  reference::lacpy<T>(a, here, part_of(triangle.uplo));
  device.before(Action::copy_to_device, "a panel's reads", bytes);
  triangle.kernels.potrf_panel(*queue, triangle.uplo, there, there, {info.data(), 1}, 0);
  device.before(Action::copy_to_host, "a panel's writes", bytes);
  queue->synchronize();
  const Index good = *info.data() == 0 ? n : *info.data() - 1;
  reference::lacpy<T>(here.block(0, 0, good, good), a.block(0, 0, good, good),
                      part_of(triangle.uplo));
  if (good < n) complete_failing_row(device, cpu, *queue, triangle, a, 0, good);
  return *info.data();
}

#define OVERLAPACK_INSTANTIATE(T)                                                       \
  template Index potrf_one_panel<T>(Device&, const cpu::Lapack<T>&, const Triangle<T>&, \
                                    HostView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
