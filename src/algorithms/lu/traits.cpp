#include "algorithms/lu/traits.hpp"

#include <cmath>

#include "algorithms/lu/lu.hpp"
#include "algorithms/lu/out_of_core.hpp"
#include "algorithms/solve/out_of_core.hpp"

namespace overlapack::algorithms {
namespace {

class LuTraits final : public FamilyTraits {
 public:
  /// The order of a square matrix that takes about as many operations.
  Index size(const Shape& shape) const override {
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
    return std::llround(std::cbrt(m * n * std::min(m, n)));
  }
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool solves) const override {
    return solves ? sizes.gesv : sizes.getrf;
  }

  double flops(const Shape& shape) const override {
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
    const double k = std::min(m, n);
    return 2 * (m * n * k - (m + n) * k * k / 2 + k * k * k / 3) + flops_of_solves(shape);
  }
  /// All of the factorization is done, and no solve.
  double flops_until(const Shape& shape, Index) const override {
    return flops({shape.m, shape.n, 0});
  }

  /// Blocks are narrow, because the chain of panels decides. Products of residues are faster with
  /// wide ones. In complex arithmetic these pay for so few summands that narrow blocks let more
  /// columns have them.
  Index block_size(const Request& request, bool residues) const override {
    const Shape& shape = request.shape;
    return block_columns(request.tuning().lu.blocks, request.type, std::min(shape.m, shape.n),
                         residues);
  }

  bool offers(Form form, const Request& request, const Options& chosen) const override {
    if (form == Form::split) return request.is_single();
    if (form == Form::residues) return !request.is_single() && chosen.by_rows;
    return form == Form::by_rows;
  }

  Index columns_out_of_core(const Request& request, const Options& options) const override {
    const Shape& shape = request.shape;
    return with_type(request.type, [&](auto one) {
      using T = decltype(one);
      const Index columns = lu_slab_columns<T>(request.device, options, shape.m, shape.n);
      return shape.nrhs == 0 || right_hand_sides_out_of_core<T>(options, shape.n, shape.nrhs) > 0
                 ? columns
                 : 0;
    });
  }

  std::size_t memory(const Request& request, const Options& options) const override {
    const Shape& shape = request.shape;
    return with_type(request.type, [&](auto one) {
      return gesv_bytes<decltype(one)>(request.device, options, shape.m, shape.n, shape.nrhs,
                                       request.resident);
    });
  }
};

}  // namespace

const FamilyTraits& lu_traits() {
  static constexpr LuTraits kTraits;
  return kTraits;
}

}  // namespace overlapack::algorithms
