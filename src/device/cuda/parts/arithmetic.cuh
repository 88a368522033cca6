// Scalars inside our kernels: float, double and a complex type laid out like std::complex, whose
// own operators are host code (and carry the NaN recovery of C's Annex G, which LAPACK has not).
#pragma once

#include <complex>

#include "core/scalar.hpp"

namespace overlapack::cuda {

/// Aligned to its own size so that an element moves in one load or store.
template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;
};

/// The kernel-side type of a LAPACK scalar.
template <class T>
struct DeviceScalar {
  using type = T;
};
template <class R>
struct DeviceScalar<std::complex<R>> {
  using type = Complex<R>;
};

/// The same memory, seen by a kernel.
template <class T>
typename DeviceScalar<T>::type* device_cast(T* p) {
  return reinterpret_cast<typename DeviceScalar<T>::type*>(p);
}
template <class T>
const typename DeviceScalar<T>::type* device_cast(const T* p) {
  return reinterpret_cast<const typename DeviceScalar<T>::type*>(p);
}

/// The double precision counterpart of a kernel-side scalar.
template <class T>
struct DoubleOf {
  using type = double;
};
template <class R>
struct DoubleOf<Complex<R>> {
  using type = Complex<double>;
};
template <class T>
using DoubleScalar = typename DoubleOf<T>::type;

// The handful of operations that the kernels need, for real R and for Complex<R>.

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<Complex<R>> {
  using type = R;
};
template <class T>
using DeviceReal = typename RealOf<T>::type;

template <class R>
__device__ inline void assign(R& x, R re) {
  x = re;
}
template <class R>
__device__ inline void assign(Complex<R>& x, R re) {
  x = {re, R(0)};
}
/// A real number as a T.
template <class T>
__device__ inline T from_real(DeviceReal<T> re) {
  T x;
  assign(x, re);
  return x;
}

/// To the same number in another precision.
template <class To, class From>
__device__ inline void convert(To& to, From from) {
  to = static_cast<To>(from);
}
template <class To, class From>
__device__ inline void convert(Complex<To>& to, Complex<From> from) {
  to = {static_cast<To>(from.re), static_cast<To>(from.im)};
}

template <class R>
__device__ inline R real_part(R x) {
  return x;
}
template <class R>
__device__ inline R real_part(Complex<R> x) {
  return x.re;
}

template <class R>
__device__ inline R conjugate(R x) {
  return x;
}
template <class R>
__device__ inline Complex<R> conjugate(Complex<R> x) {
  return {x.re, -x.im};
}

template <class R>
__device__ inline bool is_zero(R x) {
  return x == R(0);
}
template <class R>
__device__ inline bool is_zero(Complex<R> x) {
  return x.re == R(0) && x.im == R(0);
}

/// |re| + |im|, LAPACK's cheap modulus.
template <class R>
__device__ inline R abs1(R x) {
  return fabs(x);
}
template <class R>
__device__ inline R abs1(Complex<R> x) {
  return fabs(x.re) + fabs(x.im);
}

template <class R>
__device__ inline R negate(R x) {
  return -x;
}
template <class R>
__device__ inline Complex<R> negate(Complex<R> x) {
  return {-x.re, -x.im};
}

template <class R>
__device__ inline R add(R x, R y) {
  return x + y;
}
template <class R>
__device__ inline Complex<R> add(Complex<R> x, Complex<R> y) {
  return {x.re + y.re, x.im + y.im};
}

/// x s with a real s.
template <class R>
__device__ inline R scale(R x, R s) {
  return x * s;
}
template <class R>
__device__ inline Complex<R> scale(Complex<R> x, R s) {
  return {x.re * s, x.im * s};
}

/// x - y z.
template <class R>
__device__ inline R subtract_product(R x, R y, R z) {
  return fma(-y, z, x);
}
template <class R>
__device__ inline Complex<R> subtract_product(Complex<R> x, Complex<R> y, Complex<R> z) {
  return {fma(y.im, z.im, fma(-y.re, z.re, x.re)), fma(-y.im, z.re, fma(-y.re, z.im, x.im))};
}

/// x + y z.
template <class T>
__device__ inline T add_product(T x, T y, T z) {
  return subtract_product(x, negate(y), z);
}
/// x + y conj(z), a term of an inner product.
template <class R>
__device__ inline R add_conjugated(R x, R y, R z) {
  return fma(y, z, x);
}
template <class R>
__device__ inline Complex<R> add_conjugated(Complex<R> x, Complex<R> y, Complex<R> z) {
  return {fma(y.im, z.im, fma(y.re, z.re, x.re)), fma(-y.re, z.im, fma(y.im, z.re, x.im))};
}

