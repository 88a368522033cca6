#include "algorithms/lu/interchanges.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>

#include "cpu/reference.hpp"
#include "device/timeline.hpp"
#include "host/workers.hpp"

namespace overlapack::algorithms {
namespace {

/// The number of a row in a permutation that the cache is to keep beside a column.
using ShortIndex = std::uint32_t;
constexpr Index kMaxPermutedRows = std::numeric_limits<ShortIndex>::max();

/// Columns of a task: enough to pay for composing the permutation, and a short one if possible.
template <class T>
Index columns_of_task(const Tuning::Lu& tuning, Index rows) {
  const Index bytes = std::max<Index>(rows, 1) * static_cast<Index>(sizeof(T));
  return std::clamp(tuning.interchange_task_bytes / bytes, tuning.interchange_task_columns_at_least,
                    tuning.interchange_task_columns_at_most);
}

}  // namespace

template <class T>
LaterInterchanges<T>::LaterInterchanges(Device& device, HostView<T> a, const Buffer<Index>& pivots,
                                        const Flag& known, Interchanges& interchanges, Index nb)
    : device_(device),
      a_(a),
      staged_(pivots),
      staged_blocks_(known),
      pivots_(interchanges.pivots),
      seen_(interchanges.seen),
      nb_(nb),
      blocks_(quotient_up(count(), nb)),
      width_(columns_of_task<T>(device.tuning().lu, a.rows)),
      groups_per_block_(quotient_up(nb, width_)) {}

template <class T>
void LaterInterchanges<T>::arrives(Index b) {
  const std::lock_guard<std::mutex> lock(mutex_);
  learn(b + 1);
  const Range c = block(b);
  std::fill(&seen_[at(c.first)], &seen_[at(c.first)] + c.size(), c.last);
}

template <class T>
bool LaterInterchanges<T>::advance(Index home) {
  // Threads ask all the time, mostly in vain: they must not keep arrives() from the lock.
  const auto staged = static_cast<Index>(staged_blocks_.load(std::memory_order_acquire));
  if (next_ >= last_ && std::max<Index>(known_, staged) < due_) return false;
  Index group = 0, end = 0;
  {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    learn(staged);
    const Index groups = std::min(home, known_ - 1) * groups_per_block_;
    if (next_ < last_) {
      last_ = std::max<Index>(last_, groups);  // what has come home since it began
    } else if (!begin_sweep(groups)) {
      return false;
    }
    group = next_++;
    end = block(known_ - 1).last;
    under_way_.fetch_add(1, std::memory_order_relaxed);
  }
  apply(group, end);
  under_way_.fetch_sub(1, std::memory_order_release);
  return true;
}

template <class T>
void LaterInterchanges<T>::finish(Index threads) {
  const Index groups = std::max<Index>(blocks_ - 1, 0) * groups_per_block_;
  const Workers::Lease lease = Workers::instance().try_lease();
  if (!lease) threads = 1;
  Workers::instance().parallel_for(std::min(threads, groups), groups,
                                   [this](Index group) { apply(group, count()); });
}

template <class T>
Range LaterInterchanges<T>::columns(Index group) const {
  const Range of_block = block(group / groups_per_block_);
  const Index first = of_block.first + group % groups_per_block_ * width_;
  return {first, std::min(first + width_, of_block.last)};
}

/// So many blocks have reported: their pivots are known from now on.
template <class T>
void LaterInterchanges<T>::learn(Index blocks) {
  for (; known_ < blocks; ++known_) {
    const Range c = block(known_);
    std::copy(staged_.data() + c.first, staged_.data() + c.last, &pivots_[at(c.first)]);
  }
}

/// A sweep begins when nothing of the one before is under way: no column has two tasks at once.
template <class T>
bool LaterInterchanges<T>::begin_sweep(Index groups) {
  if (known_ < due_ || groups <= 0 || under_way_.load(std::memory_order_acquire) > 0) return false;
  due_ = known_ + (blocks_ - known_) / 4 + 1;
  next_ = 0;
  last_ = groups;
  return true;
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
  const Index rows = a_.rows - first;
  const Index gathered = device_.tuning().lu.gather_up_to_rows_per_interchange * (end - first);
  if (rows > gathered || rows > kMaxPermutedRows) {
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
/// cache, to which the next column comes meanwhile.
template <class T>
void LaterInterchanges<T>::gather(Range c, Index first, Index end) {
  std::vector<ShortIndex> source(at(a_.rows - first));
  std::iota(source.begin(), source.end(), ShortIndex{0});
  for (Index j = first; j < end; ++j) {
    std::swap(source[at(j - first)], source[at(pivots_[at(j)] - 1 - first)]);
  }
  std::vector<T> copy(source.size());
  for (Index j = c.first; j < c.last; ++j) {
    T* const column = &a_(first, j);
    std::copy_n(column, copy.size(), copy.begin());
    const T* const next = j + 1 < c.last ? &a_(first, j + 1) : column;
    constexpr std::size_t kOfLine = 64 / sizeof(T);
    std::size_t i = 0;
    for (; i + kOfLine <= source.size(); i += kOfLine) {
      __builtin_prefetch(next + i);
      for (std::size_t k = i; k < i + kOfLine; ++k) column[k] = copy[source[k]];
    }
    for (; i < source.size(); ++i) column[i] = copy[source[i]];
  }
}

#define OVERLAPACK_INSTANTIATE(T) template class LaterInterchanges<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
