/* Solves one system. Linked with liboverlapack alone it has no other LAPACK in the process. */
#include <stdlib.h>

#include "check_solve.h"
#include "overlapack/lapack.h"

int main(void) { return check_solve("solve", dgesv_) ? EXIT_SUCCESS : EXIT_FAILURE; }
