#include "algorithms/eigen/stedc.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/eigen/divide_and_conquer.hpp"
#include "algorithms/eigen/operand_before.hpp"
#include "transfer/transfer.hpp"

// Q is real. Of a complex matrix columns are pairs of real numbers, so that Z Q is one product of
// real matrices, of which Z has twice as many rows.
//
// Columns go home in blocks, while those behind them are multiplied or put in order. d is stored at
// the end, when nothing can fail any more. A Z that is read is copied before, by threads that have
// nothing else to do while the device computes, and restored if something fails.

namespace overlapack::algorithms {
namespace {

template <class T>
class Eigenvectors {
 public:
  using R = Real<T>;
  Eigenvectors(Device& device, const Options& options, bool multiplies, HostView<T> z)
      : device_(device),
        options_(options),
        multiplies_(multiplies),
        z_(z),
        blocks_(partition(z.cols, options.nb)),
        solver_(device, z.rows),
        given_(device, multiplies ? z.rows : 0, multiplies ? z.cols : 0),
        result_(device, z.rows, z.cols),
        queue_(device, Priority::normal, "eigenvectors") {
    if (multiplies && device.kind_of(z.data) != MemoryKind::device) before_.emplace(Part::all, z);
  }
  static std::size_t bytes(Index n) {
    return DivideAndConquer<R>::bytes(n) + 2 * DeviceMatrix<T>::bytes(n, n);
  }

  /// Returns the eigenvalues.
  const std::vector<R>& run(const Tridiagonal<R>& t, Index& committed) {
    Transfer transfer(device_, options_.threads, committed);
    const Range all = {0, z_.rows};
    if (multiplies_) transfer.add_upload(make_region<T>(z_, given_.view()));
    for (const Range& j : blocks_) {
      transfer.add_download(make_region<T>(z_.block(all, j), result_.view().block(all, j)));
    }
    if (before_) transfer.when_idle([this](Index) { return before_->copy_some(); });
    transfer.start();
    solver_.run(*queue_, t);
    if (multiplies_) {
      solver_.take(*queue_, solver_.spare());
      transfer.before(*queue_, 0);
    } else {
      solver_.take(*queue_, as_reals(result_.view()), kRealsOfNumber<T>);
    }
    if (before_) before_->complete(options_.threads);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (multiplies_) multiply(blocks_[b]);
      transfer.release(*queue_, static_cast<Index>(b));
    }
    transfer.finish();
    if (before_) before_->forget();
    return solver_.eigenvalues();
  }

 private:
  /// Columns j of Z Q.
  void multiply(Range j) const {
    const Range all = {0, z_.rows};
    const DeviceView<R> product = as_reals(result_.view().block(all, j));
    queue_->enqueue(Gemm<R>{Op::none, Op::none, R(1), as_reals(given_.view()),
                            solver_.spare().block(all, j), R(0), product});
  }

  Device& device_;
  const Options& options_;
  const bool multiplies_;
  const HostView<T> z_;
  const std::vector<Range> blocks_;
  DivideAndConquer<R> solver_;
  const DeviceMatrix<T> given_, result_;
  std::optional<OperandBefore<T>> before_;
  const QueueLease queue_;
};

}  // namespace

template <class T>
void stedc(Device& device, const Options& options, bool multiplies, Real<T>* d, const Real<T>* e,
           HostView<T> z, Index& committed) {
  Tridiagonal<Real<T>> t(device, z.rows, d, e);
  t.cut();
  t.scale();
  Eigenvectors<T> vectors(device, options, multiplies, z);
  const std::vector<Real<T>>& values = vectors.run(t, committed);
  std::copy(values.begin(), values.end(), d);
}

template <class T>
std::size_t stedc_bytes(Index n) {
  return Eigenvectors<T>::bytes(n);
}

#define OVERLAPACK_INSTANTIATE(T)                                                              \
  template void stedc<T>(Device&, const Options&, bool, Real<T>*, const Real<T>*, HostView<T>, \
                         Index&);                                                              \
  template std::size_t stedc_bytes<T>(Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
