#include "algorithms/potrf.hpp"

#include <memory>
#include <new>
#include <optional>

#include "algorithms/cholesky.hpp"
#include "algorithms/substitution.hpp"
#include "algorithms/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// The back substitution L^H X = Y that follows the factorization of [A; B^H]: its last rows are
/// Y^H = B^H L^-H.
///
/// It multiplies by the inverses of the diagonal blocks, if all of them are well conditioned. To
/// ask for that first would keep the device waiting for the host, so it is done in any case, and
/// before X goes home the conditions are looked at: hardly ever it is done again, by substitution.
template <class T>
class BackSubstitution {
 public:
  BackSubstitution(Device& device, const Cholesky<T>& cholesky)
      : cholesky_(cholesky),
        x_(device, n(), cholesky.rhs().size()),
        inverses_(device, cholesky.triangle().uplo,
                  std::min(n(), cholesky.triangle().kernels.potrf_panel_width()), n(),
                  x_.view().cols) {}

  /// Where B is to arrive, and where X appears.
  DeviceView<T> x() const { return x_.view(); }

  /// B^H := B, below A.
  void place(Queue& queue) {
    const Triangle<T>& triangle = cholesky_.triangle();
    triangle.kernels.add(queue, triangle.adjoint(), x(), T(0),
                         triangle.block(cholesky_.input(), cholesky_.rhs(), cholesky_.columns()));
  }

  /// X, if trusted(). All diagonal blocks are inverted now: to invert them one by one as they
  /// become final would take the host longer than it takes the device to invert all at once.
  void solve(Queue& queue) {
    fetch_y(queue);
    const Triangle<T>& triangle = cholesky_.triangle();
    inverses_.invert(queue, factor(), {0, n()});
    triangle.kernels.back_substitute(queue, triangle.uplo, factor(), inverses_.view({0, n()}), x(),
                                     inverses_.progress());
  }
  /// What trusted() looks at is to travel with X.
  Sidecar conditions() const {
    const Readout<Real<T>>& all = inverses_.conditions();
    return {all.there().data, all.here(), sizeof(Real<T>) * at(all.size())};
  }
  /// Whether products with the inverses are accurate (src/README.md).
  bool trusted() const { return inverses_.trusted(); }

  /// X in any case.
  void substitute(Queue& queue) {
    fetch_y(queue);
    const Triangle<T>& triangle = cholesky_.triangle();
    triangle.kernels.trsm(queue, Side::left, triangle.uplo, triangle.adjoint(), Diag::non_unit,
                          T(1), factor(), x());
  }

 private:
  Index n() const { return cholesky_.columns().size(); }
  DeviceView<const T> factor() const {
    return cholesky_.triangle().block(cholesky_.factor(), cholesky_.columns(), cholesky_.columns());
  }

  void fetch_y(Queue& queue) {
    const Triangle<T>& triangle = cholesky_.triangle();
    triangle.kernels.add(queue, triangle.adjoint(),
                         triangle.block(cholesky_.factor(), cholesky_.rhs(), cholesky_.columns()),
                         T(0), x());
  }

  const Cholesky<T>& cholesky_;
  DeviceMatrix<T> x_;
  BlockInverses<T> inverses_;
};

/// Blocks come and go by a transfer's regions of one or several blocks, and B comes with the first.
template <class T>
class RegionFlow final : public Flow {
 public:
  /// `uploads`: the number of that with each region; downloads have those of the regions. `solve`
  /// is null if there is no B.
  RegionFlow(Transfer& transfer, const Cholesky<T>& cholesky, const std::vector<Range>& regions,
             std::vector<Index> uploads, BackSubstitution<T>* solve, Index upload_of_b)
      : transfer_(transfer),
        cholesky_(cholesky),
        regions_(regions),
        uploads_(std::move(uploads)),
        solve_(solve),
        upload_of_b_(upload_of_b) {}

