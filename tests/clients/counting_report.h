/* How often counting_lapack.c's library, if the process has loaded it, was called. */
#ifndef COUNTING_REPORT_H
#define COUNTING_REPORT_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Whether a file whose name has `part` in it is mapped by the process. */
static int is_loaded(const char* part) {
  char line[4096];
  int found = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, part) != NULL) found = 1;
  }
  if (maps != NULL) fclose(maps);
  return found;
}

/* Prints "counting_lapack served N call(s)", and whether there is "another LAPACK" in the process,
 * an OpenBLAS. `path` is the library's file. */
static void report_counting_lapack(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  const int* const calls = library == NULL ? NULL : dlsym(library, "counting_lapack_calls");
  printf("counting_lapack served %d call(s), %s\n", calls == NULL ? 0 : *calls,
         is_loaded("libopenblas") ? "another LAPACK is there, too" : "there is no other LAPACK");
}

#endif
