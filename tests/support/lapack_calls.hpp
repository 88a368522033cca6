// The exported names with 32-bit integers (dpotrf_ and so on), as functions of views.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "cpu/lapack.hpp"
#include "exported.hpp"
#include "support/matrices.hpp"

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

/// A norm that takes no workspace.
template <class T>
Real<T> lange(char norm, HostView<const T> a) {
  const Sizes s(a);
  return Exported<T>::lange(&norm, &s.rows, &s.cols, a.data, &s.ld, nullptr, 1);
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
Index trtrs(Uplo uplo, Op op, Diag diag, HostView<const T> a, HostView<T> b) {
  const Sizes s(a), r(b);
  const char u = static_cast<char>(uplo), t = static_cast<char>(op), d = static_cast<char>(diag);
  std::int32_t info = kNoInfo;
  Exported<T>::trtrs(&u, &t, &d, &s.rows, &r.cols, a.data, &s.ld, b.data, &r.ld, &info, 1, 1, 1);
  return info;
}

template <class T>
Index trtri(Uplo uplo, Diag diag, HostView<T> a) {
  const Sizes s(a);
  const char u = static_cast<char>(uplo), d = static_cast<char>(diag);
  std::int32_t info = kNoInfo;
  Exported<T>::trtri(&u, &d, &s.rows, a.data, &s.ld, &info, 1, 1);
  return info;
}

template <class T>
Index lauum(Uplo uplo, HostView<T> a) {
  const Sizes s(a);
  const char u = static_cast<char>(uplo);
  std::int32_t info = kNoInfo;
  Exported<T>::lauum(&u, &s.rows, a.data, &s.ld, &info, 1);
  return info;
}

template <class T>
Index potri(Uplo uplo, HostView<T> a) {
  const Sizes s(a);
  const char u = static_cast<char>(uplo);
  std::int32_t info = kNoInfo;
  Exported<T>::potri(&u, &s.rows, a.data, &s.ld, &info, 1);
  return info;
}

/// With the smallest workspace, or of `columns` columns. It ends with a sentinel.
template <class T>
Index getri(HostView<T> a, const std::vector<Index>& pivots, std::int32_t columns = 1) {
  const Sizes s(a);
  const std::vector<std::int32_t> ipiv(pivots.begin(), pivots.end());
  const std::int32_t lwork = std::max(s.rows * columns, 1);
  std::vector<T> work(static_cast<std::size_t>(lwork) + 1, sentinel<T>());
  std::int32_t info = kNoInfo;
  Exported<T>::getri(&s.rows, a.data, &s.ld, ipiv.data(), work.data(), &lwork, &info);
  return work.back() == sentinel<T>() ? info : kNoInfo;
}

/// A workspace of `size` elements, and a sentinel behind it.
template <class T>
class WorkWithEnd {
 public:
  explicit WorkWithEnd(Index size)
      : size_(static_cast<std::int32_t>(size)),
        data_(static_cast<std::size_t>(std::max<Index>(size, 1)) + 1, sentinel<T>()) {}
  T* data() { return data_.data(); }
  const std::int32_t* size() const { return &size_; }
  T first() const { return data_.front(); }
  /// `info`, unless the sentinel is gone.
  Index checked(std::int32_t info) const { return data_.back() == sentinel<T>() ? info : kNoInfo; }

 private:
  std::int32_t size_;  // may be -1, for a query
  std::vector<T> data_;
};

/// ?geqrf, or ?gelqf.
template <class T>
Index geqrf(cpu::Reflectors kind, HostView<T> a, T* tau, WorkWithEnd<T>& work) {
  const Sizes s(a);
  std::int32_t info = kNoInfo;
  (kind == cpu::Reflectors::rows ? Exported<T>::gelqf : Exported<T>::geqrf)(
      &s.rows, &s.cols, a.data, &s.ld, tau, work.data(), work.size(), &info);
  return work.checked(info);
}

/// The exported ?orgqr (?ungqr of complex numbers) or ?orglq, and ?ormqr or ?ormlq.
template <class T>
auto exported_orgqr(cpu::Reflectors kind) {
  if constexpr (is_complex<T>) {
    return kind == cpu::Reflectors::rows ? Exported<T>::unglq : Exported<T>::ungqr;
  } else {
    return kind == cpu::Reflectors::rows ? Exported<T>::orglq : Exported<T>::orgqr;
  }
}
template <class T>
auto exported_ormqr(cpu::Reflectors kind) {
  if constexpr (is_complex<T>) {
    return kind == cpu::Reflectors::rows ? Exported<T>::unmlq : Exported<T>::unmqr;
  } else {
    return kind == cpu::Reflectors::rows ? Exported<T>::ormlq : Exported<T>::ormqr;
  }
}
/// Op::conj_trans of real matrices is 'T'.
template <class T>
char letter_of(Op op) {
  return op != Op::none && !is_complex<T> ? 'T' : static_cast<char>(op);
}

template <class T>
Index orgqr(cpu::Reflectors kind, HostView<T> a, Index count, const T* tau, WorkWithEnd<T>& work) {
  const Sizes s(a);
  const auto k = static_cast<std::int32_t>(count);
  std::int32_t info = kNoInfo;
  exported_orgqr<T>(kind)(&s.rows, &s.cols, &k, a.data, &s.ld, tau, work.data(), work.size(),
                          &info);
  return work.checked(info);
}

/// A has the reflectors alone.
template <class T>
Index ormqr(cpu::Reflectors kind, Side side, Op op, HostView<const T> a, const T* tau,
            HostView<T> c, WorkWithEnd<T>& work) {
  const Sizes s(a), r(c);
  const char l = static_cast<char>(side), t = letter_of<T>(op);
  std::int32_t info = kNoInfo;
  exported_ormqr<T>(kind)(&l, &t, &r.rows, &r.cols,
                          kind == cpu::Reflectors::rows ? &s.rows : &s.cols, a.data, &s.ld, tau,
                          c.data, &r.ld, work.data(), work.size(), &info, 1, 1);
  return work.checked(info);
}

/// T has a row for each column of a block.
template <class T>
Index geqrt(HostView<T> a, HostView<T> t) {
  const Sizes s(a), r(t);
  WorkWithEnd<T> work(t.rows * a.cols);
  std::int32_t info = kNoInfo;
  Exported<T>::geqrt(&s.rows, &s.cols, &r.rows, a.data, &s.ld, t.data, &r.ld, work.data(), &info);
  return work.checked(info);
}

template <class T>
Index gemqrt(Side side, Op op, HostView<const T> v, HostView<const T> t, HostView<T> c) {
  const Sizes s(v), r(t), q(c);
  const char l = static_cast<char>(side), o = letter_of<T>(op);
  WorkWithEnd<T> work(t.rows * (side == Side::left ? c.cols : c.rows));
  std::int32_t info = kNoInfo;
  Exported<T>::gemqrt(&l, &o, &q.rows, &q.cols, &s.cols, &r.rows, v.data, &s.ld, t.data, &r.ld,
                      c.data, &q.ld, work.data(), &info, 1, 1);
  return work.checked(info);
}

/// B has as many rows as the longer side of A.
template <class T>
Index gels(Op op, HostView<T> a, HostView<T> b, WorkWithEnd<T>& work) {
  const Sizes s(a), r(b);
  const char t = letter_of<T>(op);
  std::int32_t info = kNoInfo;
  Exported<T>::gels(&t, &s.rows, &s.cols, &r.cols, a.data, &s.ld, b.data, &r.ld, work.data(),
                    work.size(), &info, 1);
  return work.checked(info);
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

/// What an estimate of the condition returns, and which of its workspaces it has touched.
template <class R>
struct ConditionResult {
  Index info;
  R rcond;
  bool work_used, work_overrun;
};

/// Calls estimate(work, work2, rcond, info) with workspaces as large as LAPACK asks for.
template <class T, class Estimate>
ConditionResult<Real<T>> with_condition_work(std::size_t count, std::size_t count2,
                                             Estimate estimate) {
  using W = SecondWork<T, std::int32_t>;
  std::vector<T> work(count + 1, sentinel<T>());
  std::vector<W> work2(count2 + 1, W(-77));
  ConditionResult<Real<T>> result{};
  std::int32_t info = kNoInfo;
  result.rcond = Real<T>(-5);
  estimate(work.data(), work2.data(), &result.rcond, &info);
  result.info = info;
  const auto used = [](const auto& all, auto value) {
    return std::any_of(all.begin(), all.end() - 1, [=](auto x) { return x != value; });
  };
  result.work_used = used(work, sentinel<T>()) || used(work2, W(-77));
  result.work_overrun = work.back() != sentinel<T>() || work2.back() != W(-77);
  return result;
}

template <class T>
ConditionResult<Real<T>> gecon(char norm, HostView<const T> a, Real<T> norm_of_a) {
  const Sizes s(a);
  const auto n = static_cast<std::size_t>(a.rows);
  constexpr std::size_t kComplex = is_complex<T>;
  return with_condition_work<T>((4 - 2 * kComplex) * n, (1 + kComplex) * n,
                                [&](T* work, auto* work2, Real<T>* rcond, std::int32_t* info) {
                                  Exported<T>::gecon(&norm, &s.rows, a.data, &s.ld, &norm_of_a,
                                                     rcond, work, work2, info, 1);
                                });
}

template <class T>
ConditionResult<Real<T>> pocon(Uplo uplo, HostView<const T> a, Real<T> norm_of_a) {
  const Sizes s(a);
  const auto n = static_cast<std::size_t>(a.rows);
  const char u = static_cast<char>(uplo);
  return with_condition_work<T>(
      (3 - is_complex<T>)*n, n, [&](T* work, auto* work2, Real<T>* rcond, std::int32_t* info) {
        Exported<T>::pocon(&u, &s.rows, a.data, &s.ld, &norm_of_a, rcond, work, work2, info, 1);
      });
}

template <class T>
ConditionResult<Real<T>> trcon(char norm, Uplo uplo, Diag diag, HostView<const T> a) {
  const Sizes s(a);
  const auto n = static_cast<std::size_t>(a.rows);
  const char u = static_cast<char>(uplo), d = static_cast<char>(diag);
  return with_condition_work<T>((3 - is_complex<T>)*n, n,
                                [&](T* work, auto* work2, Real<T>* rcond, std::int32_t* info) {
                                  Exported<T>::trcon(&norm, &u, &d, &s.rows, a.data, &s.ld, rcond,
                                                     work, work2, info, 1, 1, 1);
                                });
}

/// The workspaces of a mixed-precision solve, as large as LAPACK asks for, with a sentinel behind
/// each.
template <class T>
struct MixedWorkspace {
  MixedWorkspace(Index n, Index nrhs)
      : work(size(n * nrhs), sentinel<T>()),
        swork(size(n * (n + nrhs)), sentinel<Single<T>>()),
        rwork(size(n), sentinel<Real<T>>()) {}
  bool ends_untouched() const {
    return work.back() == sentinel<T>() && swork.back() == sentinel<Single<T>>() &&
           rwork.back() == sentinel<Real<T>>();
  }
  static std::size_t size(Index count) { return static_cast<std::size_t>(count) + 1; }

  std::vector<T> work;
  std::vector<Single<T>> swork;
  std::vector<Real<T>> rwork;
};

/// What a mixed-precision solve returns.
struct MixedResult {
  Index info, iter;
  std::vector<Index> pivots;
  bool workspaces_right;
};

template <class T>
MixedResult mixed_gesv(HostView<T> a, HostView<const T> b, HostView<T> x) {
  const Sizes s(a), r(b), t(x);
  std::vector<std::int32_t> ipiv(static_cast<std::size_t>(a.rows), kNoInfo);
  std::int32_t info = kNoInfo, iter = kNoInfo;
  MixedWorkspace<T> w(a.rows, b.cols);
  if constexpr (is_complex<T>) {
    Exported<T>::cgesv(&s.rows, &r.cols, a.data, &s.ld, ipiv.data(), b.data, &r.ld, x.data, &t.ld,
                       w.work.data(), w.swork.data(), w.rwork.data(), &iter, &info);
  } else {
    Exported<T>::sgesv(&s.rows, &r.cols, a.data, &s.ld, ipiv.data(), b.data, &r.ld, x.data, &t.ld,
                       w.work.data(), w.swork.data(), &iter, &info);
  }
  return {info, iter, {ipiv.begin(), ipiv.end()}, w.ends_untouched()};
}

template <class T>
MixedResult mixed_posv(Uplo uplo, HostView<T> a, HostView<const T> b, HostView<T> x) {
  const Sizes s(a), r(b), t(x);
  const char u = static_cast<char>(uplo);
  std::int32_t info = kNoInfo, iter = kNoInfo;
  MixedWorkspace<T> w(a.rows, b.cols);
  if constexpr (is_complex<T>) {
    Exported<T>::cposv(&u, &s.rows, &r.cols, a.data, &s.ld, b.data, &r.ld, x.data, &t.ld,
                       w.work.data(), w.swork.data(), w.rwork.data(), &iter, &info, 1);
  } else {
    Exported<T>::sposv(&u, &s.rows, &r.cols, a.data, &s.ld, b.data, &r.ld, x.data, &t.ld,
                       w.work.data(), w.swork.data(), &iter, &info, 1);
  }
  return {info, iter, {}, w.ends_untouched()};
}

/// Is `pivots` an ipiv that ?laswp can follow for m rows: j + 1 <= pivots[j] <= m?
inline bool valid_pivots(const std::vector<Index>& pivots, Index m) {
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    if (pivots[j] < static_cast<Index>(j) + 1 || pivots[j] > m) return false;
  }
  return true;
}

}  // namespace overlapack::testing_support