  bool before(Queue& queue, Index j) override {
    if (!transfer_.before(queue, uploads_[at(region_of(j))])) return false;
    if (solve_ == nullptr || j > 0) return true;
    if (!transfer_.before(queue, upload_of_b_)) return false;
    solve_->place(queue);
    return true;
  }
  void release(Queue& queue, Index j) override {
    const Index region = region_of(j);
    if (cholesky_.block(j).last == regions_[at(region)].last) transfer_.release(queue, region);
  }

 private:
  Index region_of(Index j) const { return index_of(regions_, cholesky_.block(j).first); }

  Transfer& transfer_;
  const Cholesky<T>& cholesky_;
  const std::vector<Range>& regions_;
  std::vector<Index> uploads_;
  BackSubstitution<T>* const solve_;
  Index upload_of_b_;
};

/// The factor stays where it is, for solves.
template <class T>
class CholeskyOnDevice final : public Factorization<T> {
 public:
  CholeskyOnDevice(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
                   Index n)
      : status_(device, Space::host, static_cast<Index>(partition(n, options.nb).size())),
        substitute_(device, n),
        cholesky_(device, cpu, options, uplo, n, 0, true) {}

  DeviceView<T> input() const override {
    return cholesky_.triangle().block(cholesky_.input(), cholesky_.columns(), cholesky_.columns());
  }
  Queue& queue() const override { return cholesky_.panel(); }

  void factor(Flow& flow) override {
    cholesky_.factor(flow);
    queue().template copy<Index>(HostView<Index>(status_.data(), status_.size()),
                                 DeviceView<const Index>(cholesky_.info(0), status_.size()));
  }

  /// The other triangle gets the adjoint of the factor, so that L^H, too, is a matrix whose rows
  /// lie side by side.
  void solve(DeviceView<T> b) override {
    const Triangle<T>& triangle = cholesky_.triangle();
    const DeviceView<T> factors =
        triangle.block(cholesky_.factor(), cholesky_.columns(), cholesky_.columns());
    if (!mirrored_) triangle.kernels.mirror(queue(), triangle.uplo, factors);
    mirrored_ = true;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {  // L, then L^H
      substitute_(queue(), uplo, Diag::non_unit, factors, b);
    }
  }

  Index info() const override { return first_failure(status_); }
  std::vector<Index> pivots() const override { return {}; }

 private:
  Buffer<Index> status_;
  Substitution<T> substitute_;
  Cholesky<T> cholesky_;
  bool mirrored_ = false;
};

}  // namespace

std::vector<Range> regions_of(Uplo uplo, Index n, Index nb) {
  const std::vector<Range> blocks = partition(n, nb);
  if (uplo == Uplo::lower) return blocks;
  std::vector<Range> regions;
  const Index count = static_cast<Index>(blocks.size()), widest = count < kManyBlocks ? 2 : 4;
  for (Index j = 0; j < count;) {
    const Index width = std::clamp<Index>(std::min(j, count - j) / 2, 1, widest);
    regions.push_back({blocks[at(j)].first, blocks[at(j + width - 1)].last});
    j += width;
  }
  return regions;
}

template <class T>
std::unique_ptr<Factorization<T>> make_cholesky(Device& device, const cpu::Lapack<T>& cpu,
                                                const Options& options, Uplo uplo, Index n) {
  return std::make_unique<CholeskyOnDevice<T>>(device, cpu, options, uplo, n);
}

