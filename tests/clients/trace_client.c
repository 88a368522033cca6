/* Calls of every kind leave errno and dlerror() as they were, on whatever device and with or
 * without a call log, the first call of a process above all: it reads files and looks for
 * libraries.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "overlapack/lapack.h"
#include "overlapack/overlapack.h"

enum { N = 300, APART = 64, COLUMNS = 40, LONG = 2048 };

void dcopy_64_(const int64_t* n, const double* x, const int64_t* incx, double* y,
               const int64_t* incy);
void scipy_dpotrf_(const char* uplo, const int32_t* n, double* a, const int32_t* lda,
                   int32_t* info);

static int refused = 0;
void xerbla_(const char* name, const int32_t* position, size_t length) {
  refused += name != NULL && *position > 0 && length > 0;
}

static double a[N * N], v[N], w[N], from[LONG * APART], to[LONG * COLUMNS];

static void fill(void) {
  for (int i = 0; i < N * N; ++i) a[i] = i % (N + 1) == 0 ? 2 * N : 1;
  for (int i = 0; i < N; ++i) v[i] = 1;
}

static int factor(void) {
  const int32_t n = N;
  int32_t info = -1;
  fill();
  dpotrf_("U", &n, a, &n, &info, 1);
  return info == 0;
}
static int solve(void) {
  const int32_t n = N, one = 1;
  static int32_t pivots[N];
  int32_t info = -1;
  fill();
  dgesv_(&n, &one, a, &n, pivots, v, &n, &info);
  return info == 0;
}
static int refuse(void) {
  const int32_t n = -1;
  int32_t info = 0;
  dpotrf_("L", &n, a, &n, &info, 1);
  return info == -2 && refused > 0;
}
static int refuse_scipy(void) { /* there is no scipy_xerbla_ */
  const int32_t n = -1;
  int32_t info = 0;
  scipy_dpotrf_("L", &n, a, &n, &info);
  return info == -2;
}
static int take_norm(void) {
  const int32_t n = N; /* large enough for the question whether it lies on a GPU */
  fill();
  return dlange_("M", &n, &n, a, &n, w, 1) == 2 * N;
}
static int copy(void) { /* enough of them for several threads */
  const int64_t n = LONG, apart = APART, one = 1;
  for (int j = 0; j < COLUMNS; ++j) dcopy_64_(&n, from + j, &apart, to + j * LONG, &one);
  return 1;
}
static int update(void) {
  int64_t info = -1;
  if (!factor()) return 0;
  ovl_dcholupdate('U', N, 1, a, N, v, N, 1, &info);
  return info == 0;
}
static int update_as_qrupdate(void) {
  const int32_t n = N;
  if (!factor()) return 0;
  dch1up_(&n, a, &n, v, w);
  return 1;
}

typedef int call(void);
static call* const calls[] = {factor,    solve, refuse, refuse_scipy,
                              take_norm, copy,  update, update_as_qrupdate};
static const char* const names[] = {
    "dpotrf", "dgesv", "a refused call",  "a refused call of SciPy's",
    "dlange", "dcopy", "ovl_dcholupdate", "dch1up"};
enum { KINDS = sizeof calls / sizeof calls[0] };

/* The first call of a process and the ones after it. */
static int check(int first, const char* device) {
  int good = 1;
  for (int i = 0; i < 2 * KINDS; ++i) {
    const int which = (first + i) % KINDS;
    dlerror();
    errno = ERANGE;
    const int right = calls[which]();
    const int error = errno;
    const char* const message = dlerror();
    if (right && error == ERANGE && message == NULL) continue;
    printf("%s, OVERLAPACK_DEVICE=%s, after %d calls: %s, errno \"%s\", dlerror() \"%s\"\n",
           names[which], device, i, right ? "right" : "WRONG", strerror(error),
           message != NULL ? message : "");
    good = 0;
  }
  fflush(stdout);
  return good;
}

int main(void) {
  static const char* const devices[] = {"off", "host", "cuda", "auto"};
  int good = 1;
  for (int i = 0; i < 4 * KINDS; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("OVERLAPACK_DEVICE", devices[i % 4], 1);
      if (i % 8 >= 4) unsetenv("OVERLAPACK_VERBOSE");
      _exit(check(i / 4, devices[i % 4]) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = -1;
    good = waitpid(child, &status, 0) == child && status == 0 && good;
  }
  printf("%s\n", good ? "no traces" : "there are traces");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
