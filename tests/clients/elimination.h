/* Gaussian elimination with partial pivoting, for the little LAPACKs of tests. Matrices are stored
 * by columns. To be included behind the typedef `integer`.
 */
#pragma once

#include <math.h>
#include <stddef.h>

/* P A = L U of an m x n matrix, in place. Returns LAPACK's info. */
static inline integer eliminate(ptrdiff_t m, ptrdiff_t n, double* a, ptrdiff_t lda, integer* ipiv) {
  integer info = 0;
  for (ptrdiff_t k = 0; k < m && k < n; ++k) {
    ptrdiff_t p = k;
    for (ptrdiff_t i = k + 1; i < m; ++i) {
      if (fabs(a[i + k * lda]) > fabs(a[p + k * lda])) p = i;
    }
    ipiv[k] = (integer)p + 1;
    if (a[p + k * lda] == 0) {
      if (info == 0) info = (integer)k + 1;
      continue;
    }
    for (ptrdiff_t j = 0; j < n; ++j) {
      const double swapped = a[k + j * lda];
      a[k + j * lda] = a[p + j * lda];
      a[p + j * lda] = swapped;
    }
    for (ptrdiff_t i = k + 1; i < m; ++i) {
      a[i + k * lda] /= a[k + k * lda];
      for (ptrdiff_t j = k + 1; j < n; ++j) a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
    }
  }
  return info;
}

/* B := A^-1 B for the n x n matrix whose factors `a` and `ipiv` hold. */
static inline void solve_eliminated(ptrdiff_t n, ptrdiff_t nrhs, const double* a, ptrdiff_t lda,
                                    const integer* ipiv, double* b, ptrdiff_t ldb) {
  for (ptrdiff_t c = 0; c < nrhs; ++c) {
    double* const x = b + c * ldb;
    for (ptrdiff_t k = 0; k < n; ++k) {
      const double swapped = x[k];
      x[k] = x[ipiv[k] - 1];
      x[ipiv[k] - 1] = swapped;
    }
    for (ptrdiff_t k = 0; k < n; ++k) {
      for (ptrdiff_t i = k + 1; i < n; ++i) x[i] -= a[i + k * lda] * x[k];
    }
    for (ptrdiff_t k = n - 1; k >= 0; --k) {
      x[k] /= a[k + k * lda];
      for (ptrdiff_t i = 0; i < k; ++i) x[i] -= a[i + k * lda] * x[k];
    }
  }
}
