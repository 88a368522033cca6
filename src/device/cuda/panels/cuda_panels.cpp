// Panels of LU of any width, made of those that one kernel takes; and which kernel takes a panel of
// QR.
#include <algorithm>

#include "device/cuda/panels/panels.hpp"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

/// A panel that is no wider than getrf_leaf_width().
template <class T>
void enqueue_leaf(CudaQueue& queue, const GetrfPanel<T>& op) {
  const cudaEvent_t begun =
      op.begun == nullptr ? nullptr : static_cast<CudaEvent&>(*op.begun).handle();
  getrf_leaf(queue.stream(), queue.exchange(), op.a,
             {op.pivots.data, op.staged_pivots.data, op.info.data}, op.offset, begun);
  if (op.begun != nullptr) op.begun->recorded_by_kernel();
}

// Recursive LU (Toledo; LAPACK's ?getrf2). With n1 of the min(m, n) columns on the left,
//
//   [ A11 ]       [ L11 ]            [ A12 ]      [ A12 ]
//   [ A21 ]  =  P [ L21 ] U11,       [ A22 ] := P^T [ A22 ],   U12 = L11^-1 A12,
//
//   A22 - L21 U12 = P' L22 U22,      L21 := P'^T L21.
template <class T>
void enqueue(CudaQueue& queue, const GetrfPanel<T>& op) {
  const DeviceView<T>& a = op.a;
  const Index m = a.rows, n = a.cols, k = op.steps();
  const Index width = getrf_leaf_width<T>(m, queue.exchange());
  if (n <= width) {
    enqueue_leaf(queue, op);
    return;
  }
  // More columns than rows: the left square holds all pivots.
  const Index n1 = n > k ? k : round_up(k / 2, width), n2 = n - n1;
  const DeviceView<T> left = a.block(0, 0, m, n1), right = a.block(0, n1, m, n2);
  const DeviceView<Index> pivots1 = op.pivots.block(0, 0, n1, 1),
                          staged1 = op.staged_pivots.block(0, 0, n1, 1);
  enqueue(queue, GetrfPanel<T>{left, pivots1, staged1, op.info, op.offset, op.begun});
  const DeviceView<T> a11 = a.block(0, 0, n1, n1), a12 = a.block(0, n1, n1, n2);
  launch(queue, InterchangeAndSolve<T>{a11, pivots1, op.offset, right});
  if (n1 == m) return;
  const DeviceView<T> a21 = a.block(n1, 0, m - n1, n1), a22 = a.block(n1, n1, m - n1, n2);
  launch(queue, Gemm<T>{Op::none, Op::none, T(-1), a21, a12, T(1), a22});
  const DeviceView<Index> pivots2 = op.pivots.block(n1, 0, k - n1, 1),
                          staged2 = op.staged_pivots.block(n1, 0, k - n1, 1);
  enqueue(queue, GetrfPanel<T>{a22, pivots2, staged2, op.info, op.offset + n1});
  launch(queue, SwapRows<T>{a21, pivots2, op.offset + n1});
}

/// GeqrfPanel or ReflectAndFactor by one cluster.
template <class Operation>
void by_cluster(CudaQueue& queue, const Operation& op) {
  const cudaEvent_t begun =
      op.begun == nullptr ? nullptr : static_cast<CudaEvent&>(*op.begun).handle();
  geqrf_cluster(queue.stream(), queue.exchange().cluster_limit(), op, begun);
  if (op.begun != nullptr) op.begun->recorded_by_kernel();
}

template <class T>
void enqueue(CudaQueue& queue, const GeqrfPanel<T>& op) {
  const int limit = queue.exchange().cluster_limit();
  if (op.a.cols <= geqrf_cluster_width<T>(op.a.rows, limit)) return by_cluster(queue, op);
  if (op.begun != nullptr) queue.record(*op.begun);  // it needs none at a time
  geqrf_tall(queue.stream(), queue.reflector_scratch(), op);
}

template <class T>
void enqueue(CudaQueue& queue, const ReflectAndFactor<T>& op) {
  const int limit = queue.exchange().cluster_limit();
  if (geqrf_cluster_reflects<T>(op.v.rows, op.v.cols, op.before_v.cols, limit)) {
    return by_cluster(queue, op);
  }
  launch(queue, op.reflection());
  enqueue(queue, op.panel());
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T)  \
  OVERLAPACK_LAUNCH(GetrfPanel<T>) \
  OVERLAPACK_LAUNCH(GeqrfPanel<T>) \
  OVERLAPACK_LAUNCH(ReflectAndFactor<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
