// The symmetric eigenproblem by the exported names: drivers, and what they are made of. On the CPU
// all is the CPU LAPACK's, called with the caller's arguments; so results are compared with it bit
// by bit. What the device does is tested elsewhere (test_drivers.cpp, test_syevd.cpp,
// test_sytrd.cpp, test_stedc.cpp).
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
#include "support/eigen_calls.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using namespace testing_support::eigen;
using cpu::EigenSizes;

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
      if (logged && !has_algorithm(q)) continue;
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
    OnDevice<T> a(this->device(), data.a), z(this->device(), data.z);
    if (has_algorithm(q)) continue;
    data.instead_of_a = a.view().data;
    EXPECT_EQ(data.run(), dispatch::kNoMemory);
    data.instead_of_a = nullptr;
    if (q.kind != Kind::mtr) continue;
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
  stay_on_cpu();
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
