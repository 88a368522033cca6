// The contract of device.hpp, operation by operation: the same tests on every device. Here memory,
// copies, queues, events and faults; what computes is in contract/.
#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "device/contract/contract.hpp"
#include "device/timeline.hpp"
#include "support/cases.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

TYPED_TEST_SUITE(DeviceContract, Precisions);

TYPED_TEST(DeviceContract, CopiesBlocksWithPitchesInBothDirections) {
  using T = TypeParam;
  Device& device = this->device();
  const Index m = 7, n = 5;
  const auto a = random_matrix<T>(m, n, 1);
  // Host (ld 9) -> a block inside a larger device matrix -> host (ld 8).
  auto target = this->upload(Padded<T>(m + 4, n + 3));  // all sentinels
  Buffer<T> staging_in(device, Space::host, 9 * n), staging_out(device, Space::host, 8 * n);
  const HostView<T> in(staging_in.data(), m, n, 9), out(staging_out.data(), m, n, 8);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) in(i, j) = a(i, j);
  }
  std::fill_n(staging_out.data(), 8 * n, sentinel<T>());
  const auto block = target.view.block(2, 1, m, n);
  this->queue().template copy<T>(block, HostView<const T>(in));
  this->queue().template copy<T>(out, DeviceView<const T>(block));
  this->queue().synchronize();
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) EXPECT_EQ(out(i, j), a(i, j));
    EXPECT_EQ(staging_out.data()[8 * j + m], sentinel<T>()) << "padding of column " << j;
  }
  const auto whole = this->download(target);
  for (Index j = 0; j < whole.cols(); ++j) {
    for (Index i = 0; i < whole.rows(); ++i) {
      const bool inside = i >= 2 && i < 2 + m && j >= 1 && j < 1 + n;
      EXPECT_EQ(whole(i, j), inside ? a(i - 2, j - 1) : sentinel<T>()) << i << "," << j;
    }
  }
}

struct CopyCase {
  Shape shape;
  Part part;
  Index diagonal;

  std::string name() const {
    return (testing::Message() << shape << ", " << name_of(part) << ", diagonal " << diagonal)
        .GetString();
  }
};

TYPED_TEST(DeviceContract, CopiesPartsOnTheDevice) {
  using T = TypeParam;
  constexpr Shape kShapes[] = {{7, 5}, {5, 9}, {300, 40}, {1, 1}, {9000, 2}};
  constexpr Index kDiagonals[] = {0, -2, 3, -500, 500};
  for (const CopyCase& c : cross<CopyCase>(kShapes, kParts, kDiagonals)) {
    SCOPED_TRACE(c.name());
    const auto [m, n] = c.shape;
    const auto a = random_matrix<T>(m, n, 1, 2);
    const auto from = this->upload(a), to = this->upload(Padded<T>(m, n, 5));
    this->queue().copy_on_device(
        {to.view.data, sizeof(T) * static_cast<std::size_t>(to.view.ld), from.view.data,
         sizeof(T) * static_cast<std::size_t>(from.view.ld), sizeof(T), m, n, c.part, c.diagonal});
    const auto copied = this->download(to);
    EXPECT_TRUE(all_elements(c.shape, [&](Index i, Index j) {
      return copied(i, j) == (inside(c.part, i, j, c.diagonal) ? a(i, j) : sentinel<T>());
    }));
    EXPECT_TRUE(copied.padding_untouched());
  }
}

TYPED_TEST(DeviceContract, CopiesElementsThatAreAlignedAsTheirParts) {
  using T = TypeParam;
  using R = Real<T>;
  constexpr Index parts = is_complex<T> ? 2 : 1;
  const Index m = 300, n = 4, ld = m + 1, size = parts * ld * n;
  const auto numbers = random_matrix<R>(size + 1, 1, 1);
  const auto from = this->upload(numbers), to = this->upload(Padded<R>(size + 1, 1));
  this->queue().copy_on_device({to.view.data + 1, sizeof(T) * static_cast<std::size_t>(ld),
                                from.view.data + 1, sizeof(T) * static_cast<std::size_t>(ld),
                                sizeof(T), m, n, Part::all, 0});
  const auto copied = this->download(to);
  for (Index i = 0; i < size + 1; ++i) {
    const bool inside = i > 0 && (i - 1) % (parts * ld) < parts * m;
    ASSERT_EQ(copied(i, 0), inside ? numbers(i, 0) : sentinel<R>()) << i;
  }
}

