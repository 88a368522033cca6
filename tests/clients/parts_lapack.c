/* The routines that nested_lapack.c's driver calls, so that both together are a LAPACK which needs
 * nobody else. With PLAIN_ILP64 they have 64-bit integers, but these names.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef PLAIN_ILP64
typedef int64_t integer;
#else
#  include "overlapack/lapack.h"
typedef int32_t integer;
#endif

void dgetrf_(const integer* m_, const integer* n_, double* a, const integer* lda_, integer* ipiv,
             integer* info) {
  const ptrdiff_t m = *m_, n = *n_, lda = *lda_;
  *info = 0;
  for (ptrdiff_t k = 0; k < m && k < n; ++k) {
    ptrdiff_t p = k;
    for (ptrdiff_t i = k + 1; i < m; ++i) {
      if (fabs(a[i + k * lda]) > fabs(a[p + k * lda])) p = i;
    }
    ipiv[k] = (integer)p + 1;
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
}

/* Of the transposes it knows none. */
void dgetrs_(const char* trans, const integer* n_, const integer* nrhs, const double* a,
             const integer* lda_, const integer* ipiv, double* b, const integer* ldb, integer* info,
             size_t length) {
  const ptrdiff_t n = *n_, lda = *lda_;
  (void)trans, (void)length;
  *info = 0;
  for (ptrdiff_t c = 0; c < *nrhs; ++c) {
    double* const x = b + c * *ldb;
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
