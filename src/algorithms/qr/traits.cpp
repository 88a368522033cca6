#include "algorithms/qr/traits.hpp"

#include <cmath>

namespace overlapack::algorithms {
namespace {

/// m x n is the matrix that is factored, or whose n columns are reflectors. With these ?ormqr
/// multiplies `nrhs` columns, or rows. Of LQ it is the adjoint of the matrix.
class QrTraits : public FamilyTraits {
 public:
  /// No call is for the device, which has no algorithm yet.
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven&,
                                                      bool) const override {
    static constexpr Tuning::BreakEven::Sizes kSizes = {{kNever, kNever, kNever, kNever},
                                                        {kNever, kNever, kNever, kNever}};
    return kSizes;
  }
  Index block_size(const Request& request, bool) const override {
    const Shape& shape = request.shape;
    return block_columns(request.tuning().lu.blocks, request.type, std::min(shape.m, shape.n),
                         false);
  }
  std::size_t memory(const Request& request, const Options&) const override {
    return static_cast<std::size_t>(request.shape.m * (request.shape.n + request.shape.nrhs)) *
           with_type(request.type, [](auto one) { return sizeof one; });
  }

 protected:
  ~QrTraits() = default;
};

/// ?geqrf takes as many operations as ?orgqr does for as many columns as there are reflectors.
class GeqrfTraits : public QrTraits {
 public:
  /// The order of a square matrix that takes about as many operations.
  Index size(const Shape& shape) const override {
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
    return std::llround(std::cbrt(m * n * std::min(m, n)));
  }
  double flops(const Shape& shape) const override {
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
    const double k = std::min(m, n);
    return 4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3;
  }

 protected:
  ~GeqrfTraits() = default;
};

class FactorsTraits final : public GeqrfTraits {};

/// A factorization, a product with Q and a solve.
class GelsTraits final : public GeqrfTraits {
 public:
  double flops(const Shape& shape) const override {
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
    const double longer = std::max(m, n), k = std::min(m, n);
    return GeqrfTraits::flops(shape) + static_cast<double>(shape.nrhs) * k * (4 * longer - k);
  }
};

class OrmqrTraits final : public QrTraits {
 public:
  Index size(const Shape& shape) const override {
    return std::llround(std::cbrt(static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                                  static_cast<double>(shape.nrhs)));
  }
  double flops(const Shape& shape) const override {
    const auto m = static_cast<double>(shape.m), k = static_cast<double>(shape.n);
    return 2 * static_cast<double>(shape.nrhs) * k * (2 * m - k);
  }
};

}  // namespace

const FamilyTraits& geqrf_traits() {
  static constexpr FactorsTraits kTraits;
  return kTraits;
}

const FamilyTraits& orgqr_traits() { return geqrf_traits(); }

const FamilyTraits& ormqr_traits() {
  static constexpr OrmqrTraits kTraits;
  return kTraits;
}

const FamilyTraits& gels_traits() {
  static constexpr GelsTraits kTraits;
  return kTraits;
}

}  // namespace overlapack::algorithms
