#include "algorithms/eigen/syevd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/eigen/bisection.hpp"
#include "algorithms/eigen/divide_and_conquer.hpp"
#include "algorithms/eigen/operand_before.hpp"
#include "algorithms/eigen/reduction.hpp"
#include "algorithms/eigen/standard_form.hpp"
#include "transfer/transfer.hpp"

// A = H T H^H by the reduction, whose reflectors stay on the device, and then T = Q diag(w) Q^T:
// eigenvectors of A are the columns of Z = H Q. Columns of Z are independent, so they go home by
// groups, each of which has been multiplied by all of H before the next one begins. Where only some
// of them are wanted, divide and conquer makes all of Q, but no others go back.
//
// An upper triangle becomes a lower one by adjoining. In a generalized problem A is the C of a
// standard one (StandardForm).

namespace overlapack::algorithms {
namespace {

/// The exponent of the power of two by which a matrix with elements up to `norm` is multiplied,
/// where LAPACK scales, lest squares leave the range.
template <class R>
int exponent_of_scale(R norm) {
  const R least = std::sqrt(std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon());
  const R most = 1 / least;
  if (norm > 0 && norm < least) return std::ilogb(least) - std::ilogb(norm);
  return norm > most ? std::ilogb(most) - std::ilogb(norm) : 0;
}

/// Brings a triangle up, and waits for it.
template <class T>
void bring_up(Device& device, Index threads, Queue& queue, Uplo uplo, HostView<const T> from,
              DeviceView<T> to) {
  Index nothing_home = 0;
  Transfer transfer(device, threads, nothing_home);
  transfer.add_upload(make_region<T>(from, to, part_of(uplo)));
  transfer.start();
  transfer.before(queue, 0);
  queue.synchronize();
  transfer.finish();
}

/// Brings up what the caller has given. `to` becomes A or, of a generalized problem, C.
template <class T>
void bring_up(Device& device, const Options& options, Queue& queue, const Eigenproblem<T>& problem,
              const std::optional<StandardForm<T>>& standard, DeviceView<T> to) {
  bring_up<T>(device, options.threads, queue, problem.uplo, problem.a, to);
  if (!standard) return;
  bring_up<T>(device, options.threads, queue, problem.uplo, problem.b, standard->b());
  standard->begin(queue, to);
}
/// Of what it has become.
template <class T>
Uplo uplo_of(const Eigenproblem<T>& problem) {
  return problem.is_generalized() ? Uplo::lower : problem.uplo;
}

/// The tridiagonal matrix of a triangle that has arrived on the device.
template <class T>
class Reduced {
 public:
  using R = Real<T>;
  /// `besides`: bytes of device memory that others take.
  Reduced(Device& device, const Options& options, bool vectors, Uplo uplo, Index n,
          std::size_t besides)
      : device_(device),
        uplo_(uplo),
        n_(n),
        reduction_(make_reduction<T>(device, options, n, vectors, besides + own_bytes(n))),
        work_(device, Space::device, n),
        norm_(device, 1) {}
  static std::size_t bytes(const Device& device, const Options& options, bool vectors, Index n,
                           std::size_t besides) {
    return reduction_bytes<T>(device, options, n, vectors, besides + own_bytes(n)) + own_bytes(n);
  }

  /// Where it is to arrive.
  DeviceView<T> matrix() const { return reduction_->matrix(); }

  /// Waits for the norm, and enqueues the reduction. What it has found is at home once the queue
  /// has been waited for.
  void reduce(Queue& queue) {
    const DeviceView<T> a = matrix();
    constexpr Symmetry kSymmetry = is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
    queue.enqueue(MatrixNorm<T>{Norm::max, kSymmetry, uplo_, a,
                                DeviceView<R>(work_.data(), work_.size()), norm_.there()});
    norm_.fetch(queue);
    queue.synchronize();
    const R norm = *norm_.here();
    if (!std::isfinite(norm)) throw DeviceError("a number of the matrix is not finite");
    exponent_ = exponent_of_scale(norm);
    if (uplo_ == Uplo::upper) queue.enqueue(Mirror<T>{Uplo::upper, a});
    if (exponent_ != 0) multiply(queue, a, std::ldexp(R(1), exponent_));
    reduction_->reduce(queue);
  }

