#include "dispatch/turns.hpp"

namespace overlapack::dispatch {

bool Turns::in_use() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return alone_ || sharing_ > 0;
}

Turns::Turn::Turn(Turns& turns, Kind kind) : turns_(turns), kind_(kind) {
  std::unique_lock<std::mutex> lock(turns_.mutex_);
  const std::uint64_t number = turns_.asked_++;
  turns_.changed_.wait(lock, [&] { return turns_.begun_ == number && turns_.may_begin(kind_); });
  ++turns_.begun_;
  if (kind_ == Kind::shared) {
    ++turns_.sharing_;
  } else {
    turns_.alone_ = true;
  }
  if (turns_.asked_ > turns_.begun_) turns_.changed_.notify_all();  // the next one may share it
}

Turns::Turn::~Turn() {
  const std::lock_guard<std::mutex> lock(turns_.mutex_);
  if (kind_ == Kind::shared) {
    --turns_.sharing_;
  } else {
    turns_.alone_ = false;
  }
  if (turns_.asked_ > turns_.begun_) turns_.changed_.notify_all();
}

}  // namespace overlapack::dispatch
