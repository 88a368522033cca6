#include "algorithms/eigen/traits.hpp"

#include <algorithm>
#include <cstddef>

#include "algorithms/eigen/stedc.hpp"
#include "algorithms/eigen/syevd.hpp"
#include "algorithms/eigen/sytrd.hpp"
#include "algorithms/qr/orgqr.hpp"
#include "algorithms/qr/ormqr.hpp"

namespace overlapack::algorithms {
namespace {

// Operations with a matrix of order n, of which k eigenvectors are wanted.
double of_reduction(double n, double) { return 4 * n * n * n / 3; }
/// At most: no eigenvalue is found to be that of a part.
double of_merges(double n, double k) { return k > 0 ? 4 * n * n * n / 3 : 0; }
double of_way_back(double n, double k) { return 2 * n * n * k; }

/// `Flops` counts the operations for n and k.
template <double Flops(double n, double k)>
class EigenTraits : public FamilyTraits {
 public:
  Index size(const Shape& shape) const override { return shape.n; }
  double flops(const Shape& shape) const override {
    return Flops(static_cast<double>(shape.n), static_cast<double>(shape.nrhs));
  }

 protected:
  ~EigenTraits() = default;
};

class StedcTraits final : public EigenTraits<of_merges> {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.stedc;
  }
  /// Of the columns that go home as one.
  Index block_size(const Request& request, bool) const override {
    return request.tuning().solve.columns_at_once;
  }
  std::size_t memory(const Request& request, const Options&) const override {
    return with_type(request.type,
                     [&](auto one) { return stedc_bytes<decltype(one)>(request.shape.n); });
  }
};

class SytrdTraits final : public EigenTraits<of_reduction> {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.sytrd;
  }
  Index block_size(const Request& request, bool) const override {
    return request.tuning().eigen.panel_columns;
  }
  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return sytrd_bytes<decltype(one)>(request.device, options, request.shape.n);
    });
  }
};

/// Of a generalized problem B is factored, A brought to the form of the other problem, and vectors
/// solved for.
template <bool Generalized>
double of_driver(double n, double k) {
  const double besides = Generalized ? n * n * n / 3 + n * n * n + n * n * k : 0;
  return of_reduction(n, k) + of_merges(n, k) + of_way_back(n, k) + besides;
}

template <bool Generalized>
class DriverTraits final : public EigenTraits<of_driver<Generalized>> {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.syevd;
  }
  Index typical_right_hand_sides(Index n) const override { return n; }
  /// Of products. The reduction has its own, and reflectors go back by narrower ones.
  Index block_size(const Request& request, bool) const override {
    return request.tuning().qr.reflector_columns;
  }
  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return eigenproblem_bytes<decltype(one)>(request.device, options, Generalized,
                                               request.shape.n, request.shape.nrhs);
    });
  }
};

double of_orgtr(double n, double) { return 4 * n * n * n / 3; }

/// All but the first row and column of Q is that of n - 1 reflectors of QR.
class OrgtrTraits final : public EigenTraits<of_orgtr> {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.orgqr;
  }
  Index block_size(const Request& request, bool) const override {
    return request.tuning().qr.reflector_columns;
  }
  std::size_t memory(const Request& request, const Options& options) const override {
    return with_type(request.type, [&](auto one) {
      return orgtr_bytes<decltype(one)>(options, request.shape.n);
    });
  }
};

class OrmtrTraits final : public EigenTraits<of_way_back> {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.ormqr;
  }
  Index block_size(const Request& request, bool) const override {
    return request.tuning().qr.reflector_columns;
  }
  /// From either side.
  std::size_t memory(const Request& request, const Options& options) const override {
    constexpr auto kColumns = cpu::Reflectors::columns;
    const Index k = request.shape.n - 1, lines = request.shape.nrhs;
    return with_type(request.type, [&](auto one) {
      return std::max(ormqr_bytes<decltype(one)>(options, kColumns, Side::left, k, k, lines),
                      ormqr_bytes<decltype(one)>(options, kColumns, Side::right, k, lines, k));
    });
  }
};

}  // namespace

const FamilyTraits& eigen_traits() {
  static constexpr DriverTraits<false> kTraits;
  return kTraits;
}

const FamilyTraits& generalized_eigen_traits() {
  static constexpr DriverTraits<true> kTraits;
  return kTraits;
}

const FamilyTraits& sytrd_traits() {
  static constexpr SytrdTraits kTraits;
  return kTraits;
}

const FamilyTraits& orgtr_traits() {
  static constexpr OrgtrTraits kTraits;
  return kTraits;
}

const FamilyTraits& ormtr_traits() {
  static constexpr OrmtrTraits kTraits;
  return kTraits;
}

const FamilyTraits& stedc_traits() {
  static constexpr StedcTraits kTraits;
  return kTraits;
}

}  // namespace overlapack::algorithms
