// Textbook loops for the handful of BLAS and LAPACK operations the library itself needs.
//
// They serve twice: as the kernels of the emulated device, where being independent of any BLAS and
// following LAPACK's rules to the letter matters more than speed, and as the last resort of the CPU
// path in a process where no CPU LAPACK can be found at all.
#pragma once

#include <algorithm>
#include <utility>

#include "core/scalar.hpp"
#include "core/view.hpp"

namespace overlapack::reference {

namespace detail {
/// Element (i, j) of op(A).
template <class T>
T element(Op op, const HostView<const T>& a, Index i, Index j) {
  if (op == Op::none) return a(i, j);
  return op == Op::trans ? a(j, i) : conj(a(j, i));
}
}  // namespace detail

/// C := alpha op(A) op(B) + beta C.
template <class T>
void gemm(Op op_a, Op op_b, T alpha, HostView<const T> a, HostView<const T> b, T beta,
          HostView<T> c) {
  const Index k = op_a == Op::none ? a.cols : a.rows;
  for (Index j = 0; j < c.cols; ++j) {
    T* const cj = &c(0, j);
    for (Index i = 0; i < c.rows; ++i) cj[i] = beta == T(0) ? T(0) : beta * cj[i];
    for (Index l = 0; l < k; ++l) {
      const T blj = alpha * detail::element(op_b, b, l, j);
      if (op_a == Op::none) {
        const T* const al = &a(0, l);
        for (Index i = 0; i < c.rows; ++i) cj[i] += al[i] * blj;
      } else {
        for (Index i = 0; i < c.rows; ++i) cj[i] += detail::element(op_a, a, i, l) * blj;
      }
    }
  }
}

/// C := alpha op(A) op(A)^H + beta C on one triangle; the diagonal of C becomes real.
template <class T>
void herk(Uplo uplo, Op op, Real<T> alpha, HostView<const T> a, Real<T> beta, HostView<T> c) {
  const Index n = c.rows, k = op == Op::none ? a.cols : a.rows;
  for (Index j = 0; j < n; ++j) {
    const Index first = uplo == Uplo::lower ? j : 0, last = uplo == Uplo::lower ? n : j + 1;
    for (Index i = first; i < last; ++i) {
      c(i, j) = beta == Real<T>(0) ? T(0) : T(beta) * c(i, j);
      if (i == j) c(i, j) = T(real(c(i, j)));
    }
    for (Index l = 0; l < k; ++l) {
      const T ajl = T(alpha) * conj(detail::element(op, a, j, l));
      for (Index i = first; i < last; ++i) c(i, j) += detail::element(op, a, i, l) * ajl;
    }
    if (k > 0) c(j, j) = T(real(c(j, j)));
  }
}

/// B := alpha op(A)^-1 B or alpha B op(A)^-1 with a triangular A, by forward or back substitution.
template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, HostView<const T> a, HostView<T> b) {
  const Index n = a.rows;
  const bool lower = (uplo == Uplo::lower) == (op == Op::none);  // shape of op(A)
  for (Index j = 0; j < b.cols; ++j) {
    for (Index i = 0; i < b.rows; ++i) b(i, j) = alpha == T(0) ? T(0) : alpha * b(i, j);
  }
  if (alpha == T(0)) return;
  if (side == Side::left) {
    for (Index j = 0; j < b.cols; ++j) {
      for (Index s = 0; s < n; ++s) {
        const Index k = lower ? s : n - 1 - s;
        if (diag == Diag::non_unit) b(k, j) /= detail::element(op, a, k, k);
        const T x = b(k, j);
        for (Index i = lower ? k + 1 : 0; i < (lower ? n : k); ++i) {
          b(i, j) -= detail::element(op, a, i, k) * x;
        }
      }
    }
  } else {
    for (Index s = 0; s < n; ++s) {
      const Index k = lower ? n - 1 - s : s;
      if (diag == Diag::non_unit) {
        const T d = detail::element(op, a, k, k);
        for (Index i = 0; i < b.rows; ++i) b(i, k) /= d;
      }
      for (Index j = lower ? 0 : k + 1; j < (lower ? k : n); ++j) {
        const T akj = detail::element(op, a, k, j);
        for (Index i = 0; i < b.rows; ++i) b(i, j) -= b(i, k) * akj;
      }
    }
  }
}

/// Unblocked right-looking Cholesky (LAPACK ?potf2). Returns 0, or k if the leading minor of order
/// k is not positive definite.
template <class T>
Index potrf(Uplo uplo, HostView<T> a) {
  const Index n = a.rows;
  const bool lower = uplo == Uplo::lower;
  for (Index k = 0; k < n; ++k) {
    const Real<T> pivot = real(a(k, k));
    a(k, k) = T(pivot);
    if (!(pivot > 0)) return k + 1;  // also when the pivot is NaN
    const Real<T> d = std::sqrt(pivot);
    a(k, k) = T(d);
    if (lower) {
      for (Index i = k + 1; i < n; ++i) a(i, k) /= d;
      for (Index j = k + 1; j < n; ++j) {
        const T ajk = conj(a(j, k));
        for (Index i = j; i < n; ++i) a(i, j) -= a(i, k) * ajk;
      }
    } else {
      for (Index j = k + 1; j < n; ++j) a(k, j) /= d;
      for (Index j = k + 1; j < n; ++j) {
        for (Index i = k + 1; i <= j; ++i) a(i, j) -= conj(a(k, i)) * a(k, j);
      }
    }
  }
  return 0;
}

/// Row interchanges: rows j and pivots[j] - 1 (1-based, as LAPACK stores them) are exchanged for
/// j = first .. last - 1, or in the reverse order.
template <class T>
void laswp(HostView<T> a, Index first, Index last, const Index* pivots, bool forward = true) {
  for (Index c = 0; c < a.cols; ++c) {
    for (Index s = first; s < last; ++s) {
      const Index j = forward ? s : last - 1 - (s - first);
      const Index p = pivots[j] - 1;
      if (p != j) std::swap(a(j, c), a(p, c));
    }
  }
}

/// Unblocked right-looking LU with partial pivoting (LAPACK ?getf2). pivots is 1-based. Returns 0,
/// or the first k with U(k, k) exactly zero.
template <class T>
Index getrf(HostView<T> a, Index* pivots) {
  Index info = 0;
  for (Index k = 0; k < std::min(a.rows, a.cols); ++k) {
    // As i?amax: the first of the largest; a NaN stays only where the search starts.
    Index p = k;
    for (Index i = k + 1; i < a.rows; ++i) {
      if (abs1(a(i, k)) > abs1(a(p, k))) p = i;
    }
    pivots[k] = p + 1;
    if (a(p, k) == T(0)) {
      if (info == 0) info = k + 1;
    } else {
      if (p != k) {
        for (Index j = 0; j < a.cols; ++j) std::swap(a(k, j), a(p, j));
      }
      for (Index i = k + 1; i < a.rows; ++i) a(i, k) /= a(k, k);
    }
    for (Index j = k + 1; j < a.cols; ++j) {
      const T akj = a(k, j);
      for (Index i = k + 1; i < a.rows; ++i) a(i, j) -= a(i, k) * akj;
    }
  }
  return info;
}

}  // namespace overlapack::reference
