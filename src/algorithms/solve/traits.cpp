#include "algorithms/solve/traits.hpp"

#include "algorithms/cholesky/traits.hpp"
#include "algorithms/solve/solve.hpp"

namespace overlapack::algorithms {
namespace {

class SolveTraits : public FamilyTraits {
 public:
  /// A solve moves n^2 elements for n^2 nrhs operations, so it is the number of right-hand sides
  /// that pays for the transfer.
  Index size(const Shape& shape) const override { return std::min(shape.n, shape.nrhs); }
  Index builtin_break_even() const override { return 1024; }
  Index typical_right_hand_sides(Index n) const override { return n; }
  double flops(const Shape& shape) const override { return flops_of_solves(shape); }
  /// A solve is not by blocks. The call log says what a Cholesky factorization would have.
  Index block_size(const Request& request, bool residues) const override {
    return cholesky_traits().block_size(request, residues);
  }

 protected:
  ~SolveTraits() = default;
};

class PotrsTraits final : public SolveTraits {
 public:
  std::size_t memory(const Request& request, const Options&) const override {
    return with_type(request.type, [&](auto one) {
      return potrs_bytes<decltype(one)>(request.shape.n, request.shape.nrhs);
    });
  }
};

class GetrsTraits final : public SolveTraits {
 public:
  std::size_t memory(const Request& request, const Options&) const override {
    return with_type(request.type, [&](auto one) {
      return getrs_bytes<decltype(one)>(request.device, request.shape.n, request.shape.nrhs);
    });
  }
};

}  // namespace

const FamilyTraits& potrs_traits() {
  static constexpr PotrsTraits kTraits;
  return kTraits;
}

const FamilyTraits& getrs_traits() {
  static constexpr GetrsTraits kTraits;
  return kTraits;
}

}  // namespace overlapack::algorithms
