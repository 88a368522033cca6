/* Settings and status of liboverlapack in a running process, for C99 and C++.
 *
 * Every function may be called at any time and from any thread. Errors are returned, never printed.
 * (What comes first, such a function or a call of LAPACK, reads the environment, and bad values
 * there are reported as ever.) Settings and status belong to the process, not to a thread.
 * docs/user/settings.md describes the settings.
 */
#ifndef OVERLAPACK_SETTINGS_H
#define OVERLAPACK_SETTINGS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return if they fail. */
enum {
  OVL_UNKNOWN_SETTING = -1, /* no setting has that name */
  OVL_BAD_VALUE = -2,       /* the setting does not accept the value */
  OVL_FIXED_SETTING = -3,   /* only the environment that a process begins with has it */
  OVL_NO_MEMORY = -4        /* out of memory; nothing has changed */
};

/* Changes a setting: ovl_set("OVERLAPACK_VERBOSE", "/tmp/calls.log"). The value is one that the
 * environment variable may have. An empty one, or a null pointer, brings back the default.
 *
 * It holds for calls that begin later; calls under way go on as they have begun. Fixed are
 * OVERLAPACK_DEVICE, OVERLAPACK_PROFILE, OVERLAPACK_CPU_LAPACK, OVERLAPACK_NVTX and those for
 * ScaLAPACK, because their values are in use for as long as the process lives. Environment
 * variables stay as they are.
 *
 * Each new combination of settings takes about a kilobyte for the rest of the process.
 *
 * Returns 0 or one of the codes above.
 */
int ovl_set(const char* name, const char* value);

/* The value of a setting, in `text` of `size` bytes: as it was given, or an empty text for the
 * default. Returns its length without the zero at its end, as snprintf does, or one of the codes
 * above. A longer text is cut. With size 0 nothing is written, and `text` may be null.
 */
int ovl_get(const char* name, char* text, size_t size);

/* The status of the library, in `text` of `size` bytes: lines "name: value". Returns as ovl_get.
 * It neither starts the device nor loads a library.
 *
 *   version  of the library
 *   library  its file
 *   device   which one it is, why there is none, or that it has not been started
 *   lapack   the file of a LAPACK in the process; a line for each. The CPU's calls go to one of
 *            them; if there is none, to one that the library opens
 *   threads  that copy matrices (OVERLAPACK_THREADS)
 *   nvtx     the ranges that a profiler gets: none, calls or blocks
 *
 * Then a line for each setting that has not got its default: "OVERLAPACK_MIN_N: 500".
 */
int ovl_info(char* text, size_t size);

/* One of the codes above in words; "no error" for 0. */
const char* ovl_error(int code);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OVERLAPACK_SETTINGS_H */
