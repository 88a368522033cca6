/* Of libblastrampoline, or of what stands for it (trampoline.c). */
#include <stddef.h>
#include <stdint.h>

/* Has the names of BLAS and LAPACK that `library` defines be those of its routines; `clear` drops
 * all former ones. Returns how many there are, 0 if the library is refused. */
int32_t lbt_forward(const char* library, int32_t clear, int32_t verbose, const char* suffix_hint);

/* Of the stand-in alone: the names that it looks for, from a file. Returns how many. */
__attribute__((weak)) int stand_in_names(const char* path);

/* Two of the names that Julia calls. */
void dpotrf_64_(const char* uplo, const int64_t* n, double* a, const int64_t* lda, int64_t* info,
                size_t length);
void dgesv_64_(const int64_t* n, const int64_t* nrhs, double* a, const int64_t* lda, int64_t* ipiv,
               double* b, const int64_t* ldb, int64_t* info);
