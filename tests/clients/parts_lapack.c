/* The routines that nested_lapack.c's driver calls, so that both together are a LAPACK which needs
 * nobody else. With PLAIN_ILP64 they have 64-bit integers, but these names.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef PLAIN_ILP64
typedef int64_t integer;
#else
#  include "overlapack/lapack.h"
typedef int32_t integer;
#endif

#include "elimination.h"

void dgetrf_(const integer* m, const integer* n, double* a, const integer* lda, integer* ipiv,
             integer* info) {
  *info = eliminate(*m, *n, a, *lda, ipiv);
}

/* Of the transposes it knows none. */
void dgetrs_(const char* trans, const integer* n, const integer* nrhs, const double* a,
             const integer* lda, const integer* ipiv, double* b, const integer* ldb, integer* info,
             size_t length) {
  (void)trans, (void)length;
  *info = 0;
  solve_eliminated(*n, *nrhs, a, *lda, ipiv, b, *ldb);
}
