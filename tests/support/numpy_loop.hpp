// A loop of copies in a library that has the name of numpy.linalg's module.
#pragma once

#include <cstdint>

namespace overlapack::testing_support {

/// BLAS's dcopy with integers of 64 bits.
using CopyFunction = void(const std::int64_t* n, const double* x, const std::int64_t* incx,
                          double* y, const std::int64_t* incy);

/// Copies `columns` columns of n elements, which lie inc elements apart and the columns ld; calls
/// between(data) after each, if there is such a function.
__attribute__((visibility("default"))) void numpy_loop(
    CopyFunction* copy, std::int64_t n, std::int64_t columns, const double* x, std::int64_t incx,
    std::int64_t ldx, double* y, std::int64_t incy, std::int64_t ldy,
    void (*between)(void* data) = nullptr, void* data = nullptr);

}  // namespace overlapack::testing_support
