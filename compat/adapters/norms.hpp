// Norms (?lange, ?lansy, ?lanhe, ?lantr): from Fortran arguments to views.
#pragma once

#include <optional>

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

/// LAPACK does not check the arguments of norms, and leaves the result of an unknown one undefined;
/// here it is 0.
template <class T, class I>
Real<T> norm(Caller caller, const char* norm, NormOf of, const I* m, const I* n, const T* a,
             const I* lda, Real<T>* work) {
  const std::optional<Norm> which = to_norm(*norm);
  if (!which || *m <= 0 || *n <= 0) return 0;
  of.norm = *which;
  return dispatch::norm<T>(caller.family, of, HostView<const T>(a, *m, *n, *lda), work);
}

template <class T, class I>
Real<T> lange(Caller caller, const char* which, const I* m, const I* n, const T* a, const I* lda,
              Real<T>* work) {
  return norm<T>(caller, which, {}, m, n, a, lda, work);
}

template <class T, class I>
Real<T> lansy(Caller caller, const char* which, const char* uplo, const I* n, const T* a,
              const I* lda, Real<T>* work) {
  return norm<T>(caller, which, {{}, part_of(to_uplo(*uplo)), Symmetry::symmetric}, n, n, a, lda,
                 work);
}

template <class T, class I>
Real<T> lanhe(Caller caller, const char* which, const char* uplo, const I* n, const T* a,
              const I* lda, Real<T>* work) {
  return norm<T>(caller, which, {{}, part_of(to_uplo(*uplo)), Symmetry::hermitian}, n, n, a, lda,
                 work);
}

template <class T, class I>
Real<T> lantr(Caller caller, const char* which, const char* uplo, const char* diag, const I* m,
              const I* n, const T* a, const I* lda, Real<T>* work) {
  const Diag ones = same_letter(*diag, 'U') ? Diag::unit : Diag::non_unit;
  return norm<T>(caller, which, {{}, part_of(to_uplo(*uplo)), Symmetry::none, ones}, m, n, a, lda,
                 work);
}

}  // namespace overlapack::compat
