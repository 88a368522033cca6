// Textbook loops for the handful of BLAS and LAPACK operations the library itself needs, for s, d,
// c and z.
//
// They serve twice: as the kernels of the emulated device, where being independent of any BLAS and
// following LAPACK's rules to the letter matters more than speed, and as the last resort of the CPU
// path in a process where no CPU LAPACK can be found at all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::reference {

namespace detail {

/// Product without C99's repair of infinite complex results, which would stop vectorisation.
template <class T>
T multiply(T a, T b) {
  if constexpr (is_complex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

/// y := y - alpha x.
template <class T>
void subtract_scaled(Index n, T alpha, const T* x, T* y) {
  for (Index i = 0; i < n; ++i) y[i] -= multiply(alpha, x[i]);
}

/// x^H y, with several sums side by side.
template <class T>
T dot(Index n, const T* x, const T* y) {
  constexpr Index kSums = 8;
  T sums[kSums] = {};
  Index i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (Index q = 0; q < kSums; ++q) sums[q] += multiply(conj(x[i + q]), y[i + q]);
  }
  for (; i < n; ++i) sums[0] += multiply(conj(x[i]), y[i]);
  for (Index q = 1; q < kSums; ++q) sums[0] += sums[q];
  return sums[0];
}

/// Element (i, j) of op(A).
template <class T>
T element(Op op, const HostView<const T>& a, Index i, Index j) {
  if (op == Op::none) return a(i, j);
  return op == Op::trans ? a(j, i) : conj(a(j, i));
}

/// Unblocked right-looking LU with partial pivoting (LAPACK ?getf2).
template <class T>
Index getrf_block(HostView<T> a, Index* pivots);

}  // namespace detail

/// C := alpha op(A) op(B) + beta C.
template <class T>
void gemm(Op op_a, Op op_b, T alpha, HostView<const T> a, HostView<const T> b, T beta,
          HostView<T> c);

/// C := alpha op(A) op(A)^H + beta C on one triangle; the diagonal of C becomes real.
template <class T>
void herk(Uplo uplo, Op op, Real<T> alpha, HostView<const T> a, Real<T> beta, HostView<T> c);

/// B := alpha op(A)^-1 B or alpha B op(A)^-1 with a triangular A, by forward or back substitution.
template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, HostView<const T> a, HostView<T> b);

/// Cholesky factorization (LAPACK ?potrf), right-looking. Returns 0, or k if the leading minor of
/// order k is not positive definite; the columns (rows for upper) before k hold the factor then.
template <class T>
Index potrf(Uplo uplo, HostView<T> a);

/// inverse := L^-1 for a Cholesky factor L (lower), or L = U^H from U (upper), with zeros above the
/// diagonal. Imaginary parts of L's diagonal are ignored. Returns Skeel's condition number ||
/// |L^-1| |L| ||_inf.
template <class T>
Real<T> invert_factor(Uplo uplo, HostView<const T> factor, HostView<T> inverse);

/// B := A, all or a part of it (LAPACK ?lacpy). B may be A.
template <class T>
void lacpy(HostView<const T> a, HostView<T> b, Part part = Part::all) {
  if (a.empty()) return;
  for (Index j = 0; j < a.cols; ++j) {
    const Range rows = rows_of_column(part, 0, a.rows, j);
    std::memmove(&b(rows.first, j), &a(rows.first, j),
                 static_cast<std::size_t>(rows.last - rows.first) * sizeof(T));
  }
}

/// Row interchanges: rows j and pivots[j] - 1 (1-based, as LAPACK stores them) are exchanged for
/// j = first .. last - 1, or in the reverse order.
template <class T>
void laswp(HostView<T> a, Index first, Index last, const Index* pivots, bool forward = true);

/// LU factorization with partial pivoting (LAPACK ?getrf), right-looking. `pivots` is 1-based, of
/// min(m, n) elements. Returns 0, or the first k with U(k, k) exactly zero.
template <class T>
Index getrf(HostView<T> a, Index* pivots);

/// The larger of two numbers; NaN if one is.
template <class R>
R max_or_nan(R x, R y) {
  return x < y || std::isnan(y) ? y : x;
}

/// The largest |re| + |im| of `count` numbers, 0 if there are none; NaN if any is.
template <class T>
Real<T> max_norm(Index count, const T* x) {
  Real<T> norm(0);
  for (Index i = 0; i < count && !std::isnan(norm); ++i) norm = max_or_nan(norm, abs1(x[i]));
  return norm;
}

/// A norm as by ?lange, or of a matrix of which the `uplo` triangle is given, as by ?lansy and
/// ?lanhe. `sums` is work space of a.rows elements for the infinity norm and, with a triangle, for
/// the one norm. Squares are added in long double, whose range holds those of all doubles.
template <class T>
Real<T> norm(Norm norm, Symmetry symmetry, Uplo uplo, HostView<const T> a, Real<T>* sums);

}  // namespace overlapack::reference
