/* Opens a LAPACK user locally, as Python opens its extension modules:
 *
 *     local_client EXTENSION [LAPACK]
 *
 * EXTENSION is local_extension.c linked with some LAPACK. If the path of counting_lapack.c's
 * library is given, it also prints how often that one was called.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void* open_local(const char* path, int flags) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
  if (library == NULL) {
    fprintf(stderr, "local_client: %s\n", dlerror());
    exit(EXIT_FAILURE);
  }
  return library;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: local_client EXTENSION [LAPACK]\n");
    return EXIT_FAILURE;
  }
  int (*solve)(void);
  *(void**)&solve = dlsym(open_local(argv[1], 0), "extension_solve");
  if (solve == NULL || !solve()) return EXIT_FAILURE;
  if (argc == 3) {
    const int* const calls = dlsym(open_local(argv[2], RTLD_NOLOAD), "counting_lapack_calls");
    if (calls == NULL) return EXIT_FAILURE;
    printf("counting_lapack served %d call(s)\n", *calls);
  }
  return EXIT_SUCCESS;
}
