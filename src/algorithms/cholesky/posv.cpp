#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/cholesky/schedule.hpp"
#include "algorithms/shared/substitution.hpp"
#include "cpu/reference.hpp"
#include "transfer/transfer.hpp"

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
  /// Of device memory.
  static std::size_t bytes(Device& device, Index n, Index nrhs) {
    return DeviceMatrix<T>::bytes(n, nrhs) +
           BlockInverses<T>::bytes(std::min(n, device.kernels<T>().potrf_panel_width()), n, nrhs);
  }

  /// Where B is to arrive, and where X appears.
  DeviceView<T> x() const { return x_.view(); }

  /// B^H := B, below A.
  void place(Queue& queue) {
    const Triangle<T>& triangle = cholesky_.triangle();
    triangle.kernels.copy(queue, triangle.adjoint(), x(),
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
  /// Whether products with the inverses are accurate (src/README.md), once X has arrived.
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
    triangle.kernels.copy(queue, triangle.adjoint(),
                          triangle.block(cholesky_.factor(), cholesky_.rhs(), cholesky_.columns()),
                          x());
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
      : solve_with_l_(device, Uplo::lower, Diag::non_unit),
        solve_with_adjoint_(device, Uplo::upper, Diag::non_unit),
        cholesky_(device, cpu, options, uplo, n, 0) {}
  /// Of device memory, with solves for nrhs right-hand sides.
  static std::size_t bytes(Device& device, const Options& options, Uplo uplo, Index n, Index nrhs) {
    return Cholesky<T>::bytes(device, options, uplo, n, 0) + 2 * Substitution<T>::bytes(n, nrhs);
  }

  DeviceView<T> input() const override {
    return cholesky_.triangle().block(cholesky_.input(), cholesky_.columns(), cholesky_.columns());
  }
  Queue& queue() const override { return cholesky_.panel(); }

  void factor(Flow& flow) override { cholesky_.factor(flow); }

  /// The other triangle gets the adjoint of the factor, so that L^H, too, is a matrix whose rows
  /// lie side by side.
  void solve(DeviceView<T> b) override {
    const Triangle<T>& triangle = cholesky_.triangle();
    const DeviceView<T> factors =
        triangle.block(cholesky_.factor(), cholesky_.columns(), cholesky_.columns());
    if (!mirrored_) triangle.kernels.mirror(queue(), triangle.uplo, factors);
    mirrored_ = true;
    solve_with_l_(queue(), factors, b);
    solve_with_adjoint_(queue(), factors, b);
  }

  Index info() const override { return first_failure(cholesky_.info()); }
  std::vector<Index> pivots() const override { return {}; }

 private:
  Substitution<T> solve_with_l_, solve_with_adjoint_;
  Cholesky<T> cholesky_;
  bool mirrored_ = false;
};

/// Whether two pieces belong to one triangle, or to the rows below the leading one.
bool same_part(const Piece& one, const Piece& other) {
  return one.rows.last == other.rows.last && one.on_diagonal() == other.on_diagonal();
}

}  // namespace

std::vector<Range> regions_of(Uplo uplo, const std::vector<Piece>& pieces, std::size_t element,
                              bool resident) {
  constexpr std::size_t kPage = 4096, kManyPages = 256 << 20;
  constexpr Index kWidest = 4;
  const Index count = static_cast<Index>(pieces.size());
  const bool by_rows = uplo == Uplo::upper && !resident;
  const auto size = [&](Index p) {
    return pieces[at(p)].rows.size() * pieces[at(p)].columns.size();
  };
  Index largest = 0;
  for (Index p = 0; p < count; ++p) largest = std::max(largest, size(p));
  // So many of the largest blocks a region may be as large as, and the first one is.
  Index blocks = 1;
  if (by_rows && count > 0) {
    const auto n = at(pieces.back().rows.last), width = at(pieces.front().columns.size());
    if (element * n * n >= kManyPages && element * width < kPage) blocks = 2;
  }
  const auto most_pieces = [&](Index p) -> Index {
    if (resident) return std::min(p, count - p) / 2;
    if (p == 0) return blocks;
    const bool begins_last_triangle =
        pieces[at(p)].on_diagonal() && !pieces[at(p - 1)].on_diagonal();
    return by_rows && !begins_last_triangle ? std::min((count - p) / 2, kWidest) : 1;
  };
  std::vector<Range> regions;
  for (Index p = 0; p < count;) {
    const Index end = p + most_pieces(p);
    Index last = p + 1, elements = size(p);
    for (; last < end && same_part(pieces[at(p)], pieces[at(last)]); ++last) {
      elements += size(last);
      if (by_rows && elements > blocks * largest) break;
    }
    regions.push_back({p, last});
    p = last;
  }
  return regions;
}

