#include "algorithms/cholesky/on_cpu.hpp"

namespace overlapack::algorithms {

template <class T>
void finish_below(const cpu::Lapack<T>& cpu, Storage storage, HostView<T> a, const Piece& piece) {
  const Range i = piece.rows, j = piece.columns, k{0, j.first};
  const auto l = [&](Range rows, Range columns) { return storage.block(a, rows, columns); };
  if (i.empty()) return;
  if (!k.empty()) {
    const HostView<T> of_rows = l(i, k), of_columns = l(j, k);
    cpu.gemm(storage.direct(), storage.adjoint(), T(-1), storage.lower() ? of_rows : of_columns,
             storage.lower() ? of_columns : of_rows, T(1), l(i, j));
  }
  cpu.trsm(storage.lower() ? Side::right : Side::left, storage.uplo, Op::conj_trans, Diag::non_unit,
           T(1), l(j, j), l(i, j));
}

template <class T>
Index finish_from_diagonal(const cpu::Lapack<T>& cpu, Storage storage, HostView<T> a,
                           const Piece& piece) {
  const Range j = piece.columns, k{0, j.first};
  const HostView<T> diagonal = storage.block(a, j, j);
  if (!k.empty()) {
    cpu.herk(storage.uplo, storage.direct(), Real<T>(-1), storage.block(a, j, k), Real<T>(1),
             diagonal);
  }
  const Index info = cpu.potrf(storage.uplo, diagonal);
  if (info != 0) return j.first + info;
  finish_below(cpu, storage, a, {{j.last, piece.rows.last}, j});
  return 0;
}

#define OVERLAPACK_INSTANTIATE(T)                                                           \
  template void finish_below<T>(const cpu::Lapack<T>&, Storage, HostView<T>, const Piece&); \
  template Index finish_from_diagonal<T>(const cpu::Lapack<T>&, Storage, HostView<T>, const Piece&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
