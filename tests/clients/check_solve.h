/* A linear system with a known solution, for programs that judge their answers themselves. */
#ifndef CHECK_SOLVE_H
#define CHECK_SOLVE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

/* With ILP64 the integers of dgesv_64_. */
#ifdef ILP64
typedef int64_t integer;
#else
typedef int32_t integer;
#endif
typedef void gesv_function(const integer* n, const integer* nrhs, double* a, const integer* lda,
                           integer* ipiv, double* b, const integer* ldb, integer* info);

/* Solves a system of order 100 that needs row interchanges and whose solution is 1, 2, 3, ...
 * Prints the largest error and returns 1 if the answer is right, else 0. */
static int check_solve(const char* who, gesv_function* gesv) {
  enum { n = 100 };
  const integer order = n, nrhs = 1;
  static double a[n * n], x[n];
  integer ipiv[n], info = 99;
  for (int i = 0; i < n; ++i) x[i] = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      a[i + j * n] = sin(3.0 * i + 7.0 * j * j) + (i == (j + 1) % n ? n : 0);
      x[i] += a[i + j * n] * (j + 1);
    }
  }
  gesv(&order, &nrhs, a, &order, ipiv, x, &order, &info);
  double error = 0;
  for (int i = 0; i < n; ++i) error = fmax(error, fabs(x[i] - (i + 1)));
  const int right = info == 0 && error < 1e-9;
  printf("%s: info %d, largest error %.1e%s\n", who, (int)info, error, right ? "" : "  WRONG");
  fflush(stdout);
  return right;
}

#endif
