#include "algorithms/eigen/stedc.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include "algorithms/eigen/divide_and_conquer.hpp"
#include "transfer/transfer.hpp"

// Q is real. Of a complex matrix columns are pairs of real numbers, so that Z Q is one product of
// real matrices, of which Z has twice as many rows.
//
// Columns go home in blocks, while those behind them are multiplied or put in order. d is stored at
// the end, when nothing can fail any more. A Z that is read is copied before, by threads that have
// nothing else to do while the device computes, and restored if something fails.

namespace overlapack::algorithms {
namespace {

/// A copy of a matrix in ordinary memory.
template <class T>
class Backup {
 public:
  explicit Backup(HostView<T> a)
      : a_(a),
        columns_(std::max<Index>(kTaskBytes / static_cast<Index>(sizeof(T)) / a.rows, 1)),
        tasks_(quotient_up(a.cols, columns_)),
        memory_(static_cast<T*>(std::malloc(sizeof(T) * at(a.rows * a.cols)))) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }

  /// Copies some of the columns that nobody has taken yet. False if there are none.
  bool copy_some() {
    const Index task = next_++;
    if (task >= tasks_) return false;
    copy(a_, copy_of_a(), columns_of(task));
    ++done_;
    return true;
  }
  /// Copies what is left, and waits for other threads. The matrix must not change before.
  void complete() {
    while (copy_some()) continue;
    while (done_.load() < tasks_) std::this_thread::yield();
  }
  /// The matrix becomes what it was, if it may have changed.
  void restore() const {
    if (done_.load() == tasks_) copy(copy_of_a(), a_, {0, a_.cols});
  }

 private:
  static constexpr Index kTaskBytes = Index{1} << 22;
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };

  HostView<T> copy_of_a() const { return {memory_.get(), a_.rows, a_.cols, a_.rows}; }
  Range columns_of(Index task) const {
    return {task * columns_, std::min((task + 1) * columns_, a_.cols)};
  }
  static void copy(HostView<T> from, HostView<T> to, Range columns) {
    for (Index j = columns.first; j < columns.last; ++j) {
      std::copy_n(&from(0, j), from.rows, &to(0, j));
    }
  }

  const HostView<T> a_;
  const Index columns_, tasks_;
  const std::unique_ptr<T, Free> memory_;
  std::atomic<Index> next_{0}, done_{0};
};

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
    if (multiplies && device.kind_of(z.data) != MemoryKind::device) backup_.emplace(z);
  }
  static std::size_t bytes(Index n) {
    return DivideAndConquer<R>::bytes(n) + 2 * DeviceMatrix<T>::bytes(n, n);
  }

  /// Returns the eigenvalues.
  const std::vector<R>& run(const Tridiagonal<R>& t, Index& committed) {
    try {
      compute(t, committed);
    } catch (...) {
      if (backup_) backup_->restore();
      throw;
    }
    return solver_.eigenvalues();
  }

 private:
  void compute(const Tridiagonal<R>& t, Index& committed) {
    Transfer transfer(device_, options_.threads, committed);
    const Range all = {0, z_.rows};
    if (multiplies_) transfer.add_upload(make_region<T>(z_, given_.view()));
    for (const Range& j : blocks_) {
      transfer.add_download(make_region<T>(z_.block(all, j), result_.view().block(all, j)));
    }
    if (backup_) transfer.when_idle([this](Index) { return backup_->copy_some(); });
    transfer.start();
    solver_.run(*queue_, t);
    if (multiplies_) {
      solver_.take(*queue_, solver_.spare());
      transfer.before(*queue_, 0);
    } else {
      solver_.take(*queue_, as_reals(result_.view()), kRealsOfNumber<T>);
    }
    if (backup_) backup_->complete();
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (multiplies_) multiply(blocks_[b]);
      transfer.release(*queue_, static_cast<Index>(b));
    }
    transfer.finish();
  }

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
  std::optional<Backup<T>> backup_;
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
