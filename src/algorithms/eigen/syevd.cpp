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
#include "transfer/transfer.hpp"

// A = H T H^H by the reduction, whose reflectors stay on the device, and then T = Q diag(w) Q^T:
// eigenvectors of A are the columns of Z = H Q. Columns of Z are independent, so they go home by
// groups, each of which has been multiplied by all of H before the next one begins.
//
// An upper triangle becomes a lower one by adjoining.

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

  /// Stores the eigenvalues of A, of which those of T are given.
  void store(const std::vector<R>& values, R* w) const {
    std::transform(values.begin(), values.end(), w,
                   [this](R value) { return std::ldexp(value, -exponent_); });
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
void find_values(Device& device, const Options& options, Uplo uplo, HostView<const T> a,
                 Real<T>* w) {
  const Index n = a.rows;
  Reduced<T> reduced(device, options, false, uplo, n, bisection_bytes<Real<T>>(n));
  const QueueLease queue(device, Priority::normal, "eigenvalues");
  Index nothing_home = 0;
  Transfer transfer(device, options.threads, nothing_home);
  transfer.add_upload(make_region<T>(a, reduced.matrix(), part_of(uplo)));
  transfer.start();
  transfer.before(*queue, 0);
  reduced.reduce(*queue);
  queue->synchronize();
  transfer.finish();
  Tridiagonal<Real<T>> t = reduced.tridiagonal();
  t.scale();
  reduced.store(eigenvalues_by_number(device, t, {0, n}), w);
}

template <class T>
class EigenvectorsOfHermitian {
 public:
  using R = Real<T>;
  EigenvectorsOfHermitian(Device& device, const Options& options, Uplo uplo, HostView<T> a)
      : device_(device),
        options_(options),
        part_(part_of(uplo)),
        a_(a),
        groups_(partition(a.cols, vectors_at_once<T>(options, a.cols))),
        reduced_(device, options, true, uplo, a.rows, bytes_besides(a.rows)),
        solver_(device, a.rows),
        complex_z_(device, order_of_complex_z(a.rows), order_of_complex_z(a.rows)),
        queue_(device, Priority::normal, "eigenvectors") {
    if (device.kind_of(a.data) != MemoryKind::device) before_.emplace(part_, a);
  }
  static std::size_t bytes(const Device& device, const Options& options, Index n) {
    return Reduced<T>::bytes(device, options, true, n, bytes_besides(n)) + bytes_besides(n);
  }

  void run(R* w) {
    Index columns_home = 0;  // nobody goes on from there
    Transfer transfer(device_, options_.threads, columns_home);
    transfer.add_upload(make_region<T>(a_, reduced_.matrix(), part_));
    const Range all = {0, a_.rows};
    for (const Range& j : groups_) {
      transfer.add_download(make_region<T>(a_.block(all, j), z().block(all, j)));
    }
    transfer.start();
    transfer.before(*queue_, 0);
    reduced_.reduce(*queue_);
    if (before_) before_->complete();
    queue_->synchronize();
    reduced_.reduction().prepare(*queue_);  // while the host sees to T
    solve();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      reduced_.reduction().multiply(*queue_, z().block(all, groups_[g]));
      transfer.release(*queue_, static_cast<Index>(g));
    }
    transfer.finish();
    if (before_) before_->forget();
    reduced_.store(solver_.eigenvalues(), w);
  }

 private:
  /// Of device memory, but for the reduction.
  static std::size_t bytes_besides(Index n) {
    return DivideAndConquer<R>::bytes(n) +
           DeviceMatrix<T>::bytes(order_of_complex_z(n), order_of_complex_z(n));
  }
  /// A real Z has the place of what divide and conquer does not need any more.
  static Index order_of_complex_z(Index n) { return is_complex<T> ? n : 0; }
  DeviceView<T> z() const {
    if constexpr (is_complex<T>) {
      return complex_z_.view();
    } else {
      return solver_.spare();
    }
  }

  /// Z := Q.
  void solve() {
    Tridiagonal<R> t = reduced_.tridiagonal();
    t.cut();
    t.scale();
    solver_.run(*queue_, t);
    solver_.take(*queue_, as_reals(z()), kRealsOfNumber<T>);
  }

  Device& device_;
  const Options& options_;
  const Part part_;
  const HostView<T> a_;
  const std::vector<Range> groups_;  // of columns of Z
  std::optional<OperandBefore<T>> before_;
  Reduced<T> reduced_;
  DivideAndConquer<R> solver_;
  const DeviceMatrix<T> complex_z_;
  const QueueLease queue_;
};

}  // namespace

template <class T>
void syevd(Device& device, const Options& options, bool vectors, Uplo uplo, HostView<T> a,
           Real<T>* w) {
  if (vectors) {
    EigenvectorsOfHermitian<T>(device, options, uplo, a).run(w);
  } else {
    find_values<T>(device, options, uplo, a, w);
  }
}

template <class T>
std::size_t syevd_bytes(const Device& device, const Options& options, bool vectors, Index n) {
  return vectors ? EigenvectorsOfHermitian<T>::bytes(device, options, n)
                 : Reduced<T>::bytes(device, options, false, n, bisection_bytes<Real<T>>(n)) +
                       bisection_bytes<Real<T>>(n);
}

#define OVERLAPACK_INSTANTIATE(T)                                                     \
  template void syevd<T>(Device&, const Options&, bool, Uplo, HostView<T>, Real<T>*); \
  template std::size_t syevd_bytes<T>(const Device&, const Options&, bool, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
