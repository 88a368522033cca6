#include "algorithms/qr/traits.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/qr/gels.hpp"
#include "algorithms/qr/orgqr.hpp"
#include "algorithms/qr/ormqr.hpp"
#include "algorithms/qr/qr.hpp"

namespace overlapack::algorithms {
namespace {

using BreakEven = Tuning::BreakEven;
using cpu::Reflectors;

/// m x n is the matrix that is factored, or whose n columns are reflectors (of LQ m rows). ?ormqr
/// and ?ormlq have n reflectors of order m, and multiply `nrhs` columns, or rows, with them.
class QrTraits : public FamilyTraits {
 public:
  constexpr explicit QrTraits(BreakEven::Sizes BreakEven::*row) : row_(row) {}
  const BreakEven::Sizes& builtin_break_evens(const BreakEven& sizes, bool) const override {
    return sizes.*row_;
  }

 protected:
  ~QrTraits() = default;

 private:
  BreakEven::Sizes BreakEven::*const row_;
};

/// ?geqrf takes as many operations as ?orgqr does for as many columns as there are reflectors.
class FactorTraits : public QrTraits {
 public:
  using QrTraits::QrTraits;
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
  ~FactorTraits() = default;
};

class GeqrfTraits : public FactorTraits {
 public:
  constexpr explicit GeqrfTraits(BreakEven::Sizes BreakEven::*row,
                                 Reflectors kind = Reflectors::columns)
      : FactorTraits(row), kind_(kind) {}
  Index block_size(const Request& request, bool) const override {
    return request.tuning().qr.block_columns;
  }
  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return geqrf_bytes<decltype(one)>(request.device, options, kind_, request.shape.m,
                                        request.shape.n);
    });
  }

 protected:
  ~GeqrfTraits() = default;

 private:
  const Reflectors kind_;
};

class FactorsOnlyTraits final : public GeqrfTraits {
 public:
  using GeqrfTraits::GeqrfTraits;
};

/// Blocks consist of whole blocks of the caller's.
class GeqrtTraits final : public GeqrfTraits {
 public:
  constexpr GeqrtTraits() : GeqrfTraits(&BreakEven::geqrf) {}
  Index block_size(const Request& request, bool residues) const override {
    return round_up(GeqrfTraits::block_size(request, residues), block(request));
  }
  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return geqrt_bytes<decltype(one)>(request.device, options, block(request), request.shape.m,
                                        request.shape.n);
    });
  }

 private:
  static Index block(const Request& request) { return std::max<Index>(request.shape.block, 1); }
};

/// A factorization, a product with Q and a solve.
class GelsTraits final : public GeqrfTraits {
 public:
  constexpr GelsTraits() : GeqrfTraits(&BreakEven::gels) {}
  double flops(const Shape& shape) const override {
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
    const double longer = std::max(m, n), k = std::min(m, n);
    return GeqrfTraits::flops(shape) + static_cast<double>(shape.nrhs) * k * (4 * longer - k);
  }
  std::size_t memory(const Request& request, const Options& options) const override {
    const Shape& shape = request.shape;
    return with_type(request.type, [&](auto one) {
      return gels_bytes<decltype(one)>(request.device, options, shape.m, shape.n, shape.nrhs);
    });
  }
};

/// As many reflectors as columns (rows): with fewer it takes less memory.
class OrgqrTraits final : public FactorTraits {
 public:
  constexpr explicit OrgqrTraits(Reflectors kind) : FactorTraits(&BreakEven::orgqr), kind_(kind) {}
  Index block_size(const Request& request, bool) const override {
    return request.tuning().qr.reflector_columns;
  }
  std::size_t memory(const Request& request, const Options& options) const override {
    const Index m = request.shape.m, n = request.shape.n;
    return with_type(request.type, [&](auto one) {
      return orgqr_bytes<decltype(one)>(options, kind_, m, n, std::min(m, n));
    });
  }

 private:
  const Reflectors kind_;
};

class OrmqrTraits final : public QrTraits {
 public:
  constexpr explicit OrmqrTraits(BreakEven::Sizes BreakEven::*row,
                                 Reflectors kind = Reflectors::columns)
      : QrTraits(row), kind_(kind) {}
  /// The order of a square matrix that is as large as that of the reflectors. Already with one
  /// column of C that tells when many threads of a CPU take longer.
  Index size(const Shape& shape) const override {
    return std::llround(std::sqrt(static_cast<double>(shape.m) * static_cast<double>(shape.n)));
  }
  double flops(const Shape& shape) const override {
    const auto m = static_cast<double>(shape.m), k = static_cast<double>(shape.n);
    return 2 * static_cast<double>(shape.nrhs) * k * (2 * m - k);
  }
  Index block_size(const Request& request, bool) const override {
    return request.tuning().qr.reflector_columns;
  }
  /// From either side.
  std::size_t memory(const Request& request, const Options& options) const override {
    const auto [m, k, lines, block] = request.shape;
    return with_type(request.type, [&, m = m, k = k, lines = lines, block = block](auto one) {
      return std::max(ormqr_bytes<decltype(one)>(options, kind_, Side::left, k, m, lines, block),
                      ormqr_bytes<decltype(one)>(options, kind_, Side::right, k, lines, m, block));
    });
  }

 private:
  const Reflectors kind_;
};

}  // namespace

const FamilyTraits& geqrf_traits() {
  static constexpr FactorsOnlyTraits kTraits(&BreakEven::geqrf);
  return kTraits;
}

const FamilyTraits& gelqf_traits() {
  static constexpr FactorsOnlyTraits kTraits(&BreakEven::geqrf, Reflectors::rows);
  return kTraits;
}

const FamilyTraits& geqrt_traits() {
  static constexpr GeqrtTraits kTraits;
  return kTraits;
}

const FamilyTraits& orgqr_traits() {
  static constexpr OrgqrTraits kTraits(Reflectors::columns);
  return kTraits;
}

const FamilyTraits& orglq_traits() {
  static constexpr OrgqrTraits kTraits(Reflectors::rows);
  return kTraits;
}

const FamilyTraits& ormqr_traits() {
  static constexpr OrmqrTraits kTraits(&BreakEven::ormqr);
  return kTraits;
}

const FamilyTraits& ormlq_traits() {
  static constexpr OrmqrTraits kTraits(&BreakEven::ormqr, Reflectors::rows);
  return kTraits;
}

const FamilyTraits& gels_traits() {
  static constexpr GelsTraits kTraits;
  return kTraits;
}

}  // namespace overlapack::algorithms
