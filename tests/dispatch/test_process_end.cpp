// The end of the process while a call is on the device. How whole programs leave:
// tests/clients/check_exit.py.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "cpu/reference.hpp"
#include "dispatch/process_end.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

/// Does something from the `at`-th action on, counted from 1.
class At : public Observer {
 public:
  At(Index at, std::function<void()> act) : at_(at), act_(std::move(act)) {}
  void before(Action, const char*, double) override {
    if (++count_ >= at_) act_();
  }

 private:
  const Index at_;
  const std::function<void()> act_;
  std::atomic<Index> count_{0};
};

class AtProcessEnd : public RoutedTest {
 protected:
  /// The end begins at some actions of `call`, each time on another device: this one drops its
  /// work.
  void at_many_actions(const std::function<void()>& call) {
    for (const Algorithm algorithm : kAllAlgorithms) {
      Index at = 1;
      for (bool ended = true; ended; at += 5) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm) << ", end at action " << at);
        device_ = open_device_under_test();
        route(algorithm, 16);
        ProcessEnd end;
        device().heed(end);
        At observer(at, [&end] { end.begun = true; });
        device().set_observer(&observer);
        call();
        device().set_observer(nullptr);
        if (HasFailure()) return;
        ended = end.begun;
      }
      EXPECT_GT(at, 30) << "the call did not reach the device";
    }
  }
};

TEST_F(AtProcessEnd, TheCpuSolves) {
  const auto a = random_matrix<double>(100, 100, 1, 3);
  const auto whole = widen<double>(a.view());
  const auto b = random_matrix<double>(100, 20, 2, 1);
  at_many_actions([&] {
    auto factor = a;
    auto x = b;
    std::vector<Index> pivots;
    EXPECT_EQ(gesv<double>(factor.view(), pivots, x.view()), 0);
    ASSERT_TRUE(valid_pivots(pivots, 100));
    EXPECT_LT(getrf_residual<double>(a.view(), factor.view(), pivots), kThreshold);
    EXPECT_LT(solve_residual(Op::none, whole, x, b), kThreshold);
  });
}

TEST_F(AtProcessEnd, TheCpuFactors) {
  const auto a = positive_definite<double>(100, 1, 3);
  at_many_actions([&] {
    auto factor = a;
    EXPECT_EQ(potrf<double>(Uplo::upper, factor.view()), 0);
    EXPECT_LT(potrf_residual<double>(Uplo::upper, a.view(), factor.view()), kThreshold);
  });
}

TEST_F(AtProcessEnd, TheCpuUpdates) {
  auto larger = positive_definite<double>(100, 1, 3);
  auto before = larger;
  const auto v = random_matrix<double>(100, 3, 2, 1);
  reference::herk<double>(Uplo::lower, Op::none, 1, v.view(), 1, larger.view());
  reference::potrf<double>(Uplo::lower, before.view());
  at_many_actions([&] {
    auto factor = before;
    Index info = -1;
    Exported<double>::cholupdate('L', 100, 3, factor.data(), factor.ld(), v.view().data, v.ld(), 1,
                                 &info);
    EXPECT_EQ(info, 0);
    EXPECT_LT(potrf_residual<double>(Uplo::lower, larger.view(), factor.view()), kThreshold);
  });
}

/// What a handler of a signal may do, in a thread of the program. It must not wait for itself.
void exit_inside_a_call(const std::shared_ptr<Device>& device, Index at) {
  dispatch::Context::instance().use_device(device);
  At observer(at, [caller = std::this_thread::get_id()] {
    if (std::this_thread::get_id() != caller) return;
    static const auto begin = std::chrono::steady_clock::now();
    std::atexit([] {
      if (std::chrono::steady_clock::now() - begin >= std::chrono::seconds(2)) std::_Exit(4);
    });
    dispatch::guard_exit();
    std::exit(3);
  });
  device->set_observer(&observer);
  auto a = random_matrix<double>(100, 100, 1);
  std::vector<Index> pivots;
  getrf<double>(a.view(), pivots);
}

TEST_F(AtProcessEnd, ACallMayExitFromWithin) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a child by fork has no copy threads
  route(Algorithm::tiled, 16);
  for (const Index at : {1, 20, 60}) {
    EXPECT_EXIT(exit_inside_a_call(device_, at), testing::ExitedWithCode(3), "");
  }
}

}  // namespace
}  // namespace overlapack
