// What the emulated device adds to the contract: schedules, poison, bounds and checked operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "device/buffer.hpp"
#include "device/emulated/emulated_device.hpp"

namespace overlapack {
namespace {

/// Queues one zero and a copy of it to `staging`, and waits for nothing.
struct Unwaited {
  explicit Unwaited(Device& device)
      : staging(device, Space::host, 1), memory(device, Space::device, 1), queue(device) {
    queue->zero(memory.data(), sizeof(double));
    queue->copy<double>(HostView<double>(staging.data(), 1),
                        DeviceView<const double>(memory.data(), 1));
  }
  Buffer<double> staging, memory;
  QueueLease queue;
};

TEST(EmulatedDevice, LazyWorkRunsOnlyWhenWaitedFor) {
  const auto device = make_emulated_device({Schedule::lazy});
  Unwaited work(*device);
  EXPECT_TRUE(std::isnan(*work.staging.data())) << "a read without a wait must see poison";
  work.queue->synchronize();
  EXPECT_EQ(*work.staging.data(), 0);
}

TEST(EmulatedDevice, LazyWaitsRunOnlyWhatTheyDependOn) {
  const auto device = make_emulated_device({Schedule::lazy});
  Unwaited other(*device), waited(*device);
  waited.queue->synchronize();
  EXPECT_EQ(*waited.staging.data(), 0);
  EXPECT_TRUE(std::isnan(*other.staging.data()));
}

TEST(EmulatedDevice, EagerWorkRunsWhenEnqueued) {
  const auto device = make_emulated_device({Schedule::eager});
  Unwaited work(*device);
  EXPECT_EQ(*work.staging.data(), 0);
}

TEST(EmulatedDevice, ShuffleSometimesRunsWorkThatNobodyWaitsFor) {
  int ran = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto device = make_emulated_device({Schedule::shuffle, seed});
    Unwaited other(*device), waited(*device);
    EXPECT_TRUE(std::isnan(*waited.staging.data()));
    waited.queue->synchronize();
    EXPECT_EQ(*waited.staging.data(), 0);
    if (!std::isnan(*other.staging.data())) ++ran;
  }
  EXPECT_GT(ran, 0);
  EXPECT_LT(ran, 20);
}

TEST(EmulatedDevice, APollRunsTheQueueUpToItsNextSignal) {
  const auto device = make_emulated_device({Schedule::lazy});
  Unwaited other(*device), polled(*device);
  Buffer<Flag> flags(*device, Space::host, 2);
  Flag* const first = new (flags.data()) Flag(0);
  Flag* const second = new (flags.data() + 1) Flag(0);
  polled.queue->poll();
  EXPECT_TRUE(std::isnan(*polled.staging.data())) << "nobody waits: there is no signal";
  polled.queue->signal(*first, 5);
  polled.queue->signal(*second, 6);
  EXPECT_EQ(*first, 0u);
  polled.queue->poll();
  EXPECT_EQ(*polled.staging.data(), 0);
  EXPECT_EQ(*first, 5u);
  EXPECT_EQ(*second, 0u);
  EXPECT_TRUE(std::isnan(*other.staging.data()));
  polled.queue->poll();
  EXPECT_EQ(*second, 6u);
}

TEST(EmulatedDevice, AMissingQueueWaitReadsPoison) {
  const auto device = make_emulated_device({Schedule::lazy});
  Buffer<double> staging(*device, Space::host, 2), memory(*device, Space::device, 1);
  EventLease uploaded(*device);
  QueueLease up(*device), down(*device);
  staging.data()[0] = 42;
  const DeviceView<double> view(memory.data(), 1);
  const HostView<double> result(staging.data() + 1, 1);
  up->copy<double>(view, HostView<const double>(staging.data(), 1));
  up->record(*uploaded);
  down->copy<double>(result, DeviceView<const double>(view));
  down->synchronize();
  EXPECT_TRUE(std::isnan(result(0)));
  down->wait(*uploaded);
  down->copy<double>(result, DeviceView<const double>(view));
  down->synchronize();
  EXPECT_EQ(result(0), 42);
}

TEST(EmulatedDevice, DrainDropsWhatNobodyWaitedFor) {
  const auto device = make_emulated_device({Schedule::lazy});
  Unwaited work(*device);
  work.queue->drain();
  work.queue->synchronize();
  EXPECT_TRUE(std::isnan(*work.staging.data()));
}

TEST(EmulatedDevice, PoisonsMemoryEachTimeItIsHandedOut) {
  const auto device = make_emulated_device();
  for (int round = 0; round < 2; ++round) {
    Buffer<Index> staging(*device, Space::host, 3);
    EXPECT_GT(staging.data()[0], Index{1} << 60) << "an index that no array has";
    double as_double = 0;
    float as_float = 0;
    std::memcpy(&as_double, staging.data() + 1, sizeof as_double);
    std::memcpy(&as_float, staging.data() + 2, sizeof as_float);
    EXPECT_TRUE(std::isnan(as_double));
    EXPECT_TRUE(std::isnan(as_float));
    std::fill_n(staging.data(), 3, 0);
  }
}

TEST(EmulatedDevice, ItsMemoryIsBounded) {
  EmulatedOptions options;
  options.memory = 1000;
  const auto device = make_emulated_device(options);
  EXPECT_EQ(device->memory(), 1000u);
  {
    Buffer<char> most(*device, Space::device, 900);
    EXPECT_THROW(Buffer<char>(*device, Space::device, 101), DeviceError);
    Buffer<char> rest(*device, Space::device, 100);
    Buffer<char> staging(*device, Space::host, 5000);
  }
  Buffer<char> whole(*device, Space::device, 1000);  // idle blocks make room
}

TEST(EmulatedDevice, KeepsLittleStagingMemoryThatLiesIdle) {
  const auto device = make_emulated_device();
  {
    const Buffer<char> later(*device, Space::host, Index{301} << 20);
    const Buffer<char> earlier(*device, Space::host, Index{300} << 20);
  }
  EXPECT_EQ(device->pool_use(Space::host).held, std::size_t{301} << 20);
}

TEST(EmulatedDevice, GivesBackWhatALowerLimitForbidsToKeep) {
  const auto device = make_emulated_device();
  { const Buffer<char> idle(*device, Space::device, 5000); }
  device->set_memory_limit(4000);
  EXPECT_EQ(device->pool_use(Space::device).held, 0u);
  const Buffer<char> other(*device, Space::device, 4000);
}

TEST(EmulatedDevice, RefusesMemoryThatIsNotItsOwn) {
  const auto device = make_emulated_device({Schedule::eager});
  const auto other = make_emulated_device({Schedule::eager});
  Buffer<double> staging(*device, Space::host, 10), memory(*device, Space::device, 10),
      foreign(*other, Space::device, 10);
  QueueLease queue(*device);
  double plain[10] = {};
  const auto size = sizeof plain;
  EXPECT_THROW(queue->copy_to_device(memory.data(), size, plain, size, size, 1), std::logic_error);
  EXPECT_THROW(queue->copy_to_host(plain, size, memory.data(), size, size, 1), std::logic_error);
  EXPECT_THROW(queue->copy_to_device(staging.data(), size, staging.data(), size, size, 1),
               std::logic_error);
  EXPECT_THROW(queue->copy_to_device(foreign.data(), size, staging.data(), size, size, 1),
               std::logic_error);
  EXPECT_THROW(queue->copy_to_device(memory.data(), size, staging.data(), size, size + 8, 1),
               std::logic_error);
  EXPECT_THROW(queue->copy_to_device(memory.data() + 1, 40, staging.data(), 40, 40, 2),
               std::logic_error);
  EXPECT_THROW(queue->zero(plain, 8), std::logic_error);
  Flag flag(0);
  EXPECT_THROW(queue->signal(flag, 1), std::logic_error);
  queue->copy_to_device(memory.data() + 5, 40, staging.data(), 40, 40, 1);

  const DeviceView<double> good(memory.data(), 3, 3, 3), host(staging.data(), 3, 3, 3),
      beyond(memory.data() + 2, 3, 3, 3);
  const auto gemm = [&](DeviceView<const double> a, DeviceView<double> c) {
    queue->enqueue(Gemm<double>{Op::none, Op::none, 1, a, a, 0, c});
  };
  EXPECT_THROW(gemm(host, good), std::logic_error);
  EXPECT_THROW(gemm(good, host), std::logic_error);
  EXPECT_THROW(gemm(beyond, good), std::logic_error);
  EXPECT_THROW(gemm(good.block(0, 0, 2, 3), good), std::logic_error) << "shapes";
  Buffer<Index> pivots(*device, Space::device, 3);
  EXPECT_THROW(queue->enqueue(SwapRows<double>{good, DeviceView<const Index>(pivots.data(), 3), 0}),
               std::logic_error)
      << "pivots that nobody has computed";
  const DeviceView<const Index> pivot(pivots.data(), 1);
  queue->zero(pivots.data(), 3 * sizeof(Index));
  const auto whole_step = [&](DeviceView<double> a, Index offset) {
    queue->enqueue(LuStep<double>{good.block(0, 0, 3, 1), pivot, offset, a});
  };
  EXPECT_THROW(whole_step(good.block(0, 1, 2, 1), -1), std::logic_error) << "shapes";
  EXPECT_THROW(whole_step(good.block(0, 1, 3, 1), -4), std::logic_error)
      << "a pivot beyond the rows";
  for (const bool by_rows : {false, true}) {
    const auto step = [&](DeviceView<const double> l, DeviceView<const Index> p, Index offset,
                          DeviceView<double> a) {
      if (by_rows) {
        queue->enqueue(InterchangeAndSolveByRows<double>{l, p, offset, a});
      } else {
        queue->enqueue(InterchangeAndSolve<double>{l, p, offset, a});
      }
    };
    const DeviceView<const Index> two(pivots.data(), 2);
    EXPECT_THROW(step(good.block(0, 0, 1, 1), pivot, -2, good.block(0, 0, 1, 1)), std::logic_error)
        << "a pivot beyond the rows";
    EXPECT_THROW(step(good.block(0, 0, 2, 2), pivot, -1, good), std::logic_error)
        << "more rows to solve for than pivots";
    EXPECT_THROW(step(good.block(0, 0, 2, 2), two, -1, good), std::logic_error)
        << "a pivot above its own row";
  }
  try {
    gemm(host, good);
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("gemm"), std::string::npos) << error.what();
  }
}

