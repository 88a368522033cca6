#include "algorithms/potrf.hpp"

#include <memory>
#include <optional>

#include "algorithms/factorization.hpp"
#include "algorithms/split.hpp"
#include "algorithms/substitution.hpp"
#include "algorithms/transfer.hpp"
#include "algorithms/triangle.hpp"
#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

/// In a large matrix that comes from the host, of at least kManyBlocks blocks (n >= 12288 with
/// blocks of 256), the first kAheadBlocks of them are applied ahead: computation then begins to
/// outweigh the transfer, and these keep the device busy while the link is behind.
constexpr Index kManyBlocks = 48, kAheadBlocks = 6;

/// Rows of L are padded to a multiple of this: products of odd shapes take up to 12 % longer.
constexpr Index kRowPadding = 64;

/// The factorization on the device, by two matrices:
///
///   W(j:, j) = A(j:, j) - L(j:, 0:j) L(j, 0:j)^H,
///   W(j, j)  = L(j, j) L(j, j)^H,
///   L(j:, j) = W(j:, j) L(j, j)^-H       from W into L.
///
/// `panel` (high priority) is the queue of the chain that bounds small matrices: the update of
/// block j by block j - 1 and its factorization. Meanwhile `update` prepares block j + 1 with all
/// blocks before j (lookahead).
///
/// In a large matrix the long block columns at the beginning come slower than the device works. So
/// a third queue, `ahead` (low priority), applies the first columns to everything right of them as
/// soon as they are final. W then gathers -L L^H before A is there; A arrives in the place of L and
/// is added. The order of all sums is fixed, whatever the timing.
template <class T>
class Cholesky {
 public:
  Cholesky(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo, Index n,
           Index nrhs, bool from_host)
      : cpu_(cpu),
        triangle_{uplo, device.kernels<T>()},
        n_(n),
        nrhs_(nrhs),
        rows_((n + nrhs + kRowPadding - 1) / kRowPadding * kRowPadding),
        blocks_(partition(n, options.nb)),
        panel_width_(2 * options.nb),
        hybrid_(options.hybrid),
        work_(matrix(device)),
        factor_(matrix(device)),
        info_(device, Space::device, count()),
        updates_(device, options, triangle_, factor_.view(), rows_),
        update_space_(updates_.workspace(device, n, std::min(options.nb, n))),
        ahead_panels_(from_host && n >= kManyBlocks * options.nb ? kAheadBlocks / 2 : 0),
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
    panel().zero(info_.data(), sizeof(Index) * static_cast<std::size_t>(count()));
  }

  const Triangle<T>& triangle() const { return triangle_; }
  Index count() const { return static_cast<Index>(blocks_.size()); }
  Range block(Index j) const { return blocks_[at(j)]; }
  /// Where A is to arrive; its blocks are overwritten. B^H belongs below it (B right of an upper
  /// A).
  DeviceView<T> input() const { return adds_input() ? factor_.view() : work_.view(); }
  DeviceView<T> factor() const { return factor_.view(); }
  /// The right-hand sides in input() and factor().
  Range rhs() const { return {n_, n_ + nrhs_}; }
  Range columns() const { return {0, n_}; }
  /// Whether block j is positive definite: LAPACK's info or 0, on the device.
  Index* info(Index j) const { return info_.data() + j; }
  Queue& panel() const { return **panel_; }

  /// Steps 0, 1, ... enqueue everything that makes block j final. `arrived(queue, j)` makes a queue
  /// wait for block j; it returns false if the work is to stop.
  template <class Arrived>
  void step(Index j, Arrived arrived) {
    if (j == 0) prepare(0, arrived);
    panel().wait(*prepared_);
    Span span(panel(), "panel", j);
    if (j >= 1) subtract(rows_from(j), block(j), block(j - 1));
    if (hybrid_) {
      fetch_diagonal(block(j));
      if (j + 1 < count()) prepare(j + 1, arrived);  // the device works while the CPU factors
      factor_diagonal_on_cpu(j);
      solve_below(block(j));
    } else {
      factor_columns(j, block(j));
    }
    updates_.append(panel(), block(j));
    span.end();
    panel().record(final(j));
    apply_ahead(j);
    if (!hybrid_ && j + 1 < count()) prepare(j + 1, arrived);
  }

 private:
  DeviceMatrix<T> matrix(Device& device) const {
    return triangle_.lower() ? DeviceMatrix<T>(device, rows_, n_)
                             : DeviceMatrix<T>(device, n_, rows_);
  }
  Range rows_from(Index j) const { return {block(j).first, rows_}; }
  DeviceView<T> work(Range i, Range j) const { return triangle_.block(work_.view(), i, j); }
  DeviceView<T> factor(Range i, Range j) const { return triangle_.block(factor_.view(), i, j); }

  /// Reached when block j of the factor is complete.
  Event& final(Index j) const { return *final_[at(j)]; }

  bool adds_input() const { return ahead_panels_ > 0; }

  /// W(i, j) -= L(i, k) L(j, k)^H for few columns k, in the chain.
  void subtract(Range i, Range j, Range k) {
    triangle_.subtract(panel(), factor(i, k), factor(j, k), T(1), work(i, j));
  }

  /// All of block j that does not need block j - 1.
  template <class Arrived>
  void prepare(Index j, Arrived arrived) {
    Queue& queue = **update_;
    if (!adds_input()) {
      if (!arrived(queue, j)) return;
      clear_imaginary_diagonal(queue, work(block(j), block(j)));
    }
    const Index ahead = panels_ahead_of(j);
    if (ahead > 0) queue.wait(*applied_ahead_[at(panel_of(j))]);
    const Range k = {ahead * panel_width_, j > 0 ? block(j - 1).first : 0};
    const DeviceView<T> W = work(rows_from(j), block(j));
    if (!k.empty()) {
      queue.wait(final(j - 2));
      const Span span(queue, "update", j);
      const bool starts_sum = adds_input() && ahead == 0;
      updates_.subtract(queue, update_space_, rows_from(j), block(j), k, starts_sum ? 0 : 1, W);
    }
    if (adds_input()) {
      if (!arrived(queue, j)) return;
      clear_imaginary_diagonal(queue, factor(block(j), block(j)));
      const bool updated = ahead > 0 || !k.empty();
      triangle_.kernels.add(queue, Op::none, factor(rows_from(j), block(j)), T(updated ? 1 : 0), W);
    }
    queue.record(*prepared_);
  }

  /// LAPACK takes the imaginary parts of the diagonal for zero, whatever they are. The kernels for
  /// panels do, too, but in a complex product a NaN there would reach the real parts.
  static void clear_imaginary_diagonal(Queue& queue, DeviceView<T> diagonal) {
    if constexpr (is_complex<T>) {
      // An array of complex numbers may be accessed as one of real numbers ([complex.numbers]).
      Real<T>* const imaginary = reinterpret_cast<Real<T>*>(diagonal.data) + 1;
      queue.zero(imaginary, sizeof(T) * static_cast<std::size_t>(diagonal.ld + 1), sizeof(Real<T>),
                 static_cast<std::size_t>(diagonal.rows));
    }
  }

  // Columns are applied ahead by panels of two blocks.
  Index panel_of(Index j) const { return block(j).first / panel_width_; }
  Range panel_columns(Index p) const {
    return {p * panel_width_, std::min((p + 1) * panel_width_, n_)};
  }
  /// How many panels are applied ahead to block j: none of its own and of the one before, which
  /// would come too late.
  Index panels_ahead_of(Index j) const {
    return std::clamp<Index>(panel_of(j) - 1, 0, ahead_panels_);
  }

  /// Once block j is final: if it completes a panel that is applied ahead, its updates.
  void apply_ahead(Index j) {
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
  void factor_columns(Index block_number, Range j) {
    const Index width = triangle_.kernels.potrf_panel_width();
    if (j.size() <= width) {
      const Range rows = {j.first, rows_};
      triangle_.kernels.potrf_panel(panel(), triangle_.uplo, work(rows, j), factor(rows, j),
                                    {info(block_number), 1}, j.first);
      return;
    }
    const Index half = (j.size() / 2 + width - 1) / width * width;
    const Range left = {j.first, j.first + half}, right = {left.last, j.last};
    factor_columns(block_number, left);
    subtract({right.first, rows_}, right, left);
    factor_columns(block_number, right);
  }

  // ---- the hybrid form: diagonal blocks make a round trip through the CPU LAPACK ----

  HostView<T> staged_diagonal(Range j) const {
    return {diagonal_.data(), j.size(), j.size(), j.size()};
  }

  void fetch_diagonal(Range j) {
    panel().copy(staged_diagonal(j), DeviceView<const T>(work(j, j)));
    panel().record(*diagonal_arrived_);
  }

  void factor_diagonal_on_cpu(Index block_number) {
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
  void solve_below(Range j) {
    const Range below = {j.last, rows_};
    const DeviceView<T> x = factor(below, j);
    triangle_.kernels.add(panel(), Op::none, work(below, j), T(0), x);
    triangle_.kernels.trsm(panel(), triangle_.lower() ? Side::right : Side::left, triangle_.uplo,
                           Op::conj_trans, Diag::non_unit, T(1), factor(j, j), x);
  }

  const cpu::Lapack<T>& cpu_;
  Triangle<T> triangle_;
  Index n_;
  Index nrhs_;
  Index rows_;  // of L: those of A and the right-hand sides, padded; nobody reads the padding
  std::vector<Range> blocks_;
  Index panel_width_;
  bool hybrid_;
  DeviceMatrix<T> work_, factor_;
  Buffer<Index> info_;  // one per block
  Updates<T> updates_;
  typename Updates<T>::Workspace update_space_, ahead_space_;
  Index ahead_panels_;                     // how many panels are applied ahead
  EventLease prepared_;                    // the next block needs the one before it only
  EventLease diagonal_arrived_;            // hybrid
  std::vector<EventLease> final_;          // by block
  std::vector<EventLease> applied_ahead_;  // by panel: it has all updates that come ahead
  Buffer<T> diagonal_;                     // hybrid: staging
  Buffer<Index> block_info_;
  std::unique_ptr<QueueLease> panel_, update_, ahead_;
};

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
    for (Index j = 0; j < cholesky_.count(); ++j) {
      cholesky_.step(j, [&flow](Queue& queue, Index i) { return flow.before(queue, i); });
      flow.release(queue(), j);
    }
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
  const auto region_of = [&](Index j) { return index_of(regions, cholesky.block(j).first); };
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

  const auto arrived = [&](Queue& queue, Index i) {
    if (!transfer.before(queue, uploads[at(region_of(i))])) return false;
    if (!solve || i > 0) return true;
    if (!transfer.before(queue, upload_of_b)) return false;
    solve->place(queue);
    return true;
  };
  for (Index j = 0; j < count && !transfer.stopped(); ++j) {
    cholesky.step(j, arrived);
    const Index region = region_of(j);
    if (cholesky.block(j).last == regions[at(region)].last) {
      transfer.release(cholesky.panel(), region);
    }
  }
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
    complete_failing_row(device, cpu, cholesky.panel(), triangle, a, good.first, info - 1);
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
