/* Leaves, while threads are in calls on the device, in the way that its argument names. Its status
 * is 3 where a program can choose it. It prints nothing but what is wrong.
 *
 *     exit_client WAY ORDER MILLISECONDS
 *
 * The threads solve systems of that order. It waits for their first calls, and then for so long;
 * or only for so long if WAY has -early. With -join a handler at exit joins the threads, and with
 * -solve one makes a call. With -children, processes are forked all the while, each of which solves
 * a system and leaves. A handler that is registered first of all, and so runs last, gives the
 * threads time to come to harm. With -slow it gives them so much that they go on with their calls.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "overlapack/lapack.h"

enum { status = 3, wrong = 4, threads = 2 };

static int32_t n;
static long milliseconds;
static int slow;
static _Atomic int solved, stop;
static pthread_t thread[threads];

static void sleep_for(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  _exit(wrong);
}

/* Whether a way, which may have a suffix, has that name. */
static int is(const char* way, const char* name) {
  const size_t length = strlen(name);
  return strncmp(way, name, length) == 0 && (way[length] == 0 || way[length] == '-');
}

/* Solves a system whose solution is all ones. */
static void solve(void) {
  const size_t order = (size_t)n;
  const int32_t one = 1;
  int32_t info = 99;
  double* const a = malloc(order * order * sizeof *a);
  double* const x = calloc(order, sizeof *x);
  int32_t* const ipiv = malloc(order * sizeof *ipiv);
  if (a == NULL || x == NULL || ipiv == NULL) fail("no memory");
  uint32_t random = 1;
  for (size_t j = 0; j < order; ++j) {
    for (size_t i = 0; i < order; ++i) {
      random = random * 1664525 + 1013904223;
      a[i + j * order] = random / 4294967296.0 + (i == (j + 1) % order ? n : 0);
      x[i] += a[i + j * order];
    }
  }
  dgesv_(&n, &one, a, &n, ipiv, x, &n, &info);
  if (info != 0) fail("info is wrong");
  for (size_t i = 0; i < order; ++i) {
    if (!(x[i] > 1 - 1e-6 && x[i] < 1 + 1e-6)) fail("a solution is wrong");
  }
  free(a);
  free(x);
  free(ipiv);
}

static void* go_on_solving(void* unused) {
  while (!stop) {
    solve();
    ++solved;
  }
  return unused;
}

static void start(void) {
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&thread[i], NULL, go_on_solving, NULL) != 0) fail("no thread");
  }
}

/* For a handler at exit, as a pool of threads with static storage has one. */
static void join(void) {
  stop = 1;
  for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
}

static void linger(void) { sleep_for(slow ? 1500 : 100); }

static void* leave(void* unused) {
  exit(status);
  return unused;
}

static void leave_by_child(void) {
  const pid_t child = fork();
  if (child == 0) exit(status);
  int how = 0;
  if (child < 0 || waitpid(child, &how, 0) != child) fail("no child");
  if (!WIFEXITED(how) || WEXITSTATUS(how) != status) fail("the child's status is wrong");
}

/* Forks children one after the other for so long. */
static void fork_children(long ms) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20); /* ends a child that hangs */
      solve();
      exit(status);
    }
    int how = 0;
    if (child < 0 || waitpid(child, &how, 0) != child) fail("no child");
    if (!WIFEXITED(how) || WEXITSTATUS(how) != status) fail("the child's status is wrong");
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* LAPACK's routine for illegal arguments ends the program. */
void xerbla_(const char* name, const int32_t* argument, size_t length) {
  (void)name, (void)argument, (void)length;
  exit(status);
}

int main(int argc, char** argv) {
  if (argc != 4) return wrong;
  const char* const way = argv[1];
  const int early = strstr(way, "-early") != NULL;
  const int32_t illegal = -1, one = 1;
  pthread_t other;
  n = atoi(argv[2]);
  milliseconds = atol(argv[3]);
  slow = strstr(way, "-slow") != NULL;
  alarm(60); /* ends a program that hangs */
  atexit(linger);
  at_quick_exit(linger);
  if (strstr(way, "join") != NULL) atexit(join);
  if (strstr(way, "solve") != NULL) atexit(solve);

  start();
  while (!early && solved < 2 * threads) sleep_for(1);
  if (strstr(way, "children") != NULL) {
    fork_children(milliseconds);
  } else {
    sleep_for(milliseconds);
  }
  if (strstr(way, "return") != NULL) return status;
  if (is(way, "exit")) exit(status);
  if (is(way, "quick_exit")) quick_exit(status);
  if (is(way, "_exit")) _exit(status);
  if (is(way, "signal")) raise(SIGTERM);
  if (is(way, "child")) leave_by_child();
  if (is(way, "xerbla")) {
    double number = 0;
    int32_t pivot = 0, info = 0;
    dgesv_(&illegal, &one, &number, &one, &pivot, &number, &one, &info);
    fail("xerbla_ has not been called");
  }
  if (is(way, "thread")) {
    if (pthread_create(&other, NULL, leave, NULL) != 0) fail("no thread");
    for (;;) solve();
  }
  return status;
}
