#include "dispatch/memory_use.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "core/no_traps.hpp"
#include "dispatch/process_end.hpp"
#include "host/signals_blocked.hpp"

namespace overlapack::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

// Nothing here has a destructor. A child of the process, which may inherit that a thread is there,
// has no device.
std::atomic<int> users{0};
std::atomic<Clock::rep> kept_until{0};
std::atomic<bool> thread_is_there{false};

/// The thread ends after so long without a call, whether or not there is anything to give back: a
/// process ends when its last thread does. It says that it ends and then looks whether a call has
/// ended meanwhile. That has set the time and then looked for a thread, so one of the two sees the
/// other.
void give_back_in_time() {
  const NoTraps no_traps;  // those of the program are its own affair
  for (;;) {
    const Clock::rep until = kept_until;
    std::this_thread::sleep_until(Clock::time_point(Clock::duration(until)));
    if (kept_until != until) continue;
    if (users == 0) Context::instance().give_back_memory();  // or else the call's end comes
    thread_is_there = false;
    if (kept_until == until || thread_is_there.exchange(true)) return;
  }
}

/// Without a thread the memory stays until a later call has one.
void start_thread() noexcept {
  if (thread_is_there.exchange(true)) return;
  const SignalsBlocked blocked;
  try {
    std::thread(give_back_in_time).detach();
  } catch (const std::exception&) {
    thread_is_there = false;
  }
}

}  // namespace

MemoryUse::MemoryUse(Context& context) : context_(context) { ++users; }

MemoryUse::~MemoryUse() {
  --users;
  const std::chrono::milliseconds keep = context_.settings().keep_memory;
  if (keep == kForEver || at_process_end()) return;
  if (keep.count() == 0) {
    context_.give_back_memory();
  } else {
    kept_until = (Clock::now() + keep).time_since_epoch().count();
    start_thread();
  }
}

}  // namespace overlapack::dispatch
