// Estimates of the condition (?gecon, ?pocon, ?trcon): from Fortran arguments to views.
#pragma once

#include <cmath>
#include <optional>

#include "adapters/call.hpp"
#include "cpu/condition.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

/// LAPACK's workspaces from its arguments.
template <class T, class W>
cpu::ConditionWork<T> condition_work(T* work, W* second) {
  return {work, decltype(cpu::ConditionWork<T>::second)(second)};
}

/// Whether these routines know a norm: the 1-norm and the infinity norm.
inline bool has_condition(char norm) {
  const std::optional<Norm> which = to_norm(norm);
  return which == Norm::one || which == Norm::infinity;
}

/// A NaN is none of the arguments that xerbla_ is told of. What becomes of it, the process's CPU
/// LAPACK says: versions differ.
template <class R>
bool is_norm_or_nan(R anorm) {
  return !std::isless(anorm, R(0));
}

/// What is known of rcond without looking at the matrix.
template <class R, class I>
bool is_known(I n, R anorm, R& rcond) {
  if (n > 0 && anorm != 0) return false;
  rcond = n == 0 ? R(1) : R(0);
  return true;
}

template <class T, class I>
void gecon(Caller caller, const char* norm, const I* n, const T* a, const I* lda,
           const Real<T>* anorm, Real<T>* rcond, T* work, SecondWork<T, I>* work2, I* info) {
  *info = static_cast<I>(-first_invalid({{1, has_condition(*norm)},
                                         {2, *n >= 0},
                                         {4, *lda >= at_least_one(*n)},
                                         {5, is_norm_or_nan(*anorm)}}));
  if (*info != 0) {
    return report<T>(caller, *info, norm, n, a, lda, anorm, rcond, work, work2, info);
  }
  if (is_known(*n, *anorm, *rcond)) return;
  *info = static_cast<I>(dispatch::gecon<T>(caller.family, *to_norm(*norm),
                                            HostView<const T>(a, *n, *n, *lda), *anorm, *rcond,
                                            condition_work(work, work2)));
}

template <class T, class I>
void pocon(Caller caller, const char* uplo, const I* n, const T* a, const I* lda,
           const Real<T>* anorm, Real<T>* rcond, T* work, SecondWork<T, I>* work2, I* info) {
  *info = static_cast<I>(-first_invalid({{1, is_uplo(*uplo)},
                                         {2, *n >= 0},
                                         {4, *lda >= at_least_one(*n)},
                                         {5, is_norm_or_nan(*anorm)}}));
  if (*info != 0) {
    return report<T>(caller, *info, uplo, n, a, lda, anorm, rcond, work, work2, info);
  }
  if (is_known(*n, *anorm, *rcond)) return;
  *info = static_cast<I>(dispatch::pocon<T>(caller.family, to_uplo(*uplo),
                                            HostView<const T>(a, *n, *n, *lda), *anorm, *rcond,
                                            condition_work(work, work2)));
}

template <class T, class I>
void trcon(Caller caller, const char* norm, const char* uplo, const char* diag, const I* n,
           const T* a, const I* lda, Real<T>* rcond, T* work, SecondWork<T, I>* work2, I* info) {
  const bool unit = same_letter(*diag, 'U');
  *info = static_cast<I>(-first_invalid({{1, has_condition(*norm)},
                                         {2, is_uplo(*uplo)},
                                         {3, unit || same_letter(*diag, 'N')},
                                         {4, *n >= 0},
                                         {6, *lda >= at_least_one(*n)}}));
  if (*info != 0) {
    return report<T>(caller, *info, norm, uplo, diag, n, a, lda, rcond, work, work2, info);
  }
  if (is_known(*n, Real<T>(1), *rcond)) return;
  *info = static_cast<I>(dispatch::trcon<T>(
      caller.family, *to_norm(*norm), to_uplo(*uplo), unit ? Diag::unit : Diag::non_unit,
      HostView<const T>(a, *n, *n, *lda), *rcond, condition_work(work, work2)));
}

}  // namespace overlapack::compat
