#include "algorithms/solve.hpp"

#include "algorithms/transfer.hpp"
#include "algorithms/triangle.hpp"

namespace overlapack::algorithms {

template <class T>
void potrs(Device& device, const Options& options, Uplo uplo, HostView<const T> a, HostView<T> b,
           Index& committed) {
  const DeviceMatrix<T> factor(device, a.rows, a.cols), rhs(device, b.rows, b.cols);
  const DeviceView<T> A = factor.view(), B = rhs.view();
  const QueueLease queue(device);
  Transfer transfer(device, options.threads, committed);
  const Index all_of_a = transfer.add_upload(make_region<T>(a, A, part_of(uplo)));
  const Index all_of_b = transfer.add_upload(make_region<T>(b, B));
  const Index solution = transfer.add_download(make_region<T>(b, B));
  transfer.start();

  const Triangle<T> triangle{{uplo}, device.kernels<T>()};
  transfer.before(*queue, all_of_a);
  transfer.before(*queue, all_of_b);
  for (const Op op : {triangle.direct(), triangle.adjoint()}) {  // L, then L^H
    triangle.kernels.trsm(*queue, Side::left, uplo, op, Diag::non_unit, T(1), A, B);
  }
  transfer.release(*queue, solution);
  transfer.finish();
}

template <class T>
void getrs(Device& device, const Options& options, Op op, HostView<const T> a,
           const std::vector<Index>& pivots, HostView<T> b, Index& committed) {
  const Index n = a.rows;
  const DeviceMatrix<T> factors(device, n, n), rhs(device, n, b.cols);
  const DeviceView<T> A = factors.view(), B = rhs.view();
  const Buffer<Index> interchanges(device, Space::device, n), staged(device, Space::host, n);
  std::copy(pivots.begin(), pivots.end(), staged.data());
  const QueueLease queue(device);
  Transfer transfer(device, options.threads, committed);
  const Index all_of_a = transfer.add_upload(make_region<T>(a, A));
  const Index all_of_b = transfer.add_upload(make_region<T>(b, B));
  const Index solution = transfer.add_download(make_region<T>(b, B));
  transfer.start();

  Kernels<T>& kernels = device.kernels<T>();
  const DeviceView<Index> p(interchanges.data(), n);
  queue->copy<Index>(p, HostView<const Index>(staged.data(), n));
  transfer.before(*queue, all_of_a);
  transfer.before(*queue, all_of_b);
  if (op == Op::none) {  // A = P^T L U
    kernels.swap_rows(*queue, B, p, 0);
    kernels.trsm(*queue, Side::left, Uplo::lower, op, Diag::unit, T(1), A, B);
    kernels.trsm(*queue, Side::left, Uplo::upper, op, Diag::non_unit, T(1), A, B);
  } else {
    kernels.trsm(*queue, Side::left, Uplo::upper, op, Diag::non_unit, T(1), A, B);
    kernels.trsm(*queue, Side::left, Uplo::lower, op, Diag::unit, T(1), A, B);
    kernels.swap_rows(*queue, B, p, 0, false);
  }
  transfer.release(*queue, solution);
  transfer.finish();
}

#define OVERLAPACK_INSTANTIATE(T)                                                                \
  template void potrs<T>(Device&, const Options&, Uplo, HostView<const T>, HostView<T>, Index&); \
  template void getrs<T>(Device&, const Options&, Op, HostView<const T>,                         \
                         const std::vector<Index>&, HostView<T>, Index&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
