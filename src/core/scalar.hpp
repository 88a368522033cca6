// Scalar types: the four LAPACK precisions and the vocabulary shared by every layer.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace overlapack {

/// Sizes, leading dimensions and offsets. 64 bits everywhere inside: an element offset passes 2^31
/// already at n = 46341. Only compat/ knows 32-bit integers.
using Index = std::int64_t;

/// x / unit, rounded up; and the least multiple of `unit` that is not less than x.
constexpr Index quotient_up(Index x, Index unit) { return (x + unit - 1) / unit; }
constexpr Index round_up(Index x, Index unit) { return quotient_up(x, unit) * unit; }

// The values are LAPACK's characters, so that a conversion at the ABI is a cast.
enum class Uplo : char { lower = 'L', upper = 'U' };
enum class Op : char { none = 'N', trans = 'T', conj_trans = 'C' };
enum class Side : char { left = 'L', right = 'R' };
enum class Diag : char { non_unit = 'N', unit = 'U' };
/// The largest modulus; the largest sum of moduli of a column, or of a row; the root of the sum of
/// squares.
enum class Norm : char { max = 'M', one = 'O', infinity = 'I', frobenius = 'F' };

/// What a matrix is of which one triangle is given.
enum class Symmetry { none, symmetric, hermitian };

/// How accurate the large products of a factorization in single precision are, in ascending order.
/// Their sums are in FP32 always.
enum class Precision { fp16, tf32, fp32 };
inline constexpr Precision kPrecisions[] = {Precision::fp16, Precision::tf32, Precision::fp32};
inline constexpr const char* name_of(Precision precision) {
  return precision == Precision::fp16 ? "fp16" : precision == Precision::tf32 ? "tf32" : "fp32";
}

template <class T>
struct ScalarTraits;
template <>
struct ScalarTraits<float> {
  using Real = float;
  static constexpr char letter = 's';
  static constexpr bool is_complex = false;
};
template <>
struct ScalarTraits<double> {
  using Real = double;
  static constexpr char letter = 'd';
  static constexpr bool is_complex = false;
};
template <>
struct ScalarTraits<std::complex<float>> {
  using Real = float;
  static constexpr char letter = 'c';
  static constexpr bool is_complex = true;
};
template <>
struct ScalarTraits<std::complex<double>> {
  using Real = double;
  static constexpr char letter = 'z';
  static constexpr bool is_complex = true;
};

template <class T>
using Real = typename ScalarTraits<T>::Real;
template <class T>
inline constexpr bool is_complex = ScalarTraits<T>::is_complex;
/// Single precision of the same kind.
template <class T>
using Single = std::conditional_t<is_complex<T>, std::complex<float>, float>;
/// Double precision of the same kind.
template <class T>
using Double = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// What LAPACK's second workspace is made of: integers (IWORK) for real T, real numbers (RWORK) for
/// complex T.
template <class T, class I>
using SecondWork = std::conditional_t<is_complex<T>, Real<T>, I>;

/// Calls f with a number of the type that a LAPACK letter stands for.
template <class F>
auto with_type(char letter, F f) {
  switch (letter) {
    case 's':
      return f(float{});
    case 'd':
      return f(double{});
    case 'c':
      return f(std::complex<float>{});
    case 'z':
      return f(std::complex<double>{});
  }
  throw std::invalid_argument(std::string("no LAPACK type '") + letter + "'");
}

/// Complex conjugate that stays real for real types (std::conj does not).
template <class T>
T conj(T x) {
  if constexpr (is_complex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

template <class T>
Real<T> real(T x) {
  if constexpr (is_complex<T>) {
    return x.real();
  } else {
    return x;
  }
}

/// LAPACK's cheap modulus, by which complex pivots are chosen: |re| + |im|.
template <class T>
Real<T> abs1(T x) {
  if constexpr (is_complex<T>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else {
    return std::abs(x);
  }
}

}  // namespace overlapack

/// The instantiation list: X(T) for the four precisions, or for the only one of this compilation.
#ifdef OVERLAPACK_SCALAR
#  define OVERLAPACK_FOR_EACH_SCALAR(X) X(OVERLAPACK_SCALAR)
#else
#  define OVERLAPACK_FOR_EACH_SCALAR(X) \
    X(float) X(double) X(std::complex<float>) X(std::complex<double>)
#endif
