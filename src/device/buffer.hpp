// RAII leases of a device's pooled resources.
//
// Declare buffers before the queues that use them: a queue lease drains its queue when it ends, and
// C++ destroys in reverse order, so no work is under way when the memory goes back to the pool.
#pragma once

#include <utility>

#include "device/device.hpp"

namespace overlapack {

/// `count` uninitialised elements of device or staging memory.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, Space space, Index count)
      : device_(&device), space_(space), count_(count) {
    data_ = static_cast<T*>(device.acquire(space, bytes(count)));
  }
  static constexpr std::size_t bytes(Index count) {
    return sizeof(T) * static_cast<std::size_t>(count > 0 ? count : 1);
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) device_->give_back(space_, data_);
  }

  T* data() const { return data_; }
  Index size() const { return count_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(space_, other.space_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
  }
  Device* device_ = nullptr;
  Space space_ = Space::device;
  Index count_ = 0;
  T* data_ = nullptr;
};

/// Results of the device that the host looks at: `count` elements of its memory, and staging memory
/// for their copy.
template <class T>
class Readout {
 public:
  Readout() = default;
  Readout(Device& device, Index count)
      : there_(device, Space::device, count), here_(device, Space::host, count) {}
  /// Of device memory.
  static constexpr std::size_t bytes(Index count) { return Buffer<T>::bytes(count); }

  Index size() const { return here_.size(); }
  DeviceView<T> there() const { return {there_.data(), size()}; }
  /// Brings them home; they are here() once the queue has been waited for.
  void fetch(Queue& queue) const {
    queue.template copy<T>(HostView<T>(here_.data(), size()), DeviceView<const T>(there()));
  }
  T* here() const { return here_.data(); }

 private:
  Buffer<T> there_, here_;
};

class QueueLease {
 public:
  /// `name`, a string that lives on, is what the queue's work is called in a timeline.
  explicit QueueLease(Device& device, Priority priority = Priority::normal,
                      const char* name = "queue")
      : device_(&device), priority_(priority), queue_(device.acquire_queue(priority)) {
    queue_->name_ = name;
  }
  QueueLease(QueueLease&&) = default;
  ~QueueLease() {
    if (!queue_) return;
    if (!settled_) queue_->drain();
    device_->give_back(priority_, std::move(queue_));
  }
  /// The queue's work is known to be done, and there will be no more.
  void settle() { settled_ = true; }
  Queue& operator*() const { return *queue_; }
  Queue* operator->() const { return queue_.get(); }

 private:
  Device* device_;
  Priority priority_;
  bool settled_ = false;
  std::unique_ptr<Queue> queue_;
};

/// Declare events, like buffers, before the queues that record them.
class EventLease {
 public:
  explicit EventLease(Device& device, Timed timed = Timed::no)
      : device_(&device), event_(device.acquire_event(timed)) {}
  EventLease(EventLease&&) = default;
  ~EventLease() {
    if (event_) device_->give_back(std::move(event_));
  }
  Event& operator*() const { return *event_; }
  Event* operator->() const { return event_.get(); }

 private:
  Device* device_;
  std::unique_ptr<Event> event_;
};

}  // namespace overlapack
