// Matrices in the device's memory.
#pragma once

#include <algorithm>
#include <utility>

#include "device/buffer.hpp"
#include "support/matrices.hpp"

namespace overlapack::testing_support {

/// A matrix in device memory.
template <class T>
struct Uploaded {
  Buffer<T> memory;
  DeviceView<T> view;
  operator DeviceView<T>() const { return view; }
  operator DeviceView<const T>() const { return view; }
};

/// Uploads a matrix, padding included, and waits.
template <class T>
Uploaded<T> upload(Queue& queue, const Padded<T>& a) {
  const Index count = a.ld() * std::max<Index>(1, a.cols());
  const Buffer<T> staging(queue.device(), Space::host, count);
  Buffer<T> memory(queue.device(), Space::device, count);
  std::copy_n(a.view().data, count, staging.data());
  queue.copy<T>(DeviceView<T>(memory.data(), count), HostView<const T>(staging.data(), count));
  queue.synchronize();
  const DeviceView<T> view(memory.data(), a.rows(), a.cols(), a.ld());
  return {std::move(memory), view};
}

/// The matrix as it is after all work of the queue, padding included.
template <class T>
Padded<T> download(Queue& queue, const Uploaded<T>& a) {
  const DeviceView<T>& view = a.view;
  const Index count = view.ld * std::max<Index>(1, view.cols);
  Padded<T> result(view.rows, view.cols, view.ld - view.rows);
  const Buffer<T> staging(queue.device(), Space::host, count);
  queue.copy<T>(HostView<T>(staging.data(), count), DeviceView<const T>(view.data, count));
  queue.synchronize();
  std::copy_n(staging.data(), count, result.data());
  return result;
}

/// A copy of a matrix in device memory, which routines take as they take any pointer.
template <class T>
class OnDevice {
 public:
  /// `a` must outlive the copy.
  OnDevice(Device& device, Padded<T>& a)
      : device_(device), a_(a), there_(upload(*QueueLease(device), a)) {}
  HostView<T> view() const { return as_argument(there_.view); }
  /// Copies the matrix, padding included, back to where it came from.
  void fetch() { a_ = download(*QueueLease(device_), there_); }

 private:
  Device& device_;
  Padded<T>& a_;
  Uploaded<T> there_;
};

}  // namespace overlapack::testing_support
