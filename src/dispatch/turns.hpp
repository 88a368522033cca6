// Who uses the device: several small calls at a time, or one large one.
#pragma once

#include <condition_variable>
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
  /// One that waits. It is told by itself: of many that wake up only few could begin.
  struct Waiting {
    Kind kind;
    bool has_begun = false;
    std::condition_variable ready = {};
    Waiting* next = nullptr;
  };
  bool may_begin(Kind kind) const;
  void begin(Kind kind);
  /// All that may begin now.
  void admit();

  std::mutex mutex_;
  Waiting *first_ = nullptr, *last_ = nullptr;
  int sharing_ = 0;
  bool alone_ = false;
};

}  // namespace overlapack::dispatch
