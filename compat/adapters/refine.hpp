// Mixed-precision solvers (dsgesv, zcgesv, dsposv, zcposv): from Fortran arguments to views.
#pragma once

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

/// ?sgesv and ?cgesv. `works`: the work spaces as the caller has given them.
template <class T, class I, class... Works>
void mixed_gesv(Caller caller, const I* n, const I* nrhs, T* a, const I* lda, I* ipiv, const T* b,
                const I* ldb, T* x, const I* ldx, I* iter, I* info, Works*... works) {
  *iter = 0;
  *info = static_cast<I>(-first_invalid({{1, *n >= 0},
                                         {2, *nrhs >= 0},
                                         {4, *lda >= at_least_one(*n)},
                                         {7, *ldb >= at_least_one(*n)},
                                         {9, *ldx >= at_least_one(*n)}}));
  if (*info != 0) {
    return report<T>(caller, *info, n, nrhs, a, lda, ipiv, b, ldb, x, ldx, works..., iter, info);
  }
  if (*n == 0) return;
  Index iterations = 0;
  *info = static_cast<I>(dispatch::mixed_gesv<T>(
      caller.family, HostView<T>(a, *n, *n, *lda), cpu::Pivots(ipiv),
      HostView<const T>(b, *n, *nrhs, *ldb), HostView<T>(x, *n, *nrhs, *ldx),
      cpu::MixedWork<T>{works...}, iterations));
  *iter = static_cast<I>(iterations);
}

template <class T, class I>
void sgesv(Caller caller, const I* n, const I* nrhs, T* a, const I* lda, I* ipiv, const T* b,
           const I* ldb, T* x, const I* ldx, T* work, Single<T>* swork, I* iter, I* info) {
  mixed_gesv(caller, n, nrhs, a, lda, ipiv, b, ldb, x, ldx, iter, info, work, swork);
}

template <class T, class I>
void cgesv(Caller caller, const I* n, const I* nrhs, T* a, const I* lda, I* ipiv, const T* b,
           const I* ldb, T* x, const I* ldx, T* work, Single<T>* swork, Real<T>* rwork, I* iter,
           I* info) {
  mixed_gesv(caller, n, nrhs, a, lda, ipiv, b, ldb, x, ldx, iter, info, work, swork, rwork);
}

/// ?sposv and ?cposv.
template <class T, class I, class... Works>
void mixed_posv(Caller caller, const char* uplo, const I* n, const I* nrhs, T* a, const I* lda,
                const T* b, const I* ldb, T* x, const I* ldx, I* iter, I* info, Works*... works) {
  *iter = 0;
  *info = static_cast<I>(-first_invalid({{1, is_uplo(*uplo)},
                                         {2, *n >= 0},
                                         {3, *nrhs >= 0},
                                         {5, *lda >= at_least_one(*n)},
                                         {7, *ldb >= at_least_one(*n)},
                                         {9, *ldx >= at_least_one(*n)}}));
  if (*info != 0) {
    return report<T>(caller, *info, uplo, n, nrhs, a, lda, b, ldb, x, ldx, works..., iter, info);
  }
  if (*n == 0) return;
  Index iterations = 0;
  *info = static_cast<I>(dispatch::mixed_posv<T>(
      caller.family, to_uplo(*uplo), HostView<T>(a, *n, *n, *lda),
      HostView<const T>(b, *n, *nrhs, *ldb), HostView<T>(x, *n, *nrhs, *ldx),
      cpu::MixedWork<T>{works...}, iterations));
  *iter = static_cast<I>(iterations);
}

template <class T, class I>
void sposv(Caller caller, const char* uplo, const I* n, const I* nrhs, T* a, const I* lda,
           const T* b, const I* ldb, T* x, const I* ldx, T* work, Single<T>* swork, I* iter,
           I* info) {
  mixed_posv(caller, uplo, n, nrhs, a, lda, b, ldb, x, ldx, iter, info, work, swork);
}

template <class T, class I>
void cposv(Caller caller, const char* uplo, const I* n, const I* nrhs, T* a, const I* lda,
           const T* b, const I* ldb, T* x, const I* ldx, T* work, Single<T>* swork, Real<T>* rwork,
           I* iter, I* info) {
  mixed_posv(caller, uplo, n, nrhs, a, lda, b, ldb, x, ldx, iter, info, work, swork, rwork);
}

}  // namespace overlapack::compat
