#include "algorithms/cholesky.hpp"

#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

/// In a large matrix that comes from the host the first blocks, so many of them, are applied ahead:
/// they keep the device busy while the link is behind.
constexpr Index kAheadBlocks = 6;

/// Rows of L are padded to a multiple of this: products of odd shapes take up to 12 % longer.
constexpr Index kRowPadding = 64;

/// LAPACK takes the imaginary parts of the diagonal for zero, whatever they are. The kernels for
/// panels do, too, but in a complex product a NaN there would reach the real parts.
template <class T>
void clear_imaginary_diagonal(Queue& queue, DeviceView<T> diagonal) {
  if constexpr (is_complex<T>) {
    // An array of complex numbers may be accessed as one of real numbers ([complex.numbers]).
    Real<T>* const imaginary = reinterpret_cast<Real<T>*>(diagonal.data) + 1;
    queue.zero(imaginary, sizeof(T) * at(diagonal.ld + 1), sizeof(Real<T>), at(diagonal.rows));
  }
}

}  // namespace

template <class T>
Cholesky<T>::Cholesky(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
                      Index n, Index nrhs, bool from_host)
    : cpu_(cpu),
      triangle_{uplo, device.kernels<T>()},
      n_(n),
      nrhs_(nrhs),
      rows_(round_up(n + nrhs, kRowPadding)),
      blocks_(partition(n, options.nb)),
      panel_width_(2 * options.nb),
      hybrid_(options.hybrid),
      work_(matrix(device)),
      factor_(matrix(device)),
      info_(device, Space::device, count()),
      long_sums_(device, options, triangle_, factor_.view(), n),
      updates_(device, options, triangle_, factor_.view(), rows_),
      update_space_(updates_.workspace(device, n, std::min(options.nb, n))),
      ahead_panels_(
          from_host && !long_sums_.used() && n >= kManyBlocks * options.nb ? kAheadBlocks / 2 : 0),
      prepared_(device),
      diagonal_arrived_(device) {
  for (Index j = 0; j < count(); ++j) final_.emplace_back(device);
  for (Index p = 0; ahead_panels_ > 0 && p * panel_width_ < n; ++p) {
    applied_ahead_.emplace_back(device);
  }
  if (hybrid_) {
    const Index nb = std::min(options.nb, n);
    diagonal_ = Buffer<T>(device, Space::host, nb * nb);
    block_info_ = Buffer<Index>(device, Space::host, 1);
  }
  panel_ = std::make_unique<QueueLease>(device, Priority::high, "panel");
  update_ = std::make_unique<QueueLease>(device, Priority::normal, "update");
  if (ahead_panels_ > 0) {
    ahead_space_ = updates_.workspace(device, panel_width_, panel_width_);
    ahead_ = std::make_unique<QueueLease>(device, Priority::low, "ahead");
  }
  panel().zero(info_.data(), sizeof(Index) * at(count()));
}

template <class T>
void Cholesky<T>::factor(Flow& flow) {
  bool going = prepare(0, flow);
  for (Index j = 0; going && j < count(); ++j) {
    going = step(j, flow);
    flow.release(panel(), j);
  }
}

/// Everything that makes block j final, and what the next block does not need it for. False if the
/// work is to stop.
template <class T>
bool Cholesky<T>::step(Index j, Flow& flow) {
  const bool last = j + 1 == count();
  bool going = true;
  panel().wait(*prepared_);
  Span span(panel(), "panel", j);
  if (j >= 1) subtract(panel(), rows_from(j), block(j), block(j - 1));
  if (hybrid_) {
    fetch_diagonal(block(j));
    if (!last) going = prepare(j + 1, flow);  // the device works while the CPU factors
    factor_diagonal_on_cpu(j);
    solve_below(block(j));
  } else {
    factor_columns(j, block(j));
  }
  updates_.append(panel(), block(j));
  span.end();
  panel().record(final(j));
  apply_ahead(j);
  if (!hybrid_ && !last) going = prepare(j + 1, flow);
  return going;
}

/// W(i, j) := beta W(i, j) - L(i, k) L(j, k)^H for few columns or rows.
template <class T>
void Cholesky<T>::subtract(Queue& queue, Range i, Range j, Range k, T beta) {
  triangle_.subtract(queue, factor(i, k), factor(j, k), beta, work(i, j));
}

/// W(j:, j) := beta W(j:, j) - L(j:, k) L(j, k)^H for many columns k.
template <class T>
void Cholesky<T>::subtract_all(Index j, Range k, T beta) {
  Queue& queue = **update_;
  const Span span(queue, "update", j);
  if (!long_sums_.pay(rows_of_a(j), block(j), k)) {
    updates_.subtract(queue, update_space_, rows_from(j), block(j), k, real(beta),
                      work(rows_from(j), block(j)));
    return;
  }
  long_sums_.subtract(queue, rows_of_a(j), block(j), k, beta, work(rows_of_a(j), block(j)));
  if (!rows_of_b().empty()) subtract(queue, rows_of_b(), block(j), k, beta);
}

