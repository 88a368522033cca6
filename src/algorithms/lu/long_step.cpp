#include "algorithms/lu/long_step.hpp"

namespace overlapack::algorithms {

template <class T>
LongStep<T>::LongStep(Device& device, Index rows, Index panels, Index nb)
    : kernels_(device.kernels<T>()),
      nb_(nb),
      l_(device, rows, panels * nb),
      sources_(device, rows, panels),
      subtract_(device, rows - panels * nb, panels * nb),
      begun_(device) {}

template <class T>
typename LongStep<T>::Workspace LongStep<T>::workspace(Device& device, Index rows, Index panels,
                                                       Index nb, Index columns) {
  return Workspace(device, rows - panels * nb, columns, panels * nb);
}

template <class T>
std::size_t LongStep<T>::bytes(Device& device, Index rows, Index panels, Index nb) {
  const Index width = panels * nb;
  return DeviceMatrix<T>::bytes(rows, width) + DeviceMatrix<Index>::bytes(rows, panels) +
         ResidueSubtraction<T>::bytes(device, rows - width, width);
}

template <class T>
std::size_t LongStep<T>::workspace_bytes(Device& device, Index rows, Index panels, Index nb,
                                         Index columns) {
  return Workspace::bytes(device, rows - panels * nb, columns, panels * nb);
}

template <class T>
void LongStep<T>::begin(Queue& queue, DeviceView<const T> a, DeviceView<const Index> pivots,
                        Index offset, DeviceView<const Index> inverses) {
  const DeviceView<T> l = l_.view();
  const Index k = l.cols, before_last = k - nb_, below = l.rows - k;
  pivots_ = pivots;
  inverses_ = inverses;
  offset_ = offset;
  queue.copy<T>(l, a);
  if (composes()) {
    const DeviceView<Index> sources = sources_.view();
    queue.enqueue(ComposeInterchanges<T>{pivots, offset, nb_, sources});
    // The columns of a panel have yet to see those of the panels behind it.
    queue.enqueue(PermuteRows<T>{l.block(0, 0, l.rows, before_last), nb_,
                                 sources.block(0, 1, l.rows, sources.cols - 1)});
  } else {
    for (Index i = nb_; i < k; i += nb_) {
      queue.enqueue(SwapRows<T>{l.block(i, 0, l.rows - i, i), {pivots.data + i, nb_}, offset + i});
    }
  }
  subtract_.give(queue, l.block(k, 0, below, k));
  queue.record(*begun_);
}

template <class T>
void LongStep<T>::apply(Queue& queue, const Workspace& workspace, DeviceView<T> a) const {
  const DeviceView<T> l = l_.view();
  const Index k = l.cols;
  const auto rows_of_a = [&a](Range i) { return a.block(0, i.first, a.rows, i.size()); };
  queue.wait(*begun_);
  queue.enqueue(SwapColumns<T>{a, pivots_, offset_});
  for (const Range i : partition(k, nb_)) {
    const Range below = {i.last, k};
    queue.enqueue(InterchangeAndSolveByRows<T>{
        l.block(i.first, i.first, nb_, nb_), {}, 0, rows_of_a(i), inverses_.column(i.first / nb_)});
    queue.enqueue(Gemm<T>{Op::none, Op::conj_trans, T(-1), rows_of_a(i),
                          l.block(i.last, i.first, below.size(), nb_), T(1), rows_of_a(below)});
  }
  subtract_(queue, workspace, rows_of_a({0, k}), rows_of_a({k, l.rows}));
}

#define OVERLAPACK_INSTANTIATE(T) template class LongStep<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
