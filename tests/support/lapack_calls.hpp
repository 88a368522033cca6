// The exported names with 32-bit integers (dpotrf_ and so on), as functions of views.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "exported.hpp"

namespace overlapack::testing_support {

using compat::Exported;

/// LAPACK's view of the sizes of a matrix.
struct Sizes {
  template <class T>
  explicit Sizes(const HostView<T>& a)
      : rows(static_cast<std::int32_t>(a.rows)),
        cols(static_cast<std::int32_t>(a.cols)),
        ld(static_cast<std::int32_t>(a.ld)) {}
  std::int32_t rows, cols, ld;
};

// What info is before a call, so that a call which forgets it is seen.
inline constexpr std::int32_t kNoInfo = -12345;

template <class T>
Index potrf(Uplo uplo, HostView<T> a) {
  const Sizes s(a);
  const char u = static_cast<char>(uplo);
  std::int32_t info = kNoInfo;
  Exported<T>::potrf(&u, &s.rows, a.data, &s.ld, &info, 1);
  return info;
}

template <class T>
Index potrs(Uplo uplo, HostView<const T> a, HostView<T> b) {
  const Sizes s(a), r(b);
  const char u = static_cast<char>(uplo);
  std::int32_t info = kNoInfo;
  Exported<T>::potrs(&u, &s.rows, &r.cols, a.data, &s.ld, b.data, &r.ld, &info, 1);
  return info;
}

template <class T>
Index posv(Uplo uplo, HostView<T> a, HostView<T> b) {
  const Sizes s(a), r(b);
  const char u = static_cast<char>(uplo);
  std::int32_t info = kNoInfo;
  Exported<T>::posv(&u, &s.rows, &r.cols, a.data, &s.ld, b.data, &r.ld, &info, 1);
  return info;
}

/// `pivots` becomes ipiv, with min(m, n) elements.
template <class T>
Index getrf(HostView<T> a, std::vector<Index>& pivots) {
  const Sizes s(a);
  std::vector<std::int32_t> ipiv(static_cast<std::size_t>(std::min(a.rows, a.cols)), kNoInfo);
  std::int32_t info = kNoInfo;
  Exported<T>::getrf(&s.rows, &s.cols, a.data, &s.ld, ipiv.data(), &info);
  pivots.assign(ipiv.begin(), ipiv.end());
  return info;
}

template <class T>
Index getrs(Op op, HostView<const T> a, const std::vector<Index>& pivots, HostView<T> b) {
  const Sizes s(a), r(b);
  const char trans = static_cast<char>(op);
  const std::vector<std::int32_t> ipiv(pivots.begin(), pivots.end());
  std::int32_t info = kNoInfo;
  Exported<T>::getrs(&trans, &s.rows, &r.cols, a.data, &s.ld, ipiv.data(), b.data, &r.ld, &info, 1);
  return info;
}

template <class T>
Index gesv(HostView<T> a, std::vector<Index>& pivots, HostView<T> b) {
  const Sizes s(a), r(b);
  std::vector<std::int32_t> ipiv(static_cast<std::size_t>(a.rows), kNoInfo);
  std::int32_t info = kNoInfo;
  Exported<T>::gesv(&s.rows, &r.cols, a.data, &s.ld, ipiv.data(), b.data, &r.ld, &info);
  pivots.assign(ipiv.begin(), ipiv.end());
  return info;
}

/// Is `pivots` an ipiv that ?laswp can follow for m rows: j + 1 <= pivots[j] <= m?
inline bool valid_pivots(const std::vector<Index>& pivots, Index m) {
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    if (pivots[j] < static_cast<Index>(j) + 1 || pivots[j] > m) return false;
  }
  return true;
}

}  // namespace overlapack::testing_support
