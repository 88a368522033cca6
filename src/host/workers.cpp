#include "host/workers.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#if defined(__x86_64__)
#  include <xmmintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/error.hpp"
#include "core/no_traps.hpp"
#include "host/once.hpp"
#include "host/signals_blocked.hpp"

namespace overlapack {
namespace {

/// Spins until `done` says so, for Workers::kAwake at most. Returns what it said last.
template <class Done>
bool spin_until(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + Workers::kAwake;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause_spinning();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return done();
}

/// The threads that compute on the CPU, for one call at a time.
struct Pool {
  std::mutex mutex;
  Workers workers;
  const std::uint64_t process = process_identity();  // a child has none of the threads
};

Pool& cpu_pool() {
  static Once<Pool> made;
  return made.get([] { return new Pool; });
}

/// Has work(workers) call body(i) for i in [0, count), with the threads of the pool. The caller's
/// does all of it if those are busy with another call, or none are to be had.
template <class Work>
void compute(Index count, const std::function<void(Index)>& body, Work work) {
  try {
    Pool& pool = cpu_pool();
    const std::unique_lock<std::mutex> lock(pool.mutex, std::try_to_lock);
    if (lock && pool.process == process_identity()) return work(pool.workers);
  } catch (const std::exception&) {  // a thread could not be made, so nothing has been done
  }
  for (Index i = 0; i < count; ++i) body(i);
}

}  // namespace

Index available_cores() {
  // The kernel refuses a set smaller than its own, and that of a large machine has more CPUs than
  // one cpu_set_t. No kernel has as many as these.
  cpu_set_t sets[16];
  if (sched_getaffinity(0, sizeof sets, sets) != 0) return 1;
  return CPU_COUNT_S(sizeof sets, sets);
}

Workers& Workers::instance() {
  static Once<Workers> workers;
  return workers.get([] { return new Workers; });
}

Arithmetic Arithmetic::of_this_thread() {
  Arithmetic arithmetic;
#if defined(__x86_64__)
  arithmetic.rounding_ = std::fegetround();
  arithmetic.vectors_ = _mm_getcsr();
#else
  std::fegetenv(&arithmetic.environment_);
#endif
  return arithmetic;
}

void Arithmetic::adopt() const {
#if defined(__x86_64__)
  std::fesetround(rounding_);
  _mm_setcsr(vectors_ | _MM_MASK_MASK);
#else
  std::fenv_t before;
  std::fesetenv(&environment_);
  std::feholdexcept(&before);
#endif
}

void Workers::add_thread() {
  const auto id = static_cast<Index>(workers_.size());
  workers_.reserve(workers_.size() + 1);  // nothing may fail once the thread runs
  auto worker = std::make_unique<Worker>();
  run(*worker, id);
  workers_.push_back(std::move(worker));
}

void Workers::run(Worker& worker, Index id) {
  struct Start {
    Workers& workers;
    Worker& worker;
    Index id;
    Ticket seen;
  };
  auto start = std::make_unique<Start>(Start{*this, worker, id, ticket_.load()});
  const auto enter = [](void* argument) -> void* {
    const Start given = *std::unique_ptr<Start>(static_cast<Start*>(argument));
    given.workers.loop(given.worker, given.id, given.seen);
    return nullptr;
  };
  // Enough for the driver and for updates, even if the program's own threads have less. If they
  // have more they may need it: what is local to a thread lies on its stack, too.
  constexpr std::size_t kStackBytes = std::size_t{2} << 20;
  pthread_attr_t attributes;
  std::size_t stack = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_setstacksize(&attributes, std::max(stack, kStackBytes));
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const SignalsBlocked blocked;
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, enter, start.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    throw DeviceError("cannot start a copy thread: " + std::system_category().message(error));
  }
  static_cast<void>(start.release());  // the thread's own now
}

void Workers::start(Index count, std::function<void(Index)> job, Index woken) {
  if (count <= 0) return;
  // Threads that have ended are made anew, and the others stay. A thread ends by saying so and then
  // looking whether there is a start; so one of the two sees the other.
  starting_.store(true);
  try {
    while (static_cast<Index>(workers_.size()) < count) add_thread();
    for (Index id = 0; id < count; ++id) {
      if (!worker(id).ended.load() || !worker(id).ended.exchange(false)) continue;
      try {
        run(worker(id), id);
      } catch (...) {
        worker(id).ended.store(true);
        throw;
      }
    }
  } catch (...) {
    starting_.store(false);
    throw;
  }
  job_ = std::move(job);
  arithmetic_ = Arithmetic::of_this_thread();
  woken_ = std::min(count, woken);
  const Ticket serial = (ticket_.load() >> kCountBits) + 1;
  ticket_.store(serial << kCountBits | static_cast<Ticket>(count));
  starting_.store(false);
  for (Index id = 0; id < woken_; ++id) wake(id);
}

