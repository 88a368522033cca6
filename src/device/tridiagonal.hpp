// What the divide-and-conquer method for symmetric tridiagonal matrices is made of, apart from
// products of matrices. (Cuppen, 1981; Gu and Eisenstat, 1995.) A device that has no kernels for it
// does it by a trip to the CPU (device/defaults.cpp). All operations are for real T.
//
// A merge takes two parts of a matrix, whose eigenvalues and eigenvectors are known, to those of
// both. The parts of one level of the method lie one after the other: merge m is that of rows and
// columns parts(0, m) to parts(1, m) - 1 and of parts(1, m) to parts(2, m) - 1. Numbers of a merge
// stand in these rows of vectors. T itself is that of the parts with |e_i| taken from d_i and
// d_(i+1) for the last row i of the first part: T = diag(T1, T2) + |e_i| u u^T.
#pragma once

#include "device/bulges.hpp"

namespace overlapack {

template <class T>
class Tridiagonals;

/// Numbers of each merge in lists of merges: its `parts`, and its `counts` (Deflate).
inline constexpr int kPartsOfMerge = 3, kCountsOfMerge = 4;

namespace operation {

/// Whether `parts` are those of merges of matrices of order n, the largest of them of `longest`
/// rows.
template <class V>
bool are_parts(const V& parts, Index longest, Index n) {
  return parts.rows == kPartsOfMerge && parts.ld == kPartsOfMerge && longest <= n;
}
/// Whether there are counts of all these merges.
template <class V, class W>
bool are_counts(const V& counts, const W& parts) {
  return counts.rows == kCountsOfMerge && counts.ld == kCountsOfMerge && counts.cols == parts.cols;
}

}  // namespace operation

/// The eigenproblems of blocks on the diagonal of a tridiagonal matrix, by QL iteration.
///   Operands  block b is that of rows starts(b) to starts(b + 1) - 1, at most
///             Limits::leaf_order of them;
///             e: what stands beside the diagonal; that between blocks is not referenced;
///             q: zero outside these blocks
///   Writes    d: the eigenvalues of each block, in no particular order; in the blocks of q the
///             eigenvectors
///   Fails     *failed becomes 1 if the iteration for a block does not end (LAPACK's limit), and
///             stays as it is otherwise
template <class T>
struct DiagonalizeLeaves {
  using Scalar = T;
  using Group = Tridiagonals<T>;
  static constexpr const char* kName = "diagonalize_leaves";

  DeviceView<const Index> starts;
  DeviceView<T> d;
  DeviceView<const T> e;
  DeviceView<T> q;
  DeviceView<Index> failed;

  Index count() const { return starts.rows - 1; }
  bool empty() const { return count() <= 0; }
  bool fits() const {
    return starts.cols == 1 && operation::is_column(d, q.rows) && operation::is_square(q) &&
           e.rows >= d.rows - 1 && operation::is_column(failed, 1);
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.starts), visit(self.d), visit(self.e), visit(self.q), visit(self.failed);
  }
};

/// Which eigenpairs of the parts are those of the merge, by the rules of LAPACK's ?laed2. Close
/// poles are made one by rotations of columns of q. k poles remain: those whose eigenvectors are
/// not zero in rows of the first part alone, of both parts, or of the second part alone.
///   Operands  q: the eigenvectors of the parts, zero elsewhere;
///             longest: rows of the largest merge; numbers and indices: work space
///   Writes    d: behind the first k rows of a merge the eigenvalues that are known; q; poles, z:
///             the remaining ones in ascending order, in the first k rows; columns: of each merge
///             first those of the remaining ones, counted in q, in these three groups, then those
///             of known ones; places: by pole, the place of its column, counted from the merge's
///             first; counts: by merge, how many the three groups are, and the number of rotations
template <class T>
struct Deflate {
  using Scalar = T;
  using Group = Tridiagonals<T>;
  static constexpr const char* kName = "deflate";
  static constexpr Index kNumbers = 4, kIndices = 5;  ///< columns of the work space