Piece united(const std::vector<Piece>& pieces, Range region) {
  const Piece &first = pieces[at(region.first)], &last = pieces[at(region.last - 1)];
  return {first.rows, {first.columns.first, last.columns.last}};
}

template <class T>
std::vector<Piece> homes_of(Storage storage, const std::vector<Piece>& pieces,
                            const std::vector<Range>& regions, HostView<const T> a) {
  constexpr Index kLine = 64 / sizeof(T);
  // Of a cache line, where column 0 begins.
  const auto begin =
      static_cast<Index>(reinterpret_cast<std::uintptr_t>(a.data) / sizeof(T)) % kLine;
  const bool lines = !storage.lower() && a.ld % kLine == 0;
  std::vector<Piece> homes;
  bool continued = false;  // the part that the region before belongs to
  for (auto region = regions.begin(); region != regions.end(); ++region) {
    Piece home = united(pieces, *region);
    const bool on_diagonal = home.on_diagonal();
    if (continued) {
      home.columns.first = homes.back().columns.last;
      if (on_diagonal) home.rows.first = home.columns.first;
    }
    const auto next = region + 1;
    continued = lines && next != regions.end() &&
                same_part(pieces[at(region->first)], pieces[at(next->first)]);
    if (continued) {
      const Index shared = (home.columns.last + begin) % kLine;
      home.columns.last = std::max(home.columns.last - shared, home.columns.first);
    }
    homes.push_back(home);
  }
  return homes;
}

template <class T>
std::unique_ptr<Factorization<T>> make_cholesky(Device& device, const cpu::Lapack<T>& cpu,
                                                const Options& options, Uplo uplo, Index n) {
  return std::make_unique<CholeskyOnDevice<T>>(device, cpu, options, uplo, n);
}

template <class T>
std::size_t cholesky_bytes(Device& device, const Options& options, Uplo uplo, Index n, Index nrhs) {
  return CholeskyOnDevice<T>::bytes(device, options, uplo, n, nrhs);
}

namespace {

/// Pieces come and go by a transfer's regions of one or several pieces, and B comes with the first.
template <class T>
class RegionFlow final : public Flow {
 public:
  /// `solve` is null if there is no B.
  RegionFlow(Transfer& transfer, const Cholesky<T>& cholesky, std::vector<Range> regions,
             BackSubstitution<T>* solve)
      : transfer_(transfer), cholesky_(cholesky), regions_(std::move(regions)), solve_(solve) {}

  /// Declares what goes up, and what comes home to `a` and `b`. `nb`: the order of a diagonal
  /// block.
  void declare(const Input<T>& input, HostView<T> a, HostView<T> b, Index nb);

  bool before(Queue& queue, Index p) override {
    if (!transfer_.before(queue, uploads_[at(index_of(regions_, p))])) return false;
    if (solve_ == nullptr || p > 0) return true;
    if (!transfer_.before(queue, upload_of_b_)) return false;
    solve_->place(queue);
    return true;
  }
  void release(Queue& queue, Index p) override {
    const Index region = index_of(regions_, p);
    if (p + 1 == regions_[at(region)].last) transfer_.release(queue, region);
  }
  /// X has been found.
  void release_solution(Queue& queue) {
    transfer_.release(queue, static_cast<Index>(regions_.size()));
  }

  /// The first column that has not come home if pivot k is not positive: that of the region in
  /// whose diagonal blocks it lies.
  Index first_missing(Index k) const {
    Index found = 0;
    for (std::size_t r = 0; r < regions_.size(); ++r) {
      const Piece piece = united(cholesky_.pieces(), regions_[r]);
      if (piece.on_diagonal() && piece.columns.first <= k) found = homes_[r].columns.first;
    }
    return found;
  }

