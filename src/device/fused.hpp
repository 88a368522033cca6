// Fused operations: what could be made of panels and the core, but is faster as a kernel. A device
// overrides those for which it has one; all others are put together in device/defaults.cpp.
#pragma once

#include "device/panels.hpp"

namespace overlapack {

template <class T>
class Fused;

// ---- Cholesky -----------------------------------------------------------------------------

/// L21 = A21 L11^-H (U12 = U11^-H A12) for rows that come later than A11.
///   Operands  notes: those of PotrfPanel on A11;
///             a: these rows (columns), m x n (n x m), where n is the order of A11
///   Writes    factor, which may be a
///   Fails     if A11 was not positive definite, columns (rows) before the failing one are right,
///             and all else is undefined
template <class T>
struct PotrfRows {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "potrf_rows";

  Uplo uplo;
  DeviceView<const T> notes, a;
  DeviceView<T> factor;

  Index order() const { return uplo == Uplo::lower ? a.cols : a.rows; }
  bool empty() const { return a.empty(); }
  bool fits() const { return operation::same_shape(a, factor); }
  double flops() const {
    return operation::flops<T>(operation::product(a.rows, a.cols, order()) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.notes), visit(self.a), visit(self.factor);
  }
};

/// The inverses of the diagonal blocks of a Cholesky factor L (or U = L^H), n x n.
///   Operands  imaginary parts of the diagonal are ignored; blocks have the order of the rows of
///             `inverses`, at most Limits::potrf_panel_width; the last one may be smaller
///   Writes    inverses, with n columns: those of a block become its L^-1 (for both triangles) with
///             zeros above the diagonal; conditions, one for each block: Skeel's condition number
///             || |L^-1| |L| ||_inf, which no scaling of rows of L changes
///   Staging   conditions
template <class T>
struct InvertBlocks {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "invert_blocks";

  Uplo uplo;
  DeviceView<const T> factor;
  DeviceView<T> inverses;
  DeviceView<Real<T>> conditions;

  bool empty() const { return factor.empty(); }
  bool fits() const {
    return operation::is_square(factor) && inverses.cols == factor.rows && inverses.rows > 0 &&
           operation::is_column(conditions, quotient_up(factor.rows, inverses.rows));
  }
  double flops() const {
    return operation::flops<T>(operation::product(inverses.rows, inverses.rows, factor.rows) / 6);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.factor), visit(self.inverses), visit(self.conditions, Staging::allowed);
  }
};

/// X := L^-H X for a Cholesky factor L (or U = L^H), n x n: as accurate as products with the
/// inverses of its diagonal blocks.
///   Operands  inverses: those of InvertBlocks; progress: work space (factor_progress())
///   Writes    x
template <class T>
struct BackSubstitute {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "back_substitute";

  Uplo uplo;
  DeviceView<const T> factor, inverses;
  DeviceView<T> x;
  DeviceView<Index> progress;

  bool empty() const { return x.empty(); }
  bool fits() const {
    return operation::is_square(factor) && inverses.cols == factor.rows && inverses.rows > 0 &&
           x.rows == factor.rows;
  }
  double flops() const {
    return operation::flops<T>(operation::product(factor.rows, factor.rows, x.cols) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.factor), visit(self.inverses), visit(self.x), visit(self.progress);
  }
};

/// The beginning of forward elimination with a Cholesky factor: of X, which has m rows, the first n
/// rows become W = L11^-1 X1, and the others X2 - L21 W.
///   Operands  factor: m x n, m >= n, from the diagonal down, with lower, and n x m with upper;
///             inverses: those of InvertBlocks for its diagonal block, in blocks whose order
///             divides `width`, and n, too, if m > n; progress: work space (factor_progress())
///   Writes    x; states: for panel p of `width` columns, what X is before they are eliminated goes
///             from the panel's first row on to columns p k, ..., where k is the number of columns
///             of X
template <class T>
struct Eliminate {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "eliminate";

  Uplo uplo;
  DeviceView<const T> factor, inverses;
  DeviceView<T> x;
  Index width;
  DeviceView<T> states;
  DeviceView<Index> progress;

