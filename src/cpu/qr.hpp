// QR and LQ factorizations by the CPU LAPACK, or by textbook loops where no library has the
// routine: ?geqrf, ?gelqf; their Q as a matrix, ?orgqr, ?orglq (?ungqr, ?unglq of complex numbers),
// and times another one, ?ormqr, ?ormlq (?unmqr, ?unmlq); ?geqrt, ?gemqrt; and ?gels.
//
// A LAPACK's own drivers call these by their names, and look at no `info`: ?gesvd, ?gels, ?geev.
// So nothing here may need memory. The CPU LAPACK gets the caller's workspace, and the loops need
// no other.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/calling.hpp"
#include "cpu/householder.hpp"
#include "cpu/lapack.hpp"
#include "cpu/reference.hpp"
#include "cpu/trtrs.hpp"
#include "cpu/workspace.hpp"

namespace overlapack::cpu {

namespace textbook {

/// A matrix, or the adjoint of one, element by element.
template <class T>
struct Elements {
  using Value = std::remove_const_t<T>;
  HostView<T> a;
  bool adjoint = false;

  Index rows() const { return adjoint ? a.cols : a.rows; }
  Index cols() const { return adjoint ? a.rows : a.cols; }
  Value get(Index i, Index j) const { return adjoint ? conj(Value(a(j, i))) : a(i, j); }
  void set(Index i, Index j, Value x) const {
    (adjoint ? a(j, i) : a(i, j)) = adjoint ? conj(x) : x;
  }
};

/// Of column j from the diagonal down, x, the reflector H = I - tau v v^H that makes a multiple
/// beta e1 of it, H^H x. In place of x there are beta and v then, without the 1 that v begins with.
/// Returns tau.
template <class T>
T make_reflector(const Elements<T>& e, Index j) {
  const Index stride = e.adjoint ? e.a.ld : 1;
  T* const alpha = &e.a(j, j);
  const T tau = reference::make_householder(e.rows() - j - 1, *alpha, alpha + stride, stride);
  return e.adjoint ? conj(tau) : tau;
}

/// (I - tau v v^H) C for some columns of C, where v is column j of `reflectors`.
template <class T, class V>
void reflect(const Elements<V>& reflectors, Index j, T tau, const Elements<T>& c, Range columns) {
  if (tau == T(0)) return;
  for (Index l = columns.first; l < columns.last; ++l) {
    T sum = c.get(j, l);
    for (Index i = j + 1; i < c.rows(); ++i) sum += conj(reflectors.get(i, j)) * c.get(i, l);
    sum *= tau;
    c.set(j, l, c.get(j, l) - sum);
    for (Index i = j + 1; i < c.rows(); ++i) {
      c.set(i, l, c.get(i, l) - reflectors.get(i, j) * sum);
    }
  }
}

/// A = Q R, where Q is the product of reflectors, the first one on the left. take(j, tau) is told
/// of each.
template <class T, class Take>
void geqrf(const Elements<T>& a, Take take) {
  for (Index j = 0; j < std::min(a.rows(), a.cols()); ++j) {
    const T tau = make_reflector(a, j);
    reflect(a, j, conj(tau), a, {j + 1, a.cols()});
    take(j, tau);
  }
}

/// The first columns of Q in place of `count` reflectors, from the last one on.
template <class T>
void orgqr(const Elements<T>& a, Index count, const T* tau) {
  for (Index j = count; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) a.set(i, j, T(i == j));
  }
  for (Index j = count - 1; j >= 0; --j) {
    reflect(a, j, tau[j], a, {j + 1, a.cols()});
    for (Index i = 0; i < j; ++i) a.set(i, j, T(0));
    a.set(j, j, T(1) - tau[j]);
    for (Index i = j + 1; i < a.rows(); ++i) a.set(i, j, -tau[j] * a.get(i, j));
  }
}

/// C := op(Q) C for the Q of `count` reflectors, each with tau(j).
template <class T, class Tau>
void ormqr(Op op, const Elements<const T>& reflectors, Index count, Tau tau, const Elements<T>& c) {
  const bool direct = op == Op::none;
  for (Index k = 0; k < count; ++k) {
    const Index j = direct ? count - 1 - k : k;
    reflect(reflectors, j, direct ? tau(j) : conj(tau(j)), c, {0, c.cols()});
  }
}

inline Op adjoint_of(Op op) { return op == Op::none ? Op::conj_trans : Op::none; }

/// C := op(Q) C, or C op(Q), which is the adjoint of op(Q)^H C^H. In A = L Q, Q is the adjoint of
/// the product of reflectors.
template <class T, class Tau>
void multiply(Reflectors kind, Side side, Op op, HostView<const T> a, Index count, Tau tau,
              HostView<T> c) {
  const bool right = side == Side::right, rows = kind == Reflectors::rows;
  ormqr<T>(right == rows ? op : adjoint_of(op), {a, rows}, count, tau, {c, right});
}

template <class T>
void clear(HostView<T> a) {
  for (Index j = 0; j < a.cols; ++j) std::fill_n(a.data + j * a.ld, a.rows, T(0));
}

/// The triangles of blocks of t.rows reflectors side by side, whose diagonals, tau, are there.
template <class T>
void make_triangles(HostView<const T> a, HostView<T> t) {
  for (Index first = 0; first < t.cols; first += t.rows) {
    const Index width = std::min(t.rows, t.cols - first);
    reference::block_reflector<T>(a.block(first, first, a.rows - first, width),
                                  t.block(0, first, width, width));
  }
}

/// ?geqrf with these triangles.
template <class T>
void geqrt(HostView<T> a, HostView<T> t) {
  geqrf<T>({a}, [&](Index j, T tau) { t(j % t.rows, j) = tau; });
  make_triangles<T>(a, t);
}

/// Least squares and solutions of least norm, by A = Q R or, with fewer rows than columns, A = L Q.
/// `tau` has room for the factors. Returns 0, or k if the triangle's k-th diagonal element is the
/// first that is zero.
template <class T>
Index gels(const Lapack<T>& lapack, Op op, HostView<T> a, HostView<T> b, T* tau) {
  const bool rows = a.rows < a.cols;
  const Reflectors kind = rows ? Reflectors::rows : Reflectors::columns;
  const Index count = std::min(a.rows, a.cols);
  if (reference::norm<T>(Norm::max, Symmetry::none, {}, a, nullptr) == 0) {
    clear(b);
    return 0;
  }
  geqrf<T>({a, rows}, [&](Index j, T factor) { tau[j] = factor; });
  for (Index k = 0; k < count; ++k) {
    if (a(k, k) == T(0)) return k + 1;
  }
  const bool tall = rows == (op != Op::none);  // op(A) has at least as many rows as columns
  const auto multiply_by_q = [&] {
    const Op op_of_q = tall == rows ? Op::none : Op::conj_trans;
    multiply<T>(
        kind, Side::left, op_of_q, a, count, [&](Index j) { return tau[j]; }, b);
  };
  if (tall) multiply_by_q();
  lapack.trsm(Side::left, rows ? Uplo::lower : Uplo::upper, op, Diag::non_unit, T(1),
              a.block(0, 0, count, count), b.block(0, 0, count, b.cols));
  if (!tall) {
    clear(b.block(count, 0, b.rows - count, b.cols));
    multiply_by_q();
  }
  return 0;
}

}  // namespace textbook

