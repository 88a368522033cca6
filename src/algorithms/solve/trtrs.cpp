#include "algorithms/solve/trtrs.hpp"

#include <limits>

#include "algorithms/solve/solve_with.hpp"
#include "algorithms/solve/traits.hpp"

namespace overlapack::algorithms {

template <class T>
Index trtrs(Device& device, const Options& options, Uplo uplo, Op op, Diag diag,
            HostView<const T> a, HostView<T> b, Index& committed) {
  if (diag == Diag::non_unit) {
    const Index zero = first_zero_on_diagonal<T>(device, a);
    if (zero > 0) return zero;
  }
  if (b.empty()) return 0;
  solve_with<T>(device, options, {a, part_of(uplo), diag}, b, committed,
                [&](Queue& queue, DeviceView<const T> A, DeviceView<T> B) {
                  queue.enqueue(Trsm<T>{Side::left, uplo, op, diag, T(1), A, B});
                });
  return 0;
}

namespace {

class TrtrsTraits final : public SolveTraits {
 public:
  const Tuning::BreakEven::Sizes& builtin_break_evens(const Tuning::BreakEven& sizes,
                                                      bool) const override {
    return sizes.trtrs;
  }
  /// One triangle, where the other solves have two.
  double flops(const Shape& shape) const override { return flops_of_solves(shape) / 2; }
  /// A zero on the diagonal is found before anything is computed.
  double flops_until(const Shape&, Index) const override { return 0; }
  std::size_t memory(const Request& request, const Options&) const override {
    return with_type(request.type, [&](auto one) {
      return solve_with_bytes<decltype(one)>(request.shape.n, request.shape.nrhs);
    });
  }

 private:
  AnyNumber any_number() const override {
    return {std::numeric_limits<double>::infinity(), 1};  // not measured
  }
};

}  // namespace

const FamilyTraits& trtrs_traits() {
  static constexpr TrtrsTraits kTraits;
  return kTraits;
}

#define OVERLAPACK_INSTANTIATE(T)                                                                  \
  template Index trtrs<T>(Device&, const Options&, Uplo, Op, Diag, HostView<const T>, HostView<T>, \
                          Index&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
