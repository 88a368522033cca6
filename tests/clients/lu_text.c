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
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlapack/lapack.h"

enum { kMaxOrder = 8000 };
static const char kBlanks[] = " \t\r\n\v\f";

/* The input, line by line; blank lines do not count as rows. */
struct reader {
  FILE* file;
  const char* name;
  long number; /* of the line in `text`, from 1 */
  char* text;
  size_t capacity;
};

static void fail(const struct reader* in, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "lu_text: %s, line %ld: ", in->name, in->number);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(EXIT_FAILURE);
}

/* Moves to the next line that is not blank; returns its first token's position or null at the end.
 */
static char* next_line(struct reader* in) {
  for (;;) {
    ++in->number;
    const ssize_t length = getline(&in->text, &in->capacity, in->file);
    if (length < 0) {
      if (ferror(in->file)) fail(in, "cannot be read: %s", strerror(errno));
      return NULL;
    }
    if (strlen(in->text) != (size_t)length) fail(in, "contains a zero byte");
    char* first = in->text + strspn(in->text, kBlanks);
    if (*first != '\0') return first;
  }
}

/* Reads one token as a finite real and moves *position behind it and the blanks that follow. */
static double read_real(const struct reader* in, char** position) {
  const int length = (int)strcspn(*position, kBlanks);
  char* end;
  const double value = strtod(*position, &end);
  if (end != *position + length) fail(in, "\"%.*s\" is not a number", length, *position);
  if (!isfinite(value)) fail(in, "\"%.*s\" is not a finite number", length, *position);
  *position = end + strspn(end, kBlanks);
  return value;
}

static int32_t read_order(struct reader* in) {
  char* position = next_line(in);
  if (position == NULL) fail(in, "the input is empty; expected the order n of the matrix");
  const double n = read_real(in, &position);
  if (!(n >= 1 && n <= kMaxOrder) || n != floor(n)) {
    fail(in, "the order must be a whole number from 1 to %d", kMaxOrder);
  }
  if (*position != '\0') fail(in, "expected the order n alone on its line");
  return (int32_t)n;
}

static void read_matrix(struct reader* in, int32_t n, double* a) {
  for (int32_t i = 0; i < n; ++i) {
    char* position = next_line(in);
    if (position == NULL) fail(in, "the input ends after %d of %d rows", (int)i, (int)n);
    for (int32_t j = 0; j < n; ++j) {
      if (*position == '\0') fail(in, "row %d has %d of %d values", (int)i + 1, (int)j, (int)n);
      a[(size_t)i + (size_t)j * (size_t)n] = read_real(in, &position);
    }
    if (*position != '\0') fail(in, "row %d has more than %d values", (int)i + 1, (int)n);
  }
  if (next_line(in) != NULL) fail(in, "unexpected text after the last row");
}

int main(int argc, char** argv) {
  if (argc > 2) {
    fprintf(stderr, "usage: lu_text [FILE]\n");
    return EXIT_FAILURE;
  }
  struct reader in = {stdin, "standard input", 0, NULL, 0};
  if (argc == 2) {
    in.name = argv[1];
    in.file = fopen(argv[1], "r");
    if (in.file == NULL) {
      fprintf(stderr, "lu_text: %s: %s\n", argv[1], strerror(errno));
      return EXIT_FAILURE;
    }
  }
  const int32_t n = read_order(&in);
  double* a = malloc(sizeof(double) * (size_t)n * (size_t)n);
  int32_t* ipiv = malloc(sizeof(int32_t) * (size_t)n);
  if (a == NULL || ipiv == NULL) {
    fprintf(stderr, "lu_text: no memory for a matrix of order %d\n", (int)n);
    return EXIT_FAILURE;
  }
  read_matrix(&in, n, a);

  int32_t info;
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
