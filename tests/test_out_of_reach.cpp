// Matrices in the memory of a GPU that is not in use: the CPU LAPACK must not be given them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "dispatch/calls.hpp"
#include "exported.hpp"
#include "support/fake_cuda.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using T = double;

constexpr Index kOrder = 100, kColumns = 3;

template <class X>
void put_on_gpu(const Padded<X>& a, FakeMemory kind = FakeMemory::device) {
  fake_memory(kind, a.view().data, a.view().data + a.ld() * a.cols());
}

class OutOfReach : public RoutedTest {
 protected:
  void TearDown() override { fake_no_memory(); }

  /// All calls that are given `a_` refuse it, and touch nothing.
  void expect_refusals() {
    auto a = a_, b = b_;
    std::vector<Index> pivots;
    put_on_gpu(a);
    EXPECT_EQ(potrf<T>(Uplo::lower, a.view()), dispatch::kNoMemory);
    EXPECT_EQ(getrf<T>(a.view(), pivots), dispatch::kNoMemory);
    EXPECT_EQ(gesv<T>(a.view(), pivots, b.view()), dispatch::kNoMemory);
    EXPECT_EQ(update(a, b), dispatch::kNoMemory);
    const auto n = static_cast<std::int32_t>(kOrder);
    EXPECT_TRUE(std::isnan(compat::Exported<T>::lange("F", &n, &n, a.data(), &n, nullptr, 1)));
    EXPECT_TRUE(same_bits(a, a_));
    put_on_gpu(b);  // the vectors alone, and right-hand sides
    EXPECT_EQ(update(a, b), dispatch::kNoMemory);
    EXPECT_EQ(gesv<T>(a.view(), pivots, b.view()), dispatch::kNoMemory);
    EXPECT_EQ(posv<T>(Uplo::lower, a.view(), b.view()), dispatch::kNoMemory);
    auto x = b_;
    put_on_gpu(x);  // the solution alone
    EXPECT_EQ(mixed_gesv<T>(a.view(), b_.view(), x.view()).info, dispatch::kNoMemory);
    EXPECT_EQ(mixed_posv<T>(Uplo::lower, a.view(), b_.view(), x.view()).info, dispatch::kNoMemory);
    EXPECT_TRUE(same_bits(a, a_));
    fake_no_memory();
    EXPECT_EQ(potrf<T>(Uplo::lower, a.view()), 0);
  }
  static Index update(Padded<T>& a, Padded<T>& v) {
    Index info = -1;
    compat::Exported<T>::cholupdate('L', kOrder, kColumns, a.data(), a.ld(), v.data(), v.ld(), 1,
                                    &info);
    return info;
  }

  const Padded<T> a_ = positive_definite<T>(kOrder, 1), b_ = random_matrix<T>(kOrder, kColumns, 2);
};

TEST_F(OutOfReach, OfADeviceThatCouldNotBeOpened) {
  route(dispatch::Algorithm::tiled, 16);
  dispatch::Context::instance().use_device(nullptr);
  expect_refusals();
}

/// The next call is like the first one of a process. It is large from order min_n on.
void forget_the_device(Index min_n) {
  dispatch::Settings settings;
  settings.min_n = min_n;
  auto& context = dispatch::Context::instance();
  for (const auto device : {dispatch::DeviceChoice::off, dispatch::DeviceChoice::automatic}) {
    settings.device = device;
    context.reset(settings, dispatch::builtin_profile());
  }
}

TEST_F(OutOfReach, OfADeviceThatNoCallHasOpenedYet) {
  for (const bool vectors_alone : {true, false}) {
    forget_the_device(1);
    auto a = a_, v = b_;
    put_on_gpu(vectors_alone ? v : a);
    EXPECT_EQ(update(a, v), dispatch::kNoMemory) << vectors_alone;
    EXPECT_TRUE(same_bits(a, a_));
  }
}

TEST_F(OutOfReach, EvenIfNoCallIsLargeEnoughForTheDevice) {
  const Index n = 1024;  // but takes long enough to ask
  auto a = random_matrix<T>(n, n, 1), b = random_matrix<T>(n, 1, 2);
  const auto same_a = a;
  std::vector<Index> pivots(static_cast<std::size_t>(n), 1);
  forget_the_device(100000);
  put_on_gpu(a);
  EXPECT_EQ(getrs<T>(Op::none, a.view(), pivots, b.view()), dispatch::kNoMemory);
  forget_the_device(100000);
  EXPECT_EQ(potrf<T>(Uplo::lower, a.view()), dispatch::kNoMemory);
  EXPECT_TRUE(same_bits(a, same_a));
  forget_the_device(100000);
  const auto order = static_cast<std::int32_t>(n);
  EXPECT_TRUE(
      std::isnan(compat::Exported<T>::lange("M", &order, &order, a.data(), &order, nullptr, 1)));
  forget_the_device(100000);
  fake_no_memory();
  EXPECT_EQ(getrf<T>(a.view(), pivots), 0);
  EXPECT_FALSE(dispatch::Context::instance().opened());
}

TEST_F(OutOfReach, ButNotWhatTheCpuCanReadAsWell) {
  for (const FakeMemory kind : {FakeMemory::managed, FakeMemory::host}) {
    for (const Index min_n : {1, 100000}) {
      forget_the_device(min_n);
      auto a = a_, b = b_;
      put_on_gpu(a, kind);
      EXPECT_EQ(posv<T>(Uplo::lower, a.view(), b.view()), 0);
    }
  }
}

TEST_F(OutOfReach, OfADeviceThatIsLost) {
  route(dispatch::Algorithm::tiled, 16);
  FaultAt fault(1, true);
  device().set_observer(&fault);
  auto a = a_;
  EXPECT_EQ(potrf<T>(Uplo::lower, a.view()), 0);
  EXPECT_EQ(dispatch::Context::instance().device(), nullptr);
  expect_refusals();
}

}  // namespace
}  // namespace overlapack
