// The panels of an LU factorization: who factors them, what they report, and their interchanges.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/lu/matrix.hpp"
#include "algorithms/lu/panel_on_cpu.hpp"
#include "cpu/lapack.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// A block is factored in panels, one after the other: each is a kernel of the device or, in the
/// hybrid form, a round trip through the CPU LAPACK.
template <class T>
class LuPanels {
 public:
  LuPanels(Device& device, const cpu::Lapack<T>& cpu, const Options& options,
           const LuMatrix<T>& matrix);
  /// Of device memory, for an m x n matrix; and what interchange_left() and interchange() take
  /// beyond that.
  static std::size_t bytes(Index m, Index n) { return Buffer<Index>::bytes(std::min(m, n)); }
  static std::size_t bytes_to_interchange(Device& device, const Options& options, Index m,
                                          Index n) {
    const Index rows = std::min(m, device.kernels<T>().limits().permutable_rows);
    return DeviceMatrix<Index>::bytes(rows, quotient_up(std::min(m, n), options.nb));
  }

  /// The panels of block b.
  std::vector<Range> of(Index b) const;
  /// The first one, empty if the block holds no pivots.
  Range first_of(Index b) const { return b < matrix_.pivot_blocks() ? of(b).front() : Range{}; }
  /// Columns of the device's panels.
  Index width() const { return width_; }
  bool on_cpu() const { return panel_on_cpu_ != nullptr; }

  /// Factors a panel of block b, between these two calls in the hybrid form. `begun` is recorded
  /// when the panel has the multiprocessors that it needs.
  void start(Queue& queue, Index b, Range panel, Event& begun);
  void finish(Queue& queue, Index b, Range panel);
  /// Carries out the interchanges of the later panels of block b in the columns of its earlier
  /// ones, once `updated` is reached.
  void interchange_within(Queue& queue, Index b, Event& updated);
  /// Reached when block b holds its part of L and U.
  Event& final(Index b) const { return *final_[at(b)]; }

  DeviceView<Index> pivots(Range columns) const {
    return {pivots_.data() + columns.first, columns.size()};
  }
  /// What panels report into staging memory: LAPACK's pivots, and of each block where its first
  /// pivot that is exactly zero stands, or 0.
  const Buffer<Index>& staged_pivots() const { return staged_pivots_; }
  const Buffer<Index>& info() const { return info_; }
  /// In staging memory, zero at first: for a flow that wants to tell the host how many blocks have
  /// reported.
  Flag& known() const { return *known_.data(); }

  /// Carries out, in the factors `a`, the interchanges of the given blocks in the columns of blocks
  /// before each of them.
  void interchange_left(Queue& queue, DeviceView<T> a, Range blocks);
  /// Carries out all interchanges in a matrix of as many rows.
  void interchange(Queue& queue, DeviceView<T> b);

 private:
  bool compose(Queue& queue, Range blocks);
  HostView<Index> staged_pivots(Range panel) const {
    return {staged_pivots_.data() + panel.first, panel.size()};
  }

  Device& device_;
  Kernels<T>& kernels_;
  const LuMatrix<T>& matrix_;
  const Index width_;
  Buffer<Index> pivots_, staged_pivots_, info_;
  Buffer<Flag> known_;
  std::unique_ptr<PanelOnCpu<T>> panel_on_cpu_;
  std::optional<DeviceMatrix<Index>> sources_;  // of rows, by block: see compose()
  Range composed_;                              // the blocks of which they are
  bool composes_ = true;                        // there has been memory for them
  std::vector<EventLease> final_;
};

}  // namespace overlapack::algorithms
