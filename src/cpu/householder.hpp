// Householder reflectors as LAPACK has them, by textbook loops: what the panel of a QR
// factorization means.
//
// A reflector is H = I - tau v v^H with v(0) = 1, which is not stored. All numbers that might
// overflow or underflow are in a type with a wider range, in which no square does.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "cpu/reference.hpp"

namespace overlapack::reference {

namespace detail {

template <class R>
using WideReal = std::conditional_t<std::is_same_v<R, float>, double, long double>;
template <class T>
using WideScalar =
    std::conditional_t<is_complex<T>, std::complex<WideReal<Real<T>>>, WideReal<Real<T>>>;

template <class T>
WideReal<Real<T>> square(T x) {
  const WideReal<Real<T>> re = std::real(x), im = std::imag(x);
  return re * re + im * im;
}

}  // namespace detail

/// The reflector with H^H [alpha; x] = [beta; 0] for a real beta (LAPACK's ?larfg): x of n
/// elements, so far apart, becomes v without its 1, alpha becomes beta. Returns tau, which is 0 if
/// nothing is to be done.
template <class T>
T make_householder(Index n, T& alpha, T* x, Index stride = 1) {
  using W = detail::WideScalar<T>;
  using WR = detail::WideReal<Real<T>>;
  WR squares = 0;
  for (Index i = 0; i < n; ++i) squares += detail::square(x[i * stride]);
  if (squares == 0 && std::imag(alpha) == 0) return T(0);
  const WR norm = std::sqrt(detail::square(alpha) + squares);
  const WR beta = std::signbit(real(alpha)) ? norm : -norm;
  const W wide = W(alpha), scale = W(1) / (wide - beta);
  for (Index i = 0; i < n; ++i) x[i * stride] = T(scale * W(x[i * stride]));
  alpha = T(static_cast<Real<T>>(beta));
  return T((beta - wide) / beta);
}

/// C := C - factor v v^H C, where v(0) is taken to be 1: H C for tau, H^H C for its conjugate.
template <class T>
void apply_householder(T factor, const T* v, HostView<T> c) {
  for (Index j = 0; j < c.cols; ++j) {
    T* const x = &c(0, j);
    const T sum = detail::multiply(factor, x[0] + detail::dot(c.rows - 1, v + 1, x + 1));
    x[0] -= sum;
    detail::subtract_scaled(c.rows - 1, sum, v + 1, x + 1);
  }
}

/// A = Q R for an m x n matrix (LAPACK's ?geqr2): R is left in its upper trapezoid, the vectors of
/// min(m, n) reflectors below.
template <class T>
void geqrf(HostView<T> a, T* tau) {
  const Index m = a.rows, n = a.cols;
  for (Index j = 0; j < std::min(m, n); ++j) {
    T* const v = &a(j, j);
    tau[j] = make_householder(m - j - 1, *v, v + 1);
    if (tau[j] == T(0)) continue;
    apply_householder(conj(tau[j]), v, a.block(j, j + 1, m - j, n - j - 1));
  }
}

/// V of the reflectors that are stored in `a`, with its ones and zeros.
template <class T>
void reflectors_of(HostView<const T> a, HostView<T> v) {
  for (Index j = 0; j < v.cols; ++j) {
    for (Index i = 0; i < v.rows; ++i) v(i, j) = i > j ? a(i, j) : T(i == j);
  }
}

/// The upper triangle T of H_0 H_1 ... = I - V T V^H, whose diagonal, tau, is there (LAPACK's
/// ?larft). V is stored in `a`.
template <class T>
void block_reflector(HostView<const T> a, HostView<T> t) {
  for (Index j = 0; j < t.cols; ++j) {
    for (Index i = 0; i < j; ++i) t(i, j) = T(0);
    if (t(j, j) == T(0)) continue;
    for (Index i = 0; i < j; ++i) {
      const T* const v = &a(j, i);
      const T product = conj(*v) + detail::dot(a.rows - j - 1, v + 1, &a(j, j) + 1);
      const T factor = detail::multiply(t(j, j), product);
      for (Index l = 0; l <= i; ++l) t(l, j) -= detail::multiply(t(l, i), factor);
    }
  }
}

}  // namespace overlapack::reference
