// The symmetric eigenproblem: drivers (syev, heev and so on), and sytrd, orgtr, ormtr and stedc.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "adapters/call.hpp"
#include "cpu/forward.hpp"
#include "exported.hpp"
#include "tools/problems/row.hpp"

namespace overlapack::tools {
namespace {

template <class T>
using Vector = std::vector<Double<T>>;
using Integer = std::int32_t;

/// A routine under the name that it has for T.
struct Named {
  void* exported;
  std::size_t row;
};
#define OVERLAPACK_NAMED(real, complex)                                             \
  template <class T>                                                                \
  Named real() {                                                                    \
    using Abi = compat::Exported<T>;                                                \
    if constexpr (is_complex<T>) {                                                  \
      return {reinterpret_cast<void*>(Abi::complex), overlapack::row_of(#complex)}; \
    } else {                                                                        \
      return {reinterpret_cast<void*>(Abi::real), overlapack::row_of(#real)};       \
    }                                                                               \
  }
OVERLAPACK_NAMED(syev, heev)
OVERLAPACK_NAMED(syevd, heevd)
OVERLAPACK_NAMED(syevr, heevr)
OVERLAPACK_NAMED(syevx, heevx)
OVERLAPACK_NAMED(sygv, hegv)
OVERLAPACK_NAMED(sygvd, hegvd)
OVERLAPACK_NAMED(sygvx, hegvx)
OVERLAPACK_NAMED(sytrd, hetrd)
OVERLAPACK_NAMED(orgtr, ungtr)
OVERLAPACK_NAMED(ormtr, unmtr)
OVERLAPACK_NAMED(stedc, stedc)
#undef OVERLAPACK_NAMED

/// The arguments of a routine, which is called by its exported name or, for kOnCpu, in the CPU
/// LAPACK.
template <class T, bool kOnCpu>
struct EigenArguments : Arguments<T> {
  explicit EigenArguments(Problem<T>& of)
      : Arguments<T>(of),
        problem(of),
        jobz(of.call().shape.nrhs > 0 ? 'V' : 'N'),
        lwork(static_cast<Integer>(of.work_size())),
        lrwork(static_cast<Integer>(of.eigen_work().rwork_size)),
        liwork(static_cast<Integer>(of.eigen_work().integers.size())),
        d(of.eigen_work().values.data()),
        e(d + of.call().shape.n),
        other(of.eigen_work().b.get()),
        z(of.eigen_work().z.get()),
        iwork(of.eigen_work().integers.data()),
        support(of.eigen_work().support.data()) {}

  template <class... Given>
  void call(const Named& routine, Given... given) {
    if constexpr (kOnCpu) {
      const auto& lapack = cpu::lapack<T>(cpu::Family::lp64);
      if (!cpu::forward(lapack, routine.row, {}, for_cpu(given)..., for_cpu(&this->info))) {
        this->info = static_cast<Integer>(dispatch::kNoMemory);
      }
    } else {
      compat::forward<void>(routine.exported, given..., &this->info);
    }
    problem.info = this->info;
  }
  /// call(rwork...) with the workspace that complex numbers take, and with its size if it has one.
  template <class Call>
  void with_rwork(bool has_size, Call call) {
    if constexpr (!is_complex<T>) {
      call();
    } else if (has_size) {
      call(problem.eigen_work().rwork.get(), static_cast<const Integer*>(&lrwork));
    } else {
      call(problem.eigen_work().rwork.get());
    }
  }

  Problem<T>& problem;
  const char jobz, range = 'A';
  const Integer itype = 1, none = 0;
  const Real<T> zero = 0;
  const Integer lwork, lrwork, liwork;
  Real<T>*d, *e;
  T *other, *z;
  Integer *iwork, *support;
  Integer found = 0;

 private:
  template <class Argument>
  static Argument for_cpu(Argument argument) {
    return argument;
  }
  cpu::Integers<Integer> for_cpu(Integer* argument) const { return {argument, liwork, 1}; }
};

template <class T, bool kOnCpu>
void run_syev(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.with_rwork(false, [&](auto... rwork) {
    x.call(syev<T>(), &x.jobz, &x.uplo, &x.n, x.a, &x.lda, x.d, problem.work(), &x.lwork, rwork...);
  });
}

template <class T, bool kOnCpu>
void run_syevd(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.with_rwork(true, [&](auto... rwork) {
    x.call(syevd<T>(), &x.jobz, &x.uplo, &x.n, x.a, &x.lda, x.d, problem.work(), &x.lwork, rwork...,
           x.iwork, &x.liwork);
  });
}

template <class T, bool kOnCpu>
void run_syevr(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.with_rwork(true, [&](auto... rwork) {
    x.call(syevr<T>(), &x.jobz, &x.range, &x.uplo, &x.n, x.a, &x.lda, &x.zero, &x.zero, &x.none,
           &x.none, &x.zero, &x.found, x.d, x.z, &x.n, x.support, problem.work(), &x.lwork,
           rwork..., x.iwork, &x.liwork);
  });
}

template <class T, bool kOnCpu>
void run_syevx(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.with_rwork(false, [&](auto... rwork) {
    x.call(syevx<T>(), &x.jobz, &x.range, &x.uplo, &x.n, x.a, &x.lda, &x.zero, &x.zero, &x.none,
           &x.none, &x.zero, &x.found, x.d, x.z, &x.n, problem.work(), &x.lwork, rwork..., x.iwork,
           x.support);
  });
}

template <class T, bool kOnCpu>
void run_sygv(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.with_rwork(false, [&](auto... rwork) {
    x.call(sygv<T>(), &x.itype, &x.jobz, &x.uplo, &x.n, x.a, &x.lda, x.other, &x.n, x.d,
           problem.work(), &x.lwork, rwork...);
  });
}

template <class T, bool kOnCpu>
void run_sygvd(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.with_rwork(true, [&](auto... rwork) {
    x.call(sygvd<T>(), &x.itype, &x.jobz, &x.uplo, &x.n, x.a, &x.lda, x.other, &x.n, x.d,
           problem.work(), &x.lwork, rwork..., x.iwork, &x.liwork);
  });
}

template <class T, bool kOnCpu>
void run_sygvx(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.with_rwork(false, [&](auto... rwork) {
    x.call(sygvx<T>(), &x.itype, &x.jobz, &x.range, &x.uplo, &x.n, x.a, &x.lda, x.other, &x.n,
           &x.zero, &x.zero, &x.none, &x.none, &x.zero, &x.found, x.d, x.z, &x.n, problem.work(),
           &x.lwork, rwork..., x.iwork, x.support);
  });
}

template <class T, bool kOnCpu>
void run_sytrd(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.call(sytrd<T>(), &x.uplo, &x.n, x.a, &x.lda, x.d, x.e, problem.tau(), problem.work(), &x.lwork);
}

template <class T, bool kOnCpu>
void run_orgtr(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  x.call(orgtr<T>(), &x.uplo, &x.n, x.a, &x.lda, problem.tau(), problem.work(), &x.lwork);
}

/// Q or its adjoint: of a real matrix the transpose is that, too.
Op op_of(const Call& call) { return call.op == Op::none ? Op::none : Op::conj_trans; }

template <class T, bool kOnCpu>
void run_ormtr(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  const char side = static_cast<char>(Side::left);
  const char trans = cpu::character<T>(op_of(problem.call()));
  x.call(ormtr<T>(), &side, &x.uplo, &trans, &x.m, &x.nrhs, x.a, &x.lda, problem.tau(), x.b, &x.ldb,
         problem.work(), &x.lwork);
}

template <class T, bool kOnCpu>
void run_stedc(Problem<T>& problem) {
  EigenArguments<T, kOnCpu> x(problem);
  const char compz = x.jobz == 'V' ? 'I' : 'N';
  x.with_rwork(true, [&](auto... rwork) {
    x.call(stedc<T>(), &compz, &x.n, x.d, x.e, x.z, &x.n, problem.work(), &x.lwork, rwork...,
           x.iwork, &x.liwork);
  });
}

/// For a routine that is given a reduced matrix.
template <class T>
void reduce(Problem<T>& problem) {
  run_sytrd<T, true>(problem);
  problem.eigen_work().given = problem.eigen_work().values;
}

/// The second matrix: the first one, turned around its centre.
template <class T>
T second(const Problem<T>& problem, Index i, Index j) {
  const Index last = problem.call().shape.n - 1;
  return problem.entry_a(last - i, last - j);
}
template <class T>
void make_second(Problem<T>& problem) {
  const Index n = problem.call().shape.n;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) problem.eigen_work().b[i + j * n] = second(problem, i, j);
  }
}
template <class T>
Vector<T> times_second(const Problem<T>& problem, const Vector<T>& x) {
  Vector<T> y(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] += Double<T>(second(problem, static_cast<Index>(i), static_cast<Index>(j))) * x[j];
    }
  }
  return y;
}

/// Q middle(Q^H x) for a matrix Q.
template <class T, class Middle>
Vector<T> between(HostView<const T> q, const Vector<T>& x, Middle middle) {
  Vector<T> y(x.size()), result(x.size());
  for (Index j = 0; j < q.cols; ++j) {
    for (Index i = 0; i < q.rows; ++i) {
      y[static_cast<std::size_t>(j)] += Double<T>(conj(q(i, j))) * x[static_cast<std::size_t>(i)];
    }
  }
  y = middle(y);
  for (Index j = 0; j < q.cols; ++j) {
    for (Index i = 0; i < q.rows; ++i) {
      result[static_cast<std::size_t>(i)] += Double<T>(q(i, j)) * y[static_cast<std::size_t>(j)];
    }
  }
  return result;
}

/// Z Lambda Z^H x, for vectors in the place of A or their own.
template <class T>
Vector<T> times_eigen(const Problem<T>& problem, HostView<const T> z, const Vector<T>& x) {
  return between<T>(z, x, [&](Vector<T> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= problem.eigen_work().values[i];
    return y;
  });
}
template <class T>
HostView<const T> own_vectors(const Problem<T>& problem) {
  const Index n = problem.call().shape.n;
  return {problem.eigen_work().z.get(), n, n, n};
}
template <class T>
Vector<T> times_eigen_in_a(const Problem<T>& problem, Vector<T> x) {
  return times_eigen<T>(problem, problem.a(), x);
}
template <class T>
Vector<T> times_eigen_in_z(const Problem<T>& problem, Vector<T> x) {
  return times_eigen<T>(problem, own_vectors(problem), x);
}
/// Z Z^H x.
template <class T>
Vector<T> times_unit_in_z(const Problem<T>& problem, Vector<T> x) {
  return between<T>(own_vectors(problem), x, [](const Vector<T>& y) { return y; });
}
/// Of A x = lambda B x the same, between B and B: the vectors are orthonormal with respect to B.
template <class T>
Vector<T> times_generalized_in_a(const Problem<T>& problem, Vector<T> x) {
  return times_second(problem, times_eigen_in_a(problem, times_second(problem, x)));
}
template <class T>
Vector<T> times_generalized_in_z(const Problem<T>& problem, Vector<T> x) {
  return times_second(problem, times_eigen_in_z(problem, times_second(problem, x)));
}

/// T x for the tridiagonal matrix of d and e.
template <class T>
Vector<T> times_tridiagonal(const std::vector<Real<T>>& d_and_e, const Vector<T>& x) {
  const std::size_t n = x.size();
  const Real<T>* const e = d_and_e.data() + n;
  Vector<T> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] += Double<T>(d_and_e[i]) * x[i];
    if (i + 1 == n) continue;
    y[i] += Double<T>(e[i]) * x[i + 1];
    y[i + 1] += Double<T>(e[i]) * x[i];
  }
  return y;
}
template <class T>
Vector<T> times_given_tridiagonal(const Problem<T>& problem, Vector<T> x) {
  return times_tridiagonal<T>(problem.eigen_work().given, x);
}

