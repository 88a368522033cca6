// The second stage of a reduction to tridiagonal form: from a band matrix, on the device.
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "device/buffer.hpp"

namespace overlapack::algorithms {

/// Q^H B Q = T for a Hermitian band matrix B, by bulge chasing (ChaseBulges), and products with Q.
/// Reflectors stay on the device. What they are and where they stand says device/bulges.hpp.
template <class T>
class BulgeChasing {
 public:
  /// Without `vectors` nobody keeps the reflectors, and there are no products. The bandwidth is at
  /// least 1 and at most Limits::chase_bandwidth. It may be larger than n.
  BulgeChasing(Device& device, const Options& options, Index n, Index bandwidth, bool vectors);
  /// Of device memory.
  static std::size_t bytes(const Device& device, const Options& options, Index n, Index bandwidth,
                           bool vectors);

  /// Where the lower part of the band is to arrive: B(i, j) in row i - j of column j, for
  /// 0 <= i - j <= bandwidth, in 2 * bandwidth rows. The others are cleared by reduce(). Imaginary
  /// parts of the diagonal, and what is below the last row of B, are anybody's.
  DeviceView<T> band() const { return band_.view(); }

  /// Enqueues the reduction, in which the band is spoilt.
  void reduce(Queue& queue) const;

  /// Enqueues that d and e come home. They are there once the queue has been waited for.
  void fetch(Queue& queue) const { d_and_e_.fetch(queue); }
  const Real<T>* d_here() const { return d_and_e_.here(); }
  const Real<T>* e_here() const { return d_and_e_.here() + n_; }

  /// Enqueues what products need, once, behind reduce().
  void prepare(Queue& queue) const;
  /// Enqueues Z := Q Z for some columns of Z, which has n rows.
  void multiply(Queue& queue, DeviceView<T> z) const;

 private:
  DeviceView<T> work() const { return DeviceView<T>(work_.data(), work_.size()); }

  const Index n_, bandwidth_, group_;
  const DeviceMatrix<T> band_, v_;
  const Buffer<T> work_;
  const Readout<Real<T>> d_and_e_;
};

}  // namespace overlapack::algorithms
