/* Uses the library, forks, and uses it again on both sides: CUDA does not survive a fork, so the
 * child must be served without it, and rightly. And forks beside a thread that is in the library
 * most of the time: what that thread holds at the fork, nobody in the child will ever release.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_solve.h"
#include "overlapack/lapack.h"

/* Large enough for threads of the library. */
enum { order = 600 };
static double matrix[order * order];

static double norm(void) {
  const int n = order;
  return dlange_("M", &n, &n, matrix, &n, NULL, 1);
}

struct thread {
  _Atomic int started, stop;
};

static void* compute_norms(void* argument) {
  struct thread* const self = argument;
  double sum = 0;
  self->started = 1;
  while (!self->stop) sum += norm();
  return sum < 0 ? argument : NULL;
}

static int check_children_beside_a_thread(const char* when) {
  enum { children = 100, seconds = 20 };
  int good = 0;
  struct thread state = {0, 0};
  pthread_t thread;
  if (pthread_create(&thread, NULL, compute_norms, &state) != 0) return 0;
  while (!state.started) sched_yield();
  for (; good < children; ++good) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(seconds); /* ends a child that hangs */
      _exit(norm() == 3 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
      printf("%s: child %d ended with wait status %d\n", when, good, status);
      break;
    }
  }
  state.stop = 1;
  pthread_join(thread, NULL);
  return good == children;
}

int main(void) {
  matrix[0] = -3;
  if (!check_children_beside_a_thread("before the first solve")) return EXIT_FAILURE;
  if (!check_solve("before the fork", dgesv_)) return EXIT_FAILURE;
  if (!check_children_beside_a_thread("after the first solve")) return EXIT_FAILURE;
  const pid_t child = fork();
  if (child < 0) {
    perror("fork");
    return EXIT_FAILURE;
  }
  if (child == 0) _exit(check_solve("child", dgesv_) ? EXIT_SUCCESS : EXIT_FAILURE);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    printf("the child ended with wait status %d\n", status);
    return EXIT_FAILURE;
  }
  return check_solve("parent", dgesv_) ? EXIT_SUCCESS : EXIT_FAILURE;
}
