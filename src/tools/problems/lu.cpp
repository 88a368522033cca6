// getrf and gesv.
#include "exported.hpp"
#include "tools/problems/row.hpp"

namespace overlapack::tools {
namespace {

template <class T>
void run_getrf(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::getrf(&x.m, &x.n, x.a, &x.lda, x.ipiv, &x.info);
  problem.info = x.info;
}

template <class T>
void run_getrf_on_cpu(Problem<T>& problem) {
  const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
  problem.info = lapack.getrf(problem.a(), cpu::Pivots(problem.pivots()));
}

template <class T>
void run_gesv(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::gesv(&x.n, &x.nrhs, x.a, &x.lda, x.ipiv, x.b, &x.ldb, &x.info);
  problem.info = x.info;
}

template <class T>
void run_gesv_on_cpu(Problem<T>& problem) {
  const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
  problem.info = lapack.gesv(problem.a(), cpu::Pivots(problem.pivots()), problem.b());
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::getrf() {
  static constexpr ProblemRow<T> row{Matrix::general, run_getrf<T>, run_getrf_on_cpu<T>,
                                     residual_of_factors<T>};
  return row;
}

template <class T>
const ProblemRow<T>& rows::gesv() {
  constexpr bool kKeepsFactor = false, kLimitGrows = true;
  static constexpr ProblemRow<T> row{Matrix::general,       run_gesv<T>,  run_gesv_on_cpu<T>,
                                     residual_of_either<T>, kKeepsFactor, kLimitGrows};
  return row;
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::getrf<T>(); \
  template const ProblemRow<T>& rows::gesv<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