/// op(Q) x by the reflectors in A. Q is their product, from the first one in a lower triangle, and
/// from the last one in an upper triangle.
template <class T>
Vector<T> times_q(const Problem<T>& problem, Op op, Vector<T> x) {
  using Wide = Double<T>;
  const HostView<T> a = problem.a();
  const bool lower = problem.call().uplo == Uplo::lower, direct = op == Op::none;
  for (Index l = 0; l + 1 < a.rows; ++l) {
    const Index j = lower == direct ? a.rows - 2 - l : l;
    const Index one = lower ? j + 1 : j;  // the row in which it has its 1
    const Range rows = lower ? Range{j + 1, a.rows} : Range{0, j + 1};
    const auto v = [&](Index i) { return i == one ? Wide(1) : Wide(a(i, lower ? j : j + 1)); };
    const T tau = direct ? problem.tau()[j] : conj(problem.tau()[j]);
    Wide sum(0);
    for (Index i = rows.first; i < rows.last; ++i)
      sum += conj(v(i)) * x[static_cast<std::size_t>(i)];
    sum *= Wide(tau);
    for (Index i = rows.first; i < rows.last; ++i) x[static_cast<std::size_t>(i)] -= v(i) * sum;
  }
  return x;
}

/// Q T Q^H x, which is to be A x.
template <class T>
Vector<T> times_reduced(const Problem<T>& problem, Vector<T> x) {
  x = times_q<T>(problem, Op::conj_trans, std::move(x));
  return times_q<T>(problem, Op::none, times_tridiagonal<T>(problem.eigen_work().values, x));
}
template <class T>
Vector<T> times_reduced_by_q(const Problem<T>& problem, Vector<T> x) {
  return between<T>(problem.a(), x, [&](const Vector<T>& y) {
    return times_tridiagonal<T>(problem.eigen_work().given, y);
  });
}
/// The result X of op(Q) B is the solution of op(Q)^H X = B.
template <class T>
Vector<T> times_adjoint(const Problem<T>& problem, Vector<T> x) {
  const Op op = op_of(problem.call()) == Op::none ? Op::conj_trans : Op::none;
  return times_q<T>(problem, op, std::move(x));
}

