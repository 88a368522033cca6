// The reduction of a Hermitian matrix to a tridiagonal one, on the device.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// Q^H A Q = T by Householder reflectors (LAPACK's ?sytrd and ?hetrd of a lower triangle), in one
/// stage. Matrix and results stay on the device, for whoever goes on with them there.
///
/// For each panel of columns
///
///   its columns of T, its reflectors V and W      by one operation (SytrdPanel)
///   A22 := A22 - V W^H - W V^H                    for what is behind it
///
/// until what is left is small enough for one operation (Sytrd).
///
/// Half of all operations are products of A22 with a vector, one for each column, which read it
/// each time: they take as long as memory does, and no lookahead would hide them.
template <class T>
class Tridiagonalization {
 public:
  Tridiagonalization(Device& device, const Options& options, Index n);
  /// Of device memory.
  static std::size_t bytes(const Device& device, const Options& options, Index n);

  /// Where the lower triangle is to arrive. Of the results it has T, and below its subdiagonal the
  /// reflectors. The other triangle is anybody's.
  DeviceView<T> matrix() const { return matrix_.view(); }
  /// n, n - 1 and n - 1 elements, once it is reduced.
  DeviceView<Real<T>> d() const { return d_and_e_.there().block(0, 0, n_, 1); }
  DeviceView<Real<T>> e() const { return d_and_e_.there().block(n_, 0, n_ - 1, 1); }
  DeviceView<T> tau() const { return tau_.there(); }

  /// Enqueues the reduction.
  void reduce(Queue& queue) const;

  /// Enqueues that d, e and tau come home. They are there once the queue has been waited for.
  void fetch(Queue& queue) const;
  const Real<T>* d_here() const { return d_and_e_.here(); }
  const Real<T>* e_here() const { return d_and_e_.here() + n_; }
  const T* tau_here() const { return tau_.here(); }

 private:
  static Index panel_columns(const Device& device, const Options& options, Index n);
  static Index work_elements(const Device& device, Index n, Index nb);

  Device& device_;
  const Index n_, nb_;
  const DeviceMatrix<T> matrix_, v_, w_;
  const Buffer<T> work_;
  const Readout<Real<T>> d_and_e_;
  const Readout<T> tau_;
};

}  // namespace overlapack::algorithms
