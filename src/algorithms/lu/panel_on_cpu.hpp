// The panel's round trip through the CPU LAPACK, for the hybrid forms of LU.
#pragma once

#include "cpu/lapack.hpp"
#include "device/buffer.hpp"
#include "device/timeline.hpp"

namespace overlapack::algorithms {

/// One panel at a time. start() and finish() may have other work enqueued between them, which then
/// runs while the CPU factors.
template <class T>
class PanelOnCpu {
 public:
  PanelOnCpu(Device& device, const cpu::Lapack<T>& cpu, Index rows, Index nb)
      : cpu_(cpu), nb_(nb), arrived_(device), panel_(device, Space::host, rows * nb) {}

  /// The panel goes to the host, behind what the queue holds.
  void start(Queue& queue, DeviceView<const T> panel) {
    queue.copy(view(panel), panel);
    queue.record(*arrived_);
  }
  /// Factors it there and sends it back, with what Kernels::getrf_panel would store in `pivots`,
  /// and, of staging memory, in `staged_pivots` and `info`.
  void finish(Queue& queue, DeviceView<T> panel, DeviceView<Index> pivots,
              HostView<Index> staged_pivots, Index& info, Index offset) {
    arrived_->synchronize();
    Span span(queue.device(), "panel", offset / nb_);
    const HostView<T> here = view(panel);
    const Index failed = cpu_.getrf(here, cpu::Pivots(staged_pivots.data));
    span.end();
    if (failed != 0 && info == 0) info = offset + failed;
    for (Index j = 0; j < staged_pivots.rows; ++j) staged_pivots(j) += offset;
    queue.copy<T>(panel, here);
    queue.copy<Index>(pivots, HostView<const Index>(staged_pivots));
  }

 private:
  HostView<T> view(DeviceView<const T> panel) const {
    return {panel_.data(), panel.rows, panel.cols, panel.rows};
  }
  const cpu::Lapack<T>& cpu_;
  Index nb_;
  EventLease arrived_;
  Buffer<T> panel_;
};

}  // namespace overlapack::algorithms