/// Of eigenvalues alone: by what else the sums of them and of their squares are.
template <class T>
double residual_of_values(const Problem<T>& problem) {
  using Long = long double;  // lest the sums themselves lose more than the eigenvalues have
  const Index n = problem.call().shape.n;
  Long trace = 0, squares = 0, sum = 0, sum_of_squares = 0;
  for (Index j = 0; j < n; ++j) {
    trace += real(problem.entry_a(j, j));
    for (Index i = 0; i < n; ++i) squares += std::norm(Double<T>(problem.entry_a(i, j)));
    const Long value = problem.eigen_work().values[static_cast<std::size_t>(j)];
    sum += value;
    sum_of_squares += value * value;
  }
  constexpr Long kEps = std::numeric_limits<Real<T>>::epsilon() / 2;
  const Long of_sum = std::abs(trace - sum) / std::sqrt(squares),
             of_squares = std::abs(squares - sum_of_squares) / squares;
  return static_cast<double>((std::isnan(of_sum) || of_squares <= of_sum ? of_sum : of_squares) /
                             (static_cast<Long>(n) * kEps));
}
template <class T>
double residual_of_vectors(const Problem<T>& problem) {
  return problem.call().shape.nrhs > 0 ? problem.residual_of_product()
                                       : residual_of_values(problem);
}
/// That of eigenvalues alone is not known.
template <class T>
double residual_of_generalized_vectors(const Problem<T>& problem) {
  return problem.call().shape.nrhs > 0 ? problem.residual_of_product() : 0;
}
/// Or how far they are from being orthonormal, if that is more.
template <class T>
double residual_of_orthonormal_vectors(const Problem<T>& problem) {
  if (problem.call().shape.nrhs == 0) return 0;
  const double of_product = problem.residual_of_product();
  const double of_unit = problem.residual_of_unit(times_unit_in_z<T>);
  return std::isnan(of_product) || of_unit <= of_product ? of_product : of_unit;
}
template <class T>
double residual_of_product(const Problem<T>& problem) {
  return problem.residual_of_product();
}

