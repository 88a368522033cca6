// Host memory that runs out at any point of a call: the caller still gets LAPACK's answer, or,
// where there is no memory left at all, an info that says so.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapters/call.hpp"
#include "algorithms/update/on_cpu.hpp"
#include "algorithms/update/rank_one.hpp"
#include "cpu/condition.hpp"
#include "cpu/reference.hpp"
#include "dispatch/calls.hpp"
#include "exported.hpp"
#include "host/thread_memory.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"
#include "support/scarce_memory.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using T = double;
using Integer = std::int32_t;
using Lapack = compat::Exported<T>;

constexpr Integer kOrder = 100, kColumns = 3, kLd = 101;
constexpr char kLower = 'L', kNoTranspose = 'N', kFrobenius = 'F', kMax = 'M';

class OutOfMemory : public RoutedTest {
 protected:
  void TearDown() override {
    RecordProperty("requests", refused_);  // for scripts/count-promises
    RoutedTest::TearDown();
  }
  /// Runs `body` with the first, second, ... request for memory refused, until one run gets by with
  /// fewer; then again with all later ones refused, too.
  void at_every_request(const std::function<void()>& body) {
    log_calls();
    body();  // in peace, for what the first call makes once and for all
    for (const bool for_good : {false, true}) {
      for_good_ = for_good;
      for (at_ = 1;; ++at_) {
        SCOPED_TRACE(testing::Message()
                     << "request " << at_ << (for_good ? " and all later ones" : ""));
        if (fresh_device_) device_ = open_device_under_test();  // that has no memory in reserve
        log_calls();
        body();
        if (testing::Test::HasFailure()) return;  // one report is enough
        if (requests_ < at_) break;
        ++refused_;
      }
      EXPECT_GT(at_, fewest_requests_) << "the call did not reach the device";
    }
  }
  /// The part of `body` in which memory is scarce.
  template <class Call>
  void scarcely(Call call) {
    const ScarceMemory memory(at_, for_good_);
    call();
    requests_ = memory.count();
  }
  bool refused_for_good() const { return for_good_; }
  /// Whether the call is done. It must be if memory was short only once.
  bool done(Index info) {
    const bool refused = for_good_ && info == dispatch::kNoMemory;
    EXPECT_EQ(info, refused ? dispatch::kNoMemory : 0);
    return info == 0;
  }

  Padded<T> a_ = random_matrix<T>(kOrder, kOrder, 1, kLd - kOrder);
  Padded<T> spd_ = positive_definite<T>(kOrder, 1, kLd - kOrder);
  Padded<T> b_ = random_matrix<T>(kOrder, kColumns, 2, kLd - kOrder);
  Integer pivots_[kOrder], info_ = -1;
  bool fresh_device_ = true;   // for every run
  long fewest_requests_ = 10;  // a call that reaches the device makes more

 private:
  void log_calls() {
    dispatch::Settings settings = settings_for(dispatch::Algorithm::tiled, 16);
    settings.verbose = true;
    settings.log = "/dev/null";
    use(settings);
  }

  long at_ = 0, requests_ = 0;
  int refused_ = 0;
  bool for_good_ = false;
};

TEST_F(OutOfMemory, Gesv) {
  at_every_request([&] {
    auto factor = a_, x = b_;
    scarcely([&] {
      Lapack::gesv(&kOrder, &kColumns, factor.data(), &kLd, pivots_, x.data(), &kLd, &info_);
    });
    if (!done(info_)) return;
    const std::vector<Index> pivots(pivots_, pivots_ + kOrder);
    EXPECT_LT(getrf_residual<T>(a_.view(), factor.view(), pivots), kThreshold);
    EXPECT_LT(solve_residual(Op::none, a_, x, b_), kThreshold);
  });
}

TEST_F(OutOfMemory, Posv) {
  at_every_request([&] {
    auto factor = spd_, x = b_;
    scarcely([&] {
      Lapack::posv(&kLower, &kOrder, &kColumns, factor.data(), &kLd, x.data(), &kLd, &info_, 1);
    });
    if (!done(info_)) return;
    EXPECT_LT(potrf_residual<T>(Uplo::lower, spd_.view(), factor.view()), kThreshold);
    EXPECT_LT(solve_residual(Op::none, spd_, x, b_), kThreshold);
  });
}

TEST_F(OutOfMemory, Getrs) {
  auto factor = a_;
  Index pivots[kOrder];
  reference::getrf(factor.view(), pivots);
  std::copy_n(pivots, kOrder, pivots_);
  at_every_request([&] {
    auto x = b_;
    scarcely([&] {
      Lapack::getrs(&kNoTranspose, &kOrder, &kColumns, factor.data(), &kLd, pivots_, x.data(), &kLd,
                    &info_, 1);
    });
    if (!done(info_)) return;
    EXPECT_LT(solve_residual(Op::none, a_, x, b_), kThreshold);
  });
}

