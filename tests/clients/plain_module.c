/* An extension module that calls LAPACK by plain names, with integers of either width, and judges
 * the answers. With WRAPPED it calls by way of plain_wrapper.c; with OWN_XERBLA it has an xerbla_,
 * which must get the reports of its own errors and of no others. With EARLY it calls as it is
 * loaded, in a thread that its constructor waits for. LAPACK_ONLY leaves qrupdate's names out.
 */
#include <math.h>
#include <stdio.h>

#include "plain_lapack.h"

#ifdef EARLY
#  include <pthread.h>
#  include <stdlib.h>
#  include <unistd.h>
#endif

#ifdef WRAPPED
#  define GETRF wrapped_getrf
#  define CALLS "calls by a wrapper, "
#else
#  define GETRF dgetrf_
#  define CALLS "calls, "
#endif

#ifdef OWN_XERBLA
enum { own_xerbla = 1 };
static int reports, last_position;

void xerbla_(const char* routine, const integer* position, size_t length) {
  (void)routine, (void)length;
  ++reports;
  last_position = (int)*position;
}
#else
enum { own_xerbla = 0, reports = 0, last_position = 0 };
#endif

/* None of whose halves is what a call stores. */
static const integer kNothing = (integer)-1234567890123;

/* Columns (0,0,1), (1,0,0), (0,1,0): all pivots are 3, and the determinant is 1. */
static int factors(void) {
  double a[] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, determinant = 1;
  const integer n = 3;
  integer ipiv[] = {kNothing, kNothing, kNothing}, info = kNothing;
  GETRF(&n, &n, a, &n, ipiv, &info);
  for (int i = 0; i < 3; ++i) determinant *= ipiv[i] == i + 1 ? a[4 * i] : -a[4 * i];
  printf("pivots %lld %lld %lld, info %lld, determinant %g; ", (long long)ipiv[0],
         (long long)ipiv[1], (long long)ipiv[2], (long long)info, determinant);
  return ipiv[0] == 3 && ipiv[1] == 3 && ipiv[2] == 3 && info == 0 && determinant == 1;
}

static int downdates(void) {
#ifdef LAPACK_ONLY
  return 1;
#else
  double r = 5, u = 3, w = 0;
  const integer n = 1;
  integer info = kNothing;
  dch1dn_(&n, &r, &n, &u, &w, &info);
  printf("downdate %g, info %lld; ", r, (long long)info);
  return fabs(r - 4) < 1e-14 && info == 0;
#endif
}

static int reports_errors(void) {
  double a[1] = {1};
  const integer n = 1, wrong = -1;
  integer ipiv[] = {kNothing}, info = kNothing;
  const int before = reports;
  GETRF(&wrong, &n, a, &n, ipiv, &info);
  printf("error %lld, %d report(s)", (long long)info, reports - before);
  return info == -1 && ipiv[0] == kNothing && reports - before == own_xerbla &&
         last_position == own_xerbla;
}

int plain_check(void) {
  printf("%d-bit " CALLS, (int)(8 * sizeof(integer)));
  const int factored = factors(), downdated = downdates(), reported = reports_errors();
  const int right = factored && downdated && reported;
  puts(right ? "" : "  WRONG");
  fflush(stdout);
  return right;
}

#ifdef EARLY
static void* check_in_thread(void* unused) {
  (void)unused;
  if (!factors() || !downdates()) _exit(EXIT_FAILURE); /* reports ask for symbols by name */
  return NULL;
}

__attribute__((constructor)) static void check_early(void) {
  pthread_t thread;
  alarm(20); /* a thread that waits for the constructor would never end */
  if (pthread_create(&thread, NULL, check_in_thread, NULL) != 0) _exit(EXIT_FAILURE);
  pthread_join(thread, NULL);
  alarm(0);
}
#endif
