// Cholesky factorizations, alone (?potrf) and with the solve (?posv): from Fortran arguments to
// views.
#pragma once

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

template <class T, class I>
void potrf(Caller caller, const char* uplo, const I* n, T* a, const I* lda, I* info) {
  *info = static_cast<I>(
      -first_invalid({{1, is_uplo(*uplo)}, {2, *n >= 0}, {4, *lda >= at_least_one(*n)}}));
  if (*info != 0) return report<T>(caller, *info, uplo, n, a, lda, info);
  if (*n == 0) return;
  *info = static_cast<I>(
      dispatch::potrf<T>(caller.family, to_uplo(*uplo), HostView<T>(a, *n, *n, *lda)));
}

template <class T, class I>
void posv(Caller caller, const char* uplo, const I* n, const I* nrhs, T* a, const I* lda, T* b,
          const I* ldb, I* info) {
  *info = static_cast<I>(-first_invalid({{1, is_uplo(*uplo)},
                                         {2, *n >= 0},
                                         {3, *nrhs >= 0},
                                         {5, *lda >= at_least_one(*n)},
                                         {7, *ldb >= at_least_one(*n)}}));
  if (*info != 0) return report<T>(caller, *info, uplo, n, nrhs, a, lda, b, ldb, info);
  if (*n == 0) return;
  *info =
      static_cast<I>(dispatch::posv<T>(caller.family, to_uplo(*uplo), HostView<T>(a, *n, *n, *lda),
                                       HostView<T>(b, *n, *nrhs, *ldb)));
}

}  // namespace overlapack::compat
