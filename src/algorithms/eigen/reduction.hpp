// The reduction of a Hermitian matrix to a tridiagonal one, for drivers: in one stage or in two.
#pragma once

#include <memory>
#include <optional>

#include "algorithms/eigen/band_reduction.hpp"
#include "algorithms/eigen/bulge_chasing.hpp"
#include "algorithms/eigen/tridiagonalization.hpp"
#include "algorithms/eigen/way_back.hpp"

namespace overlapack::algorithms {

/// Q^H A Q = T, and products with Q. Matrix and reflectors stay on the device.
template <class T>
class Reduction {
 public:
  virtual ~Reduction() = default;

  /// Where the lower triangle is to arrive.
  virtual DeviceView<T> matrix() const = 0;
  /// Enqueues the reduction, and that T comes home. It is there once the queue has been waited for:
  /// the diagonal, and what stands beside it.
  virtual void reduce(Queue& queue) = 0;
  virtual const Real<T>* d_here() const = 0;
  virtual const Real<T>* e_here() const = 0;

  /// To be called once, when T is there, before what follows.
  virtual void prepare(Queue& queue) = 0;
  /// Enqueues Z := Q Z: first what is to be done with all columns of Z at a time, and then the rest
  /// for some of them, vectors_at_once() at most.
  virtual void begin_to_multiply(Queue& queue, DeviceView<T> z) const = 0;
  virtual void multiply(Queue& queue, DeviceView<T> some) const = 0;
};

/// Half of the operations are products of the matrix with one vector.
template <class T>
class ReductionInOneStage final : public Reduction<T> {
 public:
  ReductionInOneStage(Device& device, const Options& options, Index n);
  static std::size_t bytes(const Device& device, const Options& options, Index n, bool vectors);

  DeviceView<T> matrix() const override { return to_tridiagonal_.matrix(); }
  void reduce(Queue& queue) override;
  const Real<T>* d_here() const override { return to_tridiagonal_.d_here(); }
  const Real<T>* e_here() const override { return to_tridiagonal_.e_here(); }
  void prepare(Queue& queue) override;
  void begin_to_multiply(Queue&, DeviceView<T>) const override {}
  void multiply(Queue& queue, DeviceView<T> z) const override { way_back_->multiply(queue, z); }

 private:
  Device& device_;
  const Options options_;
  const Tridiagonalization<T> to_tridiagonal_;
  std::optional<WayBack<T>> way_back_;
};

/// By way of a band matrix: the operations are products of matrices. Vectors go back twice.
template <class T>
class ReductionInTwoStages final : public Reduction<T> {
 public:
  /// The order is more than bandwidth + 1: there is something to reduce to a band.
  ReductionInTwoStages(Device& device, const Options& options, Index n, Index bandwidth,
                       bool vectors);
  static std::size_t bytes(const Device& device, const Options& options, Index n, Index bandwidth,
                           bool vectors);

  DeviceView<T> matrix() const override { return to_band_.matrix(); }
  void reduce(Queue& queue) override;
  const Real<T>* d_here() const override { return to_tridiagonal_.d_here(); }
  const Real<T>* e_here() const override { return to_tridiagonal_.e_here(); }
  void prepare(Queue& queue) override;
  /// Through the second stage: a kernel whose thread blocks are as many as columns allow.
  void begin_to_multiply(Queue& queue, DeviceView<T> z) const override;
  void multiply(Queue& queue, DeviceView<T> z) const override { way_back_->multiply(queue, z); }

 private:
  Device& device_;
  const Options options_;
  const Index bandwidth_;
  const BandReduction<T> to_band_;
  const BulgeChasing<T> to_tridiagonal_;
  std::optional<WayBack<T>> way_back_;
};

/// The faster one. With Options::memory it is the one that takes less, if there is no room for the
/// other with so many bytes of device memory besides.
template <class T>
std::unique_ptr<Reduction<T>> make_reduction(Device& device, const Options& options, Index n,
                                             bool vectors, std::size_t besides);
/// How many bytes it takes.
template <class T>
std::size_t reduction_bytes(const Device& device, const Options& options, Index n, bool vectors,
                            std::size_t besides);

}  // namespace overlapack::algorithms
