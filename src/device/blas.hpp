// The core of a device: what every device implements, and all else can be made of.
#pragma once

#include "device/operation.hpp"
#include "device/runtime.hpp"

namespace overlapack {

template <class T>
class Blas;

/// C := alpha op(A) op(B) + beta C (?gemm).
///   Writes   c, m x n
template <class T>
struct Gemm {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "gemm";

  Op op_a, op_b;
  T alpha;
  DeviceView<const T> a, b;
  T beta;
  DeviceView<T> c;

  Index summands() const { return operation::cols(op_a, a); }
  bool empty() const { return c.empty() || (summands() == 0 && beta == T(1)); }
  bool fits() const {
    return operation::rows(op_a, a) == c.rows && operation::cols(op_b, b) == c.cols &&
           summands() == operation::rows(op_b, b);
  }
  double flops() const {
    return operation::flops<T>(operation::product(c.rows, c.cols, summands()));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.b), visit(self.c);
  }
};

/// C := alpha op(A) op(A)^H + beta C on the `uplo` triangle: ?syrk for real T; ?herk for complex T,
/// where the imaginary part of the diagonal becomes zero.
///   Operands  op is none or conj_trans
///   Writes    the triangle of c, n x n
template <class T>
struct Herk {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "herk";

  Uplo uplo;
  Op op;
  Real<T> alpha;
  DeviceView<const T> a;
  Real<T> beta;
  DeviceView<T> c;

  Index summands() const { return operation::cols(op, a); }
  bool empty() const { return c.empty() || (summands() == 0 && beta == Real<T>(1)); }
  bool fits() const {
    return op != Op::trans && operation::rows(op, a) == c.rows && operation::is_square(c);
  }
  double flops() const {
    return operation::flops<T>(operation::product(c.rows, c.rows + 1, summands()) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.c);
  }
};

/// C := alpha A B^H + conj(alpha) B A^H + beta C on the `uplo` triangle: ?syr2k for real T; ?her2k
/// for complex T, where the imaginary part of the diagonal becomes zero. Unlike these it need not
/// leave the other triangle alone.
///   Writes    the triangle of c, n x n; elements of the other one become undefined
template <class T>
struct Her2k {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "her2k";

  Uplo uplo;
  T alpha;
  DeviceView<const T> a, b;
  Real<T> beta;
  DeviceView<T> c;

  bool empty() const { return c.empty() || (a.cols == 0 && beta == Real<T>(1)); }
  bool fits() const {
    return operation::same_shape(a, b) && a.rows == c.rows && operation::is_square(c);
  }
  double flops() const {
    return operation::flops<T>(operation::product(c.rows, c.rows + 1, a.cols));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.b), visit(self.c);
  }
};

/// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right) for a triangular matrix A (?trsm).
///   Writes   b
template <class T>
struct Trsm {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "trsm";

  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  T alpha;
  DeviceView<const T> a;
  DeviceView<T> b;

  bool empty() const { return b.empty(); }
  bool fits() const {
    return operation::is_square(a) && a.rows == (side == Side::left ? b.rows : b.cols);
  }
  double flops() const {
    return operation::flops<T>(operation::product(a.rows, b.rows, b.cols) / 2);
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.b);
  }
};

/// B := op(A).
///   Writes   b
template <class T>
struct Copy {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "copy";

  Op op;
  DeviceView<const T> a;
  DeviceView<T> b;

  bool empty() const { return b.empty(); }
  bool fits() const { return operation::rows(op, a) == b.rows && operation::cols(op, a) == b.cols; }
  double flops() const { return operation::flops<T>(operation::product(b.rows, b.cols, 1) / 2); }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.b);
  }
};

/// Makes a Hermitian matrix whole of which the `uplo` triangle is given.
///   Writes   the other triangle of a, n x n; the imaginary part of the diagonal becomes zero
template <class T>
struct Mirror {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "mirror";

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

/// Row interchanges (?laswp): for j = 0, 1, ... rows j and pivots[j] - 1 - offset are exchanged, or
/// for the same j backwards.
///   Operands  pivots are LAPACK's, for a matrix in which the first row of a is row `offset`
///   Writes    a
template <class T>
struct SwapRows {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "swap_rows";

