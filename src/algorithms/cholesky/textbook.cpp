#include "algorithms/cholesky/textbook.hpp"

#include "algorithms/cholesky/failing_row.hpp"
#include "algorithms/shared/round_trip.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

template <class T>
Index textbook_posv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
                    Input<T> input, HostView<T> a, HostView<T> b) {
  const Triangle<T> triangle{{uplo}, device.kernels<T>()};
  const Part part = part_of(uplo);
  const RoundTrip<T> matrix(device, a.rows, a.cols), rhs(device, b.rows, b.cols);
  const Buffer<Index> info(device, Space::host, 1);
  const QueueLease queue(device, Priority::normal, "textbook");
  const auto solve = [&](Op op) {
    triangle.kernels.trsm(*queue, Side::left, uplo, op, Diag::non_unit, T(1), matrix.view(),
                          rhs.view());
  };
  *info.data() = 0;

  matrix.bring(*queue, input.a, part);
  rhs.bring(*queue, input.b);
  // A = L L^H
  textbook_cholesky(triangle, *queue, matrix.view(), {info.data(), 1}, options.nb);
  if (!b.empty()) {
    // B := L^-1 B
    solve(triangle.direct());
    // B := L^-H B
    solve(triangle.adjoint());
  }
  matrix.fetch(*queue, a);
  rhs.fetch(*queue, b);
  queue->synchronize();

  const Index failed = *info.data();
  if (failed != 0) {
    matrix.put(*queue, a, part, failed - 1);
    complete_failing_row(device, cpu, *queue, triangle, a, 0, failed - 1);
    return failed;
  }
  matrix.put(*queue, a, part);
  rhs.put(*queue, b);
  return 0;
}

#define OVERLAPACK_INSTANTIATE(T)                                                                 \
  template Index textbook_posv<T>(Device&, const cpu::Lapack<T>&, const Options&, Uplo, Input<T>, \
                                  HostView<T>, HostView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
