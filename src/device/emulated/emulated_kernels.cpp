#include "device/emulated/emulated_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/emulated/emulated_formats.hpp"
#include "device/emulated/operands.hpp"
#include "device/reference/bulges.hpp"
#include "device/reference/tridiagonal.hpp"

namespace overlapack::emulated {
namespace {

/// Small, so that small matrices have many panels.
constexpr Limits kLimits = [] {
  Limits limits;
  limits.potrf_panel_width = 16;
  limits.potrf_notes = 16 * 16 + 1;
  limits.getrf_panel_width = 2;
  limits.sytrd_panel_width = 8;
  limits.sytrd_order = 20;
  limits.chase_bandwidth = 24;
  limits.bulge_group = 5;
  limits.update_panel_width = 8;
  limits.permutable_rows = 100;
  limits.leaf_order = 4;
  limits.small_merge_rows = 16;
  return limits;
}();

/// The core alone: the least that a device must have.
template <class T>
class CoreKernels : public Kernels<T> {
 public:
  CoreKernels(Device& device, Machine& machine, const Limits& limits, Formats<T> formats = {})
      : Kernels<T>(device, limits, formats), operands_(device, machine) {}

 protected:
  using Kernels<T>::run;
  void run(Queue& queue, const Gemm<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const Herk<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const Her2k<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const Trsm<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const Copy<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const Mirror<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const SwapRows<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const SwapColumns<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const ColumnNorms<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const MatrixNorm<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const FindNotFinite<T>& op) override { by_loops(queue, op); }

  template <class Operation>
  void by_loops(Queue& queue, const Operation& operation) {
    operands_.run(queue, operation, [](const Operation& op) { reference::on_cpu(op); });
  }

  const Operands operands_;
};

/// Everything, so that tests without a GPU reach what only a device has that is more than the core:
/// panels that run when the queue comes to them, inverses, links.
template <class T>
class EmulatedKernels final : public CoreKernels<T> {
 public:
  EmulatedKernels(Device& device, Machine& machine, const EmulatedFormats<T>& formats)
      : CoreKernels<T>(device, machine, kLimits, formats.view()) {}

  // Few rows and columns, so that tests have more.
  Index geqrf_panel_width(Index rows) const override { return rows <= 60 ? 8 : 4; }
  Index sytrd_work(Index n) const override { return n + 40 * (n % 3); }  // not monotone
  bool has_lu_step(Index rows, Index order, Index columns) const override {
    return rows > order && rows <= 60 && columns <= 4;
  }
  Index chase_work() const override { return 3; }
  Index reflect_work(Index n, Index bandwidth) const override { return n % 3 * bandwidth + 1; }
  Index factor_progress(Index blocks, Index columns) const override { return blocks * columns; }
  Index elements_of_inverses(Index n) const override {
    constexpr Index kOrder = FindInverses<T>::kOrder;
    return n / kOrder * elements_of_inverse(kOrder) + elements_of_inverse(n % kOrder);
  }
  Index substitution_links(Index n) const override { return kSplits<T> ? n : 0; }
  Index substitution_progress(Index n, Index columns) const override { return n * columns; }

 private:
  using CoreKernels<T>::by_loops;
  using CoreKernels<T>::operands_;
  using CoreKernels<T>::run;

  // ---- Panels

  void run(Queue& queue, const PotrfPanel<T>& op) override {
    require(op.order() <= kLimits.potrf_panel_width &&
                (op.notes.empty() || op.notes.rows == kLimits.potrf_notes),
            op.kName, "the shapes do not fit");
    operands_.run(queue, op, [](const PotrfPanel<T>& x) { reference::on_cpu(x, kCpuPanels); });
  }
  void run(Queue& queue, const GetrfPanel<T>& op) override {
    if (op.begun != nullptr) queue.record(*op.begun);
    operands_.run(queue, op, [](const GetrfPanel<T>& x) { reference::on_cpu(x, kCpuPanels); });
  }
  void run(Queue& queue, const GeqrfPanel<T>& op) override {
    require(op.a.cols <= geqrf_panel_width(op.a.rows), op.kName, "the shapes do not fit");
    if (op.begun != nullptr) queue.record(*op.begun);
    operands_.run(queue, op, [](const GeqrfPanel<T>& x) { reference::on_cpu(x, kCpuPanels); });
  }
  void run(Queue& queue, const SytrdPanel<T>& op) override {
    require(op.columns() <= kLimits.sytrd_panel_width && op.work.rows >= sytrd_work(op.a.rows),
            op.kName, "the shapes do not fit");
    by_loops(queue, op);
  }
  void run(Queue& queue, const Sytrd<T>& op) override {
    require(op.a.rows <= kLimits.sytrd_order && op.work.rows >= sytrd_work(op.a.rows), op.kName,
            "the shapes do not fit");
    by_loops(queue, op);
  }
  void run(Queue& queue, const UpdatePanel<T>& op) override {
    require(op.columns() <= kLimits.update_panel_width, op.kName, "the shapes do not fit");
    by_loops(queue, op);
  }
  static constexpr CpuPanels<T> kCpuPanels = {&reference::potrf<T>, &reference::getrf<T>,
                                              &reference::geqrf<T>};

