// Matrices in the memory of a GPU that is not in use: the CPU LAPACK must not be given them.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "dispatch/calls.hpp"
#include "exported.hpp"
#include "support/fake_cuda.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using T = double;

constexpr Index kOrder = 100, kColumns = 3;

/// A copy of a matrix that the driver says lies on the GPU. If so the CPU cannot read it.
class OnGpu {
 public:
  explicit OnGpu(const Padded<T>& a, FakeMemory kind = FakeMemory::device)
      : bytes_(sizeof(T) * static_cast<std::size_t>(a.ld() * a.cols())),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        rows_(a.rows()),
        cols_(a.cols()),
        ld_(a.ld()) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    std::memcpy(memory_, a.view().data, bytes_);
    if (kind == FakeMemory::device) mprotect(memory_, bytes_, PROT_NONE);
    fake_memory(kind, memory_, static_cast<char*>(memory_) + bytes_);
  }
  ~OnGpu() {
    fake_no_memory();
    munmap(memory_, bytes_);
  }
  OnGpu(const OnGpu&) = delete;
  HostView<T> view() const { return {static_cast<T*>(memory_), rows_, cols_, ld_}; }

 private:
  std::size_t bytes_;
  void* memory_;
  Index rows_, cols_, ld_;
};

Index update(HostView<T> a, HostView<const T> v) {
  Index info = -1;
  compat::Exported<T>::cholupdate('L', a.rows, v.cols, a.data, a.ld, v.data, v.ld, 1, &info);
  return info;
}

class OutOfReach : public RoutedTest {
 protected:
  /// All calls that are given such a matrix refuse it, and touch no other one.
  void expect_refusals() {
    auto a = a_, b = b_, x = b_;
    std::vector<Index> pivots;
    {
      const OnGpu there(a_);
      EXPECT_EQ(potrf<T>(Uplo::lower, there.view()), dispatch::kNoMemory);
      EXPECT_EQ(getrf<T>(there.view(), pivots), dispatch::kNoMemory);
      EXPECT_EQ(gesv<T>(there.view(), pivots, b.view()), dispatch::kNoMemory);
      EXPECT_EQ(update(there.view(), b.view()), dispatch::kNoMemory);
      EXPECT_TRUE(std::isnan(lange<T>('F', there.view())));
    }
    {  // the vectors alone, right-hand sides, the solution
      const OnGpu there(b_);
      EXPECT_EQ(update(a.view(), there.view()), dispatch::kNoMemory);
      EXPECT_EQ(gesv<T>(a.view(), pivots, there.view()), dispatch::kNoMemory);
      EXPECT_EQ(posv<T>(Uplo::lower, a.view(), there.view()), dispatch::kNoMemory);
      EXPECT_EQ(mixed_gesv<T>(a.view(), b_.view(), there.view()).info, dispatch::kNoMemory);
      EXPECT_EQ(mixed_posv<T>(Uplo::lower, a.view(), b_.view(), there.view()).info,
                dispatch::kNoMemory);
    }
    EXPECT_TRUE(same_bits(a, a_));
    EXPECT_TRUE(same_bits(b, b_));
    EXPECT_EQ(potrf<T>(Uplo::lower, a.view()), 0);
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
    auto a = a_;
    const OnGpu there(vectors_alone ? b_ : a_);
    EXPECT_EQ(vectors_alone ? update(a.view(), there.view()) : update(there.view(), b_.view()),
              dispatch::kNoMemory);
    EXPECT_TRUE(same_bits(a, a_));
  }
}

TEST_F(OutOfReach, EvenIfNoCallIsLargeEnoughForTheDevice) {
  const Index n = 256;  // but takes long enough to ask
  const auto a = random_matrix<T>(n, n, 1);
  auto b = random_matrix<T>(n, 1, 2);
  std::vector<Index> pivots(static_cast<std::size_t>(n), 1);
  {
    const OnGpu there(a);
    forget_the_device(100000);
    EXPECT_EQ(getrs<T>(Op::none, there.view(), pivots, b.view()), dispatch::kNoMemory);
    forget_the_device(100000);
    EXPECT_EQ(potrf<T>(Uplo::lower, there.view()), dispatch::kNoMemory);
    forget_the_device(100000);
    EXPECT_TRUE(std::isnan(lange<T>('F', there.view())));
  }
  forget_the_device(100000);
  auto here = a;
  EXPECT_EQ(getrf<T>(here.view(), pivots), 0);
  EXPECT_FALSE(dispatch::Context::instance().opened());
}

