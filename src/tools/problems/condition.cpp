// gecon, pocon and trcon. The norm of the matrix is taken to be 1, so that rcond is 1 over the norm
// of the inverse.
#include "cpu/condition.hpp"

#include "exported.hpp"
#include "tools/problems/row.hpp"

namespace overlapack::tools {
namespace {

constexpr char kNorm = static_cast<char>(Norm::one);
template <class T>
constexpr Real<T> kNormOfMatrix = 1;

template <class T>
void run_gecon(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::gecon(&kNorm, &x.n, x.a, &x.lda, &kNormOfMatrix<T>, &problem.rcond,
                             problem.condition_work().work, problem.condition_work2(), &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_pocon(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::pocon(&x.uplo, &x.n, x.a, &x.lda, &kNormOfMatrix<T>, &problem.rcond,
                             problem.condition_work().work, problem.condition_work2(), &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_trcon(Problem<T>& problem) {
  Arguments<T> x(problem);
  const char diag = static_cast<char>(Diag::non_unit);
  compat::Exported<T>::trcon(&kNorm, &x.uplo, &diag, &x.n, x.a, &x.lda, &problem.rcond,
                             problem.condition_work().work, problem.condition_work2(), &x.info, 1,
                             1, 1);
  problem.info = x.info;
}

/// rcond by the CPU LAPACK; returns info.
template <class T>
using OnCpu = Index(const Problem<T>&, Real<T>& rcond);

template <class T>
Index gecon_on_cpu(const Problem<T>& problem, Real<T>& rcond) {
  return cpu::gecon<T>(cpu::lapack<T>(cpu::Family::lp64), Norm::one, problem.a(), kNormOfMatrix<T>,
                       rcond, problem.condition_work());
}

template <class T>
Index pocon_on_cpu(const Problem<T>& problem, Real<T>& rcond) {
  return cpu::pocon<T>(cpu::lapack<T>(cpu::Family::lp64), problem.call().uplo, problem.a(),
                       kNormOfMatrix<T>, rcond, problem.condition_work());
}

template <class T>
Index trcon_on_cpu(const Problem<T>& problem, Real<T>& rcond) {
  return cpu::trcon<T>(cpu::lapack<T>(cpu::Family::lp64), Norm::one, problem.call().uplo,
                       Diag::non_unit, problem.a(), rcond, problem.condition_work());
}

template <class T, OnCpu<T>* on_cpu>
void run_on_cpu(Problem<T>& problem) {
  problem.info = on_cpu(problem, problem.rcond);
}

/// As compared with the CPU LAPACK's: the matrix is as it was.
template <class T, OnCpu<T>* on_cpu>
double residual(const Problem<T>& problem) {
  Real<T> reference = 0;
  on_cpu(problem, reference);
  return problem.residual_of_condition(reference);
}

template <class T, OnCpu<T>* on_cpu>
constexpr ProblemRow<T> condition_row(Matrix matrix, void (*run)(Problem<T>&)) {
  ProblemRow<T> row{matrix, run, run_on_cpu<T, on_cpu>, residual<T, on_cpu>};
  row.estimates = true;
  return row;
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::gecon() {
  static constexpr ProblemRow<T> row =
      condition_row<T, gecon_on_cpu<T>>(Matrix::lu_factors, run_gecon<T>);
  return row;
}

template <class T>
const ProblemRow<T>& rows::pocon() {
  static constexpr ProblemRow<T> row =
      condition_row<T, pocon_on_cpu<T>>(Matrix::cholesky_factor, run_pocon<T>);
  return row;
}

template <class T>
const ProblemRow<T>& rows::trcon() {
  static constexpr ProblemRow<T> row =
      condition_row<T, trcon_on_cpu<T>>(Matrix::cholesky_factor, run_trcon<T>);
  return row;
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::gecon<T>(); \
  template const ProblemRow<T>& rows::pocon<T>(); \
  template const ProblemRow<T>& rows::trcon<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
