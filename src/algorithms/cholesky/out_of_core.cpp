#include "algorithms/cholesky/out_of_core.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/cholesky/failing_row.hpp"
#include "algorithms/cholesky/schedule.hpp"
#include "algorithms/shared/piece_ring.hpp"
#include "algorithms/shared/split.hpp"
#include "algorithms/solve/out_of_core.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// How a slab is factored: its diagonal is not the caller's, by which residues are scaled, all of
/// its rows are there, and split operands of its size would make it narrower.
Options options_of_slab(Options options) {
  options.residues = options.split = false;
  options.leading = 0;
  return options;
}

/// The blocks of a slab.
class SlabFlow final : public Flow {
 public:
  /// `uploads`: of the blocks. `updated`: reached when the slab has seen all columns before it;
  /// null if there are none.
  SlabFlow(Transfer& transfer, const std::vector<Index>& uploads, Event* updated)
      : transfer_(transfer), uploads_(uploads), updated_(updated) {}
  bool before(Queue& queue, Index p) override {
    if (updated_ == nullptr) return transfer_.before(queue, uploads_[at(p)]);
    queue.wait(*updated_);
    return !transfer_.stopped();
  }
  void release(Queue& queue, Index p) override { transfer_.release(queue, p); }

 private:
  Transfer& transfer_;
  const std::vector<Index>& uploads_;
  Event* const updated_;
};

/// One slab of the factorization: columns S of L, and all rows from the diagonal on.
template <class T>
class Slab {
 public:
  Slab(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo, HostView<T> a,
       Range S);
  /// Of device memory, for a slab with so many rows and columns.
  static std::size_t bytes(Device& device, const Options& options, Uplo uplo, Index rows,
                           Index columns) {
    const Index passing = ring_columns<T>(options, rows);
    return Cholesky<T>::bytes(device, options_of_slab(options), uplo, columns, rows - columns) +
           Subtraction<T>::bytes(device, options, columns, rows, passing) +
           (uplo == Uplo::lower
                ? PieceRing<T>::bytes(rows, passing)
                : PieceRing<T>::bytes(passing, rows) + DeviceMatrix<T>::bytes(columns, passing));
  }

  /// Returns LAPACK's info.
  Index factor(Index& committed);

 private:
  void declare(Transfer& transfer);
  void update(Transfer& transfer);
  void apply(Index piece, Range J);
  void subtract(DeviceView<const T> L2, DeviceView<const T> L1, DeviceView<T> a);
  void leave_failing(Index info);
  /// Rows i and columns j of L as the caller has them, and of the slab on the device.
  HostView<T> home(Range i, Range j) const { return triangle_.block(a_, i, j); }
  DeviceView<T> here(DeviceView<T> of, Range i, Range j) const {
    const Index s = S_.first;
    return triangle_.block(of, {i.first - s, i.last - s}, {j.first - s, j.last - s});
  }

  Device& device_;
  const cpu::Lapack<T>& cpu_;
  const Options options_;
  const Triangle<T> triangle_;
  const HostView<T> a_;
  const Range S_, below_;
  const Index rows_, ring_columns_;   // of the slab, and of L that pass by at a time
  const std::vector<Range> passing_;  // columns before the slab
  PieceRing<T> ring_;
  std::vector<Index> uploads_;  // of blocks
  const Subtraction<T> subtract_;
  std::optional<DeviceMatrix<T>> adjoint_;  // of a piece of an upper triangle, above the slab
  Cholesky<T> cholesky_;
  EventLease updated_;
  QueueLease queue_;
};

template <class T>
PieceRing<T> make_ring(Device& device, Uplo uplo, Index rows, Index columns) {
  return uplo == Uplo::lower ? PieceRing<T>(device, rows, columns)
                             : PieceRing<T>(device, columns, rows);
}

template <class T>
Slab<T>::Slab(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
              HostView<T> a, Range S)
    : device_(device),
      cpu_(cpu),
      options_(options_of_slab(options)),
      triangle_{{uplo}, device.kernels<T>()},
      a_(a),
      S_(S),
      below_{S.last, a.rows},
      rows_(a.rows - S.first),
      ring_columns_(ring_columns<T>(options, rows_)),
      passing_(partition(S.first, ring_columns_)),
      ring_(make_ring<T>(device, uplo, rows_, ring_columns_)),
      subtract_(device, options, S.size(), rows_, ring_columns_),
      cholesky_(device, cpu, options_, uplo, S.size(), below_.size()),
      updated_(device),
      queue_(device, Priority::normal, "slab") {
  if (!triangle_.lower()) adjoint_.emplace(device, S.size(), ring_columns_);
}

template <class T>
Index Slab<T>::factor(Index& committed) {
  Transfer transfer(device_, options_.threads, committed);
  declare(transfer);
  transfer.start();
  const bool first = passing_.empty();
  if (!first) update(transfer);
  SlabFlow flow(transfer, uploads_, first ? nullptr : &*updated_);
  cholesky_.factor(flow);
  transfer.finish();
  const Index info = first_failure(cholesky_.info());
  if (info == 0) return 0;
  leave_failing(info);
  return S_.first + info;
}

