// The steps of many panels of an LU factorization as one.
#pragma once

#include <optional>

#include "algorithms/blocks.hpp"
#include "algorithms/residues.hpp"

namespace overlapack::algorithms {

/// What the columns right of some panels get from them: interchanges, U := L^-1 A, and
/// A := A - L U, as one sum for all these panels: by residues, for which such sums are long enough,
/// or plain. The columns are given by rows (Lu), as A^H.
template <class T>
class LongStep {
 public:
  /// What residues need: one for each queue.
  using Workspace = std::optional<typename ResidueSubtraction<T>::Workspace>;

  /// How the panels are cut: so many of nb columns each. By residues nb is a multiple of
  /// Kernels<T>::residue_unit().
  struct Form {
    Index panels, nb;
    bool residues;
    Index width() const { return panels * nb; }
  };

  /// `rows` of the matrix are not above the panels.
  LongStep(Device& device, Index rows, Form form);
  /// Work space to apply steps of up to that many rows to `columns` columns at a time.
  static Workspace workspace(Device& device, Index rows, Form form, Index columns);

  /// Takes L from the panels `a`, each of which has seen the interchanges of those before it. Row i
  /// was interchanged with row pivots(i) - 1 - offset.
  void begin(Queue& queue, DeviceView<const T> a, DeviceView<const Index> pivots, Index offset);
  /// The step on the same rows of other columns, by rows, which are ready in `queue`. L is waited
  /// for.
  void apply(Queue& queue, const Workspace& workspace, DeviceView<T> a) const;

 private:
  bool composes() const { return l_.view().rows <= kernels_.permutable_rows(); }

  Kernels<T>& kernels_;
  const Index nb_;
  DeviceMatrix<T> l_;            // with all interchanges
  DeviceMatrix<Index> sources_;  // of rows, for the columns of each panel but the last one
  DeviceView<const Index> pivots_;
  Index offset_ = 0;
  std::optional<ResidueSubtraction<T>> by_residues_;  // with what of L lies below the panels
  EventLease begun_;
};

}  // namespace overlapack::algorithms
