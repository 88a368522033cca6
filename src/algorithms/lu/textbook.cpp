#include "algorithms/lu/textbook.hpp"

#include <algorithm>

#include "algorithms/shared/round_trip.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

template <class T>
Index textbook_gesv(Device& device, const Options& options, Input<T> input, HostView<T> a,
                    Interchanges& interchanges, HostView<T> b) {
  const Index k = std::min(a.rows, a.cols);
  const RoundTrip<T> matrix(device, a.rows, a.cols), rhs(device, b.rows, b.cols);
  const Buffer<Index> pivots(device, Space::device, k), staged_pivots(device, Space::host, k);
  const Buffer<Index> info(device, Space::host, 1);
  const QueueLease queue(device, Priority::normal, "textbook");
  LuOperations<T> with{*queue, {pivots.data(), k}, {staged_pivots.data(), k}, {info.data(), 1}};
  *info.data() = 0;

  matrix.bring(*queue, input.a);
  rhs.bring(*queue, input.b);
  // P A = L U
  textbook_lu(with, matrix.view(), options.nb);
  if (!b.empty()) {
    // B := P B
    queue->enqueue(SwapRows<T>{rhs.view(), with.pivots, 0});
    // B := L^-1 B
    with.solve(matrix.view(), rhs.view());
    // B := U^-1 B
    queue->enqueue(Trsm<T>{Side::left, Uplo::upper, Op::none, Diag::non_unit, T(1), matrix.view(),
                           rhs.view()});
  }
  matrix.fetch(*queue, a);
  rhs.fetch(*queue, b);
  queue->synchronize();

  matrix.put(*queue, a);
  if (*info.data() == 0) rhs.put(*queue, b);  // else B stays as it is
  interchanges.pivots.assign(staged_pivots.data(), staged_pivots.data() + k);
  return *info.data();
}

#define OVERLAPACK_INSTANTIATE(T)                                                                \
  template Index textbook_gesv<T>(Device&, const Options&, Input<T>, HostView<T>, Interchanges&, \
                                  HostView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
