// LU factorizations that stay on the device, for solves.
#include <complex>
#include <memory>

#include "algorithms/lu/schedule.hpp"
#include "algorithms/shared/factorization.hpp"
#include "algorithms/shared/substitution.hpp"

namespace overlapack::algorithms {
namespace {

template <class T>
class LuOnDevice final : public Factorization<T> {
 public:
  LuOnDevice(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index n)
      : solve_with_l_(device, Uplo::lower, Diag::unit), lu_(device, cpu, options, n, n, 0) {}

  DeviceView<T> input() const override { return lu_.matrix().view(); }
  Queue& queue() const override { return lu_.update(); }

  void factor(Flow& flow) override {
    lu_.factor(flow);
    lu_.interchange_left(queue(), lu_.matrix().view(), {0, lu_.matrix().pivot_blocks()});
  }

  void solve(DeviceView<T> b) override {
    lu_.interchange(b);
    solve_with_l_(queue(), lu_.matrix().view(), b);
    lu_.solve_with_u(b);
  }

  Index info() const override { return first_failure(lu_.panels().info()); }
  std::vector<Index> pivots() const override {
    const Buffer<Index>& home = lu_.panels().pivots_home();
    return {home.data(), home.data() + home.size()};
  }

 private:
  Substitution<T> solve_with_l_;
  Lu<T> lu_;
};

}  // namespace

template <class T>
std::unique_ptr<Factorization<T>> make_lu(Device& device, const cpu::Lapack<T>& cpu,
                                          const Options& options, Index n) {
  return std::make_unique<LuOnDevice<T>>(device, cpu, options, n);
}

template std::unique_ptr<Factorization<float>> make_lu(Device&, const cpu::Lapack<float>&,
                                                       const Options&, Index);
template std::unique_ptr<Factorization<std::complex<float>>> make_lu(
    Device&, const cpu::Lapack<std::complex<float>>&, const Options&, Index);

}  // namespace overlapack::algorithms
