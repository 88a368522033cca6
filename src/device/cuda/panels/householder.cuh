// What the two kernels for panels of QR have in common: one reflector, and sums over rows.
//
// With x below the diagonal element alpha of a column,
//
//   H^H [alpha; x] = [beta; 0],   H = I - tau v v^H,   v = [1; x / (alpha - beta)],
//
// as LAPACK's ?larfg has it. What H^H does to a column [a; y] follows from x^H y, a sum over rows
// of numbers that are all known before beta is. So all sums of a step, that of |x|^2 among them,
// are found at a time, and so are those with the v of columns before, from which T is made:
//
//   v^H [a; y] = a + conj(scale) x^H y,   scale = 1 / (alpha - beta).
//
// Sums of squares must not leave the range. Columns are multiplied by powers of two at first, so
// that their largest elements are about 1. That changes no reflector, unless numbers of one column
// differ by the whole range of exponents: the smallest become zero then. If what is left of a
// column is tiny all the same, it is multiplied by another one when it is its turn (is_safe()).
#pragma once

#include "device/cuda/panels/panels.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/lanes.cuh"
#include "device/cuda/runtime/launch.cuh"
#include "device/panels.hpp"

namespace overlapack::cuda {

// ---- numbers -------------------------------------------------------------------------------

template <class T>
__device__ T product(T x, T y) {
  return add_product(from_real<T>(0), x, y);
}

template <class R>
__device__ bool is_real(R) {
  return true;
}
template <class R>
__device__ bool is_real(Complex<R> x) {
  return x.im == R(0);
}

/// The larger modulus of real and imaginary part.
template <class R>
__device__ R largest_part(R x) {
  return fabs(x);
}
template <class R>
__device__ R largest_part(Complex<R> x) {
  return fmax(fabs(x.re), fabs(x.im));
}

template <class R>
__device__ R squared_modulus(R x) {
  return x * x;
}
template <class R>
__device__ R squared_modulus(Complex<R> x) {
  return fma(x.re, x.re, x.im * x.im);
}

template <class R>
__device__ R times_real(R x, R y) {
  return x * y;
}
template <class R>
__device__ Complex<R> times_real(Complex<R> x, R y) {
  return {x.re * y, x.im * y};
}

// ---- the range -----------------------------------------------------------------------------

/// Powers of two go up to `exponent`, either way: a number of any size, a subnormal one too, is
/// multiplied by one of them to be of moderate size. A sum of squares that is at least `squares`
/// has lost nothing, and neither have the other sums of its step.
template <class R>
struct QrRange;
template <>
struct QrRange<float> {
  static constexpr int exponent = 120;
  static constexpr float squares = 0x1p-60f;
};
template <>
struct QrRange<double> {
  static constexpr int exponent = 1000;
  static constexpr double squares = 0x1p-500;
};

/// Whether the sum of squares is right; not if it is a NaN, or infinite.
template <class R>
__device__ bool is_safe(R squares) {
  return squares >= QrRange<R>::squares && squares <= 1 / QrRange<R>::squares;
}

/// The exponent of the power of two that numbers up to `largest` are to be divided by.
template <class R>
__device__ int exponent_of(R largest) {
  constexpr int kMost = QrRange<R>::exponent;
  const bool ordinary = largest > 0 && largest < HUGE_VAL;
  return ordinary ? max(-kMost, min(ilogb(largest), kMost)) : 0;
}
template <class R>
__device__ R power_of_two(int exponent) {
  return scalbn(R(1), exponent);
}
template <class R>
__device__ R times_power_of_two(R x, int exponent) {
  return scalbn(x, exponent);
}
template <class R>
__device__ Complex<R> times_power_of_two(Complex<R> x, int exponent) {
  return {scalbn(x.re, exponent), scalbn(x.im, exponent)};
}

// ---- a reflector ---------------------------------------------------------------------------

template <class T>
struct Reflector {
  T tau, scale;  // both 0 for H = I
  DeviceReal<T> beta;
};

/// `squares`: of the norm of x, which is zero if `nothing_below`, and not otherwise. All threads
/// wait for this: tau = (beta - alpha) / beta takes the inverse of |beta|, and no second division.
template <class T>
__device__ Reflector<T> make_reflector(T alpha, DeviceReal<T> squares, bool nothing_below) {
  using R = DeviceReal<T>;
  const R re = real_part(alpha);
  if (nothing_below && is_real(alpha)) return {from_real<T>(0), from_real<T>(0), re};
  const R sum = squared_modulus(alpha) + squares, inverse = rsqrt(sum);
  R root = sum * inverse;
  root = fma(fma(-root, root, sum), R(0.5) * inverse, root);  // a step of Newton's method
  const R beta = copysign(root, -re);
  const T difference = add(alpha, from_real<T>(-beta));
  return {times_real(difference, copysign(inverse, re)), divide(from_real<T>(1), difference), beta};
}

// ---- sums over rows ------------------------------------------------------------------------

struct Sum {
  template <class T>
  __device__ T operator()(T x, T y) const {
    return add(x, y);
  }
};
/// Of real parts. A NaN is left out.
struct Largest {
  template <class T>
  __device__ T operator()(T x, T y) const {
    return from_real<T>(fmax(real_part(x), real_part(y)));
  }
};

// ---- a step --------------------------------------------------------------------------------

/// Where a panel's results go, see GeqrfPanel.
template <class T>
struct QrOperands {
  T *a, *v, *t, *tau;
  Index lda, ldv, ldt;
};

template <class T>
QrOperands<typename DeviceScalar<T>::type> operands_of(const GeqrfPanel<T>& op) {
  return {device_cast(op.a.data),
          device_cast(op.v.data),
          device_cast(op.t.data),
          device_cast(op.tau.data),
          op.a.ld,
          op.v.ld,
          op.t.ld};
}

/// An element of row k of a panel of n columns, as step k leaves it: of V in the columns before, of
/// R in the others, which have been divided by a power of two.
template <class T>
__device__ void store_row(const QrOperands<T>& to, int n, int k, int column, T value,
                          int exponent) {
  if (column >= n) return;
  const bool of_v = column < k;
  to.a[k + column_offset(column, to.lda)] = of_v ? value : times_power_of_two(value, exponent);
  to.v[k + column_offset(column, to.ldv)] =
      of_v ? value : from_real<T>(column == k ? DeviceReal<T>(1) : DeviceReal<T>(0));
}

/// Column k of T: -tau T z above the diagonal, where z is V^H v of the columns before. Each lane of
/// the warp has a row. T is read from `t`, where the new column is left, too.
template <class T>
__device__ void store_column_of_t(const QrOperands<T>& to, int n, int k, T tau, const T* z, T* t,
                                  Index ld) {
  const int i = static_cast<int>(threadIdx.x) % kWarp;
  if (i >= n) return;
  T sum = from_real<T>(0);
#pragma unroll 4
  for (int l = i; l < k; ++l) sum = add_product(sum, t[i + column_offset(l, ld)], z[l]);
  const T element = i < k ? negate(product(tau, sum)) : i == k ? tau : from_real<T>(0);
  t[i + column_offset(k, ld)] = element;
  to.t[i + column_offset(k, to.ldt)] = element;
  if (i == k) to.tau[k] = tau;
}

}  // namespace overlapack::cuda
