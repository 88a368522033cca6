// Reflectors that take columns of a Cholesky factor through an update, one by one. What they are
// and why they are stable says algorithms/update/on_cpu.cpp; they are also what the emulated device
// computes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/reference.hpp"

namespace overlapack::reference {

/// Copies columns of a factor, from their diagonal block on, into the lower trapezoid of `l`, or
/// back. In an upper factor they are rows.
template <class T>
void load_columns(Uplo uplo, HostView<const T> a, HostView<T> l) {
  for (Index j = 0; j < l.cols; ++j) {
    for (Index i = j; i < l.rows; ++i) l(i, j) = uplo == Uplo::lower ? a(i, j) : conj(a(j, i));
  }
}
template <class T>
void store_columns(Uplo uplo, HostView<const T> l, HostView<T> a) {
  for (Index j = 0; j < l.cols; ++j) {
    a(j, j) = l(j, j);
    for (Index i = j + 1; i < l.rows; ++i) {
      if (uplo == Uplo::lower) {
        a(i, j) = l(i, j);
      } else {
        a(j, i) = conj(l(i, j));
      }
    }
  }
}

/// One reflector: computes z from row b of V and the diagonal element `a`, which becomes a'.
/// Returns t. The sign of `a` stays, so that a factor with negative diagonal elements is one
/// afterwards. `definite` becomes false if a'^2 cannot be told from zero; the reflector then is one
/// for a similar row.
///
/// What is rounded is a', not its square: computed in a wider type it is right to half a unit. Of
/// all rounding errors of an update those of a' count most. After a hundred updates and downdates
/// of order 133 they made up nine tenths of the error.
template <class T>
Real<T> make_reflector(int sign, T& a, HostView<const T> b, T* z, bool& definite) {
  using R = Real<T>;
  using Wide = std::conditional_t<std::is_same_v<R, float>, double, long double>;
  R largest[4] = {std::abs(real(a))};  // side by side: each has to wait for the one before
  for (Index l = 0; l < b.cols; ++l) largest[l % 4] = std::max(largest[l % 4], abs1(b(0, l)));
  R scale = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  // Squares that might overflow or underflow are scaled, by a power of two, which is exact.
  static const R safe = std::ldexp(R(1), std::numeric_limits<R>::max_exponent / 4);
  const bool scaled = !(scale < safe && scale > 1 / safe);
  if (scaled && scale != 0) scale = std::ldexp(R(1), std::ilogb(scale));
  const auto down = [=](auto x) { return scaled ? x / scale : x; };
  const Wide before = scale != 0 ? down(std::abs(real(a))) : R(0);
  if (scale == 0 || (sign < 0 && before == 0)) {
    if (sign < 0) definite = false;
    std::fill_n(z, b.cols, T(0));
    return R(0.5);
  }
  Wide squares(0);
  for (Index l = 0; l < b.cols; ++l) {
    z[l] = conj(down(b(0, l)));
    const Wide re = std::real(z[l]), im = std::imag(z[l]);
    squares += re * re + im * im;
  }
  Wide after, shrink(1);
  if (sign > 0) {
    after = std::sqrt(before * before + squares);
  } else {
    const Wide norm = std::sqrt(squares), smallest = std::sqrt(std::numeric_limits<R>::epsilon());
    after = std::sqrt(std::max(Wide(0), (before - norm) * (before + norm)));
    if (!(after >= smallest * before)) {
      definite = false;
      after = smallest * before;
      shrink = std::sqrt(1 - smallest * smallest) * before / norm;
    }
  }
  const R factor = static_cast<R>(shrink / (before + after));
  for (Index l = 0; l < b.cols; ++l) z[l] *= std::copysign(factor, real(a));
  const R rounded = static_cast<R>(after);
  a = T(std::copysign(scaled ? rounded * scale : rounded, real(a)));
  return static_cast<R>(after / (before + after));
}

/// The reflectors of the first columns of a factor, from the diagonal down: z_j in column j of `z`
/// and their t. The columns and V are transformed by them. `w` is a column of workspace. Returns
/// how many columns there are before the first that is not definite.
template <class T>
Index reflect(int sign, HostView<T> l, HostView<T> v, HostView<T> z, Real<T>* t, T* w) {
  Index good = l.cols;
  for (Index j = 0; j < l.cols; ++j) {
    T* const zj = &z(0, j);
    bool definite = true;
    t[j] = make_reflector<T>(sign, l(j, j), v.block(j, 0, 1, v.cols), zj, definite);
    if (!definite) good = std::min(good, j);
    const Index first = j + 1, count = l.rows - first;
    std::copy_n(&l(j, j) + 1, count, w);
    for (Index c = 0; c < v.cols; ++c) {
      detail::subtract_scaled(count, sign < 0 ? zj[c] : -zj[c], &v(first, c), w);
    }
    for (Index i = 0; i < count; ++i) {
      w[i] /= t[j];
      l(first + i, j) = w[i] - l(first + i, j);
    }
    for (Index c = 0; c < v.cols; ++c) {
      detail::subtract_scaled(count, conj(zj[c]), w, &v(first, c));
    }
  }
  return good;
}

}  // namespace overlapack::reference
