// Problems to time and to check: data that can be made again from a seed, and a residual in O(n^2).
#pragma once

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "cpu/condition.hpp"
#include "cpu/lapack.hpp"
#include "dispatch/plan.hpp"

namespace overlapack::tools {

using dispatch::Routine;
using dispatch::Shape;
using overlapack::with_type;

/// The largest order, leading dimension and so on: LAPACK's integers have 32 bits here.
constexpr Index kMaxWholeNumber = std::numeric_limits<std::int32_t>::max();

/// One call of a LAPACK routine, without its data.
struct Call {
  Routine routine = Routine::potrf;
  char type = 'd';  ///< s, d, c or z
  Shape shape;
  Uplo uplo = Uplo::lower;  ///< potrf, potrs, posv, cholupdate
  Op op = Op::none;         ///< getrs
  Index lda = 0;
  Index ldb = 0;  ///< 0 for the factorizations
};

/// "dpotrf".
std::string name_of(const Call& call);
/// What stands for a routine of all types: "potrf". A mixed-precision solver, which one type has,
/// is called by its full name: "dsgesv".
std::string title_of(Routine routine);
/// Sets routine and type of `call` from "dpotrf"; false if there is no such routine.
bool parse_name(const std::string& name, Call& call);
bool has_right_hand_sides(Routine routine);
/// Whether it may be asked for eigenvectors, which take the place of right-hand sides.
bool has_eigenvectors(Routine routine);
/// Whether A is given as its factors.
bool is_factor_given(Routine routine);
/// Whether there are problems whose matrix is not square.
bool is_rectangular(Routine routine);
/// Whether there is a problem for such a call. Q of one is square, and stands on the left.
bool has_problem(const Call& call);
/// Whether calls of the routine may go to a device: it has a break-even size then.
bool is_for_device(Routine routine);
/// A call on a square matrix of order n with leading dimensions n + pad.
Call square_call(Routine routine, char type, Index n, Index nrhs, Index pad = 0);

/// The least Problem::residual() that counts as wrong: LAPACK's 30. The scale of solves leaves the
/// order out; that of gesv, whose residuals grow with it in every LAPACK, has a limit in proportion
/// beyond the orders of LAPACK's tests. Refined solutions and those by Cholesky do not need one.
double residual_limit(const Call& call);

/// How A is made. Every element is a function of the seed and its position.
enum class Matrix {
  general,            ///< uniform in [-1/2, 1/2) (real and imaginary part), so that pivots move
  positive_definite,  ///< Hermitian, uniform off the diagonal, sqrt(n) + 1 on it: positive definite
                      ///< by Wigner's semicircle law, yet not dominated by its diagonal
  cholesky_factor,    ///< well-conditioned: unit diagonal, the rest divided by sqrt(n)
  lu_factors,         ///< the same of both factors, and pivots drawn at random
  reflectors,         ///< below the diagonal, with the TAU that they have
  reflectors_in_rows,  ///< right of it
};

/// Data for a call, in ordinary pageable memory: 32-bit pivots, padding included in the leading
/// dimensions.
///
/// The input can be looked up again after a routine has overwritten it, and large matrices need no
/// second copy. But a factor that an update or an inverse replaces is kept twice after all.
template <class T>
class Problem {
 public:
  /// Throws std::runtime_error, for the user to read, if the call is too large for its integers or
  /// for the memory.
  explicit Problem(const Call& call);

  /// Fills A, B and (for getrs) the pivots, from several threads.
  void generate(std::uint64_t seed);

  const Call& call() const { return call_; }
  HostView<T> a() const { return {a_.get(), call_.shape.m, call_.shape.n, call_.lda}; }
  HostView<T> b() const { return {b_.get(), rows_of_b(), call_.shape.nrhs, call_.ldb}; }
  /// Where the solution of a mixed-precision solver appears, with the leading dimension of B.
  HostView<T> x() const { return {x_.get(), call_.shape.n, call_.shape.nrhs, call_.ldb}; }
  cpu::MixedWork<T> mixed_work() const { return {work_.get(), swork_.get(), rwork_.get()}; }
  /// Whether T has mixed-precision solvers.
  static constexpr bool kMixed = std::is_same_v<Real<T>, double>;
  /// What a routine is given as A: the matrix above, or what lend_a() has put in its place (the
  /// same matrix in device memory, say; null for its own).
  T* a_argument() const { return lent_a_ != nullptr ? lent_a_ : a_.get(); }
  void lend_a(T* a) { lent_a_ = a; }
  /// LAPACK's workspaces for an estimate of the condition. The second one lies in real numbers,
  /// which are as large as integers at least.
  cpu::ConditionWork<T> condition_work() const {
    using Second = decltype(cpu::ConditionWork<T>::second);
    return {work_.get(), Second(condition_work2())};
  }
  SecondWork<T, std::int32_t>* condition_work2() const {
    return reinterpret_cast<SecondWork<T, std::int32_t>*>(rwork_.get());
  }
  std::int32_t* pivots() { return pivots_.data(); }
  std::size_t pivot_count() const { return pivots_.size(); }

