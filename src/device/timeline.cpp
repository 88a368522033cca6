#include "device/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <limits>

namespace overlapack {

double Timeline::now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(time).count();
}

// The clocks meet at an event in an idle queue. The host sees it some microseconds late; of several
// tries the shortest tells best.
Timeline::Timeline(Device& device) : device_(device) {
  const QueueLease queue(device);
  double shortest = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 10; ++attempt) {
    auto event = std::make_unique<EventLease>(device, Timed::yes);
    const double before = now();
    queue->record(**event);
    (*event)->synchronize();
    const double after = now();
    if (after - before >= shortest) continue;
    shortest = after - before;
    origin_ = std::move(event);
    origin_time_ = (before + after) / 2;
  }
  start_ = now();
  device.set_timeline(this);
}

void Timeline::add(std::unique_ptr<Record> record) {
  std::lock_guard<std::mutex> lock(mutex_);
  records_.push_back(std::move(record));
}

std::vector<TimedSpan> Timeline::collect() {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto records = std::move(records_);
  records_.clear();
  std::vector<TimedSpan> spans;
  for (const auto& record : records) {
    TimedSpan span;
    span.on_device = record->queue != nullptr;
    span.name = record->name;
    span.block = record->block;
    if (span.on_device) {
      span.lane = record->queue;
      span.begin = origin_time_ + (*record->first)->since(**origin_);
      span.end = origin_time_ + (*record->last)->since(**origin_);
      if (std::isnan(span.begin) || std::isnan(span.end)) continue;
    } else {
      const auto number = threads_.emplace(record->thread, threads_.size()).first->second;
      span.lane = "host thread " + std::to_string(number);
      span.begin = record->begin;
      span.end = record->end;
    }
    // Nothing began before the start; the two clocks may differ by a little more than that.
    span.begin = std::max(span.begin - start_, 0.0);
    span.end = std::max(span.end - start_, span.begin);
    spans.push_back(std::move(span));
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const TimedSpan& a, const TimedSpan& b) { return a.begin < b.begin; });
  return spans;
}

void Span::begin(Queue& queue, const char* name, Index block) {
  auto record = std::make_unique<Timeline::Record>();
  record->name = name;
  record->block = block;
  record->queue = queue.name();
  record->first.emplace(queue.device(), Timed::yes);
  record->last.emplace(queue.device(), Timed::yes);
  queue.record(**record->first);
  queue_ = &queue;
  record_ = std::move(record);
}

void Span::begin(const char* name, Index block) noexcept {
  try {
    record_ = std::make_unique<Timeline::Record>();
  } catch (const std::bad_alloc&) {
    return;
  }
  record_->name = name;
  record_->block = block;
  record_->thread = std::this_thread::get_id();
  record_->begin = Timeline::now();
}

void Span::begin_range(const char* name, Index block) noexcept {
  range_.emplace("%s %" PRId64, name, block);
}

void Span::finish() {
  auto record = std::move(record_);
  if (queue_ != nullptr) {
    queue_->record(**record->last);
  } else {
    record->end = Timeline::now();
  }
  timeline_->add(std::move(record));
}

void Span::finish_quietly() noexcept {
  try {
    finish();
  } catch (...) {  // what is wrong with the device shows at its next operation
  }
}

}  // namespace overlapack
