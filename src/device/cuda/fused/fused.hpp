// What the files of fused operations tell others: sizes of work space, which are those of their
// kernels, and what several operations are made of.
#pragma once

#include <cuda_runtime_api.h>

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::cuda {

/// See Fused: the functions of the same names.
template <class T>
Index hemv_work(Index n);
template <class T>
Index factor_progress(Index blocks, Index columns);
template <class T>
Index elements_of_inverses(Index n);
template <class T>
Index substitution_links(Index n);
template <class T>
Index substitution_progress(Index n, Index columns);

/// Limits::permutable_rows where a thread block may have so much shared memory, in which a column
/// must fit.
template <class T>
Index permutable_rows(Index shared_bytes);

/// The thread blocks of a cluster of LuStep for such shapes; 0 if it cannot do them.
template <class T>
int lu_step_cluster(Index rows, Index order, Index columns, Index shared_bytes);

/// Largest order of the triangle of interchange_and_solve_by_rows().
Index interchange_and_solve_by_rows_order();
/// Whether `rows` rows are solved for by one kernel: many take as long in several, in which they
/// need fewer multiprocessors at a time.
inline bool solves_by_rows_in_one_pass(Index order, Index rows) {
  constexpr Index kMaxRowsInOnePass = 4096;
  return rows <= kMaxRowsInOnePass && order <= interchange_and_solve_by_rows_order();
}
/// InterchangeAndSolveByRows with one triangle, for fewer than 2^31 columns of `a`, where L is `l`
/// (lower) or its conjugate transpose (upper). `inverse` may be null: then it is substitution; and
/// `pivots`, too: then there are no interchanges.
template <class T>
void interchange_and_solve_by_rows(cudaStream_t stream, Uplo uplo, Diag diag, DeviceView<const T> l,
                                   const void* inverse, const Index* pivots, Index offset,
                                   DeviceView<T> a);

}  // namespace overlapack::cuda