  DeviceView<const Index> parts;
  Index longest;
  DeviceView<const T> e;
  DeviceView<T> d, q, poles, z;
  DeviceView<Index> columns, places, counts;
  DeviceView<T> numbers;
  DeviceView<Index> indices;

  bool empty() const { return parts.empty(); }
  bool fits() const {
    const Index n = q.rows;
    return operation::are_parts(parts, longest, n) && operation::is_square(q) &&
           operation::is_column(d, n) && operation::is_column(poles, n) &&
           operation::is_column(z, n) && operation::is_column(columns, n) &&
           operation::is_column(places, n) && operation::are_counts(counts, parts) &&
           numbers.rows == n && numbers.cols == kNumbers && indices.rows == n &&
           indices.cols == kIndices && e.rows >= n - 1;
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.parts), visit(self.e), visit(self.d), visit(self.q), visit(self.poles);
    visit(self.z), visit(self.columns), visit(self.places), visit(self.counts);
    visit(self.numbers), visit(self.indices);
  }
};

/// The eigenvalues of diag(poles) + 2 |e_i| z z^T for the k poles of each merge, as Deflate leaves
/// them.
///   Writes    d: in the first k rows of each merge; origins, shifts: the same, as a pole (counted
///             from the merge's first) and what is to be added to it
template <class T>
struct SolveSecular {
  using Scalar = T;
  using Group = Tridiagonals<T>;
  static constexpr const char* kName = "solve_secular";

  DeviceView<const Index> parts, counts;
  Index longest;
  DeviceView<const T> e, poles, z;
  DeviceView<T> d;
  DeviceView<Index> origins;
  DeviceView<T> shifts;

  bool empty() const { return parts.empty(); }
  bool fits() const {
    const Index n = d.rows;
    return operation::are_parts(parts, longest, n) && operation::are_counts(counts, parts) &&
           operation::is_column(poles, n) && operation::is_column(z, n) &&
           operation::is_column(origins, n) && operation::is_column(shifts, n) && e.rows >= n - 1;
  }
  /// With few steps for each root.
  double flops() const { return operation::flops<T>(20 * operation::product(d.rows, longest, 1)); }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.parts), visit(self.counts), visit(self.e), visit(self.poles), visit(self.z);
    visit(self.d), visit(self.origins), visit(self.shifts);
  }
};

/// The eigenvectors that belong to the roots of SolveSecular: those of the problem with other z,
/// for which these are exact. So they are orthogonal.
///   Operands  as Deflate and SolveSecular leave them
///   Writes    z: the other ones; s: in the first k rows and columns from the merge's first on, the
///             eigenvectors, with rows in the order of `places`
template <class T>
struct SecularVectors {
  using Scalar = T;
  using Group = Tridiagonals<T>;
  static constexpr const char* kName = "secular_vectors";

  DeviceView<const Index> parts, counts;
  Index longest;
  DeviceView<const T> poles;
  DeviceView<T> z;
  DeviceView<const Index> places, origins;
  DeviceView<const T> shifts;
  DeviceView<T> s;

  bool empty() const { return parts.empty(); }
  bool fits() const {
    const Index n = s.rows;
    return operation::are_parts(parts, longest, n) && operation::are_counts(counts, parts) &&
           operation::is_square(s) && operation::is_column(poles, n) &&
           operation::is_column(z, n) && operation::is_column(places, n) &&
           operation::is_column(origins, n) && operation::is_column(shifts, n);
  }
  double flops() const { return operation::flops<T>(4 * operation::product(s.rows, longest, 1)); }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.parts), visit(self.counts), visit(self.poles), visit(self.z), visit(self.places);
    visit(self.origins), visit(self.shifts), visit(self.s);
  }
};

