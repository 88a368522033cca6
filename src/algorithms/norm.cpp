#include "algorithms/norm.hpp"

#include "device/buffer.hpp"

namespace overlapack::algorithms {

template <class T>
Real<T> norm(Device& device, Norm norm, Symmetry symmetry, Uplo uplo, DeviceView<const T> a) {
  const Buffer<Real<T>> work(device, Space::device, symmetry == Symmetry::none ? 1 : a.rows),
      there(device, Space::device, 1), here(device, Space::host, 1);
  const QueueLease queue(device);
  device.kernels<T>().norm(*queue, norm, symmetry, uplo, a, {work.data(), work.size()},
                           {there.data(), 1});
  queue->template copy<Real<T>>(HostView<Real<T>>(here.data(), 1),
                                DeviceView<const Real<T>>(there.data(), 1));
  queue->synchronize();
  return *here.data();
}

#define OVERLAPACK_INSTANTIATE(T) \
  template Real<T> norm<T>(Device&, Norm, Symmetry, Uplo, DeviceView<const T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
