/* Uses the library, forks, and uses it again on both sides: CUDA does not survive a fork, so the
 * child must be served without it, and rightly.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_solve.h"
#include "overlapack/lapack.h"

int main(void) {
  if (!check_solve("before the fork", dgesv_)) return EXIT_FAILURE;
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
