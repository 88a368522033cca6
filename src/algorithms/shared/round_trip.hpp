// The plainest way of an operand to the device and back.
#pragma once

#include <algorithm>

#include "algorithms/shared/blocks.hpp"
#include "cpu/reference.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// A copy on the device of a matrix of the caller, which may lie in the host's memory or the
/// device's. The caller's matrix is not written before put(), which cannot fail in the host's
/// memory: whatever has failed before, it is as it was.
template <class T>
class RoundTrip {
 public:
  RoundTrip(Device& device, Index rows, Index cols)
      : device_(device),
        there_(device, rows, cols),
        memory_(device, Space::host, rows * cols),
        here_(memory_.data(), rows, cols, std::max<Index>(rows, 1)) {}

  DeviceView<T> view() const { return there_.view(); }

  /// Work enqueued in `queue` from now on sees a part of `from` in view().
  void bring(Queue& queue, HostView<const T> from, Part part = Part::all) const {
    if (from.empty()) return;
    if (lies_on_device(from)) {
      queue.copy<T>(view(), on_device(from), part);
      return;
    }
    reference::lacpy<T>(from, here_, part);
    queue.copy<T>(view(), HostView<const T>(here_));
  }
  /// Enqueues that the results come to the host if they belong there.
  void fetch(Queue& queue, HostView<T> to) const {
    if (to.empty() || lies_on_device(to)) return;
    queue.copy<T>(here_, DeviceView<const T>(view()));
  }
  /// Writes a part of the first n rows and columns to the caller's matrix, once the host has waited
  /// for fetch().
  void put(Queue& queue, HostView<T> to, Part part, Index n) const {
    const Index rows = std::min(n, to.rows), cols = std::min(n, to.cols);
    if (rows <= 0 || cols <= 0) return;
    const HostView<T> some = to.block(0, 0, rows, cols);
    if (lies_on_device(to)) {
      queue.copy<T>(on_device(some), DeviceView<const T>(view().block(0, 0, rows, cols)), part);
      queue.synchronize();
      return;
    }
    reference::lacpy<T>(here_.block(0, 0, rows, cols), some, part);
  }
  void put(Queue& queue, HostView<T> to, Part part = Part::all) const {
    put(queue, to, part, std::max(to.rows, to.cols));
  }

 private:
  bool lies_on_device(HostView<const T> a) const {
    return device_.kind_of(a.data) == MemoryKind::device;
  }

  Device& device_;
  DeviceMatrix<T> there_;
  Buffer<T> memory_;  // staging
  HostView<T> here_;
};

}  // namespace overlapack::algorithms
