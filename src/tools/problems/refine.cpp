// The mixed-precision solvers: dsgesv, dsposv, zcgesv and zcposv.
#include "exported.hpp"
#include "tools/problems/row.hpp"

namespace overlapack::tools {
namespace {

template <class T>
void run_gesv(Problem<T>& problem) {
  if constexpr (Problem<T>::kMixed) {
    using Abi = compat::Exported<T>;
    Arguments<T> x(problem);
    const cpu::MixedWork<T> w = problem.mixed_work();
    T* const solution = problem.x().data;
    std::int32_t iter = 0;
    if constexpr (is_complex<T>) {
      Abi::cgesv(&x.n, &x.nrhs, x.a, &x.lda, x.ipiv, x.b, &x.ldb, solution, &x.ldb, w.work, w.swork,
                 w.rwork, &iter, &x.info);
    } else {
      Abi::sgesv(&x.n, &x.nrhs, x.a, &x.lda, x.ipiv, x.b, &x.ldb, solution, &x.ldb, w.work, w.swork,
                 &iter, &x.info);
    }
    problem.iter = iter;
    problem.info = x.info;
  }
}

template <class T>
void run_gesv_on_cpu(Problem<T>& problem) {
  if constexpr (Problem<T>::kMixed) {
    const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
    problem.info = lapack.mixed_gesv(problem.a(), cpu::Pivots(problem.pivots()), problem.b(),
                                     problem.x(), problem.mixed_work(), problem.iter);
  }
}

template <class T>
void run_posv(Problem<T>& problem) {
  if constexpr (Problem<T>::kMixed) {
    using Abi = compat::Exported<T>;
    Arguments<T> x(problem);
    const cpu::MixedWork<T> w = problem.mixed_work();
    T* const solution = problem.x().data;
    std::int32_t iter = 0;
    if constexpr (is_complex<T>) {
      Abi::cposv(&x.uplo, &x.n, &x.nrhs, x.a, &x.lda, x.b, &x.ldb, solution, &x.ldb, w.work,
                 w.swork, w.rwork, &iter, &x.info, 1);
    } else {
      Abi::sposv(&x.uplo, &x.n, &x.nrhs, x.a, &x.lda, x.b, &x.ldb, solution, &x.ldb, w.work,
                 w.swork, &iter, &x.info, 1);
    }
    problem.iter = iter;
    problem.info = x.info;
  }
}

template <class T>
void run_posv_on_cpu(Problem<T>& problem) {
  if constexpr (Problem<T>::kMixed) {
    const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
    problem.info = lapack.mixed_posv(problem.call().uplo, problem.a(), problem.b(), problem.x(),
                                     problem.mixed_work(), problem.iter);
  }
}

template <class T>
const ProblemRow<T>& by_lu() {
  static constexpr ProblemRow<T> row{Matrix::general, run_gesv<T>, run_gesv_on_cpu<T>,
                                     residual_of_any_solution<T>};
  return row;
}

template <class T>
const ProblemRow<T>& by_cholesky() {
  static constexpr ProblemRow<T> row{Matrix::positive_definite, run_posv<T>, run_posv_on_cpu<T>,
                                     residual_of_any_solution<T>};
  return row;
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::sgesv() {
  return by_lu<T>();
}
template <class T>
const ProblemRow<T>& rows::cgesv() {
  return by_lu<T>();
}
template <class T>
const ProblemRow<T>& rows::sposv() {
  return by_cholesky<T>();
}
template <class T>
const ProblemRow<T>& rows::cposv() {
  return by_cholesky<T>();
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::sgesv<T>(); \
  template const ProblemRow<T>& rows::cgesv<T>(); \
  template const ProblemRow<T>& rows::sposv<T>(); \
  template const ProblemRow<T>& rows::cposv<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
