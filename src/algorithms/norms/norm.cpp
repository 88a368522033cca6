#include "algorithms/norms/norm.hpp"

#include "device/buffer.hpp"

namespace overlapack::algorithms {

template <class T>
Real<T> norm(Device& device, Norm norm, Symmetry symmetry, Uplo uplo, DeviceView<const T> a) {
  const Buffer<Real<T>> work(device, Space::device, symmetry == Symmetry::none ? 1 : a.rows);
  const Readout<Real<T>> result(device, 1);
  const QueueLease queue(device);
  queue->enqueue(
      MatrixNorm<T>{norm, symmetry, uplo, a, {work.data(), work.size()}, result.there()});
  result.fetch(*queue);
  queue->synchronize();
  return *result.here();
}

#define OVERLAPACK_INSTANTIATE(T) \
  template Real<T> norm<T>(Device&, Norm, Symmetry, Uplo, DeviceView<const T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
