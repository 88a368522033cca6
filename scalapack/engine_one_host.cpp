// One GPU for all ranks of a host: they put their parts of the matrix into memory that they share,
// one of them computes there by the library for LAPACK, and all take their parts of the result.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine.hpp"
#include "fault.hpp"
#include "invoke.hpp"
#include "lapack_library.hpp"
#include "ranks.hpp"
#include "redistribute.hpp"
#include "shared_memory.hpp"

namespace overlapack::scalapack {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Cores that a thread may run on. The kernel may know more of them than one cpu_set_t has.
class Cores {
 public:
  static Cores of_this_thread() {
    Cores cores;
    sched_getaffinity(0, sizeof cores.sets_, cores.sets_.data());
    return cores;
  }
  /// Those of all ranks, which ask together.
  static Cores of_all(int context) {
    Cores cores = of_this_thread();
    std::vector<int> missing;
    for (std::size_t i = 0; i < kMaxCores; ++i) missing.push_back(cores.has(i) ? 0 : 1);
    take_minima(context, missing);
    for (std::size_t i = 0; i < kMaxCores; ++i) {
      if (missing[i] == 0) CPU_SET_S(i, sizeof cores.sets_, cores.sets_.data());
    }
    return cores;
  }
  void bind_this_thread() const { sched_setaffinity(0, sizeof sets_, sets_.data()); }

 private:
  static constexpr std::size_t kSets = 16, kMaxCores = kSets * CPU_SETSIZE;
  bool has(std::size_t i) const { return CPU_ISSET_S(i, sizeof sets_, sets_.data()); }

  std::array<cpu_set_t, kSets> sets_{};
};

/// While it lives, the thread and those that it makes may use the cores of all ranks, which sleep:
/// launchers often give one core to each rank, and copies need more.
class OnCores {
 public:
  explicit OnCores(const Cores& cores) { cores.bind_this_thread(); }
  ~OnCores() { before_.bind_this_thread(); }
  OnCores(const OnCores&) = delete;

 private:
  const Cores before_ = Cores::of_this_thread();
};

/// At the beginning of the shared memory, which is all zeros at first.
struct Head {
  std::atomic<unsigned> computed;  ///< calls that the leader has done with, whatever came of them
};
static_assert(std::atomic<unsigned>::is_always_lock_free, "it is shared by processes");

/// Where the operands of a call lie in the shared memory.
class Places {
 public:
  explicit Places(const Call& call) {
    a_ = take(sizeof(Head));
    lda_ = leading_dimension(call.a.rows, call.element_bytes());
    const auto size = [&](Index ld, Index columns) {
      return static_cast<std::size_t>(ld) * static_cast<std::size_t>(columns) *
             call.element_bytes();
    };
    pivots_ = take(size(lda_, call.a.columns));
    b_ = take(static_cast<std::size_t>(call.order()) * sizeof(int));
    ldb_ = leading_dimension(call.b.rows, call.element_bytes());
    take(size(ldb_, call.b.columns));
  }
  std::size_t bytes() const { return end_; }

  Whole a(char* memory) const { return {memory + a_, lda_}; }
  Whole b(char* memory) const { return {memory + b_, ldb_}; }
  int* pivots(char* memory) const { return reinterpret_cast<int*>(memory + pivots_); }

 private:
  /// Whole lines of the caches, so that ranks do not write to the same ones more than they must.
  static Index leading_dimension(Index rows, std::size_t element_bytes) {
    constexpr std::size_t kLineBytes = 64;
    const std::size_t bytes = static_cast<std::size_t>(rows) * element_bytes;
    return static_cast<Index>(std::max(round_up(bytes, kLineBytes), kLineBytes) / element_bytes);
  }
  /// Makes room. Returns the place behind it.
  std::size_t take(std::size_t bytes) { return end_ = round_up(end_ + bytes, kPageBytes); }

  std::size_t end_ = 0, a_, pivots_, b_;
  Index lda_, ldb_;
};

class OneHostEngine final : public Engine {
 public:
  OneHostEngine(const Ranks& ranks, const Cores& cores, std::optional<LapackLibrary> library)
      : ranks_(ranks), cores_(cores), library_(library) {}

  void reserve(const Call& call) override;
  void fetch(const Call& call) override;
  void compute(const Call& call) override;
  void store(const Call& call) override;
  std::string where() const override { return "rank:" + std::to_string(ranks_.terms().leader); }

