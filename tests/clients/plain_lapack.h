/* Plain names with integers of either width: with ILP64 defined they have 64 bits. */
#ifndef PLAIN_LAPACK_H
#define PLAIN_LAPACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef ILP64
typedef int64_t integer;
#else
typedef int32_t integer;
#endif

void xerbla_(const char* routine, const integer* position, size_t length);
void dgetrf_(const integer* m, const integer* n, double* a, const integer* lda, integer* ipiv,
             integer* info);
void dch1dn_(const integer* n, double* r, const integer* ldr, double* u, double* w, integer* info);

/* plain_wrapper.c */
void wrapped_getrf(const integer* m, const integer* n, double* a, const integer* lda, integer* ipiv,
                   integer* info);

/* plain_module.c */
int plain_check(void);

#endif