 private:
  Transfer& transfer_;
  const Cholesky<T>& cholesky_;
  const std::vector<Range> regions_;
  std::vector<Piece> homes_;    // by region, whose numbers downloads have
  std::vector<Index> uploads_;  // by region
  Index upload_of_b_ = 0;
  BackSubstitution<T>* const solve_;
};

template <class T>
void RegionFlow<T>::declare(const Input<T>& input, HostView<T> a, HostView<T> b, Index nb) {
  const Triangle<T>& triangle = cholesky_.triangle();
  const auto block = [&](auto x, const Piece& of) {
    return triangle.block(x, of.rows, of.columns);
  };
  homes_ = homes_of<T>(triangle, cholesky_.pieces(), regions_, a);
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    const Piece piece = united(cholesky_.pieces(), regions_[r]);
    const Part part = piece.on_diagonal() ? part_of(triangle.uplo) : Part::all;
    uploads_.push_back(transfer_.add_upload(
        make_region<T>(block(input.a, piece), block(cholesky_.input(), piece), part)));
    // B takes part in the factorization. It is on its way while the host enqueues what comes first.
    if (solve_ != nullptr && r == 0) {
      upload_of_b_ = transfer_.add_upload(make_region<T>(input.b, solve_->x()));
    }
    const Region home =
        make_region<T>(block(a, homes_[r]), block(cholesky_.factor(), homes_[r]), part);
    if (!piece.on_diagonal()) {
      transfer_.add_download(home);
      continue;
    }
    // The diagonal blocks in it, which all must be positive definite.
    const Index* const infos = cholesky_.info().data() + piece.columns.first / nb;
    transfer_.add_download(home, [infos, count = regions_[r].size()] {
      return std::all_of(infos, infos + count, [](Index info) { return info == 0; });
    });
  }
  if (solve_ != nullptr) {
    transfer_.add_download(make_region<T>(b, solve_->x()),
                           [solve = solve_] { return solve->trusted(); });
  }
}

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
  reference::lacpy<T>(here, a, part_of(triangle.uplo));
}

/// Finishes a piece of L below the diagonal, whose columns on and above the diagonal are final, as
/// is what lies left of them: L(i, j) := (A(i, j) - L(i, k) L(j, k)^H) L(j, j)^-H.
template <class T>
void finish_below(const cpu::Lapack<T>& cpu, Storage storage, HostView<T> a, const Piece& piece) {
  const Range i = piece.rows, j = piece.columns, k{0, j.first};
  const auto l = [&](Range rows, Range columns) { return storage.block(a, rows, columns); };
  if (i.empty()) return;
  if (!k.empty()) {
    const HostView<T> of_rows = l(i, k), of_columns = l(j, k);
    cpu.gemm(storage.direct(), storage.adjoint(), T(-1), storage.lower() ? of_rows : of_columns,
             storage.lower() ? of_columns : of_rows, T(1), l(i, j));
  }
  cpu.trsm(storage.lower() ? Side::right : Side::left, storage.uplo, Op::conj_trans, Diag::non_unit,
           T(1), l(j, j), l(i, j));
}

/// The same from the diagonal on. Returns LAPACK's info.
template <class T>
Index finish_from_diagonal(const cpu::Lapack<T>& cpu, Storage storage, HostView<T> a,
                           const Piece& piece) {
  const Range j = piece.columns, k{0, j.first};
  const HostView<T> diagonal = storage.block(a, j, j);
  if (!k.empty()) {
    cpu.herk(storage.uplo, storage.direct(), Real<T>(-1), storage.block(a, j, k), Real<T>(1),
             diagonal);
  }
  const Index info = cpu.potrf(storage.uplo, diagonal);
  if (info != 0) return j.first + info;
  finish_below(cpu, storage, a, {{j.last, piece.rows.last}, j});
  return 0;
}

