// Copies of vectors by BLAS's ?copy: from Fortran arguments to pointers. BLAS checks no arguments.
#pragma once

#include "adapters/call.hpp"
#include "dispatch/calls.hpp"

namespace overlapack::compat {

template <class T, class I>
void copy(Caller caller, const I* n, const T* x, const I* incx, T* y, const I* incy) {
  if (*n > 0) dispatch::copy<T>(caller.address, *n, x, *incx, y, *incy);
}

}  // namespace overlapack::compat
