// QR factorizations (?geqrf), and their Q: as a matrix (?orgqr, ?ungqr), and times another one
// (?ormqr, ?unmqr): from Fortran arguments to views.
#pragma once

#include <algorithm>

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

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
/// Of Q there is the adjoint. Real numbers have 'T' for it, and complex ones 'C'.
template <class T>
bool is_adjoint(char c) {
  return same_letter(c, is_complex<T> ? 'C' : 'T');
}
inline Op to_adjoint(char c) { return same_letter(c, 'N') ? Op::none : Op::conj_trans; }

template <class T, class I>
void geqrf(Caller caller, const I* m, const I* n, T* a, const I* lda, T* tau, T* work,
           const I* lwork, I* info) {
  // As in LAPACK since 3.10: without rows there is nothing to do, and any workspace will do.
  *info = static_cast<I>(-first_invalid({{1, *m >= 0},
                                         {2, *n >= 0},
                                         {4, *lda >= at_least_one(*m)},
                                         {7, is_work(*lwork, *m > 0 ? at_least_one(*n) : I(1))}}));
  if (*info != 0) return report<T>(caller, *info, m, n, a, lda, tau, work, lwork, info);
  if (is_nothing(*lwork, std::min(*m, *n), work)) return;
  *info = static_cast<I>(dispatch::geqrf<T>(caller.family, HostView<T>(a, *m, *n, *lda), tau,
                                            cpu::Workspace<T>{work, *lwork}));
}

template <class T, class I>
void orgqr(Caller caller, const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau,
           T* work, const I* lwork, I* info) {
  *info = static_cast<I>(-first_invalid({{1, *m >= 0},
                                         {2, *n >= 0 && *n <= *m},
                                         {3, *k >= 0 && *k <= *n},
                                         {5, *lda >= at_least_one(*m)},
                                         {8, is_work(*lwork, at_least_one(*n))}}));
  if (*info != 0) return report<T>(caller, *info, m, n, k, a, lda, tau, work, lwork, info);
  if (is_nothing(*lwork, *n, work)) return;
  *info = static_cast<I>(dispatch::orgqr<T>(caller.family, HostView<T>(a, *m, *n, *lda), *k, tau,
                                            cpu::Workspace<T>{work, *lwork}));
}

template <class T, class I>
void ungqr(Caller caller, const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau,
           T* work, const I* lwork, I* info) {
  orgqr(caller, m, n, k, a, lda, tau, work, lwork, info);
}

template <class T, class I>
void ormqr(Caller caller, const char* side, const char* trans, const I* m, const I* n, const I* k,
           const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work, const I* lwork,
           I* info) {
  const bool left = same_letter(*side, 'L');
  const I order = left ? *m : *n;  // that of Q
  *info = static_cast<I>(-first_invalid({{1, is_side(*side)},
                                         {2, same_letter(*trans, 'N') || is_adjoint<T>(*trans)},
                                         {3, *m >= 0},
                                         {4, *n >= 0},
                                         {5, *k >= 0 && *k <= order},
                                         {7, *lda >= at_least_one(order)},
                                         {10, *ldc >= at_least_one(*m)},
                                         {12, is_work(*lwork, at_least_one(left ? *n : *m))}}));
  if (*info != 0) {
    return report<T>(caller, *info, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info);
  }
  if (is_nothing(*lwork, std::min({*m, *n, *k}), work)) return;
  *info = static_cast<I>(dispatch::ormqr<T>(
      caller.family, to_side(*side), to_adjoint(*trans), HostView<const T>(a, order, *k, *lda), tau,
      HostView<T>(c, *m, *n, *ldc), cpu::Workspace<T>{work, *lwork}));
}

template <class T, class I>
void unmqr(Caller caller, const char* side, const char* trans, const I* m, const I* n, const I* k,
           const T* a, const I* lda, const T* tau, T* c, const I* ldc, T* work, const I* lwork,
           I* info) {
  ormqr(caller, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info);
}

}  // namespace overlapack::compat