  // ---- Cholesky

  void run(Queue& queue, const PotrfRows<T>& op) override {
    require(op.notes.rows == kLimits.potrf_notes, op.kName, "the shapes do not fit");
    operands_.enqueue(queue, op.kName, [operands = operands_, op] {
      const HostView<const T> notes = operands.open(op.kName, op.notes);
      require(notes(notes.rows - 1) == T(static_cast<Real<T>>(op.order())), op.kName,
              "the notes are on a block of another order");
    });
    Kernels<T>::run(queue, op);
  }
  void run(Queue& queue, const InvertBlocks<T>& op) override {
    require(op.inverses.rows <= kLimits.potrf_panel_width, op.kName, "the shapes do not fit");
    by_loops(queue, op);
  }
  void run(Queue& queue, const BackSubstitute<T>& op) override {
    require_progress(op, op.factor.rows);
    by_loops(queue, op);
  }
  void run(Queue& queue, const Eliminate<T>& op) override {
    require_progress(op, op.inverses.cols);
    by_loops(queue, op);
  }
  template <class Operation>
  void require_progress(const Operation& op, Index n) const {
    const Index blocks = quotient_up(n, op.inverses.rows);
    require(op.progress.rows >= factor_progress(blocks, op.x.cols), op.kName,
            "too little work space");
  }
  void run(Queue& queue, const UpdateBases<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const UpdatePanels<T>& op) override {
    const Index width = kLimits.update_panel_width, panels = quotient_up(op.columns(), width);
    require((op.rows() == op.columns() || op.columns() % width == 0) &&
                op.states.cols == panels * op.k && op.bases.cols >= panels * op.k,
            op.kName, "the shapes do not fit");
    operands_.run(queue, op, [=](const UpdatePanels<T>& x) { reference::on_cpu(x, width); });
  }

  // ---- LU

  void run(Queue& queue, const ComposeInterchanges<T>& op) override { by_loops(queue, op); }
  void run(Queue& queue, const PermuteRows<T>& op) override {
    require(op.a.rows <= kLimits.permutable_rows, op.kName, "the shapes do not fit");
    by_loops(queue, op);
  }
  void run(Queue& queue, const InterchangeAndSolve<T>& op) override {
    check_panel_pivots(queue, op);
    Kernels<T>::run(queue, op);
  }
  void run(Queue& queue, const InterchangeAndSolveByRows<T>& op) override {
    check_panel_pivots(queue, op);
    if (op.inverses.empty()) {
      Kernels<T>::run(queue, op);
      return;
    }
    if (!op.pivots.empty()) run(queue, SwapColumns<T>{op.a, op.pivots, op.offset});
    operands_.run(queue, op, solve_by_inverses);
  }
  /// What holds for the pivots of one panel only: no row goes above its place.
  template <class Operation>
  void check_panel_pivots(Queue& queue, const Operation& op) {
    operands_.enqueue(queue, op.kName, [operands = operands_, op] {
      const HostView<const Index> pivots = operands.open(op.kName, op.pivots);
      for (Index j = 0; j < pivots.rows; ++j) {
        require(pivots(j) - op.offset > j, op.kName, "a pivot is above its own row");
      }
    });
  }

  void run(Queue& queue, const FindInverses<T>& op) override {
    require(op.inverses.rows >= elements_of_inverses(op.lu.rows), op.kName,
            "too little room for the inverses");
    operands_.run(queue, op, [](const FindInverses<T>& x) {
      for (Index i = 0; i < x.lu.rows; i += x.kOrder) {
        const Index n = std::min(x.kOrder, x.lu.rows - i);
        invert(as_argument(x.lu).block(i, i, n, n), inverse_at(as_argument(x.inverses), i));
      }
    });
  }

