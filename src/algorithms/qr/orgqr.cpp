#include "algorithms/qr/orgqr.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/qr/given_reflectors.hpp"
#include "algorithms/qr/lines.hpp"
#include "algorithms/shared/uploads.hpp"
#include "device/buffer.hpp"
#include "transfer/transfer.hpp"

// With the first n columns E of I and the first n rows V1 of V, the columns wanted of Q, which is
// I - V S^-1 V^H (GivenReflectors), are
//
//   Q E = E - V M,   S M = V1^H,
//
// where M is an upper trapezoid. All of it is large products.
//
// V goes up by block columns, and with each of them one of S. M takes the place of S, by block rows
// from the last one on. Columns j of Q need V and M up to the columns j only. So they are made from
// the right, take the place of those of V, and go home at once. What is left are the reflectors of
// the columns before.
//
// The rows that ?orglq makes are the adjoint of the columns that are made of the adjoint of its
// reflectors.
//
// The Q of a reduction to tridiagonal form has one row and one column more, which are those of I.
// They border the columns that are made, and each of these goes home one column to the right of
// where its reflector came from.

namespace overlapack::algorithms {

using cpu::Reflectors;

namespace {

template <class T>
class ColumnsOfQ {
 public:
  /// With a border of 1, which is for columns only, A is that of a reduction.
  ColumnsOfQ(Device& device, const Options& options, Reflectors kind, HostView<T> a,
             HostView<const T> tau, Index border = 0)
      : device_(device),
        options_(options),
        border_(border),
        m_(order_of(kind, a.rows, a.cols) - border),
        n_(lines_of(kind, a.rows, a.cols) - border),
        k_(tau.rows),
        nb_(std::min(options.nb, n_)),
        blocks_(partition(k_, nb_)),
        q_(device, border + m_, border + n_),
        v_(q_.view().block(border, border, m_, n_)),
        lines_(device, kind, a, q_.view()),
        s_(device, k_, n_),
        columns_(device, m_, nb_),
        rows_(device, nb_, k_),
        reflectors_(device, tau, nb_),
        queue_(device, Priority::normal, "reflectors") {
    if (border > 0) given_.emplace(device, kind, a.block(border, 0, m_, n_), v_);
  }
  static std::size_t bytes(Index nb, Reflectors kind, Index m, Index n, Index k, Index border = 0) {
    nb = std::min(nb, n);
    return DeviceMatrix<T>::bytes(border + m, border + n) + Lines<T>::bytes(kind, m, n) +
           DeviceMatrix<T>::bytes(k, n) + DeviceMatrix<T>::bytes(m, nb) +
           DeviceMatrix<T>::bytes(nb, k) + GivenReflectors<T>::bytes(nb);
  }

  void run(Index& committed) {
    const std::vector<Range> pieces = pieces_from_the_right();
    Transfer transfer(device_, options_.threads, committed);
    for (const Range& j : blocks_) given().add_upload(transfer, {j.first, m_}, j, Part::lower);
    for (const Range& j : pieces) lines_.add_whole_download(transfer, j);
    transfer.start();
    reflectors_.prepare(*queue_);
    set_zero(*queue_, s_.view());
    if (border_ > 0) make_border();
    Uploads uploads(transfer, *queue_, blocks_);
    for (const Range& j : blocks_) {
      uploads.before(j);
      given().arrive(*queue_, {j.first, m_}, j);
      reflectors_.complete(*queue_, v_, j);
      set_zero(*queue_, V({0, j.first}, j));
      extend_s(j);
    }
    for (std::size_t b = blocks_.size(); b > 0; --b) solve_rows(blocks_[b - 1]);
    Index released = 0;
    for (const Range& j : column_blocks_from_the_right()) {
      make_columns(j);
      const Range in_q = {border_ + j.first, border_ + j.last};
      lines_.leave(*queue_, in_q);
      for (; released < size(pieces) && pieces[at(released)].first >= in_q.first; ++released) {
        transfer.release(*queue_, released);
      }
    }
    if (border_ > 0) transfer.release(*queue_, released);
    transfer.finish();
  }

 private:
  static Index size(const std::vector<Range>& list) { return static_cast<Index>(list.size()); }
  /// From where reflectors come.
  const Lines<T>& given() const { return given_ ? *given_ : lines_; }
  DeviceView<T> V(Range i, Range j) const { return v_.block(i, j); }
  DeviceView<T> S(Range i, Range j) const { return s_.view().block(i, j); }
  DeviceView<T> M(Range i, Range j) const { return s_.view().block(i, j); }

  /// Those of reflectors, and behind them those that have none.
  std::vector<Range> column_blocks_from_the_right() const {
    std::vector<Range> blocks = blocks_;
    for (const Range& j : partition(Range{k_, n_}, nb_)) blocks.push_back(j);
    std::reverse(blocks.begin(), blocks.end());
    return blocks;
  }
  /// Of Q, as they go home. Each waits in staging memory until all of it is there.
  std::vector<Range> pieces_from_the_right() const {
    constexpr Index kElements = Index{1} << 19, kColumns = 64;  // at most
    const Index most = std::clamp<Index>(kElements / m_, 1, kColumns);
    std::vector<Range> pieces;
    for (const Range& j : column_blocks_from_the_right()) {
      const auto within = lines_.pieces({border_ + j.first, border_ + j.last}, most);
      pieces.insert(pieces.end(), within.rbegin(), within.rend());
    }
    if (border_ > 0) pieces.push_back({0, border_});
    return pieces;
  }
  /// Parts of a trapezoid in which what is known to be zero is multiplied like the rest.
  std::vector<Range> parts(Range all) const {
    constexpr Index kParts = 8;
    return partition(all, round_up(quotient_up(std::max<Index>(all.size(), 1), kParts), nb_));
  }

