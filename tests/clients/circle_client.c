/* Calls routines that a CPU LAPACK may hand back to the library, more than once, and with an
 * argument that is refused.
 */
#include <stdlib.h>

#include "check_solve.h"
#include "overlapack/lapack.h"

/* Whether the factor of 4 is 2. */
static int check_factor(void) {
  const integer n = 1;
  double a = 4;
  integer info = 99;
  dpotrf_("L", &n, &a, &n, &info, 1);
  return info == 0 && a == 2;
}

int main(void) {
  for (int call = 0; call < 2; ++call) {
    if (!check_solve("solve", dgesv_) || !check_factor()) return EXIT_FAILURE;
  }
  const integer n = -1, one = 1;
  double a = 0;
  integer ipiv = 0, info = 0;
  dgesv_(&n, &one, &a, &one, &ipiv, &a, &one, &info);
  return info == -1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