TEST(EmulatedDevice, SubstitutionWantsTheLinksOfItsOwnTriangle) {
  const auto device = make_emulated_device({Schedule::eager});
  const Kernels<float>& kernels = device->kernels<float>();
  Buffer<float> memory(*device, Space::device, 2);
  Buffer<Index> links(*device, Space::device, kernels.substitution_links(1)),
      progress(*device, Space::device, kernels.substitution_progress(1, 1));
  QueueLease queue(*device);
  queue->zero(memory.data(), 2 * sizeof(float));
  const DeviceView<float> a(memory.data(), 1), x(memory.data() + 1, 1);
  const auto substitute = [&](Uplo uplo, Diag diag) {
    queue->enqueue(Substitute<float>{uplo,
                                     diag,
                                     a,
                                     DeviceView<const Index>(links.data(), links.size()),
                                     x,
                                     {progress.data(), progress.size()}});
  };
  EXPECT_THROW(substitute(Uplo::lower, Diag::unit), std::logic_error) << "found by nobody";
  queue->enqueue(FindLinks<float>{Uplo::lower, Diag::unit, a, {links.data(), links.size()}});
  substitute(Uplo::lower, Diag::unit);
  EXPECT_THROW(substitute(Uplo::upper, Diag::unit), std::logic_error);
  EXPECT_THROW(substitute(Uplo::lower, Diag::non_unit), std::logic_error);
}

TEST(EmulatedDevice, ManyThreadsMayUseIt) {
  for (const Schedule schedule : {Schedule::lazy, Schedule::eager, Schedule::shuffle}) {
    const auto device = make_emulated_device({schedule});
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < 50; ++round) {
          Buffer<double> staging(*device, Space::host, 2), memory(*device, Space::device, 1);
          EventLease event(*device);
          QueueLease up(*device), down(*device);
          staging.data()[0] = t + 1;
          const DeviceView<double> view(memory.data(), 1);
          up->copy<double>(view, HostView<const double>(staging.data(), 1));
          up->enqueue(Gemm<double>{Op::none, Op::none, 1, view, view, 1, view});
          up->record(*event);
          down->wait(*event);
          down->copy<double>(HostView<double>(staging.data() + 1, 1),
                             DeviceView<const double>(view));
          down->synchronize();
          if (staging.data()[1] == (t + 1) * (t + 2)) ++right;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(right, 200);
  }
}

}  // namespace
}  // namespace overlapack
