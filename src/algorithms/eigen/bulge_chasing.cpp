#include "algorithms/eigen/bulge_chasing.hpp"

#include <algorithm>

namespace overlapack::algorithms {
namespace {

/// Rows of the band, with room for the bulges.
Index rows_of_band(Index bandwidth) { return 2 * bandwidth; }
Index order_of_v(Index n, bool vectors) { return vectors ? n : 0; }
/// Elements that both operations need at different times.
template <class T>
Index elements_of_work(const Device& device, Index n, Index bandwidth, bool vectors) {
  const Kernels<T>& kernels = device.kernels<T>();
  return std::max(kernels.chase_work(), vectors ? kernels.reflect_work(n, bandwidth) : 0);
}
/// Elements of d and e.
Index numbers_of_t(Index n) { return std::max<Index>(2 * n - 1, 0); }

}  // namespace

template <class T>
BulgeChasing<T>::BulgeChasing(Device& device, const Options&, Index n, Index bandwidth,
                              bool vectors)
    : n_(n),
      bandwidth_(bandwidth),
      group_(std::min(bandwidth, device.kernels<T>().limits().bulge_group)),
      band_(device, rows_of_band(bandwidth), n),
      v_(device, order_of_v(n, vectors), order_of_v(n, vectors)),
      work_(device, Space::device, elements_of_work<T>(device, n, bandwidth, vectors)),
      d_and_e_(device, numbers_of_t(n)) {}

template <class T>
std::size_t BulgeChasing<T>::bytes(const Device& device, const Options&, Index n, Index bandwidth,
                                   bool vectors) {
  return DeviceMatrix<T>::bytes(rows_of_band(bandwidth), n) +
         DeviceMatrix<T>::bytes(order_of_v(n, vectors), order_of_v(n, vectors)) +
         Buffer<T>::bytes(elements_of_work<T>(device, n, bandwidth, vectors)) +
         Readout<Real<T>>::bytes(numbers_of_t(n));
}

template <class T>
void BulgeChasing<T>::reduce(Queue& queue) const {
  if (n_ == 0) return;
  const Index behind = bandwidth_ + 1;
  if (behind < band().rows) {
    set_zero(queue, band().block(behind, 0, band().rows - behind, n_));
  }
  const DeviceView<Real<T>> numbers = d_and_e_.there();
  queue.enqueue(ChaseBulges<T>{bandwidth_, band(), numbers.block(0, 0, n_, 1),
                               numbers.block(n_, 0, n_ - 1, 1), v_.view(), work()});
}

template <class T>
void BulgeChasing<T>::prepare(Queue& queue) const {
  queue.enqueue(BulgeFactors<T>{bandwidth_, group_, v_.view()});
}

template <class T>
void BulgeChasing<T>::multiply(Queue& queue, DeviceView<T> z) const {
  queue.enqueue(ReflectBulges<T>{bandwidth_, group_, v_.view(), work(), z});
}

#define OVERLAPACK_INSTANTIATE(T) template class BulgeChasing<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
