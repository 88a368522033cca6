// potrs, getrs and trtrs.
#include <utility>
#include <vector>

#include "cpu/trtrs.hpp"
#include "exported.hpp"
#include "tools/problems/row.hpp"
#include "tools/problems/triangle.hpp"

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

template <class T>
void run_trtrs(Problem<T>& problem) {
  Arguments<T> x(problem);
  const char diag = static_cast<char>(Diag::non_unit);
  compat::Exported<T>::trtrs(&x.uplo, &x.op, &diag, &x.n, &x.nrhs, x.a, &x.lda, x.b, &x.ldb,
                             &x.info, 1, 1, 1);
  problem.info = x.info;
}

template <class T>
void run_trtrs_on_cpu(Problem<T>& problem) {
  const Call& call = problem.call();
  problem.info = cpu::trtrs<T>(cpu::lapack<T>(cpu::Family::lp64), call.uplo, call.op,
                               Diag::non_unit, problem.a(), problem.b());
}

template <class T>
std::vector<Double<T>> times_triangle(const Problem<T>& problem, std::vector<Double<T>> x) {
  const Call& call = problem.call();
  return triangle_times<T>(call.uplo, call.op, Diag::non_unit, problem.a(), x);
}

/// op(A) x from the factors that the routine is given.
template <class T>
std::vector<Double<T>> times_factors(const Problem<T>& problem, std::vector<Double<T>> x) {
  return problem.factor_times(problem.a(), std::move(x), problem.call().op);
}

/// The row of a solve with what is given as A.
template <class T>
constexpr ProblemRow<T> solve_row(Matrix matrix, void (*run)(Problem<T>&),
                                  void (*run_on_cpu)(Problem<T>&),
                                  decltype(ProblemRow<T>::times) times) {
  ProblemRow<T> row{matrix, run, run_on_cpu, residual_of_any_solution<T>};
  row.times = times;
  return row;
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::potrs() {
  static constexpr ProblemRow<T> row =
      solve_row<T>(Matrix::cholesky_factor, run_potrs<T>, run_potrs_on_cpu<T>, times_factors<T>);
  return row;
}

template <class T>
const ProblemRow<T>& rows::getrs() {
  static constexpr ProblemRow<T> row =
      solve_row<T>(Matrix::lu_factors, run_getrs<T>, run_getrs_on_cpu<T>, times_factors<T>);
  return row;
}

template <class T>
const ProblemRow<T>& rows::trtrs() {
  static constexpr ProblemRow<T> row =
      solve_row<T>(Matrix::cholesky_factor, run_trtrs<T>, run_trtrs_on_cpu<T>, times_triangle<T>);
  return row;
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::trtrs<T>(); \
  template const ProblemRow<T>& rows::potrs<T>(); \
  template const ProblemRow<T>& rows::getrs<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
