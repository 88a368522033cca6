// From Fortran arguments to views: check, report, quick return, dispatch. One function per routine,
// templated over the scalar type T and the integer type I.
#pragma once

#include <algorithm>
#include <cstdio>
#include <limits>
#include <new>
#include <tuple>
#include <type_traits>

#include "arguments.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

/// Everything an adapter needs to know of the name it was called by.
struct Caller {
  cpu::Family family;
  const char* name;
};

/// Calls `address` with the caller's own arguments, plus lengths for its CHARACTER arguments, of
/// which there are at most two; a routine with fewer ignores the rest.
template <class Result, class... Arguments>
Result forward(void* address, Arguments... arguments) {
  constexpr std::size_t length = 1;
  using Routine = Result (*)(Arguments..., std::size_t, std::size_t);
  return reinterpret_cast<Routine>(address)(arguments..., length, length);
}

/// What a routine says that could not even begin, because there was no host memory to look for the
/// process's CPU LAPACK: its last argument is info, or it returns a norm. To be called where a
/// bad_alloc is handled, which goes on if the routine has no way to say it.
template <class Result, class... Arguments>
Result out_of_memory(Arguments... arguments) {
  if constexpr (std::is_void_v<Result>) {
    const auto last = std::get<sizeof...(Arguments) - 1>(std::make_tuple(arguments...));
    using Last = std::decay_t<decltype(*last)>;
    if constexpr (!std::is_integral_v<Last>) {
      throw;
    } else {
      *last = static_cast<Last>(dispatch::kNoMemory);
    }
  } else {
    return std::numeric_limits<Result>::quiet_NaN();
  }
}

/// A callable that runs `adapter` unless the name belongs to a library with other integers.
template <class T, class Adapter>
struct Entry {
  cpu::Family family;
  const char* name;
  Adapter adapter;

  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    using Result = decltype(adapter({family, name}, arguments...));
    try {
      if (void* const other = dispatch::cpu_lapack<T>(family).foreign(name)) {
        return forward<Result>(other, arguments...);
      }
      return adapter({family, name}, arguments...);
    } catch (const std::bad_alloc&) {
      return out_of_memory<Result>(arguments...);
    }
  }
};

/// Reports argument number -info as LAPACK does: to the application's xerbla_, or else by handing
/// the call to the real routine, whose library then reports it its own way.
template <class T, class I, class... Arguments>
void report(Caller caller, I info, Arguments... arguments) {
  std::string routine = ScalarTraits<T>::letter + std::string(caller.name);
  std::transform(routine.begin(), routine.end(), routine.begin(), upper_case);
  routine.resize(6, ' ');
  if (call_xerbla<I>(caller.family, routine, static_cast<int>(-info))) return;
  void* const real_routine =
      dispatch::cpu_lapack<T>(caller.family).find(caller.name, sizeof(I) == 8);
  if (real_routine != nullptr) {
    forward<void>(real_routine, arguments...);
  } else {
    std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n",
                 routine.c_str(), static_cast<int>(-info));
  }
}

template <class I>
I at_least_one(I n) {
  return std::max<I>(1, n);
}

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

// ---- Norms --------------------------------------------------------------------------------

/// LAPACK does not check the arguments of norms, and leaves the result of an unknown one undefined;
/// here it is 0.
template <class T, class I>
Real<T> norm(Caller caller, const char* norm, Symmetry symmetry, Uplo uplo, const I* m, const I* n,
             const T* a, const I* lda, Real<T>* work) {
  const std::optional<Norm> which = to_norm(*norm);
  if (!which || *m <= 0 || *n <= 0) return 0;
  return dispatch::norm<T>(caller.family, *which, symmetry, uplo,
                           HostView<const T>(a, *m, *n, *lda), work);
}

template <class T, class I>
Real<T> lange(Caller caller, const char* which, const I* m, const I* n, const T* a, const I* lda,
              Real<T>* work) {
  return norm<T>(caller, which, Symmetry::none, Uplo::lower, m, n, a, lda, work);
}

template <class T, class I>
Real<T> lansy(Caller caller, const char* which, const char* uplo, const I* n, const T* a,
              const I* lda, Real<T>* work) {
  return norm<T>(caller, which, Symmetry::symmetric, to_uplo(*uplo), n, n, a, lda, work);
}

template <class T, class I>
Real<T> lanhe(Caller caller, const char* which, const char* uplo, const I* n, const T* a,
              const I* lda, Real<T>* work) {
  return norm<T>(caller, which, Symmetry::hermitian, to_uplo(*uplo), n, n, a, lda, work);
}

// ---- Mixed precision ----------------------------------------------------------------------

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

// ---- BLAS ---------------------------------------------------------------------------------

/// Calls `adapter` with the place that the exported function has been called from.
template <class Adapter>
struct BlasEntry {
  const void* caller;
  Adapter adapter;

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    adapter(caller, arguments...);
  }
};

template <class T, class I>
void copy(const void* caller, const I* n, const T* x, const I* incx, T* y, const I* incy) {
  if (*n > 0) dispatch::copy<T>(caller, *n, x, *incx, y, *incy);
}

}  // namespace overlapack::compat
