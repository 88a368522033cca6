// Solves with the factors of an earlier call (?potrs, ?getrs) or a triangle (?trtrs): from Fortran
// arguments to views.
#pragma once

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

template <class T, class I>
void potrs(Caller caller, const char* uplo, const I* n, const I* nrhs, const T* a, const I* lda,
           T* b, const I* ldb, I* info) {
  *info = static_cast<I>(-first_invalid({{1, is_uplo(*uplo)},
                                         {2, *n >= 0},
                                         {3, *nrhs >= 0},
                                         {5, *lda >= at_least_one(*n)},
                                         {7, *ldb >= at_least_one(*n)}}));
  if (*info != 0) return report<T>(caller, *info, uplo, n, nrhs, a, lda, b, ldb, info);
  if (*n == 0 || *nrhs == 0) return;
  *info = static_cast<I>(dispatch::potrs<T>(caller.family, to_uplo(*uplo),
                                            HostView<const T>(a, *n, *n, *lda),
                                            HostView<T>(b, *n, *nrhs, *ldb)));
}

template <class T, class I>
void getrs(Caller caller, const char* trans, const I* n, const I* nrhs, const T* a, const I* lda,
           const I* ipiv, T* b, const I* ldb, I* info) {
  *info = static_cast<I>(-first_invalid({{1, is_trans(*trans)},
                                         {2, *n >= 0},
                                         {3, *nrhs >= 0},
                                         {5, *lda >= at_least_one(*n)},
                                         {8, *ldb >= at_least_one(*n)}}));
  if (*info != 0) {
    const char unknown = 'X';  // OpenBLAS takes letters that LAPACK refuses, and would compute
    const char* const reported = is_trans(*trans) ? trans : &unknown;
    return report<T>(caller, *info, reported, n, nrhs, a, lda, ipiv, b, ldb, info);
  }
  if (*n == 0 || *nrhs == 0) return;
  // ipiv is only read; Pivots serves both directions.
  *info = static_cast<I>(
      dispatch::getrs<T>(caller.family, to_op(*trans), HostView<const T>(a, *n, *n, *lda),
                         cpu::Pivots(const_cast<I*>(ipiv)), HostView<T>(b, *n, *nrhs, *ldb)));
}

template <class T, class I>
void trtrs(Caller caller, const char* uplo, const char* trans, const char* diag, const I* n,
           const I* nrhs, const T* a, const I* lda, T* b, const I* ldb, I* info) {
  const bool unit = same_letter(*diag, 'U');
  *info = static_cast<I>(-first_invalid({{1, is_uplo(*uplo)},
                                         {2, is_trans(*trans)},
                                         {3, unit || same_letter(*diag, 'N')},
                                         {4, *n >= 0},
                                         {5, *nrhs >= 0},
                                         {7, *lda >= at_least_one(*n)},
                                         {9, *ldb >= at_least_one(*n)}}));
  if (*info != 0) {
    const char unknown = 'X';  // as for getrs
    const char* const reported = is_trans(*trans) ? trans : &unknown;
    return report<T>(caller, *info, uplo, reported, diag, n, nrhs, a, lda, b, ldb, info);
  }
  if (*n == 0) return;  // without right-hand sides the diagonal is still looked at
  *info = static_cast<I>(dispatch::trtrs<T>(
      caller.family, to_uplo(*uplo), to_op(*trans), unit ? Diag::unit : Diag::non_unit,
      HostView<const T>(a, *n, *n, *lda), HostView<T>(b, *n, *nrhs, *ldb)));
}

}  // namespace overlapack::compat
