// potrs and getrs.
#include "exported.hpp"
#include "tools/problems/row.hpp"

namespace overlapack::tools {
namespace {

template <class T>
void run_potrs(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::potrs(&x.uplo, &x.n, &x.nrhs, x.a, &x.lda, x.b, &x.ldb, &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_potrs_on_cpu(Problem<T>& problem) {
  const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
  problem.info = lapack.potrs(problem.call().uplo, problem.a(), problem.b());
}

template <class T>
void run_getrs(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::getrs(&x.op, &x.n, &x.nrhs, x.a, &x.lda, x.ipiv, x.b, &x.ldb, &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_getrs_on_cpu(Problem<T>& problem) {
  const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
  problem.info =
      lapack.getrs(problem.call().op, problem.a(), cpu::Pivots(problem.pivots()), problem.b());
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::potrs() {
  static constexpr ProblemRow<T> row{Matrix::cholesky_factor, run_potrs<T>, run_potrs_on_cpu<T>,
                                     residual_of_any_solution<T>};
  return row;
}

template <class T>
const ProblemRow<T>& rows::getrs() {
  static constexpr ProblemRow<T> row{Matrix::lu_factors, run_getrs<T>, run_getrs_on_cpu<T>,
                                     residual_of_any_solution<T>};
  return row;
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::potrs<T>(); \
  template const ProblemRow<T>& rows::getrs<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
