// The contract of device.hpp, operation by operation: the same tests on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "device/timeline.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/residual.hpp"

namespace overlapack {
namespace {

using namespace testing_support;

/// A matrix in device memory.
template <class T>
struct OnDevice {
  Buffer<T> memory;
  DeviceView<T> view;
  operator DeviceView<T>() const { return view; }
  operator DeviceView<const T>() const { return view; }
};

template <class Scalar>
class DeviceContract : public DeviceTest {
 protected:
  using T = Scalar;

  void SetUp() override {
    DeviceTest::SetUp();
    if (device_) queue_ = std::make_unique<QueueLease>(device());
  }
  void TearDown() override {
    queue_.reset();
    DeviceTest::TearDown();
  }

  Queue& queue() { return **queue_; }
  Kernels<T>& kernels() { return device().template kernels<T>(); }

  /// Uploads a matrix, padding included, and waits.
  template <class U>
  OnDevice<U> upload(const Padded<U>& a) {
    const Index count = a.ld() * std::max<Index>(1, a.cols());
    Buffer<U> staging(this->device(), Space::host, count);
    Buffer<U> memory(this->device(), Space::device, count);
    std::copy_n(a.view().data, count, staging.data());
    queue().template copy<U>(DeviceView<U>(memory.data(), count),
                             HostView<const U>(staging.data(), count));
    queue().synchronize();
    const DeviceView<U> view(memory.data(), a.rows(), a.cols(), a.ld());
    return {std::move(memory), view};
  }
  /// The matrix as it is after all work of the queue, padding included.
  template <class U>
  Padded<U> download(const OnDevice<U>& a) {
    const DeviceView<U>& view = a.view;
    const Index count = view.ld * std::max<Index>(1, view.cols);
    Padded<U> result(view.rows, view.cols, view.ld - view.rows);
    Buffer<U> staging(this->device(), Space::host, count);
    queue().template copy<U>(HostView<U>(staging.data(), count),
                             DeviceView<const U>(view.data, count));
    queue().synchronize();
    std::copy_n(staging.data(), count, result.data());
    return result;
  }
  OnDevice<Index> upload_index(Index value) {
    Padded<Index> one(1, 1);
    one(0, 0) = value;
    return upload(one);
  }
  Index download_index(const OnDevice<Index>& a) { return download(a)(0, 0); }

  std::unique_ptr<QueueLease> queue_;
};

TYPED_TEST_SUITE(DeviceContract, Precisions);

/// op(A) as a matrix of its own, by definition.
template <class T>
Padded<Wide<T>> applied(Op op, const Padded<T>& a) {
  const bool same = op == Op::none;
  Padded<Wide<T>> result(same ? a.rows() : a.cols(), same ? a.cols() : a.rows());
  for (Index j = 0; j < result.cols(); ++j) {
    for (Index i = 0; i < result.rows(); ++i) {
      const auto x = Wide<T>(same ? a(i, j) : a(j, i));
      result(i, j) = op == Op::conj_trans ? conj(x) : x;
    }
  }
  return result;
}

/// alpha A B + beta C by the definition, in double precision, independent of any library.
template <class W, class T>
Padded<W> multiply_add(W alpha, const Padded<W>& a, const Padded<W>& b, W beta,
                       const Padded<T>& c) {
  Padded<W> result(c.rows(), c.cols());
  for (Index j = 0; j < c.cols(); ++j) {
    for (Index i = 0; i < c.rows(); ++i) {
      W sum(0);
      for (Index l = 0; l < a.cols(); ++l) sum += a(i, l) * b(l, j);
      result(i, j) = alpha * sum + (beta == W(0) ? W(0) : beta * W(c(i, j)));
    }
  }
  return result;
}

/// The largest |got - expected| over a part of the matrix that `select(i, j)` chooses; NaN if any
/// is NaN.
template <class T, class Select>
double max_difference(const Padded<T>& got, const Padded<Wide<T>>& expected, Select select) {
  double worst = 0;
  for (Index j = 0; j < got.cols(); ++j) {
    for (Index i = 0; i < got.rows(); ++i) {
      if (!select(i, j)) continue;
      const double difference = std::abs(Wide<T>(got(i, j)) - expected(i, j));
      if (std::isnan(difference)) return difference;
      worst = std::max(worst, difference);
    }
  }
  return worst;
}
template <class T>
double max_difference(const Padded<T>& got, const Padded<Wide<T>>& expected) {
  return max_difference(got, expected, [](Index, Index) { return true; });
}

/// A bound for the rounding errors of sums of k products of numbers of modulus up to 2.
template <class T>
double sum_bound(Index k) {
  return 8 * static_cast<double>(k + 4) * epsilon<T>() * (is_complex<T> ? 4 : 1);
}

template <class T>
T scalar(double re, double im) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(re), static_cast<Real<T>>(im));
  } else {
    return static_cast<T>(re);
  }
}

constexpr Op kOps[] = {Op::none, Op::trans, Op::conj_trans};

// ---- Memory, copies, events ---------------------------------------------------------------

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

TYPED_TEST(DeviceContract, CopiesPartsOnTheDevice) {
  using T = TypeParam;
  const std::pair<Index, Index> shapes[] = {{7, 5}, {5, 9}, {300, 40}, {1, 1}, {9000, 2}};
  for (const auto& [m, n] : shapes) {
    const auto a = random_matrix<T>(m, n, 1, 2);
    const auto from = this->upload(a);
    for (const Part part : {Part::all, Part::lower, Part::upper}) {
      for (const Index diagonal : {Index{0}, Index{-2}, Index{3}, Index{-500}, Index{500}}) {
        const auto to = this->upload(Padded<T>(m, n, 5));
        this->queue().copy_on_device(
            to.view.data, sizeof(T) * static_cast<std::size_t>(to.view.ld), from.view.data,
            sizeof(T) * static_cast<std::size_t>(from.view.ld), sizeof(T), m, n, part, diagonal);
        const auto copied = this->download(to);
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < m; ++i) {
            const bool inside =
                part == Part::all || (part == Part::lower ? i >= j + diagonal : i <= j + diagonal);
            ASSERT_EQ(copied(i, j), inside ? a(i, j) : sentinel<T>())
                << m << "x" << n << " part " << static_cast<int>(part) << " diagonal " << diagonal
                << " at " << i << "," << j;
          }
        }
        EXPECT_TRUE(copied.padding_untouched());
      }
    }
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
  this->kernels().gemm(*compute, Op::none, Op::none, T(1), da, db, T(0), dc);
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
      this->kernels().gemm(*queue, Op::none, Op::none, T(1), a, a, T(0), c);
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
    this->kernels().gemm(queue, Op::none, Op::none, T(0), a, a, T(1), a);
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
  const Index bytes = Index{200} << 20;
  const char* first = nullptr;
  {
    const Buffer<char> buffer(this->device(), Space::host, bytes);
    first = buffer.data();
  }
  EXPECT_EQ(this->device().kind_of(first), MemoryKind::pinned) << "kept for the next call";
  const Buffer<char> other(this->device(), Space::host, bytes / 3);  // too small for that block
  EXPECT_FALSE(other.data() <= first && first < other.data() + other.size());
  EXPECT_EQ(this->device().kind_of(first), MemoryKind::pageable);
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

// ---- gemm, herk, trsm ---------------------------------------------------------------------

TYPED_TEST(DeviceContract, GemmForAllOperands) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index shapes[][3] = {{1, 1, 1}, {5, 7, 3}, {33, 20, 65}, {64, 64, 64}, {130, 70, 33}};
  for (const auto& [m, n, k] : shapes) {
    const auto c = random_matrix<T>(m, n, 3, 2);
    for (const Op op_a : kOps) {
      const auto a = op_a == Op::none ? random_matrix<T>(m, k, 1, 1) : random_matrix<T>(k, m, 1, 1);
      const auto da = this->upload(a);
      for (const Op op_b : kOps) {
        SCOPED_TRACE(testing::Message()
                     << m << "x" << n << "x" << k << " " << char(op_a) << char(op_b));
        const auto b =
            op_b == Op::none ? random_matrix<T>(k, n, 2, 3) : random_matrix<T>(n, k, 2, 3);
        const auto db = this->upload(b);
        const auto dc = this->upload(c);
        const T alpha = scalar<T>(-1.5, 0.5), beta = scalar<T>(0.75, -0.25);
        this->kernels().gemm(this->queue(), op_a, op_b, alpha, da, db, beta, dc);
        const auto result = this->download(dc);
        const auto expected =
            multiply_add<W, T>(W(alpha), applied(op_a, a), applied(op_b, b), W(beta), c);
        EXPECT_LT(max_difference(result, expected), sum_bound<T>(k));
        EXPECT_TRUE(result.padding_untouched());
      }
    }
  }
}

TYPED_TEST(DeviceContract, GemmWithZeroFactorsAndEmptyOperands) {
  using T = TypeParam;
  const Index m = 9, n = 6, k = 4;
  const auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(k, n, 2);
  const auto c = random_matrix<T>(m, n, 3, 1);
  const auto da = this->upload(a), db = this->upload(b);
  const DeviceView<const T> no_columns = DeviceView<const T>(da).block(0, 0, m, 0),
                            no_rows = DeviceView<const T>(db).block(0, 0, 0, n);
  Padded<T> poisoned(m, n, 1);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) poisoned(i, j) = nan<T>();
  }
  using W = Wide<T>;
  const auto product =
      multiply_add<W, T>(W(1), applied(Op::none, a), applied(Op::none, b), W(0), c);
  auto& kernels = this->kernels();
  auto& queue = this->queue();

  auto dc = this->upload(poisoned);  // beta = 0 does not read C
  kernels.gemm(queue, Op::none, Op::none, T(1), da, db, T(0), dc);
  EXPECT_LT(max_difference(this->download(dc), product), sum_bound<T>(k));

  dc = this->upload(poisoned);
  kernels.gemm(queue, Op::none, Op::none, T(1), no_columns, no_rows, T(0), dc);
  EXPECT_EQ(max_difference(this->download(dc), multiply_add<W, T>(W(0), applied(Op::none, a),
                                                                  applied(Op::none, b), W(0), c)),
            0);

  dc = this->upload(c);  // nothing to add: C := beta C
  kernels.gemm(queue, Op::none, Op::none, T(1), no_columns, no_rows, T(2), dc);
  const auto doubled =
      multiply_add<W, T>(W(0), applied(Op::none, a), applied(Op::none, b), W(2), c);
  EXPECT_EQ(max_difference(this->download(dc), doubled), 0);
  dc = this->upload(c);
  kernels.gemm(queue, Op::none, Op::none, T(0), da, db, T(2), dc);
  EXPECT_EQ(max_difference(this->download(dc), doubled), 0);

  dc = this->upload(c);  // an empty C
  kernels.gemm(queue, Op::none, Op::none, T(1), DeviceView<const T>(da).block(0, 0, 0, k), db, T(1),
               dc.view.block(0, 0, 0, n));
  kernels.gemm(queue, Op::none, Op::none, T(1), da, DeviceView<const T>(db).block(0, 0, k, 0), T(1),
               dc.view.block(0, 0, m, 0));
  EXPECT_EQ(max_difference(this->download(dc), applied(Op::none, c)), 0);
}

TYPED_TEST(DeviceContract, HerkUpdatesOneTriangleAndMakesTheDiagonalReal) {
  using T = TypeParam;
  using W = Wide<T>;
  struct Factors {
    Real<T> alpha, beta;
  };
  const Index shapes[][2] = {{1, 1}, {2, 5}, {33, 7}, {64, 64}, {100, 130}};
  for (const auto& [n, k] : shapes) {
    for (const Uplo uplo : kUplos) {
      for (const Op op : {Op::none, Op::conj_trans}) {
        const auto a = op == Op::none ? random_matrix<T>(n, k, 1, 1) : random_matrix<T>(k, n, 1, 1);
        const auto da = this->upload(a);
        const Op op_h = op == Op::none ? Op::conj_trans : Op::none;
        for (const Factors f : {Factors{-1, 1}, Factors{Real<T>(0.5), 0}, Factors{0, 2}}) {
          SCOPED_TRACE(testing::Message() << n << "," << k << " " << char(uplo) << char(op)
                                          << " alpha " << f.alpha << " beta " << f.beta);
          auto c = random_matrix<T>(n, n, 2, 3);  // the diagonal is complex, too
          if (f.beta == 0) {
            for (Index j = 0; j < n; ++j) {
              for (Index i = 0; i < n; ++i) c(i, j) = nan<T>();
            }
          }
          c.forbid_other_triangle(uplo);
          const auto dc = this->upload(c);
          this->kernels().herk(this->queue(), uplo, op, f.alpha, da, f.beta, dc);
          const auto result = this->download(dc);
          EXPECT_TRUE(result.padding_untouched());
          EXPECT_TRUE(result.other_triangle_untouched(uplo));
          for (Index j = 0; j < n; ++j) c(j, j) = T(real(c(j, j)));
          const auto expected =
              multiply_add<W, T>(W(f.alpha), applied(op, a), applied(op_h, a), W(f.beta), c);
          EXPECT_LT(max_difference(
                        result, expected,
                        [&](Index i, Index j) { return uplo == Uplo::lower ? i >= j : i <= j; }),
                    sum_bound<T>(k));
          if constexpr (is_complex<T>) {
            for (Index j = 0; j < n; ++j) EXPECT_EQ(result(j, j).imag(), 0);
          }
        }
      }
    }
  }
}

TYPED_TEST(DeviceContract, TrsmForAllOperands) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index shapes[][2] = {{1, 1}, {5, 3}, {33, 20}, {20, 65}, {130, 17}};
  const T alpha = scalar<T>(-0.5, 1);
  for (const auto& [m, n] : shapes) {
    for (const Side side : {Side::left, Side::right}) {
      const Index order = side == Side::left ? m : n;
      for (const Uplo uplo : kUplos) {
        for (const Diag diag : {Diag::non_unit, Diag::unit}) {
          // A well-conditioned triangle; everything that must not be referenced is a NaN.
          auto a = random_matrix<T>(order, order, 1, 2);
          Padded<T> whole(order, order);
          for (Index j = 0; j < order; ++j) {
            for (Index i = 0; i < order; ++i) {
              const bool stored = uplo == Uplo::lower ? i > j : i < j;
              const T small = a(i, j) / T(static_cast<Real<T>>(order));
              whole(i, j) = stored ? small : T(0);
              a(i, j) = stored ? small : nan<T>();
            }
            whole(j, j) = diag == Diag::unit ? T(1) : scalar<T>(2, 1);
            if (diag == Diag::non_unit) a(j, j) = whole(j, j);
          }
          const auto da = this->upload(a);
          for (const Op op : kOps) {
            SCOPED_TRACE(testing::Message() << m << "x" << n << " " << char(side) << char(uplo)
                                            << char(op) << char(diag));
            const auto b = random_matrix<T>(m, n, 2, 1);
            const auto db = this->upload(b);
            this->kernels().trsm(this->queue(), side, uplo, op, diag, alpha, da, db);
            const auto x = this->download(db);
            EXPECT_TRUE(x.padding_untouched());
            // op(A) X = alpha B, or X op(A) = alpha B.
            const auto wide_x = applied(Op::none, x);
            const auto product =
                side == Side::left ? multiply_add<W, T>(W(1), applied(op, whole), wide_x, W(0), b)
                                   : multiply_add<W, T>(W(1), wide_x, applied(op, whole), W(0), b);
            Padded<W> scaled_b(m, n);
            for (Index j = 0; j < n; ++j) {
              for (Index i = 0; i < m; ++i) scaled_b(i, j) = W(alpha) * W(b(i, j));
            }
            EXPECT_LT(max_difference(product, scaled_b), sum_bound<T>(order));
          }
        }
      }
    }
  }
}

