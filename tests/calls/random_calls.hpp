// What is common to tests that draw their calls at random.
//
// For longer runs OVERLAPACK_TEST_CALLS sets the number of calls of a test, and
// OVERLAPACK_TEST_SEED the seed of the first; each further call has the next seed. So scripts/soak
// goes on with calls that are new (--gtest_repeat).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include "cpu/lapack.hpp"
#include "dispatch/residency.hpp"
#include "support/environment_number.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"

namespace overlapack::testing_support {

/// An operand in ordinary memory or in the device's.
template <class T>
class Operand {
 public:
  Operand(Device& device, Padded<T>& host, bool on_device) : host_(host) {
    if (on_device && !host.view().empty()) there_.emplace(device, host);
  }
  HostView<T> view() { return there_ ? there_->view() : host_.view(); }
  void fetch() {
    if (there_) there_->fetch();
  }

 private:
  Padded<T>& host_;
  std::optional<OnDevice<T>> there_;
};

template <class T>
class RandomCalls : public RoutedTest {
 protected:
  /// Makes the calls of a test, and expects most to have used the device.
  void repeat(const std::function<void(Random&)>& call) {
    static std::map<std::string, Index> calls_before;  // of each test, if it is repeated
    Index& before_this =
        calls_before[testing::UnitTest::GetInstance()->current_test_info()->name()];
    const Index first = number_in("OVERLAPACK_TEST_SEED", 1) + before_this;
    const Index count = number_in("OVERLAPACK_TEST_CALLS", device().emulated() ? 400 : 60);
    Index on_device = 0;
    for (Index seed = first; seed < first + count && !HasFailure(); ++seed) {
      SCOPED_TRACE(testing::Message() << "OVERLAPACK_TEST_SEED=" << seed);
      Random random(static_cast<std::uint64_t>(seed));
      const std::size_t before = device().counters().kernels;
      draw_circumstances(random);
      call(random);
      device().set_observer(nullptr);
      on_device += device().counters().kernels > before;
    }
    EXPECT_GE(2 * on_device, count) << "calls did not reach the device";
    before_this += count;
    RecordProperty("calls", static_cast<int>(count));  // for scripts/count-promises
  }

  /// Orders up to 150, small ones more often; on a GPU, whose blocks are larger, up to 700.
  Index draw_order(Random& random) {
    const Index largest = device().emulated() ? 150 : 700;
    return random.integer(1, random.integer(1, largest));
  }
  Uplo draw_uplo(Random& random) { return kUplos[random.integer(0, 1)]; }
  /// So that numbers scaled twice, and their products, are no powers beyond what a factorization
  /// can hold.
  Index draw_exponent(Random& random) {
    return random.integer(0, std::is_same_v<Real<T>, float> ? 15 : 120);
  }
  /// Whether an operand of a call of order n is to lie there, where it is recognised.
  bool on_device(Random& random, Index n) {
    return residents_ && n * n >= dispatch::kSmallestResident && random.integer(0, 2) == 0;
  }

  static const cpu::Lapack<T>& cpu_lapack() { return cpu::lapack<T>(cpu::Family::lp64); }

 private:
  void draw_circumstances(Random& random) {
    const Index nbs[] = {2, 5, 16, 32, 48, 64, 100, 128, 0};
    auto settings = settings_for(kAlgorithms[random.integer(0, 1)], nbs[random.integer(0, 8)]);
    const Index luck = random.integer(0, 7);
    if (luck == 0) {
      settings.memory_limit = static_cast<std::size_t>(random.integer(1000, 1000000));
    } else if (luck <= 2) {
      fault_.emplace(random.integer(1, random.integer(1, 1000)), random.integer(0, 1) == 0);
      device().set_observer(&*fault_);
    }
    if (random.integer(0, 1) == 0) settings.upload = dispatch::Upload::halves;
    use(settings);
    residents_ = luck > 2;         // what lies on a device that fails is lost
    device().set_memory_limit(0);  // until the call sets it
  }

  std::optional<FaultAt> fault_;
  bool residents_ = false;
};

}  // namespace overlapack::testing_support
