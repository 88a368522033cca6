// The transfer engine by itself: what arrives, in which order, and what stays untouched.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/piece_ring.hpp"
#include "support/cases.hpp"
#include "support/fixtures.hpp"
#include "support/matrices.hpp"
#include "support/on_device.hpp"
#include "transfer/transfer.hpp"

namespace overlapack {
namespace {

using namespace testing_support;
using algorithms::at;
using algorithms::DeviceMatrix;
using algorithms::partition;

constexpr MemoryKind kKinds[] = {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::device};
constexpr MemoryKind kHostKinds[] = {MemoryKind::pageable, MemoryKind::pinned};

const char* name_of(MemoryKind kind) {
  return kind == MemoryKind::pageable ? "pageable"
         : kind == MemoryKind::pinned ? "pinned"
                                      : "device";
}

/// A matrix of the caller in one kind of memory.
template <class T>
class Placed {
 public:
  Placed(Device& device, MemoryKind kind, const Padded<T>& a)
      : device_(device), kind_(kind), pageable_(a), size_(a.ld() * std::max<Index>(1, a.cols())) {
    if (kind == MemoryKind::pageable) return;
    memory_ = Buffer<T>(device, kind == MemoryKind::pinned ? Space::host : Space::device, size_);
    if (kind == MemoryKind::pinned) {
      std::copy_n(pageable_.data(), size_, memory_.data());
      return;
    }
    Buffer<T> staging(device, Space::host, size_);
    std::copy_n(pageable_.data(), size_, staging.data());
    QueueLease queue(device);
    queue->copy<T>(DeviceView<T>(memory_.data(), size_), HostView<const T>(staging.data(), size_));
    queue->synchronize();
  }

  HostView<T> view() {
    HostView<T> view = pageable_.view();
    if (kind_ != MemoryKind::pageable) view.data = memory_.data();
    return view;
  }
  /// What it holds now.
  Padded<T> content() const {
    Padded<T> result = pageable_;
    if (kind_ == MemoryKind::pageable) return result;
    if (kind_ == MemoryKind::pinned) {
      std::copy_n(memory_.data(), size_, result.data());
      return result;
    }
    Buffer<T> staging(device_, Space::host, size_);
    QueueLease queue(device_);
    queue->copy<T>(HostView<T>(staging.data(), size_), DeviceView<const T>(memory_.data(), size_));
    queue->synchronize();
    std::copy_n(staging.data(), size_, result.data());
    return result;
  }

 private:
  Device& device_;
  MemoryKind kind_;
  Padded<T> pageable_;
  Index size_;
  Buffer<T> memory_;
};

/// The largest block of staging memory that is asked for.
class LargestStaging : public Observer {
 public:
  void before(Action action, const char* name, double amount) override {
    if (action == Action::allocate && std::string(name) == "staging memory") {
      bytes = std::max(bytes, amount);  // in the thread that starts the transfer
    }
  }
  double bytes = 0;
};

/// The ways of working, each with a ring that turns.
TransferTuning with_threads() {
  TransferTuning tuning = hopper_tuning().transfer;
  tuning.caller_issues_up_to_bytes = 0;
  tuning.chunk_bytes_at_least = tuning.chunk_bytes_at_most = 2048;
  tuning.unit_bytes_at_least = 512;
  tuning.ring_bytes = 3 * tuning.chunk_bytes_at_most;
  tuning.unpacking_threads = 1;
  tuning.past_cache_from_bytes = 4 * tuning.chunk_bytes_at_most;
  return tuning;
}
/// With slots enough for signals that tell of several chunks. All page-locked memory is scattered.
TransferTuning with_many_slots() {
  TransferTuning tuning = with_threads();
  tuning.ring_bytes = 12 * tuning.chunk_bytes_at_most;
  tuning.scattered_beyond_span_bytes = 0;
  return tuning;
}
TransferTuning caller_issues(bool helped) {
  TransferTuning tuning = with_threads();
  tuning.caller_issues_up_to_bytes = std::numeric_limits<std::size_t>::max();
  tuning.bytes_per_helper = helped ? 1 : tuning.caller_issues_up_to_bytes;
  return tuning;
}

/// A way of working, by its name.
struct Way {
  const char* name;
  TransferTuning tuning;

  bool has_threads() const { return tuning.caller_issues_up_to_bytes == 0; }
  bool has_copy_threads() const {
    return tuning.bytes_per_helper != tuning.caller_issues_up_to_bytes;
  }
  bool scatters() const { return tuning.scattered_beyond_span_bytes == 0; }
};

/// What most tables are of.
struct Case {
  Way way;
  MemoryKind kind;
  Part part = Part::all;

  std::string name() const {
    return std::string(way.name) + ", " + name_of(kind) + ", " + testing_support::name_of(part);
  }
};

/// A matrix that goes up from one kind of memory and comes home to another.
struct Move {
  Way way;
  MemoryKind from, to;
  Shape shape;
  Part part;
  Index diagonal;

  std::string name() const {
    return (testing::Message() << way.name << ", from " << name_of(from) << " to " << name_of(to)
                               << ", " << shape << ", " << testing_support::name_of(part)
                               << ", diagonal " << diagonal)
        .GetString();
  }
};
constexpr Shape kShapes[] = {{60, 60}, {90, 35}, {35, 90}, {1, 1}, {700, 2}};
constexpr Index kDiagonals[] = {0, -7, 7};

/// A transfer whose inspection of block `stop` says no; none does if that is negative.
struct Stop {
  Case of;
  Index stop;
};

template <class T>
class Transfers : public DeviceTest {
 protected:
  static std::vector<Way> ways() {
    return {{"threads", with_threads()},
            {"many slots", with_many_slots()},
            {"caller and helpers", caller_issues(true)},
            {"caller", caller_issues(false)}};
  }

