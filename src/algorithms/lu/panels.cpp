#include "algorithms/lu/panels.hpp"

#include <algorithm>
#include <new>

#include "device/timeline.hpp"

namespace overlapack::algorithms {

template <class T>
LuPanels<T>::LuPanels(Device& device, const cpu::Lapack<T>& cpu, const Options& options,
                      const LuMatrix<T>& matrix)
    : device_(device),
      kernels_(device.kernels<T>()),
      matrix_(matrix),
      width_(kernels_.limits().getrf_panel_width),
      pivots_(device, Space::device, matrix.pivot_count()),
      staged_pivots_(device, Space::host, matrix.pivot_count()),
      info_(device, Space::host, matrix.pivot_blocks()),
      known_(device, Space::host, 1) {
  if (options.hybrid) {
    panel_on_cpu_ = std::make_unique<PanelOnCpu<T>>(device, cpu, matrix.rows(),
                                                    std::min(options.nb, matrix.pivot_count()));
  }
  for (Index b = 0; b < matrix.pivot_blocks(); ++b) final_.emplace_back(device);
  std::fill_n(info_.data(), info_.size(), Index{0});
  new (known_.data()) Flag(0);
}

template <class T>
std::vector<Range> LuPanels<T>::of(Index b) const {
  const Range block = matrix_.block(b);
  return partition(block, on_cpu() ? block.size() : width_);
}

template <class T>
void LuPanels<T>::start(Queue& queue, Index b, Range panel, Event& begun) {
  const DeviceView<T> a = matrix_.from_diagonal(panel);
  if (on_cpu()) {
    queue.record(begun);
    panel_on_cpu_->start(queue, a);
  } else {
    const Span span(queue, "panel", b);
    const HostView<Index> reported = staged_pivots(panel);
    queue.enqueue(GetrfPanel<T>{a,
                                pivots(panel),
                                {reported.data, reported.rows},
                                {info_.data() + b, 1},
                                panel.first,
                                &begun});
  }
}

template <class T>
void LuPanels<T>::finish(Queue& queue, Index b, Range panel) {
  if (!on_cpu()) return;
  panel_on_cpu_->finish(queue, matrix_.from_diagonal(panel), pivots(panel), staged_pivots(panel),
                        info_.data()[b], panel.first);
}

template <class T>
void LuPanels<T>::interchange_within(Queue& queue, Index b, Event& updated) {
  const Index first = matrix_.block(b).first;
  for (const Range& panel : of(b)) {
    if (panel.first == first) continue;
    queue.wait(updated);
    const Range rows = {panel.first, matrix_.rows()}, earlier = {first, panel.first};
    queue.enqueue(SwapRows<T>{matrix_.view().block(rows, earlier), pivots(panel), panel.first});
  }
}

template <class T>
void LuPanels<T>::interchange_left(Queue& queue, DeviceView<T> a, Range blocks) {
  const Index first = matrix_.block(blocks.first).first;
  const Index last = matrix_.block(blocks.last - 1).first, rows = matrix_.rows() - first;
  if (blocks.size() > 1 && compose(queue, blocks)) {
    // Columns before all of them see all of them, those of a block among them only later ones.
    const DeviceView<Index> sources = sources_->view();
    queue.enqueue(
        PermuteRows<T>{a.block(first, 0, rows, first), first, sources.block(0, 0, rows, 1)});
    queue.enqueue(PermuteRows<T>{a.block(first, first, rows, last - first), matrix_.block(0).size(),
                                 sources.block(0, 1, rows, blocks.size() - 1)});
    return;
  }
  for (Index b = blocks.first; b < blocks.last; ++b) {
    const Range c = matrix_.block(b);
    queue.enqueue(
        SwapRows<T>{a.block(c.first, 0, matrix_.rows() - c.first, c.first), pivots(c), c.first});
  }
}

template <class T>
void LuPanels<T>::interchange(Queue& queue, DeviceView<T> b) {
  if (compose(queue, {0, matrix_.pivot_blocks()})) {
    queue.enqueue(PermuteRows<T>{b, b.cols, sources_->view().block(0, 0, matrix_.rows(), 1)});
  } else {
    queue.enqueue(SwapRows<T>{b, {pivots_.data(), pivots_.size()}, 0});
  }
}

/// The interchanges of blocks as permutations of the rows from the first of them on, in sources_.
/// Later ones are of blocks behind these. False if there are too many rows to use them, or no
/// memory.
template <class T>
bool LuPanels<T>::compose(Queue& queue, Range blocks) {
  const Range columns = {matrix_.block(blocks.first).first, matrix_.block(blocks.last - 1).last};
  const Index rows = matrix_.rows() - columns.first;
  if (!composes_ || rows > kernels_.limits().permutable_rows) return false;
  if (composed_.first == blocks.first && composed_.last == blocks.last) return true;
  if (!sources_) {  // of many blocks it is large
    const Index most = std::max(blocks.size(), matrix_.pivot_blocks() - blocks.last);
    composes_ = try_to_allocate([&] { sources_.emplace(device_, rows, most); });
    if (!composes_) return false;
  }
  composed_ = blocks;
  queue.enqueue(ComposeInterchanges<T>{pivots(columns), columns.first, matrix_.block(0).size(),
                                       sources_->view().block(0, 0, rows, blocks.size())});
  return true;
}

#define OVERLAPACK_INSTANTIATE(T) template class LuPanels<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
