#include "algorithms/inverse/traits.hpp"

#include "algorithms/inverse/inverse.hpp"

namespace overlapack::algorithms {
namespace {

using BreakEven = Tuning::BreakEven;

/// What they have in common. They differ in how often they take the operations of a triangle's
/// inverse, in their row of break-evens, and in memory.
class InverseTraits : public FamilyTraits {
 public:
  constexpr InverseTraits(int times, BreakEven::Sizes BreakEven::*row) : times_(times), row_(row) {}
  Index size(const Shape& shape) const override { return shape.n; }
  const BreakEven::Sizes& builtin_break_evens(const BreakEven& sizes, bool) const override {
    return sizes.*row_;
  }
  double flops(const Shape& shape) const override {
    const auto n = static_cast<double>(shape.n);
    return times_ * n * n * n / 3;
  }
  /// A zero on the diagonal is found before anything is computed.
  double flops_until(const Shape&, Index) const override { return 0; }
  Index block_size(const Request& request, bool) const override {
    return request.tuning().inverse.block_columns;
  }
  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return triangle_in_place_bytes<decltype(one)>(options, request.shape.n);
    });
  }

 protected:
  ~InverseTraits() = default;

 private:
  const int times_;
  BreakEven::Sizes BreakEven::*const row_;
};

class TriangleTraits final : public InverseTraits {
 public:
  using InverseTraits::InverseTraits;
};

class GetriTraits final : public InverseTraits {
 public:
  using InverseTraits::InverseTraits;
  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return getri_bytes<decltype(one)>(options, request.shape.n);
    });
  }
};

}  // namespace

const FamilyTraits& trtri_traits() {
  static constexpr TriangleTraits kTraits(1, &BreakEven::trtri);
  return kTraits;
}

const FamilyTraits& lauum_traits() {
  static constexpr TriangleTraits kTraits(1, &BreakEven::lauum);
  return kTraits;
}

const FamilyTraits& potri_traits() {
  static constexpr TriangleTraits kTraits(2, &BreakEven::potri);
  return kTraits;
}

const FamilyTraits& getri_traits() {
  static constexpr GetriTraits kTraits(4, &BreakEven::getri);
  return kTraits;
}

}  // namespace overlapack::algorithms
