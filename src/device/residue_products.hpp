// Products of residues: the accuracy of double at the speed of small integers. A device may have
// none.
//
// Tensor cores multiply int8 matrices so many times faster than other units multiply double ones
// that a product of integers of 54 bits is faster by residues: modulo each of fourteen numbers of
// eight bits the factors are int8 matrices, their product is exact in int32, and fourteen of these
// tell the sum of products, which is an integer of 109 bits (Ozaki, Uchino and Imamura, "Ozaki
// scheme II", 2025). To get there and back costs as much as a sum of 1000 products and more, so
// that this is for long sums only.
//
// A number is rounded to a multiple of 2^-54 of the scale of its row, a power of two. A row is
// short if its norm is no more than 1.375 times its scale. So the error of a product of two short
// rows is at most 2^-53 of the product of their scales and of the root of the number of summands.
// That is as good as double precision if the norms of rows are what errors are measured by, as they
// are in a Cholesky factorization: with scales of 0.73 to 1.46 times the roots of the diagonal of A
// = L L^T, every row of L is short.
//
// Of complex numbers it is three products of real ones instead of four. That loses accuracy in
// floating point (Higham, Accuracy and Stability, 23.2.4), but nothing where products are exact.
#pragma once

#include "device/format.hpp"
#include "device/residues.hpp"

namespace overlapack {

template <class T>
class ResidueProducts;

/// Whether residues exist for T: in double precision. All that follows is for such T.
template <class T>
inline constexpr bool kResidues = std::is_same_v<Real<T>, double>;

/// A matrix with its residues (FindResidues), n rows of k numbers, which are part of longer
/// rows perhaps.
template <class T>
struct ResidueForm {
  Op op;  ///< op(matrix) is the matrix, none or conj_trans
  DeviceView<const T> matrix;
  DeviceView<Real<T>> scales;  ///< of the rows: powers of two
  DeviceView<std::int8_t>
      numbers;   ///< k x n: the residues for the first modulus, of the first plane
  Index stride;  ///< from these to those for the next one

  // Only with scales that were given to FindResidues, of the rows: sums of squares up to
  // these columns, in units of the squares of scales; the number of the first row; and one element,
  // the number of the first row that is not short.
  DeviceView<Real<T>> squares = {};
  Index first = 0;
  DeviceView<Index> first_long = {};

  /// Complex T: from the residues of each plane to those of the next. Planes have the real parts of
  /// numbers, their imaginary parts, the sums of both, and real parts without imaginary ones.
  Index next_plane = 0;
  static constexpr int kPlanes = is_complex<T> ? 4 : 1;
  /// Of a complex product A B^H: A0 B0^T, A1 B1^T and A2 B3^T of the planes. The first two are its
  /// real part; the third without the first and with the second its imaginary part.
  static constexpr int kProducts = is_complex<T> ? 3 : 1;

  bool has_found_scales() const { return squares.empty(); }
  /// By which the product of scales and numbers is to be multiplied.
  double unit() const { return has_found_scales() ? 1 << residues::kSpareBits : 1; }
  Index rows() const { return op == Op::none ? matrix.rows : matrix.cols; }
  Index summands() const { return op == Op::none ? matrix.cols : matrix.rows; }
};

/// Finds the residues of.numbers of of.matrix.
///   Operands  before: sums of squares of the rows in the columns before, or none for zeros
///   Writes    of.numbers; of.squares become `before` and what the matrix adds; *of.first_long
///             becomes the number of the first row that is not short any more, if that is less
template <class T>
struct FindResidues {
  using Scalar = T;
  using Group = ResidueProducts<T>;
  static constexpr const char* kName = "residues";

  ResidueForm<T> of;
  DeviceView<const Real<T>> before;

  bool empty() const { return of.rows() == 0; }
  bool fits() const {
    return of.squares.rows == of.rows() && of.first_long.rows == 1 &&
           (before.empty() || operation::is_column(before, of.rows()));
  }
  double flops() const { return 0; }
};

/// Finds scales for rows of which nothing is known, and of.numbers by them. All rows are short
/// then, but what belongs to one with an infinity or a NaN becomes NaN.
///   Operands  if there are `sizes`, summand l is multiplied by the largest power of two that is
///             not larger than sizes(l), within 2^-900 and 1, or divided by it; see Split. Rows of
///             which summands are divided must not be longer than 2^900. `of` has no squares
///   Writes    of.scales, of.numbers
template <class T>
struct FindScaledResidues {
  using Scalar = T;
  using Group = ResidueProducts<T>;
  static constexpr const char* kName = "scaled_residues";

  Weigh weigh;
  ResidueForm<T> of;
  DeviceView<const Real<T>> sizes;

  bool empty() const { return of.rows() == 0; }
  bool fits() const {
    return of.has_found_scales() && of.first_long.empty() &&
           (sizes.empty() || operation::is_column(sizes, of.summands()));
  }
  double flops() const { return 0; }
};

/// C := beta C - A B^H for short rows of A and B. What belongs to another one becomes NaN, but what
/// belongs to the first one of all is computed in double precision, slowly.
///   Operands  work: work space (residue_work())
///   Writes    c
template <class T>
struct ResidueGemm {
  using Scalar = T;
  using Group = ResidueProducts<T>;
  static constexpr const char* kName = "residue_gemm";

  ResidueForm<T> a, b;
  T beta;
  DeviceView<T> c;
  DeviceView<std::int32_t> work;

  bool empty() const { return c.empty(); }
  bool fits() const {
    return a.rows() == c.rows && b.rows() == c.cols && a.summands() == b.summands() &&
           a.has_found_scales() == b.has_found_scales();
  }
  double flops() const {
    return operation::flops<T>(operation::product(c.rows, c.cols, a.summands()));
  }
};

/// Enqueues the operations above.
template <class T>
class ResidueProducts {
 public:
  virtual ~ResidueProducts() = default;
  /// Summands of products are multiples of this, and so are all distances within the residues. A
  /// product may read beyond the residues of its last rows, up to a multiple of this many rows.
  virtual Index residue_unit() const = 0;
  /// Elements of ResidueGemm::work for an m x n matrix C or a smaller one. Another number than for
  /// one of n x m.
  virtual Index residue_work(Index m, Index n) const = 0;

 protected:
  friend class Queue;
  virtual void run(Queue&, const FindResidues<T>&) = 0;
  virtual void run(Queue&, const FindScaledResidues<T>&) = 0;
  virtual void run(Queue&, const ResidueGemm<T>&) = 0;
};

}  // namespace overlapack
