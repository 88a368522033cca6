/* A program that uses CUDA itself, and misuses it:
 *
 *     cuda_client solve ORDER [TIMES]   solves systems and nothing else
 *     cuda_client illegal WHEN          its kernel writes where there is no memory
 *     cuda_client reset WHEN            it resets the GPU
 *     cuda_client take MB WHEN          it takes all memory of the GPU but so much
 *     cuda_client hold MB               the same, says "held" and waits for the end of its input
 *     cuda_client fork                  it forks, having started CUDA
 *
 * WHEN is "before" or "after" the first call, or "meanwhile": work that fails is under way. It ends
 * with 0 if all answers are right. The driver is asked by name; its header is not needed: handles
 * are pointers, codes are integers, 0 is success.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_solve.h"
#include "overlapack/lapack.h"

typedef void* handle;

static void fail(const char* what, int code) {
  printf("%s: code %d\n", what, code);
  exit(EXIT_FAILURE);
}

/* A function of the driver. */
static void* driver(const char* name) {
  static void* library = NULL;
  if (library == NULL) library = dlopen("libcuda.so.1", RTLD_LAZY);
  void* const function = library == NULL ? NULL : dlsym(library, name);
  if (function == NULL) fail(name, -1);
  return function;
}

/* Calls a function of the driver whose parameters have these types. */
#define CALL(name, types, ...) (((int(*) types)driver(name))(__VA_ARGS__))
#define MUST(name, types, ...)                       \
  do {                                               \
    const int code = CALL(name, types, __VA_ARGS__); \
    if (code != 0) fail(name, code);                 \
  } while (0)

static void start_cuda(void) {
  handle primary = NULL;
  MUST("cuInit", (unsigned), 0);
  MUST("cuDevicePrimaryCtxRetain", (handle*, int), &primary, 0);
  MUST("cuCtxSetCurrent", (handle), primary);
}

static int solve(const char* who) {
  return check_solve(who, dgesv_) && check_solve_of_order(1500, who, dgesv_);
}

/* ---- a kernel of the program's own that is wrong ---- */

static const char kKernel[] =
    ".version 7.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry write_nowhere() {\n"
    "  .reg .b64 %address;\n"
    "  .reg .b32 %value;\n"
    "  mov.u64 %address, 64;\n"
    "  mov.u32 %value, 1;\n"
    "  st.global.u32 [%address], %value;\n"
    "  ret;\n"
    "}\n";

static void write_nowhere(void) {
  handle module = NULL, kernel = NULL;
  MUST("cuModuleLoadData", (handle*, const void*), &module, kKernel);
  MUST("cuModuleGetFunction", (handle*, handle, const char*), &kernel, module, "write_nowhere");
  MUST("cuLaunchKernel",
       (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle,
        handle*, handle*),
       kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static int illegal(const char* when) {
  if (strcmp(when, "before") != 0 && !solve("in peace")) return 0;
  start_cuda();
  write_nowhere();
  if (strcmp(when, "meanwhile") != 0) {
    const int code = CALL("cuCtxSynchronize", (void), );
    if (code == 0) fail("the kernel that writes nowhere has not failed", code);
  }
  return solve("after the kernel has failed") && solve("once more");
}

/* ---- cudaDeviceReset() ---- */

/* By the runtime that the process has, if it has one: that forgets what it knows, too. */
static void reset(void) {
  char line[4096];
  void* runtime = NULL;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (runtime == NULL && maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    char* const path = strchr(line, '/');
    if (path == NULL || strstr(path, "libcudart.so") == NULL) continue;
    path[strcspn(path, "\n")] = '\0';
    runtime = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  }
  if (maps != NULL) fclose(maps);
  void* const function = runtime == NULL ? NULL : dlsym(runtime, "cudaDeviceReset");
  printf("reset by the %s\n", function == NULL ? "driver" : "runtime");
  if (function == NULL) {
    MUST("cuDevicePrimaryCtxReset_v2", (int), 0);
  } else {
    const int code = ((int (*)(void))function)();
    if (code != 0) fail("cudaDeviceReset", code);
  }
}

static int reset_and_solve(const char* when) {
  if (strcmp(when, "after") == 0 && !solve("in peace")) return 0;
  start_cuda();
  reset();
  return solve("after the reset") && solve("once more");
}

/* ---- little memory ---- */

/* Takes all memory of the GPU but so many megabytes, more or less. */
static void take_all_but(size_t left) {
  for (size_t megabytes = 65536; megabytes >= 1; megabytes /= 2) {
    for (;;) {
      size_t available = 0, total = 0;
      handle memory = NULL;
      MUST("cuMemGetInfo_v2", (size_t*, size_t*), &available, &total);
      if (available >> 20 <= megabytes + left) break;
      if (CALL("cuMemAlloc_v2", (handle*, size_t), &memory, megabytes << 20) != 0) break;
    }
  }
}

static int take_and_solve(size_t left, const char* when) {
  if (strcmp(when, "after") == 0 && !solve("in peace")) return 0;
  start_cuda();
  take_all_but(left);
  return solve("with little memory") && check_solve_of_order(3000, "a large system", dgesv_) &&
         solve("once more");
}

static int hold(size_t left) {
  start_cuda();
  take_all_but(left);
  puts("held");
  fflush(stdout);
  while (getchar() != EOF) continue;
  return 1;
}

/* ---- a fork before the first call ---- */

static int fork_and_solve(void) {
  start_cuda();
  const pid_t child = fork();
  if (child == 0) _exit(solve("child") ? EXIT_SUCCESS : EXIT_FAILURE);
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    fail("the child's wait status is wrong", status);
  }
  return solve("parent");
}

static int solve_repeatedly(int order, int times) {
  for (int i = 0; i < times; ++i) {
    if (!check_solve_of_order(order, "solve", dgesv_)) return 0;
  }
  return 1;
}

static int run(const char* mode, const char* first, const char* second) {
  if (strcmp(mode, "solve") == 0) return solve_repeatedly(atoi(first), atoi(second));
  if (strcmp(mode, "illegal") == 0) return illegal(first);
  if (strcmp(mode, "reset") == 0) return reset_and_solve(first);
  if (strcmp(mode, "take") == 0) return take_and_solve((size_t)atoi(first), second);
  if (strcmp(mode, "hold") == 0) return hold((size_t)atoi(first));
  if (strcmp(mode, "fork") == 0) return fork_and_solve();
  fail("there is no such mode", -1);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: cuda_client MODE ...", -1);
  const char* const first = argc > 2 ? argv[2] : "before";
  return run(argv[1], first, argc > 3 ? argv[3] : "1") ? EXIT_SUCCESS : EXIT_FAILURE;
}
