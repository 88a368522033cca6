// The shape of a call, and the order in which its matrix goes up.
#pragma once

#include <algorithm>

#include "core/view.hpp"

namespace overlapack::algorithms {

/// m x n is the matrix (m = n but for getrf and QR); nrhs is 0 for the factorizations, and for an
/// update the number of vectors.
struct Shape {
  Index m = 0;
  Index n = 0;
  Index nrhs = 0;
  Index block = 0;  ///< of geqrt and gemqrt the columns of the caller's blocks

  /// Of the largest matrix of the call.
  Index elements() const { return m * std::max(n, nrhs); }
};

/// The order in which a matrix of the host goes up: by block columns (rows of an upper triangle);
/// of a Cholesky factorization a leading triangle first, and then what is below it; of a
/// mixed-precision solver the high words of all numbers first, and then the low ones.
enum class Upload { automatic, columns, triangle, halves };

}  // namespace overlapack::algorithms
