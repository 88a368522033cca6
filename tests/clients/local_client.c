/* Opens a LAPACK user locally, as Python opens its extension modules:
 *
 *     local_client EXTENSION LAPACK
 *
 * EXTENSION is local_extension.c linked with LAPACK, which is counting_lapack.c's library; prints
 * how often that one was called.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "counting_report.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: local_client EXTENSION LAPACK\n");
    return EXIT_FAILURE;
  }
  void* const extension = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (extension == NULL) {
    fprintf(stderr, "local_client: %s\n", dlerror());
    return EXIT_FAILURE;
  }
  int (*solve)(void);
  *(void**)&solve = dlsym(extension, "extension_solve");
  if (solve == NULL || !solve()) return EXIT_FAILURE;
  report_counting_lapack(argv[2]);
  return EXIT_SUCCESS;
}