// Of each of these the arguments are valid, and info is LAPACK's. The first element of a workspace
// with a size becomes the size that is wanted; a query does nothing else.

/// ?geqrf, or ?gelqf.
template <class T>
Index geqrf(const Lapack<T>& lapack, Reflectors kind, HostView<T> a, T* tau, Workspace<T> work) {
  Index result = 0;
  const bool rows = kind == Reflectors::rows;
  constexpr std::size_t kOf[] = {row_of("geqrf"), row_of("gelqf")};
  const bool done = call(lapack, kOf[rows], {a.rows, a.cols, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), lda = narrow<I>(a.ld);
    const I lwork = narrow_size<I>(work);
    I info = 0;
    as<typename Signature<T, I>::geqrf>(f)(&m, &n, a.data, &lda, tau, work.data, &lwork, &info);
    result = info;
  });
  if (!done && !work.is_query()) {
    textbook::geqrf<T>({a, rows}, [&](Index j, T factor) { tau[j] = factor; });
  }
  see_to_size(work, std::max<Index>(rows ? a.rows : a.cols, 1), done);
  return result;
}

/// ?orgqr, or ?orglq; of complex numbers ?ungqr, or ?unglq.
template <class T>
Index orgqr(const Lapack<T>& lapack, Reflectors kind, HostView<T> a, Index count, const T* tau,
            Workspace<T> work) {
  Index result = 0;
  const bool rows = kind == Reflectors::rows;
  constexpr std::size_t kOf[] = {row_of(is_complex<T> ? "ungqr" : "orgqr"),
                                 row_of(is_complex<T> ? "unglq" : "orglq")};
  const bool done = call(lapack, kOf[rows], {a.rows, a.cols, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), k = narrow<I>(count);
    const I lda = narrow<I>(a.ld), lwork = narrow_size<I>(work);
    I info = 0;
    as<typename Signature<T, I>::orgqr>(f)(&m, &n, &k, a.data, &lda, tau, work.data, &lwork, &info);
    result = info;
  });
  if (!done && !work.is_query()) textbook::orgqr<T>({a, rows}, count, tau);
  see_to_size(work, std::max<Index>(rows ? a.rows : a.cols, 1), done);
  return result;
}

