/* A little LAPACK with plain names: dgetrf_ by Gaussian elimination, with its xerbla_, and
 * qrupdate's dch1dn_ for order 1. Nothing but the name of its file tells the width of its integers.
 */
#include "plain_lapack.h"

#include <math.h>
#include <stdio.h>

#include "elimination.h"

void xerbla_(const char* routine, const integer* position, size_t length) {
  printf("plain_lapack: argument %d of %.*s\n", (int)*position, (int)length, routine);
}

void dgetrf_(const integer* m, const integer* n, double* a, const integer* lda, integer* ipiv,
             integer* info) {
  if (*m < 0) {
    const integer position = 1;
    *info = -position;
    xerbla_("DGETRF", &position, 6);
    return;
  }
  *info = eliminate(*m, *n, a, *lda, ipiv);
}

void dch1dn_(const integer* n, double* r, const integer* ldr, double* u, double* w, integer* info) {
  *info = *n == 1 && *ldr >= 1 ? 0 : -1;
  if (*info != 0) return;
  u[0] /= r[0];
  w[0] = sqrt(1 - u[0] * u[0]);
  r[0] *= w[0];
}
