#include "algorithms/inverse/inverse.hpp"

#include "algorithms/inverse/triangle_in_place.hpp"
#include "algorithms/shared/uploads.hpp"

namespace overlapack::algorithms {
namespace {

/// Sends a triangle up, calls compute(queue, triangle, before, after), and brings it home: by block
/// columns of a lower triangle, block rows of an upper one. A unit diagonal does not travel.
template <class T, class Compute>
void in_place(Device& device, const Options& options, Uplo uplo, Diag diag, HostView<T> a,
              Index& committed, Compute compute) {
  const Index n = a.rows, beside = diag == Diag::unit ? 1 : 0;
  const Storage storage{uplo};
  const std::vector<Range> blocks = partition(n, options.nb);
  const DeviceMatrix<T> matrix(device, n, n);
  const DeviceView<T> A = matrix.view();
  const TriangleInPlace<T> triangle(device, uplo, A, options.nb);
  const QueueLease queue(device, Priority::normal, "inverse");
  Transfer transfer(device, options.threads, committed);
  for (const Range& j : blocks) {
    const Range on = {j.first, n};
    const auto region = make_region<T>(storage.block(a, on, j), storage.block(A, on, j),
                                       part_of(uplo), storage.lower() ? beside : -beside);
    transfer.add_upload(region);
    // Some columns of a block row are of no use without the others.
    storage.lower() ? transfer.add_download(region) : transfer.add_whole_download(region);
  }
  transfer.start();
  triangle.prepare(*queue);
  Uploads uploads(transfer, *queue, blocks);
  Index released = 0;
  compute(
      *queue, triangle, [&](Range lines) { uploads.before(lines); },
      [&](Range lines) {
        for (; released < index_of(blocks, lines.last); ++released) {
          transfer.release(*queue, released);
        }
      });
  transfer.finish();
}

}  // namespace

template <class T>
Index trtri(Device& device, const Options& options, Uplo uplo, Diag diag, HostView<T> a,
            Index& committed) {
  if (diag == Diag::non_unit) {
    const Index zero = first_zero_on_diagonal<T>(device, a);
    if (zero > 0) return zero;
  }
  in_place(device, options, uplo, diag, a, committed,
           [&](Queue& queue, const TriangleInPlace<T>& triangle, auto before, auto after) {
             triangle.invert(queue, diag, before);
             after({0, a.rows});
           });
  return 0;
}

template <class T>
void lauum(Device& device, const Options& options, Uplo uplo, HostView<T> a, Index& committed) {
  in_place(device, options, uplo, Diag::non_unit, a, committed,
           [&](Queue& queue, const TriangleInPlace<T>& triangle, auto before, auto after) {
             before({0, a.rows});
             triangle.multiply_by_adjoint(queue, after);
           });
}

template <class T>
Index potri(Device& device, const Options& options, Uplo uplo, HostView<T> a, Index& committed) {
  const Index zero = first_zero_on_diagonal<T>(device, a);
  if (zero > 0) return zero;
  in_place(device, options, uplo, Diag::non_unit, a, committed,
           [&](Queue& queue, const TriangleInPlace<T>& triangle, auto before, auto after) {
             triangle.invert(queue, Diag::non_unit, before);
             triangle.multiply_by_adjoint(queue, after);
           });
  return 0;
}

Index final_lines(const Options& options, Uplo uplo, Index n, Index committed) {
  if (uplo == Uplo::lower) return committed;
  Index rows = 0;  // of block rows, which come home as a whole
  for (const Range& block : partition(n, options.nb)) {
    if (committed < n - block.first) break;
    committed -= n - block.first;
    rows = block.last;
  }
  return rows;
}

template <class T>
std::size_t triangle_in_place_bytes(const Options& options, Index n) {
  return DeviceMatrix<T>::bytes(n, n) + TriangleInPlace<T>::bytes(n, options.nb);
}

#define OVERLAPACK_INSTANTIATE(T)                                                    \
  template Index trtri<T>(Device&, const Options&, Uplo, Diag, HostView<T>, Index&); \
  template void lauum<T>(Device&, const Options&, Uplo, HostView<T>, Index&);        \
  template Index potri<T>(Device&, const Options&, Uplo, HostView<T>, Index&);       \
  template std::size_t triangle_in_place_bytes<T>(const Options&, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