/// A ticket is settled once: by the thread that accepts it, or by whoever withdraws it. So a thread
/// that has accepted one is waited for, and one that comes too late sees that.
bool Workers::settle(Worker& worker, Ticket ticket) {
  Ticket last = worker.settled.load();
  return last < ticket && worker.settled.compare_exchange_strong(last, ticket);
}

bool Workers::withdraw(Index id) {
  const Ticket ticket = ticket_.load();
  if (!settle(worker(id), ticket)) return false;
  worker(id).over.store(ticket);
  return true;
}

void Workers::join() {
  const Ticket ticket = ticket_.load();
  const Index count = count_of(ticket);
  for (Index id = 0; id < count; ++id) withdraw(id);
  const auto done = [&] {
    for (Index id = 0; id < count; ++id) {
      if (worker(id).over.load() != ticket) return false;
    }
    return true;
  };
  if (spin_until(done)) return;
  // A thread whose part is over looks whether somebody sleeps, who has said so and then looked.
  std::unique_lock<std::mutex> lock(mutex_);
  joining_.store(true);
  finished_.wait(lock, done);
  joining_.store(false);
}

// A thread parks by setting `parked` and then looking at the ticket; whoever wakes it has set the
// ticket, or seen it set, before looking at `parked`. So one of the two sees the other.
void Workers::wake(Index id) {
  if (!worker(id).parked.load()) return;
  const std::lock_guard<std::mutex> lock(worker(id).mutex);
  worker(id).wake.notify_one();
}

/// Whether a thread that has had no job for a while, since that of ticket `seen`, ends.
bool Workers::end(Worker& self, Ticket seen) {
  self.ended.store(true);
  const bool is_wanted = starting_.load() || ticket_.load() != seen;
  return !is_wanted || !self.ended.exchange(false);  // or else another one has its place
}

/// Waits for a ticket other than `seen`, which it becomes. False if the thread is to end.
bool Workers::await_ticket(Worker& self, Index id, Ticket& seen) {
  const auto changed = [&] { return ticket_.load() != seen; };
  // No more threads stay awake than there are cores beside the caller's.
  if (id + 1 >= available_cores() || !spin_until(changed)) {
    std::unique_lock<std::mutex> lock(self.mutex);
    self.parked.store(true);
    while (!self.wake.wait_for(lock, idle_, changed)) {
      if (end(self, seen)) return false;
    }
    self.parked.store(false);
  }
  seen = ticket_.load();
  return true;
}

void Workers::loop(Worker& self, Index id, Ticket seen) {
  // By default a sleep may last 50 us longer than asked for.
  prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(kHostTuning.timer_slack_nanoseconds));
  const NoTraps no_traps;  // those of the program are its own affair
  while (await_ticket(self, id, seen)) {
    if (id >= count_of(seen) || !settle(self, seen)) continue;
    for (Index other = woken_; id + 1 == woken_ && other < count_of(seen); ++other) wake(other);
    arithmetic_.adopt();
    job_(id);
    self.over.store(seen);
    if (!joining_.load()) continue;
    const std::lock_guard<std::mutex> lock(mutex_);
    finished_.notify_all();
  }
}

void Workers::parallel_for(Index threads, Index count, const std::function<void(Index)>& body) {
  std::atomic<Index> next{0};
  const auto work = [&](Index) {
    for (Index i; (i = next.fetch_add(1)) < count;) body(i);
  };
  if (threads <= 1) return work(0);
  start(threads - 1, work);
  work(0);
  join();
}

void Workers::for_each_part(Index count, const std::function<void(Index)>& body) {
  start(count - 1, [&](Index id) { body(id + 1); });
  body(0);
  for (Index i = 1; i < count; ++i) {
    if (withdraw(i - 1)) body(i);  // nobody has come for it
  }
  join();
}

void compute_in_parallel(Index threads, Index count, const std::function<void(Index)>& body) {
  compute(count, body,
          [&](Workers& workers) { workers.parallel_for(std::min(threads, count), count, body); });
}

void compute_parts(Index count, const std::function<void(Index)>& body) {
  compute(count, body, [&](Workers& workers) { workers.for_each_part(count, body); });
}

}  // namespace overlapack
