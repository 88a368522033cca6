// Inverses, of a triangle (?trtri) and from the factors of an earlier call (?potri, ?getri), and
// the product of a triangle with its adjoint (?lauum): from Fortran arguments to views.
#pragma once

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

template <class T, class I>
void trtri(Caller caller, const char* uplo, const char* diag, const I* n, T* a, const I* lda,
           I* info) {
  const bool unit = same_letter(*diag, 'U');
  *info = static_cast<I>(-first_invalid({{1, is_uplo(*uplo)},
                                         {2, unit || same_letter(*diag, 'N')},
                                         {3, *n >= 0},
                                         {5, *lda >= at_least_one(*n)}}));
  if (*info != 0) return report<T>(caller, *info, uplo, diag, n, a, lda, info);
  if (*n == 0) return;
  *info = static_cast<I>(dispatch::trtri<T>(caller.family, to_uplo(*uplo),
                                            unit ? Diag::unit : Diag::non_unit,
                                            HostView<T>(a, *n, *n, *lda)));
}

/// ?lauum and ?potri, which take the same arguments.
template <class T, class I, class Routine>
void of_triangle(Caller caller, const char* uplo, const I* n, T* a, const I* lda, I* info,
                 Routine routine) {
  *info = static_cast<I>(
      -first_invalid({{1, is_uplo(*uplo)}, {2, *n >= 0}, {4, *lda >= at_least_one(*n)}}));
  if (*info != 0) return report<T>(caller, *info, uplo, n, a, lda, info);
  if (*n == 0) return;
  *info = static_cast<I>(routine(caller.family, to_uplo(*uplo), HostView<T>(a, *n, *n, *lda)));
}

template <class T, class I>
void lauum(Caller caller, const char* uplo, const I* n, T* a, const I* lda, I* info) {
  of_triangle<T>(caller, uplo, n, a, lda, info, dispatch::lauum<T>);
}

template <class T, class I>
void potri(Caller caller, const char* uplo, const I* n, T* a, const I* lda, I* info) {
  of_triangle<T>(caller, uplo, n, a, lda, info, dispatch::potri<T>);
}

template <class T, class I>
void getri(Caller caller, const I* n, T* a, const I* lda, const I* ipiv, T* work, const I* lwork,
           I* info) {
  const bool query = *lwork == -1;
  *info = static_cast<I>(-first_invalid(
      {{1, *n >= 0}, {3, *lda >= at_least_one(*n)}, {6, query || *lwork >= at_least_one(*n)}}));
  if (*info != 0) return report<T>(caller, *info, n, a, lda, ipiv, work, lwork, info);
  // ipiv is only read; Pivots serves both directions.
  const cpu::Pivots pivots(const_cast<I*>(ipiv));
  const HostView<T> view(a, *n, *n, *lda);
  if (query || *n == 0) {
    *work = dispatch::wanted_workspace_of_getri<T>(caller.family, view, pivots);
    return;
  }
  *info = static_cast<I>(
      dispatch::getri<T>(caller.family, view, pivots, cpu::Workspace<T>{work, *lwork}));
}

}  // namespace overlapack::compat
