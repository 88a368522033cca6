// A program whose xerbla_ throws, as C++ programs do to be told of a wrong argument by an
// exception.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "check_solve.h"
#include "overlapack/lapack.h"

extern "C" void xerbla_(const char*, const int*, std::size_t) {
  throw std::runtime_error("illegal value");
}

int main() {
  const int n = -1, nrhs = 1, ld = 1;
  int caught = 0, ipiv = 0, info = 0;
  double a = 1, b = 1;
  for (int run = 0; run < 3; ++run) {
    try {
      dgesv_(&n, &nrhs, &a, &ld, &ipiv, &b, &ld, &info);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  std::printf("caught %d exceptions\n", caught);
  return caught == 3 && check_solve("afterwards", dgesv_) ? EXIT_SUCCESS : EXIT_FAILURE;
}
