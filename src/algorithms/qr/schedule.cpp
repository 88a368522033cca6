#include "algorithms/qr/schedule.hpp"

#include <algorithm>

#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

Index reflectors(Index m, Index n) { return std::min(m, n); }

Index block_columns(const Options& options, Index m, Index n) {
  return std::min(options.nb, reflectors(m, n));
}

std::vector<Range> blocks_of(Index m, Index n, Index nb) {
  std::vector<Range> blocks = partition(reflectors(m, n), nb);
  for (const Range& rest : partition({reflectors(m, n), n}, nb)) blocks.push_back(rest);
  return blocks;
}

/// Blocks of a group.
Index group_blocks(const Device& device, Index m, Index n) {
  const Tuning::Qr& tuning = device.tuning().qr;
  return reflectors(m, n) < tuning.groups_from_order ? 1 : tuning.group_blocks;
}

/// Columns of a group.
Index group_columns(const Device& device, const Options& options, Index m, Index n) {
  return std::min(group_blocks(device, m, n) * block_columns(options, m, n), reflectors(m, n));
}

/// Columns that are near a block at most, behind the next block.
Index near_columns(Index group, Index nb) { return (2 * group - 2) * nb; }

/// The panels of all blocks that have reflectors.
template <class T>
std::vector<Range> panels_of(Device& device, Index m, Index n, Index nb) {
  std::vector<Range> panels;
  for (const Range& block : partition(reflectors(m, n), nb)) {
    for (Index first = block.first; first < block.last; first = panels.back().last) {
      const Index width = device.kernels<T>().geqrf_panel_width(m - first);
      panels.push_back({first, std::min(first + width, block.last)});
    }
  }
  return panels;
}

}  // namespace

template <class T>
Qr<T>::Qr(Device& device, const Options& options, Index m, Index n)
    : device_(device),
      m_(m),
      n_(n),
      nb_(block_columns(options, m, n)),
      group_(group_blocks(device, m, n)),
      blocks_(blocks_of(m, n, nb_)),
      steps_(quotient_up(reflectors(m, n), nb_)),
      panels_(panels_of<T>(device, m, n, nb_)),
      matrix_(device, m, n),
      v_(device, m, reflectors(m, n)),
      t_(device, group_columns(device, options, m, n), reflectors(m, n)),
      staged_tau_(device, Space::host, reflectors(m, n)),
      panel_work_(device, 2 * nb_, nb_),
      rest_reflection_(device, nb_, 2 * nb_),
      joining_(device, t_.view().rows, nb_),
      near_reflection_(device, nb_, near_columns(group_, nb_)),
      update_reflection_(device, t_.view().rows, n),
      begun_(device),
      factored_(device),
      rest_reflected_(device),
      final_(device),
      group_final_(device),
      updated_(device),
      far_updated_(device),
      reflected_(device),
      panel_(device, Priority::high, "panel"),
      rest_(device, Priority::high, "rest"),
      join_(device, Priority::high, "join"),
      near_(device, Priority::high, "near"),
      update_(device, Priority::normal, "update") {}

template <class T>
std::size_t Qr<T>::bytes(const Device& device, const Options& options, Index m, Index n) {
  const Index k = reflectors(m, n), nb = block_columns(options, m, n);
  const Index group = group_columns(device, options, m, n);
  return DeviceMatrix<T>::bytes(m, n) + DeviceMatrix<T>::bytes(m, k) +
         DeviceMatrix<T>::bytes(group, k) + DeviceMatrix<T>::bytes(2 * nb, nb) +
         Reflection<T>::bytes(nb, 2 * nb) + Reflection<T>::bytes(group, nb) +
         Reflection<T>::bytes(nb, near_columns(group_blocks(device, m, n), nb)) +
         Reflection<T>::bytes(group, n);
}