  /// Random inside the part, sentinels outside.
  static Padded<T> random_part(Index m, Index n, Part part, Index diagonal) {
    auto a = random_matrix<T>(m, n, 1, 3);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        if (!inside(part, i, j, diagonal)) a(i, j) = sentinel<T>();
      }
    }
    return a;
  }

  /// The part of the block columns [0, columns) is zero, everything else as in `before`.
  static testing::AssertionResult zero_up_to(Index columns, Part part, Index diagonal,
                                             const Padded<T>& before, const Padded<T>& now) {
    for (Index j = 0; j < before.cols(); ++j) {
      for (Index i = 0; i < before.rows(); ++i) {
        const bool zero = j < columns && inside(part, i, j, diagonal);
        if (now(i, j) != (zero ? T(0) : before(i, j))) {
          return testing::AssertionFailure()
                 << "element " << i << "," << j << " with " << columns << " columns final";
        }
      }
    }
    if (!now.padding_untouched()) return testing::AssertionFailure() << "padding";
    return testing::AssertionSuccess();
  }

  /// The region of the columns c of a triangle or rectangle whose diagonal starts at `diagonal`.
  static Region columns_of(HostView<T> a, DeviceView<T> d, Range c, Part part, Index diagonal) {
    return make_region<T>(a.block(0, c.first, a.rows, c.size()),
                          d.block(0, c.first, d.rows, c.size()), part, diagonal + c.first);
  }

  /// Declares that `a` goes up and comes home, in place, by block columns.
  static void add_round_trips(Transfer& transfer, HostView<T> a, DeviceView<T> d, Index nb,
                              Part part = Part::all) {
    for (const Range c : partition(a.cols, nb)) {
      const Region region = columns_of(a, d, c, part, 0);
      transfer.add_upload(region);
      transfer.add_download(region);
    }
  }