TYPED_TEST(DeviceContract, TellsKindsOfMemory) {
  using T = TypeParam;
  Buffer<T> staging(this->device(), Space::host, 100), memory(this->device(), Space::device, 100);
  const std::vector<T> plain(100);
  for (const Index i : {0, 99}) {
    EXPECT_EQ(this->device().kind_of(staging.data() + i), MemoryKind::pinned);
    EXPECT_EQ(this->device().kind_of(memory.data() + i), MemoryKind::device);
    EXPECT_EQ(this->device().kind_of(plain.data() + i), MemoryKind::pageable);
  }
  EXPECT_EQ(this->device().kind_of(nullptr), MemoryKind::pageable);
}

TYPED_TEST(DeviceContract, EmptyCopiesDoNothing) {
  using T = TypeParam;
  const std::size_t before = this->device().counters().bytes_to_device;
  this->queue().template copy<T>(DeviceView<T>(nullptr, 0, 5, 1),
                                 HostView<const T>(nullptr, 0, 5, 1));
  this->queue().template copy<T>(DeviceView<T>(nullptr, 5, 0, 5),
                                 HostView<const T>(nullptr, 5, 0, 5));
  this->queue().zero(nullptr, 0);
  this->queue().synchronize();
  EXPECT_EQ(this->device().counters().bytes_to_device, before);
}

TYPED_TEST(DeviceContract, CountsWhatItTransfersAndRuns) {
  using T = TypeParam;
  DeviceCounters& counters = this->device().counters();
  const std::size_t up = counters.bytes_to_device, down = counters.bytes_to_host,
                    kernels = counters.kernels;
  auto a = this->upload(random_matrix<T>(10, 10, 1));
  this->queue().zero(a.view.data, sizeof(T));
  this->download(a);
  EXPECT_EQ(counters.bytes_to_device - up, 100 * sizeof(T));
  EXPECT_EQ(counters.bytes_to_host - down, 100 * sizeof(T));
  EXPECT_EQ(counters.kernels - kernels, 1u);
}

TYPED_TEST(DeviceContract, ZeroesPartOfABuffer) {
  using T = TypeParam;
  auto a = this->upload(Padded<T>(100, 1));
  this->queue().zero(a.view.data + 10, 80 * sizeof(T));
  const auto result = this->download(a);
  for (Index i = 0; i < 100; ++i) {
    EXPECT_EQ(result(i, 0), i >= 10 && i < 90 ? T(0) : sentinel<T>()) << i;
  }
}

TYPED_TEST(DeviceContract, ZeroesPiecesOfABuffer) {
  using T = TypeParam;
  auto a = this->upload(Padded<T>(100, 1));
  this->queue().zero(a.view.data + 5, 7 * sizeof(T), 2 * sizeof(T), 10);
  this->queue().zero(a.view.data, 7 * sizeof(T), 2 * sizeof(T), 0);
  const auto result = this->download(a);
  for (Index i = 0; i < 100; ++i) {
    const bool inside = i >= 5 && i < 75 && (i - 5) % 7 < 2;
    EXPECT_EQ(result(i, 0), inside ? T(0) : sentinel<T>()) << i;
  }
}

TYPED_TEST(DeviceContract, OrdersWorkOfSeveralQueuesByEvents) {
  using T = TypeParam;
  Device& device = this->device();
  const Index n = 64;
  const auto a = random_matrix<T>(n, n, 1), b = random_matrix<T>(n, n, 2);
  Buffer<T> staging(device, Space::host, 2 * n * n), result(device, Space::host, n * n);
  Buffer<T> memory(device, Space::device, 3 * n * n);
  const DeviceView<T> da(memory.data(), n, n, n), db(memory.data() + n * n, n, n, n),
      dc(memory.data() + 2 * n * n, n, n, n);
  std::copy_n(a.view().data, n * n, staging.data());
  std::copy_n(b.view().data, n * n, staging.data() + n * n);
  EventLease uploaded(device), computed(device), downloaded(device);
  QueueLease up(device), compute(device, Priority::high), down(device);
  up->copy<T>(da, HostView<const T>(staging.data(), n, n, n));
  up->copy<T>(db, HostView<const T>(staging.data() + n * n, n, n, n));
  up->record(*uploaded);
  compute->wait(*uploaded);
  compute->enqueue(Gemm<T>{Op::none, Op::none, T(1), da, db, T(0), dc});
  compute->record(*computed);
  down->wait(*computed);
  down->copy<T>(HostView<T>(result.data(), n, n, n), DeviceView<const T>(dc));
  down->record(*downloaded);
  downloaded->synchronize();
  Padded<T> c(n, n);
  std::copy_n(result.data(), n * n, c.data());
  using W = Wide<T>;
  const auto expected =
      multiply_add<W, T>(W(1), applied(Op::none, a), applied(Op::none, b), W(0), Padded<T>(n, n));
  EXPECT_LT(max_difference(c, expected), sum_bound<T>(n));
  EXPECT_TRUE(uploaded->done());
  EXPECT_TRUE(computed->done());
}

