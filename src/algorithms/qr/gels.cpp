#include "algorithms/qr/gels.hpp"

#include <algorithm>

#include "algorithms/qr/flow.hpp"
#include "algorithms/qr/operand_sizes.hpp"
#include "algorithms/qr/textbook.hpp"
#include "algorithms/shared/substitution.hpp"
#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

/// The blocks of A behind B, which is upload 0.
template <class T>
class GelsFlow final : public QrFlow<T> {
 public:
  GelsFlow(Transfer& transfer, const Qr<T>& qr, const Lines<T>& lines, bool on_device,
           DeviceView<T> b, const OperandSizes<T>& sizes)
      : QrFlow<T>(transfer, qr, lines, on_device, 1),
        transfer_(transfer),
        qr_(qr),
        b_(b),
        sizes_(sizes) {}

  bool before(Queue& queue, Index b) override {
    if (b == 0) {
      transfer_.before(queue, 0);
      sizes_.find_of_b(queue, b_);
    }
    const bool goes_on = QrFlow<T>::before(queue, b);
    const DeviceView<T> a = qr_.matrix();
    sizes_.find_of_block(queue, a.block({0, a.rows}, qr_.blocks()[at(b)]), b);
    return goes_on;
  }

 private:
  Transfer& transfer_;
  const Qr<T>& qr_;
  const DeviceView<T> b_;
  const OperandSizes<T>& sizes_;
};

template <class T>
class LeastSquares {
 public:
  LeastSquares(Device& device, const Options& options, Op op, HostView<T> a, T* tau, HostView<T> b)
      : device_(device),
        options_(options),
        op_(op),
        a_(a),
        b_(b),
        tau_(tau),
        groups_(groups_of(device, b.cols)),
        rhs_(device, a.rows, b.cols),
        reflection_(device, std::min(options.nb, a.cols), groups_.front().size()),
        solve_with_r_(device, Uplo::upper, Diag::non_unit),
        sizes_(device, quotient_up(a.cols, std::min(options.nb, a.cols))),
        qr_(device, options, a.rows, a.cols) {}
  static std::size_t bytes(Device& device, const Options& options, Index m, Index n, Index nrhs) {
    const Index columns = nrhs > 0 ? groups_of(device, nrhs).front().size() : 0;
    return Qr<T>::bytes(device, options, m, n) + DeviceMatrix<T>::bytes(m, nrhs) +
           Reflection<T>::bytes(std::min({options.nb, m, n}), columns) +
           Substitution<T>::bytes(device, n, columns);
  }

  Index run(Index& committed) {
    const bool on_device = device_.kind_of(a_.data) == MemoryKind::device;
    const Lines<T> lines(device_, cpu::Reflectors::columns, a_, qr_.matrix());
    Transfer transfer(device_, options_.threads, committed);
    GelsFlow<T> flow(transfer, qr_, lines, on_device, given(rhs_.view()), sizes_);
    transfer.add_upload(make_region<T>(given(b_), given(rhs_.view())));
    flow.declare(tau_, [this](Index b) { return sizes_.accept(b); });
    for (const Range& group : groups_) {
      const Range all = {0, b_.rows};
      // Of a system without a solution of least norm B stays as it is.
      transfer.add_download(make_region<T>(b_.block(all, group), rhs_.view().block(all, group)),
                            [this] { return zero_ == 0 || op_ == Op::none; });
    }
    transfer.start();
    qr_.factor(flow);
    if (!transfer.stopped()) {
      qr_.queue().synchronize();
      zero_ = first_zero_on_diagonal<T>(device_, as_argument(r()));
    }
    Span span(qr_.queue(), "solve", blocks());
    Index number = blocks();
    for (const Range& group : groups_) {
      solve(rhs_.view().block({0, b_.rows}, group));
      transfer.release(qr_.queue(), number++);
    }
    span.end();
    transfer.finish();
    sizes_.require_accepted();
    return zero_;
  }

 private:
  Index blocks() const { return static_cast<Index>(qr_.blocks().size()); }
  DeviceView<T> r() const { return qr_.matrix().block(0, 0, a_.cols, a_.cols); }
  /// The rows of op(A), which B is given by.
  template <class View>
  View given(View b) const {
    return b.block(0, 0, op_ == Op::none ? a_.rows : a_.cols, b.cols);
  }

  /// Some columns of B become those of X, if R has no zero.
  void solve(DeviceView<T> b) {
    const DeviceView<T> top = b.block(0, 0, a_.cols, b.cols);
    Queue& queue = qr_.queue();
    if (op_ == Op::none) {
      // B := Q^H B, X := R^-1 B
      qr_.multiply(Op::conj_trans, reflection_, b);
      if (zero_ == 0) solve_with_r_(queue, r(), top);
    } else if (zero_ == 0) {
      // X := Q [R^-H B; 0]
      queue.enqueue(Trsm<T>{Side::left, Uplo::upper, op_, Diag::non_unit, T(1), r(), top});
      set_zero(queue, b.block(a_.cols, 0, a_.rows - a_.cols, b.cols));
      qr_.multiply(Op::none, reflection_, b);
    }
  }

  Device& device_;
  const Options& options_;
  const Op op_;
  const HostView<T> a_, b_;
  T* const tau_;
  const std::vector<Range> groups_;  // of columns of B
  const DeviceMatrix<T> rhs_;
  const Reflection<T> reflection_;
  Substitution<T> solve_with_r_;
  OperandSizes<T> sizes_;
  Index zero_ = 0;  // the first one on the diagonal of R, counted from 1
  Qr<T> qr_;
};

}  // namespace

template <class T>
Index gels(Device& device, const Options& options, Op op, HostView<T> a, T* tau, HostView<T> b,
           Index& committed) {
  if (options.textbook) return textbook_gels(device, options, op, a, tau, b);
  return LeastSquares<T>(device, options, op, a, tau, b).run(committed);
}

template <class T>
std::size_t gels_bytes(Device& device, const Options& options, Index m, Index n, Index nrhs) {
  return LeastSquares<T>::bytes(device, options, m, n, nrhs);
}

#define OVERLAPACK_INSTANTIATE(T)                                                            \
  template Index gels<T>(Device&, const Options&, Op, HostView<T>, T*, HostView<T>, Index&); \
  template std::size_t gels_bytes<T>(Device&, const Options&, Index, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
