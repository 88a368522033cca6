// Some eigenvalues of a symmetric tridiagonal matrix, or all of them, without eigenvectors.
#pragma once

#include <vector>

#include "algorithms/eigen/tridiagonal.hpp"

namespace overlapack::algorithms {

/// Eigenvalues number wanted.first, ... of a matrix, counted from 0, in ascending order: by
/// bisection on the device. The matrix is scaled as one block.
template <class R>
std::vector<R> eigenvalues_by_number(Device& device, const Tridiagonal<R>& t, Range wanted);

/// The numbers of those that are larger than `low`, and not larger than `high`.
template <class R>
Range eigenvalues_between(const Tridiagonal<R>& t, R low, R high);

/// Bytes of device memory that it takes.
template <class R>
std::size_t bisection_bytes(Index n) {
  return Buffer<R>::bytes(3 * n);
}

}  // namespace overlapack::algorithms