  Tridiagonal<R> tridiagonal() const {
    return Tridiagonal<R>(device_, n_, reduction_->d_here(), reduction_->e_here());
  }
  /// To be multiplied by, once prepared.
  Reduction<T>& reduction() const { return *reduction_; }

  /// The numbers of the eigenvalues that are wanted.
  Range wanted(const Eigenproblem<T>& problem) const {
    if (!problem.interval) return problem.numbers;
    const auto [low, high] = *problem.interval;
    if (!(low < high)) return {};  // one of them is not a number
    Tridiagonal<R> t = tridiagonal();
    t.scale();
    return eigenvalues_between(t, std::ldexp(low, exponent_), std::ldexp(high, exponent_));
  }
  /// Stores so many eigenvalues of A, of which those of T are given.
  void store(const R* values, Index count, const Eigenproblem<T>& problem) const {
    std::transform(values, values + count, problem.w, [&](R value) {
      const R unscaled = std::ldexp(value, -exponent_);
      return problem.interval ? problem.interval->nearest(unscaled) : unscaled;
    });
  }

 private:
  static std::size_t own_bytes(Index n) { return Buffer<R>::bytes(n) + Readout<R>::bytes(1); }
  /// Adds a product without summands.
  static void multiply(Queue& queue, DeviceView<T> a, R factor) {
    clear_imaginary_diagonal(queue, a);
    const DeviceView<const T> nothing = a.block(0, 0, a.rows, 0);
    queue.enqueue(Gemm<T>{Op::none, Op::conj_trans, T(0), nothing, nothing, T(factor), a});
  }

  Device& device_;
  const Uplo uplo_;
  const Index n_;
  const std::unique_ptr<Reduction<T>> reduction_;
  const Buffer<R> work_;  // of the norm
  const Readout<R> norm_;
  int exponent_ = 0;
};

template <class T>
std::size_t bytes_of_standard_form(const Options& options, bool generalized, Index n) {
  return generalized ? StandardForm<T>::bytes(options, n) : 0;
}

/// Of device memory, but for the reduction.
template <class T>
std::size_t bytes_besides_values(const Options& options, bool generalized, Index n) {
  return bytes_of_standard_form<T>(options, generalized, n) + bisection_bytes<Real<T>>(n);
}

template <class T>
Index find_values(Device& device, const Options& options, const Eigenproblem<T>& problem) {
  const Index n = problem.a.rows;
  Reduced<T> reduced(device, options, false, uplo_of(problem), n,
                     bytes_besides_values<T>(options, problem.is_generalized(), n));
  std::optional<StandardForm<T>> standard;
  if (problem.is_generalized()) standard.emplace(device, options, problem);
  const QueueLease queue(device, Priority::normal, "eigenvalues");
  bring_up(device, options, *queue, problem, standard, reduced.matrix());
  reduced.reduce(*queue);
  if (standard) standard->complete(options.threads);
  queue->synchronize();
  Tridiagonal<Real<T>> t = reduced.tridiagonal();
  t.scale();
  const Range wanted = reduced.wanted(problem);
  const std::vector<Real<T>> values = eigenvalues_by_number(device, t, wanted);
  if (standard) {
    Index columns_home = 0;  // nobody goes on from there
    Transfer transfer(device, options.threads, columns_home);
    transfer.add_download(standard->factor());
    transfer.start();
    transfer.release(*queue, 0);
    transfer.finish();
    standard->forget();
  }
  reduced.store(values.data(), wanted.size(), problem);
  return wanted.size();
}

template <class T>
class EigenvectorsOfHermitian {
 public:
  using R = Real<T>;
  EigenvectorsOfHermitian(Device& device, const Options& options, const Eigenproblem<T>& problem)
      : device_(device),
        options_(options),
        problem_(problem),
        n_(problem.a.rows),
        reduced_(device, options, true, uplo_of(problem), n_,
                 bytes_besides(options, problem.is_generalized(), n_, problem.z.cols)),
        solver_(device, n_),
        complex_z_(device, is_complex<T> ? n_ : 0, is_complex<T> ? problem.z.cols : 0),
        queue_(device, Priority::normal, "eigenvectors") {
    if (problem.is_over_a() && device.kind_of(problem.a.data) != MemoryKind::device) {
      before_.emplace(part_of(problem.uplo), problem.a);
    }
    if (problem.is_generalized()) standard_.emplace(device, options, problem);
  }
  static std::size_t bytes(const Device& device, const Options& options, bool generalized, Index n,
                           Index vectors) {
    const std::size_t besides = bytes_besides(options, generalized, n, vectors);
    return Reduced<T>::bytes(device, options, true, n, besides) + besides;
  }

