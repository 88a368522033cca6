// A matrix in the device's memory, filled from ordinary memory and read back outside the clock.
#pragma once

#include <algorithm>

#include "cpu/reference.hpp"
#include "device/buffer.hpp"

namespace overlapack::bench {

template <class T>
class ResidentMatrix {
 public:
  ResidentMatrix(Device& device, Index rows, Index cols, Index ld)
      : memory_(device, Space::device, ld * cols),
        staging_(device, Space::host, rows * std::min(cols, kColumns)),
        view_(memory_.data(), rows, cols, ld),
        queue_(device) {}

  const DeviceView<T>& view() const { return view_; }

  void upload(HostView<const T> from) {
    by_slices([&](Index j, HostView<T> staged, DeviceView<T> there) {
      reference::lacpy(from.block(0, j, staged.rows, staged.cols), staged);
      queue_->template copy<T>(there, staged);
      queue_->synchronize();
    });
  }
  void download(HostView<T> to) {
    by_slices([&](Index j, HostView<T> staged, DeviceView<T> there) {
      queue_->template copy<T>(staged, DeviceView<const T>(there));
      queue_->synchronize();
      reference::lacpy<T>(staged, to.block(0, j, staged.rows, staged.cols));
    });
  }

 private:
  static constexpr Index kColumns = 256;  // of staging memory

  template <class Move>
  void by_slices(Move move) {
    for (Index j = 0; j < view_.cols; j += kColumns) {
      const Index w = std::min(kColumns, view_.cols - j);
      move(j, HostView<T>(staging_.data(), view_.rows, w, std::max<Index>(view_.rows, 1)),
           view_.block(0, j, view_.rows, w));
    }
  }

  Buffer<T> memory_, staging_;
  DeviceView<T> view_;
  QueueLease queue_;
};

}  // namespace overlapack::bench
