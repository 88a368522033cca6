// geqrf, orgqr (ungqr) and ormqr (unmqr).
#include "cpu/qr.hpp"

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
cpu::Workspace<T> workspace(Problem<T>& problem) {
  return {problem.work(), problem.work_size()};
}

template <class T>
void run_geqrf(Problem<T>& problem) {
  Arguments<T> x(problem);
  const auto lwork = static_cast<std::int32_t>(problem.work_size());
  compat::Exported<T>::geqrf(&x.m, &x.n, x.a, &x.lda, problem.tau(), problem.work(), &lwork,
                             &x.info);
  problem.info = x.info;
}

template <class T>
void run_geqrf_on_cpu(Problem<T>& problem) {
  problem.info = cpu::geqrf(lapack<T>(), problem.a(), problem.tau(), workspace(problem));
}

template <class T>
void run_orgqr(Problem<T>& problem) {
  Arguments<T> x(problem);
  const auto lwork = static_cast<std::int32_t>(problem.work_size());
  const auto routine = [] {
    if constexpr (is_complex<T>) {
      return compat::Exported<T>::ungqr;
    } else {
      return compat::Exported<T>::orgqr;
    }
  }();
  routine(&x.m, &x.n, &x.n, x.a, &x.lda, problem.tau(), problem.work(), &lwork, &x.info);
  problem.info = x.info;
}

template <class T>
void run_orgqr_on_cpu(Problem<T>& problem) {
  problem.info = cpu::orgqr(lapack<T>(), problem.a(), problem.call().shape.n, problem.tau(),
                            workspace(problem));
}

/// Q or its adjoint: of a real matrix the transpose is that, too.
Op op_of(const Call& call) { return call.op == Op::none ? Op::none : Op::conj_trans; }

template <class T>
void run_ormqr(Problem<T>& problem) {
  Arguments<T> x(problem);
  const char side = static_cast<char>(Side::left);
  const char trans = cpu::character<T>(op_of(problem.call()));
  const auto lwork = static_cast<std::int32_t>(problem.work_size());
  const auto routine = [] {
    if constexpr (is_complex<T>) {
      return compat::Exported<T>::unmqr;
    } else {
      return compat::Exported<T>::ormqr;
    }
  }();
  routine(&side, &trans, &x.m, &x.nrhs, &x.n, x.a, &x.lda, problem.tau(), x.b, &x.ldb,
          problem.work(), &lwork, &x.info, 1, 1);
  problem.info = x.info;
}

template <class T>
void run_ormqr_on_cpu(Problem<T>& problem) {
  problem.info = cpu::ormqr<T>(lapack<T>(), Side::left, op_of(problem.call()), problem.a(),
                               problem.tau(), problem.b(), workspace(problem));
}

/// op(Q) x by the reflectors in `a`. x, which may be shorter, gets as many rows as Q has.
template <class T>
Vector<T> times_q(const Problem<T>& problem, HostView<const T> a, Op op, Vector<T> x) {
  using Wide = Double<T>;
  x.resize(static_cast<std::size_t>(a.rows));
  const Index count = std::min(a.rows, a.cols);
  for (Index l = 0; l < count; ++l) {
    const Index j = op == Op::none ? count - 1 - l : l;
    const T tau = op == Op::none ? problem.tau()[j] : conj(problem.tau()[j]);
    Wide* const xj = x.data() + j;
    const T* const v = &a(j, j);
    Wide sum = xj[0];
    for (Index i = 1; i < a.rows - j; ++i) sum += conj(Wide(v[i])) * xj[i];
    sum *= Wide(tau);
    xj[0] -= sum;
    for (Index i = 1; i < a.rows - j; ++i) xj[i] -= Wide(v[i]) * sum;
  }
  return x;
}

template <class T>
Vector<T> times_factors(const Problem<T>& problem, Vector<T> x) {
  const HostView<T> a = problem.a();
  const HostView<T> r = a.block(0, 0, std::min(a.rows, a.cols), a.cols);
  return times_q<T>(problem, a, Op::none,
                    triangle_times<T>(Uplo::upper, Op::none, Diag::non_unit, r, x));
}

template <class T>
Vector<T> times_given_reflectors(const Problem<T>& problem, Vector<T> x) {
  return times_q<T>(problem, problem.given(), Op::none, std::move(x));
}

template <class T>
Vector<T> times_result(const Problem<T>& problem, Vector<T> x) {
  const HostView<T> q = problem.a();
  Vector<T> y = triangle_times<T>(Uplo::upper, Op::none, Diag::non_unit, q, x);
  const Vector<T> lower = triangle_times<T>(Uplo::lower, Op::none, Diag::unit, q, x);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += lower[i] - x[i];
  return y;
}

/// The result X of op(Q) B is the solution of op(Q)^H X = B.
template <class T>
Vector<T> times_adjoint(const Problem<T>& problem, Vector<T> x) {
  const Op op = op_of(problem.call()) == Op::none ? Op::conj_trans : Op::none;
  return times_q<T>(problem, problem.a(), op, std::move(x));
}

template <class T>
double residual_of_product(const Problem<T>& problem) {
  return problem.residual_of_product();
}

template <class T>
constexpr ProblemRow<T> geqrf_row() {
  ProblemRow<T> row{Matrix::general, run_geqrf<T>, run_geqrf_on_cpu<T>, residual_of_product<T>};
  row.has_reflectors = true;
  row.result_times = times_factors<T>;
  return row;
}

template <class T>
constexpr ProblemRow<T> orgqr_row() {
  ProblemRow<T> row{Matrix::reflectors, run_orgqr<T>, run_orgqr_on_cpu<T>, residual_of_product<T>};
  row.has_reflectors = row.keeps_factor = true;
  row.times = times_given_reflectors<T>;
  row.result_times = times_result<T>;
  return row;
}

template <class T>
constexpr ProblemRow<T> ormqr_row() {
  ProblemRow<T> row{Matrix::reflectors, run_ormqr<T>, run_ormqr_on_cpu<T>,
                    residual_of_any_solution<T>};
  row.has_reflectors = true;
  row.times = times_adjoint<T>;
  return row;
}

}  // namespace

template <class T>
const ProblemRow<T>& rows::geqrf() {
  static constexpr ProblemRow<T> row = geqrf_row<T>();
  return row;
}

template <class T>
const ProblemRow<T>& rows::orgqr() {
  static constexpr ProblemRow<T> row = orgqr_row<T>();
  return row;
}

template <class T>
const ProblemRow<T>& rows::ungqr() {
  return rows::orgqr<T>();
}

template <class T>
const ProblemRow<T>& rows::ormqr() {
  static constexpr ProblemRow<T> row = ormqr_row<T>();
  return row;
}

template <class T>
const ProblemRow<T>& rows::unmqr() {
  return rows::ormqr<T>();
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::geqrf<T>(); \
  template const ProblemRow<T>& rows::orgqr<T>(); \
  template const ProblemRow<T>& rows::ungqr<T>(); \
  template const ProblemRow<T>& rows::ormqr<T>(); \
  template const ProblemRow<T>& rows::unmqr<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::tools
