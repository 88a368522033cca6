#include "algorithms/eigen/tridiagonalization.hpp"

#include <algorithm>

namespace overlapack::algorithms {

template <class T>
Index Tridiagonalization<T>::panel_columns(const Device& device, const Options& options, Index n) {
  return std::min({options.nb, device.kernels<T>().limits().sytrd_panel_width, n});
}

/// Enough for each panel: a smaller one may take more.
template <class T>
Index Tridiagonalization<T>::work_elements(const Device& device, Index n, Index nb) {
  Index most = 0;
  for (const Range& j : partition(n, nb)) {
    most = std::max(most, device.kernels<T>().sytrd_work(n - j.first));
  }
  return most;
}

template <class T>
Tridiagonalization<T>::Tridiagonalization(Device& device, const Options& options, Index n)
    : device_(device),
      n_(n),
      nb_(panel_columns(device, options, n)),
      matrix_(device, n, n),
      v_(device, n, nb_),
      w_(device, n, nb_),
      work_(device, Space::device, work_elements(device, n, nb_)),
      d_and_e_(device, 2 * n - 1),
      tau_(device, n - 1) {}

template <class T>
std::size_t Tridiagonalization<T>::bytes(const Device& device, const Options& options, Index n) {
  const Index nb = panel_columns(device, options, n);
  return DeviceMatrix<T>::bytes(n, n) + 2 * DeviceMatrix<T>::bytes(n, nb) +
         Buffer<T>::bytes(work_elements(device, n, nb)) + Readout<Real<T>>::bytes(2 * n - 1) +
         Readout<T>::bytes(n - 1);
}

template <class T>
void Tridiagonalization<T>::reduce(Queue& queue) const {
  clear_imaginary_diagonal(queue, matrix());
  for (const Range& j : partition(n_, nb_)) {
    const Index order = n_ - j.first, columns = j.size(), behind = n_ - j.last;
    const Index steps = std::min(columns, order - 1);
    const DeviceView<T> a = matrix_.view().block(j.first, j.first, order, order),
                        work(work_.data(), work_.size());
    if (order <= device_.kernels<T>().limits().sytrd_order) {
      queue.enqueue(Sytrd<T>{a, d().block(j.first, 0, order, 1),
                             e().block(j.first, 0, order - 1, 1),
                             tau().block(j.first, 0, order - 1, 1), work});
      return;
    }
    const DeviceView<T> v = v_.view().block(0, 0, order, steps),
                        w = w_.view().block(0, 0, order, steps);
    queue.enqueue(SytrdPanel<T>{a, v, w, d().block(j.first, 0, columns, 1),
                                e().block(j.first, 0, steps, 1), tau().block(j.first, 0, steps, 1),
                                work});
    if (behind == 0) return;
    queue.enqueue(Her2k<T>{Uplo::lower, T(-1), v.block(columns, 0, behind, steps),
                           w.block(columns, 0, behind, steps), Real<T>(1),
                           a.block(columns, columns, behind, behind)});
  }
}

template <class T>
void Tridiagonalization<T>::fetch(Queue& queue) const {
  d_and_e_.fetch(queue);
  tau_.fetch(queue);
}

#define OVERLAPACK_INSTANTIATE(T) template class Tridiagonalization<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
