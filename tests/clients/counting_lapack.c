/* A little LAPACK that says how often it was asked: dgesv_ by Gaussian elimination. It stands for
 * the private LAPACK of an application, to see whether liboverlapack finds and uses it.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifndef PLAIN_ILP64
#  include "overlapack/lapack.h"
#endif

/* Reads as: the number of times that this library's own dgesv_ ran. */
int counting_lapack_calls;

/* With ILP64 it is dgesv_64_. With PLAIN_ILP64 it has the same integers, but the plain name, for
 * which there is another declaration. */
#ifdef ILP64
#  define DGESV dgesv_64_
#else
#  define DGESV dgesv_
#endif
#if defined(ILP64) || defined(PLAIN_ILP64)
typedef int64_t integer;
#else
typedef int32_t integer;
#endif

void DGESV(const integer* n_, const integer* nrhs_, double* a, const integer* lda_, integer* ipiv,
           double* b, const integer* ldb_, integer* info) {
  const ptrdiff_t n = *n_, nrhs = *nrhs_, lda = *lda_, ldb = *ldb_;
  ++counting_lapack_calls;
  *info = 0;
  for (ptrdiff_t k = 0; k < n; ++k) {
    ptrdiff_t p = k;
    for (ptrdiff_t i = k + 1; i < n; ++i) {
      if (fabs(a[i + k * lda]) > fabs(a[p + k * lda])) p = i;
    }
    ipiv[k] = (integer)p + 1;
    if (a[p + k * lda] == 0) {
      if (*info == 0) *info = (integer)k + 1;
      continue;
    }
    for (ptrdiff_t j = 0; j < n; ++j) {
      const double swapped = a[k + j * lda];
      a[k + j * lda] = a[p + j * lda];
      a[p + j * lda] = swapped;
    }
    for (ptrdiff_t i = k + 1; i < n; ++i) {
      a[i + k * lda] /= a[k + k * lda];
      for (ptrdiff_t j = k + 1; j < n; ++j) a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
    }
  }
  if (*info != 0) return;
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
