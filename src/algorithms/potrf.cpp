#include "algorithms/potrf.hpp"

#include <cmath>

#include "algorithms/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// The diagonal block's round trip through the CPU LAPACK, for the hybrid form.
template <class T>
class DiagonalOnCpu {
 public:
  DiagonalOnCpu(Device& device, const cpu::Lapack<T>& cpu, Uplo uplo, Index nb)
      : cpu_(cpu),
        uplo_(uplo),
        nb_(nb),
        arrived_(device),
        block_(device, Space::host, nb * nb),
        info_(device, Space::host, 1) {}

  void start(Queue& queue, DeviceView<const T> diagonal) {
    queue.copy(view(diagonal.rows), diagonal);
    queue.record(*arrived_);
  }
  void finish(Queue& queue, DeviceView<T> diagonal, DeviceView<Index> info, Index offset) {
    arrived_->synchronize();
    const HostView<T> block = view(diagonal.rows);
    Index failed = cpu_.potrf(uplo_, block);
    for (Index k = 0; k < block.rows && failed == 0; ++k) {
      // LAPACK reports a NaN as a pivot that is not positive; some CPU libraries let it pass.
      if (std::isnan(real(block(k, k)))) failed = k + 1;
    }
    info_.data()[0] = failed == 0 ? 0 : offset + failed;
    queue.copy<T>(diagonal, block);
    queue.copy<Index>(info, HostView<const Index>(info_.data(), 1));
  }

 private:
  HostView<T> view(Index n) const { return {block_.data(), n, n, nb_}; }
  const cpu::Lapack<T>& cpu_;
  Uplo uplo_;
  Index nb_;
  EventLease arrived_;
  Buffer<T> block_;
  Buffer<Index> info_;
};

}  // namespace

