#include "support/numpy_loop.hpp"

namespace overlapack::testing_support {

void numpy_loop(CopyFunction* copy, std::int64_t rows, std::int64_t columns, const double* x,
                std::int64_t ldx, double* y, void (*between)(void* data), void* data) {
  const std::int64_t one = 1;
  for (std::int64_t j = 0; j < columns; ++j) {
    copy(&rows, x + j, &ldx, y + j * rows, &one);
    if (between != nullptr) between(data);
  }
}

}  // namespace overlapack::testing_support
