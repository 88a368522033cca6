// The start of the device beside the calls of a program. Its plug-in is support/slow_plugin.cpp,
// which lies beside this program. Whole programs: tests/clients/check_start.py.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "dispatch/start.hpp"
#include "support/child.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using namespace dispatch;

constexpr double kLong = 30;  // seconds, which no test takes

/// Whether something comes true in time.
template <class Condition>
bool comes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// ---- What is decided ----------------------------------------------------------------------

Shape square(Index n) { return {n, n, 0}; }

TEST(StartPolicy, TheTimeOfTheCpuIsEstimatedUntilItIsKnown) {
  const auto seconds = [](char type, Index n, Index cores, const CpuWork& before = {}) {
    return cpu_seconds(Routine::potrf, type, square(n), before, cores);
  };
  // OpenBLAS on 16 cores (bench/RESULTS.md).
  EXPECT_NEAR(seconds('d', 4096, 16), 0.067, 0.02);
  EXPECT_NEAR(seconds('d', 16384, 16), 2.9, 0.9);
  EXPECT_GT(seconds('d', 4096, 2), 7 * seconds('d', 4096, 16));
  EXPECT_LT(seconds('s', 8192, 8), 0.7 * seconds('d', 8192, 8));
  EXPECT_GT(seconds('z', 8192, 8), 3 * seconds('d', 8192, 8));
  const double flops = flops_of(Routine::potrf, 'd', square(4096));
  EXPECT_NEAR(seconds('d', 4096, 16, {4, 2 * flops}), 2, 1e-9);
  EXPECT_NEAR(seconds('s', 4096, 16, {4, 2 * flops}), 1, 1e-9);
  EXPECT_GT(cpu_seconds(Routine::getrs, 'd', {0, 0, 0}, {}, 1), -1);  // and a number
}

TEST(StartPolicy, TheFirstToBeDoneServesACall) {
  const double usual = seconds_left(0);
  EXPECT_EQ(usual, kStartSeconds);
  EXPECT_EQ(choose(5, 0, usual), Choice::wait);
  EXPECT_EQ(choose(kStartSeconds / 2, 0, usual), Choice::cpu);
  EXPECT_EQ(choose(kStartSeconds / 2, kSecondsBeforeStart / 2, usual), Choice::behind);
  EXPECT_EQ(choose(0.001, 0, usual), Choice::cpu);
  EXPECT_EQ(choose(0.001, kSecondsBeforeStart, usual), Choice::behind);
  EXPECT_EQ(choose(0.1, 1, seconds_left(kStartSeconds - 0.01)), Choice::behind);
  EXPECT_EQ(choose(0.4, 1, seconds_left(kStartSeconds - 0.01)), Choice::wait);
}

TEST(StartPolicy, AStartThatTakesTooLongIsExpectedToTakeLonger) {
  EXPECT_GT(seconds_left(2), 0.4);
  EXPECT_GT(seconds_left(100), seconds_left(10));
  EXPECT_EQ(choose(1, 5, seconds_left(10)), Choice::behind);
}

TEST(StartPolicy, TheUserMayWantItAtOnce) {
  Settings settings;
  EXPECT_FALSE(starts_at_once(settings));
  settings.min_n = 1;
  EXPECT_TRUE(starts_at_once(settings));
  settings.min_n.reset();
  settings.device = DeviceChoice::cuda;
  EXPECT_TRUE(starts_at_once(settings));
}

// ---- The life of a start ------------------------------------------------------------------

/// A start that a test lets go on. Never destroyed, as that of a process: its thread may be the
/// last one to use it.
struct HeldStart {
  static HeldStart& make() { return *new HeldStart; }
  Start start;
  std::atomic<bool> goes_on{false}, worth_it{true};
  std::atomic<int> begun{0}, given_up{0};
  Start::Behind behind() {
    return {[this] { return worth_it.load(); },
            [this] {
              ++begun;
              comes_true([this] { return goes_on.load(); });
              start.end();
            },
            [this] { ++given_up; }};
  }
};

TEST(LifeOfAStart, AThreadMakesItOnce) {
  HeldStart& held = HeldStart::make();
  EXPECT_EQ(held.start.elapsed(), 0);
  EXPECT_TRUE(held.start.begin_behind(0, held.behind()));
  EXPECT_TRUE(held.start.begin_behind(0, held.behind()));
  ASSERT_TRUE(comes_true([&] { return held.start.under_way(); }));
  EXPECT_GE(held.start.elapsed(), 0);
  EXPECT_FALSE(held.start.wait(0.01)) << "it hangs";
  EXPECT_FALSE(held.start.over());
  held.goes_on = true;
  EXPECT_FALSE(held.start.begin_or_wait());
  EXPECT_TRUE(held.start.over());
  EXPECT_TRUE(held.start.begin_behind(0, held.behind()));
  EXPECT_EQ(held.begun, 1);
}