  /// Returns how many there are.
  Index run() {
    bring_up(device_, options_, *queue_, problem_, standard_, reduced_.matrix());
    reduced_.reduce(*queue_);
    if (standard_) standard_->complete(options_.threads);
    if (before_) before_->complete(options_.threads);
    queue_->synchronize();
    const Range wanted = reduced_.wanted(problem_);
    if (!wanted.empty()) {
      reduced_.reduction().prepare(*queue_);  // while the host sees to T
      solve(wanted);
    }
    go_back(wanted.size());
    reduced_.store(solver_.eigenvalues().data() + wanted.first, wanted.size(), problem_);
    if (before_) before_->forget();
    if (standard_) standard_->forget();
    return wanted.size();
  }

 private:
  /// Of device memory, but for the reduction.
  static std::size_t bytes_besides(const Options& options, bool generalized, Index n,
                                   Index vectors) {
    return bytes_of_standard_form<T>(options, generalized, n) + DivideAndConquer<R>::bytes(n) +
           DeviceMatrix<T>::bytes(is_complex<T> ? n : 0, is_complex<T> ? vectors : 0);
  }
  /// A real Z has the place of what divide and conquer does not need any more.
  DeviceView<T> z(Index count) const {
    if constexpr (is_complex<T>) {
      return complex_z_.view().block(0, 0, n_, count);
    } else {
      return solver_.spare().block(0, 0, n_, count);
    }
  }

  /// Z becomes some columns of Q.
  void solve(Range wanted) {
    Tridiagonal<R> t = reduced_.tridiagonal();
    t.cut();
    t.scale();
    solver_.run(*queue_, t);
    solver_.take(*queue_, as_reals(z(wanted.size())), kRealsOfNumber<T>, wanted.first);
  }
  void go_back(Index count) {
    Index columns_home = 0;  // nobody goes on from there
    Transfer transfer(device_, options_.threads, columns_home);
    const std::vector<Range> groups = partition(count, vectors_at_once<T>(options_, n_));
    const Range all = {0, n_};
    for (const Range& j : groups) {
      transfer.add_download(make_region<T>(problem_.z.block(all, j), z(count).block(all, j)));
    }
    if (standard_) transfer.add_download(standard_->factor());
    transfer.start();
    reduced_.reduction().begin_to_multiply(*queue_, z(count));
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const DeviceView<T> columns = z(count).block(all, groups[g]);
      reduced_.reduction().multiply(*queue_, columns);
      if (standard_) standard_->go_back(*queue_, columns);
      transfer.release(*queue_, static_cast<Index>(g));
    }
    if (standard_) transfer.release(*queue_, static_cast<Index>(groups.size()));
    transfer.finish();
  }

  Device& device_;
  const Options& options_;
  const Eigenproblem<T>& problem_;
  const Index n_;
  std::optional<OperandBefore<T>> before_;
  std::optional<StandardForm<T>> standard_;
  Reduced<T> reduced_;
  DivideAndConquer<R> solver_;
  const DeviceMatrix<T> complex_z_;
  const QueueLease queue_;
};

}  // namespace

template <class T>
Index solve_eigenproblem(Device& device, const Options& options, const Eigenproblem<T>& problem) {
  return problem.vectors() ? EigenvectorsOfHermitian<T>(device, options, problem).run()
                           : find_values<T>(device, options, problem);
}

template <class T>
std::size_t eigenproblem_bytes(const Device& device, const Options& options, bool generalized,
                               Index n, Index vectors) {
  if (vectors > 0) {
    return EigenvectorsOfHermitian<T>::bytes(device, options, generalized, n, vectors);
  }
  const std::size_t besides = bytes_besides_values<T>(options, generalized, n);
  return Reduced<T>::bytes(device, options, false, n, besides) + besides;
}

#define OVERLAPACK_INSTANTIATE(T)                                                        \
  template Index solve_eigenproblem<T>(Device&, const Options&, const Eigenproblem<T>&); \
  template std::size_t eigenproblem_bytes<T>(const Device&, const Options&, bool, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
