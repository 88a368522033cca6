/* See early_call.c. */
#include <stdlib.h>

#include "check_solve.h"
#include "overlapack/lapack.h"

int early_call(void);

int main(void) {
  return early_call() && check_solve("in main", dgesv_) ? EXIT_SUCCESS : EXIT_FAILURE;
}
