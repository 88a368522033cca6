#include "algorithms/solve/traits.hpp"

#include "algorithms/cholesky/traits.hpp"
#include "algorithms/solve/solve.hpp"

namespace overlapack::algorithms {

Index SolveTraits::block_size(const Request& request, bool residues) const {
  return cholesky_traits().block_size(request, residues);
}

namespace {

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