namespace {

/// Copies the triangle of `factor` to the caller's `a`, which a fault on the way leaves as it was.
template <class T>
void bring_home_at_once(Device& device, Queue& queue, const Triangle<T>& triangle,
                        DeviceView<const T> factor, HostView<T> a) {
  if (a.empty()) return;
  const Index n = factor.rows;
  if (device.kind_of(a.data) == MemoryKind::device) {
    queue.copy<T>(on_device(a), factor, part_of(triangle.uplo));
    queue.synchronize();
    return;
  }
  const Buffer<T> staging(device, Space::host, n * n);
  const HostView<T> here(staging.data(), n, n, n);
  queue.copy(here, factor);
  queue.synchronize();
  for (Index c = 0; c < n; ++c) {
    const Index top = triangle.lower() ? c : 0, bottom = triangle.lower() ? n : c + 1;
    std::copy(&here(top, c), &here(top, c) + (bottom - top), &a(top, c));
  }
}

/// Row k of L, in whose pivot the factorization has ended, from column `from` on, and what is left
/// of that pivot. `a` holds all of L before. LAPACK leaves both, and programs look at them: SciPy's
/// minimizer "trust-exact" finds a direction of negative curvature in them.
template <class T>
void complete_failing_row(Device& device, const cpu::Lapack<T>& cpu, Queue& queue,
                          const Triangle<T>& triangle, HostView<T> a, Index from, Index k) {
  const Range row{k, k + 1}, before{0, from}, good{from, k}, all{0, k};
  const Side side = triangle.lower() ? Side::right : Side::left;
  // L(k, good) := (A(k, good) - L(k, before) L(good, before)^H) L(good, good)^-H, and the pivot.
  if (device.kind_of(a.data) == MemoryKind::device) {
    const auto l = [&](Range i, Range j) { return triangle.block(on_device(a), i, j); };
    triangle.subtract(queue, l(row, before), l(good, before), T(1), l(row, good));
    triangle.kernels.trsm(queue, side, triangle.uplo, Op::conj_trans, Diag::non_unit, T(1),
                          l(good, good), l(row, good));
    triangle.kernels.herk(queue, triangle.uplo, triangle.direct(), Real<T>(-1), l(row, all),
                          Real<T>(1), l(row, row));
    queue.synchronize();
    return;
  }
  const auto l = [&](Range i, Range j) { return triangle.block(a, i, j); };
  const HostView<T> left = l(triangle.lower() ? row : good, before),
                    right = l(triangle.lower() ? good : row, before);
  cpu.gemm(triangle.direct(), triangle.adjoint(), T(-1), left, right, T(1), l(row, good));
  cpu.trsm(side, triangle.uplo, Op::conj_trans, Diag::non_unit, T(1), l(good, good), l(row, good));
  cpu.herk(triangle.uplo, triangle.direct(), Real<T>(-1), l(row, all), Real<T>(1), l(row, row));
}

}  // namespace

template <class T>
Index posv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
           Input<T> input, HostView<T> a, HostView<T> b, Index& committed) {
  const Index n = a.rows;
  const bool from_host = device.kind_of(input.a.data) != MemoryKind::device;
  Cholesky<T> cholesky(device, cpu, options, uplo, n, b.cols, from_host);
  const Triangle<T>& triangle = cholesky.triangle();
  const Index count = cholesky.count();
  const Buffer<Index> status(device, Space::host, count);
  std::optional<BackSubstitution<T>> solve;
  if (!b.empty()) solve.emplace(device, cholesky);
  Transfer transfer(device, options.threads, committed);

  const Part part = part_of(uplo);
  const std::vector<Range> regions = regions_of(uplo, n, options.nb);
  std::vector<Index> uploads;  // by region
  Index upload_of_b = 0;
  for (const Range& columns : regions) {
    const Range rows = {columns.first, n};
    const auto block = [&](auto x) { return triangle.block(x, rows, columns); };
    // The blocks in it, which all must be positive definite.
    const Index first = columns.first / options.nb, last = (columns.last - 1) / options.nb + 1;
    uploads.push_back(
        transfer.add_upload(make_region<T>(block(input.a), block(cholesky.input()), part)));
    // B takes part in the factorization. It is on its way while the host enqueues what comes first.
    if (solve && first == 0) upload_of_b = transfer.add_upload(make_region<T>(input.b, solve->x()));
    transfer.add_download(make_region<T>(block(a), block(cholesky.factor()), part),
                          {{cholesky.info(first), status.data() + first,
                            sizeof(Index) * static_cast<std::size_t>(last - first)}},
                          [&status, first, last] {
                            return std::all_of(status.data() + first, status.data() + last,
                                               [](Index info) { return info == 0; });
                          });
  }
  if (solve) {
    transfer.add_download(make_region<T>(b, solve->x()), {solve->conditions()},
                          [&solve] { return solve->trusted(); });
  }
  transfer.start();
  if (cholesky.needs_diagonal()) cholesky.give_diagonal(diagonal<T>(device, input.a));

  RegionFlow<T> flow(transfer, cholesky, regions, std::move(uploads), solve ? &*solve : nullptr,
                     upload_of_b);
  cholesky.factor(flow);
  if (solve && !transfer.stopped()) {
    solve->solve(cholesky.panel());
    transfer.release(cholesky.panel(), static_cast<Index>(regions.size()));
  }
  transfer.finish();

  if (const Index info = first_failure(status); info != 0) {
    // The leading minor before the failing one reaches into the last region.
    const Range good = {regions[at(index_of(regions, info - 1))].first, info - 1};
    bring_home_at_once<T>(device, cholesky.panel(), triangle,
                          triangle.block(cholesky.factor(), good, good),
                          triangle.block(a, good, good));
    try {
      complete_failing_row(device, cpu, cholesky.panel(), triangle, a, good.first, info - 1);
    } catch (const std::bad_alloc&) {  // of a CPU LAPACK; nobody may go on from what A is now
    }
    return info;
  }
  if (solve && !solve->trusted()) {
    solve->substitute(cholesky.panel());
    bring_home(device, options.threads, cholesky.panel(), solve->x(), b, committed);
  }
  return 0;
}

