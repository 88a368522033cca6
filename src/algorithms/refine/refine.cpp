#include "algorithms/refine/refine.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/cholesky/cholesky.hpp"
#include "algorithms/lu/lu.hpp"
#include "algorithms/refine/rounded_flow.hpp"
#include "algorithms/shared/factorization.hpp"
#include "cpu/reference.hpp"
#include "device/timeline.hpp"
#include "transfer/transfer.hpp"

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
constexpr double kFastRate = 0.01, kRoundingPart = 0.25;
/// LAPACK's for reasons of the machine: the device cannot round to single precision.
constexpr Index kNoRounding = -1;
constexpr Index kOverflow = -2;
/// The factorization broke down, of an A cut off after 21 bits; of one rounded to 24 it may not.
constexpr Index kTruncated = -4;

/// Numbers of the device that the host looks at after every step.
template <class T>
class Status {
 public:
  Status(Device& device, Index n, Index nrhs)
      : n_(n), nrhs_(nrhs), norms_(device, 3 * nrhs + 1), overflow_(device, 1) {}
  /// Of device memory.
  static std::size_t bytes(Index nrhs) {
    return Readout<Real<T>>::bytes(3 * nrhs + 1) + Readout<Index>::bytes(1);
  }

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
  bool converged() const {
    for (Index j = 0; j < nrhs_; ++j) {
      if (norm_of_r(j) > limit(j)) return false;
    }
    return true;
  }
  /// How many times larger than its limit the worst residual is. (One of zero may have a limit of
  /// zero, too, and counts for nothing.)
  Real<T> excess() const {
    Real<T> worst(0);
    for (Index j = 0; j < nrhs_; ++j) worst = std::max(worst, norm_of_r(j) / limit(j));
    return worst;
  }

 private:
  bool finite(Index first, Index end) const {
    return std::all_of(norms_.here() + first, norms_.here() + end,
                       [](Real<T> norm) { return std::isfinite(norm); });
  }
  Real<T> norm_of_r(Index j) const { return norms_.here()[1 + nrhs_ + j]; }
  Real<T> limit(Index j) const {
    constexpr Real<T> eps = std::numeric_limits<Real<T>>::epsilon() / 2;
    const Real<T>* const norms = norms_.here();  // of A, then of the columns of X, R and B
    return norms[1 + j] * (norms[0] * eps * std::sqrt(static_cast<Real<T>>(n_)));
  }

  Index n_, nrhs_;
  Readout<Real<T>> norms_;
  Readout<Index> overflow_;
};

/// Whether kMaxIterations will not be enough. `least` are the residuals of the steps until now over
/// their limit: of the worst right-hand side, and the least so far. They are not enough if not even
/// twice the digits of the last steps, each time, would do: the rate varies that much from one step
/// to the next. Close to the limit rounding decides, and nothing can be foretold.
template <class R>
bool is_hopeless(const std::vector<R>& least) {
  constexpr R kMinHopelessRatio = 8;
  constexpr Index kFirstJudgedStep = 2,
                  kJudgedSteps = 4;  // the first step may be unlike the others
  const Index i = static_cast<Index>(least.size()) - 1, from = std::max<Index>(0, i - kJudgedSteps);
  const R now = least[at(i)], rates = now / least[at(from)];
  const auto left = static_cast<R>(kMaxIterations - i), seen = static_cast<R>(i - from);
  return i >= kFirstJudgedStep && now > kMinHopelessRatio &&
         now * std::pow(rates, 2 * left / seen) > 1;
}

/// Whether the last residual is rounding, which no further step would make less. `least` as above.
template <class R>
bool is_rounding(const std::vector<R>& least) {
  const std::size_t count = least.size();
  if (count < 3) return false;
  const R rate = least[count - 2] / least[count - 3], last = least[count - 1] / least[count - 2];
  return least.back() <= static_cast<R>(kRoundingPart) && rate <= static_cast<R>(kFastRate) &&
         last > std::sqrt(rate);
}