/// Row k of L, in whose pivot the factorization has ended, from column `from` on, and what is left
/// of that pivot. `a` holds all of L before. LAPACK leaves both, and programs look at them: SciPy's
/// minimizer "trust-exact" finds a direction of negative curvature in them.
template <class T>
void complete_failing_row(Device& device, const cpu::Lapack<T>& cpu, Queue& queue,
                          const Triangle<T>& triangle, HostView<T> a, Index from, Index k) {
  const Range row{k, k + 1}, before{0, from}, good{from, k}, all{0, k};
  // L(k, good) := (A(k, good) - L(k, before) L(good, before)^H) L(good, good)^-H, and the pivot.
  if (device.kind_of(a.data) == MemoryKind::device) {
    const auto l = [&](Range i, Range j) { return triangle.block(on_device(a), i, j); };
    triangle.subtract(queue, l(row, before), l(good, before), l(row, good));
    triangle.kernels.trsm(queue, triangle.lower() ? Side::right : Side::left, triangle.uplo,
                          Op::conj_trans, Diag::non_unit, T(1), l(good, good), l(row, good));
    triangle.kernels.herk(queue, triangle.uplo, triangle.direct(), Real<T>(-1), l(row, all),
                          Real<T>(1), l(row, row));
    queue.synchronize();
    return;
  }
  try {
    finish_below(cpu, triangle, a, {row, good});
    cpu.herk(triangle.uplo, triangle.direct(), Real<T>(-1), triangle.block(a, row, all), Real<T>(1),
             triangle.block(a, row, row));
  } catch (const std::bad_alloc&) {  // of a CPU LAPACK; nobody may go on from what A is now
  }
}

/// ?potrf of a matrix of the host's that is one panel: one kernel, which reads staging memory and
/// writes it by itself. Copies and the waits between them would take longer than all of it.
template <class T>
Index potrf_at_once(Device& device, const cpu::Lapack<T>& cpu, const Triangle<T>& triangle,
                    HostView<T> a) {
  const Index n = a.rows;
  const Buffer<T> staging(device, Space::host, n * n);
  const Buffer<Index> info(device, Space::host, 1);
  const QueueLease queue(device, Priority::high, "panel");
  const HostView<T> here(staging.data(), n, n, n);
  const DeviceView<T> there(staging.data(), n, n, n);
  const auto bytes = static_cast<double>(sizeof(T)) * static_cast<double>(n * n);
  *info.data() = 0;
  reference::lacpy<T>(a, here, part_of(triangle.uplo));
  device.before(Action::copy_to_device, "a panel's reads", bytes);
  triangle.kernels.potrf_panel(*queue, triangle.uplo, there, there, {info.data(), 1}, 0);
  device.before(Action::copy_to_host, "a panel's writes", bytes);
  queue->synchronize();
  const Index good = *info.data() == 0 ? n : *info.data() - 1;
  reference::lacpy<T>(here.block(0, 0, good, good), a.block(0, 0, good, good),
                      part_of(triangle.uplo));
  if (good < n) complete_failing_row(device, cpu, *queue, triangle, a, 0, good);
  return *info.data();
}

}  // namespace