template <class T>
Index resume_posv(const cpu::Lapack<T>& cpu, Index nb, Uplo uplo, HostView<T> a, HostView<T> b,
                  Index committed) {
  const Index n = a.rows;
  const bool lower = uplo == Uplo::lower;
  Index done = 0;  // the factor's columns (rows for upper) before it are final
  for (const Range& block : regions_of(uplo, n, nb)) {
    const Index columns = lower ? block.size() : n - block.first;
    const Index here = std::min(committed, columns);
    committed -= here;
    done = std::min(block.first + here, block.last);
    if (here == columns) continue;
    if (!lower && here > 0) {
      // Only `here` columns of a block row have come home; the others are solved for again:
      // U(j, c) := U(j, j)^-H (A(j, c) - U(0:j, j)^H U(0:j, c)).
      const Index j = block.first, rows = done - j, c = j + here;
      const HostView<T> rest = a.block(j, c, rows, n - c);
      cpu.gemm(Op::conj_trans, Op::none, T(-1), a.block(0, j, j, rows), a.block(0, c, j, n - c),
               T(1), rest);
      cpu.trsm(Side::left, uplo, Op::conj_trans, Diag::non_unit, T(1), a.block(j, j, rows, rows),
               rest);
    }
    break;
  }
  if (done < n) {
    const HostView<T> a22 = a.block(done, done, n - done, n - done);
    if (done > 0 && lower) cpu.herk(uplo, Op::none, -1, a.block(done, 0, n - done, done), 1, a22);
    if (done > 0 && !lower) {
      cpu.herk(uplo, Op::conj_trans, -1, a.block(0, done, done, n - done), 1, a22);
    }
    const Index info = cpu.potrf(uplo, a22);
    if (info != 0) return done + info;
  }
  if (committed < b.cols) cpu.potrs(uplo, a, b.block(0, committed, n, b.cols - committed));
  return 0;
}

#define OVERLAPACK_INSTANTIATE(T)                                                             \
  template Index posv<T>(Device&, const cpu::Lapack<T>&, const Options&, Uplo, Input<T>,      \
                         HostView<T>, HostView<T>, Index&);                                   \
  template Index resume_posv<T>(const cpu::Lapack<T>&, Index, Uplo, HostView<T>, HostView<T>, \
                                Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

template std::unique_ptr<Factorization<float>> make_cholesky(Device&, const cpu::Lapack<float>&,
                                                             const Options&, Uplo, Index);
template std::unique_ptr<Factorization<std::complex<float>>> make_cholesky(
    Device&, const cpu::Lapack<std::complex<float>>&, const Options&, Uplo, Index);

}  // namespace overlapack::algorithms
