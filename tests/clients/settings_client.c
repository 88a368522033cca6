/* Changes settings and reads the status while it runs (overlapack/settings.h). The environment has
 * every call go to a device and be logged in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_solve.h"
#include "overlapack/lapack.h"
#include "overlapack/settings.h"

#define EXPECT(condition)                                    \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("line %d: not so: %s\n", __LINE__, #condition); \
      exit(EXIT_FAILURE);                                    \
    }                                                        \
  } while (0)

static char text[8192];

/* How many lines of a file have these words. */
static int lines(const char* path, const char* words) {
  char line[1024];
  int count = 0;
  FILE* const file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) count += strstr(line, words) != NULL;
  fclose(file);
  return count;
}

static int status_has(const char* words) {
  const int length = ovl_info(text, sizeof text);
  EXPECT(length > 0 && (size_t)length < sizeof text && strlen(text) == (size_t)length);
  return strstr(text, words) != NULL;
}

static void solve(void) { EXPECT(check_solve("solve", dgesv_)); }

static void refusals(void) {
  const int codes[] = {OVL_UNKNOWN_SETTING, OVL_BAD_VALUE, OVL_FIXED_SETTING, OVL_NO_MEMORY};
  EXPECT(ovl_set("OVERLAPACK_MINN", "5") == OVL_UNKNOWN_SETTING);
  EXPECT(ovl_set(NULL, "5") == OVL_UNKNOWN_SETTING);
  EXPECT(ovl_get("PATH", text, sizeof text) == OVL_UNKNOWN_SETTING);
  EXPECT(ovl_set("OVERLAPACK_MIN_N", "many") == OVL_BAD_VALUE);
  EXPECT(ovl_set("OVERLAPACK_DEVICE", "off") == OVL_FIXED_SETTING);
  EXPECT(ovl_set("OVERLAPACK_CPU_LAPACK", "") == OVL_FIXED_SETTING);
  EXPECT(ovl_set("OVERLAPACK_PROFILE", "/dev/null") == OVL_FIXED_SETTING);
  EXPECT(ovl_set("OVERLAPACK_NVTX", "blocks") == OVL_FIXED_SETTING);
  EXPECT(ovl_get("OVERLAPACK_MIN_N", text, sizeof text) == 1 && strcmp(text, "1") == 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT(strcmp(ovl_error(codes[i]), ovl_error(0)) != 0);
    EXPECT(strcmp(ovl_error(codes[i]), ovl_error(-99)) != 0);
  }
}

static void texts_that_are_cut(void) {
  char small[4] = "xyz";
  const int length = ovl_info(text, sizeof text);
  EXPECT(ovl_info(NULL, 0) == length);
  EXPECT(ovl_info(small, sizeof small) == length && strcmp(small, "ver") == 0);
  EXPECT(ovl_get("OVERLAPACK_NB", small, 1) == 2 && small[0] == '\0' && small[1] == 'e');
}

int main(void) {
  char log[4096], other[4200];
  EXPECT(ovl_get("OVERLAPACK_VERBOSE", log, sizeof log) > 0);
  snprintf(other, sizeof other, "%s.other", log);
  refusals();
  EXPECT(status_has("version: ") && status_has("\nlibrary: ") && status_has("\nthreads: "));
  EXPECT(status_has("\ndevice: not started\n") && status_has("\nOVERLAPACK_NB: 32\n"));
  solve();
  EXPECT(status_has("\ndevice: ") && !status_has("\ndevice: not started\n"));
  EXPECT(lines(log, "dgesv") == 1);

  EXPECT(ovl_set("OVERLAPACK_VERBOSE", other) == 0);
  solve();
  EXPECT(lines(log, "dgesv") == 1 && lines(other, "dgesv") == 1 && lines(other, "where=cpu") == 0);
  EXPECT(ovl_set("OVERLAPACK_MIN_N", "1000000") == 0);
  EXPECT(status_has("\nOVERLAPACK_MIN_N: 1000000\n"));
  solve();
  EXPECT(lines(other, "where=cpu") == 1);
  EXPECT(ovl_set("OVERLAPACK_MIN_N", NULL) == 0 && ovl_get("OVERLAPACK_MIN_N", text, 9) == 0);
  EXPECT(!status_has("OVERLAPACK_MIN_N"));
  EXPECT(ovl_set("OVERLAPACK_THREADS", "7") == 0 && status_has("\nthreads: 7\n"));
  EXPECT(ovl_set("OVERLAPACK_VERBOSE", "") == 0);
  solve();
  EXPECT(lines(other, "dgesv") == 2);
  texts_that_are_cut();
  return EXIT_SUCCESS;
}