TEST_F(OutOfReach, HoweverNarrow) {
  std::vector<Index> pivots;
  for (const bool opened : {false, true}) {
    for (const auto& [m, n] : {std::pair<Index, Index>{65536, 1}, {3, 30000}, {4400, 15}}) {
      forget_the_device(100000);
      if (opened) dispatch::Context::instance().use_device(nullptr);
      const OnGpu there(random_matrix<T>(m, n, 1));
      EXPECT_EQ(getrf<T>(there.view(), pivots), dispatch::kNoMemory) << m << " " << n;
    }
    forget_the_device(100000);
    if (opened) dispatch::Context::instance().use_device(nullptr);
    auto a = positive_definite<T>(20, 1);
    const OnGpu there(random_matrix<T>(20, 5000, 2));  // right-hand sides
    EXPECT_EQ(posv<T>(Uplo::lower, a.view(), there.view()), dispatch::kNoMemory);
  }
}

TEST_F(OutOfReach, ButNotWhatTheCpuCanReadAsWell) {
  for (const FakeMemory kind : {FakeMemory::managed, FakeMemory::host}) {
    for (const Index min_n : {1, 100000}) {
      forget_the_device(min_n);
      const OnGpu there(a_, kind);
      auto b = b_;
      EXPECT_EQ(posv<T>(Uplo::lower, there.view(), b.view()), 0);
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

/// A device that the program's own work has broken: it cannot even say where a matrix lies.
class BrokenDevice final : public Device {
 public:
  BrokenDevice()
      : Device("broken", "broken device", std::size_t{1} << 40, true, emulated_tuning()) {
    set_kernels(model_->kernels<float>(), model_->kernels<double>(),
                model_->kernels<std::complex<float>>(), model_->kernels<std::complex<double>>());
  }

 private:
  [[noreturn]] static void fail() { throw DeviceError("the device is broken", true); }
  void* do_allocate(Space, std::size_t) override { fail(); }
  void do_free(Space, void*) noexcept override {}
  std::size_t do_free_memory() override { fail(); }
  MemoryKind do_kind_of(const void*) override { fail(); }
  std::unique_ptr<Queue> do_make_queue(Priority) override { fail(); }
  std::unique_ptr<Event> do_make_event(Timed) override { fail(); }
  std::shared_ptr<void> do_make_current() override { fail(); }
  void do_await_all() override { fail(); }

  const std::unique_ptr<Device> model_ = make_emulated_device();  // for what needs no memory
};

TEST_F(OutOfReach, OfADeviceThatIsLostBeforeTheCall) {  // and not asked again
  auto& context = dispatch::Context::instance();
  for (const bool norm : {false, true}) {
    route(dispatch::Algorithm::tiled, 16);
    context.use_device(std::make_shared<BrokenDevice>());
    auto a = a_;
    {
      const OnGpu there(a_);
      if (norm) {
        EXPECT_TRUE(std::isnan(lange<T>('F', there.view())));
      } else {
        EXPECT_EQ(potrf<T>(Uplo::lower, there.view()), dispatch::kNoMemory);
      }
    }
    EXPECT_EQ(context.device(), nullptr);
    EXPECT_EQ(potrf<T>(Uplo::lower, a.view()), 0);
  }
}

TEST_F(OutOfReach, ButNotWhatTheCpuCanReadIfTheDeviceIsLostBeforeTheCall) {
  route(dispatch::Algorithm::tiled, 16);
  auto& context = dispatch::Context::instance();
  context.use_device(std::make_shared<BrokenDevice>());
  T largest = 0;
  for (Index i = 0; i < kOrder; ++i) largest = std::max(largest, a_(i, i));  // of all elements
  EXPECT_EQ(lange<T>('M', a_.view()), largest);
  auto a = a_;
  EXPECT_EQ(potrf<T>(Uplo::lower, a.view()), 0);
  EXPECT_LT(potrf_residual<T>(Uplo::lower, a_.view(), a.view()), kThreshold);
  EXPECT_EQ(context.device(), nullptr);
}

}  // namespace
}  // namespace overlapack
