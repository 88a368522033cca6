/* Solves a system, and says whether the system calls this process secure: secure_client LAPACK
 *
 * LAPACK is the path of counting_lapack.c's library. How often that was called is printed, too.
 */
#include <stdlib.h>
#include <sys/auxv.h>

#include "check_solve.h"
#include "counting_report.h"
#include "overlapack/lapack.h"

int main(int argc, char** argv) {
  printf("AT_SECURE %lu\n", getauxval(AT_SECURE));
  if (argc != 2 || !check_solve("solve", dgesv_)) return EXIT_FAILURE;
  report_counting_lapack(argv[1]);
  return EXIT_SUCCESS;
}
