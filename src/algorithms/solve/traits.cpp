#include "algorithms/solve/traits.hpp"

#include "algorithms/cholesky/traits.hpp"
#include "algorithms/solve/out_of_core.hpp"
#include "algorithms/solve/solve.hpp"

namespace overlapack::algorithms {

Index SolveTraits::block_size(const Request& request, bool residues) const {
  return cholesky_traits().block_size(request, residues);
}

Index SolveTraits::break_even(char type, const Shape& shape, Index threshold) const {
  const AnyNumber any = any_number();
  const auto n = static_cast<double>(shape.n);
  const double bytes =
      n * n * with_type(type, [](auto one) { return static_cast<double>(sizeof one); });
  return bytes >= any.from_bytes && shape.n >= any.thresholds * threshold ? 1 : threshold;
}

namespace {

constexpr double kMiB = 1 << 20;

/// With all of the factors: ?potrs and ?getrs.
class FactorTraits : public SolveTraits {
 public:
  Index columns_out_of_core(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return right_hand_sides_out_of_core<decltype(one)>(options, request.shape.n,
                                                         request.shape.nrhs);
    });
  }

 protected:
  ~FactorTraits() = default;
};

class PotrsTraits final : public FactorTraits {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.potrs;
  }
  std::size_t memory(const Request& request, const Options&) const override {
    return with_type(request.type, [&](auto one) {
      return potrs_bytes<decltype(one)>(request.shape.n, request.shape.nrhs);
    });
  }

 private:
  AnyNumber any_number() const override { return {3 * kMiB, 2}; }
};

class GetrsTraits final : public FactorTraits {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.getrs;
  }
  std::size_t memory(const Request& request, const Options&) const override {
    return with_type(request.type, [&](auto one) {
      return getrs_bytes<decltype(one)>(request.device, request.shape.n, request.shape.nrhs);
    });
  }

 private:
  /// All of the matrix goes up, of which a Cholesky factor has half.
  AnyNumber any_number() const override { return {9 * kMiB, 3}; }
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