TYPED_TEST(DeviceContract, AnEventNeverRecordedIsReached) {
  EventLease event(this->device());
  event->synchronize();
  EXPECT_TRUE(event->done());
  this->queue().wait(*event);
  this->queue().synchronize();
}

TYPED_TEST(DeviceContract, DoneBecomesTrueWithoutAnyOtherWait) {
  using T = TypeParam;
  Device& device = this->device();
  Buffer<T> staging(device, Space::host, 1), memory(device, Space::device, 1);
  EventLease event(device);
  QueueLease queue(device);
  queue->zero(memory.data(), sizeof(T));
  queue->copy<T>(HostView<T>(staging.data(), 1), DeviceView<const T>(memory.data(), 1));
  queue->record(*event);
  while (!event->done()) std::this_thread::yield();
  EXPECT_EQ(*staging.data(), T(0));
}

TYPED_TEST(DeviceContract, SignalsTellTheHostHowFarAQueueIs) {
  using T = TypeParam;
  Device& device = this->device();
  const Index n = 1000;
  Buffer<T> staging(device, Space::host, 2 * n), memory(device, Space::device, 2 * n);
  Buffer<Flag> flags(device, Space::host, 2);
  Flag* const mine = new (flags.data()) Flag(0);
  Flag* const other = new (flags.data() + 1) Flag(7);
  std::fill_n(staging.data(), 2 * n, sentinel<T>());
  EventLease zeroed(device);
  QueueLease compute(device), queue(device);
  compute->zero(memory.data(), sizeof(T) * 2 * n);
  compute->record(*zeroed);
  queue->wait(*zeroed);
  for (Index i = 0; i < 2; ++i) {
    queue->copy<T>(HostView<T>(staging.data() + i * n, n),
                   DeviceView<const T>(memory.data() + i * n, n));
    queue->signal(*mine, static_cast<std::uint32_t>(i + 1));
  }
  for (Index i = 0; i < 2; ++i) {
    while (mine->load(std::memory_order_acquire) <= static_cast<std::uint32_t>(i)) queue->poll();
    for (Index k = i * n; k < (i + 1) * n; ++k) ASSERT_EQ(staging.data()[k], T(0)) << k;
  }
  queue->poll();  // nothing is under way any more
  EXPECT_EQ(*mine, 2u);
  EXPECT_EQ(*other, 7u);
}

TYPED_TEST(DeviceContract, AWaitCapturesTheRecordingThatIsCurrent) {
  // If the second recording of `ping` counted, each queue would wait for the other for ever.
  Device& device = this->device();
  EventLease ping(device), pong(device);
  QueueLease one(device), two(device);
  for (int round = 0; round < 3; ++round) {
    one->record(*ping);
    two->wait(*ping);
    two->record(*pong);
    one->wait(*pong);
    one->record(*ping);
  }
  two->synchronize();
  one->synchronize();
  EXPECT_TRUE(ping->done());
  EXPECT_TRUE(pong->done());
}

TYPED_TEST(DeviceContract, RecordingAgainMovesTheEvent) {
  using T = TypeParam;
  Device& device = this->device();
  Buffer<T> staging(device, Space::host, 2), memory(device, Space::device, 2);
  std::fill_n(staging.data(), 2, sentinel<T>());
  EventLease event(device);
  QueueLease queue(device);
  queue->zero(memory.data(), 2 * sizeof(T));
  for (Index i = 0; i < 2; ++i) {
    queue->copy<T>(HostView<T>(staging.data() + i, 1), DeviceView<const T>(memory.data() + i, 1));
    queue->record(*event);
  }
  event->synchronize();
  EXPECT_EQ(staging.data()[0], T(0));
  EXPECT_EQ(staging.data()[1], T(0));
}

