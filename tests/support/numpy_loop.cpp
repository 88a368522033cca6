#include "support/numpy_loop.hpp"

namespace overlapack::testing_support {

void numpy_loop(CopyFunction* copy, std::int64_t n, std::int64_t columns, const double* x,
                std::int64_t incx, std::int64_t ldx, double* y, std::int64_t incy, std::int64_t ldy,
                void (*between)(void* data), void* data) {
  for (std::int64_t j = 0; j < columns; ++j) {
    copy(&n, x + j * ldx, &incx, y + j * ldy, &incy);
    if (between != nullptr) between(data);
  }
}

}  // namespace overlapack::testing_support
