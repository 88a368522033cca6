// A symmetric tridiagonal matrix in the host's memory, as the eigenvalue algorithms take it: in
// independent blocks, each of them scaled.
#pragma once

#include <vector>

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// T = diag(2^x_1 T_1, 2^x_2 T_2, ...), where what stood between the blocks is negligible, and the
/// largest element of each T_i lies between 1 and 2 (or is 0).
template <class R>
struct Tridiagonal {
  std::vector<R> d, e;  ///< as many of either; e(i) stands beside d(i) and d(i + 1), or is 0
  std::vector<Range> blocks;
  std::vector<int> exponents;  ///< by block

  Index order() const { return static_cast<Index>(d.size()); }
  /// An eigenvalue of block b as it is of T.
  R unscaled(R value, Index b) const { return std::ldexp(value, exponents[at(b)]); }
};

/// That with the diagonal d and the numbers e beside it, either of them in the host's memory or in
/// the device's. Throws DeviceError if one of them is not finite.
template <class R>
Tridiagonal<R> read_tridiagonal(Device& device, Index n, const R* d, const R* e);

}  // namespace overlapack::algorithms