TYPED_TEST(DeviceContract, PoolsHandOutTheSameMemoryAgain) {
  using T = TypeParam;
  for (const Space space : {Space::host, Space::device}) {
    T* first = nullptr;
    {
      Buffer<T> buffer(this->device(), space, 1000);
      first = buffer.data();
    }
    Buffer<T> same(this->device(), space, 1000);
    EXPECT_EQ(same.data(), first);
    Buffer<T> other(this->device(), space, 1000);
    EXPECT_NE(other.data(), first);
  }
}

TYPED_TEST(DeviceContract, TimedEventsTellTheTimeBetweenThem) {
  using T = TypeParam;
  Device& device = this->device();
  const Index n = 192;
  const auto a = this->upload(random_matrix<T>(n, n, 1));
  const auto c = this->upload(random_matrix<T>(n, n, 2));
  EventLease start(device, Timed::yes), one(device, Timed::yes), more(device, Timed::yes);
  QueueLease queue(device), other(device);
  const auto multiply = [&](int times) {
    for (int i = 0; i < times; ++i) {
      queue->enqueue(Gemm<T>{Op::none, Op::none, T(1), a, a, T(0), c});
    }
  };
  multiply(1);  // warms up
  queue->synchronize();
  const auto before = std::chrono::steady_clock::now();
  queue->record(*start);
  multiply(1);
  queue->record(*one);
  multiply(20);
  queue->record(*more);
  // Asking waits: nobody has waited for the queue.
  const double first = one->since(*start), rest = more->since(*one);
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - before;
  EXPECT_GT(first, 0);
  EXPECT_GT(rest, 0);
  EXPECT_LE(first + rest, 1.01 * elapsed.count() + 2);
  EXPECT_NEAR(more->since(*start), first + rest, 1e-3 * (first + rest) + 2);
  EXPECT_NEAR(start->since(*more), -(first + rest), 1e-3 * (first + rest) + 2);
  EXPECT_EQ(one->since(*one), 0);
  EXPECT_TRUE(more->done());
  // The clock is the device's, not the queue's; and recording again moves an event.
  other->record(*one);
  EXPECT_GT(one->since(*more), 0);
}

TYPED_TEST(DeviceContract, OnlyTimedEventsThatWereRecordedHaveATime) {
  Device& device = this->device();
  EventLease timed(device, Timed::yes), plain(device);
  QueueLease queue(device);
  queue->record(*timed);
  queue->record(*plain);
  EXPECT_THROW(plain->since(*timed), std::logic_error);
  EXPECT_THROW(timed->since(*plain), std::logic_error);
  EXPECT_EQ(timed->timed(), Timed::yes);
  EXPECT_EQ(plain->timed(), Timed::no);
  // A timed event does all that others do.
  EventLease again(device, Timed::yes);
  QueueLease other(device);
  other->wait(*timed);
  other->record(*again);
  again->synchronize();
  EXPECT_TRUE(timed->done());
}

TYPED_TEST(DeviceContract, ATimelineHoldsTheSpansOfItsLife) {
  using T = TypeParam;
  Device& device = this->device();
  const auto a = this->upload(random_matrix<T>(64, 64, 1));
  QueueLease one(device, Priority::normal, "one"), two(device, Priority::high, "two");
  const auto multiply = [&](Queue& queue, const char* name, Index block) {
    const Span span(queue, name, block);
    queue.enqueue(Gemm<T>{Op::none, Op::none, T(0), a, a, T(1), a});
  };
  multiply(*one, "early", 0);  // no timeline yet
  ASSERT_EQ(device.timeline(), nullptr);
  {
    Timeline timeline(device);
    ASSERT_EQ(device.timeline(), &timeline);
    multiply(*one, "first", 1);
    multiply(*one, "second", 2);
    one->synchronize();
    multiply(*two, "third", 3);
    two->synchronize();
    {
      Span span(device, "here", 4);
      span.end();
      span.end();  // does nothing
    }
    std::thread([&] { const Span span(device, "there", 5); }).join();
    const auto spans = timeline.collect();
    ASSERT_EQ(spans.size(), 5u);
    const char* const names[] = {"first", "second", "third", "here", "there"};
    const char* const lanes[] = {"one", "one", "two", "host thread 0", "host thread 1"};
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_STREQ(spans[i].name, names[i]);
      EXPECT_EQ(spans[i].lane, lanes[i]);
      EXPECT_EQ(spans[i].block, static_cast<Index>(i) + 1);
      EXPECT_EQ(spans[i].on_device, i < 3);
      EXPECT_GE(spans[i].begin, 0);
      EXPECT_GE(spans[i].end, spans[i].begin);
      // The host's clock and the device's agree to within microseconds.
      const bool same_clock = i == 1 || i == 4;
      if (i > 0) {
        EXPECT_GE(spans[i].begin, spans[i - 1].end - (same_clock ? 0 : 20));
      }
    }
    EXPECT_TRUE(timeline.collect().empty()) << "collected twice";
  }
  EXPECT_EQ(device.timeline(), nullptr);
  multiply(*one, "late", 6);
}

