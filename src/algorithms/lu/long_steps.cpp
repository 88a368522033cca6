#include "algorithms/lu/long_steps.hpp"

#include <algorithm>

#include "device/timeline.hpp"

namespace overlapack::algorithms {

template <class T>
LongSteps<T>::LongSteps(Device& device, const LuMatrix<T>& matrix, const LuPanels<T>& panels,
                        const LuSteps<T>& steps)
    : device_(device),
      tuning_(device.tuning().lu),
      kernels_(device.kernels<T>()),
      matrix_(matrix),
      panels_(panels),
      l_(steps) {}

template <class T>
void LongSteps<T>::plan(const Options& options, Index columns) {
  const Index width = blocks() * options.nb;
  if (!options.residues || !matrix_.has_room_by_rows()) return;
  if (!kernels_.has_residues_for(options.nb)) return;
  const bool enough = try_to_allocate([&] {
    for (Index first = 0; first + width < matrix_.pivot_count(); first += width) {
      const Index rows = matrix_.rows() - first, beyond = matrix_.columns() - first - width;
      if (!kernels_.scaled_residues_pay(rows - width, beyond, width)) break;
      for (Index q = 0; first == 0 && q < tuning_.far_queues; ++q) {
        lanes_.push_back({LongStep<T>::workspace(device_, rows, blocks(), options.nb, columns),
                          QueueLease(device_, Priority::normal, "far")});
      }
      steps_.emplace_back(device_, rows, blocks(), options.nb);
    }
  });
  // Until the first one there is little to do, so that one alone does not pay.
  if (!enough || count() < 2) {
    steps_.clear();
    lanes_.clear();
  }
}

template <class T>
std::size_t LongSteps<T>::bytes(Device& device, const Options& options, Index m, Index n,
                                Index all) {
  const Kernels<T>& kernels = device.kernels<T>();
  const Tuning::Lu& tuning = device.tuning().lu;
  const Index nb = options.nb, blocks = tuning.long_step_blocks, width = blocks * nb;
  std::size_t sum = 0;
  if (!options.residues || !kernels.has_residues_for(nb)) return sum;
  for (Index first = 0; first + width < std::min(m, n); first += width) {
    const Index rows = m - first;
    if (!kernels.scaled_residues_pay(rows - width, all - first - width, width)) break;
    if (first == 0) {
      sum += at(tuning.far_queues) *
             LongStep<T>::workspace_bytes(device, rows, blocks, nb, tuning.far_group_blocks * nb);
    }
    sum += LongStep<T>::bytes(device, rows, blocks, nb);
  }
  return sum;
}

template <class T>
void LongSteps<T>::begin_before(Index end) {
  for (; begun_ < count() && (begun_ + 1) * blocks() <= end; ++begun_) {
    const Range own = {begun_ * blocks(), (begun_ + 1) * blocks()};
    const Range c = matrix_.columns_of(own.first, own.last);
    Queue& queue = this->queue(next_lane_);
    const Span span(queue, "long step", begun_);
    queue.wait(panels_.final(own.last - 1));
    steps_[at(begun_)].begin(queue, matrix_.from_diagonal(c), panels_.pivots(c), c.first,
                             l_.inverses(own));
  }
}

template <class T>
void LongSteps<T>::apply(std::size_t number, Index s, Range c) {
  const Lane& lane = lanes_[number];
  const Index first = matrix_.block(s * blocks()).first;
  const Span span(*lane.queue, "long update", matrix_.block_of(c.first));
  steps_[at(s)].apply(*lane.queue, lane.workspace, matrix_.by_rows({first, matrix_.rows()}, c));
}

template <class T>
void LongSteps<T>::are_waited_for_in(Queue& other, Event& done) const {
  for (const Lane& lane : lanes_) {
    lane.queue->record(done);
    other.wait(done);
  }
}

#define OVERLAPACK_INSTANTIATE(T) template class LongSteps<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
