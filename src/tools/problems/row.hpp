// How the calls of a routine are made, carried out and checked: a row for each routine. The rows of
// a family stand in a file of their own.
#pragma once

#include "tools/problem.hpp"

namespace overlapack::tools {

template <class T>
struct ProblemRow {
  Matrix matrix;
  void (*run)(Problem<T>&);         ///< by the exported name
  void (*run_on_cpu)(Problem<T>&);  ///< by the CPU LAPACK
  double (*residual)(const Problem<T>&);
  bool keeps_factor = false;    ///< the residual needs the factor as it was
  bool limit_grows = false;     ///< the residual's limit does, with the order
  bool estimates = false;       ///< the condition: the routine has workspaces for that
  bool has_reflectors = false;  ///< TAU and a workspace, as routines of QR have
  bool has_triangles = false;   ///< it is given the triangles of blocks of reflectors
  bool eigen = false;           ///< of the symmetric eigenproblem, as Problem::eigen_work() says
  bool generalized = false;     ///< with a second matrix
  /// Makes of the data what the routine is given, if that is the result of another one.
  void (*prepare)(Problem<T>&) = nullptr;
  /// op(A) x, if the routine is not given A itself. Of QR, what op(Q)^H or Q is to be.
  std::vector<Double<T>> (*times)(const Problem<T>&, std::vector<Double<T>> x) = nullptr;
  /// X x, if the result X is the inverse of A, or A itself.
  std::vector<Double<T>> (*result_times)(const Problem<T>&, std::vector<Double<T>> x) = nullptr;
};

/// The row of a routine, under its name. A routine of which no family has the row does not link.
namespace rows {
#define OVERLAPACK_ROUTED(kind, types, name) \
  template <class T>                         \
  const ProblemRow<T>& name();
#include "dispatch/routed.def"
template <class T>
const ProblemRow<T>& cholupdate();
}  // namespace rows

template <class T>
const ProblemRow<T>& row_of(Routine routine);

/// What LAPACK's names are called with.
template <class T>
struct Arguments {
  explicit Arguments(Problem<T>& problem)
      : uplo(static_cast<char>(problem.call().uplo)),
        op(static_cast<char>(problem.call().op)),
        m(static_cast<std::int32_t>(problem.call().shape.m)),
        n(static_cast<std::int32_t>(problem.call().shape.n)),
        nrhs(static_cast<std::int32_t>(problem.call().shape.nrhs)),
        lda(static_cast<std::int32_t>(problem.call().lda)),
        ldb(static_cast<std::int32_t>(problem.call().ldb)),
        a(problem.a_argument()),
        b(problem.b().data),
        ipiv(problem.pivots()) {}

  char uplo, op;
  std::int32_t m, n, nrhs, lda, ldb;
  T *a, *b;
  std::int32_t* ipiv;
  std::int32_t info = 0;
};

/// The residual of a solution, or of the factors if there is none.
template <class T>
double residual_of_either(const Problem<T>& problem) {
  return problem.call().shape.nrhs > 0 ? problem.residual_of_solution()
                                       : problem.residual_of_factors();
}
/// The residual of a solution, if there is one.
template <class T>
double residual_of_any_solution(const Problem<T>& problem) {
  return problem.call().shape.nrhs > 0 ? problem.residual_of_solution() : 0;
}
template <class T>
double residual_of_factors(const Problem<T>& problem) {
  return problem.residual_of_factors();
}

}  // namespace overlapack::tools