TYPED_TEST(DeviceContract, CountsTheMemoryInItsPools) {
  using T = TypeParam;
  Device& device = this->device();
  for (const Space space : {Space::host, Space::device}) {
    const std::size_t bytes = 777 * sizeof(T);
    const PoolUse before = device.pool_use(space);
    EXPECT_GE(before.held, before.leased);
    {
      Buffer<T> one(device, space, 777);
      { Buffer<T> two(device, space, 777); }
      device.reset_peak_use();
      EXPECT_EQ(device.pool_use(space).peak, device.pool_use(space).leased);
      { Buffer<T> two(device, space, 777); }
      const PoolUse use = device.pool_use(space);
      EXPECT_GE(use.leased, before.leased + bytes);
      EXPECT_GE(use.peak, use.leased + bytes);
      EXPECT_LE(use.peak, use.leased + 2 * bytes + sizeof(T)) << "no block is half empty";
      EXPECT_GE(use.held, use.peak);
    }
    const PoolUse after = device.pool_use(space);
    EXPECT_EQ(after.leased, before.leased);
    EXPECT_GE(after.held, before.held) << "given back to the pool, not to the driver";
  }
}

TYPED_TEST(DeviceContract, IdleStagingMemoryIsGivenBackBeforeItIsTooMuch) {
  const Index bytes = Index{300} << 20;
  const char *first = nullptr, *second = nullptr;
  {
    const Buffer<char> later(this->device(), Space::host, bytes);
    second = later.data();
    {
      const Buffer<char> earlier(this->device(), Space::host, bytes);
      first = earlier.data();
    }
    EXPECT_EQ(this->device().kind_of(first), MemoryKind::pinned) << "kept for the next call";
  }
  EXPECT_EQ(this->device().kind_of(first), MemoryKind::pageable);
  EXPECT_EQ(this->device().kind_of(second), MemoryKind::pinned) << "used last";
}

TYPED_TEST(DeviceContract, MemoryBeyondTheDeviceIsRefusedAndTheDeviceStaysUsable) {
  using T = TypeParam;
  const auto too_many = static_cast<Index>(this->device().memory() / sizeof(T)) * 2;
  try {
    Buffer<T> buffer(this->device(), Space::device, too_many);
    FAIL() << "twice the device's memory was granted";
  } catch (const DeviceError& error) {
    EXPECT_FALSE(error.lost()) << error.what();
  }
  const auto a = random_matrix<T>(5, 5, 1);
  EXPECT_EQ(this->download(this->upload(a))(4, 4), a(4, 4));
}

TYPED_TEST(DeviceContract, AnObserverCanMakeAnyActionFail) {
  using T = TypeParam;
  Device& device = this->device();
  const auto work = [&] {
    Buffer<T> staging(device, Space::host, 1), memory(device, Space::device, 1);
    EventLease event(device, Timed::yes);
    QueueLease queue(device);
    *staging.data() = T(4);
    const DeviceView<T> view(memory.data(), 1);
    queue->copy<T>(view, HostView<const T>(staging.data(), 1));
    queue->record(*event);
    queue->wait(*event);
    queue->enqueue(Gemm<T>{Op::none, Op::none, T(1), view, view, T(1), view});
    queue->copy<T>(HostView<T>(staging.data(), 1), DeviceView<const T>(view));
    queue->synchronize();
    EXPECT_EQ(event->since(*event), 0);
    return *staging.data();
  };
  // 4 acquisitions, copy, record, wait, gemm, copy, synchronize, since.
  for (Index at = 1; at <= 11; ++at) {
    FaultAt fault(at);
    device.set_observer(&fault);
    EXPECT_THROW(work(), DeviceError) << "action " << at;
    device.set_observer(nullptr);
  }
  FaultAt beyond(12);
  device.set_observer(&beyond);
  work();
  device.set_observer(nullptr);
  EXPECT_EQ(beyond.count(), 11);
}

}  // namespace
}  // namespace overlapack
