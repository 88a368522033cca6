#include "algorithms/update/traits.hpp"

#include <cmath>

#include "algorithms/update/on_device.hpp"

namespace overlapack::algorithms {
namespace {

std::size_t element_size(char type) {
  return with_type(type, [](auto one) { return sizeof one; });
}

class UpdateTraits final : public FamilyTraits {
 public:
  Index size(const Shape& shape) const override { return shape.n; }
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.update;
  }

  /// An update by few vectors spares the CPU much of its time, but the link, which bounds the
  /// device, none. By k vectors it is (kVectorsOfProfile / k)^2 times as large as the profile's.
  Index break_even(char, const Shape& shape, Index threshold) const override {
    const auto vectors = static_cast<double>(std::clamp<Index>(shape.nrhs, 1, kVectorsOfProfile));
    const double ratio = static_cast<double>(kVectorsOfProfile) / vectors;
    return std::llround(static_cast<double>(threshold) * ratio * ratio);
  }

  Index typical_right_hand_sides(Index) const override { return kVectorsOfProfile; }

  /// As many as a solve: nrhs products for each of n^2 / 2 elements, at twice the operations of
  /// V V^H.
  double flops(const Shape& shape) const override { return flops_of_solves(shape); }

  /// The width of a region. They are wider the more vectors there are, because these come home with
  /// each of them. They are wider in a large matrix, because the rows of an upper factor are copied
  /// in pieces of this length. They are narrower if so much staging memory would be excessive.
  Index block_size(const Request& request, bool) const override {
    const Tuning::Update& tuning = request.tuning().update;
    const Index n = request.shape.n, unit = tuning.region_unit_columns;
    const auto column = static_cast<Index>(element_size(request.type)) * n;  // of staging memory
    const Index columns =
        n < tuning.large_from_order ? tuning.region_columns : tuning.region_columns_of_large;
    const Index wanted = std::max(columns, tuning.region_columns_per_vector * request.shape.nrhs);
    const Index width = std::min(wanted, std::max<Index>(tuning.region_staging_bytes / column, 1));
    return std::max(width / unit * unit, unit);
  }
  Index narrower(const Request& request, Index nb) const override {
    return nb >= 2 * request.tuning().update.short_of_memory_region_columns ? nb / 2 : 0;
  }
  /// V has to be there, and of the factor only a window.
  double least_elements(const Shape& shape) const override {
    return static_cast<double>(shape.n) * static_cast<double>(shape.nrhs);
  }

  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return chol_update_bytes<decltype(one)>(request.shape.n, request.shape.nrhs, options.nb);
    });
  }
};

}  // namespace

const FamilyTraits& update_traits() {
  static constexpr UpdateTraits kTraits;
  return kTraits;
}

}  // namespace overlapack::algorithms