/// All of block j that does not need block j - 1. False if the work is to stop.
template <class T>
bool Cholesky<T>::prepare(Index j, Flow& flow) {
  Queue& queue = **update_;
  if (!adds_input()) {
    if (!flow.before(queue, j)) return false;
    clear_imaginary_diagonal(queue, work(block(j), block(j)));
  }
  const Index ahead = panels_ahead_of(j);
  if (ahead > 0) queue.wait(*applied_ahead_[at(panel_of(j))]);
  const Range k = {ahead * panel_width_, j > 0 ? block(j - 1).first : 0};
  if (j >= 2) {
    queue.wait(final(j - 2));
    if (long_sums_.used()) long_sums_.append(queue, block(j - 2));
  }
  if (!k.empty()) subtract_all(j, k, T(adds_input() && ahead == 0 ? 0 : 1));
  if (adds_input()) {
    if (!flow.before(queue, j)) return false;
    clear_imaginary_diagonal(queue, factor(block(j), block(j)));
    const bool updated = ahead > 0 || !k.empty();
    triangle_.kernels.add(queue, Op::none, factor(rows_from(j), block(j)), T(updated ? 1 : 0),
                          work(rows_from(j), block(j)));
  }
  queue.record(*prepared_);
  return true;
}

/// How many panels are applied ahead to block j: none of its own and of the one before, which would
/// come too late.
template <class T>
Index Cholesky<T>::panels_ahead_of(Index j) const {
  return std::clamp<Index>(panel_of(j) - 1, 0, ahead_panels_);
}

/// Once block j is final: if it completes a panel that is applied ahead, its updates.
template <class T>
void Cholesky<T>::apply_ahead(Index j) {
  const Index p = panel_of(j);
  if (p >= ahead_panels_ || block(j).last < panel_columns(p).last) return;
  Queue& queue = **ahead_;
  queue.wait(final(j));
  const Range k = panel_columns(p);
  for (Index q = p + 2; q * panel_width_ < n_; ++q) {
    const Range columns = panel_columns(q), rows = {columns.first, rows_};
    const Span span(queue, "ahead", q);
    updates_.subtract(queue, ahead_space_, rows, columns, k, p > 0 ? 1 : 0, work(rows, columns));
    if (p + 1 == std::min(q - 1, ahead_panels_)) queue.record(*applied_ahead_[at(q)]);
  }
}

/// Columns `j` of a block column and all rows below them: recursively, down to what one kernel
/// factors.
template <class T>
void Cholesky<T>::factor_columns(Index block_number, Range j) {
  const Index width = triangle_.kernels.potrf_panel_width();
  if (j.size() <= width) {
    const Range rows = {j.first, rows_};
    triangle_.kernels.potrf_panel(panel(), triangle_.uplo, work(rows, j), factor(rows, j),
                                  {info(block_number), 1}, j.first);
    return;
  }
  const Index half = round_up(j.size() / 2, width);
  const Range left = {j.first, j.first + half}, right = {left.last, j.last};
  factor_columns(block_number, left);
  subtract(panel(), {right.first, rows_}, right, left);
  factor_columns(block_number, right);
}

// ---- the hybrid form: diagonal blocks make a round trip through the CPU LAPACK ----

template <class T>
void Cholesky<T>::fetch_diagonal(Range j) {
  panel().copy(staged_diagonal(j), DeviceView<const T>(work(j, j)));
  panel().record(*diagonal_arrived_);
}

template <class T>
void Cholesky<T>::factor_diagonal_on_cpu(Index block_number) {
  const Range j = block(block_number);
  const HostView<T> l = staged_diagonal(j);
  Queue& queue = panel();
  diagonal_arrived_->synchronize();
  const Index failed = cpu_.potrf(triangle_.uplo, l);
  *block_info_.data() = failed == 0 ? 0 : j.first + failed;
  queue.copy<T>(factor(j, j), l);
  queue.copy<Index>({info(block_number), 1}, HostView<const Index>(block_info_.data(), 1));
}

/// The rows below a diagonal block that the CPU has factored.
template <class T>
void Cholesky<T>::solve_below(Range j) {
  const Range below = {j.last, rows_};
  const DeviceView<T> x = factor(below, j);
  triangle_.kernels.add(panel(), Op::none, work(below, j), T(0), x);
  triangle_.kernels.trsm(panel(), triangle_.lower() ? Side::right : Side::left, triangle_.uplo,
                         Op::conj_trans, Diag::non_unit, T(1), factor(j, j), x);
}

#define OVERLAPACK_INSTANTIATE(T) template class Cholesky<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