TEST_F(OutOfMemory, Gecon) {
  auto factor = a_;
  Index pivots[kOrder];
  reference::getrf(factor.view(), pivots);
  const T norm = 1, expected = reference::gecon<T>(Norm::one, factor.view(), norm);
  std::vector<T> work(4 * kOrder);
  Integer iwork[kOrder];
  at_every_request([&] {
    const char one = '1';
    T rcond = -1;
    scarcely([&] {
      Lapack::gecon(&one, &kOrder, factor.data(), &kLd, &norm, &rcond, work.data(), iwork, &info_,
                    1);
    });
    if (!done(info_)) return;
    EXPECT_NEAR(rcond, expected, 1e-6 * expected);
  });
}

TEST_F(OutOfMemory, Getri) {
  auto factor = a_;
  Index pivots[kOrder];
  reference::getrf(factor.view(), pivots);
  std::copy_n(pivots, kOrder, pivots_);
  std::vector<T> work(kOrder);
  at_every_request([&] {
    auto x = factor;
    scarcely(
        [&] { Lapack::getri(&kOrder, x.data(), &kLd, pivots_, work.data(), &kOrder, &info_); });
    if (!done(info_)) return;
    EXPECT_LT(inverse_residual<T>(a_, x), kThreshold);
  });
}

TEST_F(OutOfMemory, Potri) {
  const char upper = 'U';
  auto factor = spd_;
  reference::potrf<T>(Uplo::upper, factor.view());
  at_every_request([&] {
    auto x = factor;
    scarcely([&] { Lapack::potri(&upper, &kOrder, x.data(), &kLd, &info_, 1); });
    if (!done(info_)) return;
    const auto whole = widen_hermitian<T>(Uplo::upper, x.view());
    EXPECT_LT(inverse_residual<T>(widen<T>(spd_.view()), whole), kThreshold);
  });
}

TEST_F(OutOfMemory, MixedGesv) {
  // Three blocks: such a call makes some requests for each.
  const Integer n = 48, ld = 49;
  Padded<T> a = random_matrix<T>(n, n, 1, ld - n);
  Padded<T> b = random_matrix<T>(n, kColumns, 2, ld - n);
  std::vector<T> work(n * kColumns);
  std::vector<float> swork(n * (n + kColumns));
  for (const bool falls_back : {false, true}) {
    if (falls_back) a(10, 20) = 1e300;
    at_every_request([&] {
      auto factor = a, x = b;
      Integer iter = 0;
      scarcely([&] {
        Lapack::sgesv(&n, &kColumns, factor.data(), &ld, pivots_, b.data(), &ld, x.data(), &ld,
                      work.data(), swork.data(), &iter, &info_);
      });
      if (!done(info_)) return;
      EXPECT_EQ(iter < 0, falls_back);
      EXPECT_LT(solve_residual(Op::none, a, x, b), kThreshold);
    });
  }
}

TEST_F(OutOfMemory, Cholupdate) {
  auto before = spd_, after = spd_;
  reference::potrf<T>(Uplo::lower, before.view());
  reference::herk<T>(Uplo::lower, Op::none, 1, b_.view(), 1, after.view());
  at_every_request([&] {
    auto factor = before;
    std::int64_t info = -1;
    scarcely([&] {
      Lapack::cholupdate(kLower, kOrder, kColumns, factor.data(), kLd, b_.data(), kLd, 1, &info);
    });
    if (!done(info)) return;
    EXPECT_LT(potrf_residual<T>(Uplo::lower, after.view(), factor.view()), kThreshold);
  });
}

TEST_F(OutOfMemory, UpdatesByOneVector) {
  auto before = spd_, after = spd_;
  reference::potrf<T>(Uplo::upper, before.view());
  const auto v = b_.view().block(0, 0, kOrder, 1);
  reference::herk<T>(Uplo::upper, Op::none, 1, v, 1, after.view());
  std::vector<T> cosines(kOrder);
  at_every_request([&] {
    auto factor = before, x = b_;
    scarcely([&] { Lapack::ch1up(&kOrder, factor.data(), &kLd, x.data(), cosines.data()); });
    EXPECT_LT(potrf_residual<T>(Uplo::upper, after.view(), factor.view()), kThreshold);
    x = b_;
    scarcely(
        [&] { Lapack::ch1dn(&kOrder, factor.data(), &kLd, x.data(), cosines.data(), &info_); });
    constexpr Integer kNotDefinite = 1;  // the worst that qrupdate can report
    if (info_ == kNotDefinite) info_ = dispatch::kNoMemory;
    if (!done(info_)) return;
    EXPECT_LT(potrf_residual<T>(Uplo::upper, spd_.view(), factor.view()), kThreshold);
  });
}

