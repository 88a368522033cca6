// The device under test, and tests typed over the four precisions.
//
// OVERLAPACK_TEST_DEVICE chooses the device: lazy (the default), eager, shuffle (the emulated
// device's schedules), core (it has only what every device must have) or cuda. ctest runs every
// test once for each. cuda:1 is the second GPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/emulated/emulated_device.hpp"
#include "dispatch/context.hpp"

namespace overlapack::testing_support {

using Precisions = testing::Types<float, double, std::complex<float>, std::complex<double>>;
using DoublePrecisions = testing::Types<double, std::complex<double>>;

inline std::string device_under_test() {
  const char* const name = std::getenv("OVERLAPACK_TEST_DEVICE");
  return name == nullptr ? "lazy" : name;
}

/// Opens the device under test. Throws DeviceError with the reason if this machine has none.
inline std::shared_ptr<Device> open_device_under_test() {
  const std::string name = device_under_test();
  if (name == "lazy") return make_emulated_device({Schedule::lazy});
  if (name == "eager") return make_emulated_device({Schedule::eager});
  if (name == "shuffle") return make_emulated_device({Schedule::shuffle, 7});
  if (name == "core") {
    EmulatedOptions options;
    options.core_only = true;
    return make_emulated_device(options);
  }
  const std::optional<int> index = name == "cuda" ? 0 : dispatch::cuda_index_of(name);
  if (!index) throw std::invalid_argument("OVERLAPACK_TEST_DEVICE=" + name);
  // One for the whole process, and never destroyed: at exit the driver may be gone first.
  static auto* const device = new std::shared_ptr<Device>(dispatch::open_cuda_device(index));
  return *device;
}

/// A test on the device under test; skipped, with the reason, where this machine has none.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_device_under_test();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "no " << device_under_test() << " device: " << error.what();
    }
  }
  void TearDown() override {
    if (device_) device_->set_observer(nullptr);
  }
  Device& device() { return *device_; }
  /// Whether the device has the formats that refinement needs. One that has not answers
  /// mixed-precision calls in double precision.
  bool rounds() { return device().kernels<double>().rounding() != nullptr; }
  static constexpr const char* kNoRounding = "this device does not round to single precision";

  std::shared_ptr<Device> device_;
};

/// Refuses the `at`-th action, counted from 1; of a device that is lost, all later ones too.
class FaultAt : public Observer {
 public:
  explicit FaultAt(Index at, bool lost = false) : at_(at), lost_(lost) {}
  void before(Action, const char* name, double) override {
    const Index number = ++count_;
    if (number == at_ || (lost_ && number > at_)) {
      throw DeviceError(std::string("injected fault in ") + name, lost_);
    }
  }
  /// Actions seen so far.
  Index count() const { return count_; }

 private:
  const Index at_;
  const bool lost_;
  std::atomic<Index> count_{0};
};

/// A test of whole calls, which the settings send to the device under test.
class RoutedTest : public DeviceTest {
 protected:
  /// Settings for every call, however small.
  static dispatch::Settings settings_for(dispatch::Algorithm algorithm, Index nb, Index min_n = 1) {
    dispatch::Settings settings;
    settings.min_n = min_n;
    settings.algorithm = algorithm;
    settings.nb = nb;
    return settings;
  }
  void use(dispatch::Settings settings) {
    settings.keep_memory = keep_memory_;
    auto& context = dispatch::Context::instance();
    context.reset(settings, dispatch::builtin_profile());
    context.use_device(device_);
  }
  void route(dispatch::Algorithm algorithm, Index nb, Index min_n = 1) {
    use(settings_for(algorithm, nb, min_n));
  }
  /// Runs `call` with a fault at the device's first action, then at the one `stride` later, and so
  /// on until one run gets by with fewer, or a test fails: one report is enough. prepare() comes
  /// before each run. Returns how many faults there were.
  Index with_faults(Index stride, const std::function<void()>& prepare,
                    const std::function<void()>& call) {
    Index faults = 0;
    for (Index at = 1; at < 100000; at += stride) {
      SCOPED_TRACE(testing::Message() << "fault at action " << at);
      prepare();
      FaultAt fault(at);
      device().set_observer(&fault);
      call();
      device().set_observer(nullptr);
      if (HasFailure() || fault.count() < at) return faults;
      ++faults;
    }
    ADD_FAILURE() << "the call never ends";
    return faults;
  }
  /// Bytes uploaded so far: a call that raises it has reached the device.
  std::size_t uploaded() { return device().counters().bytes_to_device; }
  /// For the settings. As a rule no thread is to come while a test changes the device.
  std::chrono::milliseconds keep_memory_ = dispatch::kForEver;

  static constexpr dispatch::Algorithm kAlgorithms[] = {dispatch::Algorithm::tiled,
                                                        dispatch::Algorithm::hybrid};
  /// And the textbook's, for factorizations and solves with them.
  static constexpr dispatch::Algorithm kAllAlgorithms[] = {
      dispatch::Algorithm::tiled, dispatch::Algorithm::hybrid, dispatch::Algorithm::textbook};
};

inline const char* name_of(dispatch::Algorithm algorithm) {
  static constexpr const char* kNames[] = {"automatic", "tiled", "hybrid", "textbook"};
  return kNames[static_cast<int>(algorithm)];
}

/// Calls residual(thread, round) in two threads at once, ten rounds each; returns the worst result.
inline double worst_in_two_threads(
    const std::function<double(std::size_t, std::uint64_t)>& residual) {
  double worst[2] = {0, 0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t round = 0; round < 10; ++round) {
        const double r = residual(t, round);
        worst[t] = std::max(worst[t], std::isnan(r) ? HUGE_VAL : r);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::max(worst[0], worst[1]);
}

/// How often each kernel was called.
class Calls : public Observer {
 public:
  void before(Action, const char* name, double) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++count_[name];
  }
  int of(const char* name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_[name];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> count_;
};

}  // namespace overlapack::testing_support
