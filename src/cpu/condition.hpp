// Estimates of the condition (?gecon, ?pocon, ?trcon) by the CPU LAPACK or, where no library has
// the routine, by textbook loops. These are in long double, whose range holds what overflows in
// LAPACK's types.
#pragma once

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

#include "cpu/calling.hpp"
#include "cpu/lapack.hpp"
#include "cpu/norm_estimate.hpp"

namespace overlapack::reference {
namespace condition {

using Long = long double;
template <class T>
using LongOf = std::conditional_t<is_complex<T>, std::complex<Long>, Long>;

/// x := op(A)^-1 x for a triangle A.
template <class T>
void substitute(Uplo uplo, Op op, Diag diag, HostView<const T> a, LongOf<T>* x) {
  using L = LongOf<T>;
  const Index n = a.rows;
  const bool lower = uplo == Uplo::lower, direct = op == Op::none;
  for (Index k = 0; k < n; ++k) {
    const Index j = lower == direct ? k : n - 1 - k;
    const Range rest = lower ? Range{j + 1, n} : Range{0, j};
    const L pivot = diag == Diag::unit ? L(1) : direct ? L(a(j, j)) : L(conj(a(j, j)));
    if (direct) {
      x[j] /= pivot;
      for (Index i = rest.first; i < rest.last; ++i) x[i] -= L(a(i, j)) * x[j];
    } else {
      for (Index i = rest.first; i < rest.last; ++i) x[j] -= L(conj(a(i, j))) * x[i];
      x[j] /= pivot;
    }
  }
}

template <class T>
bool has_zero(HostView<const T> a) {
  for (Index j = 0; j < a.rows; ++j) {
    if (a(j, j) == T(0)) return true;
  }
  return false;
}

/// 1 / (norm ||A^-1||). solve(op, x) makes op(A)^-1 x of x.
template <class T, class Solve>
Real<T> reciprocal(Norm norm, Index n, Long norm_of_a, Solve solve) {
  std::vector<LongOf<T>> x(static_cast<std::size_t>(n));
  const bool infinity = norm == Norm::infinity;  // that of A^-1 is the 1-norm of A^-H
  const Long inverse = estimate_norm1(n, x.data(), [&](Op op) {
    solve(infinity == (op == Op::none) ? Op::conj_trans : Op::none, x.data());
  });
  return static_cast<Real<T>>(inverse == 0 ? Long(0) : 1 / inverse / norm_of_a);
}

/// The 1-norm or the infinity norm of a triangle.
template <class T>
Long triangle_norm(Norm norm, Uplo uplo, Diag diag, HostView<const T> a) {
  const bool unit = diag == Diag::unit;
  std::vector<Long> sums(static_cast<std::size_t>(a.rows), unit ? 1 : 0);
  for (Index j = 0; j < a.cols; ++j) {
    const Index off = unit ? 1 : 0;  // rows that the diagonal is left out by
    const Range rows = uplo == Uplo::lower ? Range{j + off, a.rows} : Range{0, j + 1 - off};
    for (Index i = rows.first; i < rows.last; ++i) {
      sums[static_cast<std::size_t>(norm == Norm::one ? j : i)] += std::abs(LongOf<T>(a(i, j)));
    }
  }
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace condition

// rcond of ?gecon, ?pocon and ?trcon. `norm` is one or infinity; n > 0 and norms are not 0.

template <class T>
Real<T> gecon(Norm norm, HostView<const T> a, Real<T> norm_of_a) {
  using condition::substitute;
  if (condition::has_zero(a)) return 0;
  return condition::reciprocal<T>(norm, a.rows, norm_of_a, [&](Op op, auto* x) {
    if (op == Op::none) substitute(Uplo::lower, op, Diag::unit, a, x);
    substitute(Uplo::upper, op, Diag::non_unit, a, x);
    if (op != Op::none) substitute(Uplo::lower, op, Diag::unit, a, x);
  });
}

template <class T>
Real<T> pocon(Uplo uplo, HostView<const T> a, Real<T> norm_of_a) {
  if (condition::has_zero(a)) return 0;
  const bool lower = uplo == Uplo::lower;
  const Op first = lower ? Op::none : Op::conj_trans, then = lower ? Op::conj_trans : Op::none;
  return condition::reciprocal<T>(Norm::one, a.rows, norm_of_a, [&](Op, auto* x) {
    condition::substitute(uplo, first, Diag::non_unit, a, x);
    condition::substitute(uplo, then, Diag::non_unit, a, x);
  });
}

template <class T>
Real<T> trcon(Norm norm, Uplo uplo, Diag diag, HostView<const T> a) {
  if (diag == Diag::non_unit && condition::has_zero(a)) return 0;
  return condition::reciprocal<T>(
      norm, a.rows, condition::triangle_norm(norm, uplo, diag, a),
      [&](Op op, auto* x) { condition::substitute(uplo, op, diag, a, x); });
}

}  // namespace overlapack::reference

namespace overlapack::cpu {

/// LAPACK's workspaces. The second one is IWORK for real T, of whichever width, or else RWORK.
template <class T>
struct ConditionWork {
  T* work;
  std::conditional_t<is_complex<T>, Real<T>*, Pivots> second;
};

/// The second workspace as a library with integers of type I takes it.
template <class T, class I>
class SecondWorkspace {
 public:
  SecondWorkspace(const ConditionWork<T>& work, Index n) : integers_(work.second, n, false) {}
  I* data() { return integers_.data(); }