  bool empty() const { return x.empty(); }
  bool fits() const {
    const bool lower = uplo == Uplo::lower;
    const Index m = x.rows, k = x.cols, n = inverses.cols, order = inverses.rows;
    return (lower ? factor.rows : factor.cols) == m && (lower ? factor.cols : factor.rows) == n &&
           n <= m && order > 0 && (width % order == 0 || n <= order) &&
           (n == m || n % order == 0) && states.rows == m &&
           states.cols == quotient_up(n, width) * k;
  }
  double flops() const {
    const Index n = inverses.cols;
    return operation::flops<T>(operation::product(2 * x.rows - n, n, x.cols) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.factor), visit(self.inverses), visit(self.x), visit(self.states);
    visit(self.progress);
  }
};

// ---- Hermitian matrices -------------------------------------------------------------------

/// Turns a triangle around the matrix's centre: A becomes the matrix with rows and columns in
/// reverse order, of which the other triangle is given then.
///   Operands  of a the `uplo` triangle counts
///   Writes    the other triangle of a; its diagonal
template <class T>
struct TurnTriangle {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "turn_triangle";

  Uplo uplo;
  DeviceView<T> a;

  bool empty() const { return a.empty(); }
  bool fits() const { return operation::is_square(a); }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a);
  }
};

// ---- Updates of a Cholesky factor whose panels need not wait for each other ---------------

/// The bases of an update of the factor L of A to that of A + sign V V^H, panel by panel of `width`
/// columns. Let W = L^-1 V, and T(p) = I + sign (the sum of w^H w for its rows w before panel p) =
/// R(p)^H R(p). Then V, when the columns before panel p have been through the update, is what
/// Eliminate leaves as the state of panel p, times the upper triangular R(p)^-1. (This is
/// Woodbury's formula for what the update adds to the Schur complement. As with every root, a
/// unitary factor is free.)
///   Operands  w: the rows of W from panel `first` on, with k columns, at most
///             UpdatePanels::kMaxVectors; grams keeps the sums of each panel between calls for
///             consecutive panels
///   Writes    grams; bases: columns k p, ... become R(p)^-1 (with zeros below the diagonal) for
///             the panels behind those of w, and for panel 0 if `first` is 0
///   Fails     *unfit becomes 1 if a T(p) is not positive definite, has a NaN, or is large or has a
///             large inverse: if max(1, T(c, c)) max(1, (T^-1)(c, c)), which bounds the condition
///             within a factor of k^2, is larger than `limit`
template <class T>
struct UpdateBases {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "update_bases";

  int sign;
  DeviceView<const T> w;
  Index width, first;
  double limit;
  DeviceView<Double<T>> grams, bases;
  DeviceView<Index> unfit;

  Index vectors() const { return w.cols; }
  /// The panel behind those of w.
  Index last() const { return first + quotient_up(w.rows, width); }
  bool empty() const { return w.empty(); }
  bool fits() const;
  double flops() const { return operation::flops<T>(operation::product(w.rows, w.cols, w.cols)); }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.w), visit(self.grams), visit(self.bases), visit(self.unfit);
  }
};

/// Does what UpdatePanel does in place for all panels of Limits::update_panel_width columns of the
/// m x n matrix `a` (n x m with upper), for k vectors with one sign: for panel p, V is the state of
/// the panel times its base (UpdateBases). The views begin with those of the first panel.
///   Operands  if m > n, n is a multiple of that width;
///             reflectors: work space of kReflector numbers for each column
///   Writes    a; c and s as UpdatePanel
///   Fails     *info becomes 1 + the number of some column if a leading minor is not definite
template <class T>
struct UpdatePanels {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "update_panels";
  static constexpr Index kMaxVectors = is_complex<T> ? 8 : 32;
  static constexpr Index kReflector = kMaxVectors + 4;

  Uplo uplo;
  int sign;
  DeviceView<T> a;
  DeviceView<const T> states;
  Index k;
  DeviceView<const Double<T>> bases;
  DeviceView<Double<T>> reflectors;
  DeviceView<Index> info;
  DeviceView<Real<T>> c = {};
  DeviceView<T> s = {};

