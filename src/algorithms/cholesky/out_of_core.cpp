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

/// The blocks of a slab, which are uploads and downloads of the same numbers.
class SlabFlow final : public Flow {
 public:
  /// `updated`: reached when the slab has seen all columns before it; null if there are none.
  SlabFlow(Transfer& transfer, Event* updated) : transfer_(transfer), updated_(updated) {}
  bool before(Queue& queue, Index p) override {
    if (updated_ == nullptr) return transfer_.before(queue, p);
    queue.wait(*updated_);
    return !transfer_.stopped();
  }
  void release(Queue& queue, Index p) override { transfer_.release(queue, p); }

 private:
  Transfer& transfer_;
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
  void update();
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
  if (!first) {
    for (Index p = 0; p < static_cast<Index>(cholesky_.pieces().size()); ++p) {
      transfer.before(*queue_, p);
    }
    update();
    queue_->record(*updated_);
  }
  SlabFlow flow(transfer, first ? nullptr : &*updated_);
  cholesky_.factor(flow);
  transfer.finish();
  const Index info = first_failure(cholesky_.info());
  if (info == 0) return 0;
  leave_failing(info);
  return S_.first + info;
}

/// Declares what comes and goes: the blocks of the slab, with all rows, and what passes by.
template <class T>
void Slab<T>::declare(Transfer& transfer) {
  const Part part = part_of(triangle_.uplo);
  const Index* info = cholesky_.info().data();
  for (const Range& j : partition(S_, options_.nb)) {
    const Range rows{j.first, a_.rows};
    transfer.add_upload(make_region<T>(home(rows, j), here(cholesky_.matrix(), rows, j), part));
    transfer.add_download(make_region<T>(home(rows, j), here(cholesky_.matrix(), rows, j), part),
                          [of_block = info++] { return *of_block == 0; });
  }
  ring_.begin(transfer);
  for (const Range& k : passing_) ring_.add(home({S_.first, a_.rows}, k));
}

/// Subtracts what all columns before the slab contribute.
template <class T>
void Slab<T>::update() {
  const DeviceView<T> A = cholesky_.matrix();
  for (std::size_t q = 0; q < passing_.size(); ++q) {
    const Index number = static_cast<Index>(q);
    const Range k{0, passing_[q].size()};
    const DeviceView<T> L = ring_.before(*queue_, number);
    const DeviceView<T> L1 = triangle_.block(L, {0, S_.size()}, k),
                        L2 = triangle_.block(L, {S_.size(), rows_}, k);
    // A(S, S) := A(S, S) - L1 L1^H
    queue_->enqueue(
        Herk<T>{triangle_.uplo, triangle_.direct(), Real<T>(-1), L1, Real<T>(1), here(A, S_, S_)});
    // A(below, S) := A(below, S) - L2 L1^H
    subtract(L2, L1, here(A, below_, S_));
    ring_.pass(*queue_, number);
  }
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
