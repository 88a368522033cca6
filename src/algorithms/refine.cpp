#include "algorithms/refine.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/factorization.hpp"
#include "algorithms/getrf.hpp"
#include "algorithms/potrf.hpp"
#include "algorithms/transfer.hpp"
#include "cpu/reference.hpp"
#include "device/timeline.hpp"

namespace overlapack::algorithms {
namespace {

/// Residuals between this part of LAPACK's limit and the limit get further steps. The limit is a
/// backward error of sqrt(n) units, where a factorization in double precision has one or a few; and
/// who computes a residual in another order, as LAPACK's own tests do, might find it above.
constexpr double kClearPart = 1.0 / 64;
/// A further step that leaves more than this of the residual was the last: it is rounding.
constexpr double kNoProgress = 0.8;
/// Refinement is fast where a step leaves no more than this of the residual. It has then reached
/// rounding when a step brings less than half as many digits as the one before, if the
/// residual is no more than this part of its limit.
constexpr double kFast = 0.01, kRoundingPart = 0.25;
constexpr Index kOverflow = -2;
/// The factorization broke down, of an A cut off after 21 bits; of one rounded to 24 it may not.
constexpr Index kTruncated = -4;

/// A and B in double precision on the device.
template <class T>
struct Problem {
  Problem(Device& device, std::optional<Uplo> uplo_, Index n, Index nrhs)
      : uplo(uplo_), a(device, n, n), b(device, n, nrhs) {}

  /// The regions in which A moves.
  std::vector<Range> regions(Index nb) const {
    const Index n = a.view().rows;
    if (!uplo) return partition(n, nb);
    const std::vector<Piece> pieces = pieces_of(n, nb, 0);
    std::vector<Range> columns;
    for (const Range& region : regions_of(*uplo, pieces, sizeof(T))) {
      columns.push_back(united(pieces, region).columns);
    }
    return columns;
  }
  Part part() const { return uplo ? part_of(*uplo) : Part::all; }
  /// Columns `c` of a matrix; of a lower triangle, from the diagonal on; rows of an upper triangle.
  template <class View>
  View block(View x, Range c) const {
    return x.block(rows(c), columns(c));
  }
  Range rows(Range c) const {
    if (!uplo) return {0, a.view().rows};
    return *uplo == Uplo::lower ? Range{c.first, a.view().rows} : c;
  }
  Range columns(Range c) const { return uplo == Uplo::upper ? Range{c.first, a.view().cols} : c; }

  /// Columns `c` of a lower triangle of A, rows of an upper one, are the same in the other
  /// triangle.
  void complete(Queue& queue, Kernels<T>& kernels, Range c) const {
    if (!uplo) return;
    const Index n = a.view().rows;
    const Storage storage{*uplo};
    const Range beyond{c.last, n};
    kernels.mirror(queue, *uplo, a.view().block(c, c));
    kernels.copy(queue, Op::conj_trans, storage.block(a.view(), beyond, c),
                 storage.block(a.view(), c, beyond));
  }

  std::optional<Uplo> uplo;  // which triangle of A is given; none if all of it
  DeviceMatrix<T> a, b;
};

/// Powers of two by which A is divided for products in FP16: p of Kernels<T>::round. Without them
/// numbers would lie beyond FP16's range, with them the large ones of the factors are about 1.
///
/// LU: each column by the power above its largest number. That changes no pivot, needs no more than
/// has arrived, and leaves |L| <= 1 (sqrt(2) if complex) and |U| as large as the growth factor.
/// Cholesky: rows and columns by those above the roots of the diagonal, which leaves |L| < 1. The
/// diagonal is fetched by itself, while the rest of A begins to come.
template <class T>
class Scaling {
 public:
  Scaling(Device& device, Index n, bool wanted, bool symmetric) : symmetric_(symmetric) {
    if (!wanted) return;
    sizes_ = Buffer<Real<T>>(device, Space::device, n);
    if (symmetric) staging_ = Buffer<Real<T>>(device, Space::host, n);
  }
  /// For a Hermitian matrix: what is enqueued in `queue` from now on has the sizes.
  void fetch(Device& device, Queue& queue, HostView<const T> a) {
    if (!wanted() || !symmetric_) return;
    const std::vector<T> squares = diagonal<T>(device, a);
    std::transform(squares.begin(), squares.end(), staging_.data(),
                   [](T square) { return std::sqrt(real(square)); });
    queue.copy<Real<T>>(all(), HostView<const Real<T>>(staging_.data(), staging_.size()));
  }
  /// For columns of a general matrix that have arrived.
  void measure(Queue& queue, Kernels<T>& kernels, DeviceView<const T> a, Range columns) {
    if (wanted() && !symmetric_) kernels.column_norms(queue, a, part(columns));
  }