  Index rows() const { return uplo == Uplo::lower ? a.rows : a.cols; }
  Index columns() const { return uplo == Uplo::lower ? a.cols : a.rows; }
  bool empty() const { return a.empty() || k == 0; }
  bool fits() const {
    const Index n = columns();
    return rows() >= n && k <= kMaxVectors && states.rows == rows() && bases.rows == k &&
           reflectors.rows * reflectors.cols >= kReflector * n && operation::is_column(info, 1) &&
           (c.empty() || (k == 1 && sign > 0 && c.rows == n && s.rows == n));
  }
  double flops() const {
    return operation::flops<T>(operation::product(2 * rows() - columns(), columns(), k));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.states), visit(self.bases), visit(self.reflectors);
    visit(self.info), visit(self.c), visit(self.s);
  }
};

template <class T>
bool UpdateBases<T>::fits() const {
  const Index k = vectors();
  return k <= UpdatePanels<T>::kMaxVectors && grams.rows == k && grams.cols >= last() * k &&
         bases.rows == k && bases.cols >= (last() + 1) * k && operation::is_column(unfit, 1);
}

// ---- LU -----------------------------------------------------------------------------------

/// The pivots of panels of nb columns, as of GetrfPanel for one after the other from row `offset`
/// on, as permutations.
///   Writes   sources, m x (number of panels): of the interchanges of panel p and all later ones,
///            row sources(i, p) is what ends up in row i, both counted from row `offset`
template <class T>
struct ComposeInterchanges {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "compose_interchanges";

  DeviceView<const Index> pivots;
  Index offset, nb;
  DeviceView<Index> sources;

  bool empty() const { return sources.empty(); }
  bool fits() const {
    return nb > 0 && pivots.cols == 1 && pivots.rows <= sources.rows &&
           sources.cols == quotient_up(pivots.rows, nb);
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.pivots), visit(self.sources);
  }
};

/// Row i of column c becomes what was row sources(i, c / width) of it.
///   Operands  sources are permutations, of at most Limits::permutable_rows rows unless that is 0
///   Writes    a
template <class T>
struct PermuteRows {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "permute_rows";

  DeviceView<T> a;
  Index width;
  DeviceView<const Index> sources;

  bool empty() const { return a.empty(); }
  bool fits() const {
    return width > 0 && sources.rows == a.rows && sources.cols >= quotient_up(a.cols, width);
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.sources);
  }
};

/// A step of LU on the columns `a` to the right of a panel: the interchanges of SwapRows, forward,
/// then U := L^-1 U for the first rows of `a`, as many as there are pivots.
///   Operands  L is the unit lower triangle of the square matrix l, whose other triangle holds U of
///             the panel: its diagonal may tell a device whether rows are of different sizes; the
///             pivots are those of a panel: row j is exchanged with itself or one below
///   Writes    a
template <class T>
struct InterchangeAndSolve {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "interchange_and_solve";

  DeviceView<const T> l;
  DeviceView<const Index> pivots;
  Index offset;
  DeviceView<T> a;

  bool empty() const { return a.empty() || pivots.empty(); }
  bool fits() const {
    return operation::is_square(l) && operation::is_column(pivots, l.rows) && a.rows >= l.rows;
  }
  double flops() const {
    return operation::flops<T>(operation::product(l.rows, l.rows, a.cols) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.l), visit(self.pivots), visit(self.a);
  }
};

/// A whole step of LU: InterchangeAndSolve with L11 of `panel` = [L11; L21], then A2 -= L21 U for
/// the rows of `a` below. Only where the device has_lu_step() for the shape.
///   Writes   a
template <class T>
struct LuStep {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "lu_step";

  DeviceView<const T> panel;
  DeviceView<const Index> pivots;
  Index offset;
  DeviceView<T> a;

  bool empty() const { return a.empty(); }
  bool fits() const {
    return a.rows == panel.rows && panel.rows >= panel.cols &&
           operation::is_column(pivots, panel.cols);
  }
  double flops() const {
    const Index m = panel.rows, w = panel.cols;
    return operation::flops<T>(operation::product(w, w, a.cols) / 2 +
                               operation::product(m - w, w, a.cols));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.panel), visit(self.pivots), visit(self.a);
  }
};

/// C := op(Q) C for a block reflector Q = I - V T V^H.
///   Operands  op is none or conj_trans; v: m x k, with its ones and zeros; t: with zeros below;
///             work: 2 k x n elements of work space
///   Writes    c, m x n
template <class T>
struct Reflect {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "reflect";

