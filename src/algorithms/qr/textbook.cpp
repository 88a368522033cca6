#include "algorithms/qr/textbook.hpp"

#include <algorithm>

#include "algorithms/qr/lines.hpp"
#include "algorithms/qr/operand_sizes.hpp"
#include "algorithms/shared/round_trip.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

using cpu::Reflectors;

template <class T>
std::vector<QrParts<T>> textbook_qr(QrOperations<T>& with, DeviceView<T> a, Index nb) {
  const Kernels<T>& kernels = with.queue.device().template kernels<T>();
  const Index steps = std::min(a.rows, a.cols);
  std::vector<QrParts<T>> parts;
  Index b = 0;
  for (Index k = 0; k < steps; k += b) {
    b = std::min({nb, kernels.geqrf_panel_width(a.rows - k), steps - k});
    parts.emplace_back(a, k, b);
    householder_step(with, parts.back());
  }
  return parts;
}

namespace {

/// A and its factors on the device. Of LQ, the adjoint of A is factored.
template <class T>
class TextbookQr {
 public:
  /// For products of up to nb reflectors with up to so many columns.
  TextbookQr(Device& device, Reflectors kind, Index m, Index n, Index nb, Index columns)
      : rows_(kind == Reflectors::rows),
        k_(std::min(m, n)),
        matrix_(device, m, n),
        adjoint_(device, rows_ ? n : 0, rows_ ? m : 0),
        v_(device, order_of(kind, m, n), k_),
        t_(device, nb, k_),
        staged_tau_(device, Space::host, k_),
        reflection_(device, nb, columns),
        queue_(device, Priority::normal, "textbook") {}

  Queue& queue() const { return *queue_; }
  QrOperations<T> operations() const {
    return {*queue_, {staged_tau_.data(), k_}, v_.view(), t_.view(), reflection_};
  }
  /// What is factored by columns.
  DeviceView<T> x() const { return rows_ ? adjoint_.view() : matrix_.view(); }

  void bring(HostView<T> a) const {
    matrix_.bring(*queue_, a);
    if (rows_) queue_->enqueue(Copy<T>{Op::conj_trans, matrix_.view(), x()});
  }
  void fetch(HostView<T> a) const {
    if (rows_) queue_->enqueue(Copy<T>{Op::conj_trans, x(), matrix_.view()});
    matrix_.fetch(*queue_, a);
  }
  /// Writes A's factors to the caller's memory, once the host has waited for fetch().
  void put(HostView<T> a, T* tau) const {
    matrix_.put(*queue_, a);
    if (tau != nullptr) std::copy_n(staged_tau_.data(), k_, tau);
  }

 private:
  const bool rows_;
  const Index k_;
  const RoundTrip<T> matrix_;
  const DeviceMatrix<T> adjoint_, v_, t_;
  const Buffer<T> staged_tau_;
  const Reflection<T> reflection_;
  const QueueLease queue_;
};

}  // namespace

template <class T>
void textbook_geqrf(Device& device, const Options& options, Reflectors kind, HostView<T> a,
                    T* tau) {
  const TextbookQr<T> qr(device, kind, a.rows, a.cols, options.nb, lines_of(kind, a.rows, a.cols));
  QrOperations<T> with = qr.operations();

  qr.bring(a);
  textbook_qr(with, qr.x(), options.nb);
  qr.fetch(a);
  qr.queue().synchronize();

  qr.put(a, tau);
}

template <class T>
Index textbook_gels(Device& device, const Options& options, Op op, HostView<T> a, T* tau,
                    HostView<T> b) {
  const Index m = a.rows, n = a.cols;
  const RoundTrip<T> rhs(device, m, b.cols);
  OperandSizes<T> sizes(device, 1);
  const TextbookQr<T> qr(device, Reflectors::columns, m, n, options.nb, std::max(n, b.cols));
  QrOperations<T> with = qr.operations();
  Queue& queue = qr.queue();
  const DeviceView<T> A = qr.x(), B = rhs.view(), R = A.block(0, 0, n, n);
  const DeviceView<T> top = B.block(0, 0, n, B.cols), below = B.block(n, 0, m - n, B.cols);

  qr.bring(a);
  rhs.bring(queue, b);
  sizes.find_of_b(queue, op == Op::none ? B : top);
  sizes.find_of_block(queue, A, 0);
  queue.synchronize();
  sizes.accept(0);
  sizes.require_accepted();

  // A = Q R
  const std::vector<QrParts<T>> steps = textbook_qr(with, A, options.nb);
  qr.fetch(a);
  queue.synchronize();
  const Index zero = first_zero_on_diagonal<T>(device, as_argument(R));
  const auto multiply = [&](const QrParts<T>& step, Op by) {
    with.reflect(step, B.block({step.k, m}, {0, B.cols}), by);
  };
  if (op == Op::none) {
    // B := Q^H B
    for (const QrParts<T>& step : steps) multiply(step, Op::conj_trans);
  }
  if (zero == 0) {
    // X := R^-1 B, or R^-H B
    queue.enqueue(Trsm<T>{Side::left, Uplo::upper, op, Diag::non_unit, T(1), R, top});
  }
  if (zero == 0 && op != Op::none) {
    // X := Q [X; 0]
    set_zero(queue, below);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) multiply(*step, Op::none);
  }
  rhs.fetch(queue, b);
  queue.synchronize();

  qr.put(a, tau);
  if (zero == 0 || op == Op::none) rhs.put(queue, b);  // else B stays as it is
  return zero;
}

#define OVERLAPACK_INSTANTIATE(T)                                                          \
  template std::vector<QrParts<T>> textbook_qr<T>(QrOperations<T>&, DeviceView<T>, Index); \
  template void textbook_geqrf<T>(Device&, const Options&, Reflectors, HostView<T>, T*);   \
  template Index textbook_gels<T>(Device&, const Options&, Op, HostView<T>, T*, HostView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
