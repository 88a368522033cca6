// A loop of copies in a library that has the name of numpy.linalg's module.
#pragma once

#include <cstdint>

namespace overlapack::testing_support {

/// BLAS's dcopy with integers of 64 bits.
using CopyFunction = void(const std::int64_t* n, const double* x, const std::int64_t* incx,
                          double* y, const std::int64_t* incy);

/// Copies `columns` columns of a matrix that lies by rows, ldx elements apart, into one that lies
/// by columns; calls between(data) after each, if there is such a function.
__attribute__((visibility("default"))) void numpy_loop(CopyFunction* copy, std::int64_t rows,
                                                       std::int64_t columns, const double* x,
                                                       std::int64_t ldx, double* y,
                                                       void (*between)(void* data) = nullptr,
                                                       void* data = nullptr);

}  // namespace overlapack::testing_support
