// Panels: factorizations of a block column that is narrow enough for one kernel. A device that has
// no kernel for one gets it by a trip to the CPU (device/defaults.cpp).
#pragma once

#include "device/blas.hpp"

namespace overlapack {

template <class T>
class Panels;

/// What a device says of its panels and fused operations for one precision.
struct Limits {
  /// Columns of a PotrfPanel at most, and the order of the blocks of InvertBlocks at most.
  Index potrf_panel_width = 64;
  /// Elements of PotrfPanel::notes.
  Index potrf_notes = 64 * 64 + 1;
  /// Columns of the GetrfPanel that takes the least time for a column. Several of them, one after
  /// the other, make a wider one.
  Index getrf_panel_width = 64;
  /// Columns of a SytrdPanel at most.
  Index sytrd_panel_width = 64;
  /// Order of the matrix of a Sytrd at most; 0 where panels do as well.
  Index sytrd_order = 0;
  /// Bandwidth of ChaseBulges at most; and sweeps of a group of BulgeFactors.
  Index chase_bandwidth = 64;
  Index bulge_group = 32;
  /// Columns of an UpdatePanel at most.
  Index update_panel_width = 64;
  /// Rows of PermuteRows at most; 0 where single interchanges do as well.
  Index permutable_rows = 0;
  /// Order of a block of DiagonalizeLeaves at most.
  Index leaf_order = 32;
  /// Rows of a merge up to which MultiplyMerges is faster than one product after the other.
  Index small_merge_rows = 0;
};

/// Cholesky factorization of a block column. With lower, `a` is m x n, m >= n: A11 = L11 L11^H for
/// its first n rows, and L21 = A21 L11^-H for the others. With upper, `a` is n x m, and
/// A11 = U11^H U11, U12 = U11^-H A12.
///   Operands  the `uplo` triangle of A11 counts; imaginary parts of its diagonal are ignored;
///             n is at most Limits::potrf_panel_width
///   Writes    factor, which may be a; notes, unless empty: what PotrfRows needs to know of A11
///   Fails     if the leading minor of order k is not positive definite (its pivot is <= 0 or NaN)
///             and *info is 0, *info becomes offset + k; columns (rows for upper) before k of
///             `factor` are right then, and all else is undefined
///   Staging   a, factor, info
template <class T>
struct PotrfPanel {
  using Scalar = T;
  using Group = Panels<T>;
  static constexpr const char* kName = "potrf_panel";

  Uplo uplo;
  DeviceView<const T> a;
  DeviceView<T> factor;
  DeviceView<Index> info;
  Index offset;
  DeviceView<T> notes = {};

  Index order() const { return uplo == Uplo::lower ? a.cols : a.rows; }
  Index below() const { return (uplo == Uplo::lower ? a.rows : a.cols) - order(); }
  bool empty() const { return a.empty(); }
  bool fits() const {
    return below() >= 0 && operation::same_shape(a, factor) && operation::is_column(info, 1);
  }
  double flops() const {
    const Index n = order();
    return operation::flops<T>(operation::product(n, n, n) / 6 +
                               operation::product(below(), n, n) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a, Staging::allowed), visit(self.factor, Staging::allowed);
    visit(self.info, Staging::allowed), visit(self.notes);
  }
};

/// LU factorization with partial pivoting of an m x n panel, in place. The pivot is LAPACK's: the
/// largest |re| + |im|, the smallest row among equals; a NaN only if it stands on the diagonal, as
/// the reference i?amax has it.
///   Operands  offset: the row of the matrix that is the first one of the panel
///   Writes    a; pivots[j] = offset + 1 + (the row of the panel that was exchanged with row j),
///             for min(m, n) j: LAPACK's ipiv; staged_pivots: the same; `begun`, if there is one,
///             is recorded no later than when the panel has the multiprocessors that it needs all
///             at a time, so that other queues that wait for it do not take them away
///   Fails     the first pivot j that is exactly zero stores offset + j + 1 to *info if that is 0;
///             the factorization goes on
///   Staging   staged_pivots, info
template <class T>
struct GetrfPanel {
  using Scalar = T;
  using Group = Panels<T>;
  static constexpr const char* kName = "getrf_panel";

  DeviceView<T> a;
  DeviceView<Index> pivots, staged_pivots, info;
  Index offset;
  Event* begun = nullptr;

