#include "algorithms/cholesky/schedule.hpp"

#include "device/timeline.hpp"

namespace overlapack::algorithms {

template <class T>
Cholesky<T>::Cholesky(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
                      Index n, Index nrhs)
    : cpu_(cpu),
      triangle_{{uplo}, device.kernels<T>()},
      n_(n),
      nrhs_(nrhs),
      rows_(round_up(n + nrhs, device.tuning().cholesky.row_multiple)),
      columns_(round_up(n, device.tuning().cholesky.column_multiple)),
      nb_(options.nb),
      pieces_(pieces_of(n, nb_, options.leading)),
      hybrid_(options.hybrid),
      lookahead_(n > device.tuning().cholesky.one_queue_up_to_order || hybrid_),
      matrix_(make_matrix(device)),
      info_(device, Space::host, quotient_up(n, nb_)),
      long_sums_(device, options, triangle_, matrix_.view(), n),
      updates_(device, options, triangle_, matrix_.view(), rows_),
      update_space_(updates_.workspace(
          device, n, round_up(std::min(nb_, n), device.tuning().cholesky.column_multiple))),
      prepared_(device),
      diagonal_arrived_(device),
      panel_(device, Priority::high, "panel") {
  for (Index p = 0; lookahead_ && p < count(); ++p) final_.emplace_back(device);
  if (hybrid_) {
    const Index order = std::min(nb_, n);
    diagonal_ = Buffer<T>(device, Space::host, order * order);
  }
  if (options.leading > 0 && !hybrid_) {
    const Index panels = panels_before(options.leading);  // which is whole blocks
    notes_ = Buffer<T>(device, Space::device, panels * triangle_.kernels.limits().potrf_notes);
  }
  if (lookahead_) update_.emplace(device, Priority::normal, "update");
  std::fill_n(info_.data(), info_.size(), Index{0});
}

template <class T>
std::size_t Cholesky<T>::bytes(Device& device, const Options& options, Uplo uplo, Index n,
                               Index nrhs) {
  const Kernels<T>& kernels = device.kernels<T>();
  const Tuning::Cholesky& tuning = device.tuning().cholesky;
  const Index rows = round_up(n + nrhs, tuning.row_multiple);
  const Index columns = round_up(n, tuning.column_multiple);
  std::size_t sum = uplo == Uplo::lower ? DeviceMatrix<T>::bytes(rows, columns)
                                        : DeviceMatrix<T>::bytes(columns, rows);
  if (options.leading > 0 && !options.hybrid) {
    const Index panels =
        panels_before(options.leading, options.nb, kernels.limits().potrf_panel_width);
    sum += Buffer<T>::bytes(panels * kernels.limits().potrf_notes);
  }
  return sum + ResidueUpdates<T>::bytes(device, options, uplo, n) +
         Updates<T>::bytes(device, options, uplo, columns, rows, 1,
                           round_up(std::min(options.nb, n), tuning.column_multiple));
}

template <class T>
void Cholesky<T>::factor(Flow& flow) {
  bool going = prepare(0, flow);
  for (Index p = 0; going && p < count(); ++p) {
    going = step(p, flow);
    flow.release(panel(), p);
  }
}

/// Everything that makes piece p final, and what the next one does not need it for. False if the
/// work is to stop.
template <class T>
bool Cholesky<T>::step(Index p, Flow& flow) {
  const bool last = p + 1 == count();
  const Range rows = all_rows(piece(p)), j = piece(p).columns;
  const Range below = {std::max(rows.first, j.last), rows.last};
  const Index number = j.first / nb_;
  bool going = true;
  if (lookahead_) panel().wait(*prepared_);
  Span span(panel(), "panel", p);
  if (!before(j).empty()) subtract(panel(), rows, j, before(j));
  if (hybrid_) {
    if (piece(p).on_diagonal()) fetch_diagonal(j);
    if (!last) going = prepare(p + 1, flow);  // the device works while the CPU factors
    if (piece(p).on_diagonal()) factor_diagonal_on_cpu(j, number);
    solve(below, j);
  } else {
    factor_columns(rows, j, number);
  }
  updates_.append(panel(), below, j);
  span.end();
  if (lookahead_) panel().record(final(p));
  if (!hybrid_ && !last) going = prepare(p + 1, flow);
  return going;
}

/// A(i, j) -= L(i, k) L(j, k)^H for few columns or rows.
template <class T>
void Cholesky<T>::subtract(Queue& queue, Range i, Range j, Range k) {
  const Range columns = all_columns(j);
  triangle_.subtract(queue, block(i, k), block(columns, k), block(i, columns));
}

/// The same for a piece and many columns k.
template <class T>
void Cholesky<T>::subtract_all(Index p, Range k) {
  Queue& queue = update();
  const Span span(queue, "update", p);
  const Range rows = piece(p).rows, all = all_rows(piece(p)), j = piece(p).columns;
  if (!long_sums_.pay(rows, j, k)) {
    const Range columns = all_columns(j);
    updates_.subtract(queue, update_space_, all, columns, k, block(all, columns));
    return;
  }
  long_sums_.subtract(queue, rows, j, k, block(rows, j));
  if (nrhs_ > 0 && all.last > n_) subtract(queue, {n_, all.last}, j, k);
}

/// All of piece p that does not need piece p - 1, or all without lookahead. False if the work is to
/// stop.
template <class T>
bool Cholesky<T>::prepare(Index p, Flow& flow) {
  Queue& queue = update();
  const Range j = piece(p).columns;
  if (!flow.before(queue, p)) return false;
  if (piece(p).on_diagonal()) clear_imaginary_diagonal(queue, block(j, j));
  if (const Index last = p - (lookahead_ ? 2 : 1); last >= 0) {
    const Piece& ready = piece(last);
    if (lookahead_) queue.wait(final(last));
    if (long_sums_.used()) long_sums_.append(queue, ready.rows, ready.columns);
  }
  if (!long_before(j).empty()) subtract_all(p, long_before(j));
  if (lookahead_) queue.record(*prepared_);
  return true;
}

/// Columns `j` of a block column, from the diagonal on or below it: recursively, down to what one
/// kernel factors.
template <class T>
void Cholesky<T>::factor_columns(Range rows, Range j, Index block_number) {
  const Index width = triangle_.kernels.limits().potrf_panel_width;
  if (j.size() <= width) {
    const DeviceView<T> a = block(rows, j);
    if (rows.first > j.first) {
      panel().enqueue(PotrfRows<T>{triangle_.uplo, notes(j), a, a});
    } else {
      panel().enqueue(
          PotrfPanel<T>{triangle_.uplo, a, a, {info_.data() + block_number, 1}, j.first, notes(j)});
    }
    return;
  }
  const Index half = round_up(j.size() / 2, width);
  const Range left = {j.first, j.first + half}, right = {left.last, j.last};
  const Range rest = {std::max(rows.first, right.first), rows.last};
  factor_columns(rows, left, block_number);
  subtract(panel(), rest, right, left);
  factor_columns(rest, right, block_number);
}

// ---- the hybrid form: diagonal blocks make a round trip through the CPU LAPACK ----

template <class T>
void Cholesky<T>::fetch_diagonal(Range j) {
  panel().copy(staged_diagonal(j), DeviceView<const T>(block(j, j)));
  panel().record(*diagonal_arrived_);
}

template <class T>
void Cholesky<T>::factor_diagonal_on_cpu(Range j, Index block_number) {
  const HostView<T> l = staged_diagonal(j);
  Queue& queue = panel();
  diagonal_arrived_->synchronize();
  const Index failed = cpu_.potrf(triangle_.uplo, l);
  if (failed != 0) info_.data()[block_number] = j.first + failed;
  queue.copy<T>(block(j, j), l);
}

/// Rows below a diagonal block that the CPU has factored.
template <class T>
void Cholesky<T>::solve(Range rows, Range j) {
  panel().enqueue(Trsm<T>{triangle_.lower() ? Side::right : Side::left, triangle_.uplo,
                          Op::conj_trans, Diag::non_unit, T(1), block(j, j), block(rows, j)});
}

#define OVERLAPACK_INSTANTIATE(T) template class Cholesky<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
