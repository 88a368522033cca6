// BLAS's ?copy by several threads.
#pragma once

#include "core/scalar.hpp"

namespace overlapack::algorithms {

/// y := x, for n >= 0 elements that do not overlap. Element i of x is x[i * incx] or, if incx < 0,
/// x[(i - n + 1) * incx], as in BLAS, and of y likewise; an increment may be 0. The caller and up
/// to `threads - 1` others have a part each, and in calls that follow each other closely the same
/// one: next to an element lies one of the next row or column, and those share cache lines and
/// pages.
template <class T>
void copy(Index n, const T* x, Index incx, T* y, Index incy, Index threads);

}  // namespace overlapack::algorithms