  Index steps() const { return a.rows < a.cols ? a.rows : a.cols; }
  bool empty() const { return a.empty(); }
  bool fits() const {
    return pivots.rows >= steps() && pivots.cols == 1 && staged_pivots.rows >= steps() &&
           staged_pivots.cols == 1 && operation::is_column(info, 1);
  }
  double flops() const {
    return operation::flops<T>(operation::product(a.rows, a.cols, steps()) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.pivots);
    visit(self.staged_pivots, Staging::allowed), visit(self.info, Staging::allowed);
  }
};

/// QR factorization by Householder reflectors of an m x n panel, m >= n, in place: A = Q R with
/// Q = H_0 H_1 ... H_(n-1) = I - V T V^H, and H_j = I - tau_j v_j v_j^H. They are LAPACK's, signs
/// included, to rounding: diagonal elements of R are real, and tau_j is 0 if column j is real on
/// the diagonal and zero below.
///   Operands  n is at most Panels::geqrf_panel_width(m)
///   Writes    a: R in the upper triangle, V below; v, m x n: V with its ones on the diagonal and
///             zeros above; t, n x n: T with zeros below; tau; `begun` as GetrfPanel
///   Staging   tau
template <class T>
struct GeqrfPanel {
  using Scalar = T;
  using Group = Panels<T>;
  static constexpr const char* kName = "geqrf_panel";

  DeviceView<T> a, v, t, tau;
  Event* begun = nullptr;

  bool empty() const { return a.empty(); }
  bool fits() const {
    return a.rows >= a.cols && operation::same_shape(a, v) && operation::is_square(t) &&
           t.cols == a.cols && operation::is_column(tau, a.cols);
  }
  /// Of the factorization, and of T.
  double flops() const {
    return operation::flops<T>(1.5 * operation::product(a.rows, a.cols, a.cols));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.v), visit(self.t), visit(self.tau, Staging::allowed);
  }
};

/// The first columns of the reduction of a Hermitian matrix A, n x n, to a tridiagonal one by
/// Householder reflectors (LAPACK's ?latrd): Q = H_0 H_1 ..., H_j = I - tau_j v_j v_j^H, where v_j
/// begins with a 1 in row j + 1. Then
///
///   Q^H A Q = A - V W^H - W V^H
///
/// has d on its diagonal, and e beside it, in its first columns, one for each element of d. The
/// reflectors are LAPACK's, signs included, to rounding: e is real, and tau_j is 0 if column j is
/// real in row j + 1 and zero below. All n columns have n - 1 reflectors.
///   Operands  of a the lower triangle counts; imaginary parts of its diagonal are ignored;
///             the columns are at most Limits::sytrd_panel_width;
///             work: work space (sytrd_work())
///   Writes    a: in its first columns d, e and below v_j without the 1; the others stay as they
///             are; v and w, n x (number of reflectors): V and W, with zeros in rows 0, ..., j of
///             column j; d; e and tau, one for each reflector
template <class T>
struct SytrdPanel {
  using Scalar = T;
  using Group = Panels<T>;
  static constexpr const char* kName = "sytrd_panel";

  DeviceView<T> a, v, w;
  DeviceView<Real<T>> d, e;
  DeviceView<T> tau, work;

  Index columns() const { return d.rows; }
  /// Reflectors.
  Index steps() const { return columns() < a.rows ? columns() : a.rows - 1; }
  bool empty() const { return d.empty(); }
  bool fits() const {
    const Index k = steps();
    return operation::is_square(a) && columns() <= a.rows && d.cols == 1 && v.rows == a.rows &&
           v.cols == k && operation::same_shape(v, w) && e.rows == k && tau.rows == k;
  }
  /// Of the products with A, and of those with V and W.
  double flops() const {
    const Index n = a.rows, k = steps();
    return operation::flops<T>(operation::product(n, n, k) + 4 * operation::product(n, k, k));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.v), visit(self.w), visit(self.d), visit(self.e), visit(self.tau);
    visit(self.work);
  }
};

/// All of a reduction to tridiagonal form, of a matrix that is small enough for one kernel, as
/// panels and updates make it, but for rounding.
///   Operands  of a the lower triangle counts; imaginary parts of its diagonal are ignored; its
///             order is at most Limits::sytrd_order; work: work space (sytrd_work())
///   Writes    a: d and e, and below e the reflectors without their 1; d; e; and tau
template <class T>
struct Sytrd {
  using Scalar = T;
  using Group = Panels<T>;
  static constexpr const char* kName = "sytrd";

  DeviceView<T> a;
  DeviceView<Real<T>> d, e;
  DeviceView<T> tau, work;