template <class T>
Index posv(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo,
           Input<T> input, HostView<T> a, HostView<T> b, Index& committed) {
  const Index n = a.rows;
  const Triangle<T> triangle{{uplo}, device.kernels<T>()};
  const bool resident = device.kind_of(a.data) == MemoryKind::device;
  if (n <= std::min(options.nb, triangle.kernels.potrf_panel_width()) && b.empty() &&
      !options.hybrid && !resident) {
    return potrf_at_once(device, cpu, triangle, a);
  }
  std::optional<BackSubstitution<T>> solve;  // whose memory the queues use to their end
  Cholesky<T> cholesky(device, cpu, options, uplo, n, b.cols);
  const std::vector<Piece>& pieces = cholesky.pieces();
  if (!b.empty()) solve.emplace(device, cholesky);
  std::vector<Range> regions = regions_of(uplo, pieces, sizeof(T), resident);
  if (resident && n <= small_order(device)) regions = {{0, static_cast<Index>(pieces.size())}};
  Transfer transfer(device, options.threads, committed);
  RegionFlow<T> flow(transfer, cholesky, std::move(regions), solve ? &*solve : nullptr);
  flow.declare(input, a, b, options.nb);

  // The diagonal is read while the first columns travel. But what is sent after a page-locked
  // matrix comes after it.
  const bool pinned = device.kind_of(input.a.data) == MemoryKind::pinned;
  const auto give_diagonal = [&] { cholesky.give_diagonal(diagonal<T>(device, input.a)); };
  if (cholesky.needs_diagonal() && pinned) give_diagonal();
  transfer.start();
  if (cholesky.needs_diagonal() && !pinned) give_diagonal();

  cholesky.factor(flow);
  if (solve && !transfer.stopped()) {
    solve->solve(cholesky.panel());
    flow.release_solution(cholesky.panel());
  }
  transfer.finish();

  if (const Index info = first_failure(cholesky.info()); info != 0) {
    const Range good{flow.first_missing(info - 1), info - 1};
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
std::size_t posv_bytes(Device& device, const Options& options, Index n, Index nrhs) {
  const auto factorization = [&](Uplo uplo) {
    return Cholesky<T>::bytes(device, options, uplo, n, nrhs);
  };
  return std::max(factorization(Uplo::lower), factorization(Uplo::upper)) +
         (nrhs > 0 ? BackSubstitution<T>::bytes(device, n, nrhs) : 0);
}

template <class T>
Index resume_posv(const cpu::Lapack<T>& cpu, const Options& options, Uplo uplo, HostView<T> a,
                  HostView<T> b, Index committed) {
  const Storage storage{uplo};
  const std::vector<Piece> pieces = pieces_of(a.rows, options.nb, options.leading);
  const std::vector<Range> regions = regions_of(uplo, pieces, sizeof(T));
  for (Piece rest : homes_of<T>(storage, pieces, regions, a)) {  // what of it has not come home
    const bool on_diagonal = rest.on_diagonal();
    const Index columns = storage.lower() ? rest.columns.size() : rest.rows.size();
    const Index here = std::min(committed, columns);
    committed -= here;
    if (here == columns) continue;
    if (!storage.lower()) {
      // Columns of a block row have come home: rows of L, of which some may lie on the diagonal.
      const Range home{rest.rows.first, rest.rows.first + here};
      rest.rows.first = home.last;
      if (on_diagonal) {
        const Range done{home.first, std::min(home.last, rest.columns.last)};
        finish_below(cpu, storage, a, {rest.rows, done});
        rest.columns.first = done.last;
      }
    } else {
      rest.columns.first += here;
      if (on_diagonal) rest.rows.first += here;
    }
    if (rest.columns.empty()) continue;
    if (!on_diagonal) {
      finish_below(cpu, storage, a, rest);
    } else if (const Index info = finish_from_diagonal(cpu, storage, a, rest); info != 0) {
      return info;
    }
  }
  if (committed < b.cols) cpu.potrs(uplo, a, b.block(0, committed, a.rows, b.cols - committed));
  return 0;
}

#define OVERLAPACK_INSTANTIATE(T)                                                         \
  template std::vector<Piece> homes_of<T>(Storage, const std::vector<Piece>&,             \
                                          const std::vector<Range>&, HostView<const T>);  \
  template Index posv<T>(Device&, const cpu::Lapack<T>&, const Options&, Uplo, Input<T>,  \
                         HostView<T>, HostView<T>, Index&);                               \
  template std::size_t posv_bytes<T>(Device&, const Options&, Index, Index);              \
  template Index resume_posv<T>(const cpu::Lapack<T>&, const Options&, Uplo, HostView<T>, \
                                HostView<T>, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

template std::unique_ptr<Factorization<float>> make_cholesky(Device&, const cpu::Lapack<float>&,
                                                             const Options&, Uplo, Index);
template std::unique_ptr<Factorization<std::complex<float>>> make_cholesky(
    Device&, const cpu::Lapack<std::complex<float>>&, const Options&, Uplo, Index);
template std::size_t cholesky_bytes<float>(Device&, const Options&, Uplo, Index, Index);
template std::size_t cholesky_bytes<std::complex<float>>(Device&, const Options&, Uplo, Index,
                                                         Index);

}  // namespace overlapack::algorithms
