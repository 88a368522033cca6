/* What Julia does if a user follows docs/user/programs.md:
 *
 *   julia_client NAMES CPU_LAPACK OVERLAPACK [bare]
 *
 * NAMES is a file of names for the stand-in. With `bare` libblastrampoline is told nothing by the
 * environment.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trampoline.h"

enum { kN = 50 };

static double a[kN * kN], x[kN];

/* Solves A x = b for a matrix with 2 on its diagonal, 1/n elsewhere; b = A e. */
static int check(int64_t n, int by_cholesky) {
  int64_t info = 9, one = 1, pivots[kN];
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) a[i + j * n] = i == j ? 2 : 1.0 / (double)n;
    x[j] = 2 + (double)(n - 1) / (double)n;
  }
  if (by_cholesky) {
    dpotrf_64_("L", &n, a, &n, &info, 1);
    return info == 0 && fabs(a[0] * a[0] - 2) < 1e-12 && fabs(a[1] * a[0] * (double)n - 1) < 1e-12;
  }
  dgesv_64_(&n, &one, a, &n, pivots, x, &n, &info);
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) worst = fmax(worst, fabs(x[i] - 1));
  return info == 0 && worst < 1e-12;
}

int main(int argc, char** argv) {
  if (argc < 4) return EXIT_FAILURE;
  const int bare = argc > 4 && strcmp(argv[4], "bare") == 0;
  if (stand_in_names != NULL) printf("names: %d\n", stand_in_names(argv[1]));
  printf("cpu: %d\n", lbt_forward(argv[2], 1, 0, NULL));
  if (!bare) {
    setenv("LBT_FORCE_INTERFACE", "ilp64", 1);
    setenv("LBT_FORCE_RETSTYLE", "normal", 1);
    setenv("LBT_FORCE_F2C", "plain", 1);
  }
  const int count = lbt_forward(argv[3], 0, 0, "64_");
  printf("forwarded: %d\n", count);
  if (count == 0) return EXIT_FAILURE;
  for (int64_t n = 2; n <= kN; n += kN - 2) { /* the small ones stay on the CPU */
    for (int by_cholesky = 0; by_cholesky < 2; ++by_cholesky) {
      if (check(n, by_cholesky)) continue;
      printf("wrong: n = %d, %s\n", (int)n, by_cholesky ? "dpotrf" : "dgesv");
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
