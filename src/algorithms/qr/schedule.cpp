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

}  // namespace

template <class T>
Qr<T>::Qr(Device& device, const Options& options, Index m, Index n)
    : device_(device),
      m_(m),
      n_(n),
      nb_(block_columns(options, m, n)),
      blocks_(blocks_of(m, n, nb_)),
      steps_(quotient_up(reflectors(m, n), nb_)),
      matrix_(device, m, n),
      v_(device, m, reflectors(m, n)),
      t_(device, nb_, reflectors(m, n)),
      staged_tau_(device, Space::host, reflectors(m, n)),
      panel_reflection_(device, nb_, 2 * nb_),
      joining_(device, nb_, nb_),
      update_reflection_(device, nb_, n),
      begun_(device),
      factored_(device),
      final_(device),
      updated_(device),
      reflected_(device),
      panel_(device, Priority::high, "panel"),
      join_(device, Priority::high, "join"),
      update_(device, Priority::normal, "update") {}

template <class T>
std::size_t Qr<T>::bytes(const Options& options, Index m, Index n) {
  const Index k = reflectors(m, n), nb = block_columns(options, m, n);
  return DeviceMatrix<T>::bytes(m, n) + DeviceMatrix<T>::bytes(m, k) +
         DeviceMatrix<T>::bytes(nb, k) + Reflection<T>::bytes(nb, 2 * nb) +
         Reflection<T>::bytes(nb, nb) + Reflection<T>::bytes(nb, n);
}

template <class T>
void Qr<T>::factor(Flow& flow) {
  joined_ = std::min<Index>(2, count());
  clear();
  for (Index b = 0; b < joined_; ++b) flow.before(*panel_, b);
  for (Index b = 0; b < steps_; ++b) factor_block(flow, b);
  panel_->record(*reflected_);
  update(flow, steps_ - 1);
  update_->wait(*reflected_);
  for (Index b = steps_; b < count(); ++b) flow.release(*update_, b);
}

/// Q = Q_1 Q_2 ... Q_p for the p blocks.
template <class T>
void Qr<T>::multiply(Op op, const Reflection<T>& by, DeviceView<T> c) const {
  for (Index i = 0; i < steps_; ++i) {
    const Range block = blocks_[at(op == Op::none ? steps_ - 1 - i : i)];
    by(*update_, op, reflector(block, block), c.block({block.first, m_}, {0, c.cols}));
  }
}

template <class T>
Range Qr<T>::columns_of(Index first, Index last) const {
  last = std::min(last, count());
  return first < last ? Range{blocks_[at(first)].first, blocks_[at(last - 1)].last} : Range{};
}

template <class T>
std::vector<Range> Qr<T>::panels_of(Range block) const {
  std::vector<Range> panels;
  for (Index first = block.first; first < block.last; first = panels.back().last) {
    const Index width = device_.kernels<T>().geqrf_panel_width(m_ - first);
    panels.push_back({first, std::min(first + width, block.last)});
  }
  return panels;
}

template <class T>
DeviceView<T> Qr<T>::triangle(Range block, Range rows, Range columns) const {
  return t_.view().block({rows.first - block.first, rows.last - block.first}, columns);
}

template <class T>
BlockReflector<T> Qr<T>::reflector(Range block, Range columns) const {
  return {v_.view().block({columns.first, m_}, columns), triangle(block, columns, columns)};
}

/// The zeros of V and T that no panel writes, those beside the squares of panels within a block:
/// all of T, and nb rows above V's diagonal. (In the first columns that reaches into what the
/// panels of the columns before have yet to write.)
template <class T>
void Qr<T>::clear() {
  const DeviceView<T> v = v_.view(), t = t_.view();
  panel_->zero(t.data, sizeof(T) * at(t.ld * t.cols));
  if (v.cols < 2) return;
  panel_->zero(v.data + v.ld + 1 - nb_, sizeof(T) * at(v.ld + 1), sizeof(T) * at(nb_),
               at(v.cols - 1));
}

/// Block b, and its effect on the next one. What remains of the step before is enqueued behind the
/// first panel, and starts behind it, which needs some multiprocessors for itself.
template <class T>
void Qr<T>::factor_block(Flow& flow, Index b) {
  const Range block = blocks_[at(b)];
  const Index end = columns_of(b, b + 2).last;
  for (const Range& panel : panels_of(block)) {
    const Range before = {block.first, panel.first};
    const BlockReflector<T> q = reflector(block, panel);
    start_panel(block, panel);
    if (panel.last == block.last) flow.release(*panel_, b);
    if (before.empty()) {
      if (b > 0) update(flow, b - 1);
      panel_->wait(*updated_);
    }
    {
      const Span span(*panel_, "reflect", b);
      reflect(*panel_, panel_reflection_, q, panel.first, {panel.last, end});
    }
    join_->wait(*factored_);
    if (!before.empty()) {
      joining_.join(*join_, reflector(block, before), q, before.size(),
                    triangle(block, before, panel));
    }
  }
  join_->record(*final_);
}

template <class T>
void Qr<T>::start_panel(Range block, Range panel) {
  const Span span(*panel_, "panel", block.first / nb_);
  const DeviceView<T> tau(staged_tau_.data() + panel.first, panel.size());
  panel_->enqueue(GeqrfPanel<T>{matrix().block({panel.first, m_}, panel),
                                v_.view().block({panel.first, m_}, panel),
                                triangle(block, panel, panel), tau, &*begun_});
  panel_->record(*factored_);
}

/// The reflectors of block b in what lies behind the next block, first in what comes right behind
/// it, since the panels wait for that.
template <class T>
void Qr<T>::update(Flow& flow, Index b) {
  const Range block = blocks_[at(b)];
  const Index ahead = std::min(b + 3, count());
  const auto step = [&](Index first, Index last) {
    const Span span(*update_, "update", b);
    reflect(*update_, update_reflection_, reflector(block, block), block.first,
            columns_of(first, last));
  };
  update_->wait(*final_);
  update_->wait(*begun_);
  bring(flow, ahead, b);
  step(b + 2, ahead);
  update_->record(*updated_);
  step(ahead, joined_);
  const Index arrived =
      std::max(flow.present(), b == steps_ - 1 ? count() : device_.tuning().qr.arrival.blocks(b));
  bring(flow, std::min(arrived, count()), b + 1);
}

/// Blocks up to `end` join, with the reflectors of so many blocks.
template <class T>
void Qr<T>::bring(Flow& flow, Index end, Index steps) {
  if (end <= joined_) return;
  const Range columns = columns_of(joined_, end);
  for (; joined_ < end; ++joined_) flow.before(*update_, joined_);
  const Span span(*update_, "catch up", joined_ - 1);
  for (Index s = 0; s < steps; ++s) {
    const Range block = blocks_[at(s)];
    reflect(*update_, update_reflection_, reflector(block, block), block.first, columns);
  }
}

/// Columns of A from a row on, by Q^H.
template <class T>
void Qr<T>::reflect(Queue& queue, const Reflection<T>& by, const BlockReflector<T>& q, Index row,
                    Range columns) const {
  if (columns.empty()) return;
  by(queue, Op::conj_trans, q, matrix().block({row, m_}, columns));
}

#define OVERLAPACK_INSTANTIATE(T) template class Qr<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
