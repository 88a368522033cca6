// A symmetric tridiagonal matrix in the host's memory, as the eigenvalue algorithms take it: in
// independent blocks, each of them scaled.
#pragma once

#include <cmath>
#include <vector>

#include "algorithms/shared/blocks.hpp"

namespace overlapack::algorithms {

/// T = diag(2^x_1 T_1, 2^x_2 T_2, ...). It begins as one block with x = 0.
template <class R>
class Tridiagonal {
 public:
  /// With n numbers d on the diagonal and n - 1 numbers e beside it, either of them in the host's
  /// memory or in the device's. Throws DeviceError if one of them is not finite.
  Tridiagonal(Device& device, Index n, const R* d, const R* e);

  /// Cuts T where what stands beside the diagonal is negligible by LAPACK's rule in ?stedc.
  void cut();
  /// The largest element of each T_i comes to lie between 1 and 2, unless it is 0.
  void scale();

  Index order() const { return static_cast<Index>(d_.size()); }
  const std::vector<R>& d() const { return d_; }
  /// As many: number i stands beside d(i) and d(i + 1), or is 0 at the end of a block.
  const std::vector<R>& e() const { return e_; }
  const std::vector<Range>& blocks() const { return blocks_; }
  /// An eigenvalue of block b as it is of T.
  R unscaled(R value, Index b) const { return std::ldexp(value, exponents_[at(b)]); }
  R scaled(R value, Index b) const { return std::ldexp(value, -exponents_[at(b)]); }

 private:
  std::vector<R> d_, e_;
  std::vector<Range> blocks_;
  std::vector<int> exponents_;  // by block
};

}  // namespace overlapack::algorithms