  DeviceView<T> a;
  DeviceView<const Index> pivots;
  Index offset;
  bool forward = true;

  bool empty() const { return a.empty() || pivots.empty(); }
  bool fits() const { return pivots.cols == 1 && pivots.rows <= a.rows; }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.pivots);
  }
};

/// The interchanges of SwapRows, forward, of a matrix that is stored by rows: columns j and
/// pivots[j] - 1 - offset are exchanged.
///   Writes   a
template <class T>
struct SwapColumns {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "swap_columns";

  DeviceView<T> a;
  DeviceView<const Index> pivots;
  Index offset;

  bool empty() const { return a.empty() || pivots.empty(); }
  bool fits() const { return pivots.cols == 1 && pivots.rows <= a.cols; }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.pivots);
  }
};

/// norms(j) := the largest |re| + |im| of column j. It is 0 for a column without elements, and a
/// NaN if one is in the column.
///   Writes   norms, one for each column of a
template <class T>
struct ColumnNorms {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "column_norms";

  DeviceView<const T> a;
  DeviceView<Real<T>> norms;

  bool empty() const { return a.cols == 0; }
  bool fits() const { return operation::is_column(norms, a.cols); }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.norms);
  }
};

/// A norm as by ?lange, or by ?lansy and ?lanhe of a matrix of which the `uplo` triangle is given.
/// It is 0 if `a` has no elements, and a NaN if one of them is.
///   Operands  imaginary parts of a Hermitian matrix's diagonal are ignored;
///             work: a.rows elements of work space for ?lansy and ?lanhe
///   Writes    *result
///   Staging   result
template <class T>
struct MatrixNorm {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "norm";

  Norm norm;
  Symmetry symmetry;
  Uplo uplo;
  DeviceView<const T> a;
  DeviceView<Real<T>> work, result;

  bool given_by_triangle() const { return symmetry != Symmetry::none; }
  bool empty() const { return false; }
  bool fits() const {
    return operation::is_column(result, 1) &&
           (!given_by_triangle() || (operation::is_square(a) && work.rows >= a.rows));
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.result, Staging::allowed);
    if (self.given_by_triangle()) visit(self.work);
  }
};

/// Whether numbers are finite. Of a triangle (as rows_of_column() has it, with diagonal 0) the
/// imaginary part of the diagonal counts, too.
///   Writes   *found becomes 1 if one is infinite or a NaN, and stays as it is otherwise
template <class T>
struct FindNotFinite {
  using Scalar = T;
  using Group = Blas<T>;
  static constexpr const char* kName = "find_not_finite";

  Part part;
  DeviceView<const T> a;
  DeviceView<Index> found;

  bool empty() const { return a.empty(); }
  bool fits() const { return operation::is_column(found, 1); }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.a), visit(self.found);
  }
};

/// Enqueues the operations above. Only Queue::enqueue() calls these functions, and what is made of
/// them on the device's side of the contract.
template <class T>
class Blas {
 public:
  virtual ~Blas() = default;

 protected:
  friend class Queue;
  virtual void run(Queue&, const Gemm<T>&) = 0;
  virtual void run(Queue&, const Herk<T>&) = 0;
  virtual void run(Queue&, const Her2k<T>&) = 0;
  virtual void run(Queue&, const Trsm<T>&) = 0;
  virtual void run(Queue&, const Copy<T>&) = 0;
  virtual void run(Queue&, const Mirror<T>&) = 0;
  virtual void run(Queue&, const SwapRows<T>&) = 0;
  virtual void run(Queue&, const SwapColumns<T>&) = 0;
  virtual void run(Queue&, const ColumnNorms<T>&) = 0;
  virtual void run(Queue&, const MatrixNorm<T>&) = 0;
  virtual void run(Queue&, const FindNotFinite<T>&) = 0;
};

}  // namespace overlapack
