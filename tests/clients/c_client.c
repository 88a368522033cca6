/* Calls every routine for the four types as a C program does, and prints the results: one line
 * "<routine> <label> <numbers>", compared by run_client.py with those of another LAPACK.
 * Built with ILP64 defined it uses the names with 64-bit integers.
 */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlapack/lapack.h"

#ifdef ILP64
typedef int64_t integer;
#  define SUFFIX _64_
#else
typedef int32_t integer;
#  define SUFFIX _
#endif

#define PASTE_EXPANDED(a, b, c) a##b##c
#define PASTE(a, b, c) PASTE_EXPANDED(a, b, c)
/* The routine `name` and the function `name` of c_client_type.h for the type at hand. */
#define LAPACK(name) PASTE(LETTER, name, SUFFIX)
#define LOCAL(name) PASTE(LETTER, _, name)

enum { kOrder = 77, kRows = 90, kColumns = 50, kRhs = 3, kPadding = 5 };
static const double kSentinel = -9.9;

/* A fixed sequence of numbers in [-1, 1). */
static double next_random(void) {
  static uint64_t state = 12345;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

#define LETTER s
#define NAME "s"
#define SCALAR float
#define IS_COMPLEX 0
#include "c_client_type.h"
#define LETTER d
#define NAME "d"
#define SCALAR double
#define IS_COMPLEX 0
#include "c_client_type.h"
#define LETTER c
#define NAME "c"
#define SCALAR float _Complex
#define IS_COMPLEX 1
#include "c_client_type.h"
#define LETTER z
#define NAME "z"
#define SCALAR double _Complex
#define IS_COMPLEX 1
#include "c_client_type.h"

int main(void) {
  s_run();
  d_run();
  c_run();
  z_run();
  return EXIT_SUCCESS;
}