  bool wanted() const { return sizes_.size() > 0; }
  DeviceView<const Real<T>> of_rows(Range rows) const {
    return symmetric_ ? of_columns(rows) : DeviceView<const Real<T>>();
  }
  DeviceView<const Real<T>> of_columns(Range columns) const {
    return wanted() ? part(columns) : DeviceView<Real<T>>();
  }

 private:
  DeviceView<Real<T>> all() const { return {sizes_.data(), sizes_.size()}; }
  DeviceView<Real<T>> part(Range r) const { return {sizes_.data() + r.first, r.size()}; }

  bool symmetric_;
  Buffer<Real<T>> sizes_, staging_;
};

/// The blocks of A come up in double precision, or are there from an earlier factorization, and are
/// rounded into the input of a factorization, on a queue of their own. A Hermitian A is completed
/// as it comes. B is upload number 0.
///
/// A large A comes up in two halves: the high words of all numbers first, then the low ones. The
/// factorization needs only the high ones, so that it gets A in half the time: with 21 significant
/// bits instead of 24, of which its own errors spoil more in matrices of that size. A matrix whose
/// factorization breaks down has another attempt, as LAPACK rounds it.
template <class T>
class RoundedFlow final : public Flow {
 public:
  RoundedFlow(Device& device, const Problem<T>& problem, const Options& options,
              DeviceView<Single<T>> input, DeviceView<Index> overflow, Scaling<T>& scaling)
      : device_(device),
        problem_(problem),
        kernels_(device.kernels<T>()),
        input_(input),
        overflow_(overflow),
        scaling_(scaling),
        nb_(options.nb),
        threads_(options.threads),
        halves_(options.halves),
        regions_(problem.regions(options.nb)),
        unused_(0),
        queue_(device, Priority::high, "round") {
    for (std::size_t r = 0; r < regions_.size(); ++r) rounded_.emplace_back(device);
  }

  /// Brings A and B up. Without this they must be there.
  void start(HostView<const T> a, HostView<const T> b) {
    transfer_.emplace(device_, threads_, unused_);
    transfer_->add_upload(make_region<T>(b, problem_.b.view()));
    if (comes_in_halves(a)) {
      for (const Words words : {Words::high, Words::low}) {
        for (const Range& region : regions_) {
          transfer_->add_upload(make_region<T>(problem_.block(a, region), block_of(words, region),
                                               problem_.part(), words));
        }
      }
    } else {
      for (const Range& region : regions_) {
        transfer_->add_upload(make_region<T>(
            problem_.block(a, region), problem_.block(problem_.a.view(), region), problem_.part()));
      }
    }
    const MemoryKind kind = device_.kind_of(a.data);
    const bool pinned = kind == MemoryKind::pinned;
    if (pinned) scaling_.fetch(device_, queue(), a);  // or else it would come after all of A
    transfer_->start();
    if (!pinned) scaling_.fetch(device_, queue(), a);
    arriving_ = kind != MemoryKind::device;
  }

