// QR and LQ factorizations (?geqrf, ?gelqf, ?geqrt), their Q as a matrix (?orgqr, ?orglq and the
// complex ?ungqr, ?unglq) and times another one (?ormqr, ?ormlq, ?unmqr, ?unmlq, ?gemqrt), and
// least squares by them (?gels): from Fortran arguments to views.
#pragma once

#include <algorithm>

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

using cpu::Reflectors;

/// Whether a workspace has at least `least` elements, or is only to be asked for.
template <class I>
bool is_work(I lwork, I least) {
  return lwork == -1 || lwork >= least;
}

/// Where there is nothing to do. What the answer to a query is, the CPU LAPACK says all the same.
template <class T, class I>
bool is_nothing(I lwork, I size, T* work) {
  if (lwork == -1 || size > 0) return false;
  *work = T(1);
  return true;
}

inline bool is_side(char c) { return same_letter(c, 'L') || same_letter(c, 'R'); }
inline Side to_side(char c) { return same_letter(c, 'L') ? Side::left : Side::right; }
/// Plain or adjoint. Of real numbers the latter is 'T', and of complex ones 'C'.
template <class T>
bool is_plain_or_adjoint(char c) {
  return same_letter(c, 'N') || same_letter(c, is_complex<T> ? 'C' : 'T');
}
inline Op to_adjoint(char c) { return same_letter(c, 'N') ? Op::none : Op::conj_trans; }

/// ?geqrf and ?gelqf.
template <class T, class I>
void factor(Reflectors kind, Caller caller, const I* m, const I* n, T* a, const I* lda, T* tau,
            T* work, const I* lwork, I* info) {
  // As in LAPACK since 3.10: where the other dimension is 0, any workspace will do.
  const bool rows = kind == Reflectors::rows;
  const I least = (rows ? *n : *m) > 0 ? at_least_one(rows ? *m : *n) : I(1);
  *info = static_cast<I>(-first_invalid(
      {{1, *m >= 0}, {2, *n >= 0}, {4, *lda >= at_least_one(*m)}, {7, is_work(*lwork, least)}}));
  if (*info != 0) return report<T>(caller, *info, m, n, a, lda, tau, work, lwork, info);
  if (is_nothing(*lwork, std::min(*m, *n), work)) return;
  *info = static_cast<I>(dispatch::geqrf<T>(caller.family, kind, HostView<T>(a, *m, *n, *lda), tau,
                                            cpu::Workspace<T>{work, *lwork}));
}

template <class T, class I>
void geqrf(Caller caller, const I* m, const I* n, T* a, const I* lda, T* tau, T* work,
           const I* lwork, I* info) {
  factor(Reflectors::columns, caller, m, n, a, lda, tau, work, lwork, info);
}

template <class T, class I>
void gelqf(Caller caller, const I* m, const I* n, T* a, const I* lda, T* tau, T* work,
           const I* lwork, I* info) {
  factor(Reflectors::rows, caller, m, n, a, lda, tau, work, lwork, info);
}

/// ?orgqr and ?orglq.
template <class T, class I>
void make_q(Reflectors kind, Caller caller, const I* m, const I* n, const I* k, T* a, const I* lda,
            const T* tau, T* work, const I* lwork, I* info) {
  const bool rows = kind == Reflectors::rows;
  const I width = rows ? *m : *n;  // columns, or rows, of Q
  *info = static_cast<I>(-first_invalid({{1, *m >= 0},
                                         {2, rows ? *n >= *m : *n >= 0 && *n <= *m},
                                         {3, *k >= 0 && *k <= width},
                                         {5, *lda >= at_least_one(*m)},
                                         {8, is_work(*lwork, at_least_one(width))}}));
  if (*info != 0) return report<T>(caller, *info, m, n, k, a, lda, tau, work, lwork, info);
  if (is_nothing(*lwork, width, work)) return;
  *info = static_cast<I>(dispatch::orgqr<T>(caller.family, kind, HostView<T>(a, *m, *n, *lda), *k,
                                            tau, cpu::Workspace<T>{work, *lwork}));
}

template <class T, class I>
void orgqr(Caller caller, const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau,
           T* work, const I* lwork, I* info) {
  make_q(Reflectors::columns, caller, m, n, k, a, lda, tau, work, lwork, info);
}

template <class T, class I>
void ungqr(Caller caller, const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau,
           T* work, const I* lwork, I* info) {
  make_q(Reflectors::columns, caller, m, n, k, a, lda, tau, work, lwork, info);
}

template <class T, class I>
void orglq(Caller caller, const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau,
           T* work, const I* lwork, I* info) {
  make_q(Reflectors::rows, caller, m, n, k, a, lda, tau, work, lwork, info);
}

template <class T, class I>
void unglq(Caller caller, const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau,
           T* work, const I* lwork, I* info) {
  make_q(Reflectors::rows, caller, m, n, k, a, lda, tau, work, lwork, info);
}

