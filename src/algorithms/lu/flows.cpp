#include "algorithms/lu/flows.hpp"

#include <cstdint>
#include <optional>

#include "device/timeline.hpp"

namespace overlapack::algorithms {

// ---- streamed from the host ----

template <class T>
Index TransferFlow<T>::arrived(Index b) const {
  constexpr Index kTallRows = 8192;
  const bool tall = !Kernels<T>::kSplits && lu_.matrix().rows() >= kTallRows;
  return tall ? 5 * b / 4 + 3 : Flow::arrived(b);
}

template <class T>
void TransferFlow<T>::release(Queue& queue, Index b) {
  if (tells_of(b)) queue.signal(lu_.panels().known(), static_cast<std::uint32_t>(b + 1));
  transfer_.release(queue, b);
}

/// The host makes interchanges when half of many blocks are known. Not each is worth a signal,
/// which takes the caller 5 us.
template <class T>
bool TransferFlow<T>::tells_of(Index b) const {
  constexpr Index kFewBlocksToTell = 16, kBlocksBetweenSignals = 4;
  const Index blocks = lu_.matrix().pivot_blocks(), later = blocks - 1 - b;
  return blocks > kFewBlocksToTell && later >= 0 && later < blocks / 2 &&
         later % kBlocksBetweenSignals == 0;
}

// ---- resident ----

template <class T>
ResidentFlow<T>::ResidentFlow(Device& device, Lu<T>& lu, HostView<const T> input, HostView<T> a,
                              Transfer* transfer)
    : kernels_(device.kernels<T>()),
      lu_(lu),
      input_(on_device(input)),
      a_(on_device(a)),
      transfer_(transfer),
      few_blocks_(lu.matrix().pivot_blocks() <= kFewBlocks),
      due_(device.emulated() ? 80 : 2048),
      there_(device),
      queue_(device, Priority::normal, "home") {}

template <class T>
bool ResidentFlow<T>::before(Queue& queue, Index b) {
  constexpr Index kCopiedAlone = 2;  // blocks
  if (b == lu_.matrix().count()) return transfer_->before(queue, 0);
  if (b > kCopiedAlone) return true;
  const Range block = lu_.matrix().block(b);
  const Range c = {block.first, b < kCopiedAlone ? block.last : a_.cols};
  if (const std::optional<DeviceView<T>> by_rows = lu_.matrix().place_by_rows(c)) {
    const Span span(queue, "upload", b);
    kernels_.copy(queue, Op::conj_trans, input_.block(0, c.first, a_.rows, c.size()), *by_rows);
  } else {
    copy(queue, "upload", b, input_, lu_.matrix().view(), c);
  }
  return true;
}

template <class T>
void ResidentFlow<T>::release(Queue& queue, Index b) {
  const LuMatrix<T>& matrix = lu_.matrix();
  const Index blocks = matrix.pivot_blocks(), nb = matrix.block(0).size();
  Range c = matrix.block(b);
  if (b >= blocks) {  // all blocks without pivots become final together
    if (b + 1 < matrix.count()) return;
    c.first = matrix.block(blocks).first;
  }
  queue.record(*there_);
  queue_->wait(*there_);
  copy(*queue_, "download", b, matrix.view(), a_, c);
  const Index left = blocks - 1 - b;
  if (b < blocks && (few_blocks_ || left * nb <= due_)) {
    lu_.interchange_left(*queue_, a_, {interchanged_, b + 1});
    interchanged_ = b + 1;
    due_ = left * nb / 4;
  }
}

template <class T>
void ResidentFlow<T>::copy(Queue& queue, const char* kind, Index b, DeviceView<const T> from,
                           DeviceView<T> to, Range c) const {
  const Span span(queue, kind, b);
  queue.copy<T>(to.block(0, c.first, a_.rows, c.size()), from.block(0, c.first, a_.rows, c.size()));
}

// ---- in place ----

template <class T>
void InPlaceFlow<T>::release(Queue& queue, Index b) {
  if (b >= lu_.matrix().pivot_blocks()) return;  // in update()
  if (b > 0) {
    lu_.update().record(*there_);
    queue.wait(*there_);
    lu_.interchange_left(queue, lu_.matrix().view(), {b, b + 1});
  }
  queue.record(*there_);
}

template <class T>
void InPlaceFlow<T>::finish() {
  lu_.update().wait(*there_);
  lu_.update().synchronize();
  lu_.settle();
}

#define OVERLAPACK_INSTANTIATE(T) \
  template class TransferFlow<T>; \
  template class ResidentFlow<T>; \
  template class InPlaceFlow<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
