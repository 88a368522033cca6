/* Has no LAPACK of its own: it hands each call on to the first routine of that name in the process,
 * or to that of the library HAND_TO.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "overlapack/lapack.h"

static void* next(const char* name) {
#ifdef HAND_TO
  return dlsym(dlopen(HAND_TO, RTLD_LAZY | RTLD_LOCAL), name);
#else
  return dlsym(RTLD_DEFAULT, name);
#endif
}

void dgesv_(const int32_t* n, const int32_t* nrhs, double* a, const int32_t* lda, int32_t* ipiv,
            double* b, const int32_t* ldb, int32_t* info) {
  void (*gesv)(const int32_t*, const int32_t*, double*, const int32_t*, int32_t*, double*,
               const int32_t*, int32_t*);
  *(void**)&gesv = next("dgesv_");
  gesv(n, nrhs, a, lda, ipiv, b, ldb, info);
}

void dpotrf_(const char* uplo, const int32_t* n, double* a, const int32_t* lda, int32_t* info,
             size_t length) {
  const int32_t order = *n, ld = *lda; /* as one does that converts its arguments */
  void (*potrf)(const char*, const int32_t*, double*, const int32_t*, int32_t*, size_t);
  *(void**)&potrf = next("dpotrf_");
  potrf(uplo, &order, a, &ld, info, length);
}