TYPED_TEST(DeviceContract, TrsmWithManyRightHandSides) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index order = 40;
  auto l = random_matrix<T>(order, order, 1, 2);
  Padded<T> whole(order, order);
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < order; ++i) {
      l(i, j) = i > j ? l(i, j) / T(static_cast<Real<T>>(order)) : nan<T>();
      whole(i, j) = i > j ? l(i, j) : T(i == j);
    }
  }
  const auto dl = this->upload(l);
  for (const Index count : {2047, 2049, 5000, 20000}) {
    SCOPED_TRACE(count);
    const auto b = random_matrix<T>(order, count, 2, 1), c = random_matrix<T>(count, order, 3, 1);
    const auto db = this->upload(b), dc = this->upload(c);
    this->kernels().trsm(this->queue(), Side::left, Uplo::lower, Op::none, Diag::unit, T(1), dl,
                         db);
    this->kernels().trsm(this->queue(), Side::right, Uplo::lower, Op::conj_trans, Diag::unit, T(1),
                         dl, dc);
    const auto x = this->download(db), y = this->download(dc);
    const auto lx =
        multiply_add<W, T>(W(1), applied(Op::none, whole), applied(Op::none, x), W(0), b);
    const auto yl =
        multiply_add<W, T>(W(1), applied(Op::none, y), applied(Op::conj_trans, whole), W(0), c);
    EXPECT_LT(max_difference(b, lx), sum_bound<T>(order));
    EXPECT_LT(max_difference(c, yl), sum_bound<T>(order));
    EXPECT_TRUE(x.padding_untouched() && y.padding_untouched());
  }
}

TYPED_TEST(DeviceContract, TrsmWithZeroAlphaAndEmptyOperands) {
  using T = TypeParam;
  const Index m = 6, n = 4;
  const auto da = this->upload(random_matrix<T>(m, m, 1));
  Padded<T> b(m, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) b(i, j) = nan<T>();
  }
  auto db = this->upload(b);
  this->kernels().trsm(this->queue(), Side::left, Uplo::lower, Op::none, Diag::non_unit, T(0), da,
                       db);
  const auto zero = this->download(db);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) EXPECT_EQ(zero(i, j), T(0));
  }
  this->kernels().trsm(this->queue(), Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1), da,
                       db.view.block(0, 0, m, 0));
  this->kernels().trsm(this->queue(), Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1),
                       DeviceView<const T>(da).block(0, 0, 0, 0), db.view.block(0, 0, 0, n));
  this->queue().synchronize();
}

// ---- add -----------------------------------------------------------------------------------

TYPED_TEST(DeviceContract, AddAccumulatesOrCopies) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {100, 7}, {33, 130}, {0, 5}, {5, 0}}) {
    for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
      for (const T beta : {T(0), T(1), T(-2)}) {
        SCOPED_TRACE(testing::Message() << m << "x" << n << " " << char(op) << " " << real(beta));
        const bool same = op == Op::none;
        const auto a = random_matrix<T>(same ? m : n, same ? n : m, 1, 2);
        // With beta = 0 what stood there, here a NaN, does not count.
        auto b = random_matrix<T>(m, n, 2, 3);
        if (beta == T(0) && m > 0 && n > 0) b(0, 0) = nan<T>();
        const auto da = this->upload(a), db = this->upload(b);
        this->kernels().add(this->queue(), op, da, beta, db);
        const auto sum = this->download(db);
        EXPECT_TRUE(sum.padding_untouched());
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < m; ++i) {
            T expected = same ? a(i, j) : a(j, i);
            if (op == Op::conj_trans) expected = conj(expected);
            if (beta != T(0)) expected += beta * b(i, j);
            ASSERT_LE(std::abs(sum(i, j) - expected), 4 * epsilon<T>()) << i << "," << j;
          }
        }
      }
    }
  }
}

// ---- potrf_panel, invert_blocks -------------------------------------------------------------

template <class T>
Padded<T> conj_transposed(const Padded<T>& a, Index padding) {
  Padded<T> result(a.cols(), a.rows(), padding);
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) result(j, i) = conj(a(i, j));
  }
  return result;
}

template <class T>
class CholeskyContract : public DeviceContract<T> {
 protected:
  /// What potrf_panel leaves.
  struct Panel {
    OnDevice<T> factor;
    OnDevice<Index> info;
  };

  /// Numbers of columns up to the largest, around powers of two and multiples of small tiles.
  std::vector<Index> orders() {
    std::vector<Index> all;
    for (const Index n : {1, 2, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128}) {
      if (n <= this->kernels().potrf_panel_width()) all.push_back(n);
    }
    return all;
  }

  Panel factor(Uplo uplo, const Padded<T>& a, Index offset = 0, Index info = 0) {
    Panel panel{this->upload(a), this->upload_index(info)};
    const auto from = this->upload(a);
    this->kernels().potrf_panel(this->queue(), uplo, from, panel.factor, panel.info, offset);
    return panel;
  }
};
TYPED_TEST_SUITE(CholeskyContract, Precisions);

TYPED_TEST(CholeskyContract, PotrfPanelFactorsOneTriangle) {
  using T = TypeParam;
  for (const Index n : this->orders()) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << " " << char(uplo));
      auto a = positive_definite<T>(n, 1, 3);
      a.forbid_other_triangle(uplo);
      auto given = a;  // what stands in the imaginary part of the diagonal is ignored
      for (Index j = 0; j < n; ++j) given(j, j) += scalar<T>(0, 1000);
      const auto panel = this->factor(uplo, given, 7);
      const auto factor = this->download(panel.factor);
      EXPECT_EQ(this->download_index(panel.info), 0);
      EXPECT_LT(potrf_residual<T>(uplo, a.view(), factor.view()), kThreshold);
      EXPECT_TRUE(factor.padding_untouched());
      EXPECT_TRUE(factor.other_triangle_untouched(uplo));
      for (Index j = 0; j < n; ++j) {
        EXPECT_GT(real(factor(j, j)), 0);
        if constexpr (is_complex<T>) {
          EXPECT_EQ(factor(j, j).imag(), 0);
        }
      }
    }
  }
}

TYPED_TEST(CholeskyContract, PotrfPanelFindsTheClosedFormFactor) {
  using T = TypeParam;
  const Index n = std::min<Index>(25, this->kernels().potrf_panel_width());
  for (const Uplo uplo : kUplos) {
    const auto panel = this->factor(uplo, closed_form_spd<T>(n));
    const auto factor = this->download(panel.factor);
    EXPECT_EQ(this->download_index(panel.info), 0);
    for (Index c = 0; c < n; ++c) {
      for (Index r = c; r < n; ++r) {
        const T expected = closed_form_factor<T>(r, c);
        const T got = uplo == Uplo::lower ? factor(r, c) : conj(factor(c, r));
        EXPECT_LE(std::abs(got - expected), 1000 * epsilon<T>() * std::abs(expected))
            << r << "," << c;
      }
    }
  }
}

TYPED_TEST(CholeskyContract, PotrfPanelStopsAtTheFirstMinorThatIsNotPositiveDefinite) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index offset = 1000;
  for (const Index n : this->orders()) {
    for (const Index below : {Index{0}, Index{20}, Index{300}}) {
      for (const Index position : {Index{0}, n / 2, n - 1}) {
        for (const Uplo uplo : kUplos) {
          for (const T bad : {T(-1), T(0), nan<T>()}) {
            SCOPED_TRACE(testing::Message() << n << " and " << below << " " << char(uplo) << " at "
                                            << position << ": " << real(bad));
            // The first columns of a larger matrix.
            auto whole = positive_definite<T>(n + below, 1);
            whole(position, position) = bad;
            Padded<T> a(n + below, n, 1);
            for (Index j = 0; j < n; ++j) {
              for (Index i = j; i < n + below; ++i) a(i, j) = whole(i, j);
            }
            const bool lower = uplo == Uplo::lower;
            const auto panel = this->factor(uplo, lower ? a : conj_transposed(a, 1), offset);
            auto factor = this->download(panel.factor);
            EXPECT_EQ(this->download_index(panel.info), offset + position + 1);
            EXPECT_TRUE(factor.padding_untouched());
            if (!lower) factor = conj_transposed(factor, 0);
            // The leading minor before it holds its factor, and its columns go on below.
            const Index good = position, last = n + below - 1;
            EXPECT_LT(potrf_residual<T>(Uplo::lower, a.view().block(0, 0, good, good),
                                        factor.view().block(0, 0, good, good)),
                      kThreshold);
            if (good == 0 || position == last) continue;
            W sum(0);  // A(last, good - 1)
            for (Index l = 0; l < good; ++l) {
              sum += W(factor(last, l)) * conj(W(factor(good - 1, l)));
            }
            EXPECT_LT(std::abs(sum - W(a(last, good - 1))), sum_bound<T>(n));
          }
        }
      }
    }
  }
}

TYPED_TEST(CholeskyContract, PotrfPanelKeepsAnEarlierInfo) {
  using T = TypeParam;
  const auto panel = this->factor(Uplo::lower, indefinite_at<T>(15, 10, 1), 100, 5);
  EXPECT_EQ(this->download_index(panel.info), 5);
}

/// The largest |x L^H - a| relative to |x| |L^H|, in units of the precision.
template <class T>
double strip_error(const Padded<T>& l, const Padded<T>& a, const Padded<T>& x) {
  using W = Wide<T>;
  double worst = 0;
  for (Index j = 0; j < l.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      W sum(0);
      double magnitude = 0;
      for (Index k = 0; k <= j; ++k) {
        sum += W(x(i, k)) * conj(W(l(j, k)));
        magnitude += std::abs(W(x(i, k))) * std::abs(W(l(j, k)));
      }
      worst = std::max(worst, std::abs(sum - W(a(i, j))) / magnitude);
    }
  }
  return worst / epsilon<T>();
}

TYPED_TEST(CholeskyContract, PotrfPanelSolvesForTheRowsBelow) {
  using T = TypeParam;
  using W = Wide<T>;
  for (const bool well_conditioned : {true, false}) {
    for (const Index n : this->orders()) {
      if (!well_conditioned && n < 12) continue;
      for (const Index m : {Index{1}, Index{15}, Index{127}, Index{128}, Index{129}, Index{1000}}) {
        for (const Uplo uplo : kUplos) {
          for (const bool in_place : {false, true}) {
            SCOPED_TRACE(testing::Message() << n << " " << m << " " << char(uplo) << " "
                                            << well_conditioned << " " << in_place);
            const auto diagonal =
                well_conditioned ? positive_definite<T>(n, 3) : exact_ill_conditioned_spd<T>(n);
            auto l = diagonal;
            ASSERT_EQ(reference::potrf(Uplo::lower, l.view()), 0);
            // A moderate solution: the right-hand sides, rounded, are moderate, too, and a product
            // with a large inverse would lose digits.
            const auto expected = random_matrix<T>(m, n, 4);
            Padded<T> panel(n + m, n, 2), below(m, n);
            for (Index j = 0; j < n; ++j) {
              for (Index i = j; i < n; ++i) panel(i, j) = diagonal(i, j);
              for (Index i = 0; i < m; ++i) {
                W sum(0);
                for (Index k = 0; k <= j; ++k) sum += W(expected(i, k)) * conj(W(l(j, k)));
                panel(n + i, j) = below(i, j) = T(sum);
              }
            }
            const bool lower = uplo == Uplo::lower;
            const auto from = this->upload(lower ? panel : conj_transposed(panel, 2));
            const auto to = this->upload(lower ? Padded<T>(n + m, n, 3) : Padded<T>(n, n + m, 3));
            const auto info = this->upload_index(0);
            const auto& result = in_place ? from : to;
            this->kernels().potrf_panel(this->queue(), uplo, from, result, info, 0);
            auto factor = this->download(result);
            EXPECT_EQ(this->download_index(info), 0);
            EXPECT_TRUE(factor.padding_untouched());
            if (!lower) factor = conj_transposed(factor, 0);
            Padded<T> got(n, n), x(m, n);
            for (Index j = 0; j < n; ++j) {
              for (Index i = j; i < n; ++i) got(i, j) = factor(i, j);
              for (Index i = 0; i < m; ++i) x(i, j) = factor(n + i, j);
            }
            EXPECT_LT(potrf_residual<T>(Uplo::lower, diagonal.view(), got.view()), kThreshold);
            EXPECT_LT(strip_error(got, below, x), 4 * static_cast<double>(n));
          }
        }
      }
    }
  }
}

TYPED_TEST(CholeskyContract, InvertBlocksAndTheirConditions) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index order = this->kernels().potrf_panel_width();
  for (const Index n : {Index{1}, order - 1, order, order + 1, 3 * order + 5}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << " " << char(uplo));
      auto factor = positive_definite<T>(n, 2, 1);
      ASSERT_EQ(reference::potrf(uplo, factor.view()), 0);
      factor.forbid_other_triangle(uplo);
      const Index blocks = (n + order - 1) / order;
      const auto inverses = this->upload(Padded<T>(order, n, 1));
      const auto conditions = this->upload(Padded<Real<T>>(blocks, 1));
      this->kernels().invert_blocks(this->queue(), uplo, this->upload(factor), inverses,
                                    conditions);
      const auto inverse = this->download(inverses);
      const auto condition = this->download(conditions);
      EXPECT_TRUE(inverse.padding_untouched());
      const auto l = [&](Index i, Index j) {
        return i < j ? W(0) : uplo == Uplo::lower ? W(factor(i, j)) : conj(W(factor(j, i)));
      };
      for (Index b = 0; b < blocks; ++b) {
        const Index first = b * order, size = std::min(order, n - first);
        double worst = 0, largest = 0;
        for (Index i = 0; i < size; ++i) {
          double growth = 0;  // row i of |L^-1| |L| e
          for (Index j = 0; j < size; ++j) {
            W sum(0);
            double magnitude = 0;
            for (Index k = 0; k < size; ++k) {
              const W x = W(inverse(i, first + k)), y = l(first + k, first + j);
              sum += x * y;
              magnitude += std::abs(x) * std::abs(y);
            }
            growth += magnitude;
            worst = std::max(worst, std::abs(sum - W(i == j)) / std::max(magnitude, 1e-300));
            if (j > i) {
              EXPECT_EQ(inverse(i, first + j), T(0)) << i << "," << j;
            }
          }
          largest = std::max(largest, growth);
        }
        EXPECT_LT(worst, sum_bound<T>(size));
        EXPECT_NEAR(condition(b, 0), largest, 1e-3 * largest);
      }
    }
  }
}

TYPED_TEST(CholeskyContract, InvertBlocksIgnoresImaginaryPartsOfTheDiagonal) {
  using T = TypeParam;
  const Index order = this->kernels().potrf_panel_width(), n = order + 5;
  for (const Uplo uplo : kUplos) {
    auto factor = positive_definite<T>(n, 2);
    ASSERT_EQ(reference::potrf(uplo, factor.view()), 0);
    const auto invert = [&] {
      const auto inverses = this->upload(Padded<T>(order, n));
      const auto conditions = this->upload(Padded<Real<T>>(2, 1));
      this->kernels().invert_blocks(this->queue(), uplo, this->upload(factor), inverses,
                                    conditions);
      return std::pair(this->download(inverses), this->download(conditions));
    };
    const auto expected = invert();
    for (Index i = 0; i < n; ++i) factor(i, i) += scalar<T>(0, static_cast<double>(i % 3));
    const auto got = invert();
    EXPECT_TRUE(same_bits(got.first, expected.first));
    EXPECT_TRUE(same_bits(got.second, expected.second));
  }
}

