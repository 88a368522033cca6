#include "lu_variants.hpp"

#include <optional>
#include <stdexcept>

#include "algorithms/lu/panel_on_cpu.hpp"
#include "algorithms/shared/split.hpp"

namespace overlapack::bench {
namespace {

using algorithms::at;
using algorithms::Options;

/// The matrix at one step: k columns are done, the next b are to become so.
///
///        A00 A01 A02   k rows
///   A =  A10 A11 A12   b rows
///        A20 A21 A22   the others
///
/// What is done holds L (unit diagonal not stored) and U. A name of its own has what is handled as
/// one: from row k on, `left` = [A10; A20], `panel` = [A11; A21] and `right` = [A12; A22]; and all
/// of the current block column, `column` = [A01; A11; A21].
template <class T>
struct Parts {
  Parts(DeviceView<T> a, Index k_, Index b_) : k(k_), b(b_) {
    const Index e = k + b, rows = a.rows - e, cols = a.cols - e;
    A00 = a.block(0, 0, k, k), A01 = a.block(0, k, k, b), A02 = a.block(0, e, k, cols);
    A10 = a.block(k, 0, b, k), A11 = a.block(k, k, b, b), A12 = a.block(k, e, b, cols);
    A20 = a.block(e, 0, rows, k), A21 = a.block(e, k, rows, b), A22 = a.block(e, e, rows, cols);
    left = a.block(k, 0, b + rows, k);
    panel = a.block(k, k, b + rows, b);
    right = a.block(k, e, b + rows, cols);
    column = a.block(0, k, a.rows, b);
  }
  Index k, b;
  DeviceView<T> A00, A01, A02, A10, A11, A12, A20, A21, A22;
  DeviceView<T> left, panel, right, column;
};

template <class T>
class Lu {
 public:
  /// For an m x n matrix and products with up to that many summands.
  Lu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index m, Index n,
     Index summands)
      : kernels_(device.kernels<T>()),
        pivots_(device, Space::device, n),
        pivots_home_(device, Space::host, n),
        info_(device, Space::host, n),
        subtraction_(device, options, m, n, summands),
        queue_(device) {
    if (options.hybrid) panel_on_cpu_.emplace(device, cpu, m, std::min(options.nb, n));
    std::fill_n(info_.data(), n, Index{0});
  }

  /// Each column of U and L is computed when it is needed; what is to the right of it is not
  /// touched. Reads all of L at every step and writes one block column.
  void left_looking(const Parts<T>& A) {
    interchange_before(A.k, A.column);  // [A01; A11; A21] := P0 [A01; A11; A21]
    solve(A.A00, A.A01);                // A01 := L00^-1 A01
    subtract(A.left, A.A01, A.panel);   // [A11; A21] -= [A10; A20] A01
    factor_panel(A);                    // P1 [A11; A21] = [L11; L21] U11
    interchange(A, A.left);             // [A10; A20] := P1 [A10; A20]
  }

  /// A block column of L and a block row of U at a time; the rest to the lower right is not
  /// touched. Reads all that is done and writes what becomes so.
  void crout(const Parts<T>& A) {
    subtract(A.left, A.A01, A.panel);  // [A11; A21] -= [A10; A20] A01
    factor_panel(A);                   // P1 [A11; A21] = [L11; L21] U11
    interchange(A, A.left);            // [A10; A20] := P1 [A10; A20]
    interchange(A, A.right);           // [A12; A22] := P1 [A12; A22]
    subtract(A.A10, A.A02, A.A12);     // A12 -= A10 A02
    solve(A.A11, A.A12);               // A12 := L11^-1 A12
  }

  /// All that is to the lower right is kept up to date. Reads one panel and writes everything that
  /// is not done: the largest products of the three.
  void right_looking(const Parts<T>& A) {
    factor_panel(A);                // P1 [A11; A21] = [L11; L21] U11
    interchange(A, A.left);         // [A10; A20] := P1 [A10; A20]
    interchange(A, A.right);        // [A12; A22] := P1 [A12; A22]
    solve(A.A11, A.A12);            // A12 := L11^-1 A12
    subtract(A.A21, A.A12, A.A22);  // A22 -= A21 A12
  }

