// ?lantr by the CPU LAPACK.
#pragma once

#include <optional>

#include "cpu/calling.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::cpu {

/// The norm of a triangular or trapezoidal matrix, or nothing if no library has the routine. `work`
/// is LAPACK's, in size and use.
template <class T>
std::optional<Real<T>> lantr(const Lapack<T>& lapack, Norm norm, Uplo uplo, Diag diag,
                             HostView<const T> a, Real<T>* work) {
  std::optional<Real<T>> result;
  constexpr std::size_t kRow = row_of("lantr");
  call(lapack, kRow, {a.rows, a.cols, a.ld}, [&](auto width, void* f) {
    using I = decltype(width);
    const char c = static_cast<char>(norm), u = static_cast<char>(uplo),
               d = static_cast<char>(diag);
    const I m = narrow<I>(a.rows), n = narrow<I>(a.cols), lda = narrow<I>(a.ld);
    result =
        as<typename Signature<T, I>::lantr>(f)(&c, &u, &d, &m, &n, a.data, &lda, work, 1, 1, 1);
  });
  return result;
}

}  // namespace overlapack::cpu