/// The rest of ?orgtr, or ?ungtr, of a lower triangle: the last `committed` > 0 columns are there,
/// and the others as given.
template <class T>
void finish_orgtr(const Lapack<T>& lapack, HostView<T> a, const T* tau, Index committed,
                  Workspace<T> work) {
  const Index n = a.rows, left = n - committed;
  if (left == 0) return;
  // Vectors of reflectors, with the 1 that they begin with below the diagonal, move to the right.
  for (Index j = left - 1; j > 0; --j) {
    std::copy_n(&a(0, j - 1) + j + 1, n - j - 1, &a(0, j) + j + 1);
  }
  if (left > 1) {
    orgqr(lapack, Reflectors::columns, a.block(1, 1, n - 1, left - 1), left - 1, tau, work);
  }
  for (Index j = 0; j < left; ++j) a(0, j) = T(j == 0);
  std::fill_n(&a(0, 0) + 1, n - 1, T(0));
}

/// ?ormqr, or ?ormlq; of complex numbers ?unmqr, or ?unmlq: C := op(Q) C or C op(Q), where `a` has
/// the reflectors that Q is made of, and no other columns or rows. `op` is not Op::trans.
template <class T>
Index ormqr(const Lapack<T>& lapack, Reflectors kind, Side side, Op op, HostView<const T> a,
            const T* tau, HostView<T> c, Workspace<T> work) {
  Index result = 0;
  const bool rows = kind == Reflectors::rows;
  const Index count = rows ? a.rows : a.cols;
  constexpr std::size_t kOf[] = {row_of(is_complex<T> ? "unmqr" : "ormqr"),
                                 row_of(is_complex<T> ? "unmlq" : "ormlq")};
  const bool done =
      call(lapack, kOf[rows], {count, a.ld, c.rows, c.cols, c.ld}, [&](auto width, void* f) {
        using I = decltype(width);
        const char s = static_cast<char>(side), t = character<T>(op);
        const I m = narrow<I>(c.rows), n = narrow<I>(c.cols), k = narrow<I>(count);
        const I lda = narrow<I>(a.ld), ldc = narrow<I>(c.ld), lwork = narrow_size<I>(work);
        I info = 0;
        as<typename Signature<T, I>::ormqr>(f)(&s, &t, &m, &n, &k, a.data, &lda, tau, c.data, &ldc,
                                               work.data, &lwork, &info, 1, 1);
        result = info;
      });
  if (!done && !work.is_query()) {
    textbook::multiply<T>(
        kind, side, op, a, count, [&](Index j) { return tau[j]; }, c);
  }
  see_to_size(work, std::max<Index>(side == Side::left ? c.cols : c.rows, 1), done);
  return result;
}

/// ?geqrt: T has as many rows as a block has columns, and a column for each reflector. `work` has
/// as many elements for each column of A.
template <class T>
Index geqrt(const Lapack<T>& lapack, HostView<T> a, HostView<T> t, T* work) {
  Index result = 0;
  constexpr std::size_t kRow = row_of("geqrt");
  const bool done = call(lapack, kRow, {a.rows, a.cols, a.ld, t.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), nb = narrow<I>(t.rows);
    const I lda = narrow<I>(a.ld), ldt = narrow<I>(t.ld);
    I info = 0;
    as<typename Signature<T, I>::geqrt>(f)(&m, &n, &nb, a.data, &lda, t.data, &ldt, work, &info);
    result = info;
  });
  if (!done) textbook::geqrt(a, t);
  return result;
}

