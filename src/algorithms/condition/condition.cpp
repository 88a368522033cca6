#include "algorithms/condition/condition.hpp"

#include <cmath>

#include "algorithms/cholesky/traits.hpp"
#include "algorithms/condition/inverse_norm.hpp"
#include "algorithms/solve/solve_with.hpp"

namespace overlapack::algorithms {
namespace {

/// The copy on the device of what a call is given, and zeros beside it.
template <class T>
class Given {
 public:
  Given(Device& device, const GivenMatrix<T>& given)
      : device_(device),
        given_(given),
        copy_(device, given.a.rows, given.a.rows),
        not_finite_(device, 1) {}
  static std::size_t bytes(Index n) {
    return DeviceMatrix<T>::bytes(n, n) + Readout<Index>::bytes(1);
  }

  /// Brings it there and waits for it. `spare` is room for another copy: what arrives of a triangle
  /// has anything beside it. Throws DeviceError if a number is not finite.
  DeviceView<const T> bring(Queue& queue, const Options& options, DeviceView<T> spare) const {
    const DeviceView<T> a = copy_.view();
    const bool whole = given_.part == Part::all;
    Index committed = 0;
    Transfer transfer(device_, options.threads, committed);
    const Index upload = transfer.add_upload(given_.region(whole ? a : spare));
    transfer.start();
    transfer.before(queue, upload);
    if (!whole) {
      queue.zero(a.data, DeviceMatrix<T>::bytes(a.rows, a.cols));
      const DeviceView<const T> arrived = given_.block(spare);
      if (!arrived.empty()) queue.copy<T>(given_.block(a), arrived, given_.part);
    }
    queue.zero(not_finite_.there().data, sizeof(Index));
    queue.enqueue(FindNotFinite<T>{Part::all, a, not_finite_.there()});
    not_finite_.fetch(queue);
    queue.synchronize();
    transfer.finish();
    if (*not_finite_.here() != 0) throw DeviceError("a number is not finite");
    return a;
  }

 private:
  Device& device_;
  const GivenMatrix<T> given_;
  const DeviceMatrix<T> copy_;
  const Readout<Index> not_finite_;
};

/// Throws DeviceError unless x is as accurate as numbers are.
template <class R>
R require_normal(R x, const char* what) {
  if (!std::isnormal(x)) throw DeviceError(std::string(what) + " is out of range");
  return x;
}

template <class T>
Real<T> reciprocal(Real<T> norm_of_a, Real<T> norm_of_inverse) {
  const Real<T> inverse = require_normal(norm_of_inverse, "the norm of the inverse");
  return require_normal(1 / inverse / norm_of_a, "the condition");
}

template <class T>
Real<T> condition_of(Device& device, const Options& options, Norm norm, const GivenMatrix<T>& given,
                     const TriangularProduct& product, Real<T> norm_of_a) {
  require_normal(norm_of_a, "the norm of the matrix");
  const Given<T> matrix(device, given);
  InverseNorm<T> norm_of_inverse(device, given.a.rows, product);
  const QueueLease queue(device);
  const DeviceView<const T> there = matrix.bring(*queue, options, norm_of_inverse.spare());
  return reciprocal<T>(norm_of_a, norm_of_inverse(*queue, norm, there));
}

}  // namespace

template <class T>
Real<T> gecon(Device& device, const Options& options, Norm norm, HostView<const T> a,
              Real<T> norm_of_a) {
  return condition_of<T>(device, options, norm, {a}, TriangularProduct::lu(), norm_of_a);
}

template <class T>
Real<T> pocon(Device& device, const Options& options, Uplo uplo, HostView<const T> a,
              Real<T> norm_of_a) {
  return condition_of<T>(device, options, Norm::one, {a, part_of(uplo)},
                         TriangularProduct::cholesky(uplo), norm_of_a);
}

template <class T>
Real<T> trcon(Device& device, const Options& options, Norm norm, Uplo uplo, Diag diag,
              HostView<const T> a) {
  const Given<T> matrix(device, {a, part_of(uplo), diag});
  InverseNorm<T> norm_of_inverse(device, a.rows, TriangularProduct::triangle(uplo, diag));
  const Readout<Real<T>> norm_of_a(device, 1);
  const QueueLease queue(device);
  const DeviceView<const T> there = matrix.bring(*queue, options, norm_of_inverse.spare());
  queue->enqueue(MatrixNorm<T>{norm, Symmetry::none, uplo, there, {}, norm_of_a.there()});
  norm_of_a.fetch(*queue);
  const Real<T> inverse = norm_of_inverse(*queue, norm, there);
  const Real<T> ones = diag == Diag::unit ? 1 : 0;  // which `there` has not
  return reciprocal<T>(require_normal(*norm_of_a.here() + ones, "the norm of the matrix"), inverse);
}

namespace {

class ConditionTraits : public FamilyTraits {
 public:
  Index size(const Shape& shape) const override { return shape.n; }
  /// Of five products with the inverse, as there are as a rule.
  double flops(const Shape& shape) const override {
    constexpr double kProducts = 5;
    const auto n = static_cast<double>(shape.n);
    return kProducts * static_cast<double>(factors()) * n * n;
  }
  /// It is not by blocks. The call log says what a Cholesky factorization would have.
  Index block_size(const Request& request, bool residues) const override {
    return cholesky_traits().block_size(request, residues);
  }
  std::size_t memory(const Request& request, const Options&) const override {
    return with_type(request.type, [&](auto one) {
      using T = decltype(one);
      const Index n = request.shape.n;
      return Given<T>::bytes(n) + InverseNorm<T>::bytes(request.device, n, factors()) +
             Readout<Real<T>>::bytes(1);
    });
  }

 protected:
  ~ConditionTraits() = default;

 private:
  /// Triangles that the matrix is a product of.
  virtual Index factors() const { return 2; }
};

class GeconTraits final : public ConditionTraits {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.gecon;
  }
};

class PoconTraits final : public ConditionTraits {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.pocon;
  }
};

class TrconTraits final : public ConditionTraits {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.trcon;
  }

 private:
  Index factors() const override { return 1; }
};

}  // namespace

const FamilyTraits& gecon_traits() {
  static constexpr GeconTraits kTraits;
  return kTraits;
}

const FamilyTraits& pocon_traits() {
  static constexpr PoconTraits kTraits;
  return kTraits;
}

const FamilyTraits& trcon_traits() {
  static constexpr TrconTraits kTraits;
  return kTraits;
}

#define OVERLAPACK_INSTANTIATE(T)                                                       \
  template Real<T> gecon<T>(Device&, const Options&, Norm, HostView<const T>, Real<T>); \
  template Real<T> pocon<T>(Device&, const Options&, Uplo, HostView<const T>, Real<T>); \
  template Real<T> trcon<T>(Device&, const Options&, Norm, Uplo, Diag, HostView<const T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