  Index at_once() const override {
    return arriving_ ? 0 : regions_.back().last / nb_ + 1;  // blocks, if not fewer
  }
  Index pace() const override { return in_halves() ? 4 : 3; }
  bool before(Queue& queue, Index j) override {
    const Index region = index_of(regions_, j * nb_);
    for (; rounded_count_ <= region; ++rounded_count_) round(rounded_count_);
    queue.wait(*rounded_[at(region)]);
    return true;
  }
  /// Nothing goes home, but the time has come for low words that are there.
  void release(Queue&, Index) override {
    if (!in_halves() || rounded_count_ < count()) return;
    constexpr Index kAtOnce = 3;  // lest the factorization wait for the host
    const Index end = std::min(joined_count_ + kAtOnce, count());
    while (joined_count_ < end && transfer_->is_issued(low_words(joined_count_))) join_next();
  }

  /// Whether what has been factored had 21 bits.
  bool in_halves() const { return words_.has_value(); }
  /// Behind everything that has arrived: B, too.
  Queue& queue() const { return *queue_; }
  /// All uploads are issued.
  void finish() {
    if (!transfer_) return;
    if (in_halves()) {
      while (joined_count_ < count()) join_next();
    }
    transfer_->before(queue(), 0);
    transfer_->finish();
  }

 private:
  Index count() const { return static_cast<Index>(regions_.size()); }
  /// The upload of a region's low words.
  Index low_words(Index region) const { return 1 + count() + region; }

  bool comes_in_halves(HostView<const T> a) {
    if (!halves_ || scaling_.wanted() || device_.kind_of(a.data) != MemoryKind::pageable) {
      return false;
    }
    return try_to_allocate([&] { words_.emplace(device_, a.rows, 2 * a.cols); });
  }
  DeviceView<Single<T>> block_of(Words words, Range region) const {
    const DeviceView<Single<T>> both = words_->view();
    const Index n = both.rows, first = words == Words::high ? 0 : n;
    return problem_.block(both.block(0, first, n, n), region);
  }

  void round(Index region) {
    const Range block = regions_[at(region)];
    if (transfer_) transfer_->before(queue(), region + 1);
    const Span span(queue(), "round", region);
    const DeviceView<Single<T>> to = problem_.block(input_, block);
    if (in_halves()) {
      kernels_.round_high(queue(), problem_.part(), block_of(Words::high, block), to);
      queue().record(*rounded_[at(region)]);
      return;
    }
    const DeviceView<T> from = problem_.block(problem_.a.view(), block);
    scaling_.measure(queue(), kernels_, from, block);
    kernels_.round(queue(), problem_.part(), from, to, overflow_,
                   scaling_.of_rows(problem_.rows(block)),
                   scaling_.of_columns(problem_.columns(block)));
    queue().record(*rounded_[at(region)]);
    if (transfer_) problem_.complete(queue(), kernels_, block);
  }

  /// Once the low words of a region are there, too, A is.
  void join_next() {
    const Index region = joined_count_++;
    const Range block = regions_[at(region)];
    transfer_->before(queue(), low_words(region));
    const Span span(queue(), "join", region);
    kernels_.join(queue(), problem_.part(), block_of(Words::high, block),
                  block_of(Words::low, block), problem_.block(problem_.a.view(), block), overflow_);
    problem_.complete(queue(), kernels_, block);
  }

  Device& device_;
  const Problem<T>& problem_;
  Kernels<T>& kernels_;
  DeviceView<Single<T>> input_;
  DeviceView<Index> overflow_;
  Scaling<T>& scaling_;
  Index nb_, threads_;
  bool halves_;  // are wanted
  std::vector<Range> regions_;
  std::vector<EventLease> rounded_;
  Index rounded_count_ = 0, joined_count_ = 0;
  Index unused_;  // nothing is committed, as nothing comes down
  bool arriving_ = false;
  std::optional<DeviceMatrix<Single<T>>> words_;  // of A: the high ones, then the low ones
  std::optional<Transfer> transfer_;
  QueueLease queue_;
};

/// Numbers of the device that the host looks at after every step.
template <class T>
class Status {
 public:
  Status(Device& device, Index nrhs)
      : nrhs_(nrhs), norms_(device, 3 * nrhs + 1), overflow_(device, 1) {}

