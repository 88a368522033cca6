// Threads of the library's own: they copy between the caller's memory and staging memory, and
// compute updates of a Cholesky factor on the CPU.
#pragma once

#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "core/scalar.hpp"
#include "host/tuning.hpp"

namespace overlapack {

/// CPU cores this process may run on.
Index available_cores();

/// Tells the processor that a thread waits: it leaves more to the other one on the same core.
inline void pause_spinning() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// How a thread computes: how it rounds, and whether subnormal numbers are zero for it.
class Arithmetic {
 public:
  static Arithmetic of_this_thread();
  /// Has this thread, in which nothing traps, compute so from now on.
  void adopt() const;

 private:
#if defined(__x86_64__)  // a whole environment takes 0.3 us to load
  int rounding_ = 0;
  unsigned vectors_ = 0;  // the control word of vector instructions
#else
  std::fenv_t environment_{};
#endif
};

/// Lets several threads take part in one job. Threads are made at the first job that needs them and
/// parked between jobs. One that has had no job for a while ends, so that a process ends when the
/// program's own threads have. They block all signals but those that they cause themselves
/// (SIGSEGV, say), so that an application's handlers run on them only for its own memory. They
/// compute as the thread that starts the job does, as to rounding and subnormal numbers. One job
/// at a time: whoever starts one has a lease.
///
/// Waking a parked thread takes its waker 5 to 10 microseconds, and 30 to 90 until the thread runs:
/// one thread wakes all, because in a tree of wakers the latencies add up. Only a caller who has
/// work of its own meanwhile leaves most of it to one of the threads. A thread that has
/// finished stays awake for a moment: calls that follow each other closely find it so. On a busy
/// machine a thread may come late. It is not waited for.
class Workers {
 public:
  /// How long a thread without work stays awake. Longer than the gap between two calls of a loop,
  /// too short for a program that computes on all cores afterwards to notice.
  static constexpr std::chrono::microseconds kAwake{kHostTuning.awake_microseconds};

  /// Threads end after so long without a job.
  explicit Workers(std::chrono::milliseconds idle = std::chrono::seconds(5)) : idle_(idle) {}
  /// Never destroyed: parked threads may outlive main().
  static Workers& instance();

  /// Leave to start jobs. It ends on the thread that has got it.
  using Lease = std::unique_lock<std::mutex>;
  /// Waits until nobody else has it.
  Lease lease() { return Lease(leased_); }
  /// False if another one has it.
  Lease try_lease() { return Lease(leased_, std::try_to_lock); }

  /// Invites `count` threads to call job(0) ... job(count - 1), each on a thread of its own, and
  /// returns at once. The job must not throw. Throws DeviceError if the system gives no thread.
  /// The caller wakes `woken` threads, at least one, and the last of these the others.
  void start(Index count, std::function<void(Index)> job,
             Index woken = std::numeric_limits<Index>::max());
  /// Withdraws the invitation and waits for those who have accepted it.
  void join();
  /// Calls body(i) for i in [0, count), shared out among the caller and up to `threads - 1` others;
  /// returns when all are done. The body must not throw.
  void parallel_for(Index threads, Index count, const std::function<void(Index)>& body);
  /// The same for up to kMaxParts of them, each on a thread of its own: the same one in all calls,
  /// if it comes in time.
  void for_each_part(Index count, const std::function<void(Index)>& body);
  static constexpr Index kMaxParts = 64;

 private:
  /// An invitation: a serial number and, in the lower bits, how many are invited.
  using Ticket = std::uint64_t;
  static constexpr int kCountBits = 16;
  static constexpr std::size_t kLine = 64;
  static Index count_of(Ticket ticket) {
    return static_cast<Index>(ticket & ((Ticket{1} << kCountBits) - 1));
  }

  struct Worker {
    /// The last invitation that the thread has accepted, or that has been withdrawn from it, and
    /// the last one that is over for it. Each has a cache line for them: many who write to the same
    /// one wait for each other.
    alignas(kLine) std::atomic<Ticket> settled{0};
    std::atomic<Ticket> over{0};
    alignas(kLine) std::atomic<bool> parked{false};
    std::atomic<bool> ended{false};
    std::mutex mutex;
    std::condition_variable wake;
  };
  static bool settle(Worker& worker, Ticket ticket);

  Worker& worker(Index id) { return *workers_[static_cast<std::size_t>(id)]; }
  void add_thread();
  void run(Worker& worker, Index id);
  void loop(Worker& self, Index id, Ticket seen);
  bool await_ticket(Worker& self, Index id, Ticket& seen);
  bool end(Worker& self, Ticket seen);
  void wake(Index id);
  bool withdraw(Index id);

  const std::chrono::milliseconds idle_;
  std::mutex leased_;
  std::vector<std::unique_ptr<Worker>> workers_;  // grows between jobs only
  Arithmetic arithmetic_;                         // of whoever has started the job
  alignas(kLine) std::atomic<Ticket> ticket_{0};
  Index woken_ = 0;  // by the caller
  std::function<void(Index)> job_;
  alignas(kLine) std::atomic<bool> starting_{false};  // so no thread may end
  std::atomic<bool> joining_{false};                  // in its sleep, until all is over
  std::mutex mutex_;                                  // for finished_
  std::condition_variable finished_;
};

/// Calls body(i) for i in [0, count), shared out among the caller and up to `threads - 1` threads
/// that compute on the CPU; all on the caller's if those are busy with another call, or none are to
/// be had. The body must not throw.
void compute_in_parallel(Index threads, Index count, const std::function<void(Index)>& body);
/// As compute_in_parallel() by Workers::for_each_part().
void compute_parts(Index count, const std::function<void(Index)>& body);
template <class Body>
void share_out(Index threads, Index count, const Body& body) {
  if (threads > 1 && count > 1) return compute_in_parallel(threads, count, std::cref(body));
  for (Index i = 0; i < count; ++i) body(i);
}

}  // namespace overlapack
