#include "algorithms/workers.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>

#include "core/error.hpp"
#include "core/once.hpp"

namespace overlapack {
namespace {

/// In nanoseconds; by default a sleep may last 50 us longer than asked for.
constexpr unsigned long kTimerSlack = 1000;

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

/// New threads inherit the mask of the one that makes them. Signals that a thread causes itself
/// cannot be held back: if they are blocked, the kernel kills the process.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
      sigdelset(&blocked, own);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

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
  constexpr std::size_t kEnough = std::size_t{2} << 20;
  pthread_attr_t attributes;
  std::size_t stack = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_setstacksize(&attributes, std::max(stack, kEnough));
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

/// Thread `id` will be there for the next job: it does not end before, and if it has, is made anew.
void Workers::expect(Index id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  const std::lock_guard<std::mutex> lock(worker.mutex);
  worker.expected_after = ticket_.load();
  if (!worker.ended) return;
  run(worker, id);
  worker.ended = false;
}

void Workers::start(Index count, std::function<void(Index)> job, Index woken) {
  if (count <= 0) return;
  while (static_cast<Index>(workers_.size()) < count) add_thread();
  try {
    for (Index id = 0; id < count; ++id) expect(id);
  } catch (...) {  // there will be no job, so nobody is to stay for it
    for (const auto& worker : workers_) {
      const std::lock_guard<std::mutex> lock(worker->mutex);
      worker->expected_after = kNoTicket;
    }
    throw;
  }
  job_ = std::move(job);
  std::fegetenv(&arithmetic_);
  woken_ = std::min(count, woken);
  issue_ticket(count);
  for (Index id = 0; id < woken_; ++id) wake(id);
}

void Workers::issue_ticket(Index count) {
  const Ticket serial = (ticket_.load() >> kCountBits) + 1;
  ticket_.store(serial << kCountBits | static_cast<Ticket>(count));
}

// A thread enters by saying that it is busy and then looking at the ticket; whoever joins has
// withdrawn the ticket before looking at who is busy. So one of the two sees the other. Likewise a
// thread that leaves and somebody who goes to sleep until all have left.

void Workers::join() {
  issue_ticket(0);
  const auto done = [this] {
    return std::none_of(workers_.begin(), workers_.end(),
                        [](const auto& worker) { return worker->busy.load(); });
  };
  if (spin_until(done)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  joining_.store(true);
  finished_.wait(lock, done);
  joining_.store(false);
}

bool Workers::enter(Worker& self, Ticket ticket) {
  self.busy.store(true);
  if (ticket_.load() == ticket) return true;
  leave(self);
  return false;
}

void Workers::leave(Worker& self) {
  self.busy.store(false);
  if (!joining_.load()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  finished_.notify_all();
}

// A thread parks by setting `parked` and then looking at the ticket; whoever wakes it has set the
// ticket, or seen it set, before looking at `parked`. So one of the two sees the other.
void Workers::wake(Index id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  if (!worker.parked.load()) return;
  const std::lock_guard<std::mutex> lock(worker.mutex);
  worker.wake.notify_one();
}

/// Waits for a ticket other than `seen`, which it becomes. False if the thread is to end.
bool Workers::await_ticket(Worker& self, Index id, Ticket& seen) {
  const auto changed = [&] { return ticket_.load() != seen; };
  // No more threads stay awake than there are cores beside the caller's.
  if (id + 1 >= available_cores() || !spin_until(changed)) {
    std::unique_lock<std::mutex> lock(self.mutex);
    self.parked.store(true);
    while (!self.wake.wait_for(lock, idle_, changed)) {
      self.ended = self.expected_after != seen;
      if (self.ended) return false;
    }
    self.parked.store(false);
  }
  seen = ticket_.load();
  return true;
}

void Workers::loop(Worker& self, Index id, Ticket seen) {
  prctl(PR_SET_TIMERSLACK, kTimerSlack);
  while (await_ticket(self, id, seen)) {
    const auto count = static_cast<Index>(seen & ((Ticket{1} << kCountBits) - 1));
    if (id >= count || !enter(self, seen)) continue;
    for (Index other = woken_; id + 1 == woken_ && other < count; ++other) wake(other);
    std::fenv_t with_traps;
    std::fesetenv(&arithmetic_);
    std::feholdexcept(&with_traps);  // which are the caller's own affair
    job_(id);
    leave(self);
  }
}

void Workers::parallel_for(Index threads, Index count, const std::function<void(Index)>& body) {
  std::atomic<Index> next{0};
  const auto work = [&](Index) {
    for (Index i; (i = next.fetch_add(1)) < count;) body(i);
  };
  start(threads - 1, work);
  work(0);
  join();
}

void Workers::for_each_part(Index count, const std::function<void(Index)>& body) {
  struct alignas(kLine) Part {
    std::atomic<bool> taken{false};
  };
  std::array<Part, kMostParts> parts;
  const auto work = [&](Index i) {
    std::atomic<bool>& taken = parts[static_cast<std::size_t>(i)].taken;
    if (!taken.load() && !taken.exchange(true)) body(i);
  };
  start(count - 1, [&](Index id) { work(id + 1); });
  for (Index i = 0; i < count; ++i) work(i);  // and what nobody has come for
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
