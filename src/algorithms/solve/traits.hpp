// What plans ask of solves with given factors or a triangle: ?potrs and ?getrs
// here, and what ?trtrs (trtrs.hpp) shares with them.
#pragma once

#include <algorithm>

#include "algorithms/shared/family.hpp"

namespace overlapack::algorithms {

/// What all solves with a given factor have in common.
class SolveTraits : public FamilyTraits {
 public:
  /// A solve moves n^2 elements for n^2 nrhs operations, so it is the number of right-hand sides
  /// that pays for the transfer, as long as the CPU has the matrix in its caches.
  Index size(const Shape& shape) const override { return std::min(shape.n, shape.nrhs); }
  Index break_even(char type, const Shape& shape, Index threshold) const override;
  Index typical_right_hand_sides(Index n) const override { return n; }
  double flops(const Shape& shape) const override { return flops_of_solves(shape); }
  /// A solve is not by blocks. The call log says what a Cholesky factorization would have.
  Index block_size(const Request& request, bool residues) const override;

 protected:
  ~SolveTraits() = default;

  /// The bytes of a matrix from which on any number of right-hand sides is for the device, because
  /// one core reads it no faster than the link does; and how many times the threshold its order is
  /// at least.
  struct AnyNumber {
    double from_bytes;
    Index thresholds;
  };

 private:
  virtual AnyNumber any_number() const = 0;
};

/// With the factors of a Cholesky factorization.
const FamilyTraits& potrs_traits();
/// With the factors and pivots of an LU.
const FamilyTraits& getrs_traits();

}  // namespace overlapack::algorithms