TEST_F(OutOfMemory, NormOfAMatrixOnTheDevice) {
  fresh_device_ = false;
  fewest_requests_ = 1;  // nobody but the device can have found the norm
  const OnDevice<T> there(device(), a_);
  std::vector<T> work(kOrder);
  const T expected = Lapack::lange(&kFrobenius, &kOrder, &kOrder, a_.data(), &kLd, work.data(), 1);
  at_every_request([&] {
    T result = -1;
    scarcely([&] {
      result =
          Lapack::lange(&kFrobenius, &kOrder, &kOrder, there.view().data, &kLd, work.data(), 1);
    });
    if (refused_for_good() && std::isnan(result)) return;
    EXPECT_NEAR(result, expected, 1e-12 * expected);
  });
}

TEST_F(OutOfMemory, NormOfALargeMatrixOnTheHost) {
  constexpr Integer kLarge = 600;
  fewest_requests_ = 1;
  auto a = random_matrix<T>(kLarge, kLarge, 1);
  a(kLarge - 1, 1) = 1000;
  std::vector<T> work(kLarge);
  at_every_request([&] {
    T result = -1;
    scarcely([&] {
      result = Lapack::lansy(&kMax, &kLower, &kLarge, a.data(), &kLarge, work.data(), 1, 1);
    });
    EXPECT_EQ(result, 1000);  // the CPU LAPACK needs no memory
  });
}

TEST(ThreadMemoryTest, IsTheThreadsOwn) {
  static ThreadMemory memory, other;
  void* const here = memory.get(1000);
  ASSERT_NE(here, nullptr);
  EXPECT_EQ(memory.get(1000), here);
  EXPECT_NE(other.get(1000), here);
  void* there = nullptr;
  std::thread([&] {
    there = memory.get(1000);
    EXPECT_EQ(memory.get(1000), there);
  }).join();
  EXPECT_NE(there, nullptr);
  EXPECT_NE(there, here);
}

TEST(ThreadMemoryTest, IsNotThereWithoutMemory) {
  static ThreadMemory memory;
  for (const long at : {1, 2, 1}) {  // for the key, for the memory, and with the key there
    const ScarceMemory scarce(at);
    EXPECT_EQ(memory.get(1000), nullptr);
  }
  EXPECT_NE(memory.get(1000), nullptr);
}

TEST(CholUpdateOnTheCpu, LeavesTheFactorWithoutMemory) {
  using Z = std::complex<double>;
  const auto& cpu = cpu::lapack<Z>(cpu::Family::lp64);
  auto given = positive_definite<Z>(20, 1, 2);
  reference::potrf<Z>(Uplo::lower, given.view());
  given(3, 3) += Z(0, 1);  // which counts as zero
  auto v = random_matrix<Z>(20, 2, 2);
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 2; ++j) v(i, j) *= 0.01;  // so that they may be taken away
  }
  const int all_signs[][2] = {{1, 1}, {-1, -1}, {1, -1}};
  for (const bool singular : {false, true}) {
    if (singular) given(19, 19) = 0;
    for (const auto& signs : all_signs) {
      SCOPED_TRACE(testing::Message() << signs[0] << signs[1] << singular);
      bool done = false;
      for (long at = 1; !done; ++at) {
        auto factor = given;
        try {
          const ScarceMemory scarce(at);
          algorithms::chol_update<Z>(cpu, Uplo::lower, factor.view(), v.view(),
                                     algorithms::Signs(signs, true), 1);
          done = true;
        } catch (const std::bad_alloc&) {
          ASSERT_TRUE(same_bits(factor, given)) << at;
        }
        ASSERT_TRUE(done || at < 1000);
        if (done) {
          EXPECT_GT(at, 1);
        }
      }
    }
  }
}

TEST(CholUpdateOnTheCpu, RotatesWithoutMemory) {
  using Z = std::complex<double>;
  const Index n = 300;
  auto given = positive_definite<Z>(n, 1, 2);
  reference::potrf<Z>(Uplo::upper, given.view());
  const auto row = random_matrix<Z>(n, 1, 2);
  const auto rotate = [&](long refused, Padded<Z>& factor, Padded<Z>& x, std::vector<double>& c) {
    auto back = row;
    const ScarceMemory scarce(refused, true);
    algorithms::update_one<Z>(factor.view(), x.data(), c.data(), 1);
    EXPECT_EQ(algorithms::downdate_one<Z>(factor.view(), back.data(), c.data(), 1),
              algorithms::Downdate::done);
    return scarce.count();
  };
  auto factor = given, x = row;
  std::vector<double> c(static_cast<std::size_t>(n));
  const long requests = rotate(1000000, factor, x, c);
  EXPECT_GT(requests, 4);
  for (long at = 1; at <= requests; ++at) {
    auto other = given, other_x = row;
    std::vector<double> other_c(c.size());
    rotate(at, other, other_x, other_c);
    for (Index j = 0; j < n; ++j) {
      EXPECT_LT(std::abs(other_x(j, 0) - x(j, 0)), 1e-11) << at;
      EXPECT_LT(std::abs(other_c[static_cast<std::size_t>(j)] - c[static_cast<std::size_t>(j)]),
                1e-11);
      for (Index i = 0; i <= j; ++i) {
        ASSERT_LT(std::abs(other(i, j) - given(i, j)), 1e-9) << at;
      }
    }
  }
}

