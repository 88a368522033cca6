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

/// y += A x for a Hermitian matrix of which the lower triangle is given.
template <class T>
void add_hermitian_product(HostView<const T> a, const T* x, T* y) {
  for (Index j = 0; j < a.cols; ++j) {
    y[j] += real(a(j, j)) * x[j];
    for (Index i = j + 1; i < a.rows; ++i) {
      y[i] += detail::multiply(a(i, j), x[j]);
      y[j] += detail::multiply(conj(a(i, j)), x[i]);
    }
  }
}

/// x -= V (W^H y) + W (V^H y).
template <class T>
void subtract_pairs(HostView<const T> v, HostView<const T> w, const T* y, T* x) {
  for (Index l = 0; l < v.cols; ++l) {
    const T of_w = detail::dot(v.rows, &w(0, l), y), of_v = detail::dot(v.rows, &v(0, l), y);
    detail::subtract_scaled(v.rows, of_w, &v(0, l), x);
    detail::subtract_scaled(v.rows, of_v, &w(0, l), x);
  }
}

/// Column by column: first what the reflectors before make of it, then its own one. With it comes
/// the column of W, for which all of A is needed, as it was.
template <class T>
void on_cpu(const SytrdPanel<T>& op) {
  const HostView<T> a = here(op.a), v = here(op.v), w = here(op.w), tau = here(op.tau);
  const HostView<Real<T>> d = here(op.d), e = here(op.e);
  for (Index j = 0; j < op.columns(); ++j) {
    const Index below = a.rows - j - 1;
    for (Index l = 0; l < std::min(j, op.steps()); ++l) {
      detail::subtract_scaled(below + 1, conj(w(j, l)), &v(j, l), &a(j, j));
      detail::subtract_scaled(below + 1, conj(v(j, l)), &w(j, l), &a(j, j));
    }
    d(j) = real(a(j, j));
    a(j, j) = T(d(j));
    if (j == op.steps()) return;
    T* const x = &a(j, j) + 1;
    tau(j) = make_householder(below - 1, *x, x + 1);
    e(j) = real(*x);
    for (Index i = 0; i < a.rows; ++i) {
      v(i, j) = i > j + 1 ? a(i, j) : T(i == j + 1);
      w(i, j) = T(0);
    }
    T *const vj = &v(j + 1, j), *const wj = &w(j + 1, j);
    add_hermitian_product<T>(a.block(j + 1, j + 1, below, below), vj, wj);
    subtract_pairs<T>(v.block(j + 1, 0, below, j), w.block(j + 1, 0, below, j), vj, wj);
    for (Index i = 0; i < below; ++i) wj[i] = detail::multiply(tau(j), wj[i]);
    const T half = tau(j) / Real<T>(2);
    const T back = detail::multiply(half, detail::dot(below, wj, vj));
    detail::subtract_scaled(below, back, vj, wj);
  }
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

/// As one panel of all columns.
template <class T>
void on_cpu(const Sytrd<T>& op) {
  const Index n = op.a.rows;
  const Workspace<T> v(n, n - 1), w(n, n - 1);
  const auto operand = [](HostView<T> x) { return DeviceView<T>(x.data, x.rows, x.cols, x.ld); };
  on_cpu(SytrdPanel<T>{op.a, operand(v.view()), operand(w.view()), op.d, op.e, op.tau, op.work});
}

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