  /// Sends `a` up and zeros home, in place, by block columns; the inspection of block `stop` says
  /// no. Checks that nothing of a region is home before its inspection, nor at all if it says no.
  void zero_in_place(Placed<T>& placed, Part part, Index diagonal, Index nb, Index stop,
                     const TransferTuning& tuning, Index& committed) {
    const HostView<T> a = placed.view();
    const auto blocks = partition(a.cols, nb);
    const DeviceMatrix<T> matrix(this->device(), a.rows, a.cols);
    const DeviceView<T> A = matrix.view();
    Buffer<Index> numbers(this->device(), Space::device, static_cast<Index>(blocks.size())),
        staged(this->device(), Space::host, static_cast<Index>(blocks.size()));
    const QueueLease queue(this->device());
    std::vector<std::size_t> inspected;
    Transfer transfer(this->device(), 2, committed, tuning);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const Region region = columns_of(a, A, blocks[b], part, diagonal);
      EXPECT_EQ(transfer.add_upload(region), static_cast<Index>(b));
      transfer.add_download(region, [&, b] {
        EXPECT_EQ(staged.data()[b], 0) << "what was written before has not arrived";
        inspected.push_back(b);
        return static_cast<Index>(b) != stop;
      });
    }
    queue->zero(numbers.data(), sizeof(Index) * blocks.size());
    const auto committable = stop < 0 ? static_cast<Index>(blocks.size()) : stop;
    transfer.when_idle([=](Index home) {
      EXPECT_LE(home, committable);
      return false;
    });
    transfer.start();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (!transfer.before(*queue, static_cast<Index>(b))) break;
      const Range c = blocks[b];
      queue->zero(&A.data[c.first * A.ld], sizeof(T) * static_cast<std::size_t>(c.size() * A.ld));
      queue->copy_to_host(staged.data() + b, sizeof(Index), numbers.data() + b, sizeof(Index),
                          sizeof(Index), 1);
      transfer.release(*queue, static_cast<Index>(b));
    }
    transfer.finish();
    EXPECT_EQ(transfer.stopped(), stop >= 0);
    const std::size_t expected = stop < 0 ? blocks.size() : static_cast<std::size_t>(stop) + 1;
    EXPECT_EQ(inspected.size(), expected);
    for (std::size_t b = 0; b < inspected.size(); ++b) EXPECT_EQ(inspected[b], b);
  }

  void moves(const Move& c) {
    const auto [m, n] = c.shape;
    const auto a = random_part(m, n, c.part, c.diagonal);
    Placed<T> source(this->device(), c.from, a), target(this->device(), c.to, Padded<T>(m, n, 5));
    const DeviceCounters& counters = this->device().counters();
    const std::size_t up = counters.bytes_to_device, down = counters.bytes_to_host;
    const double staged = go_up_and_home(c, source.view(), target.view());
    if (c.from == MemoryKind::device) {
      EXPECT_EQ(counters.bytes_to_device, up) << "a detour";
    }
    if (c.to == MemoryKind::device) {
      EXPECT_EQ(counters.bytes_to_host, down) << "a detour";
      expect_staged(c, staged);
    }
    const auto moved = target.content();
    EXPECT_TRUE(equal_elements(moved, a));  // sentinels too
    EXPECT_TRUE(moved.padding_untouched());
  }
  /// By block columns. Returns the largest block of staging memory, in bytes.
  double go_up_and_home(const Move& c, HostView<T> source, HostView<T> target) {
    const auto [m, n] = c.shape;
    LargestStaging staging;
    Index committed = 0;
    {
      const DeviceMatrix<T> matrix(this->device(), m, n);
      const QueueLease queue(this->device());
      Transfer transfer(this->device(), 2, committed, c.way.tuning);
      this->device().set_observer(&staging);
      const auto blocks = partition(n, 20);
      for (const Range columns : blocks) {
        transfer.add_upload(columns_of(source, matrix.view(), columns, c.part, c.diagonal));
        transfer.add_download(columns_of(target, matrix.view(), columns, c.part, c.diagonal));
      }
      transfer.start();
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        EXPECT_TRUE(transfer.before(*queue, static_cast<Index>(b)));
        transfer.release(*queue, static_cast<Index>(b));
      }
      transfer.finish();
      EXPECT_FALSE(transfer.stopped());
      this->device().set_observer(nullptr);
    }
    EXPECT_EQ(committed, n);
    return staging.bytes;
  }
  /// What a move to device memory may stage.
  static void expect_staged(const Move& c, double bytes) {
    const bool pinned = c.from == MemoryKind::pinned;
    if (c.from == MemoryKind::device || (pinned && !c.way.scatters())) {
      EXPECT_LE(bytes, 1024) << "flags only";
    }
    if (pinned && c.way.scatters() && c.part == Part::all && c.shape.rows > 1) {
      EXPECT_GT(bytes, 1024) << "through slots";
    }
  }

  /// A transfer of zeros whose action number `at` fails. Returns whether any did.
  bool zero_with_fault(Placed<T>& placed, Index nb, Index at, const Way& way, Index& committed) {
    FaultAt fault(at);
    this->device().set_observer(&fault);
    bool failed = false;
    try {
      zero_in_place(placed, Part::lower, 0, nb, -1, way.tuning, committed);
    } catch (const DeviceError&) {
      failed = true;
    }
    this->device().set_observer(nullptr);
    return failed;
  }
  /// After how many actions more the next one fails.
  static Index faults_step() { return device_under_test() == "lazy" ? 1 : 7; }

  /// All actions in turn fail, or some.
  void leaves_a_checkpoint(const Case& c) {
    const Index n = 40, nb = 16;
    const auto a = random_part(n, n, Part::lower, 0);
    Index faults = 0;
    for (Index fault_at = 1;; fault_at += faults_step()) {
      SCOPED_TRACE(testing::Message() << "fault at action " << fault_at);
      Placed<T> placed(this->device(), c.kind, a);
      Index committed = 0;
      const bool failed = zero_with_fault(placed, nb, fault_at, c.way, committed);
      EXPECT_TRUE(zero_up_to(committed, Part::lower, 0, a, placed.content()));
      if (this->HasFailure()) return;
      if (!failed) {
        EXPECT_EQ(committed, n);
        break;
      }
      ++faults;
      ASSERT_LT(faults, 10000) << "the transfer never ends";
    }
    EXPECT_GT(faults, 3);
  }

  void takes_back(const Case& c, bool finishes) {
    const Index n = 80, nb = 16;
    const auto a = random_part(n, n, c.part, 0);
    Placed<T> placed(this->device(), c.kind, a);
    Index committed = 0;
    const DeviceMatrix<T> matrix(this->device(), n, n);
    const DeviceView<T> A = matrix.view();
    const QueueLease queue(this->device());
    Transfer transfer(this->device(), 2, committed, c.way.tuning);
    add_round_trips(transfer, placed.view(), A, nb, c.part);
    transfer.keep_uploads();
    transfer.start();
    const Index regions = n / nb, released = finishes ? regions : regions - 2;
    for (Index r = 0; r < released; ++r) {
      EXPECT_TRUE(transfer.before(*queue, r));
      queue->zero(A.block(0, r * nb, n, nb).data, sizeof(T) * static_cast<std::size_t>(A.ld * nb));
      transfer.release(*queue, r);
    }
    if (finishes) {
      transfer.finish();
      EXPECT_TRUE(zero_up_to(n, c.part, 0, a, placed.content()));
    }
    transfer.take_back(1);  // all but the first region
    const Padded<T> home = placed.content();
    ASSERT_TRUE(all_elements({n, n}, [&](Index i, Index j) {
      return j < nb || !inside(c.part, i, j) || home(i, j) == a(i, j);
    }));
    if (finishes) {
      EXPECT_TRUE(zero_up_to(nb, c.part, 0, a, home));
    }
  }

  void gives_idle_threads_work(const Case& c, bool abandoned) {
    const Index n = 80, nb = 16;
    const auto a = random_matrix<T>(n, n, 1, 3);
    Placed<T> placed(this->device(), c.kind, a);
    const HostView<T> here = placed.view();
    std::atomic<Index> released{0}, calls{0};
    std::atomic<bool> seen_three{false}, over{false};
    Index committed = 0;
    {
      const DeviceMatrix<T> matrix(this->device(), n, n);
      const DeviceView<T> A = matrix.view();
      const QueueLease queue(this->device());
      Transfer transfer(this->device(), 2, committed, c.way.tuning);
      add_round_trips(transfer, here, A, nb);
      transfer.when_idle([&](Index home) {
        EXPECT_FALSE(over);
        EXPECT_LE(home, released);
        Index zeros = 0;
        for (Index j = 0; j < home * nb; ++j) {
          for (Index i = 0; i < n; ++i) zeros += here(i, j) == T(0);
        }
        EXPECT_EQ(zeros, home * nb * n);
        if (home == 3) seen_three = true;
        return ++calls % 2 == 0;
      });
      transfer.start();
      EXPECT_TRUE(transfer.before(*queue, 4));
      queue->zero(A.data, sizeof(T) * at(A.ld * n));
      const auto release = [&](Index b) {
        released = b + 1;
        transfer.release(*queue, b);
      };
      for (const Index b : {0, 1, 2}) release(b);
      if (c.way.has_threads()) {  // then copy threads take it home meanwhile
        while (!seen_three) std::this_thread::yield();
      }
      for (const Index b : {3, 4}) release(b);
      if (!abandoned) {
        transfer.finish();
        over = true;
      }
    }
    over = true;
    if (!c.way.has_copy_threads()) {
      EXPECT_EQ(calls, 0) << "there is no copy thread";
    }
    EXPECT_TRUE(zero_up_to(committed, Part::all, 0, a, placed.content()));
  }

  /// Zeros through a window of two blocks on the device. Action number `at` fails. Returns whether
  /// any did.
  bool stream_with_fault(Placed<T>& placed, Index m, Index n, Index at, const Way& way,
                         Index& committed) {
    const Index nb = 8, window = 2;
    FaultAt fault(at);
    bool failed = false;
    this->device().set_observer(&fault);
    try {
      const DeviceMatrix<T> memory(this->device(), m, window * nb);
      const QueueLease queue(this->device());
      const std::vector<Range> blocks = partition(n, nb);
      Transfer transfer(this->device(), 2, committed, way.tuning);
      const auto count = static_cast<Index>(blocks.size());
      const auto slot = [&](Index b) { return memory.view().block(0, b % window * nb, m, nb); };
      for (Index b = 0; b < count; ++b) {
        const Region region =
            make_region<T>(placed.view().block(0, b * nb, m, nb), slot(b), Part::lower, b * nb);
        transfer.add_upload(region, b < window ? Transfer::kNoDownload : b - window);
        transfer.add_whole_download(region);
      }
      transfer.start();
      for (Index b = 0; b < count; ++b) {
        EXPECT_TRUE(transfer.before(*queue, b));
        queue->zero(slot(b).data, sizeof(T) * static_cast<std::size_t>(slot(b).ld * nb));
        transfer.release(*queue, b);
      }
      transfer.finish();
    } catch (const DeviceError&) {
      failed = true;
    }
    this->device().set_observer(nullptr);
    EXPECT_EQ(committed % nb, 0);
    return failed;
  }
  void streams_through_a_window(const Case& c) {
    const Index m = 150, n = 40;
    const auto a = random_part(m, n, Part::lower, 0);
    for (Index fault_at = 1;; fault_at += faults_step()) {
      SCOPED_TRACE(testing::Message() << "fault at action " << fault_at);
      ASSERT_LT(fault_at, 10000) << "the transfer never ends";
      Placed<T> placed(this->device(), c.kind, a);
      Index committed = 0;
      const bool failed = stream_with_fault(placed, m, n, fault_at, c.way, committed);
      EXPECT_TRUE(zero_up_to(committed, Part::lower, 0, a, placed.content()));
      if (this->HasFailure()) return;
      if (!failed) {
        EXPECT_EQ(committed, n);
        break;
      }
    }
  }

  void commits_block_rows(const Case& c) {
    const Index m = 40, n = 90;
    const auto a = random_matrix<T>(m, n, 1, 3);
    const std::vector<Range> blocks = partition(m, 12);
    for (Index fault_at = 1; !this->HasFailure(); fault_at += faults_step()) {
      SCOPED_TRACE(testing::Message() << "fault at action " << fault_at);
      ASSERT_LT(fault_at, 10000) << "the transfer never ends";
      Placed<T> placed(this->device(), c.kind, a);
      Index committed = 0;
      FaultAt fault(fault_at);
      this->device().set_observer(&fault);
      bool failed = false;
      try {
        const DeviceMatrix<T> zeros(this->device(), m, n);
        const QueueLease queue(this->device());
        queue->zero(zeros.view().data, sizeof(T) * at(zeros.view().ld * n));
        Transfer transfer(this->device(), 2, committed, c.way.tuning);
        for (const Range& b : blocks) {
          transfer.add_rows_download(
              make_region<T>(placed.view().block(b, {0, n}), zeros.view().block(b, {0, n})));
        }
        transfer.start();
        for (std::size_t b = 0; b < blocks.size(); ++b) {
          transfer.release(*queue, static_cast<Index>(b));
        }
        transfer.finish();
      } catch (const DeviceError&) {
        failed = true;
      }
      this->device().set_observer(nullptr);
      EXPECT_TRUE(committed % 12 == 0 || committed == m) << committed;
      const auto home = placed.content();
      EXPECT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
        return home(i, j) == (i < committed ? T(0) : a(i, j));
      })) << committed;
      if (failed) continue;
      EXPECT_EQ(committed, m);
      break;
    }
  }

  /// X, on the device, comes home from the right; column j is exchanged there with places[j].
  void exchange_columns(DeviceView<T> x, HostView<T> home, const std::vector<Index>& places,
                        const TransferTuning& tuning, Index& committed) {
    const QueueLease queue(this->device());
    std::vector<std::vector<Index>> within;  // places counted from the first column of a region
    Transfer transfer(this->device(), 3, committed, tuning);
    auto blocks = partition(x.cols, 15);
    std::reverse(blocks.begin(), blocks.end());
    for (const Range& c : blocks) {
      within.emplace_back(places.begin() + c.first, places.begin() + c.last);
      for (Index& place : within.back()) place -= c.first;
      Region region = make_region<T>(home.block(0, c.first, home.rows, c.size()),
                                     x.block(0, c.first, x.rows, c.size()));
      region.places = within.back().data();
      region.exchanges = true;
      transfer.add_whole_download(region);
    }
    transfer.start();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      transfer.release(*queue, static_cast<Index>(b));
    }
    transfer.finish();
  }

  void exchanges_whatever_fails(const Way& way, Shape shape) {
    const auto [m, n] = shape;
    const auto x = random_matrix<T>(m, n, 1), before = random_matrix<T>(m, n, 2, 3);
    std::vector<Index> places;
    Random random(3);
    for (Index j = 0; j < n; ++j) places.push_back(random.integer(j, n - 1));
    Placed<T> source(this->device(), MemoryKind::device, x);
    for (Index fault_at = 1;; fault_at += faults_step()) {
      SCOPED_TRACE(testing::Message() << "fault at action " << fault_at);
      auto home = before, wanted = before;
      Index committed = 0;
      FaultAt fault(fault_at);
      this->device().set_observer(&fault);
      bool failed = false;
      try {
        const HostView<T> there = source.view();
        exchange_columns(DeviceView<T>(there.data, m, n, there.ld), home.view(), places, way.tuning,
                         committed);
      } catch (const DeviceError&) {
        failed = true;
      }
      this->device().set_observer(nullptr);
      for (Index j = n - 1; j >= n - committed; --j) {
        for (Index i = 0; i < m; ++i) {
          wanted(i, j) = x(i, j);
          std::swap(wanted(i, j), wanted(i, places[at(j)]));
        }
      }
      ASSERT_TRUE(same_bits(home, wanted)) << committed << " columns";
      if (!failed) {
        EXPECT_EQ(committed, n);
        return;
      }
      ASSERT_LT(fault_at, 10000) << "the transfer never ends";
    }
  }
};
TYPED_TEST_SUITE(Transfers, Precisions);

