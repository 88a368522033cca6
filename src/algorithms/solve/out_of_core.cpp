#include "algorithms/solve/out_of_core.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/shared/piece_ring.hpp"
#include "device/buffer.hpp"
#include "transfer/transfer.hpp"

namespace overlapack::algorithms {
namespace {

/// A triangle of A, or its transpose, to be solved with.
struct Triangular {
  Uplo uplo;
  Op op;
  Diag diag;

  bool lower() const { return uplo == Uplo::lower; }
  /// From the first row to the last.
  bool forward() const { return lower() == (op == Op::none); }
};

/// Right-hand sides on the device, and the columns of triangles that pass by them.
template <class T>
class PassingSolve {
 public:
  PassingSolve(Device& device, const Options& options, HostView<const T> a, Index columns)
      : device_(device),
        options_(options),
        a_(a),
        rhs_(device, a.rows, columns),
        ring_(device, a.rows, ring_columns<T>(options, a.rows)),
        queue_(device, Priority::normal, "solve") {}
  /// Of device memory.
  static std::size_t bytes(const Options& options, Index n, Index columns) {
    return DeviceMatrix<T>::bytes(n, columns) + PieceRing<T>::bytes(n, ring_columns<T>(options, n));
  }

  /// X := T^-1 X for one triangle after the other, for columns of the caller's B. before(queue, X)
  /// and after(queue, X) may enqueue what else there is to do with them.
  template <class Before, class After>
  void solve(const std::vector<Triangular>& triangles, HostView<T> b, Index& committed,
             Before before, After after) {
    const DeviceView<T> X = rhs_.view().block(0, 0, b.rows, b.cols);
    Transfer transfer(device_, options_.threads, committed);
    const Index all_of_b = transfer.add_upload(make_region<T>(b, X));
    transfer.add_download(make_region<T>(b, X));
    ring_.begin(transfer);
    for (const Triangular& triangle : triangles) {
      for (const Range& j : order(triangle)) add(triangle, j);
    }
    transfer.start();
    transfer.before(*queue_, all_of_b);
    before(*queue_, X);
    Index q = 0;
    for (const Triangular& triangle : triangles) {
      for (const Range& j : order(triangle)) {
        step(triangle, ring_.before(*queue_, q), j, X);
        ring_.pass(*queue_, q++);
      }
    }
    after(*queue_, X);
    transfer.release(*queue_, 0);
    transfer.finish();
  }

 private:
  /// The columns of a triangle in the order of their steps.
  std::vector<Range> order(const Triangular& triangle) const {
    std::vector<Range> columns = partition(a_.cols, ring_columns<T>(options_, a_.rows));
    if (!triangle.forward()) std::reverse(columns.begin(), columns.end());
    return columns;
  }
  /// Declares that columns j of a triangle pass by.
  void add(const Triangular& triangle, Range j) {
    if (triangle.lower()) {
      ring_.add(a_.block({j.first, a_.rows}, j), Part::lower);
    } else {
      ring_.add(a_.block({0, j.last}, j), Part::upper, j.first);
    }
  }
  void step(const Triangular& triangle, DeviceView<const T> A, Range j, DeviceView<T> X) const;