TEST(LifeOfAStart, WhoeverWaitsEndsTheDelay) {
  HeldStart& held = HeldStart::make();
  held.worth_it = false;  // is not asked then
  held.goes_on = true;
  EXPECT_TRUE(held.start.begin_behind(kLong, held.behind()));
  EXPECT_LT(held.start.elapsed(), 0);
  EXPECT_FALSE(held.start.under_way());
  EXPECT_TRUE(held.start.wait(kLong));
  EXPECT_EQ(held.begun, 1);
}

TEST(LifeOfAStart, AfterTheDelayItMayNotBeWorthIt) {
  HeldStart& held = HeldStart::make();
  held.worth_it = false;
  EXPECT_TRUE(held.start.begin_behind(0.01, held.behind()));
  ASSERT_TRUE(comes_true([&] { return held.given_up == 1; }));
  EXPECT_FALSE(held.start.over());
  EXPECT_EQ(held.begun, 0);
  held.worth_it = held.goes_on = true;
  EXPECT_TRUE(held.start.begin_behind(0.01, held.behind()));
  EXPECT_TRUE(comes_true([&] { return held.start.over(); }));
}

TEST(LifeOfAStart, ACallerMayTakeItFromAThreadThatWaitsForItsTime) {
  HeldStart& held = HeldStart::make();
  EXPECT_TRUE(held.start.begin_behind(0.05, held.behind()));
  EXPECT_TRUE(held.start.begin_or_wait());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(held.begun, 0);
  held.start.end();
  EXPECT_TRUE(held.start.over());
}

// ---- Calls of a process whose device starts beside them -----------------------------------

class StartBesideCalls : public testing::Test {
 protected:
  void SetUp() override {
    log_ = testing::TempDir() + "/overlapack_start_" + std::to_string(getpid());
    settings_.verbose = true;
    settings_.log = log_;
    settings_.keep_memory = kForEver;
    forget();
  }
  void TearDown() override {
    forget();
    unlink(log_.c_str());
  }
  /// The next call is like the first one of a process: there is no CUDA in it, either.
  void forget() {
    Profile profile = builtin_profile();
    for (const Routine routine : {Routine::potrf, Routine::getrf}) profile.set(routine, 'd', 50);
    Settings off;
    off.device = DeviceChoice::off;
    context().reset(off, profile);
    context().reset(settings_, profile);
    while (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      for (int reference = 0; reference < 2; ++reference) dlclose(driver);  // this one and another
    }
    unlink(log_.c_str());
  }
  static Context& context() { return Context::instance(); }
  /// As if the CPU had served calls for so long, at so many operations per second.
  static void spend(double seconds, double speed = 1e9) {
    context().begin_before_start();
    context().end_before_start({seconds, seconds * speed});
  }
  /// The CPU is believed to be so slow that a call of this order is better to wait for the device.
  static constexpr Index kLongCall = 140;
  static void believe_in_slow_calls() {
    constexpr double kSpeed = 1e6;
    spend(1e-3, kSpeed);
    ASSERT_GT(flops_of(Routine::potrf, 'd', square(kLongCall)), kStartSeconds * kSpeed);
  }
  static bool factors_rightly(Index n = 100) {
    const auto a = positive_definite<double>(n, 1);
    auto factor = a;
    return potrf<double>(Uplo::lower, factor.view()) == 0 &&
           potrf_residual<double>(Uplo::lower, a.view(), factor.view()) < kThreshold;
  }
  /// Of the calls so far, one after the other, where they went: "cpu cpu host".
  std::string where() {
    std::istringstream lines(text());
    std::string all;
    for (std::string line; std::getline(lines, line);) {
      const auto at = line.find("where=") + 6;
      all += (all.empty() ? "" : " ") + line.substr(at, line.find(' ', at) - at);
    }
    return all;
  }
  std::string text() {
    std::ostringstream all;
    all << std::ifstream(log_).rdbuf();
    return all.str();
  }
  static void start_takes(const char* how) { setenv("FAKE_START", how, 1); }
  static bool is_over() {
    return comes_true([] { return context().opened(); });
  }

  Settings settings_;
  std::string log_;
};

TEST_F(StartBesideCalls, TheCpuServesThemUntilTheDeviceIsThere) {
  start_takes("200");
  EXPECT_TRUE(factors_rightly());
  EXPECT_NE(text().find("starting the device takes longer"), std::string::npos) << text();
  EXPECT_FALSE(context().forked());
  spend(kSecondsBeforeStart);
  EXPECT_TRUE(factors_rightly());
  EXPECT_TRUE(factors_rightly());
  EXPECT_NE(text().find("the device is being started"), std::string::npos) << text();
  ASSERT_TRUE(is_over());
  Device* const device = context().device();
  ASSERT_NE(device, nullptr) << context().device_status();
  EXPECT_GT(device->counters().kernels, 0u) << "it has not been prepared";
  EXPECT_TRUE(factors_rightly());
  EXPECT_EQ(where(), "cpu cpu cpu host");
  EXPECT_EQ(context().device_status(), "host (emulated device)");
}