TYPED_TEST(Transfers, MoveEveryPartFromAndToEveryKindOfMemory) {
  for (const Move& c : cross<Move>(this->ways(), kKinds, kKinds, kShapes, kParts, kDiagonals)) {
    SCOPED_TRACE(c.name());
    this->moves(c);
  }
}

struct HalfMove {
  Way way;
  MemoryKind from;
  Shape shape;
  Part part;

  std::string name() const {
    return (testing::Message() << way.name << ", from " << name_of(from) << ", " << shape << ", "
                               << testing_support::name_of(part))
        .GetString();
  }
};

template <class T>
class HalfTransfers : public Transfers<T> {
 protected:
  void brings_words(const HalfMove& c) {
    const auto [m, n] = c.shape;
    const auto a = random_matrix<T>(m, n, 1, 3);
    Placed<T> source(this->device(), c.from, a);
    const QueueLease queue(this->device());
    const auto high = upload(*queue, Padded<Single<T>>(m, n, 1)),
               low = upload(*queue, Padded<Single<T>>(m, n, 4));
    const std::size_t up = this->device().counters().bytes_to_device;
    Index none = 0;
    Transfer transfer(this->device(), 2, none, c.way.tuning);
    transfer.add_upload(make_region<T>(source.view(), high.view, c.part, Words::high));
    transfer.add_upload(make_region<T>(source.view(), low.view, c.part, Words::low));
    transfer.start();
    EXPECT_TRUE(transfer.before(*queue, 0) && transfer.before(*queue, 1));
    transfer.finish();
    if (c.part == Part::all) {
      EXPECT_EQ(this->device().counters().bytes_to_device - up, sizeof(T) * m * n);
    }
    expect_words(c, download(*queue, high), words_of(a, Words::high));
    expect_words(c, download(*queue, low), words_of(a, Words::low));
  }
  static void expect_words(const HalfMove& c, const Padded<Single<T>>& got,
                           const Padded<Single<T>>& expected) {
    ASSERT_TRUE(all_elements(c.shape, [&](Index i, Index j) {
      return !inside(c.part, i, j) ||
             std::memcmp(&got(i, j), &expected(i, j), sizeof(Single<T>)) == 0;
    }));
    EXPECT_TRUE(got.padding_untouched());
  }
};
TYPED_TEST_SUITE(HalfTransfers, DoublePrecisions);

