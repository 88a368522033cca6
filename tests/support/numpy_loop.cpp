#include "support/numpy_loop.hpp"

#include <cstddef>
#include <cstdlib>

#ifdef MEMORY_OF_PYTHON  // as with NumPy 2.5 and later
extern "C" __attribute__((visibility("default"))) void* PyMem_RawMalloc(std::size_t bytes);
#endif

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
#ifdef MEMORY_OF_PYTHON
  constexpr auto allocate = PyMem_RawMalloc;
#else
  constexpr auto allocate = std::malloc;
#endif
  return static_cast<double*>(allocate(static_cast<std::size_t>(elements) * sizeof(double)));
}

}  // namespace overlapack::testing_support
