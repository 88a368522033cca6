/* What a tool is that watches a program's calls of LAPACK: it comes before liboverlapack in the
 * link order, and hands each call on to what comes next.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "overlapack/lapack.h"

void dgesv_(const int32_t* n, const int32_t* nrhs, double* a, const int32_t* lda, int32_t* ipiv,
            double* b, const int32_t* ldb, int32_t* info) {
  void (*next)(const int32_t*, const int32_t*, double*, const int32_t*, int32_t*, double*,
               const int32_t*, int32_t*);
  *(void**)&next = dlsym(RTLD_NEXT, "dgesv_");
  printf("dgesv_ is handed on\n");
  next(n, nrhs, a, lda, ipiv, b, ldb, info);
}

/* For integers of any width, and such that the call returns to this library. */
void dgetrf_(const int32_t* m, const int32_t* n, double* a, const int32_t* lda, int32_t* ipiv,
             int32_t* info) {
  void (*next)(const int32_t*, const int32_t*, double*, const int32_t*, int32_t*, int32_t*);
  *(void**)&next = dlsym(RTLD_NEXT, "dgetrf_");
  next(m, n, a, lda, ipiv, info);
  printf("dgetrf_ was handed on\n");
}
