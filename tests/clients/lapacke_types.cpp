// A C++ program with LAPACKE's header and ours, which then has LAPACKE's complex numbers.
#include <lapacke.h>
// behind it
#include <overlapack/overlapack.h>

#include <cstdint>
#include <cstdlib>

int main() {
  const lapack_complex_double a = 3.0, b = 2.0;
  lapack_complex_double x = b;
  lapack_complex_double factor = a;
  std::int32_t pivot = 0, info = -1;
  const std::int32_t one = 1;
  zgesv_(&one, &one, &factor, &one, &pivot, &x, &one, &info);
  return info == 0 && pivot == 1 && x * a == b ? EXIT_SUCCESS : EXIT_FAILURE;
}
