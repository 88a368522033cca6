// ?trtri, ?lauum, ?potri and ?getri by the CPU LAPACK, or by textbook loops where no library has
// the routine.
//
// A library's own ?potri and ?getri call ?trtri and ?lauum by their names, and these are
// overlapack's where it is preloaded. They look at `info` only for a singular matrix. A call in
// which memory runs out would go unnoticed. So both are made of their parts here.
#pragma once

#include <algorithm>

#include "cpu/calling.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::cpu {

/// 0, or k if A(k, k) is the first exact zero on the diagonal. A library may not see a zero beside
/// a NaN.
template <class T>
Index first_zero_on_diagonal(HostView<const T> a) {
  for (Index k = 0; k < a.rows; ++k) {
    if (a(k, k) == T(0)) return k + 1;
  }
  return 0;
}

namespace textbook {

/// A := A^-1, column by column: X(0..j, j) = -X(0..j, 0..j) A(0..j, j) / A(j, j). The inverse of a
/// lower triangle is that of an upper one whose rows and columns are counted from the end.
template <class T>
void trtri(Uplo uplo, Diag diag, HostView<T> a) {
  const Index n = a.rows;
  const auto at = [&](Index i, Index j) -> T& {
    return uplo == Uplo::upper ? a(i, j) : a(n - 1 - i, n - 1 - j);
  };
  const bool unit = diag == Diag::unit;
  for (Index j = 0; j < n; ++j) {
    const T pivot = unit ? T(1) : T(1) / at(j, j);
    if (!unit) at(j, j) = pivot;
    for (Index k = 0; k < j; ++k) {
      const T x = at(k, j);
      for (Index i = 0; i < k; ++i) at(i, j) += at(i, k) * x;
      if (!unit) at(k, j) = at(k, k) * x;
    }
    for (Index i = 0; i < j; ++i) at(i, j) *= -pivot;
  }
}

/// U := U U^H, or L := L^H L, by columns (rows) from the first one on: what they need stands behind
/// them.
template <class T>
void lauum(Uplo uplo, HostView<T> a) {
  const Index n = a.rows;
  const bool upper = uplo == Uplo::upper;
  const auto u = [&](Index i, Index k) { return upper ? a(i, k) : conj(a(k, i)); };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) {
      T sum(0);
      for (Index k = j; k < n; ++k) sum += u(i, k) * conj(u(j, k));
      if (i == j) sum = T(real(sum));
      (upper ? a(i, j) : a(j, i)) = upper ? sum : conj(sum);
    }
  }
}

}  // namespace textbook

template <class T>
Index trtri(const Lapack<T>& lapack, Uplo uplo, Diag diag, HostView<T> a) {
  const Index zero = diag == Diag::unit ? 0 : first_zero_on_diagonal<T>(a);
  if (zero > 0) return zero;
  Index result = 0;
  constexpr std::size_t kRow = row_of("trtri");
  const bool done = call(lapack, kRow, {a.rows, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const char u = static_cast<char>(uplo), d = static_cast<char>(diag);
    const I n = narrow<I>(a.rows), lda = narrow<I>(a.ld);
    I info = 0;
    as<typename Signature<T, I>::trtri>(f)(&u, &d, &n, a.data, &lda, &info, 1, 1);
    result = info;
  });
  if (!done) textbook::trtri(uplo, diag, a);
  return result;
}

template <class T>
Index lauum(const Lapack<T>& lapack, Uplo uplo, HostView<T> a) {
  Index result = 0;
  constexpr std::size_t kRow = row_of("lauum");
  const bool done = call(lapack, kRow, {a.rows, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const char u = static_cast<char>(uplo);
    const I n = narrow<I>(a.rows), lda = narrow<I>(a.ld);
    I info = 0;
    as<typename Signature<T, I>::lauum>(f)(&u, &n, a.data, &lda, &info, 1);
    result = info;
  });
  if (!done) textbook::lauum(uplo, a);
  return result;
}

template <class T>
Index potri(const Lapack<T>& lapack, Uplo uplo, HostView<T> a) {
  const Index info = trtri(lapack, uplo, Diag::non_unit, a);
  return info != 0 ? info : lauum(lapack, uplo, a);
}

/// What is left of ?getri when the columns from `done` on are those of X = U^-1 L^-1, and the ones
/// before still are those of L and U: LAPACK's own state. X L = U^-1 goes by block columns from the
/// right, for which L moves to the workspace, which holds at least one column. Then the columns'
/// interchanges.
template <class T>
Index finish_getri(const Lapack<T>& lapack, HostView<T> a, Index done, Pivots ipiv,
                   Workspace<T> work) {
  const Index n = a.rows, width = std::max<Index>(work.size / std::max<Index>(n, 1), 1);
  const Index info = trtri(lapack, Uplo::upper, Diag::non_unit, a.block(0, 0, done, done));
  if (info != 0) return info;
  for (Index last = done; last > 0;) {
    const Index first = std::max<Index>(last - width, 0);
    const HostView<T> l(work.data, n, last - first, n), x = a.block(0, first, n, last - first);
    for (Index j = first; j < last; ++j) {
      for (Index i = j + 1; i < n; ++i) {
        l(i, j - first) = a(i, j);
        a(i, j) = T(0);
      }
    }
    lapack.gemm(Op::none, Op::none, T(-1), a.block(0, last, n, n - last),
                l.block(last, 0, n - last, l.cols), T(1), x);
    lapack.trsm(Side::right, Uplo::lower, Op::none, Diag::unit, T(1),
                l.block(first, 0, l.cols, l.cols), x);
    last = first;
  }
  for (Index j = n - 1; j >= 0; --j) {
    const Index p = ipiv.get(j) - 1;
    if (p != j) std::swap_ranges(&a(0, j), &a(0, j) + n, &a(0, p));
  }
  return 0;
}

/// What LAPACK's ?getri says of its workspace: the size with which it is fastest.
template <class T>
T wanted_workspace_of_getri(const Lapack<T>& lapack, HostView<T> a, Pivots ipiv) {
  T wanted(static_cast<Real<T>>(std::max<Index>(a.rows, 1)));
  constexpr std::size_t kRow = row_of("getri");
  call(lapack, kRow, {a.rows, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const I n = narrow<I>(a.rows), lda = narrow<I>(a.ld), query = -1;
    I info = 0;
    as<typename Signature<T, I>::getri>(f)(&n, a.data, &lda, static_cast<const I*>(ipiv.data()),
                                           &wanted, &query, &info);
  });
  return wanted;
}

/// What LAPACK's ?getri stores in work[0] at its end: what it has used, or would have with enough.
template <class T>
T used_workspace_of_getri(const Lapack<T>& lapack, HostView<T> a, Pivots ipiv) {
  const T wanted = wanted_workspace_of_getri(lapack, a, ipiv);
  const auto n = static_cast<Real<T>>(a.rows);
  return real(wanted) < n * n ? wanted : T(std::max<Real<T>>(n, 1));
}

/// `work` has at least max(1, n) elements.
template <class T>
Index getri(const Lapack<T>& lapack, HostView<T> a, Pivots ipiv, Workspace<T> work) {
  return finish_getri(lapack, a, a.rows, ipiv, work);
}

}  // namespace overlapack::cpu
