/* Reads a matrix from text, for lu_text.c: n (1 <= n <= 8000) and then n rows of n reals, one row
 * per line. Blank lines do not count. */
#ifndef LU_TEXT_READER_H
#define LU_TEXT_READER_H

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxOrder = 8000 };
static const char kBlanks[] = " \t\r\n\v\f";

struct reader {
  FILE* file;
  long number; /* of the line in `text`, from 1 */
  char* text;
  size_t capacity;
  char message[200]; /* what is wrong with that line; empty if nothing is */
};

/* Keeps the first message. Returns 0. */
static int fail(struct reader* in, const char* format, ...) {
  if (in->message[0] != '\0') return 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(in->message, sizeof in->message, format, arguments);
  va_end(arguments);
  return 0;
}

/* Moves to the next line that is not blank; returns its first token's position, or null at the end
 * or if something is wrong. */
static char* next_line(struct reader* in) {
  for (;;) {
    ++in->number;
    const ssize_t length = getline(&in->text, &in->capacity, in->file);
    if (length < 0) {
      if (!feof(in->file)) fail(in, "cannot be read: %s", strerror(errno));
      return NULL;
    }
    if (strlen(in->text) != (size_t)length) {
      fail(in, "contains a zero byte");
      return NULL;
    }
    char* const first = in->text + strspn(in->text, kBlanks);
    if (*first != '\0') return first;
  }
}

/* Reads one token as a finite real and moves *position behind it and the blanks that follow. */
static int read_real(struct reader* in, char** position, double* value) {
  const size_t length = strcspn(*position, kBlanks);
  const int shown = length < 40 ? (int)length : 40;
  char* end;
  *value = strtod(*position, &end);
  if (end != *position + length) return fail(in, "\"%.*s\" is not a number", shown, *position);
  if (!isfinite(*value)) return fail(in, "\"%.*s\" is not a finite number", shown, *position);
  *position = end + strspn(end, kBlanks);
  return 1;
}

static int read_order(struct reader* in, int* order) {
  char* position = next_line(in);
  double n = 0;
  if (position == NULL) return fail(in, "the input is empty; expected the order n of the matrix");
  if (!read_real(in, &position, &n)) return 0;
  if (!(n >= 1 && n <= kMaxOrder) || n != floor(n)) {
    return fail(in, "the order must be a whole number from 1 to %d", kMaxOrder);
  }
  if (*position != '\0') return fail(in, "expected the order n alone on its line");
  *order = (int)n;
  return 1;
}

static int read_row(struct reader* in, int i, int n, double* row) {
  char* position = next_line(in);
  if (position == NULL) return fail(in, "the input ends after %d of %d rows", i, n);
  for (int j = 0; j < n; ++j) {
    if (*position == '\0') return fail(in, "row %d has %d of %d values", i + 1, j, n);
    if (!read_real(in, &position, &row[j])) return 0;
  }
  if (*position != '\0') return fail(in, "row %d has more than %d values", i + 1, n);
  return 1;
}

/* Memory grows with the rows that are there: a short text never takes much. */
static int read_rows(struct reader* in, int n, double** rows) {
  for (int i = 0, room = 0; i < n; ++i) {
    if (i == room) {
      room = room >= n / 2 ? n : 2 * room + 1;
      void* const more = realloc(*rows, sizeof(double) * (size_t)n * (size_t)room);
      if (more == NULL) return fail(in, "there is no memory for a matrix of order %d", n);
      *rows = (double*)more;
    }
    if (!read_row(in, i, n, *rows + (size_t)i * (size_t)n)) return 0;
  }
  if (next_line(in) != NULL) return fail(in, "unexpected text after the last row");
  return in->message[0] == '\0';
}

static void transpose(size_t n, double* a) {
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < j; ++i) {
      const double value = a[i + j * n];
      a[i + j * n] = a[j + i * n];
      a[j + i * n] = value;
    }
  }
}

/* The matrix by columns, like LAPACK's, and its order; or null, with in->message and in->number.
 * The caller frees it, and in->text. */
static double* read_matrix(struct reader* in, int* order) {
  double* a = NULL;
  if (!read_order(in, order)) return NULL;
  if (read_rows(in, *order, &a)) {
    transpose((size_t)*order, a);
    return a;
  }
  free(a);
  return NULL;
}

#endif
