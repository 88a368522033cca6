/* A moving window: the factor of the sum of the last 50 of 200 outer products, kept up to date by
 * ovl_?cholupdate_mixed, ten vectors at a time, in C99. Ends with 1 if it is not right.
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlapack/overlapack.h"

enum { kOrder = 40, kVectors = 200, kWindow = 50, kStep = 10 };

static double _Complex element(int i, int j) {
  return sin(3.0 * i + 7.0 * j * j) + I * cos(5.0 * i * i - 2.0 * j);
}

/* max |L L^H - I - sum of the window's v v^H| */
static double error_of(const double _Complex* l, int first) {
  double worst = 0;
  for (int j = 0; j < kOrder; ++j) {
    for (int i = j; i < kOrder; ++i) {
      double _Complex sum = i == j ? -1 : 0;
      for (int c = 0; c <= j; ++c) sum += l[i + c * kOrder] * conj(l[j + c * kOrder]);
      for (int c = first; c < first + kWindow; ++c) sum -= element(i, c) * conj(element(j, c));
      worst = fmax(worst, cabs(sum));
    }
  }
  return worst;
}

int main(void) {
  static double _Complex l[kOrder * kOrder], v[kOrder * 2 * kStep];
  int64_t info = 99;
  int sigma[2 * kStep];
  for (int i = 0; i < kOrder; ++i) l[i + i * kOrder] = 1;
  for (int first = -kWindow; first + kWindow < kVectors; first += kStep) {
    int count = 0;
    for (int j = first; j < first + kStep; ++j) {
      for (int sign = -1; sign <= 1; sign += 2) {
        const int vector = sign < 0 ? j : j + kWindow;
        if (vector < 0) continue;
        for (int i = 0; i < kOrder; ++i) v[i + count * kOrder] = element(i, vector);
        sigma[count++] = sign;
      }
    }
    ovl_zcholupdate_mixed('L', kOrder, count, l, kOrder, v, kOrder, sigma, &info);
    if (info != 0) break;
  }
  const double error = error_of(l, kVectors - kWindow);
  printf("window: info %d, largest error %.1e\n", (int)info, error);
  if (info != 0 || !(error < 1e-11)) return EXIT_FAILURE;

  double r[4] = {3, -7, 0, 3};
  const double x[2] = {4, 0};
  ovl_dcholupdate('U', 2, 1, r, 2, x, 2, +1, &info);
  if (info != 0 || fabs(r[0] - 5) > 1e-14 || r[1] != -7) return EXIT_FAILURE;
  ovl_dcholupdate('U', 2, 1, r, 2, x, 2, -2, &info);
  return info == -8 ? EXIT_SUCCESS : EXIT_FAILURE;
}
