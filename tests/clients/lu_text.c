/* LU factorization as a text program.
 *
 *     lu_text [FILE]
 *
 * Reads n (1 <= n <= 8000) and then n rows of n reals, one row per line, from FILE or from standard
 * input. Prints n rows with L and U in one matrix (the unit diagonal of L is not stored), each
 * value as %.10e, and then the permutation, counted from 0: p[i] is the row that was exchanged with
 * row i at step i. Bad input ends the program with status 1 and a message that names the line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lu_text_reader.h"
#include "overlapack/lapack.h"

int main(int argc, char** argv) {
  if (argc > 2) {
    fprintf(stderr, "usage: lu_text [FILE]\n");
    return EXIT_FAILURE;
  }
  const char* const name = argc == 2 ? argv[1] : "standard input";
  struct reader in = {stdin, 0, NULL, 0, ""};
  if (argc == 2) {
    in.file = fopen(argv[1], "r");
    if (in.file == NULL) {
      fprintf(stderr, "lu_text: %s: %s\n", argv[1], strerror(errno));
      return EXIT_FAILURE;
    }
  }
  int order = 0;
  double* const a = read_matrix(&in, &order);
  if (a == NULL) {
    fprintf(stderr, "lu_text: %s, line %ld: %s\n", name, in.number, in.message);
    return EXIT_FAILURE;
  }
  const int32_t n = order;
  int32_t info, *const ipiv = malloc(sizeof *ipiv * (size_t)n);
  if (ipiv == NULL) {
    fprintf(stderr, "lu_text: no memory for %d pivots\n", order);
    return EXIT_FAILURE;
  }
  dgetrf_(&n, &n, a, &n, ipiv, &info);
  if (info < 0) {
    fprintf(stderr, "lu_text: dgetrf rejected its argument %d\n", (int)-info);
    return EXIT_FAILURE;
  }
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < n; ++j) {
      printf("%s%.10e", j == 0 ? "" : " ", a[(size_t)i + (size_t)j * (size_t)n]);
    }
    printf("\n");
  }
  for (int32_t i = 0; i < n; ++i) printf("%s%d", i == 0 ? "" : " ", (int)ipiv[i] - 1);
  printf("\n");
  /* A singular matrix has an LU factorization all the same: only say so. */
  if (info > 0) fprintf(stderr, "lu_text: the matrix is singular: U(%d, %d) is zero\n", info, info);

  free(ipiv);
  free(a);
  free(in.text);
  if (in.file != stdin) fclose(in.file);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "lu_text: cannot write the result: %s\n", strerror(errno));
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