/// A Cholesky factor on the device with the inverses of its diagonal blocks.
template <class T>
class BackSubstitutionContract : public DeviceContract<T> {
 protected:
  void prepare(Uplo uplo, Index n, Index order) {
    uplo_ = uplo;
    factor = positive_definite<T>(n, 2, 1);
    ASSERT_EQ(reference::potrf(uplo, factor.view()), 0);
    factor.forbid_other_triangle(uplo);
    blocks_ = (n + order - 1) / order;
    factor_ = this->upload(factor);
    inverses_ = this->upload(Padded<T>(order, n, 1));
    conditions_ = this->upload(Padded<Real<T>>(blocks_, 1));
    this->kernels().invert_blocks(this->queue(), uplo, factor_, inverses_, conditions_);
  }

  Padded<T> solve(const Padded<T>& b) {
    const Index count = Kernels<T>::substitution_with_factor_progress(blocks_, b.cols());
    const auto x = this->upload(b);
    const auto progress = this->upload(Padded<Index>(count, 1));
    this->kernels().back_substitute(this->queue(), uplo_, factor_, inverses_, x, progress);
    return this->download(x);
  }

  /// In blocks of that order, for any number of right-hand sides.
  void solves(Index order, Index n) {
    for (const Uplo uplo : kUplos) {
      prepare(uplo, n, order);
      for (const Index nrhs : {1, 8, 9, 16, 17, 50}) {
        SCOPED_TRACE(testing::Message() << n << " " << order << " " << nrhs << " " << char(uplo));
        const auto b = random_matrix<T>(n, nrhs, 3, 2);
        const auto x = solve(b), again = solve(b);
        EXPECT_TRUE(x.padding_untouched());
        EXPECT_TRUE(same_bits(x, again));
        // X^H L = B^H, with the columns in reverse order, is what strip_error() looks at.
        Padded<T> l(n, n), reversed_b(nrhs, n), reversed_x(nrhs, n);
        for (Index j = 0; j < n; ++j) {
          const Index c = n - 1 - j;
          for (Index i = j; i < n; ++i) {
            const Index r = n - 1 - i;
            l(i, j) = uplo == Uplo::lower ? conj(factor(c, r)) : factor(r, c);
          }
          for (Index i = 0; i < nrhs; ++i) {
            reversed_b(i, j) = conj(b(c, i));
            reversed_x(i, j) = conj(x(c, i));
          }
        }
        EXPECT_LT(strip_error(l, reversed_b, reversed_x), 4 * static_cast<double>(order + n));
      }
    }
  }

  Padded<T> factor;

 private:
  Uplo uplo_ = Uplo::lower;
  Index blocks_ = 0;
  OnDevice<T> factor_, inverses_;
  OnDevice<Real<T>> conditions_;
};
TYPED_TEST_SUITE(BackSubstitutionContract, Precisions);

TYPED_TEST(BackSubstitutionContract, SolvesForAnyNumberOfRightHandSides) {
  const Index width = this->kernels().potrf_panel_width();
  for (const Index n : {Index{1}, width - 1, width, width + 1, 2 * width, 5 * width + 3}) {
    this->solves(width, n);
  }
  this->solves(7, 7);
  this->solves(width - 3, 2 * width);
}

TYPED_TEST(BackSubstitutionContract, SolvesWithMoreBlocksThanMultiprocessors) {
  this->solves(4, 603);
}

TYPED_TEST(BackSubstitutionContract, NoNaNIsMistakenForNothing) {
  using T = TypeParam;
  const Index order = this->kernels().potrf_panel_width(), n = 2 * order + 3;
  this->prepare(Uplo::lower, n, order);
  const auto b = random_matrix<T>(n, 3, 3);
  auto with_nan = b;
  std::memset(static_cast<void*>(&with_nan(n - 1, 1)), 0xff, sizeof(T));
  const auto x = this->solve(b), y = this->solve(with_nan);
  for (Index i = 0; i < n; ++i) {
    EXPECT_EQ(x(i, 0), y(i, 0));
    EXPECT_EQ(x(i, 2), y(i, 2));
  }
  EXPECT_TRUE(std::isnan(std::abs(y(0, 1))));
}

// ---- getrf_panel --------------------------------------------------------------------------

/// What getrf_panel leaves.
template <class T>
struct Panel {
  Padded<T> factor;
  std::vector<Index> pivots;  // 1-based within the panel
  Index info;
};

template <class T>
class PanelContract : public DeviceContract<T> {
 protected:
  Panel<T> factor(const Padded<T>& a, Index offset = 0, Index info_before = 0) {
    const Index steps = std::min(a.rows(), a.cols());
    const auto da = this->upload(a);
    const auto pivots = this->upload(Padded<Index>(steps, 1));
    const auto info = this->upload_index(info_before);
    this->kernels().getrf_panel(this->queue(), da, pivots, info, offset);
    Panel<T> panel{this->download(da), {}, this->download_index(info)};
    const auto stored = this->download(pivots);
    for (Index j = 0; j < steps; ++j) panel.pivots.push_back(stored(j, 0) - offset);
    return panel;
  }

  /// One column with the given elements, factored.
  Panel<T> factor_column(const std::vector<T>& elements) {
    Padded<T> a(static_cast<Index>(elements.size()), 1);
    std::copy(elements.begin(), elements.end(), a.data());
    return factor(a);
  }

  /// A random matrix is factored as it should be.
  void factors(Index m, Index n) {
    SCOPED_TRACE(testing::Message() << m << "x" << n);
    const auto a = random_matrix<T>(m, n, 1, 2);
    const auto panel = factor(a, 12345);
    EXPECT_EQ(panel.info, 0);
    EXPECT_TRUE(panel.factor.padding_untouched());
    const Index steps = std::min(m, n);
    bool valid = true;
    for (Index j = 0; j < steps; ++j) {
      const Index p = panel.pivots[static_cast<std::size_t>(j)];
      valid = valid && p >= j + 1 && p <= m;
    }
    ASSERT_TRUE(valid) << "a pivot is no row below its step";
    EXPECT_LT(getrf_residual<T>(a.view(), panel.factor.view(), panel.pivots), kThreshold);
    double largest = 0;  // partial pivoting: no multiplier exceeds 1 by more than rounding
    for (Index j = 0; j < steps; ++j) {
      for (Index i = j + 1; i < m; ++i) {
        largest = std::max(largest, static_cast<double>(std::abs(panel.factor(i, j))));
      }
    }
    EXPECT_LE(largest, (is_complex<T> ? std::sqrt(2.0) : 1.0) + 10 * epsilon<T>());
  }
};

TYPED_TEST_SUITE(PanelContract, Precisions);

TYPED_TEST(PanelContract, FactorsPanelsOfAllShapes) {
  std::vector<std::pair<Index, Index>> shapes = {
      {1, 1},     {5, 5},    {100, 32}, {1000, 7}, {257, 64},
      {300, 300}, {33, 100}, {1, 40},   {64, 1},   {140000, 10}};  // the last: no GPU's registers
  for (const Index n : {33, 100, 128, 129, 200}) shapes.insert(shapes.end(), {{128, n}, {513, n}});
  if (!this->device().emulated()) {
    for (const Index m : {2048, 4096, 8192, 16384}) {
      for (const Index n : {64, 127, 128}) shapes.insert(shapes.end(), {{m, n}, {m + 1, n}});
    }
  }
  for (const auto& [m, n] : shapes) this->factors(m, n);
}

// The least panels of which the rows need all of a cluster, and several to a thread: for racecheck,
// under which the shapes above would take an hour.
TYPED_TEST(PanelContract, FactorsPanelsInEveryForm) {
  for (const auto& [m, n] :
       {std::pair<Index, Index>{300, 70}, {2049, 40}, {4097, 40}, {8193, 40}, {16400, 9}}) {
    if (m < 1000 || !this->device().emulated()) this->factors(m, n);
  }
}

TYPED_TEST(PanelContract, ChoosesTheLargestAndAmongEqualsTheFirst) {
  using T = TypeParam;
  EXPECT_EQ(this->factor_column({T(1), T(-3), T(3), T(3)}).pivots[0], 2);
  EXPECT_EQ(this->factor_column({T(3), T(-3), T(3)}).pivots[0], 1);
  EXPECT_EQ(this->factor_column({T(0), T(1), T(2), T(-2), T(-4)}).pivots[0], 5);
  std::vector<T> ones(1000, T(1));
  ones[0] = T(0);
  EXPECT_EQ(this->factor_column(ones).pivots[0], 2);
  ones[0] = T(1);
  ones[999] = T(-1);
  EXPECT_EQ(this->factor_column(ones).pivots[0], 1);
}

TYPED_TEST(PanelContract, ComparesComplexPivotsByTheSumOfTheirParts) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    // |z|: 5 against 4.24; |re| + |im|: 5 against 6.
    EXPECT_EQ(this->factor_column({T(0, 5), T(3, 3), T(-5, 0)}).pivots[0], 2);
    EXPECT_EQ(this->factor_column({T(0, 5), T(3, 2), T(-5, 0)}).pivots[0], 1);  // equal sums
  } else {
    EXPECT_EQ(this->factor_column({T(5), T(6), T(-5)}).pivots[0], 2);
  }
}

TYPED_TEST(PanelContract, TiesInEveryColumnFollowTheExactElimination) {
  // L has only +-1 below its diagonal and U only small integers, so that the elimination is exact
  // and every candidate of every column ties: rows in order must stay in order.
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{40, 12},
                             {200, 20},
                             {12, 40},
                             {300, 120},
                             {3000, 70},
                             {7000, 8},
                             {14000, 8}}) {
    Random random(m);
    const Index steps = std::min(m, n);
    Padded<T> l(m, steps), u(steps, n), a(m, n);
    for (Index j = 0; j < steps; ++j) {
      for (Index i = 0; i < m; ++i) {
        l(i, j) = i < j ? T(0) : i == j ? T(1) : phase<T>(2 * random.integer(0, 1));
        if constexpr (!is_complex<T>) {
          if (i > j && random.integer(0, 1) == 1) l(i, j) = T(-1);
        }
      }
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < steps; ++i) {
        u(i, j) = i > j ? T(0) : T(static_cast<Real<T>>(i == j ? 2 : random.integer(-3, 3)));
      }
    }
    reference::gemm<T>(Op::none, Op::none, T(1), l.view(), u.view(), T(0), a.view());
    const auto panel = this->factor(a);
    EXPECT_EQ(panel.info, 0);
    for (Index j = 0; j < steps; ++j) EXPECT_EQ(panel.pivots[static_cast<std::size_t>(j)], j + 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) EXPECT_EQ(panel.factor(i, j), i > j ? l(i, j) : u(i, j));
    }
  }
}

TYPED_TEST(PanelContract, ANaNIsChosenOnlyOnTheDiagonal) {
  using T = TypeParam;
  const T bad = nan<T>();
  EXPECT_EQ(this->factor_column({T(1), bad, T(3), T(2)}).pivots[0], 3);
  EXPECT_EQ(this->factor_column({bad, T(1), T(3)}).pivots[0], 1);
  EXPECT_EQ(this->factor_column({T(1), bad, bad}).pivots[0], 1);
  EXPECT_EQ(this->factor_column({T(1), T(5), infinity<T>(), T(7)}).pivots[0], 3);
  const auto zero = this->factor_column({T(0), bad, T(0)});
  EXPECT_EQ(zero.pivots[0], 1);
  EXPECT_EQ(zero.info, 1);
}

TYPED_TEST(PanelContract, PivotsThroughNaNsAsTheUnblockedAlgorithm) {
  using T = TypeParam;
  for (const auto& [row, column] :
       {std::pair<Index, Index>{0, 0}, {3, 0}, {2, 2}, {5, 3}, {0, 3}}) {
    SCOPED_TRACE(testing::Message() << row << "," << column);
    // Powers of two times distinct small integers: no ties, and no choice that rounding could turn.
    Padded<T> a(6, 4);
    const int elements[6][4] = {{1, 7, -2, 5},  {-8, 1, 3, 1}, {2, -3, 9, 4},
                                {4, 2, 1, -11}, {1, 9, 5, 2},  {-2, 4, 7, 13}};
    for (Index j = 0; j < 4; ++j) {
      for (Index i = 0; i < 6; ++i) a(i, j) = T(static_cast<Real<T>>(elements[i][j]));
    }
    a(row, column) = nan<T>();
    auto expected = a;
    std::vector<Index> pivots(4);
    const Index info = reference::detail::getrf_block<T>(expected.view(), pivots.data());
    const auto panel = this->factor(a);
    EXPECT_EQ(panel.pivots, pivots);
    EXPECT_EQ(panel.info, info);
    for (Index j = 0; j < 4; ++j) {
      for (Index i = 0; i < 6; ++i) EXPECT_EQ(is_nan(panel.factor(i, j)), is_nan(expected(i, j)));
    }
  }
}

TYPED_TEST(PanelContract, TheNumberOfRowsMakesNoDifference) {
  // Rows around every power of two: a device divides them among threads, thread blocks and
  // clusters, and has another kernel where they do not fit. NaNs, infinities, ties and a column of
  // zeros fall on all of them. An infinite complex number is left out: it has several quotients.
  using T = TypeParam;
  constexpr Index n = 8;  // at most one block of any device, so that the unblocked order is defined
  std::vector<Index> heights = {2, 31, 33};
  for (Index power = 64; power <= 16384; power *= 2) {
    for (const Index m : {power - 1, power, power + 1}) heights.push_back(m);
  }
  for (const Index m : {70000, 140000, 280000}) heights.push_back(m);
  for (const Index m : heights) {
    SCOPED_TRACE(testing::Message() << m << " rows");
    auto a = random_matrix<T>(m, n, static_cast<std::uint64_t>(m), 3);
    for (Index i = 0; i < m; ++i) a(i, 2) = T(0);
    for (Index i = 0; i < m; ++i) a(i, 0) = T(static_cast<Real<T>>(i < m / 3 ? 1 : 2));
    a(m - 1, 6) = nan<T>();
    if (!is_complex<T>) a(m / 2, 7) = infinity<T>();
    auto expected = a;
    std::vector<Index> pivots(static_cast<std::size_t>(std::min(m, n)));
    const Index info = reference::detail::getrf_block<T>(expected.view(), pivots.data());
    const auto panel = this->factor(a, 77);
    EXPECT_EQ(panel.pivots, pivots);
    EXPECT_EQ(panel.info, info == 0 ? 0 : 77 + info);
    EXPECT_TRUE(panel.factor.padding_untouched());
    Index different = 0;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        const T x = panel.factor(i, j), y = expected(i, j);
        const bool close = x == y || std::abs(x - y) <= 1000 * epsilon<T>() * (1 + std::abs(y));
        if (is_nan(y) ? !is_nan(x) : !close) ++different;
      }
    }
    EXPECT_EQ(different, 0);
  }
}

