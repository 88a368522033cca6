// Programs that use CUDA themselves, in other ways than the runtime does: with a context of their
// own, while they capture a graph, or on several GPUs.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

#include "dispatch/calls.hpp"
#include "support/fixtures.hpp"
#include "support/lapack_calls.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using dispatch::Algorithm;

/// A function of the driver, which the plug-in has loaded. The header is not needed: handles are
/// pointers, codes are integers, 0 is success.
template <class... Parameters>
int driver(const char* name, Parameters... parameters) {
  static void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
  const auto function = reinterpret_cast<int (*)(Parameters...)>(dlsym(library, name));
  return function != nullptr ? function(parameters...) : -1;
}

using Handle = void*;
constexpr unsigned kNonBlocking = 1;

/// The primary context of GPU `index`, which is the calling thread's from now on.
void work_on(int index) {
  Handle primary = nullptr;
  ASSERT_EQ(driver("cuDevicePrimaryCtxRetain", &primary, index), 0);
  ASSERT_EQ(driver("cuCtxSetCurrent", primary), 0);
}

class CudaPrograms : public RoutedTest {
 protected:
  void SetUp() override {
    RoutedTest::SetUp();
    if (IsSkipped()) return;
    if (device().emulated()) GTEST_SKIP() << "the emulated device is not CUDA's";
    route(Algorithm::tiled, 64);
  }

  /// Calls that travel through staging memory, small and large.
  static void expect_right_results() {
    for (const Index n : {100, 1500}) {
      const auto a = positive_definite<double>(n, 1, 3);
      auto factor = a;
      EXPECT_EQ(potrf<double>(Uplo::lower, factor.view()), 0);
      EXPECT_LT(potrf_residual<double>(Uplo::lower, a.view(), factor.view()), kThreshold);
      const auto general = random_matrix<double>(n, n, 2);
      auto lu = general;
      std::vector<Index> pivots;
      EXPECT_EQ(getrf<double>(lu.view(), pivots), 0);
      EXPECT_LT(getrf_residual<double>(general.view(), lu.view(), pivots), kThreshold);
    }
    EXPECT_NE(dispatch::Context::instance().device(), nullptr);
  }

  /// What lies in the calling thread's context is out of reach, and nothing else suffers.
  static void expect_out_of_reach() {
    constexpr Index kOrder = 300;
    double* matrix = nullptr;
    ASSERT_EQ(driver("cuMemAlloc_v2", &matrix, sizeof(double) * kOrder * kOrder), 0);
    EXPECT_EQ(potrf<double>(Uplo::lower, HostView<double>(matrix, kOrder, kOrder, kOrder)),
              dispatch::kNoMemory);
    EXPECT_EQ(driver("cuMemFree_v2", matrix), 0);
    expect_right_results();
  }
};

TEST_F(CudaPrograms, MayHaveAContextOfTheirOwn) {
  std::thread([] {
    Handle context = nullptr, current = nullptr;
    ASSERT_EQ(driver("cuCtxCreate_v2", &context, 0U, 0), 0);
    expect_right_results();
    EXPECT_EQ(driver("cuCtxGetCurrent", &current), 0);
    EXPECT_EQ(current, context);
    expect_out_of_reach();
    EXPECT_EQ(driver("cuCtxDestroy_v2", context), 0);
  }).join();
  expect_right_results();
}

TEST_F(CudaPrograms, MayTakeAllOfTheMemory) {
  work_on(0);
  for (const std::size_t left : {100, 50, 20, 1}) {  // MiB, more or less
    SCOPED_TRACE(left);
    std::vector<Handle> taken;
    for (std::size_t mib = 4096; mib >= 1; mib /= 2) {
      std::size_t free = 0, total = 0;
      Handle memory = nullptr;
      const auto fits = [&] {
        return driver("cuMemGetInfo_v2", &free, &total) == 0 && free >> 20 > mib + left;
      };
      while (fits() && driver("cuMemAlloc_v2", &memory, mib << 20) == 0) taken.push_back(memory);
    }
    expect_right_results();
    for (const Handle memory : taken) EXPECT_EQ(driver("cuMemFree_v2", memory), 0);
  }
  const std::size_t before = device().counters().kernels;
  expect_right_results();
  EXPECT_GT(device().counters().kernels, before);
}