TYPED_TEST(HalfTransfers, BringOneWordOfEachNumber) {
  for (const HalfMove& c : cross<HalfMove>(this->ways(), kHostKinds, kShapes, kParts)) {
    SCOPED_TRACE(c.name());
    this->brings_words(c);
  }
}

TYPED_TEST(Transfers, TakeNothingForPageLockedThatEndsInOrdinaryMemory) {
  using T = TypeParam;
  constexpr Index m = 40;
  // One column here and one on the stack, which lies above all other memory.
  const Buffer<T> pinned(this->device(), Space::host, m);
  std::array<T, m> pageable;
  const auto a = random_matrix<T>(m, 2, 1);
  std::copy_n(&a(0, 0), m, pinned.data());
  std::copy_n(&a(0, 1), m, pageable.data());
  char* const first = reinterpret_cast<char*>(pinned.data());
  char* const second = reinterpret_cast<char*>(pageable.data());
  ASSERT_LT(first, second);
  for (const Way& way : this->ways()) {
    SCOPED_TRACE(way.name);
    Padded<T> target(m, 2);
    Index committed = 0;
    const DeviceMatrix<T> matrix(this->device(), m, 2);
    const QueueLease queue(this->device());
    Transfer transfer(this->device(), 2, committed, way.tuning);
    Region region = make_region<T>(target.view(), matrix.view());
    transfer.add_download(region);
    region.host = first;
    region.host_pitch = static_cast<std::size_t>(second - first);
    transfer.add_upload(region);
    transfer.start();
    EXPECT_TRUE(transfer.before(*queue, 0));
    transfer.release(*queue, 0);
    transfer.finish();
    EXPECT_TRUE(same(target, a));
  }
}

TYPED_TEST(Transfers, CommitInOrderUpToTheInspectionThatFails) {
  const Index n = 70, nb = 16;
  constexpr Index kStops[] = {-1, 0, 2, 4};
  for (const auto& [c, stop] : cross<Stop>(cross<Case>(this->ways(), kKinds, kParts), kStops)) {
    SCOPED_TRACE(testing::Message() << c.name() << ", stop at block " << stop);
    const auto a = this->random_part(n, n, c.part, 0);
    Placed<TypeParam> placed(this->device(), c.kind, a);
    Index committed = 0;
    this->zero_in_place(placed, c.part, 0, nb, stop, c.way.tuning, committed);
    EXPECT_EQ(committed, stop < 0 ? n : stop * nb);
    EXPECT_TRUE(this->zero_up_to(committed, c.part, 0, a, placed.content()));
  }
}

