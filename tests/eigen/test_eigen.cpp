// The symmetric eigenproblem by the exported names: drivers, and what they are made of. On the CPU
// all is the CPU LAPACK's, called with the caller's arguments; so results are compared with it bit
// by bit. What the device does is tested elsewhere (test_syevd.cpp, test_sytrd.cpp,
// test_stedc.cpp).
// That arguments are refused in LAPACK's order is tested by tests/clients/xerbla_client.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cpu/calling.hpp"
#include "cpu/eigen.hpp"
#include "dispatch/calls.hpp"
#include "overlapack/lapack.h"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using cpu::EigenSizes;
using Integer = std::int32_t;

constexpr Integer kQuery = -1;
constexpr Integer kUntouched = -7;
constexpr Index kPadding = 3;
constexpr char kAdjoint = 'A';  // 'T' or 'C', by the type

enum class Kind { ev, evd, evr, evx, gv, gvd, gvx, trd, gtr, mtr, stedc };
constexpr Kind kKinds[] = {Kind::ev,  Kind::evd, Kind::evr, Kind::evx, Kind::gv,   Kind::gvd,
                           Kind::gvx, Kind::trd, Kind::gtr, Kind::mtr, Kind::stedc};
constexpr const char* kNames[] = {"ev",  "evd", "evr", "evx", "gv",   "gvd",
                                  "gvx", "trd", "gtr", "mtr", "stedc"};
bool has_range(Kind kind) { return kind == Kind::evr || kind == Kind::evx || kind == Kind::gvx; }
bool is_driver(Kind kind) { return kind <= Kind::gvx; }
/// Whether the device has an algorithm for it.
bool has_algorithm(Kind kind) {
  return kind == Kind::evd || kind == Kind::trd || kind == Kind::stedc;
}
/// Whether sizes of more than one workspace are given.
bool has_sizes(Kind kind) {
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
std::ostream& operator<<(std::ostream& out, const Question& q) {
  return out << kNames[static_cast<int>(q.kind)] << " n=" << q.n << " jobz=" << q.jobz
             << " range=" << q.range << " uplo=" << q.uplo << " itype=" << q.itype
             << " side=" << q.side << " trans=" << q.trans << " compz=" << q.compz;
}

template <class T>
EigenSizes least_sizes(const Question& q) {
  const bool generalized = q.kind == Kind::gv || q.kind == Kind::gvd || q.kind == Kind::gvx;
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

/// Also of what the CPU LAPACK's drivers call by name.
void stay_on_cpu() {
  dispatch::Settings settings;
  settings.device = dispatch::DeviceChoice::off;
  dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
}

template <class T>
class Eigen : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    if (!IsSkipped()) stay_on_cpu();
  }
  /// Every call, however small, that the device has an algorithm for.
  void send_to_device(const std::string& log = "") {
    dispatch::Settings settings = settings_for(dispatch::Algorithm::tiled, 16);
    settings.verbose = !log.empty();
    settings.log = log;
    use(settings);
  }
};
TYPED_TEST_SUITE(Eigen, Precisions);

