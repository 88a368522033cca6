/* How often counting_lapack.c's library, if the process has loaded it, was called. */
#ifndef COUNTING_REPORT_H
#define COUNTING_REPORT_H

#include <dlfcn.h>
#include <stdio.h>

/* Prints "counting_lapack served N call(s)". `path` is the library's file. */
static void report_counting_lapack(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  const int* const calls = library == NULL ? NULL : dlsym(library, "counting_lapack_calls");
  printf("counting_lapack served %d call(s)\n", calls == NULL ? 0 : *calls);
}

#endif