/// ?gemqrt: as ?ormqr, with what ?geqrt has left. `work` has t.rows elements for each column of C,
/// or for each row, where Q is on the right.
template <class T>
Index gemqrt(const Lapack<T>& lapack, Side side, Op op, HostView<const T> v, HostView<const T> t,
             HostView<T> c, T* work) {
  Index result = 0;
  constexpr std::size_t kRow = row_of("gemqrt");
  const bool done =
      call(lapack, kRow, {v.cols, v.ld, t.ld, c.rows, c.cols, c.ld}, [&](auto width, void* f) {
        using I = decltype(width);
        const char s = static_cast<char>(side), o = character<T>(op);
        const I m = narrow<I>(c.rows), n = narrow<I>(c.cols), k = narrow<I>(v.cols);
        const I nb = narrow<I>(t.rows), ldv = narrow<I>(v.ld), ldt = narrow<I>(t.ld);
        const I ldc = narrow<I>(c.ld);
        I info = 0;
        as<typename Signature<T, I>::gemqrt>(f)(&s, &o, &m, &n, &k, &nb, v.data, &ldv, t.data, &ldt,
                                                c.data, &ldc, work, &info, 1, 1);
        result = info;
      });
  if (!done) {
    const auto tau = [&](Index j) { return t(j % t.rows, j); };
    textbook::multiply<T>(Reflectors::columns, side, op, v, v.cols, tau, c);
  }
  return result;
}

/// ?gels: B, of max(m, n) rows, becomes the solution of op(A) X = B in the sense of least squares,
/// or that of least norm. `op` is not Op::trans.
template <class T>
Index gels(const Lapack<T>& lapack, Op op, HostView<T> a, HostView<T> b, Workspace<T> work) {
  Index result = 0;
  constexpr std::size_t kRow = row_of("gels");
  const bool done =
      call(lapack, kRow, {a.rows, a.cols, a.ld, b.cols, b.ld}, [&](auto width, void* f) {
        using I = decltype(width);
        const char t = character<T>(op);
        const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), nrhs = narrow<I>(b.cols);
        const I lda = narrow<I>(a.ld), ldb = narrow<I>(b.ld), lwork = narrow_size<I>(work);
        I info = 0;
        as<typename Signature<T, I>::gels>(f)(&t, &m, &n, &nrhs, a.data, &lda, b.data, &ldb,
                                              work.data, &lwork, &info, 1);
        result = info;
      });
  if (!done && !work.is_query()) result = textbook::gels(lapack, op, a, b, work.data);
  const Index count = std::min(a.rows, a.cols);
  see_to_size(work, std::max<Index>(count + std::max(count, b.cols), 1), done);
  return result;
}

/// What is left of ?geqrf when the first `done` columns, and their part of tau, are final, and all
/// others are as they were. Of ?gelqf it is rows.
template <class T>
Index finish_geqrf(const Lapack<T>& lapack, Reflectors kind, HostView<T> a, T* tau, Index done,
                   Workspace<T> work) {
  const bool rows = kind == Reflectors::rows;
  const Index reflectors = std::min({done, a.rows, a.cols});
  const HostView<T> rest =
      rows ? a.block(done, 0, a.rows - done, a.cols) : a.block(0, done, a.rows, a.cols - done);
  if (reflectors > 0 && !rest.empty()) {
    const HostView<T> given =
        rows ? a.block(0, 0, reflectors, a.cols) : a.block(0, 0, a.rows, reflectors);
    ormqr<T>(lapack, kind, rows ? Side::right : Side::left, Op::conj_trans, given, tau, rest, work);
  }
  if (done < std::min(a.rows, a.cols)) {
    geqrf(lapack, kind, a.block(done, done, a.rows - done, a.cols - done), tau + done, work);
  }
  return geqrf(lapack, kind, a, tau, Workspace<T>{work.data, Workspace<T>::kQuery});
}

