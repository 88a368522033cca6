/* Calls LAPACK for a module that calls no plain name itself. */
#include "plain_lapack.h"

static int wrapped_calls;

void wrapped_getrf(const integer* m, const integer* n, double* a, const integer* lda, integer* ipiv,
                   integer* info) {
  dgetrf_(m, n, a, lda, ipiv, info);
  ++wrapped_calls; /* so that the call above returns to this library */
}