TYPED_TEST(PanelContract, AZeroPivotIsReportedAndTheFactorizationGoesOn) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{5, 5}, {100, 33}, {40, 64}, {300, 64}}) {
    const Index steps = std::min(m, n);
    for (const Index position : {Index{0}, steps / 2, steps - 1}) {
      SCOPED_TRACE(testing::Message() << m << "x" << n << " at " << position);
      const auto a = singular_at<T>(m, n, position, 1, 1);
      const auto panel = this->factor(a, 500);
      EXPECT_EQ(panel.info, 500 + position + 1);
      EXPECT_EQ(panel.factor(position, position), T(0));
      EXPECT_EQ(panel.pivots[static_cast<std::size_t>(position)], position + 1);
      EXPECT_LT(getrf_residual<T>(a.view(), panel.factor.view(), panel.pivots), kThreshold);
    }
  }
  // The first of several, and an info from before, win.
  auto a = singular_at<T>(20, 10, 3, 1);
  for (Index i = 0; i < 20; ++i) a(i, 7) = T(0);
  EXPECT_EQ(this->factor(a).info, 4);
  EXPECT_EQ(this->factor(a, 100, 2).info, 2);
}

TYPED_TEST(PanelContract, ASubnormalPivotGivesFiniteMultipliers) {
  using T = TypeParam;
  const Real<T> tiny = std::numeric_limits<Real<T>>::denorm_min() * 64;
  Padded<T> a(5, 2);
  for (Index i = 0; i < 5; ++i) {
    a(i, 0) = T(tiny * static_cast<Real<T>>(i + 1));
    a(i, 1) = T(static_cast<Real<T>>(i * i + 1));
  }
  const auto panel = this->factor(a);
  EXPECT_EQ(panel.pivots[0], 5);
  EXPECT_EQ(panel.info, 0);
  EXPECT_EQ(panel.factor(0, 0), T(tiny * 5));
  // Row 0 moved down to row 4; rows 1 to 3 may change places in the second step.
  std::vector<Real<T>> multipliers;
  for (Index i = 1; i < 5; ++i) multipliers.push_back(real(panel.factor(i, 0)));
  std::sort(multipliers.begin(), multipliers.end());
  for (Index i = 1; i < 5; ++i) {
    EXPECT_NEAR(static_cast<double>(multipliers[static_cast<std::size_t>(i - 1)]),
                static_cast<double>(i) / 5, 4 * epsilon<T>());
  }
}

// ---- swap_rows ----------------------------------------------------------------------------

TYPED_TEST(DeviceContract, SwapRowsFollowsThePivotsInBothDirections) {
  using T = TypeParam;
  struct Shape {
    Index rows, cols, pivots;
  };
  const Index offset = 4000;
  for (const Shape s : {Shape{1, 1, 1}, Shape{5, 3, 2}, Shape{64, 33, 64}, Shape{1500, 7, 300},
                        Shape{1000, 5, 1000}, Shape{3000, 2, 1000}}) {
    for (const bool narrow : {false, true}) {  // narrow: most targets are repeated
      SCOPED_TRACE(testing::Message() << s.rows << "x" << s.cols << ", " << s.pivots << " pivots"
                                      << (narrow ? ", repeated targets" : ""));
      Random random(1);
      Padded<Index> pivots(s.pivots, 1);
      std::vector<Index> local;
      for (Index j = 0; j < s.pivots; ++j) {
        const Index first = narrow ? std::max(j, s.rows - 3) : j;
        local.push_back(1 + random.integer(first, s.rows - 1));
        pivots(j, 0) = offset + local.back();
      }
      const auto dp = this->upload(pivots);
      const auto a = random_matrix<T>(s.rows, s.cols, 2, 1);
      for (const bool forward : {true, false}) {
        const auto da = this->upload(a);
        this->kernels().swap_rows(this->queue(), da, dp, offset, forward);
        const auto result = this->download(da);
        auto expected = a;
        reference::laswp<T>(expected.view(), 0, s.pivots, local.data(), forward);
        EXPECT_EQ(max_difference(result, applied(Op::none, expected)), 0) << "forward " << forward;
        EXPECT_TRUE(result.padding_untouched());
      }
    }
  }
}

TYPED_TEST(DeviceContract, ComposedInterchangesOfPanelsPermuteRows) {
  using T = TypeParam;
  struct Shape {
    Index rows, pivots, nb;
  };
  const Index most = this->kernels().permutable_rows();
  for (const Shape s : {Shape{1, 1, 1}, Shape{2, 1, 4}, Shape{70, 70, 16}, Shape{90, 40, 40},
                        Shape{100, 100, 7}, Shape{most, most, 256}, Shape{most, 30, 10}}) {
    for (const bool narrow : {false, true}) {  // narrow: most targets are repeated
      SCOPED_TRACE(testing::Message() << s.rows << " rows, " << s.pivots << " pivots, panels of "
                                      << s.nb << (narrow ? ", repeated targets" : ""));
      Random random(1);
      Padded<Index> pivots(s.pivots, 1);
      std::vector<Index> local;
      for (Index j = 0; j < s.pivots; ++j) {
        local.push_back(1 + random.integer(narrow ? std::max(j, s.rows - 3) : j, s.rows - 1));
        pivots(j, 0) = local.back();
      }
      const Index panels = (s.pivots + s.nb - 1) / s.nb, width = 3, cols = 3 * panels - 1;
      const auto sources = this->upload(Padded<Index>(s.rows, panels, 1));
      this->kernels().compose_interchanges(this->queue(), this->upload(pivots), s.nb, sources);
      const auto a = random_matrix<T>(s.rows, cols, 2, 1);
      const auto da = this->upload(a);
      this->kernels().permute_rows(this->queue(), da, width, sources);
      const auto result = this->download(da);
      auto expected = a;
      for (Index p = 0; p < panels; ++p) {
        const Index c = p * width;
        reference::laswp<T>(expected.view().block(0, c, s.rows, std::min(width, cols - c)),
                            p * s.nb, s.pivots, local.data());
      }
      EXPECT_EQ(max_difference(result, applied(Op::none, expected)), 0);
      EXPECT_TRUE(result.padding_untouched());
      EXPECT_TRUE(this->download(sources).padding_untouched());
    }
  }
}

TYPED_TEST(DeviceContract, SwapRowsBackUndoesSwapRows) {
  using T = TypeParam;
  const auto a = random_matrix<T>(50, 4, 1);
  const auto da = this->upload(a);
  Random random(2);
  Padded<Index> pivots(50, 1);
  for (Index j = 0; j < 50; ++j) pivots(j, 0) = 1 + random.integer(j, 49);
  const auto dp = this->upload(pivots);
  this->kernels().swap_rows(this->queue(), da, dp, 0, true);
  this->kernels().swap_rows(this->queue(), da, dp, 0, false);
  this->kernels().swap_rows(this->queue(), da.view.block(0, 0, 50, 0), dp, 0, true);
  EXPECT_EQ(max_difference(this->download(da), applied(Op::none, a)), 0);
}

// ---- interchange_and_solve ----------------------------------------------------------------

/// A step of LU on an m x n block whose first w rows are solved for.
template <class T>
struct LuStep {
  Padded<T> l, a;
  std::vector<Index> pivots;  // of a's rows

  /// The pivot of row j is one of rows first(j) to last. What is not of L's triangle is a NaN.
  template <class First>
  LuStep(Index m, Index n, Index w, Index last, First first)
      : l(random_matrix<T>(w, w, 1, 2)), a(random_matrix<T>(m, n, 2, 3)) {
    Random random(3);
    for (Index j = 0; j < w; ++j) {
      for (Index i = 0; i < w; ++i) {
        l(i, j) = i > j ? l(i, j) / T(static_cast<Real<T>>(w)) : nan<T>();
      }
      pivots.push_back(1 + random.integer(first(j), last));
    }
  }

  /// The result in double precision by the definition.
  Padded<Wide<T>> expected() const {
    Padded<Wide<T>> x = applied(Op::none, a);
    reference::laswp(x.view(), 0, l.rows(), pivots.data());
    for (Index c = 0; c < x.cols(); ++c) {
      for (Index i = 0; i < l.rows(); ++i) {
        for (Index j = 0; j < i; ++j) x(i, c) -= Wide<T>(l(i, j)) * x(j, c);
      }
    }
    return x;
  }
};

template <class Scalar>
class LuStepContract : public DeviceContract<Scalar> {
 protected:
  using T = Scalar;

  Padded<T> result(const LuStep<T>& step, Index offset = 0) {
    Padded<Index> pivots(step.l.rows(), 1);
    for (Index j = 0; j < pivots.rows(); ++j) pivots(j, 0) = offset + step.pivots[std::size_t(j)];
    const auto dl = this->upload(step.l), da = this->upload(step.a);
    const auto dp = this->upload(pivots);
    this->kernels().interchange_and_solve(this->queue(), dl, dp, offset, da);
    return this->download(da);
  }

  void expect_right(const LuStep<T>& step, Index offset = 0) {
    const Index w = step.l.rows();
    SCOPED_TRACE(testing::Message() << step.a.rows() << "x" << step.a.cols() << ", " << w);
    const auto x = this->result(step, offset);
    const auto expected = step.expected();
    EXPECT_LT(max_difference(x, expected, [w](Index i, Index) { return i < w; }), sum_bound<T>(w));
    EXPECT_EQ(max_difference(x, expected, [w](Index i, Index) { return i >= w; }), 0);
    EXPECT_TRUE(x.padding_untouched());
  }
};
TYPED_TEST_SUITE(LuStepContract, Precisions);

TYPED_TEST(LuStepContract, InterchangesAndSolves) {
  using Step = LuStep<TypeParam>;
  for (const Index w : {1, 5, 16, 17, 64, 65, 100, 128, 150}) {
    for (const Index below : {0, 1, 3, 500}) {
      for (const Index n : {1, 16, 33}) {
        const Index m = w + below;
        this->expect_right(Step(m, n, w, m - 1, [](Index j) { return j; }), 4000);
      }
    }
  }
}

TYPED_TEST(LuStepContract, PivotsMayRepeatOrStayInTheBlock) {
  using Step = LuStep<TypeParam>;
  const Index n = 20;
  for (const Index w : {2, 17, 64, 128, 150}) {
    const Index m = 2 * w;
    this->expect_right(Step(m, n, w, m - 1, [m](Index) { return m - 2; }));  // two rows below
    this->expect_right(Step(m, n, w, w - 1, [](Index j) { return j; }));     // none below
    this->expect_right(Step(m, n, w, w - 1, [w](Index) { return w - 1; }));  // the last one
    this->expect_right(Step(m, n, w, w, [w](Index j) { return std::max(j, w - 1); }));
    auto step = Step(m, n, w, m - 1, [](Index j) { return j; });
    for (Index j = 0; j < w; ++j) step.pivots[std::size_t(j)] = j + 1;  // no interchange
    this->expect_right(step);
    for (Index j = 0; j < w; ++j) step.pivots[std::size_t(j)] = j + 2;  // row 0 sinks to row w
    this->expect_right(step);
  }
}

TYPED_TEST(LuStepContract, TakesAnyNumberOfColumns) {
  using Step = LuStep<TypeParam>;
  for (const Index n : {15, 17, 127, 129, 2000, 4097, 9000}) {
    this->expect_right(Step(40, n, 20, 39, [](Index j) { return j; }));
  }
  const Step step(10, 3, 4, 9, [](Index j) { return j; });
  const auto dl = this->upload(step.l), da = this->upload(step.a);
  this->kernels().interchange_and_solve(this->queue(), dl, DeviceView<const Index>(), 0,
                                        da.view.block(0, 0, 10, 0));
  EXPECT_EQ(max_difference(this->download(da), applied(Op::none, step.a)), 0);
}

TYPED_TEST(LuStepContract, WhatIsNotFiniteStaysInItsColumnAndBelow) {
  using T = TypeParam;
  for (const Index w : {5, 40, 128, 150}) {
    for (const Index i : {Index{0}, w / 2, w - 1, w + 7}) {
      SCOPED_TRACE(testing::Message() << w << ", row " << i);
      LuStep<T> step(w + 10, 35, w, w + 9, [](Index j) { return j; });
      step.a(i, 3) = nan<T>();
      if (!is_complex<T>) step.a(i, 20) = infinity<T>();
      const auto x = this->result(step);
      const auto expected = step.expected();
      const auto finite = [](auto y) { return std::isfinite(std::abs(y)); };
      Index different = 0;
      for (Index c = 0; c < x.cols(); ++c) {
        for (Index r = 0; r < x.rows(); ++r) {
          if (finite(expected(r, c))) {
            if (!(std::abs(Wide<T>(x(r, c)) - expected(r, c)) < sum_bound<T>(w))) ++different;
          } else if (is_nan(expected(r, c)) ? !is_nan(x(r, c))
                                            : Wide<T>(x(r, c)) != expected(r, c)) {
            ++different;
          }
        }
      }
      EXPECT_EQ(different, 0);
    }
  }
}

// ---- Products of split operands -----------------------------------------------------------

TYPED_TEST(DeviceContract, SplitOperandsAreForSinglePrecision) {
  using T = TypeParam;
  EXPECT_EQ(Kernels<T>::kSplits, (std::is_same_v<Real<T>, float>));
  if (!Kernels<T>::kSplits) {
    for (const Precision precision : kPrecisions) {
      EXPECT_FALSE(this->kernels().split_pays(precision, 100000, 100000, 100000));
    }
  }
}

template <class T>
class SplitContract : public DeviceContract<T> {
 protected:
  using K = Kernels<T>;

  /// A factor in split form, and what that depends on.
  struct Form {
    SplitForm form;
    Index summands;
    Padded<float> columns;
  };

  /// The split form of op(a), in sections of so many summands.
  Form split(Precision precision, Side side, Op op, const Padded<T>& a, Index padding = 0,
             Index section = 32) {
    const bool left = side == Side::left;
    const Index rows = op == Op::none ? a.rows() : a.cols();
    const Index cols = op == Op::none ? a.cols() : a.rows();
    const Index k = left ? cols : rows, n = left ? rows : cols;
    const SplitForm form = {precision, section};
    if (precision == Precision::fp32) padding *= 8;  // columns begin at multiples of 32 bytes
    const auto to =
        this->upload(Padded<float>(K::split_rows(form, k), K::split_cols(side, n), padding));
    this->kernels().split(this->queue(), form, side, op, this->upload(a), to);
    return {form, k, this->download(to)};
  }
  Padded<T> multiply(Real<T> alpha, const Form& a, const Form& b, Real<T> beta,
                     const Padded<T>& c) {
    const auto dc = this->upload(c);
    this->kernels().split_gemm(this->queue(), a.form, a.summands, alpha, this->upload(a.columns),
                               this->upload(b.columns), beta, dc);
    return this->download(dc);
  }
};
using SinglePrecisions = testing::Types<float, std::complex<float>>;
TYPED_TEST_SUITE(SplitContract, SinglePrecisions);

/// The real numbers of which column c of the split form of x has the parts.
template <class W>
std::vector<float> numbers_of_column(Side side, const Padded<W>& x, Index c) {
  const bool left = side == Side::left;
  std::vector<float> numbers;
  const auto put = [&](double number) { numbers.push_back(static_cast<float>(number)); };
  for (Index l = 0; l < (left ? x.cols() : x.rows()); ++l) {
    if constexpr (is_complex<W>) {
      const W z = left ? x(c / 2, l) : x(l, c);
      const bool second = left && c % 2 == 1;
      put(second ? z.imag() : z.real());
      put(second ? z.real() : left ? -z.imag() : z.imag());
    } else {
      put(left ? x(c, l) : x(l, c));
    }
  }
  return numbers;
}

