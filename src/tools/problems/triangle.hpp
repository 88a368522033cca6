// Products with triangles, by which results are checked.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "host/workers.hpp"

namespace overlapack::tools {

/// Calls work(begin, end) for parts of 0, 1, ..., count - 1, on all cores.
template <class Work>
void in_parallel(Index count, const Work& work) {
  const Index parts = std::min(available_cores(), quotient_up(count, 64));
  share_out(parts, parts, [&](Index p) { work(count * p / parts, count * (p + 1) / parts); });
}

/// op(A) x, where A is the `uplo` part (trapezoid) of a view and has ones on its diagonal if `diag`
/// says so.
template <class T, class Wide>
std::vector<Wide> triangle_times(Uplo uplo, Op op, Diag diag, HostView<const T> a,
                                 const std::vector<Wide>& x) {
  std::vector<Wide> y(static_cast<std::size_t>(op == Op::none ? a.rows : a.cols));
  std::mutex mutex;
  in_parallel(a.cols, [&](Index begin, Index end) {
    std::vector<Wide> sum(op == Op::none ? y.size() : 0);
    for (Index j = begin; j < end; ++j) {
      const Index on = std::min(j, a.rows);  // rows above the diagonal
      const Index first = uplo == Uplo::lower ? on + (diag == Diag::unit) : 0;
      const Index last = uplo == Uplo::lower ? a.rows : on + (diag == Diag::non_unit && j < a.rows);
      const bool one = diag == Diag::unit && j < a.rows;
      const T* const column = &a(0, j);
      if (op == Op::none) {
        const Wide xj = x[static_cast<std::size_t>(j)];
        for (Index i = first; i < last; ++i)
          sum[static_cast<std::size_t>(i)] += Wide(column[i]) * xj;
        if (one) sum[static_cast<std::size_t>(j)] += xj;
      } else {
        Wide dot = one ? x[static_cast<std::size_t>(j)] : Wide(0);
        for (Index i = first; i < last; ++i) {
          const T aij = op == Op::trans ? column[i] : conj(column[i]);
          dot += Wide(aij) * x[static_cast<std::size_t>(i)];
        }
        y[static_cast<std::size_t>(j)] = dot;  // columns belong to one thread each
      }
    }
    std::lock_guard<std::mutex> lock(mutex);
    for (std::size_t i = 0; i < sum.size(); ++i) y[i] += sum[i];
  });
  return y;
}

}  // namespace overlapack::tools
