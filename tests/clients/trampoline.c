/* Stands for libblastrampoline, by which Julia calls LAPACK: what it asks of a library, how it
 * opens it, and what it then forwards. It is made after what libblastrampoline 5 does on Linux.
 * (Of its lists of names and its trampolines in machine language there are few here.) The client
 * links with either, and gets the same answers.
 */
#define _GNU_SOURCE
#include "trampoline.h"

#include <complex.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { kMaxNames = 4096, kMaxLength = 64 };
static char names[kMaxNames][kMaxLength];
static void* forwards[kMaxNames][2]; /* with 32-bit and with 64-bit integers */
static int name_count;

int stand_in_names(const char* path) {
  FILE* const file = fopen(path, "r");
  if (file == NULL) return 0;
  while (name_count < kMaxNames && fscanf(file, "%63s", names[name_count]) == 1) ++name_count;
  fclose(file);
  return name_count;
}

static void* find(void* library, const char* name, const char* suffix) {
  char symbol[2 * kMaxLength];
  snprintf(symbol, sizeof symbol, "%s%s", name, suffix);
  return dlsym(library, symbol);
}

static int is_forced(const char* variable, const char* value) {
  const char* const found = getenv(variable);
  return found != NULL && strcasecmp(found, value) == 0;
}

static const char* suffix_of(void* library, const char* hint) {
  const char* const symbols[] = {"isamax_", "dpotrf_"};
  const char* const suffixes[] = {hint, "", "_", "__", "64", "_64", "64_", "_64_"};
  for (int i = 0; i < 2; ++i) {
    for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; ++k) {
      if (suffixes[k] != NULL && find(library, symbols[i], suffixes[k])) return suffixes[k];
    }
  }
  return NULL;
}

/* 1 for 64-bit integers, 0 for 32-bit ones, -1 if nobody can tell. */
static int width_of(void* library, const char* suffix) {
  if (is_forced("LBT_FORCE_INTERFACE", "ilp64")) return 1;
  if (is_forced("LBT_FORCE_INTERFACE", "lp64")) return 0;
  void (*ilaver)(int64_t*, int64_t*, int64_t*) = find(library, "ilaver_", suffix);
  if (ilaver != NULL) {
    int64_t major = -1, minor = -1, patch = -1;
    ilaver(&major, &minor, &patch);
    return major > 0;
  }
  void (*dpotrf)(const char*, int64_t*, double*, int64_t*, int64_t*) =
      find(library, "dpotrf_", suffix);
  if (dpotrf == NULL) return -1;
  double a[4];
  int64_t n = 2, lda = 0, info = 0; /* which is wrong */
  dpotrf("U", &n, a, &lda, &info);
  return info == -4 ? 1 : info == 0xfffffffc ? 0 : -1;
}

/* Whether functions return complex numbers as C does. Other ways are none of a library here. */
static int returns_complex(void* library, const char* suffix) {
  if (is_forced("LBT_FORCE_RETSTYLE", "normal")) return 1;
  double complex (*zdotc)(int64_t*, double complex*, int64_t*, double complex*, int64_t*) =
      find(library, "zdotc_", suffix);
  if (zdotc == NULL || find(library, "cdotc_", suffix) == NULL) return 0;
  int64_t zero = 0;
  double complex none = 0;
  return zdotc(&zero, &none, &zero, &none, &zero) == 0;
}

/* Whether functions return a float as such. */
static int returns_float(void* library, const char* suffix) {
  if (is_forced("LBT_FORCE_F2C", "plain")) return 1;
  float (*sdot)(int64_t*, float*, int64_t*, float*, int64_t*) = find(library, "sdot_", suffix);
  int64_t one = 1;
  float half = 0.5f;
  return sdot != NULL && sdot(&one, &half, &one, &half, &one) == 0.25f;
}

static int refuse(const char* library, const char* what) {
  fprintf(stderr, "Unable to autodetect %s of \"%s\"\n", what, library);
  return 0;
}

int32_t lbt_forward(const char* path, int32_t clear, int32_t verbose, const char* suffix_hint) {
  (void)verbose;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == NULL) {
    fprintf(stderr, "Unable to load \"%s\": %s\n", path, dlerror());
    return 0;
  }
  const char* const suffix = suffix_of(library, suffix_hint);
  if (suffix == NULL) return refuse(path, "symbol suffix");
  const int wide = width_of(library, suffix);
  if (wide < 0) return refuse(path, "interface type");
  if (!returns_complex(library, suffix)) return refuse(path, "complex return style");
  if (!returns_float(library, suffix)) return refuse(path, "f2c calling convention");
  if (clear) memset(forwards, 0, sizeof forwards);
  int count = 0;
  for (int i = 0; i < name_count; ++i) {
    void* const address = find(library, names[i], suffix);
    if (address != NULL) forwards[i][wide] = address, ++count;
  }
  return count;
}

static void* forward_of(const char* name, int wide) {
  for (int i = 0; i < name_count; ++i) {
    if (strcmp(names[i], name) == 0) return forwards[i][wide];
  }
  return NULL;
}

/* The trampolines. */
void dpotrf_64_(const char* uplo, const int64_t* n, double* a, const int64_t* lda, int64_t* info,
                size_t length) {
  void (*routine)(const char*, const int64_t*, double*, const int64_t*, int64_t*, size_t) =
      forward_of("dpotrf_", 1);
  routine(uplo, n, a, lda, info, length);
}

void dgesv_64_(const int64_t* n, const int64_t* nrhs, double* a, const int64_t* lda, int64_t* ipiv,
               double* b, const int64_t* ldb, int64_t* info) {
  void (*routine)(const int64_t*, const int64_t*, double*, const int64_t*, int64_t*, double*,
                  const int64_t*, int64_t*) = forward_of("dgesv_", 1);
  routine(n, nrhs, a, lda, ipiv, b, ldb, info);
}
