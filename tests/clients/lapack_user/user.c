/* Calls a routine that overlapack has, and one that it does not have. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, size_t uplo_len);
void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
            double* work, const int* lwork, int* info, size_t jobz_len, size_t uplo_len);

int main(void) {
  const int n = 2, lwork = 64;
  double a[] = {2, 1, 1, 2}, b[] = {2, 1, 1, 2}, values[2], work[64];
  int factored = 9, solved = 9;
  dpotrf_("L", &n, a, &n, &factored, 1);
  dsyev_("N", "L", &n, b, &n, values, work, &lwork, &solved, 1, 1);
  const int right = factored == 0 && solved == 0 && fabs(a[0] * a[0] - 2) < 1e-12 &&
                    fabs(values[0] - 1) < 1e-12 && fabs(values[1] - 3) < 1e-12;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