 private:
  PivotArray<I> integers_;
};
template <class R, class I>
class SecondWorkspace<std::complex<R>, I> {
 public:
  SecondWorkspace(const ConditionWork<std::complex<R>>& work, Index) : reals_(work.second) {}
  R* data() { return reals_; }

 private:
  R* reals_;
};

/// Has the CPU LAPACK's routine of a row of the table estimate the condition, or loops where no
/// library has it. library(f, n, lda, second workspace, info) calls the routine f. The result is
/// info.
template <class T, class Library, class Loops>
Index estimate(const Lapack<T>& lapack, std::size_t row, HostView<const T> a,
               const ConditionWork<T>& work, Library library, Loops loops) {
  Index result = 0;
  const bool done = call(lapack, row, {a.rows, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    SecondWorkspace<T, I> second(work, a.rows);
    I info = 0;
    library(f, narrow<I>(a.rows), narrow<I>(a.ld), second.data(), &info);
    result = info;
  });
  if (!done) loops();
  return result;
}

// ?gecon, ?pocon and ?trcon by the CPU LAPACK. The result is info.

template <class T>
Index gecon(const Lapack<T>& lapack, Norm norm, HostView<const T> a, Real<T> norm_of_a,
            Real<T>& rcond, ConditionWork<T> work) {
  const char c = static_cast<char>(norm);
  const auto library = [&](void* f, auto n, auto lda, auto* second, auto* info) {
    as<typename Signature<T, decltype(n)>::gecon>(f)(&c, &n, a.data, &lda, &norm_of_a, &rcond,
                                                     work.work, second, info, 1);
  };
  constexpr std::size_t kRow = row_of("gecon");
  return estimate(lapack, kRow, a, work, library,
                  [&] { rcond = reference::gecon<T>(norm, a, norm_of_a); });
}

template <class T>
Index pocon(const Lapack<T>& lapack, Uplo uplo, HostView<const T> a, Real<T> norm_of_a,
            Real<T>& rcond, ConditionWork<T> work) {
  const char u = static_cast<char>(uplo);
  const auto library = [&](void* f, auto n, auto lda, auto* second, auto* info) {
    as<typename Signature<T, decltype(n)>::pocon>(f)(&u, &n, a.data, &lda, &norm_of_a, &rcond,
                                                     work.work, second, info, 1);
  };
  constexpr std::size_t kRow = row_of("pocon");
  return estimate(lapack, kRow, a, work, library,
                  [&] { rcond = reference::pocon<T>(uplo, a, norm_of_a); });
}

template <class T>
Index trcon(const Lapack<T>& lapack, Norm norm, Uplo uplo, Diag diag, HostView<const T> a,
            Real<T>& rcond, ConditionWork<T> work) {
  const char c = static_cast<char>(norm), u = static_cast<char>(uplo), d = static_cast<char>(diag);
  const auto library = [&](void* f, auto n, auto lda, auto* second, auto* info) {
    as<typename Signature<T, decltype(n)>::trcon>(f)(&c, &u, &d, &n, a.data, &lda, &rcond,
                                                     work.work, second, info, 1, 1, 1);
  };
  constexpr std::size_t kRow = row_of("trcon");
  return estimate(lapack, kRow, a, work, library,
                  [&] { rcond = reference::trcon<T>(norm, uplo, diag, a); });
}

}  // namespace overlapack::cpu
