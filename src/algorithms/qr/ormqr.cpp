#include "algorithms/qr/ormqr.hpp"

#include <algorithm>

#include "algorithms/qr/given_blocks.hpp"
#include "algorithms/qr/lines.hpp"
#include "device/buffer.hpp"
#include "transfer/transfer.hpp"

// By blocks of reflectors, Q = Q_1 Q_2 ... Q_p, with Q_b = I - V S^-1 V^H for the columns b of V
// (GivenReflectors), or with T in place of S^-1, if that is given. From the left
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
        triangles_(q.triangles),
        k_(lines_of(q.kind, q.vectors.rows, q.vectors.cols)),
        nb_(triangles_.empty() ? std::min(options.nb, k_) : triangles_.rows),
        blocks_(partition(k_, nb_)),
        groups_(partition(left_ ? c.cols : c.rows,
                          lines_of_group(left_, std::min(options.nb, k_), c.rows, c.cols))),
        V_(device, left_ ? c.rows : c.cols, k_),
        lines_(device, q.kind, q.vectors, V_.view()),
        C_(device, c.rows, c.cols),
        product_(device, V_.view(), q.tau, nb_, side, groups_.front().size()),
        queue_(device, Priority::normal, "reflectors") {
    // The other way round from the right, or without adjoints.
    if (left_ == (op_ == Op::none)) std::reverse(blocks_.begin(), blocks_.end());
  }
  static std::size_t bytes(Index nb, Reflectors kind, Side side, Index k, Index rows, Index cols,
                           Index block) {
    nb = std::min(nb, k);
    const bool left = side == Side::left;
    const Index order = left ? rows : cols;
    const Index lines = std::min(left ? cols : rows, lines_of_group(left, nb, rows, cols));
    return DeviceMatrix<T>::bytes(order, k) + Lines<T>::bytes(kind, order, k) +
           DeviceMatrix<T>::bytes(rows, cols) +
           GivenBlocks<T>::bytes(k, block > 0 ? block : nb, side, lines, block > 0);
  }

  void run(Index& committed) {
    const DeviceView<T> C = C_.view();
    Transfer transfer(device_, options_.threads, committed);
    const auto add = [&](Range lines) {
      const Region region = make_region<T>(group(c_, lines), group(C, lines));
      transfer.add_upload(region);
      // Some columns of a group of rows are of no use without the others.
      left_ ? transfer.add_download(region) : transfer.add_rows_download(region);
    };
    add(groups_.front());
    for (const Range& b : blocks_) {
      lines_.add_upload(transfer, on(b), b, Part::lower);
      if (triangles_.empty()) continue;
      transfer.add_upload(
          make_region<T>(triangles_.block({0, b.size()}, b), product_.triangle(b), Part::upper));
    }
    for (std::size_t g = 1; g < groups_.size(); ++g) add(groups_[g]);
    transfer.start();
    product_.prepare(*queue_);
    Index arrived = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      transfer.before(*queue_, arrived++);
      for (const Range& b : blocks_) {
        if (g == 0) {
          transfer.before(*queue_, arrived++);
          lines_.arrive(*queue_, on(b), b);
          if (!triangles_.empty()) transfer.before(*queue_, arrived++);
          product_.complete(*queue_, b);
        }
        product_.multiply(*queue_, op_, b, group(C, groups_[g]));
      }
      transfer.release(*queue_, static_cast<Index>(g));
    }
    transfer.finish();
  }

 private:
  /// A group of rows waits in staging memory until all of it is there.
  static Index lines_of_group(bool left, Index nb, Index rows, Index cols) {
    constexpr Index kElements = Index{1} << 22;
    return GivenBlocks<T>::columns_at_once(
        nb, left ? cols : std::clamp<Index>(kElements / cols, 1, rows));
  }
  template <class View>
  View group(View c, Range lines) const {
    return left_ ? c.block({0, c.rows}, lines) : c.block(lines, {0, c.cols});
  }

  /// The rows of columns b of V from their diagonal down.
  Range on(Range b) const { return {b.first, V_.view().rows}; }

  Device& device_;
  const Options& options_;
  const bool left_;
  const Op op_;
  const HostView<T> c_;
  const HostView<const T> triangles_;
  const Index k_, nb_;
  std::vector<Range> blocks_;  // of reflectors, in the order in which C meets them
  const std::vector<Range> groups_;
  const DeviceMatrix<T> V_;
  const Lines<T> lines_;  // of the caller's reflectors
  const DeviceMatrix<T> C_;
  const GivenBlocks<T> product_;
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
                        Index rows_of_c, Index cols_of_c, Index block) {
  return ProductWithQ<T>::bytes(options.nb, kind, side, k, rows_of_c, cols_of_c, block);
}

#define OVERLAPACK_INSTANTIATE(T)                                                          \
  template void ormqr<T>(Device&, const Options&, Side, Op, const GivenQ<T>&, HostView<T>, \
                         Index&);                                                          \
  template std::size_t ormqr_bytes<T>(const Options&, Reflectors, Side, Index, Index, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
