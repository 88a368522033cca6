// When the work of a call ran: spans of the device's queues and of host threads, on one time axis.
//
// A device without a timeline and without a profiler, the ordinary case, pays two tests per span.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "device/buffer.hpp"
#include "device/nvtx.hpp"

namespace overlapack {

/// A span as it was. Times are microseconds since the timeline was made.
struct TimedSpan {
  std::string lane;  ///< the queue's name, or "host thread 3": the spans of a lane do not overlap
  bool on_device = false;
  const char* name = "";  ///< what was done: "upload", "panel"
  Index block = 0;
  double begin = 0, end = 0;
};

/// Collects the spans of a device while it lives. Marking costs time of its own: a call that is
/// timed as a whole has no timeline. Thread-safe.
class Timeline {
 public:
  /// Sets the device's clock against the host's, to within a few microseconds, and becomes the
  /// device's timeline. No call may be under way.
  explicit Timeline(Device& device);
  ~Timeline() { device_.set_timeline(nullptr); }
  Timeline(const Timeline&) = delete;

  /// Takes out the spans that have ended, ordered by their begin. Waits for their work; leaves out
  /// what a queue dropped with its work.
  std::vector<TimedSpan> collect();

 private:
  friend class Span;
  /// What a span knows until the device has done its work.
  struct Record {
    const char* name;
    Index block;
    const char* queue = nullptr;  // null for a span of a host thread
    std::optional<EventLease> first, last;
    std::thread::id thread;
    double begin = 0, end = 0;  // by the host's clock
  };
  static double now();
  void add(std::unique_ptr<Record> record);

  Device& device_;
  std::unique_ptr<EventLease> origin_;
  double origin_time_ = 0;  // when the device reached origin_, by the host's clock
  double start_ = 0;        // the axis' zero, by the host's clock
  std::mutex mutex_;        // guards what follows
  std::vector<std::unique_ptr<Record>> records_;
  std::map<std::thread::id, std::size_t> threads_;  // numbered as they come
};

/// Marks what happens while it lives as a span of the device's timeline, if the device has one. For
/// a profiler it is a range of the calling thread: of the time in which work is enqueued or done.
class Span {
 public:
  /// The work that is enqueued in `queue`: begins when the queue reaches it. `name` lives on.
  Span(Queue& queue, const char* name, Index block) : timeline_(queue.device().timeline()) {
    if (timeline_ != nullptr) begin(queue, name, block);
    if (queue.device().nvtx_blocks()) begin_range(name, block);
  }
  /// What the calling thread does itself. Where memory is short, the span is left out.
  Span(Device& device, const char* name, Index block) noexcept : timeline_(device.timeline()) {
    if (timeline_ != nullptr) begin(name, block);
    if (device.nvtx_blocks()) begin_range(name, block);
  }
  Span(const Span&) = delete;
  /// A span whose end the device refuses is left out.
  ~Span() {
    if (record_ != nullptr) finish_quietly();
  }
  /// Ends the span before its scope does.
  void end() {
    range_.reset();
    if (record_ != nullptr) finish();
  }

 private:
  void begin(Queue& queue, const char* name, Index block);
  void begin(const char* name, Index block) noexcept;
  void begin_range(const char* name, Index block) noexcept;
  void finish();
  void finish_quietly() noexcept;

  Timeline* const timeline_;
  Queue* queue_ = nullptr;
  std::unique_ptr<Timeline::Record> record_;  // null before the beginning and after the end
  std::optional<NvtxRange> range_;            // likewise
};

}  // namespace overlapack
