/* A little LAPACK that says how often it was asked: dgesv_ by Gaussian elimination. It stands for
 * the private LAPACK of an application, to see whether liboverlapack finds and uses it.
 */
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

#include "elimination.h"

void DGESV(const integer* n, const integer* nrhs, double* a, const integer* lda, integer* ipiv,
           double* b, const integer* ldb, integer* info) {
  ++counting_lapack_calls;
  *info = eliminate(*n, *n, a, *lda, ipiv);
  if (*info == 0) solve_eliminated(*n, *nrhs, a, *lda, ipiv, b, *ldb);
}