TEST_F(CudaPrograms, MayCaptureAGraphMeanwhile) {
  work_on(0);
  constexpr int kGlobal = 0;
  // Each call takes memory, and gives it back.
  for (const auto keep : {dispatch::kForEver, std::chrono::milliseconds(0)}) {
    keep_memory_ = keep;
    route(Algorithm::tiled, 64);
    Handle stream = nullptr, graph = nullptr;
    ASSERT_EQ(driver("cuStreamCreate", &stream, kNonBlocking), 0);
    ASSERT_EQ(driver("cuStreamBeginCapture_v2", stream, kGlobal), 0);
    std::thread(expect_right_results).join();
    expect_right_results();  // by the thread that captures, too
    EXPECT_EQ(driver("cuStreamEndCapture", stream, &graph), 0);
    EXPECT_EQ(driver("cuStreamDestroy_v2", stream), 0);
  }
}

/// A stream of the program whose work does not end before it is told to.
class StuckStream {
 public:
  StuckStream() {
    constexpr unsigned kPortableAndMapped = 3, kEqual = 1;
    EXPECT_EQ(driver("cuMemHostAlloc", &flag_, sizeof(Flag), kPortableAndMapped), 0);
    new (flag_) Flag(0);
    EXPECT_EQ(driver("cuStreamCreate", &stream_, kNonBlocking), 0);
    EXPECT_EQ(driver("cuStreamWaitValue32_v2", stream_, reinterpret_cast<std::uintptr_t>(flag_), 1U,
                     kEqual),
              0);
  }
  ~StuckStream() {
    flag_->store(1);
    EXPECT_EQ(driver("cuStreamSynchronize", stream_), 0);
    EXPECT_EQ(driver("cuStreamDestroy_v2", stream_), 0);
    EXPECT_EQ(driver("cuMemFreeHost", flag_), 0);
  }
  bool is_done() const { return driver("cuStreamQuery", stream_) == 0; }

 private:
  Flag* flag_ = nullptr;
  Handle stream_ = nullptr;
};

TEST_F(CudaPrograms, MayWorkWhileMemoryGoesBack) {
  work_on(0);
  expect_right_results();
  const std::size_t held = device().pool_use(Space::device).held;
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(driver("cuMemGetInfo_v2", &before, &total), 0);
  std::atomic<bool> given{false};
  std::thread giver;
  {
    const StuckStream stream;
    giver = std::thread([&given] {
      dispatch::Context::instance().give_back_memory();
      given = true;
    });
    for (int tenth = 0; tenth < 200 && !given; ++tenth) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_TRUE(given) << "it waits for the program's work";
    EXPECT_FALSE(stream.is_done());
  }
  giver.join();
  EXPECT_EQ(device().pool_use(Space::device).held, 0u);
  ASSERT_EQ(driver("cuMemGetInfo_v2", &after, &total), 0);
  constexpr std::size_t kUnits = std::size_t{32} << 20;  // in which a pool takes memory
  EXPECT_GE(after + kUnits, before + held);
  expect_right_results();
}

int gpu_of_this_thread() {
  int index = -1;
  EXPECT_EQ(driver("cuCtxGetDevice", &index), 0);
  return index;
}

class SeveralGpus : public CudaPrograms {
 protected:
  void SetUp() override {
    CudaPrograms::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(driver("cuDeviceGetCount", &count_), 0);
    if (count_ < 2) GTEST_SKIP() << "this machine has one GPU";
  }

  int count_ = 0;
};

TEST_F(SeveralGpus, ThatOfTheProgramIsUsed) {
  for (int index = 0; index < count_; ++index) {
    std::thread([index] {
      work_on(index);
      EXPECT_EQ(dispatch::open_cuda_device({})->name(), "cuda:" + std::to_string(index));
      EXPECT_EQ(gpu_of_this_thread(), index);
    }).join();
  }
  for (int rank = 0; rank < 2 * count_; ++rank) {
    // In a thread that works on none.
    std::thread([&] {
      const std::string name = dispatch::open_cuda_device({}, rank)->name();
      EXPECT_EQ(name, "cuda:" + std::to_string(rank % count_));
    }).join();
  }
}

TEST_F(SeveralGpus, AnyOfThemIsUsedWhileTheProgramWorksOnAnother) {
  for (int index = 0; index < count_; ++index) {
    SCOPED_TRACE(index);
    const std::shared_ptr<Device> used = dispatch::open_cuda_device(index);
    dispatch::Context::instance().use_device(used);
    std::thread([&] {
      const int other = (index + 1) % count_;
      work_on(other);
      const std::size_t before = used->counters().kernels;
      expect_right_results();
      EXPECT_GT(used->counters().kernels, before);
      EXPECT_EQ(gpu_of_this_thread(), other);
      expect_out_of_reach();
    }).join();
    dispatch::Context::instance().use_device(device_);
  }
  expect_right_results();
}

}  // namespace
}  // namespace overlapack
