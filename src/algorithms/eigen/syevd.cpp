#include "algorithms/eigen/syevd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "algorithms/eigen/bisection.hpp"
#include "algorithms/eigen/divide_and_conquer.hpp"
#include "algorithms/eigen/operand_before.hpp"
#include "algorithms/eigen/tridiagonalization.hpp"
#include "algorithms/qr/given_blocks.hpp"
#include "transfer/transfer.hpp"

// A = H T H^H by the reduction, whose reflectors H = H_1 H_2 ... stay on the device, and then
// T = Q diag(w) Q^T: eigenvectors of A are the columns of Z = H Q. Rows of H and Q but the first
// one are multiplied, by blocks of reflectors, the last one first. Columns of Z are independent, so
// they go home by groups, each of which has been through all blocks before the next one begins.
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
  Reduced(Device& device, const Options& options, Uplo uplo, Index n)
      : device_(device),
        uplo_(uplo),
        n_(n),
        reduction_(device, options_of_reduction(device, options), n),
        work_(device, Space::device, n),
        norm_(device, 1) {}
  static std::size_t bytes(const Device& device, const Options& options, Index n) {
    return Tridiagonalization<T>::bytes(device, options_of_reduction(device, options), n) +
           Buffer<R>::bytes(n) + Readout<R>::bytes(1);
  }

  /// Where it is to arrive; and what the reduction makes of it.
  DeviceView<T> matrix() const { return reduction_.matrix(); }

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
    reduction_.reduce(queue);
    reduction_.fetch(queue);
  }

  Tridiagonal<R> tridiagonal() const {
    return Tridiagonal<R>(device_, n_, reduction_.d_here(), reduction_.e_here());
  }
  /// The reflectors of H without its first row and column, which are those of the unit matrix.
  DeviceView<T> reflectors() const { return matrix().block(1, 0, n_ - 1, n_ - 1); }
  HostView<const T> tau() const { return {reduction_.tau_here(), n_ - 1}; }

  /// Stores the eigenvalues of A, of which those of T are given.
  void store(const std::vector<R>& values, R* w) const {
    std::transform(values.begin(), values.end(), w,
                   [this](R value) { return std::ldexp(value, -exponent_); });
  }

 private:
  static Options options_of_reduction(const Device& device, Options options) {
    options.nb = std::min(options.nb, device.tuning().eigen.panel_columns);
    return options;
  }
  /// Adds a product without summands.
  static void multiply(Queue& queue, DeviceView<T> a, R factor) {
    clear_imaginary_diagonal(queue, a);
    const DeviceView<const T> nothing = a.block(0, 0, a.rows, 0);
    queue.enqueue(Gemm<T>{Op::none, Op::conj_trans, T(0), nothing, nothing, T(factor), a});
  }

  Device& device_;
  const Uplo uplo_;
  const Index n_;
  const Tridiagonalization<T> reduction_;
  const Buffer<R> work_;  // of the norm
  const Readout<R> norm_;
  int exponent_ = 0;
};

template <class T>
void find_values(Device& device, const Options& options, Uplo uplo, HostView<const T> a,
                 Real<T>* w) {
  const Index n = a.rows;
  Reduced<T> reduced(device, options, uplo, n);
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
        nb_(columns_of_block(options, a.rows)),
        groups_(partition(a.cols, GivenBlocks<T>::columns_at_once(nb_, a.cols))),
        reduced_(device, options, uplo, a.rows),
        solver_(device, a.rows),
        complex_z_(device, order_of_complex_z(a.rows), order_of_complex_z(a.rows)),
        queue_(device, Priority::normal, "eigenvectors") {
    if (device.kind_of(a.data) != MemoryKind::device) before_.emplace(part_, a);
  }
  static std::size_t bytes(const Device& device, const Options& options, Index n) {
    const Index nb = columns_of_block(options, n);
    return Reduced<T>::bytes(device, options, n) + DivideAndConquer<R>::bytes(n) +
           DeviceMatrix<T>::bytes(order_of_complex_z(n), order_of_complex_z(n)) +
           GivenBlocks<T>::bytes(n - 1, nb, Side::left, GivenBlocks<T>::columns_at_once(nb, n));
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
    const std::vector<Range> blocks = prepare_way_back();
    solve();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const DeviceView<T> below = z().block({1, a_.rows}, groups_[g]);
      for (auto b = blocks.rbegin(); b != blocks.rend(); ++b) {
        way_back_->multiply(*queue_, Op::none, *b, below);
      }
      transfer.release(*queue_, static_cast<Index>(g));
    }
    transfer.finish();
    if (before_) before_->forget();
    reduced_.store(solver_.eigenvalues(), w);
  }

 private:
  static Index columns_of_block(const Options& options, Index n) {
    return std::min(options.nb, n - 1);
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

  /// The device makes blocks of the reflectors, while the host sees to T. Returns their columns.
  std::vector<Range> prepare_way_back() {
    const Index lines = groups_.front().size();
    way_back_.emplace(device_, reduced_.reflectors(), reduced_.tau(), nb_, Side::left, lines);
    const std::vector<Range> blocks = partition(a_.rows - 1, nb_);
    way_back_->prepare(*queue_);
    for (const Range& b : blocks) way_back_->complete(*queue_, b);
    return blocks;
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
  const Index nb_;
  const std::vector<Range> groups_;  // of columns of Z
  std::optional<OperandBefore<T>> before_;
  Reduced<T> reduced_;
  DivideAndConquer<R> solver_;
  const DeviceMatrix<T> complex_z_;
  std::optional<GivenBlocks<T>> way_back_;
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
                 : Reduced<T>::bytes(device, options, n) + bisection_bytes<Real<T>>(n);
}

#define OVERLAPACK_INSTANTIATE(T)                                                     \
  template void syevd<T>(Device&, const Options&, bool, Uplo, HostView<T>, Real<T>*); \
  template std::size_t syevd_bytes<T>(const Device&, const Options&, bool, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
