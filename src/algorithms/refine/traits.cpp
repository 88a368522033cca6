#include "algorithms/refine/traits.hpp"

#include <complex>

#include "algorithms/cholesky/traits.hpp"
#include "algorithms/lu/traits.hpp"
#include "algorithms/refine/refine.hpp"

namespace overlapack::algorithms {
namespace {

/// Calls f with a number of the type in double precision.
template <class F>
auto with_double(char type, F f) {
  return type == 'd' ? f(double{}) : f(std::complex<double>{});
}

/// As the factorization in double precision, which is what a call falls back to.
class RefineTraits : public FamilyTraits {
 public:
  constexpr explicit RefineTraits(const FamilyTraits& (*in_double)()) : in_double_(in_double) {}

  Index size(const Shape& shape) const override { return in_double_().size(shape); }
  double flops(const Shape& shape) const override { return in_double_().flops(shape); }
  double flops_until(const Shape& shape, Index info) const override {
    return in_double_().flops_until(shape, info);
  }
  /// The factorization in single precision decides, which has no residues.
  Index block_size(const Request& request, bool) const override {
    return in_double_().block_size(request, false);
  }
  bool refines() const override { return true; }

  /// Products are of split operands in single precision, long sums by residues in the fall-back.
  bool offers(Form form, const Request& request, const Options& chosen) const override {
    switch (form) {
      case Form::split:
        return true;
      case Form::halves:
        return !request.resident && goes_up_in_halves(request);
      default:
        return in_double_().offers(form, request, chosen);
    }
  }

 protected:
  ~RefineTraits() = default;

 private:
  virtual bool goes_up_in_halves(const Request& request) const = 0;

  const FamilyTraits& (*in_double_)();
};

class MixedGesvTraits final : public RefineTraits {
 public:
  constexpr MixedGesvTraits() : RefineTraits(lu_traits) {}
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.mixed_gesv;
  }

  std::size_t memory(const Request& request, const Options& options) const override {
    return with_double(request.type, [&](auto one) {
      return mixed_gesv_bytes<decltype(one)>(request.device, options, request.shape.n,
                                             request.shape.nrhs);
    });
  }

 private:
  /// In small matrices factors in single precision are better than 21 bits are, and such matrices
  /// arrive soon enough.
  bool goes_up_in_halves(const Request& request) const override {
    if (request.upload == Upload::halves) return true;
    return request.upload != Upload::columns &&
           request.shape.n >= request.tuning().refine.halves_from_order;
  }
};

class MixedPosvTraits final : public RefineTraits {
 public:
  constexpr MixedPosvTraits() : RefineTraits(cholesky_traits) {}
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.mixed_posv;
  }

  std::size_t memory(const Request& request, const Options& options) const override {
    return with_double(request.type, [&](auto one) {
      return mixed_posv_bytes<decltype(one)>(request.device, options, request.shape.n,
                                             request.shape.nrhs);
    });
  }

 private:
  /// All matrices arrive soon enough for a Cholesky factorization.
  bool goes_up_in_halves(const Request& request) const override {
    return request.upload == Upload::halves;
  }
};

}  // namespace

const FamilyTraits& mixed_gesv_traits() {
  static constexpr MixedGesvTraits kTraits;
  return kTraits;
}

const FamilyTraits& mixed_posv_traits() {
  static constexpr MixedPosvTraits kTraits;
  return kTraits;
}

}  // namespace overlapack::algorithms