  using Wide = Double<T>;
  using Vector = std::vector<Wide>;
  /// How wrong the result is, in LAPACK's scale: a few units or less for a correct routine
  /// (residual_limit()). With E = A - L L^H (or A - P^T L U; A = L0 L0^H + B B^H for an update) and
  /// random vectors x of +-1,
  ///   factorizations  ||E||_F / (n ||A||_F eps), where ||E||_F^2 is estimated by the mean of
  ///   and updates     ||E x||^2, whose expectation it is; so is ||A||_F of an update;
  ///   solves          ||(B - op(A) X) x|| / (||A||_F ||X x|| eps);
  ///   least squares   ||op(A)^H R x|| / (||A||_F (||A||_F ||X x|| + ||R x||) eps) with the
  ///                   residual R = B - op(A) X;
  ///   inverses        ||A X - I||_F / (n ||A||_F ||X||_F eps), and ||X - A||_F / (n ||A||_F eps)
  ///                   of ?lauum, where A is what X is to be, and likewise of ?geqrf and ?orgqr.
  ///                   All norms are estimated as above;
  ///   eigenvectors    of ?stedc the same for X = Z L Z^H, or ||Z Z^H - I||_F / (n eps) if that is
  ///                   more;
  ///   eigenvalues     alone |trace(A) - sum l| / (n ||A||_F eps), or | ||A||_F^2 - sum l^2 | /
  ///                   (n ||A||_F^2 eps) if that is more. Of generalized problems nothing is known.
  /// Sums run in double precision. Pivots that are none count as infinitely wrong.
  double residual() const;
  /// The forms of it, one of which a routine has (problems/row.hpp). That of an estimate of the
  /// condition is how far it is from another one, on a scale on which a factor of 3 is 30.
  double residual_of_factors() const;
  double residual_of_update() const;
  double residual_of_solution() const;
  double residual_of_least_squares() const;
  double residual_of_inverse() const;
  double residual_of_product() const;
  /// That of a product which is to be I.
  double residual_of_unit(Vector (*times)(const Problem&, Vector x)) const;
  double residual_of_condition(Real<T> reference) const;
  /// op(A) x from its factors `f`: A = L L^H = U^H U, or P A = L U.
  Vector factor_times(HostView<const T> f, Vector x, Op op) const;

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  template <class U>
  using Array = std::unique_ptr<U[], Free>;

  /// An element of A as it was generated.
  T entry_a(Index i, Index j) const;
  /// The factor as it was, if the row of the routine keeps it.
  HostView<const T> given() const {
    return {given_.get(), call_.shape.n, call_.shape.n, call_.shape.n};
  }
  /// What a routine that takes LWORK is given: kWorkColumns columns, as LAPACK likes best.
  static constexpr Index kWorkColumns = 64;
  T* work() { return work_.get(); }
  Index work_size() const { return work_size_; }
  /// The order of the triangles of ?geqrt.
  static constexpr Index kTriangleOrder = 32;
  /// Of an eigenproblem: workspaces large enough for each routine, and what it returns.
  struct EigenWork {
    std::vector<Real<T>> values;  ///< the eigenvalues, or d, and behind them e
    std::vector<Real<T>> given;   ///< d and e, as they were
    std::vector<std::int32_t> integers, support;
    Array<T> b, z;  ///< the second matrix, and vectors in a place of their own: n x n
    Array<Real<T>> rwork;
    Index rwork_size = 0;
  };
  EigenWork& eigen_work() { return eigen_; }
  const EigenWork& eigen_work() const { return eigen_; }
  /// Of a routine that has reflectors.
  T* tau() { return tau_.data(); }
  const T* tau() const { return tau_.data(); }

  Index info = 0;     ///< what the routine returned
  Real<T> rcond = 0;  ///< likewise, if it estimates the condition
  Index iter = 0;     ///< likewise, if it is a mixed-precision solver

 private:
  template <class U>
  static Array<U> allocate(Index rows, Index cols);

  /// Of least squares those of op(A), and those of X.
  Index rows_of_b() const {
    return call_.routine == Routine::gels ? std::max(call_.shape.m, call_.shape.n) : call_.shape.n;
  }
  bool pivots_are_valid() const;
  template <class Input>
  double residual_of_new_factors(Input input) const;
  double residual_of_result(bool inverse) const;
  T entry_b(Index i, Index j) const;
  void allocate_eigen_work();
  T tau_of(Index j) const;
  void make_tau();
  Vector input_times(const Vector& x, double& frobenius) const;
  Vector input_adjoint_times(const Vector& x) const;
  Vector updated_times(const Vector& x) const;

  Call call_;
  Matrix matrix_;
  std::uint64_t seed_ = 0;
  double scale_;     // of the entries off the diagonal
  double diagonal_;  // where the diagonal is set apart
  Array<T> a_, b_;
  Array<T> given_;  // the factor before, of leading dimension n, if the row keeps it
  Array<T> x_;      // of mixed-precision solvers only, as the next one
  Array<Single<T>> swork_;
  Array<T> work_;  // of these, and of estimates of the condition
  Array<Real<T>> rwork_;
  Index work_size_ = 0;
  std::vector<T> tau_;
  EigenWork eigen_;
  T* lent_a_ = nullptr;
  std::vector<std::int32_t> pivots_;
};

}  // namespace overlapack::tools