template <class T>
void Qr<T>::factor(Flow& flow) {
  clear();
  flow.before(*panel_, 0);
  if (count() > 1) flow.before(*near_, 1);
  near_->record(*updated_);
  joined_ = std::min<Index>(2, count());
  for (std::size_t p = 0; p < panels_.size(); ++p) factor_panel(flow, p);
  reflect_rest(panels_.size() - 1);
  update(flow, steps_ - 1);
  for (Queue* queue : {&*panel_, &*rest_, &*near_}) {
    queue->record(*reflected_);
    update_->wait(*reflected_);
  }
  for (Index b = steps_; b < count(); ++b) flow.release(*update_, b);
}

/// Q = Q_1 Q_2 ... Q_p for the p blocks.
template <class T>
void Qr<T>::multiply(Op op, const Reflection<T>& by, DeviceView<T> c) const {
  for (Index i = 0; i < steps_; ++i) {
    const Range block = blocks_[at(op == Op::none ? steps_ - 1 - i : i)];
    by(*update_, op, reflector(block), c.block({block.first, m_}, {0, c.cols}));
  }
}

template <class T>
Range Qr<T>::columns_of(Index first, Index last) const {
  last = std::min(last, count());
  return first < last ? Range{blocks_[at(first)].first, blocks_[at(last - 1)].last} : Range{};
}

template <class T>
DeviceView<T> Qr<T>::triangle(Range rows, Range columns) const {
  const Index first = first_of(group_of(columns.first / nb_)) * nb_;
  return t_.view().block({rows.first - first, rows.last - first}, columns);
}

template <class T>
BlockReflector<T> Qr<T>::reflector(Range columns) const {
  return {v_.view().block({columns.first, m_}, columns), triangle(columns)};
}

/// The zeros of V and T that no panel writes, those beside the squares of panels within a group:
/// all of T, and as many rows above V's diagonal as a group has columns. (In the first columns that
/// reaches into what the panels of the columns before have yet to write.)
template <class T>
void Qr<T>::clear() {
  const DeviceView<T> v = v_.view(), t = t_.view();
  panel_->zero(t.data, sizeof(T) * at(t.ld * t.cols));
  if (v.cols < 2) return;
  panel_->zero(v.data + v.ld + 1 - t.rows, sizeof(T) * at(v.ld + 1), sizeof(T) * at(t.rows),
               at(v.cols - 1));
}

/// One panel. What remains of the panel before is enqueued behind it, and starts behind it, since
/// it needs some multiprocessors for itself. So does what remains of the block before.
template <class T>
void Qr<T>::factor_panel(Flow& flow, std::size_t p) {
  const Range panel = panels_[p];
  const Index b = panel.first / nb_;
  const Range block = blocks_[at(b)];
  const bool is_first = panel.first == block.first, is_last = panel.last == block.last;
  start_panel(p);
  if (is_last) flow.release(*panel_, b);
  if (p > 0) reflect_rest(p - 1);
  if (is_first && b > 0) update(flow, b - 1);
  if (is_first) rest_->wait(*updated_);
  rest_->wait(*factored_);
  join_->wait(*factored_);
  join({block.first, panel.first}, panel);
  if (!is_last) return;
  join_->record(*final_);
  join({blocks_[at(first_of(group_of(b)))].first, block.first}, block);
  join_->record(*group_final_);
}

/// The panel gets the reflectors of the one before it, and is factored.
template <class T>
void Qr<T>::start_panel(std::size_t p) {
  const Range panel = panels_[p];
  const DeviceView<T> v = v_.view().block({panel.first, m_}, panel), t = triangle(panel),
                      tau(staged_tau_.data() + panel.first, panel.size());
  panel_->wait(*rest_reflected_);
  if (p > 0 && panel.first % nb_ == 0) panel_->wait(*updated_);
  const Span span(*panel_, "panel", panel.first / nb_);
  if (p == 0) {
    panel_->enqueue(GeqrfPanel<T>{matrix().block({0, m_}, panel), v, t, tau, &*begun_});
  } else {
    const Range before = panels_[p - 1];
    const BlockReflector<T> q = reflector(before);
    const DeviceView<T> work = panel_work_.view().block(0, 0, 2 * before.size(), panel.size());
    panel_->enqueue(ReflectAndFactor<T>{q.v, q.t, matrix().block({before.first, m_}, panel), v, t,
                                        tau, work, &*begun_});
  }
  panel_->record(*factored_);
}

