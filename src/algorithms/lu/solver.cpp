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
  /// Of device memory, with solves for nrhs right-hand sides.
  static std::size_t bytes(Device& device, const Options& options, Index n, Index nrhs) {
    return Lu<T>::bytes(device, options, n, n, 0) +
           LuPanels<T>::bytes_to_interchange(device, options, n, n) +
           2 * Substitution<T>::bytes(device, n, nrhs);
  }

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
    const Buffer<Index>& staged = lu_.panels().staged_pivots();
    return {staged.data(), staged.data() + staged.size()};
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

template <class T>
std::size_t lu_bytes(Device& device, const Options& options, Index n, Index nrhs) {
  return LuOnDevice<T>::bytes(device, options, n, nrhs);
}

template std::unique_ptr<Factorization<float>> make_lu(Device&, const cpu::Lapack<float>&,
                                                       const Options&, Index);
template std::unique_ptr<Factorization<std::complex<float>>> make_lu(
    Device&, const cpu::Lapack<std::complex<float>>&, const Options&, Index);
template std::size_t lu_bytes<float>(Device&, const Options&, Index, Index);
template std::size_t lu_bytes<std::complex<float>>(Device&, const Options&, Index, Index);

}  // namespace overlapack::algorithms