  void make_border() const {
    set_zero(*queue_, q_.view().block(0, 0, 1, q_.view().cols));
    set_zero(*queue_, q_.view().column(0));
    reflectors_.set_ones(*queue_, q_.view().block(0, 0, 1, 1));
  }

  /// Columns j of S, and what they hold below its diagonal.
  void extend_s(Range j) const {
    const Range on = {j.first, m_}, upto = {0, j.last};
    queue_->enqueue(
        Gemm<T>{Op::conj_trans, Op::none, T(1), V(on, upto), V(on, j), T(0), S(upto, j)});
    reflectors_.set_diagonal(*queue_, S(j, j), j);
  }

  /// Rows i of M, in place of those of S, when the ones below are there:
  ///
  ///   M(i, :) := S(i, i)^-1 (V1(:, i)^H - S(i, l) M(l, :))   for the rows l below
  void solve_rows(Range i) const {
    const Range on = {i.first, n_}, with = {i.first, k_};
    const DeviceView<T> s = rows_.view().block(0, 0, i.size(), with.size());
    queue_->copy<T>(s, S(i, with));
    queue_->enqueue(Copy<T>{Op::conj_trans, V(on, i), M(i, on)});
    for (const Range& j : parts({i.last, n_})) {
      const Range below = {i.last, std::min(j.last, k_)};
      queue_->enqueue(Gemm<T>{Op::none, Op::none, T(-1),
                              s.block({0, i.size()}, {i.size(), below.last - i.first}), M(below, j),
                              T(1), M(i, j)});
    }
    queue_->enqueue(Trsm<T>{Side::left, Uplo::upper, Op::none, Diag::non_unit, T(1),
                            s.block(0, 0, i.size(), i.size()), M(i, on)});
  }

  /// Columns j of Q, in place of those of V, of which a copy is made:
  ///
  ///   Q(:, j) := E(:, j) - V(:, l) M(l, j)   for the columns l up to j
  void make_columns(Range j) const {
    const Range all = {0, m_}, on = {j.first, m_}, left = {0, std::min(j.first, k_)};
    const DeviceView<T> x = V(all, j);
    const bool has_reflectors = j.first < k_;
    const DeviceView<T> v = columns_.view().block(0, 0, on.size(), j.size());
    if (has_reflectors) queue_->copy<T>(v, V(on, j));
    set_zero(*queue_, x);
    reflectors_.set_ones(*queue_, V(on, j));
    for (const Range& i : parts(all)) {
      const Range l = {0, std::min(left.last, i.last)};
      queue_->enqueue(
          Gemm<T>{Op::none, Op::none, T(-1), V(i, l), M(l, j), T(1), x.block(i, {0, j.size()})});
    }
    if (has_reflectors) {
      queue_->enqueue(Gemm<T>{Op::none, Op::none, T(-1), v, M(j, j), T(1), V(on, j)});
    }
  }

  Device& device_;
  const Options& options_;
  const Index border_, m_, n_, k_, nb_;
  const std::vector<Range> blocks_;  // of reflectors
  const DeviceMatrix<T> q_;
  const DeviceView<T> v_;          // without the border
  const Lines<T> lines_;           // between A and Q
  std::optional<Lines<T>> given_;  // from A to V, if there is a border
  const DeviceMatrix<T> s_;
  const DeviceMatrix<T> columns_, rows_;  // copies of a block of V, and of S
  const GivenReflectors<T> reflectors_;
  const QueueLease queue_;
};

}  // namespace

template <class T>
void orgqr(Device& device, const Options& options, Reflectors kind, HostView<T> a,
           HostView<const T> tau, Index& committed) {
  ColumnsOfQ<T>(device, options, kind, a, tau).run(committed);
}

template <class T>
void orgtr(Device& device, const Options& options, HostView<T> a, HostView<const T> tau,
           Index& committed) {
  ColumnsOfQ<T>(device, options, Reflectors::columns, a, tau, 1).run(committed);
}

template <class T>
std::size_t orgtr_bytes(const Options& options, Index n) {
  return ColumnsOfQ<T>::bytes(options.nb, Reflectors::columns, n - 1, n - 1, n - 1, 1);
}

template <class T>
std::size_t orgqr_bytes(const Options& options, Reflectors kind, Index m, Index n, Index k) {
  return ColumnsOfQ<T>::bytes(options.nb, kind, order_of(kind, m, n), lines_of(kind, m, n), k);
}

#define OVERLAPACK_INSTANTIATE(T)                                                             \
  template void orgqr<T>(Device&, const Options&, Reflectors, HostView<T>, HostView<const T>, \
                         Index&);                                                             \
  template void orgtr<T>(Device&, const Options&, HostView<T>, HostView<const T>, Index&);    \
  template std::size_t orgtr_bytes<T>(const Options&, Index);                                 \
  template std::size_t orgqr_bytes<T>(const Options&, Reflectors, Index, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
