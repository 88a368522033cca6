// A X = I for X from the factors of A, which are on the device: L Y = I, then U X = Y. Each column
// is as accurate as it is by substitution. Y is a triangle until its columns are interchanged,
// which is done where they are stored in the end.
#include <numeric>
#include <utility>

#include "algorithms/inverse/inverse.hpp"
#include "algorithms/inverse/triangle_in_place.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// The rows of A in the order in which P A has them: column j of L^-1 is column rows[j] of L^-1 P.
std::vector<Index> rows_in_order(const std::vector<Index>& pivots) {
  std::vector<Index> rows(pivots.size());
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t j = 0; j < pivots.size(); ++j) std::swap(rows[j], rows[at(pivots[j] - 1)]);
  return rows;
}

}  // namespace

template <class T>
void solve_unit(Device& device, const Options& options, DeviceView<const T> factors,
                const std::vector<Index>& pivots, HostView<T> x) {
  const Index n = x.rows;
  const Range all = {0, n};
  const std::vector<Range> blocks = partition(n, options.nb);
  const std::vector<Index> places = rows_in_order(pivots);
  const DeviceMatrix<T> matrix(device, n, n);
  const DeviceView<T> X = matrix.view();
  const TriangleInPlace<T> l(device, Uplo::lower, X, options.nb);
  const QueueLease queue(device, Priority::normal, "inverse");
  Index committed = 0;  // nobody can go on from there
  Transfer transfer(device, options.threads, committed);
  for (std::size_t b = blocks.size(); b > 0; --b) {
    Region home = make_region<T>(x.block(blocks[b - 1], all), X.block(blocks[b - 1], all));
    home.places = places.data();
    transfer.add_download(home);
  }
  transfer.start();

  queue->zero(X.data, sizeof(T) * at(X.ld * X.cols));
  queue->copy<T>(X, factors, Part::lower);
  l.prepare(*queue);
  l.invert(*queue, Diag::unit, [](Range) {});
  for (std::size_t b = blocks.size(); b > 0; --b) {
    const Range k = blocks[b - 1], below = {k.last, n};
    const DeviceView<T> rows = X.block(k, all);
    queue->enqueue(Gemm<T>{Op::none, Op::none, T(-1), factors.block(k, below), X.block(below, all),
                           T(1), rows});
    queue->enqueue(Trsm<T>{Side::left, Uplo::upper, Op::none, Diag::non_unit, T(1),
                           factors.block(k, k), rows});
    transfer.release(*queue, static_cast<Index>(blocks.size() - b));
  }
  transfer.finish();
}

#define OVERLAPACK_INSTANTIATE(T)                                           \
  template void solve_unit<T>(Device&, const Options&, DeviceView<const T>, \
                              const std::vector<Index>&, HostView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
