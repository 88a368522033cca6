#include "algorithms/qr/reflectors.hpp"

namespace overlapack::algorithms {

template <class T>
void Reflection<T>::operator()(Queue& queue, Op op, const BlockReflector<T>& q,
                               DeviceView<T> c) const {
  queue.enqueue(Reflect<T>{op, q.v, q.t, c, work_.view()});
}

/// T12 := -T1 (V1^H V2) T2.
template <class T>
void Reflection<T>::join(Queue& queue, const BlockReflector<T>& first,
                         const BlockReflector<T>& second, Index offset, DeviceView<T> t12) const {
  const DeviceView<T> product = work_.view().block(0, 0, t12.rows, t12.cols);
  const DeviceView<T> scaled = work_.view().block(t12.rows, 0, t12.rows, t12.cols);
  const DeviceView<const T> v1 = first.v.block(offset, 0, second.v.rows, first.v.cols);
  queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v1, second.v, T(0), product});
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), first.t, product, T(0), scaled});
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), scaled, second.t, T(0), t12});
}

#define OVERLAPACK_INSTANTIATE(T) template class Reflection<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