  /// Of the inverse of a block of order n: the largest modulus of its elements, as compared with
  /// the sizes of rows, and these by rows up to the diagonal, in double precision.
  static constexpr Index elements_of_inverse(Index n) {
    return n > 0 ? 1 + n * (n + 1) / 2 * (is_complex<T> ? 2 : 1) : 0;
  }
  /// That of the block that begins with row i.
  template <class W>
  static W* inverse_at(HostView<W> inverses, Index i) {
    return inverses.data +
           i / FindInverses<T>::kOrder * elements_of_inverse(FindInverses<T>::kOrder);
  }
  template <class W>
  static auto elements_at(W* inverse) {
    using D = std::conditional_t<std::is_const_v<W>, const Double<T>, Double<T>>;
    return reinterpret_cast<D*>(inverse + 1);
  }

  /// The sizes of the rows of U in the last columns of a block.
  static std::vector<double> sizes_of_rows(HostView<const T> lu) {
    std::vector<double> sizes(static_cast<std::size_t>(lu.rows));
    for (Index j = std::max<Index>(lu.rows - FindInverses<T>::kSizingColumns, 0); j < lu.rows;
         ++j) {
      for (Index i = 0; i <= j; ++i) {
        const double size = std::abs(Double<T>(lu(i, j)));
        double& of_row = sizes[static_cast<std::size_t>(i)];
        of_row =
            std::isfinite(size) ? std::max(of_row, size) : std::numeric_limits<double>::infinity();
      }
    }
    return sizes;
  }
  /// Rows of the inverse one after the other.
  static void invert(HostView<const T> lu, Index* inverse) {
    const std::vector<double> sizes = sizes_of_rows(lu);
    Double<T>* const v = elements_at(inverse);
    double largest = 1;
    for (Index i = 0; i < lu.rows; ++i) {
      Double<T>* const row = v + i * (i + 1) / 2;
      for (Index j = 0; j <= i; ++j) {
        Double<T> sum = i == j ? 1 : 0;
        for (Index k = j; k < i; ++k) sum -= Double<T>(lu(i, k)) * v[k * (k + 1) / 2 + j];
        row[j] = sum;
        const double size =
            std::abs(sum) * sizes[static_cast<std::size_t>(j)] / sizes[static_cast<std::size_t>(i)];
        largest =
            std::isfinite(size) ? std::max(largest, size) : std::numeric_limits<double>::infinity();
      }
    }
    *reinterpret_cast<double*>(inverse) = largest;
  }

  /// X1 := X1 L11^-H, X2 := X2 - X1 L21^H, block by block.
  static void solve_by_inverses(const InterchangeAndSolveByRows<T>& op) {
    constexpr Index kOrder = FindInverses<T>::kOrder;
    const Index n = op.l.rows;
    const HostView<const T> l = as_argument(op.l);
    const HostView<T> x = as_argument(op.a).block(0, 0, op.a.rows, n);
    for (Index i = 0; i < n; i += kOrder) {
      const Range block = {i, std::min(i + kOrder, n)}, rest = {block.last, n}, all = {0, x.rows};
      const HostView<T> x1 = x.block(all, block);
      if (!multiply_by_inverse(inverse_at(as_argument(op.inverses), i), x1)) {
        reference::trsm<T>(Side::right, Uplo::lower, Op::conj_trans, Diag::unit, T(1),
                           l.block(block, block), x1);
      }
      reference::gemm<T>(Op::none, Op::conj_trans, T(-1), x1, l.block(rest, block), T(1),
                         x.block(all, rest));
    }
  }
  /// X := X V^H, if V is moderate and X is finite; or else false. (It would do to leave out only
  /// the rows that are not.)
  static bool multiply_by_inverse(const Index* inverse, HostView<T> x) {
    const double largest = *reinterpret_cast<const double*>(inverse);
    const auto finite = [](T y) { return std::isfinite(std::abs(y)); };
    if (largest > FindInverses<T>::kLargestElement) return false;
    for (Index j = 0; j < x.cols; ++j) {
      if (!std::all_of(&x(0, j), &x(0, j) + x.rows, finite)) return false;
    }
    const Double<T>* const v = elements_at(inverse);
    for (Index r = 0; r < x.rows; ++r) {
      for (Index i = x.cols - 1; i >= 0; --i) {
        Double<T> sum = 0;
        for (Index k = 0; k <= i; ++k) sum += Double<T>(x(r, k)) * conj(v[i * (i + 1) / 2 + k]);
        x(r, i) = T(sum);
      }
    }
    return true;
  }