/// ?ormqr and ?ormlq.
template <class T, class I>
void multiply_by_q(Reflectors kind, Caller caller, const char* side, const char* trans, const I* m,
                   const I* n, const I* k, const T* a, const I* lda, const T* tau, T* c,
                   const I* ldc, T* work, const I* lwork, I* info) {
  const bool left = same_letter(*side, 'L'), rows = kind == Reflectors::rows;
  const I order = left ? *m : *n;  // that of Q
  const I rows_of_a = rows ? *k : order, cols_of_a = rows ? order : *k;
  *info = static_cast<I>(-first_invalid({{1, is_side(*side)},
                                         {2, is_plain_or_adjoint<T>(*trans)},
                                         {3, *m >= 0},
                                         {4, *n >= 0},
                                         {5, *k >= 0 && *k <= order},
                                         {7, *lda >= at_least_one(rows_of_a)},
                                         {10, *ldc >= at_least_one(*m)},
                                         {12, is_work(*lwork, at_least_one(left ? *n : *m))}}));
  if (*info != 0) {
    return report<T>(caller, *info, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info);
  }
  if (is_nothing(*lwork, std::min({*m, *n, *k}), work)) return;
  *info = static_cast<I>(dispatch::ormqr<T>(caller.family, kind, to_side(*side), to_adjoint(*trans),
                                            HostView<const T>(a, rows_of_a, cols_of_a, *lda), tau,
                                            HostView<T>(c, *m, *n, *ldc),
                                            cpu::Workspace<T>{work, *lwork}));
}

template <class T, class I>
void ormqr(Caller caller, const char* side, const char* trans, const I* m, const I* n, const I* k,
           const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work, const I* lwork,
           I* info) {
  multiply_by_q(Reflectors::columns, caller, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork,
                info);
}

template <class T, class I>
void unmqr(Caller caller, const char* side, const char* trans, const I* m, const I* n, const I* k,
           const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work, const I* lwork,
           I* info) {
  multiply_by_q(Reflectors::columns, caller, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork,
                info);
}

template <class T, class I>
void ormlq(Caller caller, const char* side, const char* trans, const I* m, const I* n, const I* k,
           const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work, const I* lwork,
           I* info) {
  multiply_by_q(Reflectors::rows, caller, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork,
                info);
}

template <class T, class I>
void unmlq(Caller caller, const char* side, const char* trans, const I* m, const I* n, const I* k,
           const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work, const I* lwork,
           I* info) {
  multiply_by_q(Reflectors::rows, caller, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork,
                info);
}

template <class T, class I>
void geqrt(Caller caller, const I* m, const I* n, const I* nb, T* a, const I* lda, T* t,
           const I* ldt, T* work, I* info) {
  const I count = std::min(*m, *n);
  *info = static_cast<I>(-first_invalid({{1, *m >= 0},
                                         {2, *n >= 0},
                                         {3, *nb >= 1 && (count <= 0 || *nb <= count)},
                                         {5, *lda >= at_least_one(*m)},
                                         {7, *ldt >= *nb}}));
  if (*info != 0) return report<T>(caller, *info, m, n, nb, a, lda, t, ldt, work, info);
  if (count == 0) return;
  *info = static_cast<I>(dispatch::geqrt<T>(caller.family, HostView<T>(a, *m, *n, *lda),
                                            HostView<T>(t, *nb, count, *ldt), work));
}

template <class T, class I>
void gemqrt(Caller caller, const char* side, const char* trans, const I* m, const I* n, const I* k,
            const I* nb, const T* v, const I* ldv, const T* t, const I* ldt, T* c, const I* ldc,
            T* work, I* info) {
  const I order = same_letter(*side, 'L') ? *m : *n;  // that of Q
  *info = static_cast<I>(-first_invalid({{1, is_side(*side)},
                                         {2, is_plain_or_adjoint<T>(*trans)},
                                         {3, *m >= 0},
                                         {4, *n >= 0},
                                         {5, *k >= 0 && *k <= order},
                                         {6, *nb >= 1 && (*k <= 0 || *nb <= *k)},
                                         {8, *ldv >= at_least_one(order)},
                                         {10, *ldt >= *nb},
                                         {12, *ldc >= at_least_one(*m)}}));
  if (*info != 0) {
    return report<T>(caller, *info, side, trans, m, n, k, nb, v, ldv, t, ldt, c, ldc, work, info);
  }
  if (std::min({*m, *n, *k}) == 0) return;
  *info = static_cast<I>(dispatch::gemqrt<T>(
      caller.family, to_side(*side), to_adjoint(*trans), HostView<const T>(v, order, *k, *ldv),
      HostView<const T>(t, *nb, *k, *ldt), HostView<T>(c, *m, *n, *ldc), work));
}

/// Without rows, columns or right-hand sides there still are zeros to be stored.
template <class T, class I>
void gels(Caller caller, const char* trans, const I* m, const I* n, const I* nrhs, T* a,
          const I* lda, T* b, const I* ldb, T* work, const I* lwork, I* info) {
  const I count = std::min(*m, *n), longer = std::max(*m, *n);
  *info = static_cast<I>(-first_invalid(
      {{1, is_plain_or_adjoint<T>(*trans)},
       {2, *m >= 0},
       {3, *n >= 0},
       {4, *nrhs >= 0},
       {6, *lda >= at_least_one(*m)},
       {8, *ldb >= at_least_one(longer)},
       {10, is_work<Index>(*lwork, at_least_one(Index{count} + std::max(count, *nrhs)))}}));
  if (*info != 0) {
    return report<T>(caller, *info, trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info);
  }
  *info = static_cast<I>(
      dispatch::gels<T>(caller.family, to_adjoint(*trans), HostView<T>(a, *m, *n, *lda),
                        HostView<T>(b, longer, *nrhs, *ldb), cpu::Workspace<T>{work, *lwork}));
}

}  // namespace overlapack::compat
