// A loop of copies in a library that has the name of numpy.linalg's module.
#pragma once

#include <cstdint>

namespace overlapack::testing_support {

/// BLAS's dcopy with integers of 64 bits.
using CopyFunction = void(const std::int64_t* n, const double* x, const std::int64_t* incx,
                          double* y, const std::int64_t* incy);

/// Columns of n elements, which lie `inc` elements apart, and the columns `ld`.
template <class Element>
struct StridedColumns {
  Element* data;
  std::int64_t inc, ld;
};

/// Copies `columns` columns of n elements; calls between(data) after each, if there is such a
/// function.
__attribute__((visibility("default"))) void numpy_loop(
    CopyFunction* copy, std::int64_t n, std::int64_t columns, StridedColumns<const double> from,
    StridedColumns<double> to, void (*between)(void* data) = nullptr, void* data = nullptr);

/// Memory for that many elements from malloc(), or from Python, as NumPy's module takes it to copy
/// to.
__attribute__((visibility("default"))) double* numpy_memory(std::int64_t elements);

}  // namespace overlapack::testing_support