/// What a split form in one part makes of x, in double precision and by the definition.
double rounded(Precision precision, double x) {
  if (!std::isfinite(x) || x == 0) return x;
  if (precision == Precision::fp16) {
    const double unit = std::max(std::ldexp(1, std::ilogb(x) - 10), 0x1p-24);
    return std::clamp(std::nearbyint(x / unit) * unit, -65504., 65504.);  // to even
  }
  const double unit = std::ldexp(1, std::max(std::ilogb(x) - 10, -136));
  const double nearest = std::copysign(std::floor(std::abs(x) / unit + 0.5) * unit, x);
  return std::isfinite(static_cast<float>(nearest)) ? nearest : std::copysign(0x1.ffcp127, x);
}

/// Number i of those that share elements of a split form.
double fp16_number(const float* elements, Index i) {
  std::uint16_t two[2];
  std::memcpy(two, &elements[i / 2], sizeof two);
  const int bits = two[i % 2], exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                      : exponent == 0 ? fraction * 0x1p-24
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

bool same(double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y; }

/// Is this a section of a split form in FP32 of these numbers?
testing::AssertionResult holds_section(const float* section, const float* numbers, Index count) {
  double largest = 0;
  for (Index i = 0; i < count; ++i) {
    if (std::isfinite(numbers[i])) {
      largest = std::max(largest, std::abs(static_cast<double>(numbers[i])));
    }
  }
  const auto back = static_cast<double>(section[0]);
  int exponent;
  if (std::frexp(back, &exponent) != 0.5) {
    return testing::AssertionFailure() << back << " is no power of two";
  }
  const double stored = largest / back;
  if (stored >= 0x1p15 || (largest > 0 && stored < 0x1p14 && back != 0x1p-126)) {
    return testing::AssertionFailure() << "the largest is stored as " << stored;
  }
  for (Index i = 1; i < 8; ++i) {
    if (section[i] != 0) return testing::AssertionFailure() << "element " << i << " is not zero";
  }
  for (Index i = 0; i < (count + 31) / 32 * 32; ++i) {
    const float* const piece = section + 8 + i / 32 * 32;
    const double high = fp16_number(piece, i % 32), low = fp16_number(piece + 16, i % 32);
    const double x = i < count ? static_cast<double>(numbers[i]) : 0;
    const double error = std::abs((high + low) * back - x);
    const bool right = std::isfinite(x)
                           ? same(high, rounded(Precision::fp16, x / back)) &&
                                 error <= std::max(0x1p-23 * std::abs(x), 0x1p-39 * largest)
                           : same(high, x) && low == 0;
    if (!right) {
      return testing::AssertionFailure()
             << "number " << i << ", " << x << ", is " << high << " + " << low << " times " << back;
    }
  }
  return testing::AssertionSuccess();
}

/// Does a column of a split form hold these numbers? `section` is in numbers.
testing::AssertionResult holds(Precision precision, const float* column,
                               const std::vector<float>& numbers, Index section) {
  const auto count = static_cast<Index>(numbers.size());
  if (precision == Precision::fp32) {
    for (Index i = 0; i < count; i += section) {
      const Index size = std::min(section, count - i);
      auto result = holds_section(column, &numbers[static_cast<std::size_t>(i)], size);
      if (!result) return result << ", in the section at " << i;
      column += 8 + (size + 31) / 32 * 32;
    }
    return testing::AssertionSuccess();
  }
  const bool halves = precision == Precision::fp16;
  for (Index i = 0; i < count; ++i) {
    const float x = numbers[static_cast<std::size_t>(i)];
    const double number = halves ? fp16_number(column, i) : static_cast<double>(column[i]);
    if (!same(number, rounded(precision, static_cast<double>(x)))) {
      return testing::AssertionFailure() << "number " << i << ", " << x << ", became " << number;
    }
  }
  if (halves && count % 2 != 0 && fp16_number(column, count) != 0) {
    return testing::AssertionFailure() << "no zero at the end";
  }
  return testing::AssertionSuccess();
}

TYPED_TEST(SplitContract, SplitFormsRunAlongTheSummation) {
  using T = TypeParam;
  for (const Precision precision : kPrecisions) {
    for (const auto& [m, n] :
         {std::pair<Index, Index>{1, 1}, {5, 3}, {32, 32}, {33, 17}, {100, 130}, {7, 300}}) {
      for (const Index padding : {0, 1, 3}) {
        const auto a = random_matrix<T>(m, n, 1, padding);
        for (const Side side : {Side::left, Side::right}) {
          for (const Op op : kOps) {
            for (const Index section : {Index{7}, Index{32}, Kernels<T>::kSplitSection}) {
              SCOPED_TRACE(testing::Message()
                           << name_of(precision) << " " << m << "x" << n << "+" << padding << " "
                           << char(side) << char(op) << ", sections of " << section);
              const auto form = this->split(precision, side, op, a, padding, section).columns;
              EXPECT_TRUE(form.padding_untouched());
              const auto factor = applied(op, a);
              for (Index c = 0; c < form.cols(); ++c) {
                ASSERT_TRUE(holds(precision, &form(0, c), numbers_of_column(side, factor, c),
                                  (is_complex<T> ? 2 : 1) * section))
                    << "column " << c;
              }
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(SplitContract, EveryNumberHasParts) {
  using T = TypeParam;
  using Limits = std::numeric_limits<float>;
  std::vector<float> numbers = {0.f, -0.f, 1.f, Limits::infinity(), Limits::quiet_NaN()};
  for (const float scale : {Limits::max(), Limits::min(), Limits::denorm_min(), 0x1p-100f,
                            0x1p-130f, 0x1.fffp+127f, 0x1.ffdffep+127f, 0x1.ffe001p+10f}) {
    for (const float factor : {1.f, 0.75f, 0.6789f, 0.50000006f}) numbers.push_back(scale * factor);
  }
  // Of FP16: its ends, and numbers between two others, of which an even one is taken.
  for (const float x : {65504.f, 65519.f, 65520.f, 1e5f, 0x1p-14f, 0x1.ffcp-15f, 0x1p-24f, 0x1p-25f,
                        0x1.8p-24f, 0x1.4p-23f, 0x1.002p0f, 0x1.006p0f, 0x1.003p0f, 2047.5f}) {
    numbers.push_back(x);
  }
  Padded<T> a(2 * static_cast<Index>(numbers.size()), 1);
  for (Index i = 0; i < a.rows(); ++i) {
    const float x = numbers[static_cast<std::size_t>(i / 2)] * (i % 2 == 0 ? 1.f : -1.f);
    if constexpr (is_complex<T>) {
      a(i, 0) = {x, numbers[static_cast<std::size_t>(a.rows() - 1 - i) / 2]};
    } else {
      a(i, 0) = x;
    }
  }
  for (const Precision precision : kPrecisions) {
    for (const Side side : {Side::left, Side::right}) {
      for (const Index section : {1, 2, 9, 32}) {  // numbers by themselves and among larger ones
        const Op op = side == Side::left ? Op::trans : Op::none;
        const auto form = this->split(precision, side, op, a, 0, section).columns;
        for (Index c = 0; c < form.cols(); ++c) {
          EXPECT_TRUE(holds(precision, &form(0, c), numbers_of_column(side, applied(op, a), c),
                            (is_complex<T> ? 2 : 1) * section));
        }
      }
    }
  }
}

/// A matrix of the numbers that a split form in one part makes of those of x.
template <class W>
Padded<W> rounded(Precision precision, Padded<W> x) {
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if constexpr (is_complex<W>) {
        x(i, j) = {rounded(precision, x(i, j).real()), rounded(precision, x(i, j).imag())};
      } else {
        x(i, j) = rounded(precision, x(i, j));
      }
    }
  }
  return x;
}

TYPED_TEST(SplitContract, ProductsAreAsAccurateAsTheirOperands) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index shapes[][3] = {{1, 1, 1}, {5, 7, 3}, {64, 64, 64}, {130, 70, 33}, {33, 20, 200}};
  for (const Precision precision : {Precision::tf32, Precision::fp16}) {
    for (const auto& [m, n, k] : shapes) {
      SCOPED_TRACE(testing::Message() << name_of(precision) << " " << m << "x" << n << "x" << k);
      const auto a = random_matrix<T>(m, k, 1, 1), b = random_matrix<T>(k, n, 2, 2);
      const auto c = random_matrix<T>(m, n, 3, 3);
      const auto wide_a = applied(Op::none, a), wide_b = applied(Op::none, b);
      // In units of eps times the sum of the moduli.
      const auto error = [&](const Padded<T>& got, const Padded<W>& expected) {
        double worst = 0;
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < m; ++i) {
            double size = std::abs(c(i, j));
            for (Index l = 0; l < k; ++l) size += std::abs(wide_a(i, l)) * std::abs(wide_b(l, j));
            worst = std::max(worst, std::abs(W(got(i, j)) - expected(i, j)) / size / epsilon<T>());
          }
        }
        return worst;
      };
      const auto got = this->multiply(-1, this->split(precision, Side::left, Op::none, a),
                                      this->split(precision, Side::right, Op::none, b), 1, c);
      EXPECT_TRUE(got.padding_untouched());
      // The operands are rounded to this precision, the rest is as accurate as float.
      EXPECT_LT(error(got, multiply_add<W, T>(W(-1), rounded(precision, wide_a),
                                              rounded(precision, wide_b), W(1), c)),
                16);
      // Two roundings by 2^-12 at most are 8192 units of 2^-24; random ones some hundreds.
      const double from_exact = error(got, multiply_add<W, T>(W(-1), wide_a, wide_b, W(1), c));
      EXPECT_LT(from_exact, 8200);
      EXPECT_GT(from_exact, m > 1 ? 64 : 0);
    }
  }
}

TYPED_TEST(SplitContract, SplitProductsAreAsAccurateAsFloatOnes) {
  using T = TypeParam;
  using W = Wide<T>;
  constexpr double kLimit = 16;  // in units of eps |A| |B|; an FP16 product has hundreds
  const Index shapes[][4] = {{1, 1, 1, 32},     {5, 7, 3, 2},       {64, 64, 64, 32},
                             {130, 70, 33, 32}, {33, 20, 200, 48},  {33, 20, 200, 128},
                             {129, 9, 1000, 3}, {257, 300, 700, 64}};
  for (const auto& [m, n, k, section] : shapes) {
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << ", sections of " << section);
    const auto a = random_matrix<T>(k, m, 1, 1), b = random_matrix<T>(k, n, 2, 2);
    const auto c = random_matrix<T>(m, n, 3, 3);
    const float alpha = -1.5f, beta = 0.75f;
    auto sa = this->split(Precision::fp32, Side::left, Op::conj_trans, a, 1, section);
    auto sb = this->split(Precision::fp32, Side::right, Op::none, b, 5, section);
    const auto expected =
        multiply_add<W, T>(W(alpha), applied(Op::conj_trans, a), applied(Op::none, b), W(beta), c);
    // Componentwise, as the error of a sum is bounded.
    const auto error = [&](const Padded<T>& got) {
      double worst = 0;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          double size = 0.75 * static_cast<double>(std::abs(c(i, j)));
          for (Index l = 0; l < k; ++l) {
            size += 1.5 * static_cast<double>(std::abs(a(l, i)) * std::abs(b(l, j)));
          }
          worst = std::max(worst, std::abs(W(got(i, j)) - expected(i, j)) / size / epsilon<T>());
        }
      }
      return worst;
    };
    const auto result = this->multiply(alpha, sa, sb, beta, c);
    EXPECT_LT(error(result), kLimit);
    EXPECT_TRUE(result.padding_untouched());
    // Without the low parts it is a product in FP16, which this bound tells apart.
    for (auto* form : {&sa.columns, &sb.columns}) {
      const Index numbers = (is_complex<T> ? 2 : 1) * section;
      for (Index row = 0; row < form->rows();) {  // section by section, piece by piece
        row += 8;
        for (Index i = 0; i < numbers && row < form->rows(); i += 32, row += 32) {
          for (Index j = 0; j < form->cols(); ++j) std::fill_n(&(*form)(row + 16, j), 16, 0.f);
        }
      }
    }
    EXPECT_GT(error(this->multiply(alpha, sa, sb, beta, c)), 4 * kLimit);
  }
}

TYPED_TEST(SplitContract, LongSumsDoNotDrift) {
  using T = TypeParam;
  const Index m = 16, n = 8, k = 4096;
  auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(k, n, 2);
  // Positive numbers: every sum that is cut off becomes smaller.
  for (Padded<T>* x : {&a, &b}) {
    for (Index j = 0; j < x->cols(); ++j) {
      for (Index i = 0; i < x->rows(); ++i) (*x)(i, j) = T(std::abs((*x)(i, j)));
    }
  }
  const Index section = Kernels<T>::kSplitSection;
  const auto got = this->multiply(
      1, this->split(Precision::fp32, Side::left, Op::none, a, 0, section),
      this->split(Precision::fp32, Side::right, Op::none, b, 0, section), 0, Padded<T>(m, n));
  double worst = 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      double sum = 0;
      for (Index l = 0; l < k; ++l) {
        sum += static_cast<double>(std::real(a(i, l))) * static_cast<double>(std::real(b(l, j)));
      }
      worst = std::max(worst, std::abs(static_cast<double>(std::real(got(i, j))) - sum) / sum);
    }
  }
  EXPECT_LT(worst / epsilon<T>(), 40);  // as one sum it has hundreds on tensor cores
}

TYPED_TEST(SplitContract, InfinitiesAndNaNsSpreadAsInSumsOfProducts) {
  using T = TypeParam;
  const Index m = 20, n = 18, k = 40;
  // Numbers with a low part and, as 1 and -0.5, without: neither may make a NaN of an infinity.
  auto a = random_matrix<T>(m, k, 1), b = random_matrix<T>(k, n, 2);
  for (Index i = 0; i < m; i += 2) a(i, 7) = T(1);
  for (Index j = 0; j < n; j += 2) b(3, j) = T(-0.5f);
  for (Index j = 0; j < n; j += 5) b(3, j) = T(0);
  a(2, 3) = infinity<T>();
  a(4, 3) = -infinity<T>();
  a(9, 9) = nan<T>();
  b(7, 5) = infinity<T>();
  b(3, 11) = infinity<T>();
  b(30, 16) = nan<T>();
  const auto kind = [](double x) {
    return std::isnan(x) ? "NaN" : std::isfinite(x) ? "finite" : x > 0 ? "inf" : "-inf";
  };
  for (const Precision precision : kPrecisions) {
    const auto got =
        this->multiply(1, this->split(precision, Side::left, Op::none, a),
                       this->split(precision, Side::right, Op::none, b), 0, Padded<T>(m, n));
    int infinities = 0;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        // By the definition in real numbers; std::complex would repair infinite products.
        double re = 0, im = 0;
        for (Index l = 0; l < k; ++l) {
          const std::complex<double> x(a(i, l)), y(b(l, j));
          re += x.real() * y.real();
          if constexpr (is_complex<T>) {
            re -= x.imag() * y.imag();
            im += x.real() * y.imag();
            im += x.imag() * y.real();
          }
        }
        for (const auto& [x, expected] :
             {std::pair{std::real(got(i, j)), re}, std::pair{std::imag(got(i, j)), im}}) {
          const bool meets_zero =  // the low part of another number
              precision == Precision::fp32 && std::isinf(expected) && std::isnan(x);
          EXPECT_STREQ(meets_zero ? kind(expected) : kind(x), kind(expected)) << i << "," << j;
        }
        infinities += std::isinf(re) ? 1 : 0;
      }
    }
    EXPECT_GT(infinities, m);
  }
}