  Op op;
  DeviceView<const T> v, t;
  DeviceView<T> c, work;

  bool empty() const { return c.empty() || v.empty(); }
  bool fits() const {
    return op != Op::trans && v.rows == c.rows && operation::is_square(t) && t.cols == v.cols &&
           work.rows >= 2 * v.cols && work.cols >= c.cols;
  }
  double flops() const {
    return operation::flops<T>(2 * operation::product(c.rows, v.cols, c.cols) +
                               operation::product(v.cols, v.cols, c.cols) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.v), visit(self.t), visit(self.c), visit(self.work);
  }
};

/// What a panel of QR gets from the one before it, and its own factorization: C := Q^H C for a
/// block reflector Q = I - V T V^H with k columns, and then GeqrfPanel of C without its first k
/// rows.
///   Operands  before_v: (k + m) x k, before_t: as Reflect has them; work: 2 k x n elements of work
///             space
///   Writes    c, (k + m) x n: in its first k rows what Q^H leaves there, and then what GeqrfPanel
///             writes to `a`; v, t, tau, `begun`: as GeqrfPanel
///   Staging   tau
template <class T>
struct ReflectAndFactor {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "reflect_and_factor";

  DeviceView<const T> before_v, before_t;
  DeviceView<T> c, v, t, tau, work;
  Event* begun = nullptr;

  /// The two operations.
  Reflect<T> reflection() const { return {Op::conj_trans, before_v, before_t, c, work}; }
  GeqrfPanel<T> panel() const {
    return {c.block(before_v.cols, 0, v.rows, c.cols), v, t, tau, begun};
  }
  bool empty() const { return c.empty(); }
  bool fits() const {
    return c.rows == before_v.cols + v.rows && reflection().fits() && panel().fits();
  }
  double flops() const { return reflection().flops() + panel().flops(); }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.before_v), visit(self.before_t), visit(self.c), visit(self.v), visit(self.t);
    visit(self.tau, Staging::allowed), visit(self.work);
  }
};

/// Inverses of the diagonal blocks of order kOrder of a unit lower triangle, in double precision,
/// and how large their elements are, for InterchangeAndSolveByRows.
///   Operands  lu: a square matrix, L below its diagonal. The size of a row is that of the largest
///             element of U in the last kSizingColumns columns of a block: all rows but the last
///             few have elements in the same columns there, so sizes of columns do not matter
///   Writes    inverses (elements_of_inverses()), which only the same device can read
template <class T>
struct FindInverses {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "find_inverses";
  static constexpr Index kOrder = 256, kSizingColumns = 16;
  /// As compared with the sizes of rows. Up to there a product is about as accurate as a solve.
  static constexpr double kLargestElement = 16;

  DeviceView<const T> lu;
  DeviceView<Index> inverses;

  bool empty() const { return lu.empty(); }
  bool fits() const { return operation::is_square(lu); }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.lu), visit(self.inverses);
  }
};

/// InterchangeAndSolve for columns that are kept by rows, as their adjoint `a`: interchanges of its
/// columns as by SwapColumns, then X := X L^-H for the first columns of `a`.
///   Operands  no interchanges if there are no pivots. If there are `inverses`, those of
///             FindInverses, X is multiplied by them where no element of an inverse is larger than
///             FindInverses::kLargestElement, and for rows of X that are finite
///   Writes    a
template <class T>
struct InterchangeAndSolveByRows {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "interchange_and_solve_by_rows";

  DeviceView<const T> l;
  DeviceView<const Index> pivots;
  Index offset;
  DeviceView<T> a;
  DeviceView<const Index> inverses = {};

  bool empty() const { return a.empty() || l.empty(); }
  bool fits() const {
    return operation::is_square(l) && a.cols >= l.rows &&
           (pivots.empty() || operation::is_column(pivots, l.rows));
  }
  double flops() const {
    return operation::flops<T>(operation::product(l.rows, l.rows, a.rows) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.l), visit(self.pivots), visit(self.a), visit(self.inverses);
  }
};

// ---- Refinement ---------------------------------------------------------------------------

