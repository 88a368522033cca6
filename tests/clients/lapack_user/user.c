/* Calls a routine that overlapack has, and one that it does not have: eigenvalues of a tridiagonal
 * matrix. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, size_t uplo_len);
void dsterf_(const int* n, double* d, double* e, int* info);

int main(void) {
  const int n = 2;
  double a[] = {2, 1, 1, 2}, values[] = {2, 2}, e[] = {1};
  int factored = 9, solved = 9;
  dpotrf_("L", &n, a, &n, &factored, 1);
  dsterf_(&n, values, e, &solved);
  const int right = factored == 0 && solved == 0 && fabs(a[0] * a[0] - 2) < 1e-12 &&
                    fabs(values[0] - 1) < 1e-12 && fabs(values[1] - 3) < 1e-12;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