TYPED_TEST(SplitContract, SubstitutesForAFewRightHandSides) {
  using T = TypeParam;
  for (const Index n : {1, 2, 63, 64, 65, 128, 200, 1000, 2500}) {
    for (const Index nrhs : {1, 3, 4, 5, 9}) {
      for (const Uplo uplo : kUplos) {
        for (const Diag diag : {Diag::non_unit, Diag::unit}) {
          SCOPED_TRACE(testing::Message() << n << " " << nrhs << " " << char(uplo) << char(diag));
          auto a = random_matrix<T>(n, n, 1, 3);
          a.forbid_other_triangle(uplo);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
              const bool inside = uplo == Uplo::lower ? i > j : i < j;
              if (inside) a(i, j) /= std::sqrt(static_cast<float>(n));
              if (i == j) a(i, j) = diag == Diag::unit ? sentinel<T>() : a(i, j) + T(2);
            }
          }
          const auto b = random_matrix<T>(n, nrhs, 2, 1);
          const auto da = this->upload(a), dx = this->upload(b);
          const Index count = Kernels<T>::substitution_progress(n, nrhs);
          const auto progress = this->upload(Padded<Index>(count, 1, 1));
          this->kernels().substitute(this->queue(), uplo, diag, da, dx, progress);
          const auto x = this->download(dx);
          EXPECT_TRUE(x.padding_untouched());
          EXPECT_TRUE(this->download(progress).padding_untouched());
          // |b - A x| <= c eps |A| |x|, row by row, as substitution has it.
          for (Index c = 0; c < nrhs; ++c) {
            for (Index i = 0; i < n; ++i) {
              Wide<T> sum(b(i, c));
              double size = 0;
              for (Index j = uplo == Uplo::lower ? 0 : i; j < (uplo == Uplo::lower ? i + 1 : n);
                   ++j) {
                const Wide<T> product =
                    (i == j && diag == Diag::unit ? Wide<T>(1) : Wide<T>(a(i, j))) *
                    Wide<T>(x(j, c));
                sum -= product;
                size += std::abs(product);
              }
              ASSERT_LE(std::abs(sum), 30 * std::sqrt(static_cast<double>(n)) * epsilon<T>() * size)
                  << i << "," << c;
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(SplitContract, SubstitutionKeepsToTheRangeOfItsNumbers) {
  using T = TypeParam;
  const Index n = 100;  // diagonals whose inverses are no single precision numbers
  for (const float scale : {1e-40f, 1e38f}) {
    for (const Uplo uplo : kUplos) {
      Padded<T> a(n, n), b(n, 1);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) a(i, j) = T(i == j ? scale : 0.f);
        b(j, 0) = T(scale);
      }
      const auto da = this->upload(a), dx = this->upload(b);
      const auto progress = this->upload(Padded<Index>(Kernels<T>::substitution_progress(n, 1), 1));
      this->kernels().substitute(this->queue(), uplo, Diag::non_unit, da, dx, progress);
      const auto x = this->download(dx);
      for (Index i = 0; i < n; ++i) {
        ASSERT_LE(std::abs(x(i, 0) - T(1)), 4 * std::numeric_limits<float>::epsilon()) << i;
      }
    }
  }
}

TYPED_TEST(SplitContract, SplitProductsOfEmptyOperands) {
  using T = TypeParam;
  const Index m = 9, n = 6, k = 4;
  const auto c = random_matrix<T>(m, n, 3, 1);
  const auto times = [&](double factor) {
    auto scaled = applied(Op::none, c);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) scaled(i, j) *= factor;
    }
    return scaled;
  };
  Padded<T> poisoned(m, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) poisoned(i, j) = nan<T>();
  }
  for (const Precision precision : kPrecisions) {
    const auto sa = this->split(precision, Side::left, Op::none, random_matrix<T>(m, k, 1));
    const auto sb = this->split(precision, Side::right, Op::none, random_matrix<T>(k, n, 2));
    const auto no_a = this->split(precision, Side::left, Op::none, Padded<T>(m, 0));
    const auto no_b = this->split(precision, Side::right, Op::none, Padded<T>(0, n));
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 1, c), times(1)), 0);
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 2, c), times(2)), 0);
    EXPECT_EQ(max_difference(this->multiply(0, sa, sb, 2, c), times(2)), 0);
    EXPECT_EQ(max_difference(this->multiply(1, no_a, no_b, 0, poisoned), times(0)), 0);
    this->multiply(1, sa, this->split(precision, Side::right, Op::none, Padded<T>(k, 0)), 0,
                   Padded<T>(m, 0));
  }
}

// ---- Faults -------------------------------------------------------------------------------

// ---- Norms and mixed precision ------------------------------------------------------------

TYPED_TEST(DeviceContract, NormsOfColumnsAndSumsOfRows) {
  using T = TypeParam;
  const Index sizes[] = {1, 2, 7, 42, 666, 2048};
  for (const Index m : sizes) {
    for (const Index n : sizes) {
      SCOPED_TRACE(testing::Message() << m << "x" << n);
      const auto a = random_matrix<T>(m, n, 1, 3);  // padding would change every result
      const auto on_device = this->upload(a);
      const auto norms = this->upload(Padded<Real<T>>(n, 1, 1));
      const auto sums = this->upload(Padded<Real<T>>(m, 1, 1));
      this->kernels().column_norms(this->queue(), on_device, norms);
      this->kernels().row_sums(this->queue(), on_device, sums);
      const auto got_norms = this->download(norms), got_sums = this->download(sums);
      std::vector<double> row(static_cast<std::size_t>(m));
      for (Index j = 0; j < n; ++j) {
        Real<T> largest(0);
        for (Index i = 0; i < m; ++i) {
          largest = std::max(largest, abs1(a(i, j)));
          row[static_cast<std::size_t>(i)] += std::abs(Wide<T>(a(i, j)));
        }
        ASSERT_EQ(got_norms(j, 0), largest) << j;
      }
      for (Index i = 0; i < m; ++i) {
        const double sum = row[static_cast<std::size_t>(i)];
        ASSERT_NEAR(static_cast<double>(got_sums(i, 0)), sum,
                    static_cast<double>(n + 2) * epsilon<T>() * sum)
            << i;
      }
      EXPECT_TRUE(got_norms.padding_untouched());
      EXPECT_TRUE(got_sums.padding_untouched());
    }
  }
}

TYPED_TEST(DeviceContract, NormsSpreadNaNsAndInfinities) {
  using T = TypeParam;
  const Index m = 1500, n = 3;
  for (const Index position : {0, 1, 777, 1499}) {
    auto a = random_matrix<T>(m, n, 1);
    a(position, 1) = nan<T>();
    a(position, 2) = infinity<T>();
    const auto on_device = this->upload(a);
    const auto norms = this->upload(Padded<Real<T>>(n, 1));
    const auto sums = this->upload(Padded<Real<T>>(m, 1));
    this->kernels().column_norms(this->queue(), on_device, norms);
    this->kernels().row_sums(this->queue(), on_device.view.block(0, 0, m, 2), sums);
    const auto got_norms = this->download(norms), got_sums = this->download(sums);
    EXPECT_TRUE(std::isfinite(got_norms(0, 0)));
    EXPECT_TRUE(std::isnan(got_norms(1, 0)));
    EXPECT_TRUE(std::isinf(got_norms(2, 0)));
    for (Index i = 0; i < m; ++i) EXPECT_EQ(std::isnan(got_sums(i, 0)), i == position) << i;
  }
}

TYPED_TEST(DeviceContract, NormsOfNothingAreZero) {
  using T = TypeParam;
  const auto norms = this->upload(Padded<Real<T>>(3, 1)),
             sums = this->upload(Padded<Real<T>>(3, 1));
  this->kernels().column_norms(this->queue(), DeviceView<const T>(nullptr, 0, 3, 1), norms);
  this->kernels().row_sums(this->queue(), DeviceView<const T>(nullptr, 3, 0, 3), sums);
  const auto got_norms = this->download(norms), got_sums = this->download(sums);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_EQ(got_norms(i, 0), 0);
    EXPECT_EQ(got_sums(i, 0), 0);
  }
}

constexpr Norm kNorms[] = {Norm::max, Norm::one, Norm::infinity, Norm::frobenius};

/// A norm by its definition, in double precision and more, of a matrix all of which is given.
template <class W>
double norm_of(Norm norm, const Padded<W>& a) {
  std::vector<double> rows(static_cast<std::size_t>(a.rows())), columns;
  double largest = 0;
  long double squares = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    columns.push_back(0);
    for (Index i = 0; i < a.rows(); ++i) {
      const double modulus = std::abs(a(i, j));
      largest = std::max(largest, modulus);
      squares += static_cast<long double>(modulus) * modulus;
      columns.back() += modulus;
      rows[static_cast<std::size_t>(i)] += modulus;
    }
  }
  if (norm == Norm::max) return largest;
  if (norm == Norm::frobenius) return static_cast<double>(std::sqrt(squares));
  const auto& sums = norm == Norm::one ? columns : rows;
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

/// Reductions of whole matrices. Elements are up to 100.
template <class T>
class ReductionContract : public DeviceContract<T> {
 protected:
  static Padded<T> matrix(Index m, Index n, Index padding) {
    auto a = random_matrix<T>(m, n, 1, padding);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) a(i, j) *= Real<T>(100);
    }
    return a;
  }
  /// What `enqueue(result)` leaves in its result.
  template <class Enqueue>
  Real<T> result_of(Enqueue enqueue) {
    const auto result = this->upload(Padded<Real<T>>(1, 1, 1));
    enqueue(result.view);
    const auto got = this->download(result);
    EXPECT_TRUE(got.padding_untouched());
    return got(0, 0);
  }
  Real<T> norm(Norm norm, DeviceView<const T> a, Symmetry symmetry = Symmetry::none,
               Uplo uplo = Uplo::lower) {
    const auto work = this->upload(
        Padded<Real<T>>(symmetry == Symmetry::none ? 1 : std::max<Index>(1, a.rows), 1));
    return result_of([&](DeviceView<Real<T>> result) {
      this->kernels().norm(this->queue(), norm, symmetry, uplo, a, work, result);
    });
  }
};
TYPED_TEST_SUITE(ReductionContract, Precisions);

TYPED_TEST(ReductionContract, OfManyShapes) {
  using T = TypeParam;
  const Index sizes[] = {1, 2, 7, 42, 666, 2048};
  for (const Index m : sizes) {
    for (const Index n : sizes) {
      const auto same = this->matrix(m, n, 0);
      Real<T> least = std::numeric_limits<Real<T>>::infinity(), greatest = -least;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          const std::complex<Real<T>> x = same(i, j);
          greatest = std::max({greatest, x.real(), is_complex<T> ? x.imag() : x.real()});
          least = std::min({least, x.real(), is_complex<T> ? x.imag() : x.real()});
        }
      }
      std::vector<double> expected_norms;
      for (const Norm norm : kNorms) expected_norms.push_back(norm_of(norm, widen<T>(same.view())));
      for (const Index padding : {0, 3, 4}) {  // unaligned, too
        SCOPED_TRACE(testing::Message() << m << "x" << n << ", padding " << padding);
        const auto on_device = this->upload(this->matrix(m, n, padding));
        EXPECT_EQ(this->result_of([&](DeviceView<Real<T>> result) {
          this->kernels().largest(this->queue(), on_device, result);
        }),
                  greatest);
        EXPECT_EQ(this->result_of([&](DeviceView<Real<T>> result) {
          this->kernels().smallest(this->queue(), on_device, result);
        }),
                  least);
        for (std::size_t k = 0; k < expected_norms.size(); ++k) {
          const Norm norm = kNorms[k];
          const double expected = expected_norms[k];
          const double terms = norm == Norm::one        ? static_cast<double>(m)
                               : norm == Norm::infinity ? static_cast<double>(n)
                                                        : 40.;
          EXPECT_NEAR(static_cast<double>(this->norm(norm, on_device)), expected,
                      (terms + 4) * epsilon<T>() * expected)
              << static_cast<char>(norm);
        }
      }
    }
  }
}

TYPED_TEST(ReductionContract, OfTrianglesOfManyOrders) {
  using T = TypeParam;
  for (const Index n : {1, 2, 7, 42, 133, 666, 2048}) {
    for (const Index padding : {0, 3, 4}) {
      if (n > 1000 && padding != 3) continue;  // it takes a while
      const auto a = this->matrix(n, n, padding);
      for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::hermitian}) {
        for (const Uplo uplo : kUplos) {
          SCOPED_TRACE(testing::Message() << n << " padding " << padding << " " << char(uplo)
                                          << static_cast<int>(symmetry));
          auto triangle = a;
          Padded<Wide<T>> whole(n, n);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
              const bool given = uplo == Uplo::lower ? i >= j : i <= j;
              if (!given) triangle(i, j) = nan<T>();
              const auto x = Wide<T>(given ? a(i, j) : a(j, i));
              whole(i, j) = symmetry == Symmetry::hermitian && i == j ? Wide<T>(real(x)) : x;
            }
            if constexpr (is_complex<T>) {
              if (symmetry == Symmetry::hermitian) {
                triangle(j, j) = {real(a(j, j)), std::numeric_limits<Real<T>>::quiet_NaN()};
              }
            }
          }
          const auto on_device = this->upload(triangle);
          for (const Norm norm : kNorms) {
            const double expected = norm_of(norm, whole);
            const bool sums = norm == Norm::one || norm == Norm::infinity;
            EXPECT_NEAR(static_cast<double>(this->norm(norm, on_device, symmetry, uplo)), expected,
                        static_cast<double>((sums ? n : 40) + 4) * epsilon<T>() * expected)
                << static_cast<char>(norm);
          }
        }
      }
    }
  }
}

TYPED_TEST(ReductionContract, DoNotDependOnTheAlignment) {
  using T = TypeParam;
  const Index m = 701, n = 90;
  const auto a = this->matrix(m, n, 0);
  std::vector<Real<T>> first;
  for (const Index padding : {3, 4, 5, 6, 7}) {
    for (const Index offset : {0, 1}) {
      Padded<T> larger(m + offset, n, padding - offset);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) larger(i + offset, j) = a(i, j);
      }
      const auto on_device = this->upload(larger);
      const DeviceView<const T> view = on_device.view.block(offset, 0, m, n);
      std::vector<Real<T>> norms;
      for (const Norm norm : kNorms) norms.push_back(this->norm(norm, view));
      if (first.empty()) first = norms;
      EXPECT_EQ(norms, first) << "padding " << padding << ", offset " << offset;
    }
  }
}

