#include "algorithms/interchanges.hpp"

#include <new>
#include <numeric>

#include "algorithms/workers.hpp"
#include "cpu/reference.hpp"
#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

constexpr Index kColumns = 32;  // per task: enough to pay for composing the permutation
constexpr Index kManyRows = 4;  // per interchange: beyond, single swaps cost less

}  // namespace

template <class T>
LaterInterchanges<T>::LaterInterchanges(Device& device, HostView<T> a, Interchanges& interchanges,
                                        Index nb)
    : device_(device),
      a_(a),
      pivots_(interchanges.pivots),
      seen_(interchanges.seen),
      nb_(nb),
      panels_((count() + nb - 1) / nb),
      groups_per_panel_((nb + kColumns - 1) / kColumns) {}

template <class T>
bool LaterInterchanges<T>::advance(Index home) {
  Index group = 0, end = 0;
  {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock || (next_ == last_ && !begin_sweep(home))) return false;
    group = next_++;
    end = end_;
    under_way_.fetch_add(1, std::memory_order_relaxed);
  }
  apply(group, end);
  under_way_.fetch_sub(1, std::memory_order_release);
  return true;
}

template <class T>
void LaterInterchanges<T>::finish(Index threads) {
  const Index groups = groups_before(panels_);
  Workers::instance().parallel_for(std::min(threads, groups), groups,
                                   [this](Index group) { apply(group, count()); });
}

/// Groups of columns, no wider than a task, in panels before the last of the first `panels`.
template <class T>
Index LaterInterchanges<T>::groups_before(Index panels) const {
  return std::max<Index>(panels - 1, 0) * groups_per_panel_;
}

template <class T>
Range LaterInterchanges<T>::columns(Index group) const {
  const Index panel = group / groups_per_panel_;
  const Index first = panel * nb_ + group % groups_per_panel_ * kColumns;
  return {first, std::min(first + kColumns, (panel + 1) * nb_)};
}

/// A sweep begins when nothing of the one before is under way: no column has two tasks at once.
template <class T>
bool LaterInterchanges<T>::begin_sweep(Index home) {
  home = std::min(home, panels_);
  if (home < due_ || under_way_.load(std::memory_order_acquire) > 0) return false;
  due_ = home + (panels_ - home) / 4 + 1;
  next_ = 0;
  last_ = groups_before(home);
  end_ = std::min(home * nb_, count());
  return next_ < last_;
}

/// The interchanges before `end` that a group has not seen yet.
template <class T>
void LaterInterchanges<T>::apply(Index group, Index end) {
  const Range c = columns(group);
  const Index first = seen_[at(c.first)];
  if (first >= end) return;
  const Span span(device_, "interchange", c.first / nb_);
  const auto swap = [&] {
    reference::laswp(a_.block(0, c.first, a_.rows, c.size()), first, end, pivots_.data());
  };
  if (a_.rows - first > kManyRows * (end - first)) {
    swap();
  } else {
    try {
      gather(c, first, end);
    } catch (const std::bad_alloc&) {  // nothing has been moved yet, and this needs no memory
      swap();
    }
  }
  std::fill(&seen_[at(c.first)], &seen_[at(c.first)] + c.size(), end);
}

/// Each column is one gather by the composed permutation; rows above `first` stay. The column is
/// copied first, since memory is read faster in order: what is then read in any order is in the
/// cache.
template <class T>
void LaterInterchanges<T>::gather(Range c, Index first, Index end) {
  std::vector<Index> source(at(a_.rows - first));
  std::iota(source.begin(), source.end(), Index{0});
  for (Index j = first; j < end; ++j) {
    std::swap(source[at(j - first)], source[at(pivots_[at(j)] - 1 - first)]);
  }
  std::vector<T> copy(source.size());
  for (Index j = c.first; j < c.last; ++j) {
    T* const column = &a_(first, j);
    std::copy_n(column, copy.size(), copy.begin());
    for (std::size_t i = 0; i < source.size(); ++i) column[i] = copy[at(source[i])];
  }
}

#define OVERLAPACK_INSTANTIATE(T) template class LaterInterchanges<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
