/* Calls LAPACKE by rows and by columns, as Eigen and many C++ programs do. LAPACKE itself calls
 * dgesv_, dpotrf_ and dsyevd_, which is where liboverlapack comes in. Output as in c_client.c.
 */
#include <lapacke.h>
#include <stdio.h>
#include <stdlib.h>

enum { kOrder = 64, kRhs = 2 };

static void print(const char* label, lapack_int info, const double* a, int count) {
  printf("%s info %d values", label, (int)info);
  for (int i = 0; i < count; i += 1 + count / 20) printf(" %.12e", a[i]);
  printf("\n");
}

static void run(int layout, const char* name) {
  enum { n = kOrder, nrhs = kRhs };
  static double a[n * n], b[n * nrhs];
  lapack_int ipiv[n];
  char label[64];
  const int by_rows = layout == LAPACK_ROW_MAJOR;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const int at = by_rows ? i * n + j : i + j * n;
      a[at] = (i * 31 + j * 17) % 23 - 11 + (j == (i + 5) % n ? 200 : 0);
    }
    for (int j = 0; j < nrhs; ++j) b[by_rows ? i * nrhs + j : i + j * n] = i + 100 * j;
  }
  lapack_int info = LAPACKE_dgesv(layout, n, nrhs, a, n, ipiv, b, by_rows ? nrhs : n);
  snprintf(label, sizeof label, "dgesv %s", name);
  print(label, info, b, n * nrhs);
  printf("%s pivots", label);
  for (int i = 0; i < n; ++i) printf(" %d", (int)ipiv[i]);
  printf("\n");

  const char triangles[] = {'L', 'U'};
  for (int t = 0; t < 2; ++t) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) a[i * n + j] = i == j ? n : 1.0 / (1 + abs(i - j));
    }
    info = LAPACKE_dpotrf(layout, triangles[t], n, a, n);
    snprintf(label, sizeof label, "dpotrf %s %c", name, triangles[t]);
    print(label, info, a, n * n);
  }
  /* It asks dsyevd_ itself for the sizes of its workspaces. */
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[i * n + j] = i == j ? i : 1.0 / (1 + abs(i - j));
  }
  info = LAPACKE_dsyevd(layout, 'V', 'L', n, a, n, b);
  snprintf(label, sizeof label, "dsyevd %s", name);
  print(label, info, b, n);
  /* LAPACKE numbers its arguments from the layout on: n is the second of dgesv. */
  printf("dgesv %s bad info %d\n", name, (int)LAPACKE_dgesv(layout, -1, 1, a, 1, ipiv, b, 1));
}

int main(void) {
  run(LAPACK_COL_MAJOR, "columns");
  run(LAPACK_ROW_MAJOR, "rows");
  return EXIT_SUCCESS;
}
