// Values that are made at their first use, in processes that may fork at any time.
#pragma once

#include <atomic>
#include <cstdint>

#include "host/errno_guard.hpp"

namespace overlapack {

/// A number that this process shares with none of its ancestors, and which is never 0. The process
/// id alone would not do: a child may get that of an ancestor which has ended.
std::uint64_t process_identity();

/// While it lives, the thread that made it works for the library: more than to hand a call on. It
/// is not cancelled (pthread_cancel), which would leave locks and threads behind, but at its next
/// cancellation point afterwards; and errno then is what it was.
class AtWork {
 public:
  AtWork();
  ~AtWork() noexcept(false);  // a cancellation that was asynchronous takes place here
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  int cancellation_before_;
  ErrnoGuard errno_guard_;
};

/// Held while a value is made: by one thread of the process at a time, and by none during a fork
/// unless that has waited for two seconds. The thread that holds it may take it again, may fork,
/// and cannot be cancelled.
class OnceLock {
 public:
  OnceLock();
  ~OnceLock();
  OnceLock(const OnceLock&) = delete;
  OnceLock& operator=(const OnceLock&) = delete;

 private:
  AtWork at_work_;
};

/// A value that the first get() makes and that is never destroyed, since calls may still come while
/// the process exits. To be used as a variable of static storage duration.
///
/// It differs from a function's static variable in a child of the process: there the value is
/// whole, or has not been begun. The guard of a static variable that another thread was making at
/// the fork would let every use of it in the child wait for ever.
template <class T>
class Once {
 public:
  /// make() returns a T*, which is kept. If it throws, the next get() tries again.
  template <class Make>
  T& get(Make make) {
    T* value = value_.load(std::memory_order_acquire);
    if (value == nullptr) {
      const OnceLock lock;
      value = value_.load(std::memory_order_relaxed);
      if (value == nullptr) {
        value = make();
        value_.store(value, std::memory_order_release);
      }
    }
    return *value;
  }

 private:
  std::atomic<T*> value_{nullptr};
};

}  // namespace overlapack