/// What is left of ?geqrt when the first `done` columns of A are final, with their part of tau at
/// the beginning of the workspace, and all others are as they were. Nothing of T need be there.
template <class T>
void finish_geqrt(const Lapack<T>& lapack, HostView<T> a, HostView<T> t, Index done, T* work) {
  const Index count = t.cols, nb = t.rows, given = std::min(done, count);
  const Index border = std::min(round_up(given, nb), count);  // the end of a block begun
  const auto reflect = [&](Range reflectors, HostView<const T> triangles) {
    const Range on = {reflectors.first, a.rows};
    const HostView<T> rest = a.block(on, {std::max(reflectors.last, done), a.cols});
    if (reflectors.empty() || rest.empty()) return;
    gemqrt<T>(lapack, Side::left, Op::conj_trans, a.block(on, reflectors), triangles, rest, work);
  };
  const HostView<T> made = t.block(0, 0, std::min(nb, given), given);
  for (Index j = 0; j < given; ++j) t(j % nb, j) = work[j];
  textbook::make_triangles<T>(a, made);
  reflect({0, given}, made);
  if (given < border) {
    const Index first = given / nb * nb, left = border - given;
    const HostView<T> own = t.block(given - first, given, left, left);
    geqrt(lapack, a.block(given, given, a.rows - given, left), own, work);
    textbook::make_triangles<T>(a.block(first, first, a.rows - first, border - first),
                                t.block(0, first, border - first, border - first));
    reflect({given, border}, own);
  }
  if (border < count) {
    geqrt(lapack, a.block(border, border, a.rows - border, a.cols - border),
          t.block(0, border, std::min(nb, count - border), count - border), work);
  }
}

/// The largest moduli of A, and of B, with which ?gels does not scale them.
template <class R>
struct UnscaledRange {
  static constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  static constexpr R largest = 1 / least;
};

/// The first `count` columns as they were before ?geqrf, to rounding, from the last one on.
template <class T>
void undo_geqrf(const Lapack<T>& lapack, HostView<T> a, const T* tau, Index count,
                Workspace<T> work) {
  for (Index j = count - 1; j >= 0; --j) {
    const T factor = -tau[j] * a(j, j);
    a(j, j) += factor;
    for (Index i = j + 1; i < a.rows; ++i) a(i, j) *= factor;
    if (j == 0) continue;
    ormqr<T>(lapack, Reflectors::columns, Side::left, Op::none, a.block(0, 0, a.rows, j), tau,
             a.column(j), work);
  }
}

/// What is left of ?gels for an A with at least as many rows as columns, when the first `done`
/// columns of [A B] are final, and all others are as they were. Of columns of A the factors tau
/// stand in the workspace, where LAPACK has them.
template <class T>
Index finish_gels(const Lapack<T>& lapack, Op op, HostView<T> a, HostView<T> b, Index done,
                  Workspace<T> work) {
  using R = Real<T>;
  const Index n = a.cols, factored = std::min(done, n), solved = done - factored;
  T* const tau = work.data;
  const Workspace<T> behind{work.data + n, work.size - n};
  const HostView<T> missing = a.block(0, factored, a.rows, n - factored);
  const auto must_be_scaled = [&] {
    const R largest = lapack.norm(Norm::max, Symmetry::none, {}, missing, nullptr);
    return std::isgreater(largest, UnscaledRange<R>::largest);
  };
  if (factored == 0 || (factored < n && must_be_scaled())) {
    undo_geqrf(lapack, a, tau, factored, behind);
    return gels(lapack, op, a, b, work);
  }
  if (factored < n) finish_geqrf(lapack, Reflectors::columns, a, tau, factored, behind);
  const HostView<T> rest = b.block(0, solved, b.rows, b.cols - solved);
  const auto multiply = [&](Op op_of_q) {
    if (rest.empty()) return;
    ormqr<T>(lapack, Reflectors::columns, Side::left, op_of_q, a, tau, rest, behind);
  };
  if (op == Op::none) multiply(Op::conj_trans);
  const Index info = trtrs<T>(lapack, Uplo::upper, op, Diag::non_unit, a.block(0, 0, n, n),
                              rest.block(0, 0, n, rest.cols));
  if (info == 0 && op != Op::none) {
    textbook::clear(rest.block(n, 0, rest.rows - n, rest.cols));
    multiply(Op::none);
  }
  gels(lapack, op, a, b, Workspace<T>{work.data, Workspace<T>::kQuery});
  return info;
}

}  // namespace overlapack::cpu