/// Solves A X = B by refinement with one factorization in single precision.
template <class T>
class Refiner {
 public:
  /// `low` is what factors, made with the same options.
  Refiner(Device& device, const Problem<T>& problem, const Options& options,
          std::unique_ptr<Factorization<Single<T>>> low)
      : device_(device),
        kernels_(device.kernels<T>()),
        problem_(problem),
        options_(options),
        status_(device, n(), nrhs()),
        x_(device, n(), nrhs()),
        r_(device, n(), nrhs()),
        correction_(device, n(), nrhs()),
        sums_(device, Space::device, problem.uplo ? n() : 0),
        products_(device, Space::device,
                  problem.by_triangle() ? device.kernels<T>().hemv_work(n()) : 0),
        complete_(device),
        measured_(device),
        scaling_(device, n(), scales(options), problem.uplo.has_value()),
        low_(std::move(low)),
        flow_(device, problem, options, low_->input(), status_.overflow(), scaling_) {
    flow_.queue().zero(status_.overflow().data, sizeof(Index));
  }
  /// Of device memory, without what factors. `hermitian`: one triangle of A is given.
  static std::size_t bytes(const Kernels<T>& kernels, const Options& options, bool hermitian,
                           Index n, Index nrhs) {
    const bool by_triangle = hermitian && nrhs == 1;  // Problem::by_triangle()
    return Status<T>::bytes(nrhs) + 2 * DeviceMatrix<T>::bytes(n, nrhs) +
           DeviceMatrix<Single<T>>::bytes(n, nrhs) + Buffer<Real<T>>::bytes(hermitian ? n : 0) +
           Buffer<T>::bytes(by_triangle ? kernels.hemv_work(n) : 0) +
           Scaling<T>::bytes(n, scales(options)) +
           RoundedFlow<T>::bytes(options, n, scales(options));
  }

  /// Brings A and B up. Without this they must be there.
  void start(HostView<const T> a, HostView<const T> b) { flow_.start(a, b); }
  /// Returns LAPACK's iter, or kTruncated. If that is not negative, X is in `x` and `pivots` are
  /// set.
  Index solve(HostView<T> x, std::vector<Index>& pivots);

 private:
  static bool scales(const Options& options) { return options.precision == Precision::fp16; }
  Index n() const { return problem_.b.view().rows; }
  Index nrhs() const { return problem_.b.view().cols; }
  bool in_lower_precision() const { return options_.precision != Precision::fp32; }

  void factor();
  void step(Index i);
  std::optional<Index> failure(Index i) const;

  Device& device_;
  Kernels<T>& kernels_;
  const Problem<T>& problem_;
  const Options& options_;
  Status<T> status_;
  DeviceMatrix<T> x_, r_;
  DeviceMatrix<Single<T>> correction_;
  Buffer<Real<T>> sums_;            // of the rows of a triangle
  Buffer<T> products_;              // with a triangle
  EventLease complete_, measured_;  // A and B are there; their norms are
  Scaling<T> scaling_;
  std::unique_ptr<Factorization<Single<T>>> low_;
  RoundedFlow<T> flow_;
};

template <class T>
void Refiner<T>::factor() {
  const bool hermitian = problem_.uplo.has_value();
  Queue& queue = flow_.queue();
  low_->factor(flow_);
  flow_.finish();
  queue.record(*complete_);
  // While the last blocks are factored, and the first solution is found.
  queue.enqueue(MatrixNorm<T>{Norm::infinity,
                              hermitian ? Symmetry::hermitian : Symmetry::none,
                              problem_.uplo.value_or(Uplo::lower),
                              problem_.a.view(),
                              {sums_.data(), sums_.size()},
                              status_.norm_of_a()});
  queue.enqueue(ColumnNorms<T>{problem_.b.view(), status_.norms_of_b()});
  queue.record(*measured_);
  low_->queue().wait(*complete_);
}

