// Matrices in the device's memory.
#pragma once

#include <algorithm>

#include "device/buffer.hpp"
#include "support/matrices.hpp"

namespace overlapack::testing_support {

/// A copy of a matrix, padding included, in device memory. Routines take it as they take any
/// pointer.
template <class T>
class OnDevice {
 public:
  /// `a` must outlive the copy.
  OnDevice(Device& device, Padded<T>& a)
      : a_(a),
        staging_(device, Space::host, count()),
        memory_(device, Space::device, count()),
        queue_(device) {
    std::copy_n(a.data(), count(), staging_.data());
    queue_->template copy<T>(DeviceView<T>(memory_.data(), count()),
                             HostView<const T>(staging_.data(), count()));
    queue_->synchronize();
  }
  HostView<T> view() const { return {memory_.data(), a_.rows(), a_.cols(), a_.ld()}; }
  /// Copies the matrix, padding included, back to where it came from.
  void fetch() {
    queue_->template copy<T>(HostView<T>(staging_.data(), count()),
                             DeviceView<const T>(memory_.data(), count()));
    queue_->synchronize();
    std::copy_n(staging_.data(), count(), a_.data());
  }

 private:
  Index count() const { return a_.ld() * a_.cols(); }

  Padded<T>& a_;
  Buffer<T> staging_, memory_;
  QueueLease queue_;
};

}  // namespace overlapack::testing_support