/// y := y - A x for a Hermitian matrix A of which the `uplo` triangle is given (?symv, ?hemv).
///   Operands  imaginary parts of the diagonal are ignored; work: work space (hemv_work())
///   Writes    y
template <class T>
struct Hemv {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "hemv";

  Uplo uplo;
  DeviceView<const T> a, x;
  DeviceView<T> y, work;

  bool empty() const { return y.empty(); }
  bool fits() const {
    return operation::is_square(a) && operation::is_column(x, a.rows) &&
           operation::is_column(y, a.rows);
  }
  double flops() const { return operation::flops<T>(operation::product(a.rows, a.rows, 1)); }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.x), visit(self.y), visit(self.work);
  }
};

/// What Substitute multiplies by instead of solving, for a triangular matrix A: a link of its chain
/// for each block of rows, in double precision. For T in single precision.
///   Writes   links (substitution_links()), which only the same device can read
template <class T>
struct FindLinks {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "find_links";

  Uplo uplo;
  Diag diag;
  DeviceView<const T> a;
  DeviceView<Index> links;

  bool empty() const { return a.empty(); }
  bool fits() const { return operation::is_square(a); }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.links);
  }
};

/// X := A^-1 X for a triangular n x n matrix A and few columns of X: what Trsm does from the left,
/// by one kernel instead of many.
///   Operands  links: those of FindLinks for the same triangle, where the device has some;
///             progress: work space (substitution_progress())
///   Writes    x; if the inverse of a block on the diagonal overflows double precision, so may X; a
///             NaN or an infinity may spread to elements of X before it
template <class T>
struct Substitute {
  using Scalar = T;
  using Group = Fused<T>;
  static constexpr const char* kName = "substitute";

  Uplo uplo;
  Diag diag;
  DeviceView<const T> a;
  DeviceView<const Index> links;
  DeviceView<T> x;
  DeviceView<Index> progress;

  bool empty() const { return x.empty(); }
  bool fits() const { return operation::is_square(a) && a.rows == x.rows; }
  double flops() const {
    return operation::flops<T>(operation::product(a.rows, a.rows, x.cols) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.links), visit(self.x), visit(self.progress);
  }
};

// -------------------------------------------------------------------------------------------

/// Enqueues fused operations, by default put together from panels and the core. The sizes of work
/// space are a device's own.
template <class T>
class Fused : public Panels<T> {
 public:
  using Panels<T>::Panels;

  /// Whether LuStep is worth calling for a panel of rows x order and so many columns to its right.
  virtual bool has_lu_step(Index rows, Index order, Index columns) const;
  /// Elements of Hemv::work.
  virtual Index hemv_work(Index n) const;
  /// Elements of BackSubstitute::progress and Eliminate::progress.
  virtual Index factor_progress(Index blocks, Index columns) const;
  /// Elements of FindInverses::inverses for a triangle of order n.
  virtual Index elements_of_inverses(Index n) const;
  /// Elements of Substitute::links and Substitute::progress.
  virtual Index substitution_links(Index n) const;
  virtual Index substitution_progress(Index n, Index columns) const;

 protected:
  friend class Queue;
  using Panels<T>::run;
  virtual void run(Queue&, const PotrfRows<T>&);
  virtual void run(Queue&, const InvertBlocks<T>&);
  virtual void run(Queue&, const BackSubstitute<T>&);
  virtual void run(Queue&, const Eliminate<T>&);
  virtual void run(Queue&, const TurnTriangle<T>&);
  virtual void run(Queue&, const UpdateBases<T>&);
  virtual void run(Queue&, const UpdatePanels<T>&);
  virtual void run(Queue&, const ComposeInterchanges<T>&);
  virtual void run(Queue&, const PermuteRows<T>&);
  virtual void run(Queue&, const InterchangeAndSolve<T>&);
  virtual void run(Queue&, const LuStep<T>&);
  virtual void run(Queue&, const Reflect<T>&);
  virtual void run(Queue&, const ReflectAndFactor<T>&);
  virtual void run(Queue&, const FindInverses<T>&);
  virtual void run(Queue&, const InterchangeAndSolveByRows<T>&);
  virtual void run(Queue&, const Hemv<T>&);
  virtual void run(Queue&, const FindLinks<T>&);
  virtual void run(Queue&, const Substitute<T>&);
};

}  // namespace overlapack