  Device& device_;
  const Options& options_;
  const HostView<const T> a_;
  DeviceMatrix<T> rhs_;
  PieceRing<T> ring_;
  QueueLease queue_;
};

/// The step of columns j of the triangle, which A is: its diagonal block, and the rest below or
/// above it.
template <class T>
void PassingSolve<T>::step(const Triangular& triangle, DeviceView<const T> A, Range j,
                           DeviceView<T> X) const {
  const bool lower = triangle.lower();
  const Op op = triangle.op;
  const Index n = X.rows, width = j.size();
  const Range rest = lower ? Range{j.last, n} : Range{0, j.first};
  const DeviceView<const T> A11 = A.block(lower ? 0 : j.first, 0, width, width),
                            A21 = A.block(lower ? width : 0, 0, rest.size(), width);
  const DeviceView<T> X1 = X.block(j, {0, X.cols}), X2 = X.block(rest, {0, X.cols});
  const Trsm<T> solve{Side::left, triangle.uplo, op, triangle.diag, T(1), A11, X1};
  if (op == Op::none) {
    // X1 := A11^-1 X1; X2 := X2 - A21 X1
    queue_->enqueue(solve);
    queue_->enqueue(Gemm<T>{Op::none, Op::none, T(-1), A21, X1, T(1), X2});
  } else {
    // X1 := A11^-H (X1 - A21^H X2)
    queue_->enqueue(Gemm<T>{op, Op::none, T(-1), A21, X2, T(1), X1});
    queue_->enqueue(solve);
  }
}

/// The groups of right-hand sides that are solved for, one after the other.
template <class T>
std::vector<Range> groups(const Options& options, Index n, Index nrhs) {
  const Index columns = right_hand_sides_out_of_core<T>(options, n, nrhs);
  if (columns == 0) throw OutOfDeviceMemory("too little device memory is free");
  return partition(nrhs, columns);
}

/// Of device memory for a solve with so many columns of B, pivots included.
template <class T>
std::size_t bytes_of_solve(const Options& options, Index n, Index columns) {
  return PassingSolve<T>::bytes(options, n, columns) + Buffer<Index>::bytes(n);
}

}  // namespace

template <class T>
void potrs_out_of_core(Device& device, const Options& options, Uplo uplo, HostView<const T> a,
                       HostView<T> b, Index& committed) {
  const Op first = uplo == Uplo::lower ? Op::none : Op::conj_trans,
           second = uplo == Uplo::lower ? Op::conj_trans : Op::none;
  const std::vector<Range> columns = groups<T>(options, a.rows, b.cols);
  PassingSolve<T> solve(device, options, a, columns.front().size());
  const auto nothing = [](Queue&, DeviceView<T>) {};
  for (const Range& c : columns) {  // L, then L^H
    solve.solve({{uplo, first, Diag::non_unit}, {uplo, second, Diag::non_unit}},
                b.block({0, b.rows}, c), committed, nothing, nothing);
  }
}

template <class T>
void getrs_out_of_core(Device& device, const Options& options, Op op, HostView<const T> a,
                       const std::vector<Index>& pivots, HostView<T> b, Index& committed) {
  const Index n = a.rows;
  const Buffer<Index> interchanges(device, Space::device, n), staged(device, Space::host, n);
  std::copy(pivots.begin(), pivots.end(), staged.data());
  const DeviceView<Index> p(interchanges.data(), n);
  const Triangular l{Uplo::lower, op, Diag::unit}, u{Uplo::upper, op, Diag::non_unit};
  const std::vector<Range> columns = groups<T>(options, n, b.cols);
  PassingSolve<T> solve(device, options, a, columns.front().size());
  const auto nothing = [](Queue&, DeviceView<T>) {};
  const auto interchange = [&](bool forward) {
    return [p, forward](Queue& queue, DeviceView<T> X) {
      queue.enqueue(SwapRows<T>{X, p, 0, forward});
    };
  };
  {
    const QueueLease queue(device);
    queue->copy<Index>(p, HostView<const Index>(staged.data(), n));
    queue->synchronize();
  }
  for (const Range& c : columns) {
    const HostView<T> x = b.block({0, b.rows}, c);
    if (op == Op::none) {  // A = P^T L U
      solve.solve({l, u}, x, committed, interchange(true), nothing);
    } else {
      solve.solve({u, l}, x, committed, nothing, interchange(false));
    }
  }
}

template <class T>
Index right_hand_sides_out_of_core(const Options& options, Index n, Index nrhs) {
  const double least = sizeof(T) * static_cast<double>(n) * static_cast<double>(options.nb);
  if (beyond_memory(options, least)) return 0;
  const auto fits = [&](Index columns) {
    return !beyond_memory(options,
                          least / static_cast<double>(options.nb) * static_cast<double>(columns)) &&
           bytes_of_solve<T>(options, n, columns) <= options.memory;
  };
  const Index most = most_columns(options.nb, nrhs, fits);
  return columns_pay(options, most, nrhs) ? most : 0;
}

#define OVERLAPACK_INSTANTIATE(T)                                                      \
  template void potrs_out_of_core<T>(Device&, const Options&, Uplo, HostView<const T>, \
                                     HostView<T>, Index&);                             \
  template void getrs_out_of_core<T>(Device&, const Options&, Op, HostView<const T>,   \
                                     const std::vector<Index>&, HostView<T>, Index&);  \
  template Index right_hand_sides_out_of_core<T>(const Options&, Index, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::algorithms