TYPED_TEST(Transfers, LeaveACheckpointWhateverFails) {
  for (const Case& c : cross<Case>(this->ways(), kKinds)) {
    SCOPED_TRACE(c.name());
    this->leaves_a_checkpoint(c);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(Transfers, ExchangeColumnsAsTheyComeHome) {
  for (const Way& way : this->ways()) {
    for (const Shape shape : {Shape{1, 1}, Shape{70, 40}, Shape{300, 33}}) {
      SCOPED_TRACE(testing::Message() << way.name << ", " << shape);
      this->exchanges_whatever_fails(way, shape);
      if (this->HasFailure()) return;
    }
  }
}

/// Fails where the queues are asked for the first time after so many copies on the device, and in
/// all later waits for a queue but the next `passes`.
class QueuesFailAfter : public Observer {
 public:
  QueuesFailAfter(Index copies, Index passes) : copies_(copies), passes_(passes) {}
  void before(Action action, const char* name, double) override {
    if (std::string(name) == "copy on device") --copies_;
    if (action != Action::synchronize || std::string(name) != "queue" || copies_ > 0) return;
    if (!failed_.exchange(true) || passes_-- <= 0) throw DeviceError("injected fault");
  }

 private:
  std::atomic<Index> copies_, passes_;
  std::atomic<bool> failed_{false};
};

TYPED_TEST(Transfers, CountNothingThatOneOfTheQueuesHasLost) {
  using T = TypeParam;
  const Index n = 32, nb = 16;  // a block for each queue
  const auto a = random_matrix<T>(n, n, 1);
  for (const Index passes : {0, 1}) {  // then neither queue can be waited for, or only one
    Placed<T> placed(this->device(), MemoryKind::device, a);
    QueuesFailAfter fault(2, passes);
    Index committed = 0;
    try {
      const DeviceMatrix<T> matrix(this->device(), n, n);
      const QueueLease queue(this->device());
      queue->zero(matrix.view().data, sizeof(T) * at(matrix.view().ld * n));
      Transfer transfer(this->device(), 2, committed, with_threads());
      auto ordinary = a;  // without any there are no threads, and there is one queue
      const DeviceMatrix<T> elsewhere(this->device(), n, n);
      transfer.add_upload(make_region<T>(ordinary.view(), elsewhere.view()));
      for (const Range c : partition(n, nb)) {
        transfer.add_download(this->columns_of(placed.view(), matrix.view(), c, Part::all, 0));
      }
      this->device().set_observer(&fault);
      transfer.start();
      for (const Index b : {0, 1}) transfer.release(*queue, b);
      transfer.finish();
      EXPECT_NE(device_under_test(), "lazy") << "no queue has been asked";
    } catch (const DeviceError&) {
    }
    this->device().set_observer(nullptr);
    const auto now = placed.content();
    for (Index j = 0; j < committed; ++j) {
      for (Index i = 0; i < n; ++i) ASSERT_EQ(now(i, j), T(0)) << committed << " columns final";
    }
  }
}

TYPED_TEST(Transfers, MayBeAbandoned) {
  using T = TypeParam;
  const Index n = 80, nb = 16;
  for (const Case& c : cross<Case>(this->ways(), kKinds)) {
    SCOPED_TRACE(c.name());
    const auto a = this->random_part(n, n, Part::all, 0);
    Placed<T> placed(this->device(), c.kind, a);
    Index committed = 0;
    {
      const DeviceMatrix<T> matrix(this->device(), n, n);
      const DeviceView<T> A = matrix.view();
      const QueueLease queue(this->device());
      Transfer transfer(this->device(), 2, committed, c.way.tuning);
      this->add_round_trips(transfer, placed.view(), A, nb);
      transfer.start();
      EXPECT_TRUE(transfer.before(*queue, 4));
      queue->zero(A.data, sizeof(T) * static_cast<std::size_t>(A.ld * n));
      for (const Index b : {0, 1, 2}) transfer.release(*queue, b);
    }
    EXPECT_LE(committed, 3 * nb);
    EXPECT_TRUE(this->zero_up_to(committed, Part::all, 0, a, placed.content()));
  }
}

/// Of page-locked memory, too: where a matrix begins tells nothing of what lies behind.
TYPED_TEST(Transfers, TakeBackWhatTheyHaveKept) {
  for (const Case& c : cross<Case>(this->ways(), kHostKinds, kParts)) {
    for (const bool finishes : {true, false}) {
      SCOPED_TRACE(c.name() + (finishes ? ", to its end" : ", half-way"));
      this->takes_back(c, finishes);
    }
  }
}

TYPED_TEST(Transfers, FinishWithoutTheUploadsThatNobodyAsksFor) {
  using T = TypeParam;
  const Index n = 80, nb = 8;
  const auto a = random_matrix<T>(n, n, 1);
  auto target = Padded<T>(n, nb);
  for (Way way : this->ways()) {
    SCOPED_TRACE(way.name);
    way.tuning.ring_bytes = 1;  // two slots: those who pack ahead must wait for the issuing thread
    Index committed = 0;
    const DeviceMatrix<T> matrix(this->device(), n, n);
    const QueueLease queue(this->device());
    Transfer transfer(this->device(), 2, committed, way.tuning);
    auto source = a;
    for (const Range c : partition(n, nb)) {
      transfer.add_upload(this->columns_of(source.view(), matrix.view(), c, Part::all, 0));
    }
    transfer.add_download(make_region<T>(target.view(), matrix.view().block(0, 0, n, nb)));
    transfer.start();
    EXPECT_TRUE(transfer.before(*queue, 0));
    transfer.release(*queue, 0);
    transfer.finish();
    EXPECT_EQ(committed, nb);
    ASSERT_TRUE(equal_elements(target, a));
  }
}

TYPED_TEST(Transfers, WaitForSlotsBehindManyRegionsThatNeedNone) {
  using T = TypeParam;
  const Index n = 9, count = 60;
  const auto a = random_matrix<T>(n, 3, 1);
  for (Way way : this->ways()) {
    SCOPED_TRACE(way.name);
    way.tuning.ring_bytes = 1;
    Placed<T> there(this->device(), MemoryKind::device, a);
    Padded<T> source = a, target(n, 3);
    Index committed = 0;
    {
      const DeviceMatrix<T> matrix(this->device(), n, 3);
      const QueueLease queue(this->device());
      Transfer transfer(this->device(), 2, committed, way.tuning);
      for (Index r = 0; r < count; ++r) {
        transfer.add_upload(make_region<T>(there.view(), matrix.view()));
      }
      transfer.add_upload(make_region<T>(source.view(), matrix.view()));
      transfer.add_download(make_region<T>(target.view(), matrix.view()));
      transfer.start();
      EXPECT_TRUE(transfer.before(*queue, count));
      transfer.release(*queue, 0);
      transfer.finish();
    }
    EXPECT_TRUE(same(target, a));
  }
}

TYPED_TEST(Transfers, GiveIdleCopyThreadsWorkOnWhatIsHome) {
  for (const Case& c : cross<Case>(this->ways(), kHostKinds)) {
    for (const bool abandoned : {false, true}) {
      SCOPED_TRACE(c.name() + (abandoned ? ", abandoned" : ""));
      this->gives_idle_threads_work(c, abandoned);
    }
  }
}

TYPED_TEST(Transfers, TakeEmptyRegions) {
  using T = TypeParam;
  const Shape whole = {9, 6};
  constexpr Shape kRegions[] = {{9, 0}, {0, 3}, {9, 6}, {0, 0}};
  for (const Case& c : cross<Case>(this->ways(), kKinds)) {
    SCOPED_TRACE(c.name());
    Index committed = 0;
    {
      Transfer nothing(this->device(), 2, committed, c.way.tuning);
      nothing.start();
      nothing.finish();
    }
    EXPECT_EQ(committed, 0);
    const auto a = random_matrix<T>(whole.rows, whole.cols, 1);
    Placed<T> source(this->device(), c.kind, a),
        target(this->device(), c.kind, Padded<T>(whole.rows, whole.cols));
    int inspections = 0;
    {
      const DeviceMatrix<T> matrix(this->device(), whole.rows, whole.cols);
      const QueueLease queue(this->device());
      Transfer transfer(this->device(), 2, committed, c.way.tuning);
      for (const auto& [m, n] : kRegions) {
        const DeviceView<T> there = matrix.view().block(0, 0, m, n);
        transfer.add_upload(make_region<T>(source.view().block(0, 0, m, n), there));
        transfer.add_download(make_region<T>(target.view().block(0, 0, m, n), there),
                              [&] { return ++inspections > 0; });
      }
      transfer.start();
      for (Index r = 0; r < 4; ++r) {
        EXPECT_TRUE(transfer.before(*queue, r));
        transfer.release(*queue, r);
      }
      transfer.finish();
    }
    EXPECT_EQ(inspections, 4);
    EXPECT_EQ(committed, 9);
    EXPECT_TRUE(equal_elements(target.content(), a));
  }
}

TYPED_TEST(Transfers, StageNoMoreThanTheyMay) {
  using T = TypeParam;
  const Index m = 3000, n = 12;
  const auto a = random_matrix<T>(m, n, 1);
  auto target = Padded<T>(m, n, 1);
  TransferTuning tuning = with_threads();
  tuning.ring_bytes = 1;  // two slots of one column, each way, all the same
  LargestStaging largest;
  Index committed = 0;
  {
    const DeviceMatrix<T> matrix(this->device(), m, n);
    const QueueLease queue(this->device());
    Transfer transfer(this->device(), 2, committed, tuning);
    transfer.add_upload(make_region<T>(a.view(), matrix.view()));
    transfer.add_download(make_region<T>(target.view(), matrix.view()));
    this->device().set_observer(&largest);
    transfer.start();
    EXPECT_TRUE(transfer.before(*queue, 0));
    transfer.release(*queue, 0);
    transfer.finish();
    this->device().set_observer(nullptr);
  }
  EXPECT_LE(largest.bytes, 2 * 2 * static_cast<double>(m) * sizeof(T));
  EXPECT_EQ(committed, n);
  EXPECT_TRUE(equal_elements(target, a));
  EXPECT_TRUE(target.padding_untouched());
}

TYPED_TEST(Transfers, StreamThroughAWindowAndCommitWholeRegions) {
  for (const Case& c : cross<Case>(this->ways(), kHostKinds)) {
    SCOPED_TRACE(c.name());
    this->streams_through_a_window(c);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(Transfers, CommitBlockRowsAndCountTheirRows) {
  for (const Case& c : cross<Case>(this->ways(), kHostKinds)) {
    SCOPED_TRACE(c.name());
    this->commits_block_rows(c);
    if (this->HasFailure()) return;
  }
}

/// By way of a ring, whose places are fewer than the parts.
TYPED_TEST(Transfers, PartsTakeThePlaceOfThoseThatWorkHasPassed) {
  using T = TypeParam;
  const Index n = 90;
  for (const Case& c : cross<Case>(this->ways(), kHostKinds)) {
    SCOPED_TRACE(c.name());
    const auto a = random_matrix<T>(n, n, 1, 3);
    Placed<T> from(this->device(), c.kind, a), to(this->device(), c.kind, Padded<T>(n, n, 3));
    const DeviceMatrix<T> copy(this->device(), n, n);
    algorithms::PieceRing<T> ring(this->device(), n, 20);
    const QueueLease queue(this->device());
    for (int round = 0; round < 2; ++round) {  // the ring serves several transfers
      Index committed = 0;
      Transfer transfer(this->device(), 2, committed, c.way.tuning);
      transfer.add_download(make_region<T>(to.view(), copy.view()));
      ring.begin(transfer);
      const HostView<const T> all = from.view();
      const auto parts = partition(n, 20);
      for (const Range& j : parts) ring.add(all.block({0, n}, j));
      transfer.start();
      for (Index q = 0; q < ring.count(); ++q) {
        const DeviceView<const T> part = ring.before(*queue, q);
        queue->template copy<T>(copy.view().block({0, n}, parts[at(q)]), part);
        ring.pass(*queue, q);
      }
      transfer.release(*queue, 0);
      transfer.finish();
      EXPECT_EQ(committed, n);
      EXPECT_TRUE(equal_elements(to.content(), a));
    }
  }
}

/// Memory of which the first page holds up who writes it first, until somebody has written the byte
/// `awaited`, which was 0, or for a while.
class HoldingMemory {
 public:
  HoldingMemory(std::size_t bytes, std::size_t awaited) : bytes_(bytes) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    page_ = static_cast<char*>(memory);
    awaited_ = page_ + awaited;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
      while (*awaited_ == 0 && std::chrono::steady_clock::now() < end) continue;
      mprotect(page_, kPage, PROT_READ | PROT_WRITE);
    };
    sigaction(SIGSEGV, &action, &before_);
    mprotect(page_, kPage, PROT_READ);
  }
  ~HoldingMemory() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(page_, bytes_);
  }
  HoldingMemory(const HoldingMemory&) = delete;
  char* data() const { return page_; }

  static constexpr std::size_t kPage = 4096;

 private:
  static inline char* page_ = nullptr;
  static inline volatile const char* awaited_ = nullptr;
  std::size_t bytes_;
  struct sigaction before_ = {};
};

TYPED_TEST(Transfers, DownloadsOverTheSameMemoryWaitForOneThatIsHeldUp) {
  using T = TypeParam;
  constexpr Index m = HoldingMemory::kPage / sizeof(T);
  // Two columns, each a page, and then the second one again. What is awaited is its exponent.
  const HoldingMemory memory(2 * HoldingMemory::kPage, HoldingMemory::kPage + sizeof(Real<T>) - 1);
  const HostView<T> home(reinterpret_cast<T*>(memory.data()), m, 2, m);
  auto tuning = with_threads();
  tuning.chunk_bytes_at_least = tuning.chunk_bytes_at_most = tuning.unit_bytes_at_least =
      2 * HoldingMemory::kPage;
  tuning.ring_bytes = 2 * tuning.chunk_bytes_at_most;
  const DeviceMatrix<T> matrix(this->device(), m, 3);
  const DeviceView<T> all = matrix.view();
  const QueueLease queue(this->device());
  const Buffer<T> staging(this->device(), Space::host, m * 3);
  for (Index i = 0; i < staging.size(); ++i) {
    staging.data()[i] = T(Real<T>(i < 2 * m ? 1 : 2));
  }
  queue->template copy<T>(all, HostView<const T>(staging.data(), m, 3, m));
  Index committed = 0;
  Transfer transfer(this->device(), 3, committed, tuning);
  const Index first = transfer.add_download(make_region<T>(home, all.block(0, 0, m, 2)));
  transfer.add_download_over(make_region<T>(home.block(0, 1, m, 1), all.block(0, 2, m, 1)), first);
  transfer.start();
  for (const Index r : {0, 1}) transfer.release(*queue, r);
  transfer.finish();
  for (Index i = 0; i < m; ++i) {
    ASSERT_EQ(home(i, 0), T(1));
    ASSERT_EQ(home(i, 1), T(2));
  }
}

TYPED_TEST(Transfers, DownloadsOverTheSameMemoryEndInOrder) {
  using T = TypeParam;
  // A long copy by one thread, then a short one over its end.
  const Index m = 1000, n = 200, rounds = 4, repetitions = 10;
  const DeviceMatrix<T> memory(this->device(), m, n * rounds);
  const DeviceView<T> all = memory.view();
  const QueueLease queue(this->device());
  const Buffer<T> staging(this->device(), Space::host, m * n * rounds);
  for (Index i = 0; i < staging.size(); ++i) {
    staging.data()[i] = T(static_cast<Real<T>>(i / (m * n)));  // the number of the round
  }
  queue->template copy<T>(all, HostView<const T>(staging.data(), m, n * rounds, m));
  queue->synchronize();
  const auto round_of = [&](Index j) { return j < n - 1 ? rounds - 2 : rounds - 1; };
  for (Way way : this->ways()) {
    SCOPED_TRACE(way.name);
    TransferTuning& tuning = way.tuning;
    tuning.chunk_bytes_at_least = tuning.chunk_bytes_at_most = 4 << 20;
    tuning.units_per_chunk = 1;
    tuning.ring_bytes = 4 * tuning.chunk_bytes_at_most;
    for (Index repetition = 0; repetition < repetitions; ++repetition) {
      Padded<T> home(m, n, 3);
      Index committed = 0;
      Transfer transfer(this->device(), 4, committed, tuning);
      Index last = Transfer::kNoDownload;
      for (Index r = 0; r < rounds; ++r) {
        const Index first = r % 2 == 0 ? 0 : n - 1;
        last = transfer.add_download_over(make_region<T>(home.view().block(0, first, m, n - first),
                                                         all.block(0, r * n + first, m, n - first)),
                                          last);
      }
      transfer.start();
      for (Index r = 0; r < rounds; ++r) transfer.release(*queue, r);
      transfer.finish();
      EXPECT_TRUE(home.padding_untouched());
      ASSERT_TRUE(all_elements({m, n}, [&](Index i, Index j) {
        return home(i, j) == T(static_cast<Real<T>>(round_of(j)));
      }));
    }
  }
}

}  // namespace
}  // namespace overlapack