/// Column j of `to` becomes column columns(j) of `from`.
///   Operands  parts: none, or merges, of which only their own rows of their columns are taken;
///             step: 1, or 2: then `to` has two rows for each one of `from`, the first of which
///             gets its number and the other one zero, as real and imaginary parts of complex
///             numbers
///   Writes    to, with merges in their rows and columns alone
template <class T>
struct TakeColumns {
  using Scalar = T;
  using Group = Tridiagonals<T>;
  static constexpr const char* kName = "take_columns";

  DeviceView<const Index> parts;
  Index longest;
  DeviceView<const T> from;
  DeviceView<const Index> columns;
  DeviceView<T> to;
  Index step = 1;

  bool empty() const { return to.empty(); }
  bool fits() const {
    return (parts.empty() || (operation::are_parts(parts, longest, from.rows) && step == 1)) &&
           operation::is_column(columns, to.cols) && (step == 1 || step == 2) &&
           to.rows == step * from.rows;
  }
  double flops() const { return 0; }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.parts), visit(self.from), visit(self.columns), visit(self.to);
  }
};

/// The eigenvectors of all merges of a level, as products and copies would make them one by one.
///   Operands  grouped: those of the parts, as TakeColumns leaves them; s: as SecularVectors does
///   Writes    q: of each merge, in its rows, the first k columns become grouped S, and the others
///             those of `grouped`
template <class T>
struct MultiplyMerges {
  using Scalar = T;
  using Group = Tridiagonals<T>;
  static constexpr const char* kName = "multiply_merges";

  DeviceView<const Index> parts, counts;
  Index longest;
  DeviceView<const T> grouped, s;
  DeviceView<T> q;

  bool empty() const { return parts.empty(); }
  bool fits() const {
    return operation::are_parts(parts, longest, q.rows) && operation::are_counts(counts, parts) &&
           operation::is_square(q) && operation::same_shape(grouped, q) &&
           operation::same_shape(s, q);
  }
  /// At most.
  double flops() const { return operation::flops<T>(operation::product(q.rows, longest, longest)); }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.parts), visit(self.counts), visit(self.grouped), visit(self.s), visit(self.q);
  }
};

/// Eigenvalues number first, first + 1, ... of a tridiagonal matrix, counted from 0, by bisection
/// with Sturm's counts.
///   Operands  d; squares: of the numbers beside the diagonal; both of a matrix with a norm of
///             about 1; low and high: all these eigenvalues lie between them
///   Writes    values: in ascending order, each as accurate as changes of d and e by a few
///             roundings let it be, or to the square of a rounding of 1
template <class T>
struct Bisect {
  using Scalar = T;
  using Group = Tridiagonals<T>;
  static constexpr const char* kName = "bisect";

  DeviceView<const T> d, squares;
  T low, high;
  Index first;
  DeviceView<T> values;

  bool empty() const { return values.empty(); }
  bool fits() const {
    return d.cols == 1 && squares.rows >= d.rows - 1 && first >= 0 &&
           first + values.rows <= d.rows && values.cols == 1;
  }
  /// With as many steps as a number has bits.
  double flops() const {
    return operation::flops<T>(100 * operation::product(d.rows, values.rows, 1));
  }
  template <class Self, class Visit>
  static void operands(Self& self, Visit visit) {
    visit(self.d), visit(self.squares), visit(self.values);
  }
};

/// Enqueues what is above, by default by a trip to the CPU.
template <class T>
class Tridiagonals : public Bulges<T> {
 public:
  using Bulges<T>::Bulges;

 protected:
  friend class Queue;
  using Bulges<T>::run;
  virtual void run(Queue&, const DiagonalizeLeaves<T>&);
  virtual void run(Queue&, const Deflate<T>&);
  virtual void run(Queue&, const SolveSecular<T>&);
  virtual void run(Queue&, const SecularVectors<T>&);
  virtual void run(Queue&, const TakeColumns<T>&);
  virtual void run(Queue&, const MultiplyMerges<T>&);
  virtual void run(Queue&, const Bisect<T>&);
};

}  // namespace overlapack
