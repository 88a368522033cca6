#include "algorithms/cholesky/traits.hpp"

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/cholesky/out_of_core.hpp"
#include "algorithms/solve/out_of_core.hpp"

namespace overlapack::algorithms {
namespace {

class CholeskyTraits final : public FamilyTraits {
 public:
  Index size(const Shape& shape) const override { return shape.n; }
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool solves) const override {
    return solves ? sizes.posv : sizes.potrf;
  }

  double flops(const Shape& shape) const override {
    const auto n = static_cast<double>(shape.n);
    return n * n * n / 3 + flops_of_solves(shape);
  }
  double flops_until(const Shape&, Index info) const override {
    return flops({info - 1, info - 1, 0});
  }

  /// Blocks are narrow, because the chain of diagonal blocks and panels decides, and the updates
  /// have a long inner dimension anyway. Products of residues are faster with wide ones.
  Index block_size(const Request& request, bool residues) const override {
    const Shape& shape = request.shape;
    return block_columns(request.tuning().cholesky.blocks, request.type, std::min(shape.m, shape.n),
                         residues);
  }

  bool offers(Form form, const Request& request, const Options&) const override {
    if (form == Form::split) return request.is_single();
    return form == Form::residues && !request.is_single();
  }

  /// The order of the triangle that goes up first, in whole blocks. It pays where the device takes
  /// about as long as the link. Half of the order makes the largest block, behind which all results
  /// go home, as small as it gets. Where the device takes longer than the link, more may come
  /// first.
  Index leading_order(const Request& request, const Options& chosen) const override {
    const Tuning::Cholesky& tuning = request.tuning().cholesky;
    const Index n = request.shape.n;
    const PerType<Index>& from =
        chosen.residues ? tuning.leading_from_order_with_residues : tuning.leading_from_order;
    if (request.resident || request.upload == Upload::columns) return 0;
    if (request.upload != Upload::triangle && n < from.of(request.type)) return 0;
    const Index percent = n < tuning.leading_large_from_order
                              ? tuning.leading_percent
                              : tuning.leading_percent_of_large.of(request.type);
    return percent * n / 100 / chosen.nb * chosen.nb;
  }

  Index columns_out_of_core(const Request& request, const Options& options) const override {
    const Shape& shape = request.shape;
    return with_type(request.type, [&](auto one) {
      using T = decltype(one);
      const Index columns = cholesky_slab_columns<T>(request.device, options, shape.n);
      return shape.nrhs == 0 || right_hand_sides_out_of_core<T>(options, shape.n, shape.nrhs) > 0
                 ? columns
                 : 0;
    });
  }

  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return posv_bytes<decltype(one)>(request.device, options, request.shape.n,
                                       request.shape.nrhs);
    });
  }
};

}  // namespace

const FamilyTraits& cholesky_traits() {
  static constexpr CholeskyTraits kTraits;
  return kTraits;
}

}  // namespace overlapack::algorithms