/// The reflectors of a panel in the rest of its block and in the next block, but for the next
/// panel, which gets them when it is its turn.
template <class T>
void Qr<T>::reflect_rest(std::size_t p) {
  const Index b = panels_[p].first / nb_;
  const Index first = p + 1 < panels_.size() ? panels_[p + 1].last : panels_[p].last;
  const Span span(*rest_, "rest", b);
  rest_->wait(*begun_);
  reflect(*rest_, rest_reflection_, panels_[p], {first, columns_of(b, b + 2).last});
  rest_->record(*rest_reflected_);
}

/// Some columns of a group join those before them.
template <class T>
void Qr<T>::join(Range before, Range columns) {
  if (before.empty()) return;
  joining_.join(*join_, reflector(before), reflector(columns), before.size(),
                triangle(before, columns));
}

/// What the reflectors of block b have left to do, first in what comes right behind the next block,
/// since the panels wait for that.
template <class T>
void Qr<T>::update(Flow& flow, Index b) {
  if (group_ > 1) update_near(flow, b);
  if (b + 1 == steps_ || (b + 1) % group_ == 0) update_far(flow, group_of(b));
}

template <class T>
void Qr<T>::update_near(Flow& flow, Index b) {
  const Index group = group_of(b), end = first_of(group + 2);
  const auto step = [&](Index first, Index last) {
    const Span span(*near_, "near", b);
    reflect(*near_, near_reflection_, blocks_[at(b)], columns_of(first, std::min(last, end)));
  };
  for (; group == 0 && joined_ < end; ++joined_) flow.before(*near_, joined_);
  near_->wait(*final_);
  near_->wait(*begun_);
  if (b + 2 >= first_of(group + 1)) near_->wait(*far_updated_);
  step(b + 2, b + 3);
  near_->record(*updated_);
  near_->wait(*far_updated_);
  step(b + 3, end);
}

template <class T>
void Qr<T>::update_far(Flow& flow, Index group) {
  const Index first = first_of(group + 2), ahead = first_of(group + 3);
  const auto step = [&](Range columns) {
    const Span span(*update_, "update", group);
    reflect(*update_, update_reflection_, columns_of_group(group), columns);
  };
  update_->wait(*group_final_);
  update_->wait(*begun_);
  bring(flow, ahead, group);
  step(columns_of(first, ahead));
  update_->record(group_ > 1 ? *far_updated_ : *updated_);
  step(columns_of(ahead, joined_));
  const Index b = first_of(group + 1) - 1;
  const Index arrived =
      std::max(flow.present(), b >= steps_ - 1 ? count() : device_.tuning().qr.arrival.blocks(b));
  bring(flow, std::min(arrived, count()), group + 1);
}

/// Blocks up to `end` join, with the reflectors of so many groups.
template <class T>
void Qr<T>::bring(Flow& flow, Index end, Index groups) {
  if (end <= joined_) return;
  const Range columns = columns_of(joined_, end);
  for (; joined_ < end; ++joined_) flow.before(*update_, joined_);
  const Span span(*update_, "catch up", joined_ - 1);
  for (Index g = 0; g < groups; ++g) {
    reflect(*update_, update_reflection_, columns_of_group(g), columns);
  }
}

/// Some columns of A by the adjoint of some reflectors of a group.
template <class T>
void Qr<T>::reflect(Queue& queue, const Reflection<T>& by, Range reflectors, Range columns) const {
  if (columns.first >= columns.last) return;
  by(queue, Op::conj_trans, reflector(reflectors), matrix().block({reflectors.first, m_}, columns));
}

#define OVERLAPACK_INSTANTIATE(T) template class Qr<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
