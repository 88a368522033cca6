// Long sums in double precision by products of residues (device.hpp), of a left-looking Cholesky
// factorization and of an LU.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/triangle.hpp"

namespace overlapack::algorithms {

/// How the residues of n rows of up to k numbers lie (ResidueForm).
template <class T>
struct ResidueLayout {
  ResidueLayout() = default;
  /// For a device that has products of residues.
  ResidueLayout(const Kernels<T>& kernels, Index n, Index k);
  Index bytes() const { return stride * residues::kModuli; }

  Index next_plane = 0, ld = 0, stride = 0;
};

/// The updates C -= L(rows, k) L(columns, k)^H for many columns k, where they are faster
/// that way. The factor's rows become residues block column by block column as these become final,
/// once, and serve as both operands.
///
/// As backward stable as the factorization is anyway. The norm of row i of L is at most the root of
/// A's element a(i, i), and its scale hardly more. So an element of the sum has an error
/// of about 2^-53 sqrt(a(i, i) a(j, j)), which is what the analysis of Cholesky's algorithm bounds
/// its errors by (Demmel, LAPACK Working Note 14, 1989; Higham, Accuracy and Stability, 10.1.1),
/// and no scaling of A by powers of two changes anything. A row that gets longer belongs to a
/// leading minor that is not positive definite: the first such row is multiplied as it is, because
/// LAPACK leaves it, and nobody wants the others.
template <class T>
class ResidueUpdates {
 public:
  /// `factor` is the matrix that will hold L (or U) of order n in its triangle.
  ResidueUpdates(Device& device, const Options& options, const Triangle<T>& triangle,
                 DeviceView<T> factor, Index n);
  /// Of device memory.
  static std::size_t bytes(Device& device, const Options& options, Uplo uplo, Index n);

  /// Whether there is any use for them. If not, only pay() may be called.
  bool used() const { return form_.has_value(); }
  /// Comes first: A's diagonal. There is no use for them any more if not all of it is positive and
  /// finite, or if some of it is tiny.
  void begin(Queue& queue, const std::vector<T>& diagonal);
  /// From now on updates may use these rows of a block column; they are final. (Those of its
  /// diagonal block are left out.) For each row, blocks come in order, and all are as wide as the
  /// first.
  void append(Queue& queue, Range rows, Range block);
  /// Whether an update is faster that way.
  bool pay(Range rows, Range columns, Range k) const;
  /// C -= L(rows, k) L(columns, k)^H, where C is stored as the triangle is. All of k lies
  /// left of `rows` and `columns`, which begin with a block, begins and ends with blocks, and has
  /// been appended. One queue at a time: there is one workspace.
  void subtract(Queue& queue, Range rows, Range columns, Range k, DeviceView<T> c) const;

 private:
  struct Form {
    Buffer<std::int8_t> numbers;
    DeviceMatrix<Real<T>> squares;  // of each row's elements up to those of a block, by block
    Buffer<Real<T>> scales, staged_scales;
    Buffer<Index> first_long, staged_order;
    Buffer<std::int32_t> work;
  };
  /// Whether any updates of a matrix of order n are faster that way.
  static bool pay(Device& device, const Options& options, Index n);
  /// Elements of work space for the updates of a block column.
  static Index work(Device& device, Uplo uplo, Index n, Index nb) {
    const Kernels<T>& kernels = device.kernels<T>();
    return uplo == Uplo::lower ? kernels.residue_products()->residue_work(n, nb)
                               : kernels.residue_products()->residue_work(nb, n);
  }
  ResidueForm<T> form(Range rows, Range k) const;

  Triangle<T> triangle_;
  DeviceView<T> factor_;
  Index n_, nb_;
  ResidueLayout<T> layout_;
  std::optional<Form> form_;
};

/// C -= L U with many summands, for one L and any number of U. U and C are given by their
/// adjoints, U^H and C^H.
///
/// The columns of L are made equal in size, as by Subtraction and for its reason. Then an element
/// of the product has an error of about 2^-53 times the norms of its row of L and its column of U,
/// where the analysis of Gaussian elimination has the number of summands times the moduli.
template <class T>
class ResidueSubtraction {
  /// The residues of up to n rows of up to k numbers, and their scales.
  class Residues {
   public:
    Residues(Device& device, Index n, Index k);
    static std::size_t bytes(Device& device, Index n, Index k);
    /// Those of the rows of a matrix, the first of which is number `first`.
    ResidueForm<T> form(DeviceView<const T> matrix, Index first = 0) const;

   private:
    ResidueLayout<T> layout_;
    Buffer<std::int8_t> numbers_;
    Buffer<Real<T>> scales_;
  };

 public:
  /// For C of up to m rows, n columns of it at a time, and up to k summands: one for each queue.
  struct Workspace {
    Workspace(Device& device, Index m, Index n, Index k);
    /// Of device memory.
    static std::size_t bytes(Device& device, Index m, Index n, Index k);
    Index columns;
    Residues u;
    Buffer<std::int32_t> sums;
  };

  /// L is m x k, and k a multiple of ResidueProducts<T>::residue_unit().
  ResidueSubtraction(Device& device, Index m, Index k);
  /// Of device memory.
  static std::size_t bytes(Device& device, Index m, Index k);
  /// L must stay as it is from now on.
  void give(Queue& queue, DeviceView<const T> l);
  /// c -= u L^H.
  void operator()(Queue& queue, const Workspace& workspace, DeviceView<const T> u,
                  DeviceView<T> c) const;

 private:
  Kernels<T>& kernels_;
  const Index columns_;  // of C at a time
  DeviceView<const T> matrix_;
  Residues l_;
  DeviceMatrix<Real<T>> sizes_;  // of the columns of L
};

}  // namespace overlapack::algorithms
