#include "algorithms/eigen/divide_and_conquer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

// T is cut in halves, and these again, down to leaves. A cut takes |e| from the two elements of the
// diagonal beside it: what is left of T is diag(T1, T2), and
//
//   T = diag(T1, T2) + |e| u u^T = diag(Q1, Q2) (D + rho z z^T) diag(Q1, Q2)^T.
//
// The merge finds the eigenproblem of D + rho z z^T. Some eigenpairs of T1 and T2 are those of T
// (Deflate). The others are roots of the secular equation (SolveSecular) with vectors S
// (SecularVectors), and the eigenvectors become diag(Q1, Q2) S. Columns of diag(Q1, Q2) that are
// not zero in the upper rows stand on the left, those that are not in the lower ones on the right,
// and those of rotated pairs, which are in neither, between them: two products leave out the zeros.
//
// Leaves are diagonalized, and parts of a level are merged, by common operations. Only large
// products are enqueued one by one: how large they are the device finds out, and the host waits for
// that once a level, while the device solves the secular equation.

namespace overlapack::algorithms {
namespace {

// Columns of numbers_, and of indices_.
enum Numbers : Index { kD, kE, kPoles, kZ, kShifts, kNumbersOfWork };
enum Indices : Index { kColumns, kPlaces, kOrigins, kIndicesOfWork };

template <class R>
constexpr Index columns_of_numbers() {
  return kNumbersOfWork + Deflate<R>::kNumbers;
}
template <class R>
constexpr Index columns_of_indices() {
  return kIndicesOfWork + Deflate<R>::kIndices;
}

}  // namespace

template <class R>
DivideAndConquer<R>::DivideAndConquer(Device& device, Index n)
    : device_(device),
      n_(n),
      q_(device, n, n),
      grouped_(device, n, n),
      vectors_(device, n, n),
      numbers_(device, n, columns_of_numbers<R>()),
      indices_(device, n, columns_of_indices<R>()),
      starts_(device, Space::device, n + 1),
      parts_(device, Space::device, kPartsOfMerge * n),
      counts_(device, Space::device, kCountsOfMerge * n),
      failed_(device, Space::device, 1),
      staged_numbers_(device, Space::host, 2 * n),
      staged_starts_(device, Space::host, n + 1),
      staged_parts_(device, Space::host, kPartsOfMerge * n),
      staged_counts_(device, Space::host, kCountsOfMerge * n),
      counted_(device) {}

template <class R>
std::size_t DivideAndConquer<R>::bytes(Index n) {
  return 3 * DeviceMatrix<R>::bytes(n, n) + DeviceMatrix<R>::bytes(n, columns_of_numbers<R>()) +
         DeviceMatrix<Index>::bytes(n, columns_of_indices<R>()) +
         Buffer<Index>::bytes(n + 1 + (kPartsOfMerge + kCountsOfMerge) * n + 1);
}

template <class R>
void DivideAndConquer<R>::run(Queue& queue, const Tridiagonal<R>& t) {
  leaves_.clear();
  levels_.clear();
  for (const Range& block : t.blocks()) divide(block);
  leaves_.push_back(n_);
  begin(queue, t);
  for (const Level& level : levels_) merge(queue, level);
  sort(queue, t);
}

/// Notes the leaves and merges of a block. Returns how many levels of merges it has.
template <class R>
Index DivideAndConquer<R>::divide(Range rows) {
  if (rows.size() <= device_.kernels<R>().limits().leaf_order) {
    leaves_.push_back(rows.first);
    return 0;
  }
  const Index middle = rows.first + rows.size() / 2;
  const Index left = divide({rows.first, middle}), right = divide({middle, rows.last});
  const Index height = std::max(left, right);
  if (static_cast<Index>(levels_.size()) == height) levels_.emplace_back();
  Level& level = levels_[at(height)];
  level.parts.insert(level.parts.end(), {rows.first, middle, rows.last});
  level.longest = std::max(level.longest, rows.size());
  return height + 1;
}

/// Sends everything up, and diagonalizes the leaves.
template <class R>
void DivideAndConquer<R>::begin(Queue& queue, const Tridiagonal<R>& t) {
  R* const d = staged_numbers_.data();
  R* const e = d + n_;
  std::copy(t.d().begin(), t.d().end(), d);
  std::copy(t.e().begin(), t.e().end(), e);
  std::copy(leaves_.begin(), leaves_.end(), staged_starts_.data());
  Index merges = 0;
  for (Level& level : levels_) {
    level.first = merges;
    std::copy(level.parts.begin(), level.parts.end(),
              staged_parts_.data() + kPartsOfMerge * merges);
    merges += level.count();
    for (Index m = 0; m < level.count(); ++m) {
      const Index middle = level.parts[at(kPartsOfMerge * m + 1)];
      d[middle - 1] -= std::abs(e[middle - 1]);
      d[middle] -= std::abs(e[middle - 1]);
    }
  }
  const auto send = [&queue](auto to, const auto& staged, Index count) {
    using V = std::remove_reference_t<decltype(*staged)>;
    queue.copy<std::remove_const_t<V>>(to, HostView<const std::remove_const_t<V>>(staged, count));
  };
  const DeviceView<Index> starts(starts_.data(), static_cast<Index>(leaves_.size()));
  const DeviceView<Index> failed(failed_.data(), 1);
  send(numbers(kD), d, n_);
  send(numbers(kE), e, n_);
  send(starts, staged_starts_.data(), starts.rows);
  if (merges > 0) {
    send(DeviceView<Index>(parts_.data(), kPartsOfMerge * merges), staged_parts_.data(),
         kPartsOfMerge * merges);
  }
  queue.zero(failed.data, sizeof(Index));
  set_zero(queue, q_.view());
  queue.enqueue(DiagonalizeLeaves<R>{starts, numbers(kD), numbers(kE), q_.view(), failed});
}

template <class R>
void DivideAndConquer<R>::merge(Queue& queue, const Level& level) {
  const DeviceView<const Index> parts(parts_.data() + kPartsOfMerge * level.first, kPartsOfMerge,
                                      level.count(), kPartsOfMerge);
  const DeviceView<Index> counts(counts_.data() + kCountsOfMerge * level.first, kCountsOfMerge,
                                 level.count(), kCountsOfMerge);
  const HostView<Index> staged(staged_counts_.data() + kCountsOfMerge * level.first, kCountsOfMerge,
                               level.count(), kCountsOfMerge);
  const Index longest = level.longest;
  queue.enqueue(Deflate<R>{parts, longest, numbers(kE), numbers(kD), q_.view(), numbers(kPoles),
                           numbers(kZ), indices(kColumns), indices(kPlaces), counts,
                           numbers_.view().block(0, kNumbersOfWork, n_, Deflate<R>::kNumbers),
                           indices_.view().block(0, kIndicesOfWork, n_, Deflate<R>::kIndices)});
  const bool is_small = longest <= device_.kernels<R>().limits().small_merge_rows;
  if (!is_small) {
    queue.copy<Index>(staged, DeviceView<const Index>(counts));
    queue.record(*counted_);
  }
  queue.enqueue(SolveSecular<R>{parts, counts, longest, numbers(kE), numbers(kPoles), numbers(kZ),
                                numbers(kD), indices(kOrigins), numbers(kShifts)});
  queue.enqueue(SecularVectors<R>{parts, counts, longest, numbers(kPoles), numbers(kZ),
                                  indices(kPlaces), indices(kOrigins), numbers(kShifts),
                                  vectors_.view()});
  queue.enqueue(TakeColumns<R>{parts, longest, q_.view(), indices(kColumns), grouped_.view()});
  if (is_small) {
    queue.enqueue(
        MultiplyMerges<R>{parts, counts, longest, grouped_.view(), vectors_.view(), q_.view()});
    return;
  }
  counted_->synchronize();
  for (Index m = 0; m < level.count(); ++m) multiply(queue, level, m);
}

/// The eigenvectors of a merge, those of the secular problem first.
template <class R>
void DivideAndConquer<R>::multiply(Queue& queue, const Level& level, Index m) const {
  const Index* const parts = &level.parts[at(kPartsOfMerge * m)];
  const Index* const counts = staged_counts_.data() + kCountsOfMerge * (level.first + m);
  const Index first = parts[0], middle = parts[1], last = parts[2];
  const Index upper = counts[0], both = counts[1], lower = counts[2], k = upper + both + lower;
  const Range found = {first, first + k}, known = {first + k, last}, all = {first, last};
  const DeviceView<R> q = q_.view(), grouped = grouped_.view(), s = vectors_.view();
  const auto product = [&](Range rows, Range columns) {
    const DeviceView<R> result = q.block(rows, found);
    if (columns.empty()) return set_zero(queue, result);
    queue.enqueue(Gemm<R>{Op::none, Op::none, R(1), grouped.block(rows, columns),
                          s.block(columns, found), R(0), result});
  };
  if (!found.empty()) {
    product({first, middle}, {first, first + upper + both});
    product({middle, last}, {first + upper, first + k});
  }
  if (!known.empty()) {
    queue.copy<R>(q.block(all, known), DeviceView<const R>(grouped.block(all, known)));
  }
}

/// Brings the eigenvalues home, and sends up in which order they are.
template <class R>
void DivideAndConquer<R>::sort(Queue& queue, const Tridiagonal<R>& t) {
  R* const d = staged_numbers_.data();
  Index* const order = staged_starts_.data();
  queue.copy<R>(HostView<R>(d, n_), DeviceView<const R>(numbers(kD)));
  queue.copy<Index>(HostView<Index>(staged_counts_.data(), 1),
                    DeviceView<const Index>(failed_.data(), 1));
  queue.synchronize();
  if (*staged_counts_.data() != 0) throw DeviceError("a leaf's QL iteration does not converge");
  for (Index b = 0; b < static_cast<Index>(t.blocks().size()); ++b) {
    for (Index i = t.blocks()[at(b)].first; i < t.blocks()[at(b)].last; ++i) {
      d[i] = t.unscaled(d[i], b);
    }
  }
  std::iota(order, order + n_, Index{0});
  std::stable_sort(order, order + n_, [d](Index i, Index j) { return d[i] < d[j]; });
  eigenvalues_.resize(at(n_));
  std::transform(order, order + n_, eigenvalues_.begin(), [d](Index i) { return d[i]; });
  queue.copy<Index>(indices(kColumns), HostView<const Index>(order, n_));
}

template <class R>
void DivideAndConquer<R>::take(Queue& queue, DeviceView<R> to, Index step, Index first) const {
  const DeviceView<Index> columns = indices(kColumns).block(first, 0, to.cols, 1);
  queue.enqueue(TakeColumns<R>{{}, n_, q_.view(), columns, to, step});
}

template class DivideAndConquer<float>;
template class DivideAndConquer<double>;

}  // namespace overlapack::algorithms