  // ---- Refinement: the links of a triangle only say whose they are

  void run(Queue& queue, const FindLinks<T>& op) override {
    require(kSplits<T>, op.kName, "not in double precision");
    require(op.links.rows >= substitution_links(op.a.rows), op.kName,
            "too little room for the links");
    operands_.run(queue, op, [](const FindLinks<T>& x) {
      std::fill_n(x.links.data, x.links.rows, triangle_number(x));
    });
  }
  void run(Queue& queue, const Substitute<T>& op) override {
    const Index needed = substitution_links(op.a.rows);
    require(
        op.progress.rows >= substitution_progress(op.a.rows, op.x.cols) && op.links.rows >= needed,
        op.kName, "too little work space");
    operands_.run(queue, op, [needed](const Substitute<T>& x) {
      require(std::all_of(x.links.data, x.links.data + needed,
                          [&](Index link) { return link == triangle_number(x); }),
              x.kName, "the links are not those of this triangle");
      reference::trsm<T>(Side::left, x.uplo, Op::none, x.diag, T(1), as_argument(x.a),
                         as_argument(x.x));
    });
  }

  // ---- Band matrices

  void run(Queue& queue, const ChaseBulges<T>& op) override {
    require(op.bandwidth <= kLimits.chase_bandwidth && op.work.rows >= chase_work(), op.kName,
            "the shapes do not fit");
    by_loops(queue, op);
  }
  void run(Queue& queue, const BulgeFactors<T>& op) override {
    require_group(op);
    by_loops(queue, op);
  }
  void run(Queue& queue, const ReflectBulges<T>& op) override {
    require_group(op);
    require(op.work.empty() || op.work.rows >= reflect_work(op.v.rows, op.bandwidth), op.kName,
            "too little work space");
    by_loops(queue, op);
  }
  template <class Operation>
  static void require_group(const Operation& op) {
    require(op.bandwidth <= kLimits.chase_bandwidth && op.group <= kLimits.bulge_group, op.kName,
            "the shapes do not fit");
  }

  // ---- Tridiagonal matrices

  void run(Queue& queue, const DiagonalizeLeaves<T>& op) override { by_real_loops(queue, op); }
  void run(Queue& queue, const Deflate<T>& op) override { by_real_loops(queue, op); }
  void run(Queue& queue, const SolveSecular<T>& op) override { by_real_loops(queue, op); }
  void run(Queue& queue, const SecularVectors<T>& op) override { by_real_loops(queue, op); }
  void run(Queue& queue, const TakeColumns<T>& op) override { by_real_loops(queue, op); }
  void run(Queue& queue, const MultiplyMerges<T>& op) override { by_real_loops(queue, op); }
  void run(Queue& queue, const Bisect<T>& op) override { by_real_loops(queue, op); }
  template <class Operation>
  void by_real_loops(Queue& queue, const Operation& op) {
    if constexpr (!is_complex<T>) by_loops(queue, op);
  }
  /// What tells the links of one triangle from those of another.
  template <class Operation>
  static Index triangle_number(const Operation& op) {
    return 4 * op.a.rows + (op.uplo == Uplo::lower ? 2 : 0) + (op.diag == Diag::unit ? 1 : 0);
  }
};

}  // namespace

template <class T>
OwnedKernels<T> make_kernels(Device& device, Machine& machine, bool core_only) {
  OwnedKernels<T> result;
  if (core_only) {
    result.kernels = std::make_unique<CoreKernels<T>>(device, machine, Limits{});
  } else {
    result.formats = std::make_unique<EmulatedFormats<T>>(device, machine);
    result.kernels = std::make_unique<EmulatedKernels<T>>(device, machine, *result.formats);
  }
  return result;
}

#define OVERLAPACK_INSTANTIATE(T) \
  template OwnedKernels<T> make_kernels<T>(Device&, Machine&, bool core_only);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::emulated
