// Who uses the device: several small calls at a time, or one large one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace overlapack::dispatch {

/// Calls get their turns in the order in which they ask, so that neither kind waits for ever.
class Turns {
 public:
  enum class Kind { shared, alone };
  /// Calls that share the device. Each has some megabytes of staging and device memory.
  static constexpr int kMostAtATime = 16;
  /// For tests: whether anybody has a turn.
  bool in_use();

  /// Waits until it may begin, and ends with its life.
  class Turn {
   public:
    Turn(Turns& turns, Kind kind);
    ~Turn();
    Turn(const Turn&) = delete;

   private:
    Turns& turns_;
    const Kind kind_;
  };

 private:
  bool may_begin(Kind kind) const {
    return !alone_ && (kind == Kind::shared ? sharing_ < kMostAtATime : sharing_ == 0);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t asked_ = 0, begun_ = 0;  // turns so far
  int sharing_ = 0;
  bool alone_ = false;
};

}  // namespace overlapack::dispatch
