#include "algorithms/lu/steps.hpp"

#include <algorithm>

#include "device/timeline.hpp"

namespace overlapack::algorithms {

template <class T>
LuSteps<T>::LuSteps(Device& device, const LuMatrix<T>& matrix, const LuPanels<T>& panels)
    : kernels_(device.kernels<T>()), matrix_(matrix), panels_(panels) {}

template <class T>
void LuSteps<T>::make_room_for_inverses(Device& device) {
  // In single precision panels are what takes time.
  if (kSplits<T>) return;
  inverses_.emplace(device, kernels_.elements_of_inverses(matrix_.block(0).size()),
                    matrix_.pivot_blocks());
}

template <class T>
void LuSteps<T>::make_room_to_split(Device& device, const Options& options) {
  if (!options.split || !matrix_.has_room_by_rows()) return;
  try_to_allocate([&] {
    for (Index b = 0; b < matrix_.pivot_blocks() && matrix_.block(b).size() == options.nb; ++b) {
      const Index end = matrix_.block(b).last;
      const Index rows = matrix_.rows() - end, columns = matrix_.columns() - end;
      if (!kernels_.split_pays(options.precision, columns, rows, options.nb)) break;
      split_.emplace_back(device, options, rows, options.nb);
    }
  });
}

template <class T>
std::size_t LuSteps<T>::bytes_of_inverses(const Kernels<T>& kernels, const Options& options,
                                          Index m, Index n) {
  const Index k = std::min(m, n);
  if (kSplits<T>) return 0;
  return DeviceMatrix<Index>::bytes(kernels.elements_of_inverses(std::min(options.nb, k)),
                                    quotient_up(k, options.nb));
}

template <class T>
std::size_t LuSteps<T>::bytes_to_split(Device& device, const Options& options, Index m, Index n,
                                       Index columns) {
  const Kernels<T>& kernels = device.kernels<T>();
  std::size_t sum = 0;
  for (Index end = options.nb; options.split && end <= std::min(m, n); end += options.nb) {
    if (!kernels.split_pays(options.precision, columns - end, m - end, options.nb)) break;
    sum += SplitAdjoint<T>::bytes(options, m - end, options.nb);
  }
  return sum;
}

template <class T>
void LuSteps<T>::invert(Queue& queue, Index b) {
  if (!inverses_ || !matrix_.keeps_any_by_rows()) return;
  const Range c = matrix_.block(b);
  queue.enqueue(FindInverses<T>{matrix_.view().block(c, c), inverses_->view().column(b)});
}

template <class T>
void LuSteps<T>::split(Queue& queue, Index b) {
  if (!may_be_split(b) || !matrix_.keeps_any_by_rows()) return;
  const Range c = matrix_.block(b), below = {c.last, matrix_.rows()};
  split_[at(b)].split(queue, matrix_.view().block(below, c));
}

/// L of a step as split() has left it, or null.
template <class T>
const SplitAdjoint<T>* LuSteps<T>::split_of(Range step) const {
  const Index b = matrix_.block_of(step.first);
  const bool may_be = is_block(step) && may_be_split(b);
  return may_be && split_[at(b)].is_split() ? &split_[at(b)] : nullptr;
}

/// What columns by rows are multiplied by instead of solving, for a whole block.
template <class T>
DeviceView<const Index> LuSteps<T>::inverses_of(Range step) const {
  if (!inverses_ || !is_block(step)) return {};
  return inverses_->view().column(matrix_.block_of(step.first));
}

template <class T>
void LuSteps<T>::apply(const LuLane<T>& lane, Range step, Range c) const {
  if (c.empty()) return;
  const Span span(*lane.queue, "update", step.first / matrix_.block(0).size());
  const Index border = std::clamp(matrix_.first_by_rows(), c.first, c.last);
  apply_by_columns(lane, step, {c.first, border});
  apply_by_rows(lane, step, {border, c.last});
}

template <class T>
void LuSteps<T>::apply_by_columns(const LuLane<T>& lane, Range i, Range c) const {
  if (c.empty()) return;
  const DeviceView<T> A = matrix_.view();
  const DeviceView<Index> pivots = panels_.pivots(i);
  const Range below = {i.last, matrix_.rows()};
  const DeviceView<T> from_i_on = A.block(Range{i.first, matrix_.rows()}, c);
  if (kernels_.has_lu_step(from_i_on.rows, i.size(), c.size())) {
    lane.queue->enqueue(LuStep<T>{matrix_.from_diagonal(i), pivots, i.first, from_i_on});
    return;
  }
  lane.queue->enqueue(InterchangeAndSolve<T>{A.block(i, i), pivots, i.first, from_i_on});
  lane.subtract(*lane.queue, A.block(below, i), A.block(i, c), A.block(below, c));
}

template <class T>
void LuSteps<T>::apply_by_rows(const LuLane<T>& lane, Range i, Range c) const {
  if (c.empty()) return;
  const DeviceView<T> A = matrix_.view();
  const Range below = {i.last, matrix_.rows()};
  lane.queue->enqueue(InterchangeAndSolveByRows<T>{A.block(i, i), panels_.pivots(i), i.first,
                                                   matrix_.by_rows({i.first, matrix_.rows()}, c),
                                                   inverses_of(i)});
  lane.subtract.by_rows(*lane.queue, A.block(below, i), matrix_.by_rows(i, c),
                        matrix_.by_rows(below, c), split_of(i));
}

#define OVERLAPACK_INSTANTIATE(T) template class LuSteps<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
