// What the CPU does of gesv() when the device has failed.
#include <algorithm>
#include <vector>

#include "algorithms/lu/lu.hpp"
#include "cpu/reference.hpp"

namespace overlapack::algorithms {

template <class T>
Index resume_gesv(const cpu::Lapack<T>& cpu, HostView<T> a, Interchanges& interchanges,
                  HostView<T> b, Index committed) {
  std::vector<Index>& pivots = interchanges.pivots;
  const Index m = a.rows, n = a.cols, p = std::min(m, n);
  const Index c = std::min(committed, n);  // columns of A that came home
  const Index k = std::min(c, p);          // of them, those with a pivot
  const Index solved = committed - c;
  const auto column_block = [&](Index first, Index last) {
    return a.block(0, first, m, last - first);
  };

  // Bring the columns that came home to the state after k columns: those of a panel of which only a
  // part came home have seen interchanges beyond k, others not all before k.
  for (Index j = 0; j < k; ++j) {
    const Index seen = interchanges.seen[at(j)];
    reference::laswp(column_block(j, j + 1), k, seen, pivots.data(), false);
    reference::laswp(column_block(j, j + 1), seen, k, pivots.data(), true);
  }
  Index info = 0;
  for (Index j = k; j > 0; --j) {
    if (a(j - 1, j - 1) == T(0)) info = j;
  }

  if (c < n) {
    const HostView<T> rest = column_block(c, n);
    const HostView<T> u12 = rest.block(0, 0, k, n - c);
    reference::laswp(rest, 0, k, pivots.data(), true);
    cpu.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), a.block(0, 0, k, k), u12);
    if (k < p) {
      const HostView<T> a22 = rest.block(k, 0, m - k, n - c);
      cpu.gemm(Op::none, Op::none, T(-1), a.block(k, 0, m - k, k), u12, T(1), a22);
      const Index failed = cpu.getrf(a22, cpu::Pivots(pivots.data() + k));
      if (info == 0 && failed != 0) info = k + failed;
      for (Index j = k; j < p; ++j) pivots[at(j)] += k;
      reference::laswp(column_block(0, k), k, p, pivots.data(), true);
    }
  }
  if (info == 0 && solved < b.cols) {
    cpu.getrs(Op::none, a, cpu::Pivots(pivots.data()), b.block(0, solved, n, b.cols - solved));
  }
  return info;
}

#define OVERLAPACK_INSTANTIATE(T)                                                               \
  template Index resume_gesv<T>(const cpu::Lapack<T>&, HostView<T>, Interchanges&, HostView<T>, \
                                Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
