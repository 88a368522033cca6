// Updates of a Cholesky factor.
#include "algorithms/update/on_cpu.hpp"
#include "dispatch/calls.hpp"
#include "exported.hpp"
#include "tools/problems/row.hpp"

namespace overlapack::tools {
namespace {

constexpr int kUpdate = 1;  // the sign of vectors that are added

template <class T>
void run(Problem<T>& problem) {
  const Call& call = problem.call();
  compat::Exported<T>::cholupdate(static_cast<char>(call.uplo), call.shape.n, call.shape.nrhs,
                                  problem.a_argument(), call.lda, problem.b().data, call.ldb,
                                  kUpdate, &problem.info);
}

template <class T>
void run_on_cpu(Problem<T>& problem) {
  const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
  problem.info = algorithms::chol_update<T>(
      lapack, problem.call().uplo, problem.a(), HostView<const T>(problem.b()),
      algorithms::Signs(&kUpdate, false), dispatch::cpu_threads(problem.call().shape.n));
}

template <class T>
double residual(const Problem<T>& problem) {
  return problem.residual_of_update();
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::cholupdate() {
  constexpr bool kKeepsFactor = true;
  static constexpr ProblemRow<T> row{Matrix::cholesky_factor, run<T>, run_on_cpu<T>, residual<T>,
                                     kKeepsFactor};
  return row;
}

#define OVERLAPACK_INSTANTIATE(T) template const ProblemRow<T>& rows::cholupdate<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
