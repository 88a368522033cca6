// Updates of a Cholesky factor: from the arguments of qrupdate, LINPACK and our own interface to
// views.
#pragma once

#include <algorithm>
#include <cmath>

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

template <class T>
void conjugate(T* x, Index n) {
  std::transform(x, x + n, x, [](T element) { return conj(element); });
}

// ---- qrupdate -----------------------------------------------------------------------------------

/// qrupdate does nothing for n <= 0 and checks nothing; a leading dimension that is too small would
/// have it write outside of the matrix.
template <class T, class I>
void ch1up(Caller caller, const I* n, T* r, const I* ldr, T* u, Real<T>* w) {
  if (*n <= 0) return;
  if (*ldr < *n) return report<T>(caller, I{-3}, n, r, ldr, u, w);
  conjugate(u, *n);
  dispatch::update_one(caller.name, HostView<T>(r, *n, *n, *ldr), u, w);
}

template <class T, class I>
void ch1dn(Caller caller, const I* n, T* r, const I* ldr, T* u, Real<T>* w, I* info) {
  *info = static_cast<I>(-first_invalid({{1, *n >= 0}, {3, *ldr >= *n}}));
  if (*info != 0) return report<T>(caller, I{*info}, n, r, ldr, u, w, info);
  if (*n == 0) return;
  conjugate(u, *n);
  switch (dispatch::downdate_one(caller.name, HostView<T>(r, *n, *n, *ldr), u, w)) {
    case algorithms::Downdate::done:
      break;
    case algorithms::Downdate::not_definite:
      *info = 1;
      break;
    case algorithms::Downdate::singular:
      conjugate(u, *n);  // nothing has been done
      *info = 2;
  }
}

// ---- LINPACK ------------------------------------------------------------------------------------
// It checks nothing, either, and treats orders below zero as zero. Z, Y and RHO are not looked at
// if nz < 1. Unlike with BLAS's drotg, diagonal elements of R keep their signs.

/// The invalid leading dimension, or 0.
template <class I>
int invalid_dimension(const I* ldr, const I* p, const I* ldz, const I* nz) {
  return first_invalid({{2, *ldr >= *p}, {6, *nz < 1 || *ldz >= *p}});
}

template <class T, class I>
void chud(Caller caller, T* r, const I* ldr, const I* p, const T* x, T* z, const I* ldz,
          const I* nz, const T* y, Real<T>* rho, Real<T>* c, T* s) {
  if (const int position = invalid_dimension(ldr, p, ldz, nz); position != 0) {
    return report<T>(caller, static_cast<I>(-position), r, ldr, p, x, z, ldz, nz, y, rho, c, s);
  }
  const Index n = std::max<I>(0, *p);
  std::copy_n(x, n, s);
  dispatch::update_one(caller.name, HostView<T>(r, n, n, *ldr), s, c);
  for (Index j = 0; j < *nz; ++j) {
    T zeta = y[j];
    algorithms::rotate(HostView<T>(z, n, *nz, *ldz).block(0, j, n, 1), c, s, &zeta);
    const Real<T> size = std::abs(zeta);
    if (size != 0 && !(rho[j] < 0)) rho[j] = std::hypot(size, rho[j]);
  }
}

/// The residual norm sqrt(rho^2 - size^2) of a downdated problem, or -1 if there is none.
template <class R>
R downdated_norm(R rho, R size) {
  if (!(size <= rho)) return R(-1);
  return rho == 0 ? R(0) : rho * std::sqrt((1 - size / rho) * (1 + size / rho));
}

template <class T, class I>
void chdd(Caller caller, T* r, const I* ldr, const I* p, const T* x, T* z, const I* ldz,
          const I* nz, const T* y, Real<T>* rho, Real<T>* c, T* s, I* info) {
  *info = -1;
  if (const int position = invalid_dimension(ldr, p, ldz, nz); position != 0) {
    return report<T>(caller, static_cast<I>(-position), r, ldr, p, x, z, ldz, nz, y, rho, c, s,
                     info);
  }
  const Index n = std::max<I>(0, *p);
  std::copy_n(x, n, s);
  if (dispatch::downdate_one(caller.name, HostView<T>(r, n, n, *ldr), s, c) !=
      algorithms::Downdate::done) {
    return;
  }
  *info = 0;
  for (Index j = 0; j < *nz; ++j) {
    T* const column = z + j * *ldz;
    T zeta = y[j];
    for (Index i = 0; i < n; ++i) {
      column[i] = (column[i] - conj(s[i]) * zeta) / c[i];
      zeta = c[i] * zeta - s[i] * column[i];
    }
    rho[j] = downdated_norm(rho[j], std::abs(zeta));
    if (rho[j] < 0) *info = 1;
  }
}

// ---- our own interface --------------------------------------------------------------------------

/// Of vectors of n elements each.
template <class T, class I>
I checked_cholupdate(const char* name, char uplo, I n, I k, T* a, I lda, const T* v, I ldv,
                     algorithms::Signs signs, bool signs_valid) {
  const bool empty = n == 0 || k == 0;
  int wrong = first_invalid({{1, is_uplo(uplo)},
                             {2, n >= 0},
                             {3, k >= 0},
                             {4, empty || a != nullptr},
                             {5, lda >= at_least_one(n)},
                             {6, empty || v != nullptr},
                             {7, ldv >= at_least_one(n)},
                             {8, signs_valid}});
  if (wrong != 0 || empty) return -wrong;
  return dispatch::chol_update<T>(name, to_uplo(uplo), HostView<T>(a, n, n, lda),
                                  HostView<const T>(v, n, k, ldv), signs);
}

template <class T, class I>
void cholupdate(Caller caller, char uplo, I n, I k, T* a, I lda, const T* v, I ldv, int sigma,
                I* info) {
  if (info == nullptr) return;  // there is nobody to tell
  *info = checked_cholupdate(caller.name, uplo, n, k, a, lda, v, ldv,
                             algorithms::Signs(&sigma, false), sigma == 1 || sigma == -1);
}

template <class T, class I>
void cholupdate_mixed(Caller caller, char uplo, I n, I k, T* a, I lda, const T* v, I ldv,
                      const int* sigma, I* info) {
  if (info == nullptr) return;
  const bool valid = k <= 0 || (sigma != nullptr && std::all_of(sigma, sigma + k, [](int sign) {
                                  return sign == 1 || sign == -1;
                                }));
  *info = checked_cholupdate(caller.name, uplo, n, k, a, lda, v, ldv,
                             algorithms::Signs(sigma, true), valid);
}

}  // namespace overlapack::compat