/// Declares what comes and goes: the blocks of the slab, with all rows, and what passes by. The
/// blocks come behind the first pieces.
template <class T>
void Slab<T>::declare(Transfer& transfer) {
  const Part part = part_of(triangle_.uplo);
  const Index* info = cholesky_.info().data();
  ring_.begin(transfer);
  const auto add_pieces = [&](Index end) {
    while (ring_.count() < std::min(end, static_cast<Index>(passing_.size()))) {
      ring_.add(home({S_.first, a_.rows}, passing_[at(ring_.count())]));
    }
  };
  add_pieces(PieceRing<T>::kPlaces);
  for (const Range& j : partition(S_, options_.nb)) {
    const Range rows{j.first, a_.rows};
    uploads_.push_back(transfer.add_upload(
        make_region<T>(home(rows, j), here(cholesky_.matrix(), rows, j), part)));
    transfer.add_download(make_region<T>(home(rows, j), here(cholesky_.matrix(), rows, j), part),
                          [of_block = info++] { return *of_block == 0; });
  }
  add_pieces(static_cast<Index>(passing_.size()));
}

/// Subtracts what all columns before the slab contribute. The first pieces are applied block by
/// block, as the slab arrives, and the others to all of it.
template <class T>
void Slab<T>::update(Transfer& transfer) {
  const std::vector<Range> blocks = partition(S_, options_.nb);
  const Index first = std::min(ring_.count(), PieceRing<T>::kPlaces);
  for (std::size_t p = 0; p < blocks.size(); ++p) {
    transfer.before(*queue_, uploads_[p]);
    for (Index q = 0; q < first; ++q) apply(q, blocks[p]);
  }
  for (Index q = 0; q < ring_.count(); ++q) {
    if (q >= first) apply(q, S_);
    ring_.pass(*queue_, q);
  }
  queue_->record(*updated_);
}

/// Applies a piece of L to columns J of the slab and the rows from the diagonal on.
template <class T>
void Slab<T>::apply(Index piece, Range J) {
  const DeviceView<T> A = cholesky_.matrix(), L = ring_.before(*queue_, piece);
  const Range k{0, passing_[at(piece)].size()}, below{J.last, a_.rows};
  const auto rows_of_piece = [&](Range i) {
    return triangle_.block(L, {i.first - S_.first, i.last - S_.first}, k);
  };
  const DeviceView<T> L1 = rows_of_piece(J), L2 = rows_of_piece(below);
  // A(J, J) := A(J, J) - L1 L1^H
  queue_->enqueue(
      Herk<T>{triangle_.uplo, triangle_.direct(), Real<T>(-1), L1, Real<T>(1), here(A, J, J)});
  // A(below, J) := A(below, J) - L2 L1^H
  subtract(L2, L1, here(A, below, J));
}

/// A := A - L2 L1^H, as they are stored.
template <class T>
void Slab<T>::subtract(DeviceView<const T> L2, DeviceView<const T> L1, DeviceView<T> a) {
  if (a.empty()) return;
  if (triangle_.lower()) {
    subtract_.by_rows(*queue_, L1, L2, a);
    return;
  }
  const DeviceView<T> adjoint = adjoint_->view().block(0, 0, L1.cols, L1.rows);
  queue_->enqueue(Copy<T>{Op::conj_trans, L1, adjoint});
  subtract_(*queue_, adjoint, L2, a);
}

/// What LAPACK leaves if pivot `info` of the slab is not positive: all before it in its block,
/// which has not come home, and its row.
template <class T>
void Slab<T>::leave_failing(Index info) {
  const Index k = S_.first + info - 1;
  const Range good{k - (info - 1) % options_.nb, k};
  Queue& queue = cholesky_.panel();
  bring_triangle_home<T>(device_, queue, triangle_, here(cholesky_.matrix(), good, good),
                         home(good, good));
  complete_failing_row(device_, cpu_, queue, triangle_, a_, good.first, k);
}

/// The columns of a slab with so many rows, 0 if not even one block fits.
template <class T>
Index slab_columns(Device& device, const Options& options, Uplo uplo, Index rows) {
  return most_columns(options.nb, rows, [&](Index columns) {
    const double least = sizeof(T) * static_cast<double>(rows) * static_cast<double>(columns);
    return !beyond_memory(options, least) &&
           Slab<T>::bytes(device, options, uplo, rows, columns) <= options.memory;
  });
}

}  // namespace

template <class T>
Index posv_out_of_core(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
                       HostView<T> a, HostView<T> b, Index& committed) {
  const Index n = a.rows;
  for (Range S; S.last < n;) {
    device.release_idle_memory();  // of the slab before, of another shape
    const Index columns = slab_columns<T>(device, options, uplo, n - S.last);
    if (columns == 0) throw OutOfDeviceMemory("too little device memory is free");
    S = {S.last, S.last + columns};
    const Index info = Slab<T>(device, cpu, options, uplo, a, S).factor(committed);
    if (info != 0) return info;
  }
  if (b.empty()) return 0;
  device.release_idle_memory();
  potrs_out_of_core<T>(device, options, uplo, a, b, committed);
  return 0;
}

template <class T>
Index cholesky_slab_columns(Device& device, const Options& options, Index n) {
  const Index columns = std::min(slab_columns<T>(device, options, Uplo::lower, n),
                                 slab_columns<T>(device, options, Uplo::upper, n));
  return columns_pay(options, columns, n) ? columns : 0;
}

#define OVERLAPACK_INSTANTIATE(T)                                                          \
  template Index posv_out_of_core<T>(Device&, const cpu::Lapack<T>&, const Options&, Uplo, \
                                     HostView<T>, HostView<T>, Index&);                    \
  template Index cholesky_slab_columns<T>(Device&, const Options&, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
