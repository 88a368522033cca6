// Cholesky factorizations that stay on the device, for solves.
#include <complex>
#include <memory>

#include "algorithms/cholesky/schedule.hpp"
#include "algorithms/shared/factorization.hpp"
#include "algorithms/shared/substitution.hpp"

namespace overlapack::algorithms {
namespace {

template <class T>
class CholeskyOnDevice final : public Factorization<T> {
 public:
  CholeskyOnDevice(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
                   Index n)
      : solve_with_l_(device, Uplo::lower, Diag::non_unit),
        solve_with_adjoint_(device, Uplo::upper, Diag::non_unit),
        cholesky_(device, cpu, options, uplo, n, 0) {}
  /// Of device memory, with solves for nrhs right-hand sides.
  static std::size_t bytes(Device& device, const Options& options, Uplo uplo, Index n, Index nrhs) {
    return Cholesky<T>::bytes(device, options, uplo, n, 0) +
           2 * Substitution<T>::bytes(device, n, nrhs);
  }

  DeviceView<T> input() const override {
    return cholesky_.triangle().block(cholesky_.matrix(), cholesky_.columns(), cholesky_.columns());
  }
  Queue& queue() const override { return cholesky_.panel(); }

  void factor(Flow& flow) override { cholesky_.factor(flow); }

  /// The other triangle gets the adjoint of the factor, so that L^H, too, is a matrix whose rows
  /// lie side by side.
  void solve(DeviceView<T> b) override {
    const Triangle<T>& triangle = cholesky_.triangle();
    const DeviceView<T> factors =
        triangle.block(cholesky_.matrix(), cholesky_.columns(), cholesky_.columns());
    if (!mirrored_) queue().enqueue(Mirror<T>{triangle.uplo, factors});
    mirrored_ = true;
    solve_with_l_(queue(), factors, b);
    solve_with_adjoint_(queue(), factors, b);
  }

  Index info() const override { return first_failure(cholesky_.info()); }
  std::vector<Index> pivots() const override { return {}; }

 private:
  Substitution<T> solve_with_l_, solve_with_adjoint_;
  Cholesky<T> cholesky_;
  bool mirrored_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<Factorization<T>> make_cholesky(Device& device, const cpu::Lapack<T>& cpu,
                                                const Options& options, Uplo uplo, Index n) {
  return std::make_unique<CholeskyOnDevice<T>>(device, cpu, options, uplo, n);
}

template <class T>
std::size_t cholesky_bytes(Device& device, const Options& options, Uplo uplo, Index n, Index nrhs) {
  return CholeskyOnDevice<T>::bytes(device, options, uplo, n, nrhs);
}

template std::unique_ptr<Factorization<float>> make_cholesky(Device&, const cpu::Lapack<float>&,
                                                             const Options&, Uplo, Index);
template std::unique_ptr<Factorization<std::complex<float>>> make_cholesky(
    Device&, const cpu::Lapack<std::complex<float>>&, const Options&, Uplo, Index);
template std::size_t cholesky_bytes<float>(Device&, const Options&, Uplo, Index, Index);
template std::size_t cholesky_bytes<std::complex<float>>(Device&, const Options&, Uplo, Index,
                                                         Index);

}  // namespace overlapack::algorithms
