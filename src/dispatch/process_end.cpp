#include "dispatch/process_end.hpp"

#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "host/once.hpp"

namespace overlapack::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

/// For threads to leave the device. They do so at their next operation. What may take longer is a
/// call of the driver, one panel on the CPU, and the start of the device.
constexpr std::chrono::seconds kMaxWait{2};
constexpr std::chrono::seconds kWay{1};  // see give_way_to_exit()

void at_exit();

// Nothing here has a destructor.
ProcessEnd end{{false}, at_exit};
std::atomic<Clock::rep> begin{0};  // of the end
std::atomic<int> uses{0};
thread_local int own_uses = 0;
thread_local bool calls_exit = false;

void at_exit() {
  if (end.begun) return;  // registered more than once
  const AtWork at_work;
  calls_exit = true;
  begin = Clock::now().time_since_epoch().count();
  end.begun = true;
  // Whoever calls exit() inside a call on the device will not come back to it.
  const Clock::time_point deadline = Clock::now() + kMaxWait;
  while (uses > own_uses && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

// A child has none of the threads that the parent had.
const int registered = pthread_atfork(nullptr, nullptr, [] { uses = own_uses; });

}  // namespace

const ProcessEnd& process_end() { return end; }

void guard_exit() {
  static_cast<void>(registered);
  std::atexit(at_exit);
}

DeviceUse::DeviceUse() {
  ++own_uses;
  ++uses;
}

DeviceUse::~DeviceUse() {
  --uses;
  --own_uses;
}

void give_way_to_exit() {
  if (!end.begun || calls_exit) return;
  std::this_thread::sleep_until(Clock::time_point(Clock::duration(begin.load())) + kWay);
}

}  // namespace overlapack::dispatch
