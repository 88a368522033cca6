// Device memory goes back when no call has used it for a while, and the next call has it again.
#include <dirent.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "dispatch/memory_use.hpp"
#include "dispatch/process_end.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr Index kOrder = 96;

int threads_of_the_process() {
  int threads = -2;  // . and ..
  DIR* const tasks = opendir("/proc/self/task");
  while (readdir(tasks) != nullptr) ++threads;
  closedir(tasks);
  return threads;
}

/// Whether something becomes true in time, on a busy machine as well.
bool becomes_true(const std::function<bool()>& condition) {
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

/// Refuses to give back.
class KeepsAll : public Observer {
 public:
  explicit KeepsAll(bool lost) : lost_(lost) {}
  void before(Action action, const char*, double) override {
    if (action != Action::give_back) return;
    ++refused_;
    throw DeviceError("injected fault", lost_);
  }
  int refused() const { return refused_; }

 private:
  const bool lost_;
  std::atomic<int> refused_{0};
};

class IdleMemory : public RoutedTest {
 protected:
  void TearDown() override {
    // The thread of one test is not to come in the next one.
    dispatch::Context::instance().use_device(nullptr);
    RoutedTest::TearDown();
  }
  void keep(milliseconds time) {
    keep_memory_ = time;
    route(Algorithm::tiled, 16);
  }
  std::size_t held() { return device().pool_use(Space::device).held; }

  /// A call on the device.
  void factor(std::uint64_t seed) {
    const std::size_t before = uploaded();
    const auto a = random_matrix<double>(kOrder, kOrder, seed);
    auto lu = a;
    std::vector<Index> pivots;
    ASSERT_EQ(getrf<double>(lu.view(), pivots), 0);
    ASSERT_TRUE(valid_pivots(pivots, kOrder));
    ASSERT_LT(getrf_residual<double>(a.view(), lu.view(), pivots), kThreshold);
    ASSERT_GT(uploaded(), before);
  }
};

TEST_F(IdleMemory, GoesBackWhenNoCallComes) {
  keep(milliseconds(100));
  for (std::uint64_t round = 1; round <= 3; ++round) {
    factor(round);
    ASSERT_TRUE(becomes_true([this] { return held() == 0; }));
    EXPECT_EQ(device().pool_use(Space::device).leased, 0u);
    EXPECT_GT(device().pool_use(Space::host).held, 0u) << "pages would be locked anew";
  }
}

TEST_F(IdleMemory, StaysWhileCallsCome) {
  constexpr milliseconds kTime(500);
  keep(kTime);
  factor(1);
  const auto begin = Clock::now();
  for (std::uint64_t round = 2; Clock::now() - begin < kTime + kTime / 2; ++round) {
    const auto before = Clock::now();
    std::this_thread::sleep_for(kTime / 10);
    const bool in_time = held() > 0;
    if (Clock::now() - before < kTime / 2) {  // or else the machine is too busy to tell
      EXPECT_TRUE(in_time);
    }
    factor(round);
  }
  EXPECT_TRUE(becomes_true([this] { return held() == 0; }));
}

TEST_F(IdleMemory, GoesBackAtOnce) {
  keep(milliseconds(0));
  factor(1);
  EXPECT_EQ(held(), 0u);
  const int threads = threads_of_the_process();
  auto a = positive_definite<double>(kOrder, 1);
  const OnDevice<double> there(device(), a);
  const std::size_t of_the_program = held();
  EXPECT_GT(lange<double>('1', HostView<const double>(there.view())), 0);
  EXPECT_EQ(held(), of_the_program);
  factor(2);
  EXPECT_EQ(held(), of_the_program);
  EXPECT_LE(threads_of_the_process(), threads);
}

TEST_F(IdleMemory, StaysForEver) {
  keep(dispatch::kForEver);
  factor(1);
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_GT(held(), 0u);
}

TEST_F(IdleMemory, TheThreadEnds) {
  keep(dispatch::kForEver);
  factor(1);
  const int threads = threads_of_the_process();
  keep(milliseconds(50));
  factor(2);
  EXPECT_TRUE(becomes_true([this] { return held() == 0; }));
  EXPECT_TRUE(becomes_true([&] { return threads_of_the_process() <= threads; }));
}

TEST_F(IdleMemory, FaultsInGivingBackDoNoHarm) {
  keep(milliseconds(0));
  KeepsAll refuses(false);
  device().set_observer(&refuses);
  factor(1);
  factor(2);
  EXPECT_EQ(refuses.refused(), 2);
  EXPECT_GT(held(), 0u);
  device().set_observer(nullptr);
  factor(3);
  EXPECT_EQ(held(), 0u);

  KeepsAll loses(true);
  device().set_observer(&loses);
  factor(4);
  EXPECT_EQ(loses.refused(), 1);
  device().set_observer(nullptr);
  EXPECT_EQ(dispatch::Context::instance().device(), nullptr);
  auto a = random_matrix<double>(kOrder, kOrder, 5);
  const auto whole = a;
  std::vector<Index> pivots;
  EXPECT_EQ(getrf<double>(a.view(), pivots), 0);  // by the CPU
  EXPECT_LT(getrf_residual<double>(whole.view(), a.view(), pivots), kThreshold);
}

TEST_F(IdleMemory, ALostDeviceIsLeftAlone) {
  keep(milliseconds(50));
  factor(1);
  const std::size_t before = held();
  dispatch::Context::instance().lose_device("a test");
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(held(), before);
}

TEST_F(IdleMemory, NothingGoesBackAtTheEndOfTheProcess) {
  if (!device().emulated()) GTEST_SKIP() << "the GPU's device is also that of other tests";
  keep(dispatch::kForEver);
  factor(1);
  const std::size_t before = held();
  ASSERT_GT(before, 0u);
  static ProcessEnd end;
  device().heed(end);
  end.begun = true;
  dispatch::Context::instance().give_back_memory();
  EXPECT_EQ(held(), before);
}

/// Calls begin and end while their memory goes back.
TEST_F(IdleMemory, CallsMayComeAtAnyTime) {
  for (const int time : {0, 1, 3}) {
    keep(milliseconds(time));
    const double worst = worst_in_two_threads([](std::size_t thread, std::uint64_t round) {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * ((round + thread) % 7)));
      const auto a = random_matrix<double>(kOrder, kOrder, 10 * round + thread);
      auto lu = a;
      std::vector<Index> pivots;
      if (getrf<double>(lu.view(), pivots) != 0) return HUGE_VAL;
      return getrf_residual<double>(a.view(), lu.view(), pivots);
    });
    EXPECT_LT(worst, kThreshold) << time;
    EXPECT_TRUE(becomes_true([this] { return held() == 0; })) << time;
  }
}

}  // namespace
}  // namespace overlapack
