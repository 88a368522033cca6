/* A library that computes as it is loaded, before the program's other libraries have been set up.
 */
#include <stdlib.h>

#include "check_solve.h"
#include "overlapack/lapack.h"

__attribute__((constructor)) static void solve_early(void) {
  if (!check_solve("before main", dgesv_)) exit(EXIT_FAILURE);
}

int early_call(void);
int early_call(void) { return 1; }