TYPED_TEST(ReductionContract, SpreadNaNsAndInfinities) {
  using T = TypeParam;
  const Index n = 300;
  for (const auto& [i, j] :
       {std::pair<Index, Index>{0, 0}, {299, 0}, {150, 150}, {299, 299}, {298, 130}, {77, 3}}) {
    for (const bool with_infinity : {false, true}) {
      auto a = this->matrix(n, n, 1);
      const auto norms = [&](const Padded<T>& matrix) {
        const auto on_device = this->upload(matrix);
        std::vector<Real<T>> result;
        for (const Norm norm : kNorms) {
          result.push_back(this->norm(norm, on_device));
          result.push_back(this->norm(norm, on_device, Symmetry::symmetric, Uplo::lower));
        }
        return result;
      };
      if (with_infinity) {
        a(200, 10) = infinity<T>();
        a(250, 20) = -infinity<T>();
        for (const Real<T> norm : norms(a)) EXPECT_TRUE(std::isinf(norm) && norm > 0) << norm;
      }
      a(i, j) = nan<T>();
      for (const Real<T> norm : norms(a)) EXPECT_TRUE(std::isnan(norm)) << i << " " << j;
      EXPECT_TRUE(std::isnan(this->result_of([&](DeviceView<Real<T>> result) {
        this->kernels().largest(this->queue(), this->upload(a), result);
      })));
    }
  }
}

TYPED_TEST(ReductionContract, FrobeniusNormsNearTheEndsOfTheRange) {
  using T = TypeParam;
  using R = Real<T>;
  const R largest = std::numeric_limits<R>::max() / 256, least = std::numeric_limits<R>::min();
  const R tiniest = std::numeric_limits<R>::denorm_min();
  // Two kinds of numbers, and how many of the second there are among 64 x 64.
  const std::tuple<R, R, Index> cases[] = {
      {largest, largest, 0},         {largest, R(1), 4000},         {least, least, 0},
      {tiniest, tiniest, 0},         {least, R(0), 4095},           {R(1), least, 5},
      {tiniest, R(0), 4000},         {largest, least, 4095},        {R(0), R(0), 0},
      {std::sqrt(least), R(0), 100}, {std::sqrt(largest), R(1), 7}, {R(1), std::sqrt(least), 9}};
  for (const auto& [x, y, count] : cases) {
    SCOPED_TRACE(testing::Message() << x << ", " << count << " times " << y);
    Padded<T> a(64, 64, 2);
    long double squares = 0;
    for (Index k = 0; k < 64 * 64; ++k) {
      const R element = k < count ? y : x;
      a(k % 64, k / 64) = T(k % 3 == 0 ? -element : element);
      squares += static_cast<long double>(element) * element;
    }
    const auto expected = static_cast<double>(std::sqrt(squares));
    EXPECT_NEAR(static_cast<double>(this->norm(Norm::frobenius, this->upload(a))), expected,
                40 * epsilon<T>() * expected + static_cast<double>(tiniest));
  }
}

TYPED_TEST(ReductionContract, OfNothingAreZero) {
  using T = TypeParam;
  const auto a = this->upload(Padded<T>(3, 3));
  for (const Norm norm : kNorms) {
    for (const auto& [m, n] : {std::pair<Index, Index>{0, 3}, {3, 0}, {0, 0}}) {
      EXPECT_EQ(this->norm(norm, a.view.block(0, 0, m, n)), 0);
    }
    EXPECT_EQ(this->norm(norm, a.view.block(0, 0, 0, 0), Symmetry::hermitian), 0);
  }
}

template <class T>
class MixedContract : public DeviceContract<T> {};
TYPED_TEST_SUITE(MixedContract, DoublePrecisions);

TYPED_TEST(MixedContract, RoundsAPart) {
  using T = TypeParam;
  const std::pair<Index, Index> shapes[] = {{7, 5}, {5, 9}, {300, 40}, {1, 1}, {5000, 3}};
  for (const auto& [m, n] : shapes) {
    const auto a = random_matrix<T>(m, n, 1, 2);
    const auto from = this->upload(a);
    for (const Part part : {Part::all, Part::lower, Part::upper}) {
      const auto to = this->upload(Padded<Single<T>>(m, n, 3));
      const auto overflow = this->upload_index(0);
      this->kernels().round(this->queue(), part, from, to, overflow);
      const auto rounded = this->download(to);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          const bool inside = part == Part::all || (part == Part::lower ? i >= j : i <= j);
          ASSERT_EQ(rounded(i, j), inside ? static_cast<Single<T>>(a(i, j)) : sentinel<Single<T>>())
              << m << "x" << n << " part " << static_cast<int>(part) << " at " << i << "," << j;
        }
      }
      EXPECT_TRUE(rounded.padding_untouched());
      EXPECT_EQ(this->download_index(overflow), 0);
    }
  }
}

TYPED_TEST(MixedContract, ScalesByPowersOfTwo) {
  using T = TypeParam;
  using R = Real<T>;
  const Index m = 300, n = 40;
  // Each with the power of two above it.
  constexpr R kInfinity = std::numeric_limits<R>::infinity();
  const std::pair<R, R> known[] = {
      {1, 2},        {0.75, 1}, {-0.5, 1},      {1e30, 0x1p100},    {3e-9, 0x1p-28}, {0, 1},
      {nan<R>(), 1}, {5, 8},    {kInfinity, 1}, {1e-310, 0x1p-500}, {1e300, 0x1p500}};
  constexpr Index kKnown = std::size(known);
  auto a = random_matrix<T>(m, n, 1, 2);
  a(1, 1) = T(1e30);
  Padded<R> sizes(m, 1);
  for (Index i = 0; i < m; ++i) sizes(i, 0) = known[i % kKnown].first;
  const auto power = [&](Index i) { return known[i % kKnown].second; };
  const auto from = this->upload(a);
  const auto row_sizes = this->upload(sizes);
  const DeviceView<R> column_sizes = row_sizes.view.block(0, 0, n, 1);
  const auto overflow = this->upload_index(0);
  for (const Part part : {Part::all, Part::lower}) {
    for (const bool by_rows : {false, true}) {
      const auto to = this->upload(Padded<Single<T>>(m, n, 3));
      this->kernels().round(this->queue(), part, from, to, overflow,
                            by_rows ? DeviceView<const R>(row_sizes.view) : DeviceView<const R>(),
                            column_sizes);
      const auto got = this->download(to);
      for (Index j = 0; j < n; ++j) {
        for (Index i = part == Part::lower ? j : 0; i < m; ++i) {
          const auto scaled = a(i, j) / (power(j) * (by_rows ? power(i) : 1));
          ASSERT_EQ(got(i, j), static_cast<Single<T>>(scaled)) << i << "," << j;
        }
      }
      EXPECT_TRUE(got.padding_untouched());
    }
  }
  EXPECT_EQ(this->download_index(overflow), 0) << "it is not of the scaled numbers";

  const auto x = random_matrix<Single<T>>(m, 3, 2);
  const auto y = random_matrix<T>(m, 3, 3);
  const auto dx = this->upload(x), dy = this->upload(y);
  this->kernels().widen(this->queue(), dx, T(1), dy, row_sizes);
  const auto sum = this->download(dy);
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < m; ++i) {
      const T expected = T(x(i, j)) / power(i) + y(i, j);
      ASSERT_LE(std::abs(sum(i, j) - expected), 2 * epsilon<T>() * std::abs(expected));
    }
  }
}

TYPED_TEST(MixedContract, RoundingReportsWhatOverflows) {
  using T = TypeParam;
  const Index m = 700, n = 20;
  const double largest = std::numeric_limits<float>::max();
  const double beyond = std::nextafter(largest, 1e300);
  const double inf = std::numeric_limits<double>::infinity();
  const struct {
    T number;
    bool overflows;
  } cases[] = {{T(largest), false},
               {T(-largest), false},
               {T(beyond), true},
               {T(-beyond), true},
               {T(inf), true},
               {T(-inf), true},
               {nan<T>(), false},
               {T(1e-300), false},
               {scalar<T>(is_complex<T> ? 0 : beyond, -beyond), true}};
  for (const auto& c : cases) {
    for (const Part part : {Part::all, Part::lower, Part::upper}) {
      for (const auto& [i, j] : {std::pair<Index, Index>{500, 3}, {3, 17}, {7, 7}}) {
        auto a = random_matrix<T>(m, n, 1);
        a(i, j) = c.number;
        const bool inside = part == Part::all || (part == Part::lower ? i >= j : i <= j);
        const auto from = this->upload(a);
        const auto to = this->upload(Padded<Single<T>>(m, n));
        const auto overflow = this->upload_index(0);
        this->kernels().round(this->queue(), part, from, to, overflow);
        EXPECT_EQ(this->download_index(overflow), c.overflows && inside ? 1 : 0)
            << c.number << " part " << static_cast<int>(part) << " at " << i << "," << j;
      }
    }
  }
  const auto overflow = this->upload_index(1);  // stays
  const auto from = this->upload(random_matrix<T>(1, 1, 1));
  const auto to = this->upload(Padded<Single<T>>(1, 1));
  this->kernels().round(this->queue(), Part::all, from, to, overflow);
  EXPECT_EQ(this->download_index(overflow), 1);
}

TYPED_TEST(MixedContract, WidensAndAdds) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {7, 5}, {5000, 3}, {300, 70}}) {
    const auto a = random_matrix<Single<T>>(m, n, 1, 2);
    const auto b = random_matrix<T>(m, n, 2, 1);
    const auto from = this->upload(a);
    for (const T beta : {T(0), T(1), T(-2)}) {
      auto before = b;
      if (beta == T(0)) before(0, 0) = nan<T>();  // not read
      const auto to = this->upload(before);
      this->kernels().widen(this->queue(), from, beta, to);
      const auto got = this->download(to);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          const T x(a(i, j));
          const T expected = beta == T(0) ? x : x + beta * before(i, j);
          ASSERT_LE(std::abs(got(i, j) - expected), 8 * epsilon<T>()) << i << "," << j;
          if (beta == T(0) || beta == T(1)) {
            ASSERT_EQ(got(i, j), expected);
          }
        }
      }
      EXPECT_TRUE(got.padding_untouched());
    }
  }
}

TYPED_TEST(DeviceContract, MirrorsATriangle) {
  using T = TypeParam;
  for (const Index n : {1, 2, 31, 32, 33, 64, 100, 257}) {
    for (const Uplo uplo : kUplos) {
      SCOPED_TRACE(testing::Message() << n << " " << char(uplo));
      const auto a = random_matrix<T>(n, n, 1, 2);
      const auto expected = widen_hermitian<T>(uplo, a.view());
      auto triangle = a;
      triangle.forbid_other_triangle(uplo);
      const auto on_device = this->upload(triangle);
      this->kernels().mirror(this->queue(), uplo, on_device);
      const auto got = this->download(on_device);
      EXPECT_EQ(max_difference(got, expected), 0);
      EXPECT_TRUE(got.padding_untouched());
    }
  }
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
    device.kernels<T>().gemm(*queue, Op::none, Op::none, T(1), view, view, T(1), view);
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

// ---- update_panel, find_not_finite ----------------------------------------------------------

template <class T>
class UpdateContract : public CholeskyContract<T> {
 protected:
  using W = Wide<T>;

  /// The first n columns of a factor with m rows, from the diagonal down, as they are stored.
  static Padded<T> stored(Uplo uplo, const Padded<T>& l) {
    const bool lower = uplo == Uplo::lower;
    Padded<T> a(lower ? l.rows() : l.cols(), lower ? l.cols() : l.rows(), 3);
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = 0; i < a.rows(); ++i) {
        const Index row = lower ? i : j, column = lower ? j : i;
        a(i, j) = row < column ? sentinel<T>() : lower ? l(row, column) : conj(l(row, column));
      }
    }
    return a;
  }
  static Padded<T> random_columns(Index m, Index n) {
    auto l = random_matrix<T>(m, n, 1);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        if (i < j) l(i, j) = T(0);
        l(i, j) *= Real<T>(0.2);  // so that the inverse stays small
        if (i == j) l(i, j) = T(Real<T>(j % 5 == 3 ? -3 : 2));
      }
    }
    return l;
  }

  /// L L^H + V S V^H.
  static Padded<W> product(const Padded<T>& l, const Padded<T>& v, Index plus) {
    Padded<W> a(l.rows(), l.rows());
    const auto wide_l = widen<T>(l.view()), wide_v = widen<T>(v.view());
    reference::gemm<W>(Op::none, Op::conj_trans, W(1), wide_l.view(), wide_l.view(), W(0),
                       a.view());
    const Index minus = v.cols() - plus, m = l.rows();
    const HostView<const W> added = wide_v.view().block(0, 0, m, plus);
    const HostView<const W> subtracted = wide_v.view().block(0, plus, m, minus);
    reference::gemm<W>(Op::none, Op::conj_trans, W(1), added, added, W(1), a.view());
    reference::gemm<W>(Op::none, Op::conj_trans, W(-1), subtracted, subtracted, W(1), a.view());
    return a;
  }
};
TYPED_TEST_SUITE(UpdateContract, Precisions);

TYPED_TEST(UpdateContract, UpdatePanelKeepsTheProduct) {
  using T = TypeParam;
  const Index width = this->kernels().update_panel_width();
  for (const Index n : {Index{1}, Index{7}, width / 2 + 1, width}) {
    for (const Index below : {Index{0}, Index{5}, Index{150}}) {
      for (const auto& [k, plus] :
           {std::pair<Index, Index>{1, 1}, {1, 0}, {3, 3}, {16, 9}, {20, 0}, {70, 70}}) {
        for (const Uplo uplo : kUplos) {
          for (const bool in_place : {true, false}) {
            SCOPED_TRACE(testing::Message() << n << " and " << below << " " << char(uplo)
                                            << " k=" << k << " plus " << plus << " " << in_place);
            const Index m = n + below;
            const auto l = this->random_columns(m, n);
            auto v = random_matrix<T>(m, k, 2, 1);
            for (Index j = plus; j < k; ++j) {
              for (Index i = 0; i < m; ++i) v(i, j) *= Real<T>(0.05);
            }
            const auto a = this->stored(uplo, l);
            auto given = a;  // what stands in the imaginary part of the diagonal is ignored
            if (n > 1) given(1, 1) += scalar<T>(0, 1000);
            const auto from = this->upload(given), vectors = this->upload(v);
            const auto to = this->upload(Padded<T>(a.rows(), a.cols(), 3));
            const auto apart = this->upload(Padded<T>(below, k, 2));
            const auto info = this->upload_index(0);
            const DeviceView<T> below_v = vectors.view.block(n, 0, below, k);
            this->kernels().update_panel(this->queue(), uplo, from, in_place ? from : to, plus,
                                         vectors, in_place ? below_v : apart.view, info, 50);
            const auto factor = this->download(in_place ? from : to);
            const auto rest = this->download(in_place ? vectors : apart);
            EXPECT_EQ(this->download_index(info), 0);
            EXPECT_TRUE(factor.padding_untouched());
            EXPECT_TRUE(rest.padding_untouched());
            Padded<T> new_l(m, n), new_v(m, k);
            for (Index j = 0; j < n; ++j) {
              for (Index i = 0; i < m; ++i) {
                const T stored = uplo == Uplo::lower ? factor(i, j) : conj(factor(j, i));
                const T untouched = in_place ? sentinel<T>() : Padded<T>(1, 1)(0, 0);
                if (i < j && in_place) {
                  EXPECT_EQ(uplo == Uplo::lower ? stored : conj(stored), untouched);
                }
                new_l(i, j) = i < j ? T(0) : stored;
              }
              EXPECT_EQ(real(new_l(j, j)) < 0, j % 5 == 3);
            }
            for (Index j = 0; j < k; ++j) {
              for (Index i = 0; i < m; ++i) {
                new_v(i, j) = i < n ? T(0) : rest(in_place ? i : i - n, j);
              }
            }
            auto expected = this->product(l, v, plus);
            const auto got = this->product(new_l, new_v, plus);
            const double size = norm1(expected);
            for (Index j = 0; j < m; ++j) {
              for (Index i = 0; i < m; ++i) expected(i, j) -= got(i, j);
            }
            EXPECT_LT(scaled(norm1(expected), static_cast<double>(n + k) * size, epsilon<T>()),
                      kThreshold);
          }
        }
      }
    }
  }
}

