/* Linear systems with a known solution, for programs that judge their answers themselves. */
#ifndef CHECK_SOLVE_H
#define CHECK_SOLVE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* With ILP64 the integers of dgesv_64_. */
#ifdef ILP64
typedef int64_t integer;
#else
typedef int32_t integer;
#endif
typedef void gesv_function(const integer* n, const integer* nrhs, double* a, const integer* lda,
                           integer* ipiv, double* b, const integer* ldb, integer* info);

/* Solves a system of order n that needs row interchanges and whose solution is 1, 2, 3, ...
 * Prints the largest error and returns 1 if the answer is right, else 0. */
static int check_solve_of_order(int n, const char* who, gesv_function* gesv) {
  const integer order = n, nrhs = 1;
  const size_t size = (size_t)n;
  double* const a = (double*)malloc(size * size * sizeof *a);
  double* const x = (double*)calloc(size, sizeof *x);
  integer* const ipiv = (integer*)malloc(size * sizeof *ipiv);
  if (a == NULL || x == NULL || ipiv == NULL) {
    printf("%s: there is no memory for a system of order %d\n", who, n);
    return 0;
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const double value = sin(3.0 * i + 7.0 * j * j) + (i == (j + 1) % n ? n : 0);
      a[(size_t)i + (size_t)j * size] = value;
      x[i] += value * (j + 1);
    }
  }
  integer info = 99;
  gesv(&order, &nrhs, a, &order, ipiv, x, &order, &info);
  double error = 0;
  for (int i = 0; i < n; ++i) error = fmax(error, fabs(x[i] - (i + 1)));
  const int right = info == 0 && error < 1e-9;
  printf("%s: info %d, largest error %.1e%s\n", who, (int)info, error, right ? "" : "  WRONG");
  fflush(stdout);
  free(ipiv);
  free(x);
  free(a);
  return right;
}

static int check_solve(const char* who, gesv_function* gesv) {
  return check_solve_of_order(100, who, gesv);
}

#endif
