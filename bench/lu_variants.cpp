#include "lu_variants.hpp"

#include <optional>
#include <stdexcept>

#include "algorithms/lu/panel_on_cpu.hpp"
#include "algorithms/lu/textbook.hpp"
#include "algorithms/shared/split.hpp"

namespace overlapack::bench {
namespace {

using algorithms::LuParts;
using algorithms::Options;

template <class T>
class Lu {
 public:
  /// For an m x n matrix and products with up to that many summands.
  Lu(Device& device, const cpu::Lapack<T>& cpu, const Options& options, Index m, Index n,
     Index summands)
      : kernels_(device.kernels<T>()),
        pivots_(device, Space::device, n),
        staged_pivots_(device, Space::host, n),
        info_(device, Space::host, n),
        subtraction_(device, options, m, n, summands),
        queue_(device) {
    if (options.hybrid) panel_on_cpu_.emplace(device, cpu, m, std::min(options.nb, n));
    std::fill_n(info_.data(), n, Index{0});
  }

  /// Each column of U and L is computed when it is needed; what is to the right of it is not
  /// touched. Reads all of L at every step and writes one block column.
  void left_looking(const LuParts<T>& A) {
    interchange_before(A.k, A.column);  // [A01; A11; A21] := P0 [A01; A11; A21]
    solve(A.A00, A.A01);                // A01 := L00^-1 A01
    subtract(A.left, A.A01, A.panel);   // [A11; A21] -= [A10; A20] A01
    factor_panel(A);                    // P1 [A11; A21] = [L11; L21] U11
    interchange(A, A.left);             // [A10; A20] := P1 [A10; A20]
  }

  /// A block column of L and a block row of U at a time; the rest to the lower right is not
  /// touched. Reads all that is done and writes what becomes so.
  void crout(const LuParts<T>& A) {
    subtract(A.left, A.A01, A.panel);  // [A11; A21] -= [A10; A20] A01
    factor_panel(A);                   // P1 [A11; A21] = [L11; L21] U11
    interchange(A, A.left);            // [A10; A20] := P1 [A10; A20]
    interchange(A, A.right);           // [A12; A22] := P1 [A12; A22]
    subtract(A.A10, A.A02, A.A12);     // A12 -= A10 A02
    solve(A.A11, A.A12);               // A12 := L11^-1 A12
  }

  /// Right-looking with b = 1, where L11 = 1 and there is nothing to solve: Gaussian elimination.
  void unblocked(const LuParts<T>& A) {
    factor_panel(A);  // the largest element to the top, the others by it
    interchange(A, A.left);
    interchange(A, A.right);
    subtract(A.A21, A.A12, A.A22);  // A22 -= a21 a12^T
  }

  // The operations, which the right-looking form (algorithms/lu/textbook.hpp) has, too.
  void factor_panel(const LuParts<T>& A) {
    Index *const staged_pivots = staged_pivots_.data() + A.k, *const info = info_.data() + A.k;
    if (panel_on_cpu_) {
      panel_on_cpu_->start(*queue_, A.panel);
      panel_on_cpu_->finish(*queue_, A.panel, pivots(A.k, A.b), {staged_pivots, A.b}, *info, A.k);
    } else {
      queue_->enqueue(
          GetrfPanel<T>{A.panel, pivots(A.k, A.b), {staged_pivots, A.b}, {info, 1}, A.k});
    }
  }
  void interchange(const LuParts<T>& A, DeviceView<T> x) {
    queue_->enqueue(SwapRows<T>{x, pivots(A.k, A.b), A.k});
  }
  /// All interchanges before column k.
  void interchange_before(Index k, DeviceView<T> x) {
    queue_->enqueue(SwapRows<T>{x, pivots(0, k), 0});
  }
  void solve(DeviceView<const T> l, DeviceView<T> x) {
    queue_->enqueue(Trsm<T>{Side::left, Uplo::lower, Op::none, Diag::unit, T(1), l, x});
  }
  void subtract(DeviceView<const T> a, DeviceView<const T> b, DeviceView<T> c) {
    subtraction_(*queue_, a, b, c);
  }

  /// Waits, and returns info.
  Index finish(std::vector<Index>& pivots) {
    queue_->synchronize();
    pivots.assign(staged_pivots_.data(), staged_pivots_.data() + staged_pivots_.size());
    return algorithms::first_failure(info_);
  }

 private:
  /// The pivots of columns [k, k + b), which belong to P1.
  DeviceView<Index> pivots(Index k, Index b) const { return {pivots_.data() + k, b}; }

  Kernels<T>& kernels_;
  Buffer<Index> pivots_, staged_pivots_;
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
    const LuParts<T> parts(a, k, std::min(nb, n - k));
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
        algorithms::right_looking_step(lu, parts);
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
