// The threads that copy between the caller's memory and staging memory.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/scalar.hpp"

namespace overlapack {

/// Runs one job on several threads. Threads are made at the first job that needs them and parked
/// between jobs; they block all signals, so that an application's handlers never run on them.
/// One job at a time: callers hold the device.
class Workers {
 public:
  /// Never destroyed: parked threads may outlive main().
  static Workers& instance();

  /// Starts job(0) ... job(count - 1), each on a thread of its own, and returns at once. The job
  /// must not throw. Throws DeviceError if the system gives no thread.
  void start(Index count, std::function<void(Index)> job);
  /// Waits until every started job has returned.
  void join();
  /// Calls body(i) for i in [0, count), shared out among `threads` threads; returns when all are
  /// done.
  void parallel_for(Index threads, Index count, const std::function<void(Index)>& body);

 private:
  void loop(Index id, unsigned long generation);

  std::mutex mutex_;
  std::condition_variable started_, finished_;
  std::vector<std::thread> threads_;
  std::function<void(Index)> job_;
  Index count_ = 0;    // threads with a smaller number take part in the job
  Index running_ = 0;  // of them, how many have not returned
  unsigned long generation_ = 0;
};

}  // namespace overlapack
