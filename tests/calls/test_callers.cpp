// Many threads that call at once: each gets the answer to its own call.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

/// The worst residual of one call of each kind, with matrices of the caller's own.
template <class T>
double worst_of_all_routines(std::uint64_t seed) {
  const Index n = 40 + static_cast<Index>(seed % 7) * 7;
  const auto spd = positive_definite<T>(n, seed, 3);
  const auto general = random_matrix<T>(n, n, seed, 1), b = random_matrix<T>(n, 5, seed + 1, 2);
  const auto whole_spd = widen<T>(spd.view()), whole = widen<T>(general.view());
  auto cholesky = spd, x = b;
  if (posv<T>(Uplo::lower, cholesky.view(), x.view()) != 0) return HUGE_VAL;
  double worst = potrf_residual<T>(Uplo::lower, spd.view(), cholesky.view());
  worst = std::max(worst, solve_residual(Op::none, whole_spd, x, b));
  x = b;
  if (potrs<T>(Uplo::lower, cholesky.view(), x.view()) != 0) return HUGE_VAL;
  worst = std::max(worst, solve_residual(Op::none, whole_spd, x, b));
  auto lu = general;
  x = b;
  std::vector<Index> pivots;
  if (gesv<T>(lu.view(), pivots, x.view()) != 0) return HUGE_VAL;
  worst = std::max(worst, getrf_residual<T>(general.view(), lu.view(), pivots));
  return std::max(worst, solve_residual(Op::none, whole, x, b));
}

template <class T>
class Callers : public RoutedTest {
 protected:
  static void expect_right_answers() {
    constexpr int kCallers = 32, kRounds = 2;
    RecordProperty("callers", kCallers);
    std::vector<double> worst(kCallers, HUGE_VAL);
    std::atomic<int> waiting{kCallers};
    std::vector<std::thread> threads;
    for (std::size_t caller = 0; caller < kCallers; ++caller) {
      threads.emplace_back([&, caller] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();  // so that all begin at once
        double of_caller = 0;
        for (std::uint64_t round = 0; round < kRounds; ++round) {
          const double residual = worst_of_all_routines<T>(100 * caller + round + 1);
          of_caller = residual <= of_caller ? of_caller : residual;  // NaNs, too
        }
        worst[caller] = of_caller;
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t caller = 0; caller < kCallers; ++caller) {
      EXPECT_LT(worst[caller], kThreshold) << "caller " << caller;
    }
  }
};
TYPED_TEST_SUITE(Callers, Precisions);

TYPED_TEST(Callers, GetTheAnswersToTheirOwnCalls) {
  this->route(Algorithm::tiled, 16);
  const std::size_t before = this->device().counters().kernels;
  this->expect_right_answers();
  EXPECT_GT(this->device().counters().kernels, before);
}

/// Has each thread that uses the device wait for another one there, for a while.
class Meeting : public Observer {
 public:
  void before(Action, const char*, double) override {
    thread_local const Meeting* been_here = nullptr;
    if (been_here == this) return;
    been_here = this;
    ++here_;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (!met_ && std::chrono::steady_clock::now() < deadline) {
      if (here_ >= 2) met_ = true;
      std::this_thread::yield();
    }
    --here_;
  }
  bool met() const { return met_; }

 private:
  std::atomic<int> here_{0};
  std::atomic<bool> met_{false};
};

TYPED_TEST(Callers, ShareTheDeviceIfTheirMatricesAreSmall) {
  using T = TypeParam;
  this->route(Algorithm::tiled, 16);
  const auto shared = static_cast<double>(this->device().tuning().transfer.shared_up_to_bytes);
  const Index small = 32, large = 64 + static_cast<Index>(std::sqrt(shared / (2 * sizeof(T))));
  for (const Index n : {small, large}) {
    const auto a = positive_definite<T>(n, 1);
    Meeting meeting;
    this->device().set_observer(&meeting);
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        auto factor = a;
        EXPECT_EQ(potrf<T>(Uplo::lower, factor.view()), 0);
        if (n > small) return;  // whose residual takes long
        EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view(), factor.view()), kThreshold);
      });
    }
    for (std::thread& thread : threads) thread.join();
    this->device().set_observer(nullptr);
    EXPECT_EQ(meeting.met(), n == small);
  }
}

TYPED_TEST(Callers, GetThemWhileTheDeviceIsLost) {
  this->route(Algorithm::tiled, 16);
  FaultAt fault(500, true);
  this->device().set_observer(&fault);
  this->expect_right_answers();
  this->device().set_observer(nullptr);
  EXPECT_EQ(dispatch::Context::instance().device(), nullptr);
}

}  // namespace
}  // namespace overlapack
