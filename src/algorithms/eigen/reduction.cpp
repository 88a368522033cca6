#include "algorithms/eigen/reduction.hpp"

#include <algorithm>

#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

Options options_of_one_stage(const Device& device, Options options) {
  options.nb = std::min(options.nb, device.tuning().eigen.panel_columns);
  return options;
}

template <class T>
Index bandwidth_of(const Device& device) {
  return std::min(device.tuning().eigen.bandwidth, device.kernels<T>().limits().chase_bandwidth);
}

template <class T>
bool is_in_two_stages(const Device& device, const Options& options, Index n, bool vectors,
                      std::size_t besides) {
  const Tuning::Eigen& tuning = device.tuning().eigen;
  const Index from =
      vectors ? tuning.two_stages_from_order : tuning.two_stages_from_order_without_vectors;
  const Index bandwidth = bandwidth_of<T>(device);
  if (n < from || n <= bandwidth + 1) return false;
  const std::size_t needed = ReductionInTwoStages<T>::bytes(device, options, n, bandwidth, vectors);
  return options.memory == 0 || needed + besides <= options.memory;
}

}  // namespace

// ---- One stage ----------------------------------------------------------------------------

template <class T>
ReductionInOneStage<T>::ReductionInOneStage(Device& device, const Options& options, Index n)
    : device_(device),
      options_(options),
      to_tridiagonal_(device, options_of_one_stage(device, options), n) {}

template <class T>
std::size_t ReductionInOneStage<T>::bytes(const Device& device, const Options& options, Index n,
                                          bool vectors) {
  return Tridiagonalization<T>::bytes(device, options_of_one_stage(device, options), n) +
         (vectors ? WayBack<T>::bytes(device, options, n, 1) : 0);
}

template <class T>
void ReductionInOneStage<T>::reduce(Queue& queue) {
  to_tridiagonal_.reduce(queue);
  to_tridiagonal_.fetch(queue);
}

template <class T>
void ReductionInOneStage<T>::prepare(Queue& queue) {
  const HostView<const T> tau(to_tridiagonal_.tau_here(), matrix().rows - 1);
  way_back_.emplace(device_, options_, matrix(), 1, tau);
  way_back_->prepare(queue);
}

// ---- Two stages ---------------------------------------------------------------------------

template <class T>
ReductionInTwoStages<T>::ReductionInTwoStages(Device& device, const Options& options, Index n,
                                              Index bandwidth, bool vectors)
    : device_(device),
      options_(options),
      bandwidth_(bandwidth),
      to_band_(device, n, bandwidth),
      to_tridiagonal_(device, options, n, bandwidth, vectors) {}

template <class T>
std::size_t ReductionInTwoStages<T>::bytes(const Device& device, const Options& options, Index n,
                                           Index bandwidth, bool vectors) {
  return BandReduction<T>::bytes(device, n, bandwidth) +
         BulgeChasing<T>::bytes(device, options, n, bandwidth, vectors) +
         (vectors ? WayBack<T>::bytes(device, options, n, bandwidth) : 0);
}

template <class T>
void ReductionInTwoStages<T>::reduce(Queue& queue) {
  to_band_.reduce(queue);
  const Span span(queue, "bulges", 0);
  to_band_.copy_band(queue, to_tridiagonal_.band());
  to_tridiagonal_.reduce(queue);
  to_tridiagonal_.fetch(queue);
}

template <class T>
void ReductionInTwoStages<T>::prepare(Queue& queue) {
  to_tridiagonal_.prepare(queue);
  way_back_.emplace(device_, options_, matrix(), bandwidth_, to_band_.tau());
  way_back_->prepare(queue);
}

template <class T>
void ReductionInTwoStages<T>::begin_to_multiply(Queue& queue, DeviceView<T> z) const {
  const Span span(queue, "bulges back", 0);
  to_tridiagonal_.multiply(queue, z);
}

// -------------------------------------------------------------------------------------------

template <class T>
std::unique_ptr<Reduction<T>> make_reduction(Device& device, const Options& options, Index n,
                                             bool vectors, std::size_t besides) {
  if (is_in_two_stages<T>(device, options, n, vectors, besides)) {
    return std::make_unique<ReductionInTwoStages<T>>(device, options, n, bandwidth_of<T>(device),
                                                     vectors);
  }
  return std::make_unique<ReductionInOneStage<T>>(device, options, n);
}

template <class T>
std::size_t reduction_bytes(const Device& device, const Options& options, Index n, bool vectors,
                            std::size_t besides) {
  return is_in_two_stages<T>(device, options, n, vectors, besides)
             ? ReductionInTwoStages<T>::bytes(device, options, n, bandwidth_of<T>(device), vectors)
             : ReductionInOneStage<T>::bytes(device, options, n, vectors);
}

#define OVERLAPACK_INSTANTIATE(T)                                                                \
  template class ReductionInOneStage<T>;                                                         \
  template class ReductionInTwoStages<T>;                                                        \
  template std::unique_ptr<Reduction<T>> make_reduction<T>(Device&, const Options&, Index, bool, \
                                                           std::size_t);                         \
  template std::size_t reduction_bytes<T>(const Device&, const Options&, Index, bool, std::size_t);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
