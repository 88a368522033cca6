#include "core/once.hpp"

#include <pthread.h>

#include <ctime>

namespace overlapack {
namespace {

// POSIX's own mutex and not C++'s: it needs no constructor to have run, and can be made anew.
constexpr pthread_mutex_t kFree = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t mutex = kFree;
thread_local bool taken_for_fork = false;

/// A fork waits for the thread that makes a value, which takes some milliseconds, but not for ever:
/// before glibc 2.36, a thread that loads a library which registers handlers like these (OpenBLAS
/// does) waits for the fork.
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

/// The child is another thread than the one that holds the mutex, and cannot release it.
void after_fork_in_child() { mutex = kFree; }

// Registered as the library is loaded: from the first use on, a fork could already be under way.
const int registered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

}  // namespace

OnceLock::OnceLock() {
  static_cast<void>(registered);
  pthread_mutex_lock(&mutex);
}

OnceLock::~OnceLock() { pthread_mutex_unlock(&mutex); }

}  // namespace overlapack