TEST_F(StartBesideCalls, MemoryThatItTakesGoesBack) {
  settings_.keep_memory = std::chrono::milliseconds(0);
  forget();
  start_takes("0");
  spend(kSecondsBeforeStart);
  EXPECT_TRUE(factors_rightly());
  ASSERT_TRUE(is_over());
  Device* const device = context().device();
  ASSERT_NE(device, nullptr) << context().device_status();
  EXPECT_GT(device->counters().kernels, 0u) << "it has not been prepared";
  EXPECT_EQ(device->pool_use(Space::device).held, 0u);
}

TEST_F(StartBesideCalls, ALongCallWaits) {
  start_takes("100");
  believe_in_slow_calls();
  EXPECT_TRUE(factors_rightly(kLongCall));
  EXPECT_EQ(where(), "host");
  EXPECT_NE(context().device(), nullptr);
}

TEST_F(StartBesideCalls, ButNotWithoutEnd) {
  start_takes("1500");
  believe_in_slow_calls();
  EXPECT_TRUE(factors_rightly(kLongCall));
  EXPECT_EQ(where(), "cpu");
  EXPECT_FALSE(context().opened());
}

TEST_F(StartBesideCalls, ADeviceThatTheUserHasNamedIsWaitedFor) {
  start_takes("200");
  settings_.device = DeviceChoice::cuda;
  forget();
  EXPECT_TRUE(factors_rightly());
  settings_.device = DeviceChoice::automatic;
  settings_.min_n = 50;
  forget();
  EXPECT_TRUE(factors_rightly());
  EXPECT_EQ(where(), "host");
}

TEST_F(StartBesideCalls, AFailureLeavesAllToTheCpu) {
  start_takes("fail");
  spend(kSecondsBeforeStart);
  EXPECT_TRUE(factors_rightly());
  ASSERT_TRUE(is_over());
  EXPECT_TRUE(factors_rightly());
  EXPECT_EQ(where(), "cpu cpu");
  EXPECT_NE(text().find("no device: the driver does not work"), std::string::npos) << text();
}

TEST_F(StartBesideCalls, IsGivenUpIfTheCallIsOverFirst) {
  start_takes("0");
  spend(kSecondsBeforeStart / 2, 1e6);
  EXPECT_TRUE(factors_rightly(100));
  EXPECT_NE(text().find("the device is being started"), std::string::npos) << text();
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * kSecondsBeforeStart));
  EXPECT_FALSE(context().opened());
  expect_in_child(10, [] { return !context().forked(); });
}

TEST_F(StartBesideCalls, ThreadsMayCallAtOnce) {
  start_takes("100");
  spend(kSecondsBeforeStart);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      do {
        wrong += !factors_rightly();
      } while (!context().opened());
      wrong += !factors_rightly();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const std::string all = where();
  EXPECT_NE(all.find("cpu"), std::string::npos);
  EXPECT_NE(all.find("host"), std::string::npos);
}

/// While it lives, no thread can be made.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t attributes = before_;
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 47);  // more than can be addressed
    pthread_setattr_default_np(&attributes);
  }
  ~NoMoreThreads() { pthread_setattr_default_np(&before_); }
  NoMoreThreads(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST_F(StartBesideCalls, ThereMayBeNoThreadForIt) {
  start_takes("0");
  const NoMoreThreads no_more;
  spend(kSecondsBeforeStart);
  EXPECT_TRUE(factors_rightly());
  EXPECT_EQ(where(), "cpu");
  EXPECT_NE(text().find("there is no thread"), std::string::npos) << text();
  EXPECT_FALSE(context().opened());
  forget();
  believe_in_slow_calls();
  EXPECT_TRUE(factors_rightly(kLongCall));
  EXPECT_EQ(where().substr(0, 4), "host") << "the CPU may finish it, as copies take threads, too";
}

TEST_F(StartBesideCalls, AChildOfThatTimeIsServedByTheCpu) {
  start_takes("300");
  spend(kSecondsBeforeStart);
  EXPECT_TRUE(factors_rightly());
  for (int child = 0; child < 20; ++child) {
    expect_in_child(10, [] {
      return factors_rightly() && context().forked() && context().device() == nullptr;
    });
  }
  ASSERT_TRUE(is_over());
  EXPECT_TRUE(factors_rightly());
  EXPECT_NE(where().find("cpu host"), std::string::npos) << where();
}

}  // namespace
}  // namespace overlapack
