// A step of LU by rows for triangles of any order, made of what one kernel takes.
#include <algorithm>
#include <limits>

#include "device/cuda/fused/fused.hpp"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

/// The kernel for block `i` of the triangle.
template <class T>
void solve_block(CudaQueue& queue, const InterchangeAndSolveByRows<T>& op, Range i,
                 const Index* inverse, const Index* pivots) {
  interchange_and_solve_by_rows<T>(
      queue.stream(), Uplo::lower, Diag::unit, op.l.block(i.first, i.first, i.size(), i.size()),
      inverse, pivots, op.offset, op.a.block(0, i.first, op.a.rows, op.a.cols - i.first));
}

/// X1 := X1 L11^-H by products with inverses, X2 := X2 - X1 L21^H, block by block.
template <class T>
void solve_by_inverses(CudaQueue& queue, const InterchangeAndSolveByRows<T>& op) {
  constexpr Index kOrder = FindInverses<T>::kOrder;
  const Index n = op.l.rows;
  for (Index i = 0; i < n; i += kOrder) {
    const Range block = {i, std::min(i + kOrder, n)}, rest = {block.last, n}, all = {0, op.a.rows};
    solve_block(queue, op, block, op.inverses.data + elements_of_inverses<T>(i), nullptr);
    if (rest.size() == 0) continue;
    launch(queue, Gemm<T>{Op::none, Op::conj_trans, T(-1), op.a.block(all, block),
                          op.l.block(rest, block), T(1), op.a.block(all, rest)});
  }
}

template <class T>
void enqueue(CudaQueue& queue, const InterchangeAndSolveByRows<T>& op) {
  constexpr Index kMaxColumns = std::numeric_limits<int>::max();
  const Index n = op.l.rows;
  const bool by_substitution = op.inverses.empty(), interchanges = !op.pivots.empty();
  const bool in_one_pass =
      by_substitution ? solves_by_rows_in_one_pass(n, op.a.rows) : n <= FindInverses<T>::kOrder;
  if (in_one_pass && op.a.cols <= kMaxColumns) {
    solve_block(queue, op, {0, n}, by_substitution ? nullptr : op.inverses.data,
                interchanges ? op.pivots.data : nullptr);
    return;
  }
  if (interchanges) launch(queue, SwapColumns<T>{op.a, op.pivots, op.offset});
  if (by_substitution) {
    launch(queue, Trsm<T>{Side::right, Uplo::lower, Op::conj_trans, Diag::unit, T(1), op.l,
                          op.a.block(0, 0, op.a.rows, n)});
  } else {
    solve_by_inverses(queue, op);
  }
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(InterchangeAndSolveByRows<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