TYPED_TEST(UpdateContract, UpdatePanelFindsTheFirstMinorThatIsNotDefinite) {
  using T = TypeParam;
  const Index n = this->kernels().update_panel_width(), m = n + 20;
  for (const Index k : {1, 3, 40}) {
    for (const Index position : {Index{0}, n / 2, n - 1}) {
      for (const Index info_before : {0, 4}) {
        for (const Uplo uplo : kUplos) {
          const auto l = this->random_columns(m, n);
          Padded<T> v(m, k);
          for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < m; ++i) {
              // Far behind, the first vector is too long as well.
              v(i, j) = T(i < position ? 0 : j == 0 && i > position ? 9 : j == k - 1 ? 3 : 0);
            }
          }
          const auto a = this->upload(this->stored(uplo, l)), vectors = this->upload(v);
          const auto info = this->upload_index(info_before);
          this->kernels().update_panel(this->queue(), uplo, a, a, 0, vectors,
                                       vectors.view.block(n, 0, m - n, k), info, 50);
          EXPECT_EQ(this->download_index(info), info_before != 0 ? 4 : 50 + position + 1)
              << "k=" << k << " at " << position << " " << char(uplo);
        }
      }
    }
  }
}

TYPED_TEST(UpdateContract, UpdatePanelTellsItsRotations) {
  using T = TypeParam;
  const Index n = this->kernels().update_panel_width(), m = n + 30;
  for (const Uplo uplo : kUplos) {
    const auto l = this->random_columns(m, n);
    auto v = random_matrix<T>(m, 1, 2);
    v(n / 2, 0) = T(0);
    const auto a = this->upload(this->stored(uplo, l)), vectors = this->upload(v);
    const auto info = this->upload_index(0);
    const auto cosines = this->upload(Padded<Real<T>>(n, 1));
    const auto sines = this->upload(Padded<T>(n, 1));
    this->kernels().update_panel(this->queue(), uplo, a, a, 1, vectors,
                                 vectors.view.block(n, 0, m - n, 1), info, 0, cosines, sines);
    const auto factor = this->download(a), rest = this->download(vectors);
    const auto c = this->download(cosines);
    const auto s = this->download(sines);
    for (Index i = 0; i < m; ++i) {
      T x = v(i, 0);
      for (Index j = 0; j < std::min(n, i + 1); ++j) {
        const T now = uplo == Uplo::lower ? factor(i, j) : conj(factor(j, i));
        EXPECT_GE(c(j, 0), 0);
        EXPECT_LT(std::abs(c(j, 0) * l(i, j) + conj(s(j, 0)) * x - now), 100 * epsilon<T>());
        x = c(j, 0) * x - s(j, 0) * l(i, j);
      }
      const T expected = i < n ? T(0) : rest(i, 0);
      EXPECT_LT(std::abs(x - expected), 1000 * epsilon<T>()) << i;
    }
  }
}

/// A factor L, a matrix V, and what eliminate() makes of them.
template <class T>
class EliminationContract : public UpdateContract<T> {
 protected:
  using W = Wide<T>;
  struct Result {
    OnDevice<T> factor, x, states;
  };

  /// As random_columns(), of any order with an inverse that is small.
  static Padded<T> well_conditioned_columns(Index m, Index n) {
    auto l = UpdateContract<T>::random_columns(m, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = j + 1; i < m; ++i) l(i, j) /= std::sqrt(static_cast<Real<T>>(n));
    }
    return l;
  }

  Index width() { return this->kernels().update_panel_width(); }
  Index order(Index n) { return std::min({n, width(), this->kernels().potrf_panel_width()}); }

  Result eliminate(Uplo uplo, const Padded<T>& l, const Padded<T>& v) {
    const Index m = l.rows(), n = l.cols(), k = v.cols(), size = order(n);
    const Index blocks = (n + size - 1) / size, panels = (n + width() - 1) / width();
    Result result{this->upload(this->stored(uplo, l)), this->upload(v),
                  this->upload(Padded<T>(m, panels * k, 2))};
    const auto inverses = this->upload(Padded<T>(size, n, 1));
    const auto conditions = this->upload(Padded<Real<T>>(blocks, 1));
    const Index count = Kernels<T>::substitution_with_factor_progress(blocks, k);
    const auto progress = this->upload(Padded<Index>(count, 1));
    this->kernels().invert_blocks(this->queue(), uplo, result.factor.view.block(0, 0, n, n),
                                  inverses, conditions);
    this->kernels().eliminate(this->queue(), uplo, result.factor, inverses, result.x, width(),
                              result.states, progress);
    return result;
  }

  /// The bases of V's states, and whether they are unfit.
  std::pair<OnDevice<Double<T>>, Index> bases(int sign, DeviceView<const T> w, double limit) {
    const Index k = w.cols, panels = (w.rows + width() - 1) / width();
    const auto grams = this->upload(Padded<Double<T>>(k, panels * k, 1));
    auto bases = this->upload(Padded<Double<T>>(k, (panels + 1) * k, 1));
    const auto unfit = this->upload_index(0);
    // In two steps, as for a factor that arrives by and by.
    const Index first = std::min(w.rows, panels / 2 * width());
    this->kernels().update_bases(this->queue(), sign, w.block(0, 0, first, k), width(), 0, limit,
                                 grams, bases, unfit);
    this->kernels().update_bases(this->queue(), sign, w.block(first, 0, w.rows - first, k), width(),
                                 first / width(), limit, grams, bases, unfit);
    return {std::move(bases), this->download_index(unfit)};
  }
};
TYPED_TEST_SUITE(EliminationContract, Precisions);

TYPED_TEST(EliminationContract, EliminateLeavesEveryState) {
  using T = TypeParam;
  using W = Wide<T>;
  const Index width = this->width();
  for (const auto& [n, below] : {std::pair<Index, Index>{1, 0},
                                 {5, 0},
                                 {width, 0},
                                 {width, 7},
                                 {2 * width, 300},
                                 {3 * width + 5, 0}}) {
    for (const Index k : {1, 3, 8, 9, 16, 17, 32}) {
      for (const Uplo uplo : kUplos) {
        SCOPED_TRACE(testing::Message() << n << " and " << below << " k=" << k << char(uplo));
        const Index m = n + below;
        const auto l = this->well_conditioned_columns(m, n);
        const auto v = random_matrix<T>(m, k, 2, 3);
        const auto result = this->eliminate(uplo, l, v);
        const auto x = this->download(result.x), states = this->download(result.states);
        EXPECT_TRUE(x.padding_untouched());
        EXPECT_TRUE(states.padding_untouched());
        const auto wide_l = widen<T>(l.view());
        auto expected = widen<T>(v.view());
        for (Index first = 0; first < n; first += width) {
          const Index size = std::min(width, n - first), last = first + size, p = first / width;
          for (Index j = 0; j < k; ++j) {
            for (Index i = first; i < m; ++i) {
              EXPECT_LT(std::abs(W(states(i, p * k + j)) - expected(i, j)), 200 * epsilon<T>());
            }
          }
          const HostView<W> rows = expected.view().block(first, 0, size, k);
          reference::trsm<W>(Side::left, Uplo::lower, Op::none, Diag::non_unit, W(1),
                             wide_l.view().block(first, first, size, size), rows);
          reference::gemm<W>(
              Op::none, Op::none, W(-1), wide_l.view().block(last, first, m - last, size),
              HostView<const W>(rows), W(1), expected.view().block(last, 0, m - last, k));
        }
        for (Index j = 0; j < k; ++j) {
          for (Index i = 0; i < m; ++i) {
            EXPECT_LT(std::abs(W(x(i, j)) - expected(i, j)), 200 * epsilon<T>()) << i << "," << j;
          }
        }
      }
    }
  }
}

TYPED_TEST(EliminationContract, BasesAreRootsOfWhatWoodburySays) {
  using T = TypeParam;
  using D = Double<T>;
  const Index width = this->width();
  for (const Index n : {Index{1}, width, 3 * width + 2}) {
    for (const Index k : {1, 2, 7, 8}) {
      for (const int sign : {1, -1}) {
        SCOPED_TRACE(testing::Message() << n << " k=" << k << " sign " << sign);
        auto w = random_matrix<T>(n, k, 2, 1);
        for (Index j = 0; j < k; ++j) {
          for (Index i = 0; i < n; ++i) {
            w(i, j) *= Real<T>(0.3 / std::sqrt(static_cast<double>(n)));
          }
        }
        const auto there = this->upload(w);
        const auto [bases_there, unfit] = this->bases(sign, there, 100);
        EXPECT_EQ(unfit, 0);
        const auto bases = this->download(bases_there);
        EXPECT_TRUE(bases.padding_untouched());
        for (Index p = 0; p <= (n + width - 1) / width; ++p) {
          const Index rows = std::min(p * width, n);
          Padded<D> t(k, k), product(k, k);
          for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < k; ++i) {
              t(i, j) = D(i == j ? 1 : 0);
              for (Index r = 0; r < rows; ++r) {
                t(i, j) += static_cast<double>(sign) * conj(D(w(r, i))) * D(w(r, j));
              }
              if (i > j) {
                EXPECT_EQ(bases(i, p * k + j), D(0));
              }
            }
          }
          const auto base = bases.view().block(0, p * k, k, k);
          Padded<D> half(k, k);
          reference::gemm<D>(Op::none, Op::none, D(1), t.view(), base, D(0), half.view());
          reference::gemm<D>(Op::conj_trans, Op::none, D(1), base, half.view(), D(0),
                             product.view());
          for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < k; ++i) {
              EXPECT_LT(std::abs(product(i, j) - D(i == j ? 1 : 0)), 1e-13);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(EliminationContract, BasesThatAreUnfit) {
  using T = TypeParam;
  const Index n = this->width() + 3;
  for (const Index k : {1, 4}) {
    Padded<T> w(n, k);
    for (Index j = 0; j < k; ++j) std::fill_n(&w(0, j), n, T(0));
    const auto unfit = [&](int sign, T x, double limit) {
      for (const Index i : {Index{0}, n - 1}) {
        auto with = w;
        with(i, k - 1) = x;
        const auto there = this->upload(with);
        if (this->bases(sign, there, limit).second == 0) return false;
      }
      return true;
    };
    EXPECT_FALSE(unfit(1, T(3), 100));
    EXPECT_EQ(unfit(1, T(12), 100), k > 1);  // one number alone is never ill conditioned
    EXPECT_FALSE(unfit(-1, T(Real<T>(0.9)), 100));
    EXPECT_TRUE(unfit(-1, T(Real<T>(0.999)), 100));
    EXPECT_TRUE(unfit(-1, T(2), 100));
    EXPECT_TRUE(unfit(1, nan<T>(), 100));
    EXPECT_TRUE(unfit(1, infinity<T>(), 100));
  }
}

TYPED_TEST(EliminationContract, PanelsAtOnceKeepTheProduct) {
  using T = TypeParam;
  const Index width = this->width();
  for (const Index n : {Index{1}, Index{7}, width, width + 1, 3 * width - 5}) {
    for (const Index k : {1, 3, 5, 16, 32}) {
      if (k > Kernels<T>::kUpdateVectors) continue;
      for (const Uplo uplo : kUplos) {
        for (const int sign : {1, -1}) {
          SCOPED_TRACE(testing::Message() << n << " k=" << k << char(uplo) << " sign " << sign);
          const auto l = this->well_conditioned_columns(n, n);
          auto v = random_matrix<T>(n, k, 2, 1);
          for (Index j = 0; j < k; ++j) {
            for (Index i = 0; i < n; ++i) {
              v(i, j) *= Real<T>(0.5 / std::sqrt(static_cast<double>(k * n)));
            }
          }
          const auto result = this->eliminate(uplo, l, v);
          const auto [bases, unfit] = this->bases(sign, result.x.view.block(0, 0, n, k), 1000);
          ASSERT_EQ(unfit, 0);
          const auto reflectors =
              this->upload(Padded<Double<T>>(Kernels<T>::kUpdateReflector * n, 1));
          const auto info = this->upload_index(0);
          const bool rotates = k == 1 && sign > 0;
          const auto cosines = this->upload(Padded<Real<T>>(rotates ? n : 0, 1));
          const auto sines = this->upload(Padded<T>(rotates ? n : 0, 1));
          this->kernels().update_panels(this->queue(), uplo, sign, result.factor, result.states, k,
                                        bases, reflectors, info,
                                        rotates ? cosines.view : DeviceView<Real<T>>(),
                                        rotates ? sines.view : DeviceView<T>());
          EXPECT_EQ(this->download_index(info), 0);
          const auto factor = this->download(result.factor);
          EXPECT_TRUE(factor.padding_untouched());
          Padded<T> new_l(n, n);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
              const T stored = uplo == Uplo::lower ? factor(i, j) : factor(j, i);
              if (i < j) {
                EXPECT_EQ(stored, sentinel<T>());
              }
              new_l(i, j) = i < j ? T(0) : uplo == Uplo::lower ? stored : conj(stored);
            }
            EXPECT_EQ(real(new_l(j, j)) < 0, j % 5 == 3);
          }
          auto expected = this->product(l, v, sign > 0 ? k : 0);
          const auto got = this->product(new_l, Padded<T>(n, 0), 0);
          const double size = norm1(expected);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) expected(i, j) -= got(i, j);
          }
          EXPECT_LT(scaled(norm1(expected), static_cast<double>(n + k) * size, epsilon<T>()),
                    kThreshold);
          if (!rotates) continue;
          const auto c = this->download(cosines);
          const auto s = this->download(sines);
          for (Index i = 0; i < n; ++i) {
            T x = v(i, 0);
            for (Index j = 0; j <= i; ++j) {
              EXPECT_GE(c(j, 0), 0);
              const T turned = c(j, 0) * l(i, j) + conj(s(j, 0)) * x;
              EXPECT_LT(std::abs(turned - new_l(i, j)), 1000 * epsilon<T>()) << i << "," << j;
              x = c(j, 0) * x - s(j, 0) * l(i, j);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(UpdateContract, FindNotFinite) {
  using T = TypeParam;
  const Index m = 300, n = 70;
  const auto finite = random_matrix<T>(m, n, 1, 2);
  const auto find = [&](Part part, const Padded<T>& a) {
    const auto there = this->upload(a);
    const auto found = this->upload_index(0);
    this->kernels().find_not_finite(this->queue(), part, there, found);
    return this->download_index(found);
  };
  for (const Part part : {Part::all, Part::lower, Part::upper}) {
    auto large = finite;
    large(50, 50) = T(std::numeric_limits<Real<T>>::max());
    EXPECT_EQ(find(part, large), 0);
    for (const T bad : {nan<T>(), infinity<T>(), -infinity<T>()}) {
      for (const auto& [i, j] :
           {std::pair<Index, Index>{0, 0}, {299, 69}, {40, 41}, {41, 40}, {69, 69}}) {
        auto a = finite;
        a(i, j) = bad;
        const bool counts =
            part == Part::all || (part == Part::lower && i >= j) || (part == Part::upper && i <= j);
        EXPECT_EQ(find(part, a), counts ? 1 : 0) << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace overlapack
