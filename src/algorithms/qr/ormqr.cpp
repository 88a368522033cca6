#include "algorithms/qr/ormqr.hpp"

#include <algorithm>

#include "algorithms/qr/given_reflectors.hpp"
#include "algorithms/qr/lines.hpp"
#include "device/buffer.hpp"
#include "transfer/transfer.hpp"

// By blocks of reflectors, Q = Q_1 Q_2 ... Q_p, with Q_b = I - V S^-1 V^H for the columns b of V
// (GivenReflectors). From the left
//
//   Q_b C   = C - V S^-1 V^H C      for b = p, ..., 1
//   Q_b^H C = C - V S^-H V^H C      for b = 1, ..., p
//
// and from the right in the other order. So V goes up in the order in which its blocks are needed,
// and each of them meets C as it arrives.
//
// From the left each column of C is a problem of its own, and from the right each row. So C goes up
// and home by groups of them, all but the first of which find V complete.
//
// The Q of an LQ factorization is the adjoint of that of the adjoint of its reflectors.

namespace overlapack::algorithms {

using cpu::Reflectors;

namespace {

Op adjoint_of(Op op) { return op == Op::none ? Op::conj_trans : Op::none; }

template <class T>
class ProductWithQ {
 public:
  ProductWithQ(Device& device, const Options& options, Side side, Op op, const GivenQ<T>& q,
               HostView<T> c)
      : device_(device),
        options_(options),
        left_(side == Side::left),
        op_(q.kind == Reflectors::rows ? adjoint_of(op) : op),
        c_(c),
        nb_(std::min(options.nb, q.tau.rows)),
        blocks_(partition(q.tau.rows, nb_)),
        groups_(partition(left_ ? c.cols : c.rows, lines_of_group(left_, nb_, c.rows, c.cols))),
        V_(device, left_ ? c.rows : c.cols, q.tau.rows),
        lines_(device, q.kind, q.vectors, V_.view()),
        C_(device, c.rows, c.cols),
        S_(device, nb_, q.tau.rows),
        product_(left_ ? DeviceMatrix<T>(device, nb_, groups_.front().size())
                       : DeviceMatrix<T>(device, groups_.front().size(), nb_)),
        reflectors_(device, q.tau, nb_),
        queue_(device, Priority::normal, "reflectors") {
    // The other way round from the right, or without adjoints.
    if (left_ == (op_ == Op::none)) std::reverse(blocks_.begin(), blocks_.end());
  }
  static std::size_t bytes(Index nb, Reflectors kind, bool left, Index k, Index rows, Index cols) {
    nb = std::min(nb, k);
    const Index order = left ? rows : cols;
    const Index lines = std::min(left ? cols : rows, lines_of_group(left, nb, rows, cols));
    return DeviceMatrix<T>::bytes(order, k) + Lines<T>::bytes(kind, order, k) +
           DeviceMatrix<T>::bytes(rows, cols) + DeviceMatrix<T>::bytes(nb, k) +
           DeviceMatrix<T>::bytes(left ? nb : lines, left ? lines : nb) +
           GivenReflectors<T>::bytes(nb);
  }

  void run(Index& committed) {
    const DeviceView<T> V = V_.view(), C = C_.view();
    Transfer transfer(device_, options_.threads, committed);
    const auto add = [&](Range lines) {
      const Region region = make_region<T>(group(c_, lines), group(C, lines));
      transfer.add_upload(region);
      // Some columns of a group of rows are of no use without the others.
      left_ ? transfer.add_download(region) : transfer.add_rows_download(region);
    };
    add(groups_.front());
    for (const Range& b : blocks_) lines_.add_upload(transfer, on(b), b, Part::lower);
    for (std::size_t g = 1; g < groups_.size(); ++g) add(groups_[g]);
    transfer.start();
    reflectors_.prepare(*queue_);
    Index arrived = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      transfer.before(*queue_, arrived++);
      for (const Range& b : blocks_) {
        if (g == 0) {
          transfer.before(*queue_, arrived++);
          lines_.arrive(*queue_, on(b), b);
          reflectors_.complete(*queue_, V, b);
          make_s(b);
        }
        multiply(b, group(C, groups_[g]));
      }
      transfer.release(*queue_, static_cast<Index>(g));
    }
    transfer.finish();
  }

