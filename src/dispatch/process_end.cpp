#include "dispatch/process_end.hpp"

#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <system_error>

#include "host/once.hpp"
#include "host/signals_blocked.hpp"

namespace overlapack::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

/// For threads to leave the device. They do so at their next operation. What may take longer is a
/// call of the driver, one panel on the CPU, and above all the start of the device.
constexpr std::chrono::seconds kMaxWait{10};
constexpr std::chrono::seconds kWay{1};  // see give_way_to_exit()
constexpr std::chrono::microseconds kPause{20};
/// A handler takes 32 bytes, and a start half a second.
constexpr std::chrono::microseconds kBetweenGuards{100};

void at_exit();

// Nothing here has a destructor.
ProcessEnd end{{false}, at_exit};
std::atomic<Clock::rep> left{0};  // when nobody used the device any more; 0: not yet
std::atomic<int> uses{0};
std::atomic<Clock::rep> start_began{0};  // 0: none is under way
std::atomic<bool> libraries_end{false};
std::atomic<int> late_calls{0};  // on the CPU
thread_local int own_uses = 0;
thread_local bool calls_exit = false;

/// Whether a start is all that the device is used for by others, and has taken too long already.
bool only_a_start_hangs(Clock::time_point now) {
  const Clock::rep began = start_began;
  return began != 0 && uses - own_uses == 1 &&
         now >= Clock::time_point(Clock::duration(began)) + kMaxWait;
}

/// Held while a handler is registered, and during a fork: atexit() has a lock that a child never
/// gets if another thread held it, and the child's exit() would wait for it. As in host/once.cpp.
constexpr pthread_mutex_t kFree = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t registering = kFree;

void note_that_all_have_left() { left = Clock::now().time_since_epoch().count(); }

void at_exit() {
  if (end.begun) return;  // registered more than once
  const AtWork at_work;
  calls_exit = true;
  end.begun = true;
  // Whoever calls exit() inside a call on the device will not come back to it.
  const Clock::time_point deadline = Clock::now() + kMaxWait;
  for (auto now = Clock::now(); uses > own_uses && now < deadline; now = Clock::now()) {
    if (only_a_start_hangs(now)) break;
    std::this_thread::sleep_for(kPause);
  }
  note_that_all_have_left();
}

/// After all handlers, and before the destructors of what was loaded after this library, or of what
/// it needs: so before the CPU LAPACK's, which frees memory that a call has in use.
__attribute__((destructor)) void before_libraries_end() {
  if (!end.begun) return;
  libraries_end = true;
  const Clock::time_point deadline = Clock::now() + kMaxWait;
  while (late_calls > 0 && Clock::now() < deadline) std::this_thread::sleep_for(kPause);
}

/// When the library is loaded: handlers of the program come later, and so run before this one. They
/// may take long, and another thread may come to its first call meanwhile.
bool prepare() {
  guard_exit();
  // A child has none of the threads that the parent had, nor the one that called exit().
  const auto before = [] { pthread_mutex_lock(&registering); };
  const auto in_parent = [] { pthread_mutex_unlock(&registering); };
  pthread_atfork(before, in_parent, [] {
    registering = kFree;
    uses = own_uses;
    start_began = 0;
    late_calls = 0;
    if (end.begun) note_that_all_have_left();
  });
  return true;
}

const bool prepared = prepare();

}  // namespace

const ProcessEnd& process_end() { return end; }

void guard_exit() {
  static_cast<void>(prepared);
  pthread_mutex_lock(&registering);
  std::atexit(at_exit);
  pthread_mutex_unlock(&registering);
}

ExitGuard::ExitGuard() {
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] {
      while (!over_) {
        guard_exit();
        std::this_thread::sleep_for(kBetweenGuards);
      }
    });
  } catch (const std::system_error&) {
  }
}

ExitGuard::~ExitGuard() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
}

DeviceUse::DeviceUse(Kind kind) : kind_(kind) {
  if (kind_ == Kind::start) start_began = Clock::now().time_since_epoch().count();
  ++own_uses;
  ++uses;
}

DeviceUse::~DeviceUse() {
  if (kind_ == Kind::start) start_began = 0;
  --uses;
  --own_uses;
}

void give_way_to_exit() {
  if (!end.begun || calls_exit) return;
  while (left == 0) std::this_thread::sleep_for(kPause);
  std::this_thread::sleep_until(Clock::time_point(Clock::duration(left.load())) + kWay);
}

CpuUse::CpuUse() {
  give_way_to_exit();
  if (!end.begun || calls_exit) return;
  late_ = true;
  ++late_calls;  // first: before_libraries_end() sets the other one and then looks at this
  if (libraries_end) {
    --late_calls;
    std::this_thread::sleep_for(kMaxWait);  // for ever, if no destructor waits for this thread
    ++late_calls;
  }
}

CpuUse::~CpuUse() {
  if (late_) --late_calls;
}

}  // namespace overlapack::dispatch
