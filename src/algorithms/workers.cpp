#include "algorithms/workers.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <system_error>

#include "core/error.hpp"

namespace overlapack {

Workers& Workers::instance() {
  static Workers* const workers = new Workers;
  return *workers;
}

void Workers::start(Index count, std::function<void(Index)> job) {
  std::lock_guard<std::mutex> lock(mutex_);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the new threads
  try {
    while (static_cast<Index>(threads_.size()) < count) {
      const auto id = static_cast<Index>(threads_.size());
      threads_.emplace_back(&Workers::loop, this, id, generation_);
    }
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw DeviceError(std::string("cannot start a copy thread: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  job_ = std::move(job);
  count_ = running_ = count;
  ++generation_;
  started_.notify_all();
}

void Workers::join() {
  std::unique_lock<std::mutex> lock(mutex_);
  finished_.wait(lock, [this] { return running_ == 0; });
}

void Workers::loop(Index id, unsigned long generation) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    started_.wait(lock, [&] { return generation_ != generation; });
    generation = generation_;
    if (id >= count_) continue;
    const auto job = job_;
    lock.unlock();
    job(id);
    lock.lock();
    if (--running_ == 0) finished_.notify_all();
  }
}

void Workers::parallel_for(Index threads, Index count, const std::function<void(Index)>& body) {
  std::atomic<Index> next{0};
  start(threads, [&](Index) {
    for (Index i; (i = next.fetch_add(1)) < count;) body(i);
  });
  join();
}

}  // namespace overlapack
