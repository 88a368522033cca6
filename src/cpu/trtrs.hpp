// ?trtrs by the CPU LAPACK.
#pragma once

#include "cpu/calling.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::cpu {

/// B := op(A)^-1 B for a triangular A. Returns 0, or k if A(k, k) is the first exact zero on the
/// diagonal, and then B is unchanged. The diagonal is looked at here: a library may not see a zero
/// beside a NaN.
template <class T>
Index trtrs(const Lapack<T>& lapack, Uplo uplo, Op op, Diag diag, HostView<const T> a,
            HostView<T> b) {
  for (Index k = 0; diag == Diag::non_unit && k < a.rows; ++k) {
    if (a(k, k) == T(0)) return k + 1;
  }
  if (b.empty()) return 0;
  constexpr std::size_t kRow = row_of("trtrs");
  const bool done = call(lapack, kRow, {a.rows, a.ld, b.cols, b.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const char u = static_cast<char>(uplo), t = character<T>(op), d = static_cast<char>(diag);
    const SolveSizes<I> s(a, b);
    I info = 0;
    as<typename Signature<T, I>::trtrs>(f)(&u, &t, &d, &s.n, &s.nrhs, a.data, &s.lda, b.data,
                                           &s.ldb, &info, 1, 1, 1);
  });
  if (!done) lapack.trsm(Side::left, uplo, op, diag, T(1), a, b);
  return 0;
}

}  // namespace overlapack::cpu
