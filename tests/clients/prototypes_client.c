/* Calls with the macros that <lapacke.h> has, too, and with OVERLAPACK_NO_STRLEN with the
 * prototypes of older headers, which have no hidden lengths. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "overlapack/lapack.h"

static int right(const char* call, double found, double wanted, int32_t info) {
  if (info == 0 && fabs(found - wanted) < 1e-12) return 1;
  printf("%s: info %d, %g in place of %g\n", call, (int)info, found, wanted);
  return 0;
}

int main(void) {
  const int32_t n = 2, one = 1;
  const double norm = 1;
  int32_t info = 9, ipiv[2], iwork[2];
  double a[] = {4, 2, 2, 5}, b[] = {8, 12}, lu[] = {0, 1, 2, 0}, c[] = {2, 3}, work[8], rcond = 0;

#ifdef OVERLAPACK_NO_STRLEN
  dpotrf_("L", &n, a, &n, &info);
#else
  LAPACK_dpotrf("L", &n, a, &n, &info);
#endif
  if (!right("dpotrf", a[3], 2, info)) return EXIT_FAILURE;
  LAPACK_dpotrs("L", &n, &one, a, &n, b, &n, &info);
  if (!right("dpotrs", b[1], 2, info)) return EXIT_FAILURE;
  b[0] = 4;
  LAPACK_dtrtrs("L", "N", "N", &n, &one, a, &n, b, &n, &info);
  if (!right("dtrtrs", b[0], 2, info)) return EXIT_FAILURE;
  LAPACK_dtrcon("O", "U", "U", &n, a, &n, &rcond, work, iwork, &info); /* [1 2; 0 1] */
  if (!right("dtrcon", rcond, 1 / 9.0, info)) return EXIT_FAILURE;
  LAPACK_dpocon("L", &n, a, &n, &norm, &rcond, work, iwork, &info); /* [5 -2; -2 4] / 16 */
  if (!right("dpocon", rcond, 16 / 7.0, info)) return EXIT_FAILURE;
  if (!right("dlange", LAPACK_dlange("M", &n, &n, lu, &n, NULL), 2, 0)) return EXIT_FAILURE;
  if (!right("dlantr", LAPACK_dlantr("M", "L", "U", &n, &n, lu, &n, NULL), 1, 0)) {
    return EXIT_FAILURE;
  }
  LAPACK_dgesv(&n, &one, lu, &n, ipiv, c, &n, &info);
  return right("dgesv", c[0], 3, info) ? EXIT_SUCCESS : EXIT_FAILURE;
}