/// Safe bounds for the parts of a divisor: between them no intermediate of Smith's formula leaves
/// the range of normal numbers early. All are powers of two, so scaling by them is exact.
template <class R>
struct DivisionRange;
template <>
struct DivisionRange<float> {
  static constexpr float tiny = 0x1p-100f, enlarge = 0x1p+60f, huge = 0x1p+125f, shrink = 0x1p-4f;
};
template <>
struct DivisionRange<double> {
  static constexpr double tiny = 0x1p-960, enlarge = 0x1p+200, huge = 0x1p+1021, shrink = 0x1p-4;
};

/// x / y for |x| <= |y| in the sense of abs1: the multipliers of partial pivoting.
/// A true division, not a product with 1 / y: it is right also where 1 / y overflows or is
/// subnormal. Complex: Smith, Algorithm 116, CACM 1962, with both operands scaled when y lies near
/// an end of the range.
template <class R>
__device__ inline R divide(R x, R y) {
  return x / y;
}
template <class R>
__device__ inline Complex<R> divide(Complex<R> x, Complex<R> y) {
  using Range = DivisionRange<R>;
  const R larger = fmax(fabs(y.re), fabs(y.im));
  const R factor = larger < Range::tiny ? Range::enlarge : larger > Range::huge ? Range::shrink : 1;
  x = scale(x, factor);
  y = scale(y, factor);
  if (fabs(y.re) >= fabs(y.im)) {
    const R ratio = y.im / y.re, divisor = fma(y.im, ratio, y.re);
    return {fma(x.im, ratio, x.re) / divisor, fma(-x.re, ratio, x.im) / divisor};
  }
  const R ratio = y.re / y.im, divisor = fma(y.re, ratio, y.im);
  return {fma(x.re, ratio, x.im) / divisor, fma(x.im, ratio, -x.re) / divisor};
}

// Multipliers where one division must serve many of them.

/// A divisor whose abs1() lies between these bounds has a reciprocal() without overflow or
/// loss of digits.
template <class T>
struct Ordinary;
template <>
struct Ordinary<float> {
  static constexpr float least = 0x1p-100f, largest = 0x1p+100f;
};
template <>
struct Ordinary<double> {
  static constexpr double least = 0x1p-900, largest = 0x1p+900;
};
template <>
struct Ordinary<Complex<float>> {
  static constexpr float least = 0x1p-50f, largest = 0x1p+50f;
};
template <>
struct Ordinary<Complex<double>> {
  static constexpr double least = 0x1p-450, largest = 0x1p+450;
};

/// 1 / y to at least 20 bits in one instruction, if neither is subnormal.
__device__ inline float approximate_reciprocal(float y) {
  float x;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(y));
  return x;
}
__device__ inline double approximate_reciprocal(double y) {
  double x;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(x) : "d"(y));
  return x;
}

/// 1 / y for an ordinary y without a branch: of a complex y to a few ulps, of a real one to so many
/// digits that quotient() has all of its own.
__device__ inline float reciprocal(float y) { return approximate_reciprocal(y); }
__device__ inline double reciprocal(double y) {
  const double x = approximate_reciprocal(y);
  return fma(x, fma(-y, x, 1.0), x);
}
template <class R>
__device__ inline Complex<R> reciprocal(Complex<R> y) {
  const R square = fma(y.re, y.re, y.im * y.im), x = reciprocal(square);
  return scale(conjugate(y), fma(x, fma(-square, x, R(1)), x));
}

/// x / y with `inverse` = reciprocal(y), y ordinary. Real quotients are corrected and thereby those
/// of a division, but for rare last digits.
template <class R>
__device__ inline R quotient(R x, R y, R inverse) {
  const R q = x * inverse;
  return fma(fma(-q, y, x), inverse, q);
}
template <class R>
__device__ inline Complex<R> quotient(Complex<R> x, Complex<R>, Complex<R> inverse) {
  return {fma(-x.im, inverse.im, x.re * inverse.re), fma(x.im, inverse.re, x.re * inverse.im)};
}

/// The compiler computes x here, although it is not needed yet.
__device__ inline void compute_now(float& x) { asm volatile("" : "+f"(x)); }
__device__ inline void compute_now(double& x) { asm volatile("" : "+d"(x)); }
template <class R>
__device__ inline void compute_now(Complex<R>& x) {
  compute_now(x.re);
  compute_now(x.im);
}
__device__ inline void compute_now(Index& x) { asm volatile("" : "+l"(x)); }

/// Where column c of a matrix begins. (As long as c may be negative, that takes twice as many
/// instructions.)
__device__ inline Index column_offset(int c, Index ld) {
  return static_cast<Index>(static_cast<unsigned>(c)) * ld;
}

template <class R>
__device__ inline R modulus(R x) {
  return fabs(x);
}
/// hypot() where the squares are out of range, which costs several times as much.
template <class R>
__device__ inline R modulus(Complex<R> x) {
  using Range = Ordinary<Complex<R>>;
  const R square = fma(x.re, x.re, x.im * x.im);
  const bool in_range =
      square >= Range::least * Range::least && square <= Range::largest * Range::largest;
  return in_range ? sqrt(square) : hypot(x.re, x.im);
}

}  // namespace overlapack::cuda
