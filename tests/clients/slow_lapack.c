/* A LAPACK whose loading takes half a second, and which wants to hear of forks, as OpenBLAS does.
 * It stands for a library on a slow disk. Only dlange_ is its own, so that its absence would show.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "overlapack/lapack.h"

static int ready;

static void before_fork(void) {}

__attribute__((constructor)) static void load(void) {
  const struct timespec half_a_second = {0, 500000000};
  nanosleep(&half_a_second, NULL);
  pthread_atfork(before_fork, NULL, NULL);
  ready = 1;
}

/* The norm "M"; -1 if the library was never loaded to the end. */
double dlange_(const char* norm, const int32_t* m, const int32_t* n, const double* a,
               const int32_t* lda, double* work, size_t length) {
  (void)norm, (void)work, (void)length;
  double largest = ready ? 0 : -1;
  for (int32_t j = 0; ready && j < *n; ++j) {
    for (int32_t i = 0; i < *m; ++i) largest = fmax(largest, fabs(a[i + (size_t)j * (size_t)*lda]));
  }
  return largest;
}