/// `result_times` is X x for what X the results are to make of A.
template <class T>
constexpr ProblemRow<T> eigen_row(void (*run)(Problem<T>&), void (*run_on_cpu)(Problem<T>&),
                                  Vector<T> (*result_times)(const Problem<T>&, Vector<T>)) {
  ProblemRow<T> row{Matrix::positive_definite, run, run_on_cpu, residual_of_vectors<T>};
  row.eigen = true;
  row.result_times = result_times;
  return row;
}
template <class T>
constexpr ProblemRow<T> generalized_row(void (*run)(Problem<T>&), void (*run_on_cpu)(Problem<T>&),
                                        Vector<T> (*result_times)(const Problem<T>&, Vector<T>)) {
  ProblemRow<T> row = eigen_row<T>(run, run_on_cpu, result_times);
  row.generalized = true;
  row.residual = residual_of_generalized_vectors<T>;
  row.prepare = make_second<T>;
  return row;
}
template <class T>
constexpr ProblemRow<T> sytrd_row() {
  auto row = eigen_row<T>(run_sytrd<T, false>, run_sytrd<T, true>, times_reduced<T>);
  row.residual = residual_of_product<T>;
  return row;
}
template <class T>
constexpr ProblemRow<T> orgtr_row() {
  auto row = eigen_row<T>(run_orgtr<T, false>, run_orgtr<T, true>, times_reduced_by_q<T>);
  row.residual = residual_of_product<T>;
  row.prepare = reduce<T>;
  return row;
}
template <class T>
constexpr ProblemRow<T> ormtr_row() {
  auto row = eigen_row<T>(run_ormtr<T, false>, run_ormtr<T, true>, nullptr);
  row.residual = residual_of_any_solution<T>;
  row.prepare = reduce<T>;
  row.times = times_adjoint<T>;
  return row;
}
template <class T>
constexpr ProblemRow<T> stedc_row() {
  auto row = eigen_row<T>(run_stedc<T, false>, run_stedc<T, true>, times_eigen_in_z<T>);
  row.residual = residual_of_orthonormal_vectors<T>;
  row.prepare = reduce<T>;
  row.times = times_given_tridiagonal<T>;
  return row;
}

}  // namespace

