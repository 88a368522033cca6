// What a device does that has no kernel for a panel or a fused operation. Everything here is made
// of the functions that Blas declares, which are not observed by themselves: an operation stays one
// action, whoever serves it.
#include "device/device.hpp"
#include "device/host_trip.hpp"
#include "device/reference/bulges.hpp"
#include "device/reference/tridiagonal.hpp"

namespace overlapack {
namespace {

/// By the loops that say what the operation means.
template <class Operation>
void by_the_cpu(Device& device, Queue& queue, const Operation& operation) {
  HostTrip(device, queue).run(operation, [](const Operation& here) { reference::on_cpu(here); });
}

/// L^-1 or, for the other side of A, L^-H, where L is lower and U = L^H is upper.
Op forward(Uplo uplo) { return uplo == Uplo::lower ? Op::none : Op::conj_trans; }
Op backward(Uplo uplo) { return uplo == Uplo::lower ? Op::conj_trans : Op::none; }

}  // namespace

// ---- Panels -------------------------------------------------------------------------------

template <class T>
Panels<T>::Panels(Device& device, const Limits& limits)
    : device_(device),
      limits_(limits),
      cpu_panels_{&reference::potrf<T>, &reference::getrf<T>, &reference::geqrf<T>} {}

template <class T>
Index Panels<T>::geqrf_panel_width(Index) const {
  return 64;
}

template <class T>
void Panels<T>::run(Queue& queue, const PotrfPanel<T>& op) {
  HostTrip(device_, queue).run(op, [&](const PotrfPanel<T>& here) {
    reference::on_cpu(here, cpu_panels_);
  });
}

template <class T>
void Panels<T>::run(Queue& queue, const GetrfPanel<T>& op) {
  if (op.begun != nullptr) queue.record(*op.begun);
  HostTrip(device_, queue).run(op, [&](const GetrfPanel<T>& here) {
    reference::on_cpu(here, cpu_panels_);
  });
}

template <class T>
void Panels<T>::run(Queue& queue, const GeqrfPanel<T>& op) {
  if (op.begun != nullptr) queue.record(*op.begun);
  HostTrip(device_, queue).run(op, [&](const GeqrfPanel<T>& here) {
    reference::on_cpu(here, cpu_panels_);
  });
}

template <class T>
Index Panels<T>::sytrd_work(Index) const {
  return 0;
}

template <class T>
void Panels<T>::run(Queue& queue, const SytrdPanel<T>& op) {
  by_the_cpu(device_, queue, op);
}

template <class T>
void Panels<T>::run(Queue& queue, const Sytrd<T>& op) {
  by_the_cpu(device_, queue, op);
}

template <class T>
void Panels<T>::run(Queue& queue, const UpdatePanel<T>& op) {
  by_the_cpu(device_, queue, op);
}

// ---- Cholesky -----------------------------------------------------------------------------

/// L21 := A21, then L21 := L21 L11^-H. The notes are L11.
template <class T>
void Fused<T>::run(Queue& queue, const PotrfRows<T>& op) {
  const Index n = op.order();
  const DeviceView<const T> l11(op.notes.data, n, n, n);
  if (op.factor.data != op.a.data) run(queue, Copy<T>{Op::none, op.a, op.factor});
  run(queue, Trsm<T>{op.uplo == Uplo::lower ? Side::right : Side::left, op.uplo, Op::conj_trans,
                     Diag::non_unit, T(1), l11, op.factor});
}

template <class T>
void Fused<T>::run(Queue& queue, const InvertBlocks<T>& op) {
  by_the_cpu(this->device_, queue, op);
}

template <class T>
void Fused<T>::run(Queue& queue, const BackSubstitute<T>& op) {
  run(queue,
      Trsm<T>{Side::left, op.uplo, backward(op.uplo), Diag::non_unit, T(1), op.factor, op.x});
}

/// For each panel, its state := [X1; X2], X1 := L11^-1 X1, X2 := X2 - L21 X1.
template <class T>
void Fused<T>::run(Queue& queue, const Eliminate<T>& op) {
  const bool lower = op.uplo == Uplo::lower;
  const Index m = op.x.rows, k = op.x.cols, n = op.inverses.cols;
  for (Index first = 0; first < n; first += op.width) {
    const Index size = std::min(op.width, n - first), last = first + size, below = m - last;
    const DeviceView<T> x1 = op.x.block(first, 0, size, k), x2 = op.x.block(last, 0, below, k);
    const DeviceView<const T> l11 = op.factor.block(first, first, size, size);
    const DeviceView<const T> l21 = lower ? op.factor.block(last, first, below, size)
                                          : op.factor.block(first, last, size, below);
    run(queue, Copy<T>{Op::none, op.x.block(first, 0, m - first, k),
                       op.states.block(first, first / op.width * k, m - first, k)});
    run(queue, Trsm<T>{Side::left, op.uplo, forward(op.uplo), Diag::non_unit, T(1), l11, x1});
    if (below > 0) run(queue, Gemm<T>{forward(op.uplo), Op::none, T(-1), l21, x1, T(1), x2});
  }
}

// ---- Hermitian matrices -------------------------------------------------------------------

template <class T>
void Fused<T>::run(Queue& queue, const TurnTriangle<T>& op) {
  by_the_cpu(this->device_, queue, op);
}

// ---- Updates of a Cholesky factor ---------------------------------------------------------

template <class T>
void Fused<T>::run(Queue& queue, const UpdateBases<T>& op) {
  by_the_cpu(this->device_, queue, op);
}

template <class T>
void Fused<T>::run(Queue& queue, const UpdatePanels<T>& op) {
  HostTrip(this->device_, queue).run(op, [&](const UpdatePanels<T>& here) {
    reference::on_cpu(here, this->limits().update_panel_width);
  });
}

// ---- LU -----------------------------------------------------------------------------------

template <class T>
void Fused<T>::run(Queue& queue, const ComposeInterchanges<T>& op) {
  by_the_cpu(this->device_, queue, op);
}

template <class T>
void Fused<T>::run(Queue& queue, const PermuteRows<T>& op) {
  by_the_cpu(this->device_, queue, op);
}

/// A := P A, then U := L^-1 U.
template <class T>
void Fused<T>::run(Queue& queue, const InterchangeAndSolve<T>& op) {
  const DeviceView<T> u = op.a.block(0, 0, op.l.rows, op.a.cols);
  run(queue, SwapRows<T>{op.a, op.pivots, op.offset});
  run(queue, Trsm<T>{Side::left, Uplo::lower, Op::none, Diag::unit, T(1), op.l, u});
}

template <class T>
bool Fused<T>::has_lu_step(Index, Index, Index) const {
  return false;
}

/// [U; A2] := [L11^-1; I] P A, then A2 := A2 - L21 U.
template <class T>
void Fused<T>::run(Queue& queue, const LuStep<T>& op) {
  const Index w = op.panel.cols, below = op.panel.rows - w;
  const DeviceView<T> u = op.a.block(0, 0, w, op.a.cols), a2 = op.a.block(w, 0, below, op.a.cols);
  const DeviceView<const T> l11 = op.panel.block(0, 0, w, w), l21 = op.panel.block(w, 0, below, w);
  run(queue, InterchangeAndSolve<T>{l11, op.pivots, op.offset, op.a});
  if (below > 0) run(queue, Gemm<T>{Op::none, Op::none, T(-1), l21, u, T(1), a2});
}

/// There are none.
template <class T>
void Fused<T>::run(Queue&, const FindInverses<T>&) {}

template <class T>
Index Fused<T>::elements_of_inverses(Index) const {
  return 0;
}

/// A^H := A^H P^H, then X := X L^-H.
template <class T>
void Fused<T>::run(Queue& queue, const InterchangeAndSolveByRows<T>& op) {
  const DeviceView<T> x = op.a.block(0, 0, op.a.rows, op.l.rows);
  if (!op.pivots.empty()) run(queue, SwapColumns<T>{op.a, op.pivots, op.offset});
  run(queue, Trsm<T>{Side::right, Uplo::lower, Op::conj_trans, Diag::unit, T(1), op.l, x});
}

// ---- QR -----------------------------------------------------------------------------------

/// W := V^H C, W' := op(T) W, C := C - V W'.
template <class T>
void Fused<T>::run(Queue& queue, const Reflect<T>& op) {
  const Index k = op.t.cols;
  const DeviceView<T> product = op.work.block(0, 0, k, op.c.cols),
                      scaled = op.work.block(k, 0, k, op.c.cols);
  run(queue, Gemm<T>{Op::conj_trans, Op::none, T(1), op.v, op.c, T(0), product});
  run(queue, Gemm<T>{op.op, Op::none, T(1), op.t, product, T(0), scaled});
  run(queue, Gemm<T>{Op::none, Op::none, T(-1), op.v, scaled, T(1), op.c});
}

template <class T>
void Fused<T>::run(Queue& queue, const ReflectAndFactor<T>& op) {
  run(queue, op.reflection());
  run(queue, op.panel());
}

// ---- Refinement ---------------------------------------------------------------------------

/// The order of the diagonal blocks of hemv.
constexpr Index kHemvBlock = 64;

template <class T>
Index Fused<T>::hemv_work(Index) const {
  return kHemvBlock * kHemvBlock;
}

/// For each block column [A11; A21] of the lower triangle: y1 -= A11 x1 with A11 made whole,
/// y2 -= A21 x1, y1 -= A21^H x2.
template <class T>
void Fused<T>::run(Queue& queue, const Hemv<T>& op) {
  const bool lower = op.uplo == Uplo::lower;
  const Index n = op.a.rows;
  const auto subtract = [&](Op of_a, DeviceView<const T> a, DeviceView<const T> x,
                            DeviceView<T> y) {
    if (!a.empty()) run(queue, Gemm<T>{of_a, Op::none, T(-1), a, x, T(1), y});
  };
  for (Index first = 0; first < n; first += kHemvBlock) {
    const Index size = std::min(kHemvBlock, n - first), last = first + size, below = n - last;
    const DeviceView<T> a11(op.work.data, size, size, size);
    const DeviceView<const T> a21 =
        lower ? op.a.block(last, first, below, size) : op.a.block(first, last, size, below);
    const DeviceView<const T> x1 = op.x.block(first, 0, size, 1),
                              x2 = op.x.block(last, 0, below, 1);
    const DeviceView<T> y1 = op.y.block(first, 0, size, 1), y2 = op.y.block(last, 0, below, 1);
    run(queue, Copy<T>{Op::none, op.a.block(first, first, size, size), a11});
    run(queue, Mirror<T>{op.uplo, a11});
    subtract(Op::none, a11, x1, y1);
    subtract(forward(op.uplo), a21, x1, y2);
    subtract(backward(op.uplo), a21, x2, y1);
  }
}

// ---- Substitution -------------------------------------------------------------------------

template <class T>
Index Fused<T>::factor_progress(Index, Index) const {
  return 0;
}

/// There are none.
template <class T>
void Fused<T>::run(Queue&, const FindLinks<T>&) {}

template <class T>
Index Fused<T>::substitution_links(Index) const {
  return 0;
}

template <class T>
Index Fused<T>::substitution_progress(Index, Index) const {
  return 0;
}

template <class T>
void Fused<T>::run(Queue& queue, const Substitute<T>& op) {
  run(queue, Trsm<T>{Side::left, op.uplo, Op::none, op.diag, T(1), op.a, op.x});
}

// ---- Band matrices ------------------------------------------------------------------------

template <class T>
Index Bulges<T>::chase_work() const {
  return 0;
}
template <class T>
Index Bulges<T>::reflect_work(Index, Index) const {
  return 0;
}

template <class T>
void Bulges<T>::run(Queue& queue, const ChaseBulges<T>& op) {
  by_the_cpu(this->device_, queue, op);
}

template <class T>
void Bulges<T>::run(Queue& queue, const BulgeFactors<T>& op) {
  by_the_cpu(this->device_, queue, op);
}

template <class T>
void Bulges<T>::run(Queue& queue, const ReflectBulges<T>& op) {
  by_the_cpu(this->device_, queue, op);
}

// ---- Tridiagonal matrices -----------------------------------------------------------------

#define OVERLAPACK_BY_THE_CPU(Operation)                                \
  template <class T>                                                    \
  void Tridiagonals<T>::run(Queue& queue, const Operation<T>& op) {     \
    if constexpr (!is_complex<T>) by_the_cpu(this->device_, queue, op); \
  }
OVERLAPACK_BY_THE_CPU(DiagonalizeLeaves)
OVERLAPACK_BY_THE_CPU(Deflate)
OVERLAPACK_BY_THE_CPU(SolveSecular)
OVERLAPACK_BY_THE_CPU(SecularVectors)
OVERLAPACK_BY_THE_CPU(TakeColumns)
OVERLAPACK_BY_THE_CPU(MultiplyMerges)
OVERLAPACK_BY_THE_CPU(Bisect)
#undef OVERLAPACK_BY_THE_CPU

#define OVERLAPACK_INSTANTIATE(T) \
  template class Panels<T>;       \
  template class Fused<T>;        \
  template class Bulges<T>;       \
  template class Tridiagonals<T>;
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack
