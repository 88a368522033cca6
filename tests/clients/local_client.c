/* Opens a LAPACK user locally, as Python opens its extension modules, or globally, and then closes
 * it and opens it again:
 *
 *     local_client EXTENSION LAPACK [global]
 *
 * EXTENSION is local_extension.c linked with LAPACK, which is counting_lapack.c's library; prints
 * how often that one was called.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting_report.h"

/* Returns the extension, or NULL if its answer is wrong. */
static void* open_and_solve(const char* path, int mode) {
  void* const extension = dlopen(path, RTLD_NOW | mode);
  if (extension == NULL) {
    fprintf(stderr, "local_client: %s\n", dlerror());
    return NULL;
  }
  int (*solve)(void);
  *(void**)&solve = dlsym(extension, "extension_solve");
  return solve != NULL && solve() ? extension : NULL;
}

int main(int argc, char** argv) {
  const int global = argc == 4 && strcmp(argv[3], "global") == 0;
  if (argc != 3 + global) {
    fprintf(stderr, "usage: local_client EXTENSION LAPACK [global]\n");
    return EXIT_FAILURE;
  }
  const char* const path = argv[1];
  const int mode = global ? RTLD_GLOBAL : RTLD_LOCAL;
  void* const extension = open_and_solve(path, mode);
  if (extension == NULL) return EXIT_FAILURE;
  if (global && (dlclose(extension) != 0 || open_and_solve(path, mode) == NULL)) {
    return EXIT_FAILURE;
  }
  report_counting_lapack(argv[2]);
  return EXIT_SUCCESS;
}