/// A D = R, X += D, R := B - A X; in step 0 R is B and X is zero. The factors may be of a scaled A:
/// (P A Q) (Q^-1 D) = P R.
template <class T>
void Refiner<T>::step(Index i) {
  const DeviceView<T> a = problem_.a.view(), b = problem_.b.view(), x = x_.view(), r = r_.view();
  const DeviceView<Single<T>> d = correction_.view();
  Queue& queue = low_->queue();
  Span span(queue, "refine", i);
  queue.enqueue(
      Round<T>{Part::all, i == 0 ? b : r, d, status_.overflow(), scaling_.of_rows({0, n()})});
  low_->solve(d);
  queue.enqueue(Widen<T>{d, T(i == 0 ? 0 : 1), x, scaling_.of_columns({0, n()})});
  queue.enqueue(Copy<T>{Op::none, b, r});
  if (problem_.by_triangle()) {
    queue.enqueue(Hemv<T>{*problem_.uplo, a, x, r, {products_.data(), products_.size()}});
  } else {
    queue.enqueue(Gemm<T>{Op::none, Op::none, T(-1), a, x, T(1), r});
  }
  queue.enqueue(ColumnNorms<T>{x, status_.norms_of_x()});
  queue.enqueue(ColumnNorms<T>{r, status_.norms_of_r()});
  if (i == 0) queue.wait(*measured_);
  span.end();
  status_.fetch(queue);
}

/// What there is to be said of step i, and of the factorization before it, but that the residuals
/// are too large.
template <class T>
std::optional<Index> Refiner<T>::failure(Index i) const {
  if (status_.overflowed()) return i == 0 || !in_lower_precision() ? kOverflow : kNoConvergence;
  if (low_->info() != 0) return flow_.in_halves() ? kTruncated : kNotFactored;
  // LAPACK's test lets what is not finite pass. If A and B are, then factors in a higher precision
  // need not lead there; if they are not, the outcome is LAPACK's.
  if (!status_.finite() && (in_lower_precision() || status_.input_finite())) return kNoConvergence;
  return {};
}

