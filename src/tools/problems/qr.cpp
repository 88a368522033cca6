// geqrf, gelqf, orgqr, orglq, ormqr, ormlq (ungqr and so on), geqrt, gemqrt and gels.
#include "cpu/qr.hpp"

#include <utility>
#include <vector>

#include "exported.hpp"
#include "tools/problems/row.hpp"
#include "tools/problems/triangle.hpp"

namespace overlapack::tools {
namespace {

using cpu::Reflectors;

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
std::int32_t work_size(const Problem<T>& problem) {
  return static_cast<std::int32_t>(problem.work_size());
}

/// The exported ?orgqr, ?orglq, ?ormqr and ?ormlq, under the names that they have for T.
template <class T>
struct Names {
  using Abi = compat::Exported<T>;
  static auto orgqr(Reflectors kind) {
    if constexpr (is_complex<T>) {
      return kind == Reflectors::rows ? Abi::unglq : Abi::ungqr;
    } else {
      return kind == Reflectors::rows ? Abi::orglq : Abi::orgqr;
    }
  }
  static auto ormqr(Reflectors kind) {
    if constexpr (is_complex<T>) {
      return kind == Reflectors::rows ? Abi::unmlq : Abi::unmqr;
    } else {
      return kind == Reflectors::rows ? Abi::ormlq : Abi::ormqr;
    }
  }
};

template <class T, Reflectors kind>
void run_geqrf(Problem<T>& problem) {
  using Abi = compat::Exported<T>;
  Arguments<T> x(problem);
  const std::int32_t lwork = work_size(problem);
  (kind == Reflectors::rows ? Abi::gelqf : Abi::geqrf)(&x.m, &x.n, x.a, &x.lda, problem.tau(),
                                                       problem.work(), &lwork, &x.info);
  problem.info = x.info;
}

template <class T, Reflectors kind>
void run_geqrf_on_cpu(Problem<T>& problem) {
  problem.info = cpu::geqrf(lapack<T>(), kind, problem.a(), problem.tau(), workspace(problem));
}

template <class T, Reflectors kind>
void run_orgqr(Problem<T>& problem) {
  Arguments<T> x(problem);
  const std::int32_t lwork = work_size(problem);
  Names<T>::orgqr(kind)(&x.m, &x.n, &x.n, x.a, &x.lda, problem.tau(), problem.work(), &lwork,
                        &x.info);
  problem.info = x.info;
}

template <class T, Reflectors kind>
void run_orgqr_on_cpu(Problem<T>& problem) {
  problem.info = cpu::orgqr(lapack<T>(), kind, problem.a(), problem.call().shape.n, problem.tau(),
                            workspace(problem));
}

/// Q or its adjoint: of a real matrix the transpose is that, too.
Op op_of(const Call& call) { return call.op == Op::none ? Op::none : Op::conj_trans; }

template <class T, Reflectors kind>
void run_ormqr(Problem<T>& problem) {
  Arguments<T> x(problem);
  const char side = static_cast<char>(Side::left);
  const char trans = cpu::character<T>(op_of(problem.call()));
  const std::int32_t lwork = work_size(problem);
  Names<T>::ormqr(kind)(&side, &trans, &x.m, &x.nrhs, &x.n, x.a, &x.lda, problem.tau(), x.b, &x.ldb,
                        problem.work(), &lwork, &x.info, 1, 1);
  problem.info = x.info;
}

template <class T, Reflectors kind>
void run_ormqr_on_cpu(Problem<T>& problem) {
  problem.info = cpu::ormqr<T>(lapack<T>(), kind, Side::left, op_of(problem.call()), problem.a(),
                               problem.tau(), problem.b(), workspace(problem));
}

/// The triangles of ?geqrt lie before its workspace.
template <class T>
HostView<T> triangles(Problem<T>& problem) {
  constexpr Index kBlock = Problem<T>::kTriangleOrder;
  return {problem.work(), kBlock, problem.call().shape.n, kBlock};
}
template <class T>
T* behind_triangles(Problem<T>& problem) {
  const HostView<T> t = triangles(problem);
  return t.data + t.ld * t.cols;
}

/// The factors of the reflectors stand on the diagonals of the triangles.
template <class T>
void take_tau(Problem<T>& problem) {
  const HostView<T> t = triangles(problem);
  for (Index j = 0; j < t.cols; ++j) problem.tau()[j] = t(j % t.rows, j);
}

template <class T>
void run_geqrt(Problem<T>& problem) {
  Arguments<T> x(problem);
  const HostView<T> t = triangles(problem);
  const auto nb = static_cast<std::int32_t>(t.rows);
  compat::Exported<T>::geqrt(&x.m, &x.n, &nb, x.a, &x.lda, t.data, &nb, behind_triangles(problem),
                             &x.info);
  problem.info = x.info;
  take_tau(problem);
}

template <class T>
void run_geqrt_on_cpu(Problem<T>& problem) {
  problem.info =
      cpu::geqrt(lapack<T>(), problem.a(), triangles(problem), behind_triangles(problem));
  take_tau(problem);
}

template <class T>
void run_gemqrt(Problem<T>& problem) {
  Arguments<T> x(problem);
  const char side = static_cast<char>(Side::left);
  const char trans = cpu::character<T>(op_of(problem.call()));
  const HostView<T> t = triangles(problem);
  const auto nb = static_cast<std::int32_t>(t.rows);
  compat::Exported<T>::gemqrt(&side, &trans, &x.m, &x.nrhs, &x.n, &nb, x.a, &x.lda, t.data, &nb,
                              x.b, &x.ldb, behind_triangles(problem), &x.info, 1, 1);
  problem.info = x.info;
}

template <class T>
void run_gemqrt_on_cpu(Problem<T>& problem) {
  problem.info = cpu::gemqrt<T>(lapack<T>(), Side::left, op_of(problem.call()), problem.a(),
                                triangles(problem), problem.b(), behind_triangles(problem));
}

template <class T>
void run_gels(Problem<T>& problem) {
  Arguments<T> x(problem);
  const char trans = cpu::character<T>(op_of(problem.call()));
  const std::int32_t lwork = work_size(problem);
  compat::Exported<T>::gels(&trans, &x.m, &x.n, &x.nrhs, x.a, &x.lda, x.b, &x.ldb, problem.work(),
                            &lwork, &x.info, 1);
  problem.info = x.info;
}

template <class T>
void run_gels_on_cpu(Problem<T>& problem) {
  problem.info =
      cpu::gels(lapack<T>(), op_of(problem.call()), problem.a(), problem.b(), workspace(problem));
}

template <class T>
double residual_of_least_squares(const Problem<T>& problem) {
  return problem.call().shape.nrhs > 0 ? problem.residual_of_least_squares() : 0;
}

/// op(Q) x by the reflectors in `a`. x, which may be shorter, gets as many rows as Q has.
template <class T>
Vector<T> times_q(const Problem<T>& problem, Reflectors kind, HostView<const T> a, Op op,
                  Vector<T> x) {
  using Wide = Double<T>;
  const bool rows = kind == Reflectors::rows, direct = rows != (op == Op::none);
  const Index order = rows ? a.cols : a.rows, count = std::min(a.rows, a.cols);
  x.resize(static_cast<std::size_t>(order));
  for (Index l = 0; l < count; ++l) {
    const Index j = direct ? count - 1 - l : l;
    const T tau = direct ? problem.tau()[j] : conj(problem.tau()[j]);
    const auto v = [&](Index i) {
      return i == j ? Wide(1) : rows ? conj(Wide(a(j, i))) : Wide(a(i, j));
    };
    Wide sum(0);
    for (Index i = j; i < order; ++i) sum += conj(v(i)) * x[static_cast<std::size_t>(i)];
    sum *= Wide(tau);
    for (Index i = j; i < order; ++i) x[static_cast<std::size_t>(i)] -= v(i) * sum;
  }
  return x;
}

/// The product of the factors: Q R x, or L Q x.
template <class T, Reflectors kind>
Vector<T> times_factors(const Problem<T>& problem, Vector<T> x) {
  const HostView<T> a = problem.a();
  const Index count = std::min(a.rows, a.cols);
  if constexpr (kind == Reflectors::columns) {
    const HostView<T> r = a.block(0, 0, count, a.cols);
    return times_q<T>(problem, kind, a, Op::none,
                      triangle_times<T>(Uplo::upper, Op::none, Diag::non_unit, r, x));
  } else {
    x = times_q<T>(problem, kind, a, Op::none, std::move(x));
    const HostView<T> l = a.block(0, 0, a.rows, count);
    return triangle_times<T>(Uplo::lower, Op::none, Diag::non_unit, l, x);
  }
}

template <class T, Reflectors kind>
Vector<T> times_given_reflectors(const Problem<T>& problem, Vector<T> x) {
  return times_q<T>(problem, kind, problem.given(), Op::none, std::move(x));
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
template <class T, Reflectors kind>
Vector<T> times_adjoint(const Problem<T>& problem, Vector<T> x) {
  const Op op = op_of(problem.call()) == Op::none ? Op::conj_trans : Op::none;
  return times_q<T>(problem, kind, problem.a(), op, std::move(x));
}

template <class T>
double residual_of_product(const Problem<T>& problem) {
  return problem.residual_of_product();
}

/// A factorization.
template <class T, Reflectors kind>
constexpr ProblemRow<T> factors_row(void (*run)(Problem<T>&), void (*run_on_cpu)(Problem<T>&)) {
  ProblemRow<T> row{Matrix::general, run, run_on_cpu, residual_of_product<T>};
  row.has_reflectors = true;
  row.result_times = times_factors<T, kind>;
  return row;
}

constexpr Matrix reflectors_in(Reflectors kind) {
  return kind == Reflectors::rows ? Matrix::reflectors_in_rows : Matrix::reflectors;
}

/// Q as a matrix.
template <class T, Reflectors kind>
constexpr ProblemRow<T> q_row() {
  ProblemRow<T> row{reflectors_in(kind), run_orgqr<T, kind>, run_orgqr_on_cpu<T, kind>,
                    residual_of_product<T>};
  row.has_reflectors = row.keeps_factor = true;
  row.times = times_given_reflectors<T, kind>;
  row.result_times = times_result<T>;
  return row;
}

/// Products with Q.
template <class T, Reflectors kind>
constexpr ProblemRow<T> product_row(void (*run)(Problem<T>&), void (*run_on_cpu)(Problem<T>&)) {
  ProblemRow<T> row{reflectors_in(kind), run, run_on_cpu, residual_of_any_solution<T>};
  row.has_reflectors = true;
  row.times = times_adjoint<T, kind>;
  return row;
}

template <class T, Reflectors kind>
const ProblemRow<T>& geqrf_row() {
  static constexpr ProblemRow<T> row =
      factors_row<T, kind>(run_geqrf<T, kind>, run_geqrf_on_cpu<T, kind>);
  return row;
}

template <class T, Reflectors kind>
const ProblemRow<T>& orgqr_row() {
  static constexpr ProblemRow<T> row = q_row<T, kind>();
  return row;
}

template <class T, Reflectors kind>
const ProblemRow<T>& ormqr_row() {
  static constexpr ProblemRow<T> row =
      product_row<T, kind>(run_ormqr<T, kind>, run_ormqr_on_cpu<T, kind>);
  return row;
}

constexpr Reflectors kColumns = Reflectors::columns, kRows = Reflectors::rows;

}  // namespace

template <class T>
const ProblemRow<T>& rows::geqrf() {
  return geqrf_row<T, kColumns>();
}
template <class T>
const ProblemRow<T>& rows::gelqf() {
  return geqrf_row<T, kRows>();
}
template <class T>
const ProblemRow<T>& rows::orgqr() {
  return orgqr_row<T, kColumns>();
}
template <class T>
const ProblemRow<T>& rows::ungqr() {
  return orgqr_row<T, kColumns>();
}
template <class T>
const ProblemRow<T>& rows::orglq() {
  return orgqr_row<T, kRows>();
}
template <class T>
const ProblemRow<T>& rows::unglq() {
  return orgqr_row<T, kRows>();
}
template <class T>
const ProblemRow<T>& rows::ormqr() {
  return ormqr_row<T, kColumns>();
}
template <class T>
const ProblemRow<T>& rows::unmqr() {
  return ormqr_row<T, kColumns>();
}
template <class T>
const ProblemRow<T>& rows::ormlq() {
  return ormqr_row<T, kRows>();
}
template <class T>
const ProblemRow<T>& rows::unmlq() {
  return ormqr_row<T, kRows>();
}

template <class T>
const ProblemRow<T>& rows::geqrt() {
  static constexpr ProblemRow<T> row = factors_row<T, kColumns>(run_geqrt<T>, run_geqrt_on_cpu<T>);
  return row;
}

template <class T>
const ProblemRow<T>& rows::gemqrt() {
  static constexpr ProblemRow<T> row = [] {
    auto gemqrt = product_row<T, kColumns>(run_gemqrt<T>, run_gemqrt_on_cpu<T>);
    gemqrt.has_triangles = true;
    return gemqrt;
  }();
  return row;
}

template <class T>
const ProblemRow<T>& rows::gels() {
  static constexpr ProblemRow<T> row = [] {
    ProblemRow<T> gels{Matrix::general, run_gels<T>, run_gels_on_cpu<T>,
                       residual_of_least_squares<T>};
    gels.has_reflectors = true;
    return gels;
  }();
  return row;
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::geqrf<T>(); \
  template const ProblemRow<T>& rows::gelqf<T>(); \
  template const ProblemRow<T>& rows::orgqr<T>(); \
  template const ProblemRow<T>& rows::ungqr<T>(); \
  template const ProblemRow<T>& rows::orglq<T>(); \
  template const ProblemRow<T>& rows::unglq<T>(); \
  template const ProblemRow<T>& rows::ormqr<T>(); \
  template const ProblemRow<T>& rows::unmqr<T>(); \
  template const ProblemRow<T>& rows::ormlq<T>(); \
  template const ProblemRow<T>& rows::unmlq<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::geqrt<T>(); \
  template const ProblemRow<T>& rows::gemqrt<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

#define OVERLAPACK_INSTANTIATE(T) template const ProblemRow<T>& rows::gels<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::tools