 private:
  /// Enough for large products. A group of rows waits in staging memory until all of it is there.
  static Index lines_of_group(bool left, Index nb, Index rows, Index cols) {
    constexpr Index kBlocks = 4, kElements = Index{1} << 22;
    return std::min(left ? cols : std::clamp<Index>(kElements / cols, 1, rows),
                    std::max<Index>(kBlocks * nb, 1));
  }
  template <class View>
  View group(View c, Range lines) const {
    return left_ ? c.block({0, c.rows}, lines) : c.block(lines, {0, c.cols});
  }

  /// The rows of columns b of V from their diagonal down; these; and their S.
  Range on(Range b) const { return {b.first, V_.view().rows}; }
  DeviceView<T> v(Range b) const { return V_.view().block(on(b), b); }
  DeviceView<T> s(Range b) const { return S_.view().block({0, b.size()}, b); }

  void make_s(Range b) const {
    queue_->enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v(b), v(b), T(0), s(b)});
    reflectors_.set_diagonal(*queue_, s(b), b);
  }

  void multiply(Range b, DeviceView<T> c) const {
    if (left_) {
      const DeviceView<T> w = product_.view().block(0, 0, b.size(), c.cols);
      const DeviceView<T> below = c.block(on(b), {0, c.cols});
      queue_->enqueue(Gemm<T>{Op::conj_trans, Op::none, T(1), v(b), below, T(0), w});
      queue_->enqueue(Trsm<T>{Side::left, Uplo::upper, op_, Diag::non_unit, T(1), s(b), w});
      queue_->enqueue(Gemm<T>{Op::none, Op::none, T(-1), v(b), w, T(1), below});
    } else {
      const DeviceView<T> w = product_.view().block(0, 0, c.rows, b.size());
      const DeviceView<T> behind = c.block({0, c.rows}, on(b));
      queue_->enqueue(Gemm<T>{Op::none, Op::none, T(1), behind, v(b), T(0), w});
      queue_->enqueue(Trsm<T>{Side::right, Uplo::upper, op_, Diag::non_unit, T(1), s(b), w});
      queue_->enqueue(Gemm<T>{Op::none, Op::conj_trans, T(-1), w, v(b), T(1), behind});
    }
  }

  Device& device_;
  const Options& options_;
  const bool left_;
  const Op op_;
  const HostView<T> c_;
  const Index nb_;
  std::vector<Range> blocks_;  // of reflectors, in the order in which C meets them
  const std::vector<Range> groups_;
  const DeviceMatrix<T> V_;
  const Lines<T> lines_;  // of the caller's reflectors
  const DeviceMatrix<T> C_, S_, product_;
  const GivenReflectors<T> reflectors_;
  const QueueLease queue_;
};

}  // namespace

template <class T>
void ormqr(Device& device, const Options& options, Side side, Op op, const GivenQ<T>& q,
           HostView<T> c, Index& committed) {
  ProductWithQ<T>(device, options, side, op, q, c).run(committed);
}

template <class T>
std::size_t ormqr_bytes(const Options& options, Reflectors kind, Side side, Index k,
                        Index rows_of_c, Index cols_of_c) {
  return ProductWithQ<T>::bytes(options.nb, kind, side == Side::left, k, rows_of_c, cols_of_c);
}

#define OVERLAPACK_INSTANTIATE(T)                                                          \
  template void ormqr<T>(Device&, const Options&, Side, Op, const GivenQ<T>&, HostView<T>, \
                         Index&);                                                          \
  template std::size_t ormqr_bytes<T>(const Options&, Reflectors, Side, Index, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
