#include "algorithms/qr/reflectors.hpp"

namespace overlapack::algorithms {

/// W := V^H C, W' := op(T) W, C := C - V W'.
template <class T>
void Reflection<T>::operator()(Queue& queue, Op op, const BlockReflector<T>& q,
                               DeviceView<T> c) const {
  if (c.empty()) return;
  const DeviceView<T> product = product_.view().block(0, 0, q.t.cols, c.cols);
  const DeviceView<T> scaled = scaled_.view().block(0, 0, q.t.cols, c.cols);
  queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), q.v, c, T(0), product});
  queue.enqueue(Gemm<T>{op, Op::none, T(1), q.t, product, T(0), scaled});
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), q.v, scaled, T(1), c});
}

/// T12 := -T1 (V1^H V2) T2.
template <class T>
void Reflection<T>::join(Queue& queue, const BlockReflector<T>& first,
                         const BlockReflector<T>& second, Index offset, DeviceView<T> t12) const {
  const DeviceView<T> product = product_.view().block(0, 0, t12.rows, t12.cols);
  const DeviceView<T> scaled = scaled_.view().block(0, 0, t12.rows, t12.cols);
  const DeviceView<const T> v1 = first.v.block(offset, 0, second.v.rows, first.v.cols);
  queue.enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v1, second.v, T(0), product});
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(1), first.t, product, T(0), scaled});
  queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), scaled, second.t, T(0), t12});
}

#define OVERLAPACK_INSTANTIATE(T) template class Reflection<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