/// Calls of every routine, with all that it can be asked.
std::vector<Question> questions(Integer n) {
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

/// Calls the exported routine and the CPU LAPACK's.
template <class T>
void expect_lapacks(const Question& q) {
  SCOPED_TRACE(testing::Message() << ScalarTraits<T>::letter << " " << q);
  Data<T> ours(q), theirs(q);
  ours.run();
  theirs.run(true);
  ours.expect_same(theirs);
  ours.expect_ends_untouched();
}

TYPED_TEST(Eigen, IsThatOfTheCpuLapackWithTheCallersWorkspaces) {
  using T = TypeParam;
  for (const Integer n : {0, 1, 2, 30, 47}) {
    for (const Question& q : questions(n)) {
      // LAPACK before 3.12 asks for more where n is 1.
      const bool one = n == 1 && q.kind == Kind::evr;
      expect_lapacks<T>(with_sizes<T>(q, one ? EigenSizes{26, 24, 10} : least_sizes<T>(q)));
      if (this->HasFailure()) return;
      expect_lapacks<T>(with_sizes<T>(q, {2 * n * n + 66 * n + 1, 2 * n * n + 24 * n + 1, 500}));
    }
  }
}

/// They are what it refuses less than, in one place after the other.
TYPED_TEST(Eigen, TheLeastSizesAreTheCpuLapacks) {
  using T = TypeParam;
  for (const Integer n : {2, 25, 26, 33}) {
    for (const Question& q : questions(n)) {
      const EigenSizes least = least_sizes<T>(q);
      for (const int which : {0, 1, 2}) {
        EigenSizes sizes = least;
        --(which == 0 ? sizes.work : which == 1 ? sizes.rwork : sizes.iwork);
        if (which > 0 && !has_sizes(q.kind)) continue;
        if (which == 1 && !is_complex<T>) continue;
        const Question asked = with_sizes<T>(q, sizes);
        SCOPED_TRACE(testing::Message() << ScalarTraits<T>::letter << " " << asked << " " << which);
        Data<T> ours(asked), theirs(asked);
        EXPECT_LT(ours.run(), 0);
        EXPECT_EQ(ours.info, theirs.run(true));
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Eigen, AQuerySaysTheCpuLapacksSizesAndDoesNothingElse) {
  using T = TypeParam;
  for (const Integer n : {0, 1, 40}) {
    for (const Question& q : questions(n)) {
      for (const int which : {0, 1, 2}) {
        if (which > 0 && !has_sizes(q.kind)) continue;
        if (which == 1 && !is_complex<T>) continue;
        Question asked = with_sizes<T>(q, {1, 1, 1});
        (which == 0 ? asked.lwork : which == 1 ? asked.lrwork : asked.liwork) = kQuery;
        SCOPED_TRACE(testing::Message() << ScalarTraits<T>::letter << " " << asked << " " << which);
        Data<T> ours(asked), theirs(asked), untouched(asked);
        EXPECT_EQ(ours.run(), 0);
        EXPECT_EQ(theirs.run(true), 0);
        const EigenSizes least = least_sizes<T>(q);
        EXPECT_GE(real(ours.work[0]), static_cast<Real<T>>(least.work));
        // For n = 0 that may be less than it accepts.
        if (n > 0) ours.expect_same_sizes(theirs);
        EXPECT_TRUE(same_bits(ours.a, untouched.a));
        EXPECT_TRUE(same_bits(ours.z, untouched.z));
        EXPECT_EQ(ours.w, untouched.w);
        EXPECT_EQ(ours.m, kUntouched);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// Without matrices, which a query does not look at.
struct Answer {
  double work, rwork;
  Integer iwork;
};
template <class T>
Answer query(Kind kind, Integer n) {
  Question q{kind, 0};
  q.lwork = q.lrwork = q.liwork = kQuery;
  Data<T> data(q);
  data.q.n = n;
  data.leading = n;
  EXPECT_EQ(data.run(), 0);
  return {static_cast<double>(real(data.work[0])), static_cast<double>(data.rwork[0]),
          data.iwork[0]};
}

TYPED_TEST(Eigen, SizesBeyond32BitsAreNotNegative) {
  using T = TypeParam;
  for (const Kind kind : {Kind::evd, Kind::gvd, Kind::stedc}) {
    for (const double n : {32767.0, 46341.0, 100000.0, 500000000.0, 2147483647.0}) {
      SCOPED_TRACE(testing::Message() << kNames[static_cast<int>(kind)] << " " << n);
      const auto sizes = query<T>(kind, static_cast<Integer>(n));
      const double order = std::min(n, static_cast<double>(cpu::kLargestOrder));
      const bool merges = kind == Kind::stedc, complex = is_complex<T>;
      EXPECT_GE(sizes.work, merges ? (complex ? 1 : order * order) : (2 - complex) * order * order);
      EXPECT_GE(sizes.rwork, complex ? 2 * order * order : kUntouched);
      EXPECT_GE(sizes.iwork, std::min(5 * order, 2147483647.0));
    }
  }
}

/// No size that the caller can give is enough then. The CPU LAPACK would not notice.
TEST(EigenSizesBeyond32Bits, AreWantOfMemory) {
  Question q{Kind::evd, 0};
  q.lwork = q.lrwork = q.liwork = std::numeric_limits<Integer>::max();
  Data<double> data(Question{Kind::evd, 0});
  data.q = q;
  data.q.n = data.leading = 32767;
  EXPECT_EQ(data.run(), dispatch::kNoMemory);
}

TYPED_TEST(Eigen, NeedsNoMemory) {
  using T = TypeParam;
  for (const bool logged : {false, true}) {
    if (logged) this->send_to_device("/dev/null");  // which takes memory for its texts
    for (const Question& asked : questions(40)) {
      const Question q = with_sizes<T>(asked, least_sizes<T>(asked));
      SCOPED_TRACE(testing::Message() << ScalarTraits<T>::letter << " " << q);
      if (logged && !has_algorithm(q.kind)) continue;
      Data<T> ours(q), theirs(q);
      theirs.run(true);
      Data<T>(q).run();  // for what is made once and for all
      {
        const ScarceMemory memory(1, true);
        ours.run();
        EXPECT_TRUE(logged || memory.count() == 0);
      }
      ours.expect_same(theirs);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Eigen, OfMatricesOnTheDeviceIsOutOfReachOfTheCpu) {
  using T = TypeParam;
  this->send_to_device();
  for (const Question& asked : questions(70)) {
    const Question q = with_sizes<T>(asked, least_sizes<T>(asked));
    SCOPED_TRACE(testing::Message() << ScalarTraits<T>::letter << " " << q);
    Data<T> data(q);
    OnDevice<T> a(this->device(), data.a), b(this->device(), data.b), z(this->device(), data.z);
    const bool of_b = q.kind >= Kind::gv && q.kind <= Kind::gvx;
    if (has_algorithm(q.kind)) continue;
    data.instead_of_a = a.view().data;
    EXPECT_EQ(data.run(), dispatch::kNoMemory);
    data.instead_of_a = nullptr;
    if (of_b) {
      data.instead_of_b = b.view().data;
      EXPECT_EQ(data.run(), dispatch::kNoMemory);
    }
    if (q.kind != Kind::mtr && !(has_range(q.kind) && q.jobz == 'v' && q.range == 'A')) continue;
    data.instead_of_b = nullptr;
    data.instead_of_z = z.view().data;
    EXPECT_EQ(data.run(), dispatch::kNoMemory);
  }
}

// ---- What a driver is made of -------------------------------------------------------------------

/// The routines that a log has lines of, where they went, and what they are part of: "dormqr host
/// within=dsyevd".
std::vector<std::string> logged_calls(const std::string& path) {
  std::vector<std::string> calls;
  std::ifstream log(path);
  for (std::string line; std::getline(log, line);) {
    const std::size_t name = line.find(' ') + 1, where = line.find(" where=") + 7;
    const std::size_t within = line.find(" within=");
    calls.push_back(line.substr(name, line.find(' ', name) - name) + " " +
                    line.substr(where, line.find(' ', where) - where));
    if (within == std::string::npos) continue;
    calls.back() += line.substr(within, line.find(' ', within + 1) - within);
  }
  return calls;
}

/// What a driver calls by name is the device's, if it has an algorithm for that, and else part of
/// the driver's own line of the log.
TYPED_TEST(Eigen, PartsOfDriversGoTheirOwnWays) {
  using T = TypeParam;
  std::string path = testing::TempDir() + "/overlapack-XXXXXX";
  const int file = mkstemp(path.data());
  ASSERT_NE(file, -1);
  close(file);
  this->send_to_device(path);
  Question q{Kind::trd, 30};
  Data<T> data(with_sizes<T>(q, {30}));
  Question of_merges{Kind::stedc, 30};
  Data<T> merges(with_sizes<T>(of_merges, least_sizes<T>(of_merges)));
  Question of_driver{Kind::evd, 30};
  Data<T> inner(with_sizes<T>(of_driver, least_sizes<T>(of_driver)));
  auto spd = positive_definite<T>(30, 1);
  const auto driver = [&] {
    EXPECT_EQ(data.run(), 0);
    EXPECT_EQ(potrf<T>(Uplo::lower, spd.view()), 0);
    EXPECT_EQ(merges.run(), 0);
    EXPECT_EQ(inner.run(), 0);
    return Index{5};
  };
  const std::size_t row = row_of(is_complex<T> ? "hegvd" : "sygvd");
  const dispatch::EigenCall<T> call{data.a.view()};
  EXPECT_EQ(dispatch::eigen<T>(row, call, std::cref(driver)), 5);
  EXPECT_EQ(data.run(), 0);
  EXPECT_EQ(inner.run(), 0);
  const std::vector<std::string> calls = logged_calls(path);
  unlink(path.c_str());
  const std::string letter(1, ScalarTraits<T>::letter), sy = letter + (is_complex<T> ? "he" : "sy");
  const std::string device = this->device().name();
  const std::vector<std::string> expected = {sy + "trd " + device + " within=" + sy + "gvd",
                                             letter + "potrf " + device + " within=" + sy + "gvd",
                                             letter + "stedc " + device + " within=" + sy + "gvd",
                                             sy + "evd " + device + " within=" + sy + "gvd",
                                             sy + "gvd cpu",
                                             sy + "trd " + device,
                                             sy + "evd " + device};
  EXPECT_EQ(calls, expected);
}

// ---- Other integers -----------------------------------------------------------------------------

/// By the names with 64-bit integers, of whatever the CPU LAPACK has.
TEST(EigenWithWideIntegers, IsThatOfTheCpuLapack) {
  Question q{Kind::evr, 40};
  q = with_sizes<double>(q, least_sizes<double>(q));
  Data<double> theirs(q), ours(q);
  theirs.run(true);
  const std::int64_t n = 40, lda = ours.a.ld(), ldz = ours.z.ld(), none = 1, lwork = q.lwork,
                     liwork = q.liwork;
  std::vector<std::int64_t> support(81, kUntouched), iwork(q.liwork, kUntouched);
  std::int64_t m = kUntouched, info = kUntouched;
  dsyevr_64_("V", "A", "L", &n, ours.a.data(), &lda, &ours.vl, &ours.vu, &none, &none, &ours.abstol,
             &m, ours.w.data(), ours.z.data(), &ldz, support.data(), ours.work.data(), &lwork,
             iwork.data(), &liwork, &info, 1, 1, 1);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(m, 40);
  EXPECT_EQ(ours.w, theirs.w);
  EXPECT_TRUE(same_bits(ours.z, theirs.z));
  EXPECT_EQ(support, std::vector<std::int64_t>(theirs.isuppz.begin(), theirs.isuppz.end()));
  EXPECT_EQ(iwork[0], theirs.iwork[0]);
}

TEST(EigenWithWideIntegers, SizesNeedNotFit32Bits) {
  using T = std::complex<double>;
  const std::int64_t n = 100000, query = kQuery;
  std::int64_t iwork = 0, info = kUntouched;
  T work = 0;
  double rwork = 0;
  zheevd_64_("V", "U", &n, nullptr, &n, nullptr, &work, &query, &rwork, &query, &iwork, &query,
             &info, 1, 1);
  EXPECT_EQ(info, 0);
  EXPECT_GE(work.real(), 1e10);
  EXPECT_GE(rwork, 2e10);
  EXPECT_GE(iwork, 500003);
}

/// The last test of the program, since it takes a routine away for good.
TEST(EigenWithoutACpuLapack, SaysThatNobodyCanDoTheCall) {
  stay_on_cpu();
  const auto& lapack = Data<float>::lapack();
  EXPECT_NE(lapack.source("syevd"), "no library");
  lapack.exclude("syevd", cpu::excluded_count());
  ASSERT_EQ(lapack.source("syevd"), "no library");
  Question q{Kind::evd, 20};
  q = with_sizes<float>(q, least_sizes<float>(q));
  Data<float> data(q), before(q);
  EXPECT_EQ(data.run(), dispatch::kNoMemory);
  EXPECT_TRUE(same_bits(data.a, before.a));
  data.q.lwork = kQuery;
  EXPECT_EQ(data.run(), 0);
  EXPECT_EQ(data.work[0], 921.0f);
  EXPECT_EQ(data.iwork[0], 103);
  data.q = q;
  data.q.n = 0;
  EXPECT_EQ(data.run(), 0);
  EXPECT_EQ(data.work[0], 1.0f);
}

}  // namespace
}  // namespace overlapack
