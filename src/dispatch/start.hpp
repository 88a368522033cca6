// The start of the device: when it begins, who waits for it, and what the CPU serves meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "dispatch/plan.hpp"

namespace overlapack::dispatch {

/// Starting the device takes a process about so many seconds, once: as a rule, with the first call.
inline constexpr double kStartSeconds = 0.45;
/// It begins beside the CPU's work once that has spent so many seconds on calls that are large
/// enough for the device. A program that ends soon after has started it in vain, and waits for a
/// step of it; one that goes on has lost these seconds, as the device is ready so much later. Who
/// does not know what comes loses least, at worst twice the time, by spending as much as the start
/// takes: the rule for whether to rent or to buy.
inline constexpr double kSecondsBeforeStart = kStartSeconds;
/// Who waits for a start does so no longer than this, or than the CPU would take: it may hang.
inline constexpr double kLongestWaitSeconds = 2 * kStartSeconds;

/// What the CPU has done so far of calls that were large enough for a device not yet ready.
struct CpuWork {
  double seconds = 0;
  double flops = 0;  ///< in double precision; others count by how long they take
};

/// Seconds that the CPU will need for a call: by its speed in those calls or, if there are none, by
/// what a CPU LAPACK reaches on so many cores.
double cpu_seconds(Routine routine, char type, const Shape& shape, const CpuWork& before,
                   Index cores);
/// The same of so many operations, as CpuWork counts them.
double counted_flops(char type, double flops);

/// Seconds until a start that began so long ago will be over. One that takes longer than is usual
/// is expected to take a quarter of the time again.
double seconds_left(double elapsed);

/// What a call that is large enough does about a device that is not ready.
enum class Choice {
  cpu,     ///< the CPU serves it, and that is no reason to start the device
  behind,  ///< the CPU serves it, and beside it the device is started, if it is not yet
  wait     ///< it waits for the device, which is started now, if it is not yet
};
/// Of a call that takes the CPU so long: whichever of CPU and device will be the first to be done
/// serves it. `spent`: seconds of such calls before. `left`: seconds_left().
Choice choose(double seconds, double spent, double left);

/// Whether the first large call starts the device and waits for it, whatever it costs: the user has
/// named the device or the size.
bool starts_at_once(const Settings& settings);

/// The life of a start. Thread-safe. In a child of the process that has begun it, nothing but
/// over() and under_way() may be asked: a thread of the parent may have held the lock at the fork.
class Start {
 public:
  /// Whether the device has been started, or it is known that there is none.
  bool over() const { return stage_.load(std::memory_order_acquire) == Stage::over; }
  /// Whether a thread is about it.
  bool under_way() const { return stage_.load(std::memory_order_acquire) == Stage::under_way; }

  /// Whether the calling thread is to start the device, and then to call end(). If not, waits until
  /// another one has.
  bool begin_or_wait();
  void end();

  /// What a thread of its own is to do.
  struct Behind {
    std::function<bool()> is_worth_it;  ///< asked once the delay is over
    std::function<void()> start;        ///< calls end()
    std::function<void()> give_up;      ///< if it is not; all is as before then
  };
  /// Has a thread of its own do that, `delay` seconds from now or once somebody waits for it. If
  /// there is no delay, it is worth it. Nothing happens if there is such a thread already, or if
  /// the start is over. Returns false if there can be no thread.
  bool begin_behind(double delay, const Behind& behind);
  /// Waits so many seconds at most. Returns over().
  bool wait(double seconds);
  /// Whether somebody waits, so that it is better to be soon ready than well prepared.
  bool is_awaited() const { return waiting_ > 0; }
  /// Since begin_behind() or begin_or_wait() began it; 0 if nothing has.
  double elapsed() const;

  /// For tests and tools: all is as before any start, or as after one. Waits for one under way.
  void reset(bool over);

 private:
  using Clock = std::chrono::steady_clock;
  /// delayed: a thread waits for its time, and has done nothing yet.
  enum class Stage { none, delayed, under_way, over };
  void run(double delay, const Behind& behind, unsigned number);

  std::atomic<Stage> stage_{Stage::none};
  std::atomic<int> waiting_{0};
  std::atomic<Clock::rep> begin_{0};  // when the thread is to begin, or has begun
  std::mutex mutex_;                  // for changes of stage_, and for what follows
  std::condition_variable changed_;
  unsigned number_ = 0;  // of the thread that may go on after its delay
};

}  // namespace overlapack::dispatch
