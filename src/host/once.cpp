#include "host/once.hpp"

#include <pthread.h>
#include <unistd.h>

#include <ctime>

namespace overlapack {
namespace {

// POSIX's own mutex and not C++'s: it needs no constructor to have run, and can be made anew.
constexpr pthread_mutex_t kFree = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t mutex = kFree;
thread_local bool taken_for_fork = false;

/// A fork waits for the thread that makes a value, which takes some milliseconds, but not for ever:
/// that thread waits for the fork if it is made by the constructor of a library, which holds the
/// lock of the dynamic linker, or, before glibc 2.36, if it loads a library which registers
/// handlers like these (OpenBLAS does).
void before_fork() {
  constexpr std::time_t kSeconds = 2;
  timespec deadline{};
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += kSeconds;
  taken_for_fork = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == 0;
}

void after_fork_in_parent() {
  if (taken_for_fork) pthread_mutex_unlock(&mutex);
}

std::uint32_t forks = 0;  // between the first process and this one

void after_fork_in_child() {
  mutex = kFree;  // this is not the thread that holds it, and cannot release it
  ++forks;
}

// Registered as the library is loaded: from the first use on, a fork could already be under way.
const int registered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

}  // namespace

std::uint64_t process_identity() {
  return std::uint64_t{forks} << 32 | static_cast<std::uint32_t>(getpid());
}

AtWork::AtWork() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation_before_); }

AtWork::~AtWork() noexcept(false) { pthread_setcancelstate(cancellation_before_, nullptr); }

OnceLock::OnceLock() {
  static_cast<void>(registered);
  pthread_mutex_lock(&mutex);
}

OnceLock::~OnceLock() { pthread_mutex_unlock(&mutex); }

}  // namespace overlapack
