// The operations of panels.hpp as textbook loops around factorizations of the CPU; see blas.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/householder.hpp"
#include "cpu/reflectors.hpp"
#include "device/panels.hpp"
#include "device/reference/blas.hpp"

namespace overlapack::reference {

/// [A11; A21] = [L11; L21] L11^H, or its conjugate transpose. The notes are L11 and, behind it, its
/// order.
template <class T>
void on_cpu(const PotrfPanel<T>& op, const CpuPanels<T>& cpu) {
  const bool lower = op.uplo == Uplo::lower;
  const Index n = op.order(), below = op.below();
  const HostView<const T> a = here(op.a);
  const HostView<T> factor = here(op.factor);
  const auto rows_below = [&](auto x, Index width) {
    return lower ? x.block(n, 0, below, width) : x.block(0, n, width, below);
  };
  const HostView<T> l11 = factor.block(0, 0, n, n);
  lacpy<T>(a.block(0, 0, n, n), l11, part_of(op.uplo));
  lacpy<T>(rows_below(a, n), rows_below(factor, n));
  const Index failed = cpu.potrf(op.uplo, l11);
  Index& info = here(op.info)(0);
  if (failed != 0 && info == 0) info = op.offset + failed;
  if (!op.notes.empty()) {
    const HostView<T> notes = here(op.notes);
    lacpy<T>(l11, HostView<T>(notes.data, n, n, n), part_of(op.uplo));
    notes(notes.rows - 1) = T(static_cast<Real<T>>(n));
  }
  const Index good = failed == 0 ? n : failed - 1;
  trsm<T>(lower ? Side::right : Side::left, op.uplo, Op::conj_trans, Diag::non_unit, T(1),
          HostView<const T>(l11.block(0, 0, good, good)), rows_below(factor, good));
}

template <class T>
void on_cpu(const GetrfPanel<T>& op, const CpuPanels<T>& cpu) {
  const HostView<Index> pivots = here(op.pivots);
  Index& info = here(op.info)(0);
  const Index failed = cpu.getrf(here(op.a), pivots.data);
  for (Index j = 0; j < op.steps(); ++j) pivots(j) += op.offset;
  std::copy_n(pivots.data, op.steps(), here(op.staged_pivots).data);
  if (failed != 0 && info == 0) info = op.offset + failed;
}

template <class T>
void on_cpu(const GeqrfPanel<T>& op, const CpuPanels<T>& cpu) {
  const HostView<T> a = here(op.a), t = here(op.t);
  T* const tau = here(op.tau).data;
  cpu.geqrf(a, tau);
  reflectors_of<T>(a, here(op.v));
  for (Index j = 0; j < t.cols; ++j) {
    for (Index i = 0; i < t.rows; ++i) t(i, j) = i == j ? tau[j] : T(0);
  }
  block_reflector<T>(a, t);
}

/// The rotations that an update by one vector has made, of its reflectors: LINPACK's c and s.
template <class T>
void store_rotations(const std::vector<Real<T>>& t, const std::vector<T>& z,
                     HostView<Real<T>> cosines, HostView<T> sines) {
  for (Index j = 0; j < cosines.rows; ++j) {
    const Real<T> tj = t[static_cast<std::size_t>(j)];
    cosines(j) = (1 - tj) / tj;
    sines(j) = conj(z[static_cast<std::size_t>(j)]) / tj;
  }
}

/// Memory of a matrix.
template <class T>
class Workspace {
 public:
  Workspace(Index rows, Index cols)
      : memory_(static_cast<std::size_t>(rows * cols)), view_(memory_.data(), rows, cols, rows) {}
  const std::vector<T>& memory() const { return memory_; }
  HostView<T> view() const { return view_; }

 private:
  std::vector<T> memory_;
  HostView<T> view_;
};

/// By one reflector for each column and sign.
template <class T>
void on_cpu(const UpdatePanel<T>& op) {
  const Index m = op.rows(), n = op.columns(), k = op.vectors();
  const Workspace<T> l(m, n), v(m, k), z(k, n);
  std::vector<T> w(static_cast<std::size_t>(m));
  std::vector<Real<T>> t(static_cast<std::size_t>(n));
  load_columns<T>(op.uplo, here(op.a), l.view());
  lacpy<T>(here(op.v), v.view());
  Index good = n;
  for (const int sign : {1, -1}) {
    const HostView<T> x =
        sign > 0 ? v.view().block(0, 0, m, op.plus) : v.view().block(0, op.plus, m, k - op.plus);
    if (x.empty()) continue;
    const HostView<T> of_x(z.view().data, x.cols, n, x.cols);
    good = std::min(good, reflect<T>(sign, l.view(), x, of_x, t.data(), w.data()));
  }
  store_columns<T>(op.uplo, l.view(), here(op.factor));
  if (m > n) lacpy<T>(v.view().block(n, 0, m - n, k), here(op.rest));
  Index& info = here(op.info)(0);
  if (good < n && info == 0) info = op.offset + good + 1;
  if (!op.c.empty()) store_rotations(t, z.memory(), here(op.c), here(op.s));
}

}  // namespace overlapack::reference
