// Calls of the symmetric eigenproblem, by the exported names and by those of the CPU LAPACK.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "cpu/calling.hpp"
#include "cpu/eigen.hpp"
#include "overlapack/lapack.h"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack::testing_support::eigen {

using cpu::EigenSizes;
using Integer = std::int32_t;

inline constexpr Integer kQuery = -1;
inline constexpr Integer kUntouched = -7;
inline constexpr Index kPadding = 3;
inline constexpr char kAdjoint = 'A';  // 'T' or 'C', by the type

enum class Kind { ev, evd, evr, evx, gv, gvd, gvx, trd, gtr, mtr, stedc };
inline constexpr Kind kKinds[] = {Kind::ev,  Kind::evd, Kind::evr, Kind::evx, Kind::gv,   Kind::gvd,
                                  Kind::gvx, Kind::trd, Kind::gtr, Kind::mtr, Kind::stedc};
inline constexpr const char* kNames[] = {"ev",  "evd", "evr", "evx", "gv",   "gvd",
                                         "gvx", "trd", "gtr", "mtr", "stedc"};
inline bool has_range(Kind kind) {
  return kind == Kind::evr || kind == Kind::evx || kind == Kind::gvx;
}
inline bool is_driver(Kind kind) { return kind <= Kind::gvx; }
inline bool is_generalized(Kind kind) { return kind >= Kind::gv && kind <= Kind::gvx; }
/// Whether sizes of more than one workspace are given.
inline bool has_sizes(Kind kind) {
  return kind == Kind::evd || kind == Kind::evr || kind == Kind::gvd || kind == Kind::stedc;
}

