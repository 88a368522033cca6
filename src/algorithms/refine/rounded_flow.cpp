#include "algorithms/refine/rounded_flow.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "algorithms/cholesky/regions.hpp"
#include "device/timeline.hpp"

namespace overlapack::algorithms {

template <class T>
std::vector<Range> Problem<T>::regions(Index nb) const {
  const Index n = a.view().rows;
  if (!uplo) return partition(n, nb);
  const std::vector<Piece> pieces = pieces_of(n, nb, 0);
  std::vector<Range> columns;
  for (const Range& region : regions_of(*uplo, pieces, sizeof(T))) {
    columns.push_back(united(pieces, region).columns);
  }
  return columns;
}

template <class T>
void Problem<T>::complete(Queue& queue, Range c) const {
  if (!uplo || by_triangle()) return;
  Kernels<T>& kernels = queue.device().template kernels<T>();
  const Storage storage{*uplo};
  const Range beyond{c.last, a.view().rows};
  kernels.mirror(queue, *uplo, a.view().block(c, c));
  kernels.copy(queue, Op::conj_trans, storage.block(a.view(), beyond, c),
               storage.block(a.view(), c, beyond));
}

template <class T>
Scaling<T>::Scaling(Device& device, Index n, bool wanted, bool symmetric) : symmetric_(symmetric) {
  if (!wanted) return;
  sizes_ = Buffer<Real<T>>(device, Space::device, n);
  if (symmetric) staging_ = Buffer<Real<T>>(device, Space::host, n);
}

template <class T>
void Scaling<T>::fetch(Queue& queue, HostView<const T> a) {
  if (!wanted() || !symmetric_) return;
  const std::vector<T> squares = diagonal<T>(queue.device(), a);
  std::transform(squares.begin(), squares.end(), staging_.data(),
                 [](T square) { return std::sqrt(real(square)); });
  queue.copy<Real<T>>(part({0, sizes_.size()}),
                      HostView<const Real<T>>(staging_.data(), staging_.size()));
}

template <class T>
void Scaling<T>::measure(Queue& queue, DeviceView<const T> a, Range columns) {
  if (wanted() && !symmetric_) {
    queue.device().template kernels<T>().column_norms(queue, a, part(columns));
  }
}

template <class T>
RoundedFlow<T>::RoundedFlow(Device& device, const Problem<T>& problem, const Options& options,
                            DeviceView<Single<T>> input, DeviceView<Index> overflow,
                            Scaling<T>& scaling)
    : device_(device),
      problem_(problem),
      kernels_(device.kernels<T>()),
      input_(input),
      overflow_(overflow),
      scaling_(scaling),
      nb_(options.nb),
      threads_(options.threads),
      halves_(options.halves),
      regions_(problem.regions(options.nb)),
      unused_(0),
      queue_(device, Priority::high, "round") {
  for (std::size_t r = 0; r < regions_.size(); ++r) rounded_.emplace_back(device);
}

template <class T>
void RoundedFlow<T>::start(HostView<const T> a, HostView<const T> b) {
  transfer_.emplace(device_, threads_, unused_);
  transfer_->add_upload(make_region<T>(b, problem_.b.view()));
  if (comes_in_halves(a)) {
    for (const Words words : {Words::high, Words::low}) {
      for (const Range& region : regions_) {
        transfer_->add_upload(make_region<T>(problem_.block(a, region), block_of(words, region),
                                             problem_.part(), words));
      }
    }
  } else {
    for (const Range& region : regions_) {
      transfer_->add_upload(make_region<T>(
          problem_.block(a, region), problem_.block(problem_.a.view(), region), problem_.part()));
    }
  }
  const MemoryKind kind = device_.kind_of(a.data);
  const bool pinned = kind == MemoryKind::pinned;
  if (pinned) scaling_.fetch(queue(), a);  // or else it would come after all of A
  transfer_->start();
  if (!pinned) scaling_.fetch(queue(), a);
  arriving_ = kind != MemoryKind::device;
}

template <class T>
bool RoundedFlow<T>::before(Queue& queue, Index j) {
  const Index region = index_of(regions_, j * nb_);
  for (; rounded_count_ <= region; ++rounded_count_) round(rounded_count_);
  queue.wait(*rounded_[at(region)]);
  return true;
}

template <class T>
void RoundedFlow<T>::release(Queue&, Index) {
  if (!in_halves() || rounded_count_ < count()) return;
  const Index few = device_.tuning().refine.joined_regions_per_block;  // or it waits for the host
  const Index end = std::min(joined_count_ + few, count());
  while (joined_count_ < end && transfer_->is_issued(low_words(joined_count_))) join_next();
}

template <class T>
void RoundedFlow<T>::finish() {
  if (!transfer_) return;
  if (in_halves()) {
    while (joined_count_ < count()) join_next();
  }
  transfer_->before(queue(), 0);
  transfer_->finish();
}

template <class T>
bool RoundedFlow<T>::comes_in_halves(HostView<const T> a) {
  if (!halves_ || scaling_.wanted() || device_.kind_of(a.data) != MemoryKind::pageable) {
    return false;
  }
  return try_to_allocate([&] { words_.emplace(device_, a.rows, 2 * a.cols); });
}

template <class T>
DeviceView<Single<T>> RoundedFlow<T>::block_of(Words words, Range region) const {
  const DeviceView<Single<T>> both = words_->view();
  const Index n = both.rows, first = words == Words::high ? 0 : n;
  return problem_.block(both.block(0, first, n, n), region);
}

template <class T>
void RoundedFlow<T>::round(Index region) {
  const Range block = regions_[at(region)];
  if (transfer_) transfer_->before(queue(), region + 1);
  const Span span(queue(), "round", region);
  const DeviceView<Single<T>> to = problem_.block(input_, block);
  if (in_halves()) {
    kernels_.round_high(queue(), problem_.part(), block_of(Words::high, block), to);
    queue().record(*rounded_[at(region)]);
    return;
  }
  const DeviceView<T> from = problem_.block(problem_.a.view(), block);
  scaling_.measure(queue(), from, block);
  kernels_.round(queue(), problem_.part(), from, to, overflow_,
                 scaling_.of_rows(problem_.rows(block)),
                 scaling_.of_columns(problem_.columns(block)));
  queue().record(*rounded_[at(region)]);
  if (transfer_) problem_.complete(queue(), block);
}

/// Once the low words of a region are there, too, A is.
template <class T>
void RoundedFlow<T>::join_next() {
  const Index region = joined_count_++;
  const Range block = regions_[at(region)];
  transfer_->before(queue(), low_words(region));
  const Span span(queue(), "join", region);
  kernels_.join(queue(), problem_.part(), block_of(Words::high, block), block_of(Words::low, block),
                problem_.block(problem_.a.view(), block), overflow_);
  problem_.complete(queue(), block);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template struct Problem<T>;     \
  template class Scaling<T>;      \
  template class RoundedFlow<T>;
OVERLAPACK_INSTANTIATE(double)
OVERLAPACK_INSTANTIATE(std::complex<double>)

}  // namespace overlapack::algorithms
