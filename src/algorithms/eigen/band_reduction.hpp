// The reduction of a Hermitian matrix to a band matrix, on the device.
#pragma once

#include "algorithms/qr/reflectors.hpp"
#include "algorithms/shared/blocks.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// Q^H A Q = B by Householder reflectors, where B has nothing more than `bandwidth` rows below its
/// diagonal: the first of two stages to a tridiagonal matrix. Matrix and results stay on the
/// device.
///
/// For each panel of as many columns as the band has beside the diagonal
///
///   what is below the band = Q1 [R; 0]     for Q1 = I - V T V^H
///   W = Y T - 1/2 V T^H (V^H Y T)          for Y = A V
///   A := A - V W^H - W V^H                 which is Q1^H A Q1, for what is behind the panel
///
/// What is behind some panels gets their V and W as one, since products with long sums are faster.
/// Until then a panel is made of the old A: of
///
///   A - V' W'^H - W' V'^H
///
/// for V' and W' of the panels before it. So there are nothing but products and panels of QR.
template <class T>
class BandReduction {
 public:
  BandReduction(Device& device, Index n, Index bandwidth);
  /// Of device memory.
  static std::size_t bytes(const Device& device, Index n, Index bandwidth);

  /// Where the lower triangle is to arrive. Of the results it has the band, and below it the
  /// vectors of the reflectors: that of column j begins in row j + bandwidth.
  DeviceView<T> matrix() const { return matrix_.view().block(0, 0, n_, n_); }
  /// Enqueues the reduction.
  void reduce(Queue& queue) const;
  /// Enqueues that b(i - j, j) becomes B(i, j) for 0 <= i - j <= bandwidth, and 0 where i >= n.
  void copy_band(Queue& queue, DeviceView<T> b) const;

  /// Of the reflectors. It is there once the queue has been waited for.
  HostView<const T> tau() const { return {staged_tau_.data(), columns().size()}; }

 private:
  static Index accumulated_columns(const Device& device, Index bandwidth);
  static Index work_rows(Index accumulated, Index bandwidth);
  /// Of the matrix, those with reflectors.
  Range columns() const { return {0, std::max<Index>(n_ - bandwidth_, 0)}; }
  /// What is below the band of panel j, but for what is right of the panel; what is behind it; and
  /// the columns before it with V' and W'.
  Range below(Range j) const { return {j.first + bandwidth_, n_}; }
  Range behind(Range j) const { return {j.last, n_}; }
  Range before(Range j) const { return {j.first / accumulated_ * accumulated_, j.first}; }
  /// Some rows of V or W, for columns j.
  DeviceView<T> part(const DeviceMatrix<T>& of, Range rows, Range j) const {
    return of.view().block(rows.first, j.first % accumulated_, rows.size(), j.size());
  }
  DeviceView<T> y(Range j) const { return y_.view().block(behind(j), {0, j.size()}); }
  DeviceView<T> t(Range j) const { return t_.view().block(0, 0, j.size(), j.size()); }

  // What is done for panel j.
  void bring_up_to_date(Queue& queue, Range j) const;
  void factor(Queue& queue, Range j) const;
  void find_y(Queue& queue, Range j) const;
  void find_w(Queue& queue, Range j) const;

  const Device& device_;
  const Index n_, bandwidth_;
  const Index accumulated_;          // columns
  const DeviceMatrix<T> matrix_;     // with rows of zeros below, for copy_band()
  const DeviceMatrix<T> v_, w_, y_;  // V' and W', and Y of a panel
  const DeviceMatrix<T> t_, work_;
  const Reflection<T> reflection_;  // within a panel
  const Buffer<T> staged_tau_;
};

}  // namespace overlapack::algorithms
