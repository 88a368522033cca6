// LU factorizations, alone (?getrf) and with the solve (?gesv): from Fortran arguments to views.
#pragma once

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

template <class T, class I>
void getrf(Caller caller, const I* m, const I* n, T* a, const I* lda, I* ipiv, I* info) {
  *info =
      static_cast<I>(-first_invalid({{1, *m >= 0}, {2, *n >= 0}, {4, *lda >= at_least_one(*m)}}));
  if (*info != 0) return report<T>(caller, *info, m, n, a, lda, ipiv, info);
  if (*m == 0 || *n == 0) return;
  *info = static_cast<I>(
      dispatch::getrf<T>(caller.family, HostView<T>(a, *m, *n, *lda), cpu::Pivots(ipiv)));
}

template <class T, class I>
void gesv(Caller caller, const I* n, const I* nrhs, T* a, const I* lda, I* ipiv, T* b, const I* ldb,
          I* info) {
  *info = static_cast<I>(-first_invalid({{1, *n >= 0},
                                         {2, *nrhs >= 0},
                                         {4, *lda >= at_least_one(*n)},
                                         {7, *ldb >= at_least_one(*n)}}));
  if (*info != 0) return report<T>(caller, *info, n, nrhs, a, lda, ipiv, b, ldb, info);
  if (*n == 0) return;
  *info = static_cast<I>(dispatch::gesv<T>(caller.family, HostView<T>(a, *n, *n, *lda),
                                           cpu::Pivots(ipiv), HostView<T>(b, *n, *nrhs, *ldb)));
}

}  // namespace overlapack::compat