// Each row, under the names for real and for complex numbers.
#define OVERLAPACK_ROW(real, complex, of)    \
  template <class T>                         \
  const ProblemRow<T>& rows::real() {        \
    static constexpr ProblemRow<T> row = of; \
    return row;                              \
  }                                          \
  template <class T>                         \
  const ProblemRow<T>& rows::complex() {     \
    return rows::real<T>();                  \
  }
#define OVERLAPACK_DRIVER(kind, real, complex, result_times) \
  OVERLAPACK_ROW(real, complex,                              \
                 kind##_row<T>(run_##real<T, false>, run_##real<T, true>, result_times<T>))
OVERLAPACK_DRIVER(eigen, syev, heev, times_eigen_in_a)
OVERLAPACK_DRIVER(eigen, syevd, heevd, times_eigen_in_a)
OVERLAPACK_DRIVER(eigen, syevr, heevr, times_eigen_in_z)
OVERLAPACK_DRIVER(eigen, syevx, heevx, times_eigen_in_z)
OVERLAPACK_DRIVER(generalized, sygv, hegv, times_generalized_in_a)
OVERLAPACK_DRIVER(generalized, sygvd, hegvd, times_generalized_in_a)
OVERLAPACK_DRIVER(generalized, sygvx, hegvx, times_generalized_in_z)
OVERLAPACK_ROW(sytrd, hetrd, sytrd_row<T>())
OVERLAPACK_ROW(orgtr, ungtr, orgtr_row<T>())
OVERLAPACK_ROW(ormtr, unmtr, ormtr_row<T>())
#undef OVERLAPACK_DRIVER
#undef OVERLAPACK_ROW

template <class T>
const ProblemRow<T>& rows::stedc() {
  static constexpr ProblemRow<T> row = stedc_row<T>();
  return row;
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::syev<T>();  \
  template const ProblemRow<T>& rows::syevd<T>(); \
  template const ProblemRow<T>& rows::syevr<T>(); \
  template const ProblemRow<T>& rows::syevx<T>(); \
  template const ProblemRow<T>& rows::sygv<T>();  \
  template const ProblemRow<T>& rows::sygvd<T>(); \
  template const ProblemRow<T>& rows::sygvx<T>(); \
  template const ProblemRow<T>& rows::sytrd<T>(); \
  template const ProblemRow<T>& rows::orgtr<T>(); \
  template const ProblemRow<T>& rows::ormtr<T>(); \
  template const ProblemRow<T>& rows::stedc<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

#define OVERLAPACK_INSTANTIATE(T)                 \
  template const ProblemRow<T>& rows::heev<T>();  \
  template const ProblemRow<T>& rows::heevd<T>(); \
  template const ProblemRow<T>& rows::heevr<T>(); \
  template const ProblemRow<T>& rows::heevx<T>(); \
  template const ProblemRow<T>& rows::hegv<T>();  \
  template const ProblemRow<T>& rows::hegvd<T>(); \
  template const ProblemRow<T>& rows::hegvx<T>(); \
  template const ProblemRow<T>& rows::hetrd<T>(); \
  template const ProblemRow<T>& rows::ungtr<T>(); \
  template const ProblemRow<T>& rows::unmtr<T>();
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::tools
