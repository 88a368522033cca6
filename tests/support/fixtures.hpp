// The devices under test, crossed with the four precisions: TYPED_TEST_SUITE(Suite, AllCases).
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <complex>
#include <memory>
#include <string>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/host/emulated_device.hpp"
#include "dispatch/context.hpp"

namespace overlapack::testing_support {

struct Lazy {
  static constexpr const char* name = "lazy";
  static std::shared_ptr<Device> open() { return make_emulated_device({Schedule::lazy}); }
};
struct Eager {
  static constexpr const char* name = "eager";
  static std::shared_ptr<Device> open() { return make_emulated_device({Schedule::eager}); }
};
struct Shuffle {
  static constexpr const char* name = "shuffle";
  static std::shared_ptr<Device> open() { return make_emulated_device({Schedule::shuffle, 7}); }
};
struct Cuda {
  static constexpr const char* name = "cuda";
  /// One for the whole process, and never destroyed: at exit the driver may be gone first.
  static std::shared_ptr<Device> open() {
    static auto* const device = new std::shared_ptr<Device>(dispatch::open_cuda_device(0));
    return *device;
  }
};

/// One precision on one device.
template <class Scalar, class Where>
struct Case {
  using T = Scalar;
  using D = Where;
};

using Z = std::complex<double>;
using C = std::complex<float>;
using AllCases =
    testing::Types<Case<float, Lazy>, Case<double, Lazy>, Case<C, Lazy>, Case<Z, Lazy>,
                   Case<float, Eager>, Case<double, Eager>, Case<C, Eager>, Case<Z, Eager>,
                   Case<float, Shuffle>, Case<double, Shuffle>, Case<C, Shuffle>, Case<Z, Shuffle>,
                   Case<float, Cuda>, Case<double, Cuda>, Case<C, Cuda>, Case<Z, Cuda>>;

/// "d_lazy" instead of a number.
struct CaseName {
  template <class Case>
  static std::string GetName(int) {
    return std::string(1, ScalarTraits<typename Case::T>::letter) + "_" + Case::D::name;
  }
};

/// Opens the device of the case, or skips the test and says why.
template <class Case>
class DeviceTest : public testing::Test {
 protected:
  using T = typename Case::T;

  void SetUp() override {
    try {
      device_ = Case::D::open();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "no " << Case::D::name << " device: " << error.what();
    }
  }
  void TearDown() override {
    if (device_) device_->set_observer(nullptr);
  }
  Device& device() { return *device_; }

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

}  // namespace overlapack::testing_support