TEST(FirstCall, SaysThatThereIsNoMemory) {  // to find out who calls
  const auto adapter = [](compat::Caller, Integer* info) { *info = 0; };
  const compat::LapackEntry<T, decltype(adapter)> entry{{cpu::Family::lp64, "gesv"}, adapter};
  Integer info = -1;
  for (long at = 1; info != 0; ++at) {
    const ScarceMemory scarce(at, false);
    entry(&info);
    ASSERT_EQ(info, ScarceMemory::count() < at ? 0 : dispatch::kNoMemory) << at;
    if (info == 0) {
      EXPECT_GT(at, 1);
    }
  }
}

TEST(FirstCall, AProfileIsReadAsAWholeOrNotAtAll) {
  const std::string text = "dpotrf 384   # as measured by hand\ndgetrf 512\n";
  const auto as_written = [](const dispatch::Profile& profile) {
    return profile.at(dispatch::Routine::potrf, 'd') == 384 &&
           profile.at(dispatch::Routine::getrf, 'd') == 512;
  };
  bool read = false;
  for (long at = 1; !read; ++at) {
    ASSERT_LT(at, 1000);
    std::string complaint;
    std::optional<dispatch::Profile> profile;
    try {
      const ScarceMemory scarce(at, false);
      profile = dispatch::parse_profile(text, complaint);
      read = ScarceMemory::count() < at;
    } catch (const std::bad_alloc&) {
      continue;
    }
    ASSERT_TRUE(profile && as_written(*profile)) << at << " " << complaint;
  }
}

TEST_F(RoutedTest, ALineOfTheLogIsWholeOrAbsent) {
  dispatch::Settings settings;
  settings.device = dispatch::DeviceChoice::off;
  settings.verbose = true;
  settings.log = testing::TempDir() + "scarce_memory.log";
  dispatch::Context::instance().reset(settings, dispatch::builtin_profile());
  std::remove(settings.log.c_str());
  const auto a = random_matrix<T>(20, 20, 1);
  bool enough = false;
  for (long at = 1; !enough; ++at) {
    ASSERT_LT(at, 1000);
    auto factor = a;
    Integer pivots[20], info = -1;
    const Integer n = 20, ld = static_cast<Integer>(factor.ld());
    const ScarceMemory scarce(at, false);
    Lapack::getrf(&n, &n, factor.data(), &ld, pivots, &info);
    enough = ScarceMemory::count() < at;
  }
  std::ifstream log(settings.log);
  Index lines = 0;
  for (std::string line; std::getline(log, line); ++lines) {
    EXPECT_EQ(line.rfind("overlapack dgetrf m=20 ", 0), 0) << line;
    EXPECT_NE(line.find(" why=\""), std::string::npos) << line;
    EXPECT_EQ(line.back(), '"') << line;
  }
  EXPECT_GT(lines, 0);
  std::remove(settings.log.c_str());
}

static int info_of_first_call = 0;

TEST(FirstCall, ANormIsNotANumber) {
  const auto adapter = [](compat::Caller) -> float { throw std::bad_alloc(); };
  const compat::LapackEntry<T, decltype(adapter)> entry{{cpu::Family::lp64, "lange"}, adapter};
  EXPECT_TRUE(std::isnan(entry()));
}

/// The C library stands for a LAPACK that has a driver and the routine which that calls.
TEST(FirstCall, ADriverOfALapackGetsItsOwnRoutine) {
  const auto adapter = [](compat::Caller, long) -> long { throw std::bad_alloc(); };
  using Entry = compat::LapackEntry<T, decltype(adapter)>;
  const void* const driver = dlsym(RTLD_DEFAULT, "labs");
  const Entry entry{{cpu::Family::lp64, "potrf", driver, 0, "labs"}, adapter};
  EXPECT_EQ(entry(-5L), 5);
  EXPECT_EQ(cpu::own_definition(driver, "no_such_function"), nullptr);
  EXPECT_EQ(cpu::own_definition(&info_of_first_call, "info_of_first_call"), nullptr) << "is ours";
}

}  // namespace
}  // namespace overlapack