  /// The same with b = 1, where L11 = 1 and there is nothing to solve: Gaussian elimination.
  void unblocked(const Parts<T>& A) {
    factor_panel(A);  // the largest element to the top, the others by it
    interchange(A, A.left);
    interchange(A, A.right);
    subtract(A.A21, A.A12, A.A22);  // A22 -= a21 a12^T
  }

  /// Waits, and returns info.
  Index finish(std::vector<Index>& pivots) {
    queue_->synchronize();
    pivots.assign(pivots_home_.data(), pivots_home_.data() + pivots_home_.size());
    return algorithms::first_failure(info_);
  }

 private:
  /// The pivots of columns [k, k + b), which belong to P1.
  DeviceView<Index> pivots(Index k, Index b) const { return {pivots_.data() + k, b}; }

  void factor_panel(const Parts<T>& A) {
    Index *const home = pivots_home_.data() + A.k, *const info = info_.data() + A.k;
    if (panel_on_cpu_) {
      panel_on_cpu_->start(*queue_, A.panel);
      panel_on_cpu_->finish(*queue_, A.panel, pivots(A.k, A.b), {home, A.b}, *info, A.k);
    } else {
      kernels_.getrf_panel(*queue_, A.panel, pivots(A.k, A.b), {home, A.b}, {info, 1}, A.k);
    }
  }
  void interchange(const Parts<T>& A, DeviceView<T> x) {
    kernels_.swap_rows(*queue_, x, pivots(A.k, A.b), A.k);
  }
  /// All interchanges before column k.
  void interchange_before(Index k, DeviceView<T> x) {
    kernels_.swap_rows(*queue_, x, pivots(0, k), 0);
  }
  void solve(DeviceView<const T> l, DeviceView<T> x) {
    kernels_.trsm(*queue_, Side::left, Uplo::lower, Op::none, Diag::unit, T(1), l, x);
  }
  void subtract(DeviceView<const T> a, DeviceView<const T> b, DeviceView<T> c) {
    subtraction_(*queue_, a, b, c);
  }

  Kernels<T>& kernels_;
  Buffer<Index> pivots_, pivots_home_;
  Buffer<Index> info_;  // one for each panel
  algorithms::Subtraction<T> subtraction_;
  std::optional<algorithms::PanelOnCpu<T>> panel_on_cpu_;
  QueueLease queue_;
};

}  // namespace

template <class T>
Index factor_lu(LuVariant variant, Device& device, const cpu::Lapack<T>& cpu, Options options,
                DeviceView<T> a, std::vector<Index>& pivots) {
  const Index m = a.rows, n = a.cols;
  if (m < n) throw std::invalid_argument("factor_lu: fewer rows than columns");
  if (variant == LuVariant::unblocked) options.nb = 1;
  const Index nb = options.nb;
  const bool sums_over_panel =
      variant == LuVariant::unblocked || variant == LuVariant::right_looking;
  Lu<T> lu(device, cpu, options, m, n, sums_over_panel ? std::min(nb, n) : n);
  for (Index k = 0; k < n; k += nb) {
    const Parts<T> parts(a, k, std::min(nb, n - k));
    switch (variant) {
      case LuVariant::unblocked:
        lu.unblocked(parts);
        break;
      case LuVariant::left_looking:
        lu.left_looking(parts);
        break;
      case LuVariant::crout:
        lu.crout(parts);
        break;
      case LuVariant::right_looking:
        lu.right_looking(parts);
        break;
    }
  }
  return lu.finish(pivots);
}

#define OVERLAPACK_INSTANTIATE(T)                                                                \
  template Index factor_lu<T>(LuVariant, Device&, const cpu::Lapack<T>&, Options, DeviceView<T>, \
                              std::vector<Index>&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)

}  // namespace overlapack::bench
