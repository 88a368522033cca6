/* Solves in a process that may have a LAPACK with other integers: foreign_client [LAPACK]
 *
 * The plain names are called with 32-bit integers, or the names with `_64_` if it is compiled with
 * ILP64. Prints how often global_ilp64.c's library was called, if the process has it, and
 * counting_lapack.c's, if its path is given.
 */
#include <stdlib.h>

#include "check_solve.h"
#include "counting_report.h"
#include "overlapack/lapack.h"

#ifdef ILP64
#  define NAME(routine) routine##_64_
#else
#  define NAME(routine) routine##_
#endif

/* dsgesv, as check_solve() takes it, for one right-hand side. */
static void mixed_solve(const integer* n, const integer* nrhs, double* a, const integer* lda,
                        integer* ipiv, double* b, const integer* ldb, integer* info) {
  enum { most = 100 };
  static double x[most], work[most];
  static float swork[most * (most + 1)];
  integer iter = 0;
  NAME(dsgesv)(n, nrhs, a, lda, ipiv, b, ldb, x, n, work, swork, &iter, info);
  for (int i = 0; i < *n; ++i) b[i] = x[i];
}

int main(int argc, char** argv) {
  const int right = check_solve("dgesv", NAME(dgesv)) & check_solve("dsgesv", mixed_solve);
  const int* const calls = dlsym(RTLD_DEFAULT, "global_ilp64_calls");
  printf("global_ilp64 got %d call(s)\n", calls == NULL ? 0 : *calls);
  if (argc > 1) report_counting_lapack(argv[1]);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
