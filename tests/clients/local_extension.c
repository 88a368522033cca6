/* What an extension module of an interpreter is: a shared object linked with a LAPACK that nobody
 * else in the process sees, because the program opens it with RTLD_LOCAL.
 */
#include "check_solve.h"
#include "overlapack/lapack.h"

int extension_solve(void);
int extension_solve(void) {
#ifdef ILP64
  return check_solve("local extension", dgesv_64_);
#else
  return check_solve("local extension", dgesv_);
#endif
}
