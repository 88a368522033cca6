/* Solves one system: solve_client [LAPACK]
 *
 * Linked with liboverlapack alone it has no other LAPACK in the process. If the path of
 * counting_lapack.c's library is given, it also prints how often that one was called.
 */
#include <stdlib.h>

#include "check_solve.h"
#include "counting_report.h"
#include "overlapack/lapack.h"

int main(int argc, char** argv) {
  if (!check_solve("solve", dgesv_)) return EXIT_FAILURE;
  if (argc > 1) report_counting_lapack(argv[1]);
  return EXIT_SUCCESS;
}