  DeviceView<Index> overflow() const { return overflow_.there(); }
  DeviceView<Real<T>> norm_of_a() const { return norms_.there().block(0, 0, 1, 1); }
  DeviceView<Real<T>> norms_of_x() const { return norms_.there().block(1, 0, nrhs_, 1); }
  DeviceView<Real<T>> norms_of_r() const { return norms_.there().block(1 + nrhs_, 0, nrhs_, 1); }
  DeviceView<Real<T>> norms_of_b() const {
    return norms_.there().block(1 + 2 * nrhs_, 0, nrhs_, 1);
  }

  void fetch(Queue& queue) {
    norms_.fetch(queue);
    overflow_.fetch(queue);
    queue.synchronize();
  }
  bool overflowed() const { return *overflow_.here() != 0; }
  bool finite() const { return finite(0, norms_.size()); }
  /// Of A and B.
  bool input_finite() const { return finite(0, 1) && finite(1 + 2 * nrhs_, norms_.size()); }
  /// LAPACK's stopping test, which a NaN passes.
  bool converged(Index n) const {
    for (Index j = 0; j < nrhs_; ++j) {
      if (norm_of_r(j) > limit(n, j)) return false;
    }
    return true;
  }
  /// How many times larger than its limit the worst residual is.
  Real<T> excess(Index n) const {
    Real<T> worst(0);
    for (Index j = 0; j < nrhs_; ++j) worst = std::max(worst, norm_of_r(j) / limit(n, j));
    return worst;
  }

 private:
  bool finite(Index first, Index end) const {
    return std::all_of(norms_.here() + first, norms_.here() + end,
                       [](Real<T> norm) { return std::isfinite(norm); });
  }
  Real<T> norm_of_r(Index j) const { return norms_.here()[1 + nrhs_ + j]; }
  Real<T> limit(Index n, Index j) const {
    constexpr Real<T> eps = std::numeric_limits<Real<T>>::epsilon() / 2;
    const Real<T>* const norms = norms_.here();  // of A, then of the columns of X, R and B
    return norms[1 + j] * (norms[0] * eps * std::sqrt(static_cast<Real<T>>(n)));
  }