template <class T>
Index posv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
           HostView<T> a, HostView<T> b, Index& committed) {
  const Index n = a.rows;
  const bool lower = uplo == Uplo::lower;
  const std::vector<Range> blocks = partition(n, options.nb);
  const auto count = static_cast<Index>(blocks.size());
  Kernels<T>& kernels = device.kernels<T>();

  const DeviceMatrix<T> matrix(device, n, n), rhs(device, n, b.cols);
  const DeviceView<T> A = matrix.view(), B = rhs.view();
  const Buffer<Index> info(device, Space::device, count), status(device, Space::host, count);
  DiagonalOnCpu<T> diagonal_on_cpu(device, cpu, uplo, std::min(options.nb, n));
  std::vector<EventLease> final;  // final[j]: block j holds the factor
  for (Index j = 0; j < count; ++j) final.emplace_back(device);
  EventLease updated(device);
  const QueueLease panel(device, Priority::high), update(device);
  Transfer transfer(device, options.threads, committed);

  // Block j is a block column of the lower triangle or a block row of the upper one. It goes home
  // as a block column either way: a prefix of columns then is a checkpoint.
  for (Index j = 0; j < count; ++j) {
    const Index j0 = blocks[at(j)].first, j1 = blocks[at(j)].last, w = j1 - j0;
    if (lower) {
      const auto column = [&](auto x) { return x.block(j0, j0, n - j0, w); };
      transfer.add_upload(make_region<T>(column(a), column(A), Part::lower));
    } else {
      const auto row = [&](auto x) { return x.block(j0, j0, w, n - j0); };
      transfer.add_upload(make_region<T>(row(a), row(A), Part::upper));
    }
    const auto column = [&](auto x) {
      return lower ? x.block(j0, j0, n - j0, w) : x.block(0, j0, j1, w);
    };
    // A block that failed is committed up to its diagonal block, and nothing after it.
    const Index leading_rows = lower ? w : j1;
    transfer.add_download(
        make_region<T>(column(a), column(A), lower ? Part::lower : Part::upper, lower ? 0 : j0),
        {{info.data() + j, status.data() + j, sizeof(Index)}}, [&status, j, leading_rows] {
          return status.data()[j] == 0 ? Verdict{} : Verdict{leading_rows, true};
        });
  }
  if (!b.empty()) {
    transfer.add_upload(make_region<T>(b, B));
    transfer.add_download(make_region<T>(b, B));
  }
  panel->zero(info.data(), sizeof(Index) * static_cast<std::size_t>(count));
  transfer.start();

  // A(j:, j) -= A(j:, k) A(j, k)^H, or A(j, j:) -= A(k, j)^H A(k, j:), for finished columns k.
  const auto subtract = [&](Queue& queue, Index j, Range k) {
    const Index j0 = blocks[at(j)].first, w = blocks[at(j)].size();
    if (lower) {
      kernels.gemm(queue, Op::none, Op::conj_trans, T(-1), A.block(j0, k.first, n - j0, k.size()),
                   A.block(j0, k.first, w, k.size()), T(1), A.block(j0, j0, n - j0, w));
    } else {
      kernels.gemm(queue, Op::conj_trans, Op::none, T(-1), A.block(k.first, j0, k.size(), w),
                   A.block(k.first, j0, k.size(), n - j0), T(1), A.block(j0, j0, w, n - j0));
    }
  };
  // Everything that block j needs from blocks 0 .. j-2; block j-1 is still being factored.
  const auto update_early = [&](Index j) {
    if (!transfer.before(*update, j)) return;
    if (j >= 2) {
      update->wait(*final[at(j - 2)]);
      subtract(*update, j, {0, blocks[at(j - 2)].last});
    }
    update->record(*updated);
  };

  update_early(0);
  for (Index j = 0; j < count && !transfer.stopped(); ++j) {
    const Index j0 = blocks[at(j)].first, j1 = blocks[at(j)].last, w = j1 - j0;
    const DeviceView<T> diagonal = A.block(j0, j0, w, w);
    const DeviceView<Index> block_info(info.data() + j, 1);

    panel->wait(*updated);
    if (j >= 1) subtract(*panel, j, blocks[at(j - 1)]);
    if (options.hybrid) {
      diagonal_on_cpu.start(*panel, diagonal);
      if (j + 1 < count) update_early(j + 1);  // the device works while the CPU factors
      diagonal_on_cpu.finish(*panel, diagonal, block_info, j0);
    } else {
      kernels.potrf_block(*panel, uplo, diagonal, block_info, j0);
    }
    if (lower) {  // A(j+1:, j) := A(j+1:, j) L_jj^-H
      kernels.trsm(*panel, Side::right, uplo, Op::conj_trans, Diag::non_unit, T(1), diagonal,
                   A.block(j1, j0, n - j1, w));
    } else {  // A(j, j+1:) := U_jj^-H A(j, j+1:)
      kernels.trsm(*panel, Side::left, uplo, Op::conj_trans, Diag::non_unit, T(1), diagonal,
                   A.block(j0, j1, w, n - j1));
    }
    panel->record(*final[at(j)]);
    transfer.release(*panel, j);
    if (!options.hybrid && j + 1 < count) update_early(j + 1);
  }

  if (!b.empty() && !transfer.stopped() && transfer.before(*panel, count)) {
    const Op first = lower ? Op::none : Op::conj_trans;
    const Op second = lower ? Op::conj_trans : Op::none;
    kernels.trsm(*panel, Side::left, uplo, first, Diag::non_unit, T(1), A, B);
    kernels.trsm(*panel, Side::left, uplo, second, Diag::non_unit, T(1), A, B);
    transfer.release(*panel, count);
  }
  transfer.finish();
  for (Index j = 0; j < count; ++j) {
    if (status.data()[j] != 0) return status.data()[j];
  }
  return 0;
}

template <class T>
Index resume_posv(const cpu::Lapack<T>& cpu, Uplo uplo, HostView<T> a, HostView<T> b,
                  Index committed) {
  const Index n = a.rows, k = std::min(committed, n), solved = committed - k;
  Index info = 0;
  if (k < n) {
    const HostView<T> a11 = a.block(0, 0, k, k), a22 = a.block(k, k, n - k, n - k);
    if (k > 0 && uplo == Uplo::lower) {
      const HostView<T> a21 = a.block(k, 0, n - k, k);
      cpu.herk(uplo, Op::none, -1, a21, 1, a22);
    } else if (k > 0) {
      const HostView<T> a12 = a.block(0, k, k, n - k);
      cpu.trsm(Side::left, uplo, Op::conj_trans, Diag::non_unit, T(1), a11, a12);
      cpu.herk(uplo, Op::conj_trans, -1, a12, 1, a22);
    }
    info = cpu.potrf(uplo, a22);
    if (info != 0) return k + info;
  }
  if (solved < b.cols) {
    cpu.potrs(uplo, a, b.block(0, solved, n, b.cols - solved));
  }
  return info;
}

#define OVERLAPACK_INSTANTIATE(T)                                                             \
  template Index posv<T>(Device&, const cpu::Lapack<T>&, const Options&, Uplo, HostView<T>,   \
                         HostView<T>, Index&);                                                \
  template Index resume_posv<T>(const cpu::Lapack<T>&, Uplo, HostView<T>, HostView<T>, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
