// The steps of many panels of an LU factorization as one.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/residues.hpp"

namespace overlapack::algorithms {

/// What the columns right of some panels get from them: interchanges, U := L^-1 A, and
/// A := A - L U, as one sum for all these panels. Such sums are long enough for products by
/// residues. The columns are given by rows (LuMatrix), as A^H.
template <class T>
class LongStep {
 public:
  using Workspace = typename ResidueSubtraction<T>::Workspace;

  /// For panels of nb columns each; `rows` of the matrix are not above them. nb is a multiple of
  /// ResidueProducts<T>::residue_unit().
  LongStep(Device& device, Index rows, Index panels, Index nb);
  /// Work space to apply steps of up to that many rows, panels and columns to `columns` columns at
  /// a time: one for each queue.
  static Workspace workspace(Device& device, Index rows, Index panels, Index nb, Index columns);
  /// Of device memory, of a step and of such a work space.
  static std::size_t bytes(Device& device, Index rows, Index panels, Index nb);
  static std::size_t workspace_bytes(Device& device, Index rows, Index panels, Index nb,
                                     Index columns);

  /// Takes L from the panels `a`, each of which has seen the interchanges of those before it. Row i
  /// was interchanged with row pivots(i) - 1 - offset. Column p of `inverses` is what
  /// FindInverses has left of panel p's triangle.
  void begin(Queue& queue, DeviceView<const T> a, DeviceView<const Index> pivots, Index offset,
             DeviceView<const Index> inverses);
  /// The step on the same rows of other columns, by rows, which are ready in `queue`. L is waited
  /// for.
  void apply(Queue& queue, const Workspace& workspace, DeviceView<T> a) const;

 private:
  bool composes() const { return l_.view().rows <= kernels_.limits().permutable_rows; }

  Kernels<T>& kernels_;
  Index nb_;
  DeviceMatrix<T> l_;            // with all interchanges
  DeviceMatrix<Index> sources_;  // of rows, for the columns of each panel but the last one
  DeviceView<const Index> pivots_, inverses_;
  Index offset_ = 0;
  ResidueSubtraction<T> subtract_;  // with what of L lies below the panels' last row
  EventLease begun_;
};

}  // namespace overlapack::algorithms
