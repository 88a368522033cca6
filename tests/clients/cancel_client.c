/* Threads that are cancelled on their way into a call: the call is done to its end, and the thread
 * ends afterwards. LAPACK itself has no cancellation points.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check_solve.h"
#include "overlapack/lapack.h"

static int solved; /* written by one thread at a time, read after it has been joined */

/* Only the call itself can be cancelled, not the output of its result. */
static void solve(const int32_t* n, const int32_t* nrhs, double* a, const int32_t* lda,
                  int32_t* ipiv, double* b, const int32_t* ldb, int32_t* info) {
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  dgesv_(n, nrhs, a, lda, ipiv, b, ldb, info);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
}

static void* solve_while_cancelled(void* unused) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  pthread_cancel(pthread_self());
  solved = check_solve("cancelled thread", solve);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  pthread_testcancel();
  return unused;
}

int main(void) {
  alarm(60);                          /* ends a program that hangs */
  for (int run = 0; run < 4; ++run) { /* the first of them is the first call of the process */
    pthread_t thread;
    void* result = NULL;
    solved = 0;
    if (pthread_create(&thread, NULL, solve_while_cancelled, &solved) != 0) return EXIT_FAILURE;
    if (pthread_join(thread, &result) != 0 || !solved || result != PTHREAD_CANCELED) {
      printf("run %d: %s\n", run, solved ? "the thread was not cancelled" : "the call was");
      return EXIT_FAILURE;
    }
  }
  return check_solve("afterwards", dgesv_) ? EXIT_SUCCESS : EXIT_FAILURE;
}
