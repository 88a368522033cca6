/* A LAPACK whose driver calls others by their exported names, as the reference LAPACK does. In a
 * process with liboverlapack these are liboverlapack's.
 */
#include "overlapack/lapack.h"

void dgesv_(const int32_t* n, const int32_t* nrhs, double* a, const int32_t* lda, int32_t* ipiv,
            double* b, const int32_t* ldb, int32_t* info) {
  dgetrf_(n, n, a, lda, ipiv, info);
  if (*info == 0) dgetrs_("N", n, nrhs, a, lda, ipiv, b, ldb, info, 1);
}
