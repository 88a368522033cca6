#include "dispatch/start.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <system_error>
#include <thread>

#include "dispatch/process_end.hpp"
#include "host/signals_blocked.hpp"

namespace overlapack::dispatch {
namespace {

/// What a core reaches in large matrices, in double precision (OpenBLAS, one core of sixteen with
/// AVX-512), and the order at which it reaches half of that.
constexpr double kFlopsPerCore = 3.2e10, kHalfOrder = 2000;

std::chrono::duration<double> duration(double seconds) {
  constexpr double kLongest = 3600;  // far from where a clock would overflow
  return std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongest));
}

}  // namespace

double counted_flops(char type, double flops) {
  return type == 's' || type == 'c' ? flops / 2 : flops;
}

double cpu_seconds(Routine routine, char type, const Shape& shape, const CpuWork& before,
                   Index cores) {
  const double flops = counted_flops(type, flops_of(routine, type, shape));
  if (before.seconds > 0 && before.flops > 0) return flops * before.seconds / before.flops;
  const double order = std::cbrt(std::max(flops, 1.0));
  return flops / (kFlopsPerCore * static_cast<double>(cores)) * (1 + kHalfOrder / order);
}

double seconds_left(double elapsed) { return std::max(kStartSeconds - elapsed, elapsed / 4); }

Choice choose(double seconds, double spent, double left) {
  if (seconds >= left) return Choice::wait;
  return spent + seconds >= kSecondsBeforeStart ? Choice::behind : Choice::cpu;
}

bool starts_at_once(const Settings& settings) {
  return settings.device != DeviceChoice::automatic || settings.min_n;
}

bool Start::begin_or_wait() {
  if (over()) return false;
  std::unique_lock<std::mutex> lock(mutex_);
  if (stage_ == Stage::under_way) {
    ++waiting_;
    changed_.wait(lock, [this] { return stage_ != Stage::under_way; });
    --waiting_;
  }
  if (stage_ == Stage::over) return false;
  ++number_;  // a thread that waits for its time is not needed any more
  begin_ = Clock::now().time_since_epoch().count();
  stage_ = Stage::under_way;
  return true;
}

void Start::end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stage_ = Stage::over;
  changed_.notify_all();
}

bool Start::begin_behind(double delay, const Behind& behind) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stage_ != Stage::none) return true;
  const unsigned number = ++number_;
  try {
    const SignalsBlocked blocked;
    std::thread([this, delay, behind, number] { run(delay, behind, number); }).detach();
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  const auto begin = Clock::now() + std::chrono::duration_cast<Clock::duration>(duration(delay));
  begin_ = begin.time_since_epoch().count();
  stage_ = Stage::delayed;
  return true;
}

void Start::run(double delay, const Behind& behind, unsigned number) {
  bool worth_it = true;
  if (delay > 0) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, duration(delay), [&] { return number != number_ || is_awaited(); });
    worth_it = is_awaited();
  }
  // Whoever is asked may want locks, for which others wait for mutex_.
  worth_it = worth_it || behind.is_worth_it();
  std::unique_lock<std::mutex> lock(mutex_);
  if (number != number_) return;
  if ((worth_it || is_awaited()) && !at_process_end()) {
    begin_ = Clock::now().time_since_epoch().count();
    stage_ = Stage::under_way;
    lock.unlock();
    behind.start();
  } else {
    stage_ = Stage::none;
    changed_.notify_all();
    lock.unlock();
    behind.give_up();
  }
}

bool Start::wait(double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++waiting_;
  changed_.notify_all();
  const auto settled = [this] { return stage_ == Stage::over || stage_ == Stage::none; };
  changed_.wait_for(lock, duration(seconds), settled);
  --waiting_;
  return over();
}

double Start::elapsed() const {
  if (stage_ == Stage::none) return 0;
  const auto since = Clock::now().time_since_epoch() - Clock::duration(begin_);
  return std::chrono::duration<double>(since).count();
}

void Start::reset(bool over) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return stage_ != Stage::under_way; });
  ++number_;
  stage_ = over ? Stage::over : Stage::none;
  changed_.notify_all();
}

}  // namespace overlapack::dispatch