/// A routine under the name that it has for T: the exported one or, if `theirs` is not null, the
/// CPU LAPACK's.
#define OVERLAPACK_BOTH(real, complex)                                                     \
  template <class T>                                                                       \
  auto real(const cpu::Lapack<T>* theirs) {                                                \
    using Types = cpu::Signature<T, Integer>;                                              \
    if constexpr (is_complex<T>) {                                                         \
      using F = typename Types::complex;                                                   \
      F* const ours = Exported<T>::complex;                                                \
      return theirs == nullptr ? ours : cpu::as<F>(theirs->find(row_of(#complex), false)); \
    } else {                                                                               \
      using F = typename Types::real;                                                      \
      F* const ours = Exported<T>::real;                                                   \
      return theirs == nullptr ? ours : cpu::as<F>(theirs->find(row_of(#real), false));    \
    }                                                                                      \
  }
OVERLAPACK_BOTH(syev, heev)
OVERLAPACK_BOTH(syevd, heevd)
OVERLAPACK_BOTH(syevr, heevr)
OVERLAPACK_BOTH(syevx, heevx)
OVERLAPACK_BOTH(sygv, hegv)
OVERLAPACK_BOTH(sygvd, hegvd)
OVERLAPACK_BOTH(sygvx, hegvx)
OVERLAPACK_BOTH(sytrd, hetrd)
OVERLAPACK_BOTH(orgtr, ungtr)
OVERLAPACK_BOTH(ormtr, unmtr)
OVERLAPACK_BOTH(stedc, stedc)
#undef OVERLAPACK_BOTH

/// What a call is asked, and the sizes of its workspaces.
struct Question {
  Kind kind;
  Integer n;
  char jobz = 'V', range = 'A', uplo = 'L';
  Integer itype = 1, il = 1, iu = 1;
  char side = 'L', trans = 'N', compz = 'I';
  Integer lwork = 0, lrwork = 0, liwork = 0;

  bool vectors() const { return jobz != 'N'; }
};
/// Whether the device has an algorithm for it. Of ?stedc without eigenvectors there is none.
inline bool has_algorithm(const Question& q) {
  const bool needs_lower = q.kind == Kind::gtr || q.kind == Kind::mtr;
  return !needs_lower || q.uplo == 'L';
}
inline std::ostream& operator<<(std::ostream& out, const Question& q) {
  return out << kNames[static_cast<int>(q.kind)] << " n=" << q.n << " jobz=" << q.jobz
             << " range=" << q.range << " uplo=" << q.uplo << " itype=" << q.itype
             << " side=" << q.side << " trans=" << q.trans << " compz=" << q.compz;
}

template <class T>
EigenSizes least_sizes(const Question& q) {
  const bool generalized = is_generalized(q.kind);
  const auto of_driver = [&](cpu::EigenDriver driver) {
    return cpu::least_sizes(driver, generalized, is_complex<T>, q.vectors(), q.n);
  };
  switch (q.kind) {
    case Kind::ev:
    case Kind::gv:
      return of_driver(cpu::EigenDriver::ev);
    case Kind::evd:
    case Kind::gvd:
      return of_driver(cpu::EigenDriver::evd);
    case Kind::evr:
      return of_driver(cpu::EigenDriver::evr);
    case Kind::evx:
    case Kind::gvx:
      return of_driver(cpu::EigenDriver::evx);
    case Kind::trd:
      return {};
    case Kind::gtr:
      return {std::max(q.n - 1, 1)};
    case Kind::mtr:
      return {std::max(q.n, 1)};
    default:
      return cpu::least_sizes_of_stedc(q.compz == 'v' ? 'V' : q.compz, is_complex<T>, q.n);
  }
}

template <class T>
Question with_sizes(Question q, const EigenSizes& sizes) {
  q.lwork = static_cast<Integer>(sizes.work);
  q.lrwork = static_cast<Integer>(sizes.rwork);
  q.liwork = static_cast<Integer>(sizes.iwork);
  return q;
}

/// The data of a call, the same for each that is made of the same question. Matrices have padding,
/// and workspaces a sentinel behind them.
template <class T>
class Data {
 public:
  using R = Real<T>;
  explicit Data(const Question& question)
      : q(question),
        a(positive_definite<T>(q.n, 1, kPadding)),
        b(positive_definite<T>(q.n, 2, kPadding + 1)),
        z(random_matrix<T>(q.n, q.n, 3, kPadding + 2)),
        w(at(q.n + 1), R(kUntouched)),
        e(at(q.n + 1), R(kUntouched)),
        tau(at(q.n + 1), sentinel<T>()),
        isuppz(at(2 * q.n + 1), kUntouched),
        ifail(at(q.n + 1), kUntouched),
        work(at(std::max(q.lwork, 1) + 1), sentinel<T>()),
        rwork(at(std::max({q.lrwork, 7 * q.n, 1}) + 1), R(kUntouched)),
        iwork(at(std::max({q.liwork, 5 * q.n, 1}) + 1), kUntouched),
        reads_triangle(is_driver(q.kind) || q.kind == Kind::trd) {
    if (q.trans == kAdjoint) q.trans = is_complex<T> ? 'c' : 't';
    const Uplo uplo = q.uplo == 'L' ? Uplo::lower : Uplo::upper;
    if (reads_triangle) a.forbid_other_triangle(uplo);
    b.forbid_other_triangle(uplo);
    if (q.kind < Kind::gtr || q.n == 0) return;
    const Integer lda = static_cast<Integer>(a.ld()), lwork = q.n;
    std::vector<T> scratch(at(q.n));
    sytrd<T> (&lapack())(&q.uplo, &q.n, a.data(), &lda, w.data(), e.data(), tau.data(),
                         scratch.data(), &lwork, &info, 1);
  }
  static const cpu::Lapack<T>& lapack() { return cpu::lapack<T>(cpu::Family::lp64); }

  /// By the exported name or, with `theirs`, by the CPU LAPACK. Returns info.
  Index run(bool theirs = false) {
    const cpu::Lapack<T>* const from = theirs ? &lapack() : nullptr;
    const Integer lda = leading_of(a), ldb = leading_of(b), ldz = leading_of(z);
    T *const A = in_place_of_a(), *const B = in_place_of_b(), *const Z = in_place_of_z();
    T* const k = work.data();
    Integer* const i = iwork.data();
    info = kNoInfo;
    switch (q.kind) {
      case Kind::ev:
        with_rwork([&](auto... r) {
          syev<T>(from)(&q.jobz, &q.uplo, &q.n, A, &lda, w.data(), k, &q.lwork, r..., &info, 1, 1);
        });
        break;
      case Kind::evd:
        with_sized_rwork([&](auto... r) {
          syevd<T>(from)(&q.jobz, &q.uplo, &q.n, A, &lda, w.data(), k, &q.lwork, r..., i, &q.liwork,
                         &info, 1, 1);
        });
        break;
      case Kind::evr:
        with_sized_rwork([&](auto... r) {
          syevr<T>(from)(&q.jobz, &q.range, &q.uplo, &q.n, A, &lda, &vl, &vu, &q.il, &q.iu, &abstol,
                         &m, w.data(), Z, &ldz, isuppz.data(), k, &q.lwork, r..., i, &q.liwork,
                         &info, 1, 1, 1);
        });
        break;
      case Kind::evx:
        with_rwork([&](auto... r) {
          syevx<T>(from)(&q.jobz, &q.range, &q.uplo, &q.n, A, &lda, &vl, &vu, &q.il, &q.iu, &abstol,
                         &m, w.data(), Z, &ldz, k, &q.lwork, r..., i, ifail.data(), &info, 1, 1, 1);
        });
        break;
      case Kind::gv:
        with_rwork([&](auto... r) {
          sygv<T>(from)(&q.itype, &q.jobz, &q.uplo, &q.n, A, &lda, B, &ldb, w.data(), k, &q.lwork,
                        r..., &info, 1, 1);
        });
        break;
      case Kind::gvd:
        with_sized_rwork([&](auto... r) {
          sygvd<T>(from)(&q.itype, &q.jobz, &q.uplo, &q.n, A, &lda, B, &ldb, w.data(), k, &q.lwork,
                         r..., i, &q.liwork, &info, 1, 1);
        });
        break;
      case Kind::gvx:
        with_rwork([&](auto... r) {
          sygvx<T>(from)(&q.itype, &q.jobz, &q.range, &q.uplo, &q.n, A, &lda, B, &ldb, &vl, &vu,
                         &q.il, &q.iu, &abstol, &m, w.data(), Z, &ldz, k, &q.lwork, r..., i,
                         ifail.data(), &info, 1, 1, 1);
        });
        break;
      case Kind::trd:
        sytrd<T>(from)(&q.uplo, &q.n, A, &lda, w.data(), e.data(), tau.data(), k, &q.lwork, &info,
                       1);
        break;
      case Kind::gtr:
        orgtr<T>(from)(&q.uplo, &q.n, A, &lda, tau.data(), k, &q.lwork, &info, 1);
        break;
      case Kind::mtr:
        ormtr<T>(from)(&q.side, &q.uplo, &q.trans, &q.n, &q.n, A, &lda, tau.data(), Z, &ldz, k,
                       &q.lwork, &info, 1, 1, 1);
        break;
      case Kind::stedc:
        with_sized_rwork([&](auto... r) {
          stedc<T>(from)(&q.compz, &q.n, w.data(), e.data(), Z, &ldz, k, &q.lwork, r..., i,
                         &q.liwork, &info, 1);
        });
    }
    return info;
  }

  /// Of arrays. LAPACK's ?stedc of complex numbers itself writes to the padding of Z.
  void expect_ends_untouched() const {
    EXPECT_TRUE(a.padding_untouched() && b.padding_untouched());
    EXPECT_TRUE(z.padding_untouched() || q.kind == Kind::stedc);
    EXPECT_EQ(w.back(), R(kUntouched));
    EXPECT_EQ(work.back(), sentinel<T>());
    EXPECT_EQ(rwork.back(), R(kUntouched));
    EXPECT_EQ(iwork.back(), kUntouched);
    EXPECT_EQ(isuppz.back(), kUntouched);
    EXPECT_EQ(ifail.back(), kUntouched);
  }
  /// All but what stands in workspaces behind their first elements.
  void expect_same(const Data& other) const {
    EXPECT_EQ(info, other.info);
    EXPECT_TRUE(same_bits(a, other.a));
    EXPECT_TRUE(same_bits(b, other.b));
    EXPECT_TRUE(same_bits(z, other.z));
    EXPECT_EQ(w, other.w);
    EXPECT_EQ(e, other.e);
    EXPECT_EQ(tau, other.tau);
    EXPECT_EQ(isuppz, other.isuppz);
    EXPECT_EQ(ifail, other.ifail);
    EXPECT_EQ(m, other.m);
    expect_same_sizes(other);
  }
  void expect_same_sizes(const Data& other) const {
    EXPECT_EQ(work[0], other.work[0]);
    EXPECT_EQ(iwork[0], other.iwork[0]);
    EXPECT_EQ(rwork[0], other.rwork[0]);
  }

  Question q;
  Padded<T> a, b, z;
  std::vector<R> w, e;
  std::vector<T> tau;
  std::vector<Integer> isuppz, ifail;
  Integer m = kUntouched, info = kNoInfo;
  R vl = 0, vu = 3, abstol = 0;
  std::vector<T> work;
  std::vector<R> rwork;
  std::vector<Integer> iwork;
  bool reads_triangle;
  Integer leading = 0;  // instead of those of the matrices
  T *instead_of_a = nullptr, *instead_of_b = nullptr, *instead_of_z = nullptr;

 private:
  static std::size_t at(Index size) { return static_cast<std::size_t>(size); }
  Integer leading_of(const Padded<T>& x) const {
    return leading > 0 ? leading : static_cast<Integer>(x.ld());
  }
  T* in_place_of_a() { return instead_of_a != nullptr ? instead_of_a : a.data(); }
  T* in_place_of_b() { return instead_of_b != nullptr ? instead_of_b : b.data(); }
  T* in_place_of_z() { return instead_of_z != nullptr ? instead_of_z : z.data(); }
  /// call(rwork...) with what complex numbers take besides, without its size or with it.
  template <class Call>
  void with_rwork(Call call) {
    if constexpr (is_complex<T>) {
      call(rwork.data());
    } else {
      call();
    }
  }
  template <class Call>
  void with_sized_rwork(Call call) {
    if constexpr (is_complex<T>) {
      call(rwork.data(), &q.lrwork);
    } else {
      call();
    }
  }
};

/// Calls of every routine, with all that it can be asked.
inline std::vector<Question> questions(Integer n) {
  std::vector<Question> all;
  for (const Kind kind : kKinds) {
    for (const char uplo : {'L', 'u'}) {
      Question q{kind, n};
      q.uplo = uplo;
      if (is_driver(kind)) {
        for (const char jobz : {'N', 'v'}) {
          for (const char range : {'A', 'v', 'I'}) {
            q.jobz = jobz;
            q.range = range;
            q.il = n > 0 ? n / 3 + 1 : 1;
            q.iu = n / 2 + (n > 0);
            q.itype = range == 'v' ? 3 : range == 'I' ? 2 : 1;
            if (has_range(kind) || range == 'A') all.push_back(q);
          }
        }
      } else if (kind == Kind::mtr) {
        for (const char side : {'L', 'r'}) {
          for (const char trans : {'n', kAdjoint}) {
            q.side = side;
            q.trans = trans;
            all.push_back(q);
          }
        }
      } else if (kind == Kind::stedc) {
        for (const char compz : {'N', 'v', 'I'}) {
          q.compz = compz;
          all.push_back(q);
        }
      } else {
        all.push_back(q);
      }
    }
  }
  return all;
}

/// LAPACK's ratios are to be below this. (Its own limit is 50.)
inline constexpr double kMostErrors = 10;

/// op(X) Y.
template <class W>
Padded<W> product(Op op, const Padded<W>& x, const Padded<W>& y) {
  Padded<W> result(op == Op::none ? x.rows() : x.cols(), y.cols());
  reference::gemm<W>(op, Op::none, W(1), x.view(), y.view(), W(0), result.view());
  return result;
}

/// Of Z^H M Z = I: ||Z^H M Z - I|| / (n ||M|| ||Z||^2 eps).
template <class T>
double orthonormality_error(const Padded<Wide<T>>& m, const Padded<Wide<T>>& z) {
  if (z.cols() == 0) return 0;
  const double scale = static_cast<double>(z.rows()) * norm1(m) * norm1(z) * norm1(z);
  const auto unit = widen<T>(unit_matrix<T>(z.cols()).view());
  return scaled(norm1(rest(unit, Op::conj_trans, z, Op::none, product(Op::none, m, z))), scale,
                epsilon<T>());
}

/// Of F Z = G Z diag(w): ||F Z - G Z diag(w)|| / (n ||F|| ||Z|| eps). None of the products may
/// leave the range.
template <class T>
double eigenvector_error(const Padded<Wide<T>>& f, const Padded<Wide<T>>& g,
                         const Padded<Wide<T>>& z, const std::vector<double>& w) {
  using W = Wide<T>;
  if (z.cols() == 0) return 0;
  auto zw = z;
  for (Index j = 0; j < z.cols(); ++j) {
    for (Index i = 0; i < z.rows(); ++i) zw(i, j) *= W(w[static_cast<std::size_t>(j)]);
  }
  const double scale = static_cast<double>(z.rows()) * norm1(f) * norm1(z);
  return scaled(norm1(rest(product(Op::none, f, z), Op::none, g, Op::none, zw)), scale,
                epsilon<T>());
}

/// Errors of eigenvectors.
struct VectorErrors {
  double residual, orthonormality;
};

/// Of A Z = Z diag(w).
template <class T>
VectorErrors vector_errors(const Padded<Wide<T>>& a, const Padded<Wide<T>>& z,
                           const std::vector<double>& w) {
  const auto unit = widen<T>(unit_matrix<T>(a.rows()).view());
  return {eigenvector_error<T>(a, unit, z, w), orthonormality_error<T>(unit, z)};
}

/// Of a generalized problem of that type, where B or its inverse says what is orthonormal.
template <class T>
VectorErrors vector_errors(Integer type, const Padded<Wide<T>>& a, const Padded<Wide<T>>& b,
                           const Padded<Wide<T>>& z, const std::vector<double>& w) {
  using W = Wide<T>;
  const auto unit = widen<T>(unit_matrix<T>(a.rows()).view());
  if (type == 1) return {eigenvector_error<T>(a, b, z, w), orthonormality_error<T>(b, z)};
  if (type == 2) {
    return {eigenvector_error<T>(product(Op::none, a, b), unit, z, w),
            orthonormality_error<T>(b, z)};
  }
  auto l = b, y = z;
  EXPECT_EQ(reference::potrf<W>(Uplo::lower, l.view()), 0);
  reference::trsm<W>(Side::left, Uplo::lower, Op::none, Diag::non_unit, W(1),
                     std::as_const(l).view(), y.view());
  return {eigenvector_error<T>(product(Op::none, b, a), unit, z, w),
          orthonormality_error<T>(unit, y)};
}

inline void expect_small(const VectorErrors& errors) {
  EXPECT_LE(errors.residual, kMostErrors);
  EXPECT_LE(errors.orthonormality, kMostErrors);
}

}  // namespace overlapack::testing_support::eigen
