#include "dispatch/turns.hpp"

namespace overlapack::dispatch {

bool Turns::in_use() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return alone_ || sharing_ > 0;
}

bool Turns::may_begin(Kind kind) const {
  return !alone_ && (kind == Kind::shared ? sharing_ < kMostAtATime : sharing_ == 0);
}

void Turns::begin(Kind kind) {
  if (kind == Kind::shared) {
    ++sharing_;
  } else {
    alone_ = true;
  }
}

Turns::Turn::Turn(Turns& turns, Kind kind) : turns_(turns), kind_(kind) {
  std::unique_lock<std::mutex> lock(turns_.mutex_);
  if (turns_.first_ == nullptr && turns_.may_begin(kind)) {
    turns_.begin(kind);
    return;
  }
  Waiting self{kind};
  (turns_.first_ == nullptr ? turns_.first_ : turns_.last_->next) = &self;
  turns_.last_ = &self;
  self.ready.wait(lock, [&] { return self.has_begun; });
}

Turns::Turn::~Turn() {
  const std::lock_guard<std::mutex> lock(turns_.mutex_);
  if (kind_ == Kind::shared) {
    --turns_.sharing_;
  } else {
    turns_.alone_ = false;
  }
  turns_.admit();
}

void Turns::admit() {
  while (first_ != nullptr && may_begin(first_->kind)) {
    Waiting& next = *first_;
    first_ = next.next;
    begin(next.kind);
    next.has_begun = true;
    next.ready.notify_one();  // still under the lock: it ends with its wait
  }
}

}  // namespace overlapack::dispatch
