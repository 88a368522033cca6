/* Opens modules (plain_module.c) in the order of its arguments, and has each of them call LAPACK
 * once it is there and once more after each later one:
 *
 *     plain_client local:MODULE | global:MODULE | alternately:MODULE,MODULE,LINK ...
 *
 * `local` and `global` are the modes of dlopen. `alternately` opens and closes the two modules in
 * turn by the same name, LINK, so that each may take the other's place in memory. With CALLS_ITSELF
 * the program is linked with a LAPACK, and calls it, too. Ends with status 1 if an answer is wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CALLS_ITSELF
#  include "plain_lapack.h"
#endif

typedef int check_function(void);
enum { kMost = 8, kTurns = 6 };
static check_function* checks[kMost];
static int checks_count;
static int all_right = 1;

static check_function* check_of(void* module) {
  check_function* check = NULL;
  if (module != NULL) *(void**)&check = dlsym(module, "plain_check");
  if (check == NULL) {
    fprintf(stderr, "plain_client: %s\n", dlerror());
    exit(EXIT_FAILURE);
  }
  return check;
}

static void add(check_function* check) {
  checks[checks_count++] = check;
  for (int i = 0; i < checks_count; ++i) all_right &= checks[i]();
}

static void alternate(char* paths) {
  const char* const modules[] = {strtok(paths, ","), strtok(NULL, ",")};
  const char* const link = strtok(NULL, ",");
  const void* last = NULL;
  int in_the_same_place = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    unlink(link);
    if (symlink(modules[turn % 2], link) != 0) exit(EXIT_FAILURE);
    void* const module = dlopen(link, RTLD_NOW | RTLD_LOCAL);
    check_function* const check = check_of(module);
    Dl_info place;
    if (dladdr(*(void**)&check, &place) != 0) {
      in_the_same_place += place.dli_fbase == last;
      last = place.dli_fbase;
    }
    all_right &= check();
    dlclose(module);
  }
  unlink(link);
  printf("in the place of the one before: %d of %d\n", in_the_same_place, kTurns - 1);
}

int main(int argc, char** argv) {
#ifdef CALLS_ITSELF
  add(plain_check);
#endif
  for (int i = 1; i < argc && checks_count < kMost; ++i) {
    char* const path = strchr(argv[i], ':') + 1;
    if (argv[i][0] == 'a') {
      alternate(path);
    } else {
      const int mode = argv[i][0] == 'g' ? RTLD_GLOBAL : RTLD_LOCAL;
      add(check_of(dlopen(path, RTLD_NOW | mode)));
    }
  }
  return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