template <class T>
Index Refiner<T>::solve(HostView<T> x, std::vector<Index>& pivots) {
  factor();
  std::vector<Real<T>> least;  // after each step, for is_hopeless()
  std::optional<Index> met;    // the step whose X is at home: its residual is within the limit
  for (Index i = 0; i <= kMaxIterations; ++i) {
    step(i);
    const Real<T> now = status_.excess(), before = least.empty() ? now : least.back();
    if (met) {
      if (status_.overflowed() || !status_.finite() || now >= before) return *met;
    } else if (const std::optional<Index> reason = failure(i)) {
      return *reason;
    }
    least.push_back(std::min(before, now));
    if (status_.converged()) {
      const bool was_last =
          (met && now > static_cast<Real<T>>(kNoProgress) * before) || is_rounding(least);
      Index unused = 0;
      bring_home(device_, options_.threads, low_->queue(), x_.view(), x, unused);
      pivots = low_->pivots();
      met = i;
      if (now <= kClearPart || was_last) return i;
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

/// The options of a factorization in that precision.
Options with_precision(Options options, Precision precision) {
  options.precision = precision;
  if (precision == Precision::fp16) options.nb += options.nb % 2;
  return options;
}

/// Refinement with factorizations that make(options) makes, in ascending precision from
/// options.precision on, or else fall_back(A and B on the device).
template <class T, class Make, class FallBack>
Index solve(Device& device, const Options& options, std::optional<Uplo> uplo,
            const System<T>& system, std::vector<Index>& pivots, Refinement& refinement, Make make,
            FallBack fall_back) {
  if (device.kernels<T>().rounding() == nullptr) {
    copy_on_host(device, system.b, system.x);
    refinement.iter = kNoRounding;
    refinement.fell_back = true;
    return fall_back(Input<T>{system.a, system.b});
  }
  const Problem<T> problem(device, uplo, system.a.rows, system.b.cols);
  bool arrived = false;
  for (const Precision precision : kPrecisions) {
    if (precision < options.precision) continue;
    const Options attempt = with_precision(options, precision);
    refinement.precision = precision;
    const auto refine = [&] {
      Refiner<T> refiner(device, problem, attempt, make(attempt));
      if (!arrived) refiner.start(system.a, system.b);
      arrived = true;
      return refiner.solve(system.x, pivots);
    };
    refinement.iter = refine();
    if (refinement.iter == kTruncated) refinement.iter = refine();
    if (refinement.iter >= 0) return 0;
    if (refinement.iter == kOverflow) break;  // that of float, which is the same in all of them
  }
  copy_on_host(device, system.b, system.x);
  refinement.fell_back = true;
  return fall_back(input_of(problem));
}

/// Bytes of device memory that solve() takes, if factorizations in lower precision take
/// make(options), and the fall-back takes `fall_back`.
template <class T, class Make>
std::size_t solve_bytes(Device& device, const Options& options, bool hermitian, Index n, Index nrhs,
                        Make make, std::size_t fall_back) {
  if (device.kernels<T>().rounding() == nullptr) return fall_back;
  std::size_t largest = fall_back;  // of what comes one after the other
  for (const Precision precision : kPrecisions) {
    if (precision < options.precision) continue;
    const Options attempt = with_precision(options, precision);
    largest =
        std::max(largest, Refiner<T>::bytes(device.kernels<T>(), attempt, hermitian, n, nrhs) +
                              make(attempt));
  }
  return Problem<T>::bytes(n, nrhs) + largest;
}

}  // namespace

template <class T>
Index mixed_gesv(Device& device, const MixedLapack<T>& cpu, const Options& options,
                 const System<T>& system, Interchanges& interchanges, Refinement& refinement,
                 Index& committed) {
  return solve<T>(
      device, options, {}, system, interchanges.pivots, refinement,
      [&](const Options& attempt) {
        return make_lu<Single<T>>(device, cpu.in_single, attempt, system.a.rows);
      },
      [&](const Input<T>& input) {
        return gesv<T>(device, cpu.in_double, options, input, system.a, interchanges, system.x,
                       committed);
      });
}

template <class T>
Index mixed_posv(Device& device, const MixedLapack<T>& cpu, const Options& options, Uplo uplo,
                 const System<T>& system, Refinement& refinement, Index& committed) {
  std::vector<Index> none;
  return solve<T>(
      device, options, uplo, system, none, refinement,
      [&](const Options& attempt) {
        return make_cholesky<Single<T>>(device, cpu.in_single, attempt, uplo, system.a.rows);
      },
      [&](const Input<T>& input) {
        return posv<T>(device, cpu.in_double, options, uplo, input, system.a, system.x, committed);
      });
}

template <class T>
std::size_t mixed_gesv_bytes(Device& device, const Options& options, Index n, Index nrhs) {
  return solve_bytes<T>(
      device, options, false, n, nrhs,
      [&](const Options& attempt) { return lu_bytes<Single<T>>(device, attempt, n, nrhs); },
      gesv_bytes<T>(device, options, n, n, nrhs, true));
}

template <class T>
std::size_t mixed_posv_bytes(Device& device, const Options& options, Index n, Index nrhs) {
  return solve_bytes<T>(
      device, options, true, n, nrhs,
      [&](const Options& attempt) {
        return std::max(cholesky_bytes<Single<T>>(device, attempt, Uplo::lower, n, nrhs),
                        cholesky_bytes<Single<T>>(device, attempt, Uplo::upper, n, nrhs));
      },
      posv_bytes<T>(device, options, n, nrhs));
}

#define OVERLAPACK_INSTANTIATE(T)                                                                \
  template std::size_t mixed_gesv_bytes<T>(Device&, const Options&, Index, Index);               \
  template std::size_t mixed_posv_bytes<T>(Device&, const Options&, Index, Index);               \
  template Index mixed_gesv<T>(Device&, const MixedLapack<T>&, const Options&, const System<T>&, \
                               Interchanges&, Refinement&, Index&);                              \
  template Index mixed_posv<T>(Device&, const MixedLapack<T>&, const Options&, Uplo,             \
                               const System<T>&, Refinement&, Index&);
OVERLAPACK_INSTANTIATE(double)
OVERLAPACK_INSTANTIATE(std::complex<double>)

}  // namespace overlapack::algorithms