  Index nrhs_;
  Readout<Real<T>> norms_;
  Readout<Index> overflow_;
};

/// Whether kMaxIterations will not be enough. `least` are the residuals of the steps until now over
/// their limit: of the worst right-hand side, and the least so far. They are not enough if not even
/// twice the digits of the last steps, each time, would do: the rate varies that much from one step
/// to the next. Close to the limit rounding decides, and nothing can be foretold.
template <class R>
bool is_hopeless(const std::vector<R>& least) {
  constexpr R kClose = 8;
  constexpr Index kFirst = 2, kLast = 4;  // the first step may be unlike the others
  const Index i = static_cast<Index>(least.size()) - 1, from = std::max<Index>(0, i - kLast);
  const R now = least[at(i)], rates = now / least[at(from)];
  const auto left = static_cast<R>(kMaxIterations - i), seen = static_cast<R>(i - from);
  return i >= kFirst && now > kClose && now * std::pow(rates, 2 * left / seen) > 1;
}

/// Whether the last residual is rounding, which no further step would make less. `least` as above.
template <class R>
bool is_rounding(const std::vector<R>& least) {
  const std::size_t count = least.size();
  if (count < 3) return false;
  const R rate = least[count - 2] / least[count - 3], last = least[count - 1] / least[count - 2];
  return least.back() <= static_cast<R>(kRoundingPart) && rate <= static_cast<R>(kFast) &&
         last > std::sqrt(rate);
}

/// Solves by refinement with a factorization that make(options) makes. If `arrived` is false, A and
/// B come up first. Returns LAPACK's iter; if that is not negative, X has come home and `pivots`
/// are set.
template <class T, class Make>
Index refine(Device& device, const Problem<T>& problem, Make make, const Options& options,
             bool arrived, HostView<const T> a, HostView<const T> b, HostView<T> x,
             std::vector<Index>& pivots) {
  const Index n = a.rows, nrhs = b.cols;
  const bool lower_precision = options.precision != Precision::fp32;
  Kernels<T>& kernels = device.kernels<T>();
  Status<T> status(device, nrhs);
  const DeviceMatrix<T> solution(device, n, nrhs), residual(device, n, nrhs);
  const DeviceMatrix<Single<T>> correction(device, n, nrhs);
  const Buffer<Real<T>> sums(device, Space::device, n);
  const DeviceView<Real<T>> row_sums(sums.data(), n);
  const DeviceView<T> A = problem.a.view(), B = problem.b.view(), X = solution.view(),
                      R = residual.view();
  const DeviceView<Single<T>> D = correction.view();
  const EventLease complete(device), measured(device);
  Scaling<T> scaling(device, n, options.precision == Precision::fp16, problem.uplo.has_value());
  const std::unique_ptr<Factorization<Single<T>>> low = make(options);
  RoundedFlow<T> flow(device, problem, options, low->input(), status.overflow(), scaling);

  flow.queue().zero(status.overflow().data, sizeof(Index));
  if (!arrived) flow.start(a, b);
  low->factor(flow);
  flow.finish();
  flow.queue().record(*complete);
  // While the last blocks are factored, and the first solution is found.
  kernels.row_sums(flow.queue(), A, row_sums);
  device.kernels<Real<T>>().column_norms(flow.queue(), row_sums, status.norm_of_a());
  kernels.column_norms(flow.queue(), B, status.norms_of_b());
  flow.queue().record(*measured);

  Queue& queue = low->queue();
  queue.wait(*complete);
  std::vector<Real<T>> least;  // after each step, for is_hopeless()
  std::optional<Index> met;    // the step whose X is at home: its residual is within the limit
  const auto bring = [&](Index i) {
    Index unused = 0;
    bring_home(device, options.threads, queue, X, x, unused);
    pivots = low->pivots();
    met = i;
  };
  for (Index i = 0; i <= kMaxIterations; ++i) {
    Span span(queue, "refine", i);
    // A D = R, X += D, R := B - A X; at first R is B and X is zero. The factors may be of a scaled
    // A: (P A Q) (Q^-1 D) = P R.
    kernels.round(queue, Part::all, i == 0 ? B : R, D, status.overflow(), scaling.of_rows({0, n}));
    low->solve(D);
    kernels.widen(queue, D, T(i == 0 ? 0 : 1), X, scaling.of_columns({0, n}));
    kernels.copy(queue, Op::none, B, R);
    kernels.gemm(queue, Op::none, Op::none, T(-1), A, X, T(1), R);
    kernels.column_norms(queue, X, status.norms_of_x());
    kernels.column_norms(queue, R, status.norms_of_r());
    if (i == 0) queue.wait(*measured);
    span.end();
    status.fetch(queue);
    const Real<T> now = status.excess(n), before = least.empty() ? now : least.back();
    if (met) {
      if (status.overflowed() || !status.finite() || now >= before) return *met;
    } else {
      if (status.overflowed()) return i == 0 || !lower_precision ? kOverflow : kNoConvergence;
      if (low->info() != 0) return flow.in_halves() ? kTruncated : kNotFactored;
      // LAPACK's test lets what is not finite pass. If A and B are, then factors in a higher
      // precision need not lead there; if they are not, the outcome is LAPACK's.
      if (!status.finite() && (lower_precision || status.input_finite())) break;
    }
    least.push_back(std::min(before, now));
    if (status.converged(n)) {
      const bool was_last =
          (met && now > static_cast<Real<T>>(kNoProgress) * before) || is_rounding(least);
      bring(i);
      if (now <= kClearPart || was_last || i == kMaxIterations) return i;
    } else if (is_hopeless(least)) {
      break;
    }
  }
  return met.value_or(kNoConvergence);
}

/// Host memory X := B, from which a fall-back is resumed after a fault.
template <class T>
void copy_on_host(Device& device, HostView<const T> b, HostView<T> x) {
  if (b.empty() || device.kind_of(b.data) == MemoryKind::device ||
      device.kind_of(x.data) == MemoryKind::device) {
    return;
  }
  reference::lacpy(b, x);
}

/// Views of device memory as uploads take them.
template <class T>
Input<T> input_of(const Problem<T>& problem) {
  return {as_argument(problem.a.view()), as_argument(problem.b.view())};
}

/// Refinement with factorizations that make(options) makes, in ascending precision from
/// options.precision on, or else fall_back(A and B on the device).
template <class T, class Make, class FallBack>
Index solve(Device& device, const Options& options, std::optional<Uplo> uplo, HostView<const T> a,
            HostView<const T> b, HostView<T> x, std::vector<Index>& pivots, Refinement& refinement,
            Make make, FallBack fall_back) {
  const Problem<T> problem(device, uplo, a.rows, b.cols);
  for (const Precision precision : kPrecisions) {
    if (precision < options.precision) continue;
    Options attempt = options;
    attempt.precision = refinement.precision = precision;
    if (precision == Precision::fp16) attempt.nb += attempt.nb % 2;
    const bool arrived = precision != options.precision;
    const auto refine_with = [&](bool there) {
      return refine<T>(device, problem, make, attempt, there, a, b, x, pivots);
    };
    refinement.iter = refine_with(arrived);
    if (refinement.iter == kTruncated) refinement.iter = refine_with(true);
    if (refinement.iter >= 0) return 0;
    if (refinement.iter == kOverflow) break;  // that of float, which is the same in all of them
  }
  copy_on_host(device, b, x);
  refinement.fell_back = true;
  return fall_back(input_of(problem));
}

}  // namespace

template <class T>
Index mixed_gesv(Device& device, const cpu::Lapack<T>& cpu, const cpu::Lapack<Single<T>>& single,
                 const Options& options, HostView<T> a, Interchanges& interchanges,
                 HostView<const T> b, HostView<T> x, Refinement& refinement, Index& committed) {
  return solve<T>(
      device, options, {}, a, b, x, interchanges.pivots, refinement,
      [&](const Options& attempt) { return make_lu<Single<T>>(device, single, attempt, a.rows); },
      [&](const Input<T>& input) {
        return gesv<T>(device, cpu, options, input, a, interchanges, x, committed);
      });
}

template <class T>
Index mixed_posv(Device& device, const cpu::Lapack<T>& cpu, const cpu::Lapack<Single<T>>& single,
                 const Options& options, Uplo uplo, HostView<T> a, HostView<const T> b,
                 HostView<T> x, Refinement& refinement, Index& committed) {
  std::vector<Index> none;
  return solve<T>(
      device, options, uplo, a, b, x, none, refinement,
      [&](const Options& attempt) {
        return make_cholesky<Single<T>>(device, single, attempt, uplo, a.rows);
      },
      [&](const Input<T>& input) {
        return posv<T>(device, cpu, options, uplo, input, a, x, committed);
      });
}

#define OVERLAPACK_INSTANTIATE(T)                                                                 \
  template Index mixed_gesv<T>(Device&, const cpu::Lapack<T>&, const cpu::Lapack<Single<T>>&,     \
                               const Options&, HostView<T>, Interchanges&, HostView<const T>,     \
                               HostView<T>, Refinement&, Index&);                                 \
  template Index mixed_posv<T>(Device&, const cpu::Lapack<T>&, const cpu::Lapack<Single<T>>&,     \
                               const Options&, Uplo, HostView<T>, HostView<const T>, HostView<T>, \
                               Refinement&, Index&);
OVERLAPACK_INSTANTIATE(double)
OVERLAPACK_INSTANTIATE(std::complex<double>)

}  // namespace overlapack::algorithms
