// trtri, lauum, potri and getri.
#include "cpu/inverse.hpp"

#include <utility>
#include <vector>

#include "exported.hpp"
#include "tools/problems/row.hpp"
#include "tools/problems/triangle.hpp"

namespace overlapack::tools {
namespace {

template <class T>
using Vector = std::vector<Double<T>>;

template <class T>
const cpu::Lapack<T>& lapack() {
  return cpu::lapack<T>(cpu::Family::lp64);
}

template <class T>
void run_trtri(Problem<T>& problem) {
  Arguments<T> x(problem);
  const char diag = static_cast<char>(Diag::non_unit);
  compat::Exported<T>::trtri(&x.uplo, &diag, &x.n, x.a, &x.lda, &x.info, 1, 1);
  problem.info = x.info;
}

template <class T>
void run_trtri_on_cpu(Problem<T>& problem) {
  problem.info = cpu::trtri(lapack<T>(), problem.call().uplo, Diag::non_unit, problem.a());
}

template <class T>
void run_lauum(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::lauum(&x.uplo, &x.n, x.a, &x.lda, &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_lauum_on_cpu(Problem<T>& problem) {
  problem.info = cpu::lauum(lapack<T>(), problem.call().uplo, problem.a());
}

template <class T>
void run_potri(Problem<T>& problem) {
  Arguments<T> x(problem);
  compat::Exported<T>::potri(&x.uplo, &x.n, x.a, &x.lda, &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_potri_on_cpu(Problem<T>& problem) {
  problem.info = cpu::potri(lapack<T>(), problem.call().uplo, problem.a());
}

template <class T>
void run_getri(Problem<T>& problem) {
  Arguments<T> x(problem);
  const auto lwork = static_cast<std::int32_t>(problem.work_size());
  compat::Exported<T>::getri(&x.n, x.a, &x.lda, x.ipiv, problem.work(), &lwork, &x.info);
  problem.info = x.info;
}

template <class T>
void run_getri_on_cpu(Problem<T>& problem) {
  problem.info = cpu::getri(lapack<T>(), problem.a(), cpu::Pivots(problem.pivots()),
                            cpu::Workspace<T>{problem.work(), problem.work_size()});
}

/// What is left is a triangle, a Hermitian matrix by one of its triangles, or a whole matrix.
template <class T>
Vector<T> times_result_triangle(const Problem<T>& problem, Vector<T> x) {
  return triangle_times<T>(problem.call().uplo, Op::none, Diag::non_unit, problem.a(), x);
}

template <class T>
Vector<T> times_result_hermitian(const Problem<T>& problem, Vector<T> x) {
  const HostView<T> a = problem.a();
  const Uplo uplo = problem.call().uplo;
  Vector<T> y = triangle_times<T>(uplo, Op::none, Diag::non_unit, a, x);
  const Vector<T> z = triangle_times<T>(uplo, Op::conj_trans, Diag::non_unit, a, x);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto j = static_cast<Index>(i);
    y[i] += z[i] - Double<T>(a(j, j)) * x[i];
  }
  return y;
}

template <class T>
Vector<T> times_result(const Problem<T>& problem, Vector<T> x) {
  const HostView<T> a = problem.a();
  const Vector<T> upper = triangle_times<T>(Uplo::upper, Op::none, Diag::non_unit, a, x);
  Vector<T> y = triangle_times<T>(Uplo::lower, Op::none, Diag::unit, a, x);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += upper[i] - x[i];
  return y;
}

/// What was given is A, the factors of A, or a triangle whose product with its adjoint is A.
template <class T>
Vector<T> times_given_triangle(const Problem<T>& problem, Vector<T> x) {
  return triangle_times<T>(problem.call().uplo, Op::none, Diag::non_unit, problem.given(), x);
}

template <class T>
Vector<T> times_given_factors(const Problem<T>& problem, Vector<T> x) {
  return problem.factor_times(problem.given(), std::move(x), Op::none);
}

template <class T>
Vector<T> times_product(const Problem<T>& problem, Vector<T> x) {
  const Uplo uplo = problem.call().uplo;
  const bool lower = uplo == Uplo::lower;
  for (const Op op : {lower ? Op::none : Op::conj_trans, lower ? Op::conj_trans : Op::none}) {
    x = triangle_times<T>(uplo, op, Diag::non_unit, problem.given(), x);
  }
  return x;
}

template <class T>
double residual_of_inverse(const Problem<T>& problem) {
  return problem.residual_of_inverse();
}

template <class T>
double residual_of_product(const Problem<T>& problem) {
  return problem.residual_of_product();
}

template <class T>
constexpr ProblemRow<T> row_of_result(Matrix matrix, void (*run)(Problem<T>&),
                                      void (*run_on_cpu)(Problem<T>&),
                                      decltype(ProblemRow<T>::residual) residual,
                                      decltype(ProblemRow<T>::times) times,
                                      decltype(ProblemRow<T>::times) result_times) {
  ProblemRow<T> row{matrix, run, run_on_cpu, residual};
  row.keeps_factor = true;
  row.times = times;
  row.result_times = result_times;
  return row;
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::trtri() {
  static constexpr ProblemRow<T> row =
      row_of_result<T>(Matrix::cholesky_factor, run_trtri<T>, run_trtri_on_cpu<T>,
                       residual_of_inverse<T>, times_given_triangle<T>, times_result_triangle<T>);
  return row;
}

template <class T>
const ProblemRow<T>& rows::lauum() {
  static constexpr ProblemRow<T> row =
      row_of_result<T>(Matrix::cholesky_factor, run_lauum<T>, run_lauum_on_cpu<T>,
                       residual_of_product<T>, times_product<T>, times_result_hermitian<T>);
  return row;
}

template <class T>
const ProblemRow<T>& rows::potri() {
  static constexpr ProblemRow<T> row =
      row_of_result<T>(Matrix::cholesky_factor, run_potri<T>, run_potri_on_cpu<T>,
                       residual_of_inverse<T>, times_given_factors<T>, times_result_hermitian<T>);
  return row;
}

template <class T>
const ProblemRow<T>& rows::getri() {
  static constexpr ProblemRow<T> row =
      row_of_result<T>(Matrix::lu_factors, run_getri<T>, run_getri_on_cpu<T>,
                       residual_of_inverse<T>, times_given_factors<T>, times_result<T>);
  return row;
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::trtri<T>(); \
  template const ProblemRow<T>& rows::lauum<T>(); \
  template const ProblemRow<T>& rows::potri<T>(); \
  template const ProblemRow<T>& rows::getri<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
