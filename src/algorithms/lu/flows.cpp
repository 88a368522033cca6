#include "algorithms/lu/flows.hpp"

#include <cstdint>
#include <optional>

#include "device/timeline.hpp"

namespace overlapack::algorithms {

// ---- streamed from the host ----

template <class T>
Tuning::Lu::Arrival TransferFlow<T>::arrival(const Tuning::Lu& tuning) const {
  const bool tall = !Kernels<T>::kSplits && lu_.matrix().rows() >= tuning.tall_from_rows;
  return tall ? tuning.arrival_of_tall : tuning.arrival;
}

template <class T>
void TransferFlow<T>::release(Queue& queue, Index b) {
  if (tells_of(b)) queue.signal(lu_.panels().known(), static_cast<std::uint32_t>(b + 1));
  transfer_.release(queue, b);
}

/// The host makes interchanges when half of many blocks are known. Not each is worth a signal,
/// which takes the caller its time.
template <class T>
bool TransferFlow<T>::tells_of(Index b) const {
  const Tuning::Lu& tuning = lu_.update().device().tuning().lu;
  const Index blocks = lu_.matrix().pivot_blocks(), later = blocks - 1 - b;
  return blocks >= tuning.signals_from_blocks && later >= 0 && later < blocks / 2 &&
         later % tuning.blocks_per_signal == 0;
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
      tuning_(device.tuning().lu),
      immediate_interchanges_(lu.matrix().pivot_blocks() <=
                              tuning_.immediate_interchanges_up_to_blocks),
      due_(tuning_.first_interchanges_columns_left),
      there_(device),
      queue_(device, Priority::normal, "home") {}

template <class T>
bool ResidentFlow<T>::before(Queue& queue, Index b) {
  const Index copied_alone = tuning_.resident_blocks_copied_alone;
  if (b == lu_.matrix().count()) return transfer_->before(queue, 0);
  if (b > copied_alone) return true;
  const Range block = lu_.matrix().block(b);
  const Range c = {block.first, b < copied_alone ? block.last : a_.cols};
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
  if (b < blocks && (immediate_interchanges_ || left * nb <= due_)) {
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
