#include "support/numpy_loop.hpp"

#include <cstdlib>

namespace overlapack::testing_support {

void numpy_loop(CopyFunction* copy, std::int64_t n, std::int64_t columns,
                StridedColumns<const double> from, StridedColumns<double> to,
                void (*between)(void* data), void* data) {
  for (std::int64_t j = 0; j < columns; ++j) {
    copy(&n, from.data + j * from.ld, &from.inc, to.data + j * to.ld, &to.inc);
    if (between != nullptr) between(data);
  }
}

double* numpy_memory(std::int64_t elements) {
  return static_cast<double*>(std::malloc(static_cast<std::size_t>(elements) * sizeof(double)));
}

}  // namespace overlapack::testing_support