 private:
  const Grid& grid() const { return ranks_.grid(); }
  bool leads() const { return library_.has_value(); }
  Head& head() const { return *reinterpret_cast<Head*>(memory_.data()); }
  void run(const Call& call) const;
  void wait_for_leader() const;

  const Ranks& ranks_;
  const Cores cores_;                           // of all ranks
  const std::optional<LapackLibrary> library_;  // of the leader
  SharedMemory memory_;
  std::size_t capacity_ = 0;  // of the memory, once all ranks have got it
  unsigned calls_ = 0;        // for which the leader has been waited, in this memory
};

/// Memory is kept for later calls: new pages take longer than the copies.
void OneHostEngine::reserve(const Call& call) {
  const std::size_t bytes = Places(call).bytes();
  if (bytes <= capacity_) return;
  capacity_ = 0;
  calls_ = 0;
  memory_ = SharedMemory();
  std::vector<int> offer(2, kNone);  // what the others need to open it
  std::exception_ptr failure;
  if (leads()) {
    try {
      memory_ = SharedMemory(bytes);
      offer = {static_cast<int>(getpid()), memory_.file()};
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
  }
  take_minima(ranks_.context(), offer);
  if (failure) std::rethrow_exception(failure);
  if (!leads() && offer[0] != kNone) memory_ = SharedMemory(offer[0], offer[1], bytes);
}

void OneHostEngine::fetch(const Call& call) {
  capacity_ = memory_.size();  // all have got it
  const Places places(call);
  char* const memory = memory_.data();
  put(call.a, grid(), part_of_a(call), call.element_bytes(), places.a(memory));
  if (call.has_b()) {
    put(call.b, grid(), Part::whole, call.element_bytes(), places.b(memory));
  }
  const bool reads_pivots = call.is_lu() && call.has_factors();
  if (reads_pivots) put_pivots(call, grid(), places.pivots(memory));
  may_fail();
}

void OneHostEngine::compute(const Call& call) {
  ++calls_;
  if (!leads()) return wait_for_leader();
  const struct Done {
    ~Done() { count.fetch_add(1, std::memory_order_release); }
    std::atomic<unsigned>& count;
  } done{head().computed};
  run(call);
}

void OneHostEngine::run(const Call& call) const {
  may_fail();
  const Places places(call);
  const Whole a = places.a(memory_.data()), b = places.b(memory_.data());
  const Operands operands{a.data, static_cast<int>(a.ld), b.data, static_cast<int>(b.ld),
                          places.pivots(memory_.data())};
  const OnCores on_cores(cores_);
  const int info = call_lapack(library_->function(call.lapack_name()), call, operands);
  if (info != 0) throw std::runtime_error("info=" + std::to_string(info));
}

/// In its sleep, so that the leader's threads have the core. This only is to spare it: after so
/// many seconds the rank waits in the reduction that follows, which takes place in any case.
void OneHostEngine::wait_for_leader() const {
  using std::chrono::microseconds;
  using Clock = std::chrono::steady_clock;
  constexpr microseconds kShortest(20), kLongest(500);
  const Clock::time_point end = Clock::now() + std::chrono::seconds(60);
  microseconds pause = kShortest;
  while (head().computed.load(std::memory_order_acquire) != calls_ && Clock::now() < end) {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 9 / 8, kLongest);
  }
  may_fail();
}

void OneHostEngine::store(const Call& call) {
  const Places places(call);
  char* const memory = memory_.data();
  if (!call.has_factors()) {
    take(call.a, grid(), part_of_a(call), call.element_bytes(), places.a(memory));
    if (call.is_lu()) take_pivots(call, grid(), places.pivots(memory));
  }
  if (call.has_b()) take(call.b, grid(), Part::whole, call.element_bytes(), places.b(memory));
}

}  // namespace

std::unique_ptr<Engine> make_one_host_engine(Ranks& ranks, std::string& why) {
  const int rank = ranks.grid().rank(), leader = ranks.terms().leader;
  const Cores cores = Cores::of_all(ranks.context());
  std::optional<LapackLibrary> library;
  std::string reason;
  try {
    if (rank == leader) {
      may_fail();
      const OnCores on_cores(cores);
      library.emplace();
    }
  } catch (const std::exception& error) {
    reason = std::string(": ") + error.what();
  }
  if (first_that_failed(ranks.context(), rank, reason.empty()) != kNone) {
    why = "the device of rank " + std::to_string(leader) + " does not start" + reason;
    return nullptr;
  }
  return std::make_unique<OneHostEngine>(ranks, cores, library);
}

}  // namespace overlapack::scalapack
