/* A little LAPACK with plain names: dgetrf_ by Gaussian elimination, with its xerbla_, and
 * qrupdate's dch1dn_ for order 1. Nothing but the name of its file tells the width of its integers.
 */
#include "plain_lapack.h"

#include <math.h>
#include <stdio.h>

void xerbla_(const char* routine, const integer* position, size_t length) {
  printf("plain_lapack: argument %d of %.*s\n", (int)*position, (int)length, routine);
}

static void swap_rows(double* a, ptrdiff_t lda, ptrdiff_t n, ptrdiff_t i, ptrdiff_t k) {
  for (ptrdiff_t j = 0; j < n; ++j) {
    const double swapped = a[i + j * lda];
    a[i + j * lda] = a[k + j * lda];
    a[k + j * lda] = swapped;
  }
}

void dgetrf_(const integer* m_, const integer* n_, double* a, const integer* lda_, integer* ipiv,
             integer* info) {
  const ptrdiff_t m = *m_, n = *n_, lda = *lda_;
  *info = 0;
  if (m < 0) {
    const integer position = 1;
    *info = -position;
    xerbla_("DGETRF", &position, 6);
    return;
  }
  for (ptrdiff_t k = 0; k < m && k < n; ++k) {
    ptrdiff_t p = k;
    for (ptrdiff_t i = k + 1; i < m; ++i) {
      if (fabs(a[i + k * lda]) > fabs(a[p + k * lda])) p = i;
    }
    ipiv[k] = (integer)p + 1;
    if (a[p + k * lda] == 0) {
      if (*info == 0) *info = (integer)k + 1;
      continue;
    }
    swap_rows(a, lda, n, k, p);
    for (ptrdiff_t i = k + 1; i < m; ++i) {
      a[i + k * lda] /= a[k + k * lda];
      for (ptrdiff_t j = k + 1; j < n; ++j) a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
    }
  }
}

void dch1dn_(const integer* n, double* r, const integer* ldr, double* u, double* w, integer* info) {
  *info = *n == 1 && *ldr >= 1 ? 0 : -1;
  if (*info != 0) return;
  u[0] /= r[0];
  w[0] = sqrt(1 - u[0] * u[0]);
  r[0] *= w[0];
}