  bool empty() const { return d.empty(); }
  bool fits() const {
    const Index n = a.rows;
    return operation::is_square(a) && d.rows == n && d.cols == 1 && e.rows == n - 1 &&
           tau.rows == n - 1;
  }
  /// Of the products of what is left of A with a vector, and of updates of rank 2.
  double flops() const {
    const auto n = static_cast<double>(a.rows);
    return operation::flops<T>(2 * n * n * n / 3);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.d), visit(self.e), visit(self.tau), visit(self.work);
  }
};

/// Takes a block column of a Cholesky factor, and what V is when the columns before it have been
/// through, to those of an updated matrix. With S = diag(I, -I), whose first part has the order
/// `plus`,
///
///   L' L'^H + V' S V'^H = L L^H + V S V^H,  and the first n rows of V' (m x k) are zero.
///
///   Operands  with lower, a is m x n, m >= n, from the diagonal down; with upper, n x m. Of the
///             diagonal block the `uplo` triangle counts; imaginary parts of the diagonal are
///             ignored, its elements keep their signs. Vectors of zeros change nothing
///   Writes    factor: L', which may be a; rest: the other rows of V', which may be those of v;
///             c and s, unless empty, for one vector that is added: the rotation of each column,
///             l' = c_j l + conj(s_j) v and v' = c_j v - s_j l with c_j >= 0
///   Fails     if a leading minor of order j is not positive definite after the subtraction, as far
///             as can be told (a square of a diagonal element has no more than eps of itself left),
///             and *info is 0, *info becomes offset + j for the smallest j; all else is undefined
template <class T>
struct UpdatePanel {
  using Scalar = T;
  using Group = Panels<T>;
  static constexpr const char* kName = "update_panel";

  Uplo uplo;
  DeviceView<const T> a;
  DeviceView<T> factor;
  Index plus;
  DeviceView<const T> v;
  DeviceView<T> rest;
  DeviceView<Index> info;
  Index offset;
  DeviceView<Real<T>> c = {};
  DeviceView<T> s = {};

  Index rows() const { return uplo == Uplo::lower ? a.rows : a.cols; }
  Index columns() const { return uplo == Uplo::lower ? a.cols : a.rows; }
  Index vectors() const { return v.cols; }
  bool empty() const { return a.empty() || v.empty(); }
  bool fits() const {
    const Index m = rows(), n = columns(), k = vectors();
    return m >= n && v.rows == m && plus <= k && rest.rows == m - n && (rest.cols == k || m == n) &&
           operation::is_column(info, 1) && operation::same_shape(a, factor) &&
           (c.empty() || (k == 1 && plus == 1 && c.rows == n && s.rows == n));
  }
  double flops() const {
    return operation::flops<T>(2 * operation::product(a.rows, a.cols, v.cols));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.factor), visit(self.v), visit(self.rest), visit(self.info);
    visit(self.c), visit(self.s);
  }
};

/// What LAPACK's ?potrf, ?getrf and ?geqrf do, by the CPU, for matrices in its memory. Results are
/// info; pivots are 1-based.
template <class T>
struct CpuPanels {
  Index (*potrf)(Uplo uplo, HostView<T> a);
  Index (*getrf)(HostView<T> a, Index* pivots);
  void (*geqrf)(HostView<T> a, T* tau);
};

/// Enqueues panels, by default by a trip to the CPU.
template <class T>
class Panels : public Blas<T> {
 public:
  Panels(Device& device, const Limits& limits);
  const Limits& limits() const { return limits_; }
  /// Columns of a GeqrfPanel of so many rows at most.
  virtual Index geqrf_panel_width(Index rows) const;
  /// Elements of SytrdPanel::work, and of Sytrd::work, for a matrix of order n. A smaller one may
  /// take more.
  virtual Index sytrd_work(Index n) const;
  /// What factors a panel that makes a trip to the CPU: textbook loops unless something faster is
  /// given. To be called before the first operation.
  void use(CpuPanels<T> cpu_panels) { cpu_panels_ = cpu_panels; }

 protected:
  friend class Queue;
  using Blas<T>::run;
  virtual void run(Queue&, const PotrfPanel<T>&);
  virtual void run(Queue&, const GetrfPanel<T>&);
  virtual void run(Queue&, const GeqrfPanel<T>&);
  virtual void run(Queue&, const SytrdPanel<T>&);
  virtual void run(Queue&, const Sytrd<T>&);
  virtual void run(Queue&, const UpdatePanel<T>&);

  Device& device_;

 private:
  const Limits limits_;
  CpuPanels<T> cpu_panels_;
};

}  // namespace overlapack
