// potrf and posv.
#include "exported.hpp"
#include "tools/problems/row.hpp"

namespace overlapack::tools {
namespace {

template <class T>
void run_potrf(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::potrf(&x.uplo, &x.n, x.a, &x.lda, &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_potrf_on_cpu(Problem<T>& problem) {
  const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
  problem.info = lapack.potrf(problem.call().uplo, problem.a());
}

template <class T>
void run_posv(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::posv(&x.uplo, &x.n, &x.nrhs, x.a, &x.lda, x.b, &x.ldb, &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_posv_on_cpu(Problem<T>& problem) {
  const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
  problem.info = lapack.posv(problem.call().uplo, problem.a(), problem.b());
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::potrf() {
  static constexpr ProblemRow<T> row{Matrix::positive_definite, run_potrf<T>, run_potrf_on_cpu<T>,
                                     residual_of_factors<T>};
  return row;
}

template <class T>
const ProblemRow<T>& rows::posv() {
  static constexpr ProblemRow<T> row{Matrix::positive_definite, run_posv<T>, run_posv_on_cpu<T>,
                                     residual_of_either<T>};
  return row;
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::potrf<T>(); \
  template const ProblemRow<T>& rows::posv<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
