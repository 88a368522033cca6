// Eigenvalues and eigenvectors of a symmetric tridiagonal matrix by Cuppen's divide-and-conquer
// method, on the device.
#pragma once

#include <vector>

#include "algorithms/eigen/tridiagonal.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// A matrix as one of real numbers, of which a complex one has two, one below the other.
template <class T>
constexpr Index kRealsOfNumber = is_complex<T> ? 2 : 1;
template <class T>
DeviceView<Real<T>> as_reals(DeviceView<T> a) {
  constexpr Index kReals = kRealsOfNumber<T>;
  return {reinterpret_cast<Real<T>*>(a.data), kReals * a.rows, a.cols, kReals * a.ld};
}

/// T = Q diag(lambda) Q^T. It has three matrices of the order of T in the device's memory.
template <class R>
class DivideAndConquer {
 public:
  DivideAndConquer(Device& device, Index n);
  /// Of device memory.
  static std::size_t bytes(Index n);

  /// Computes, and waits for the eigenvalues of a matrix that is cut and scaled. Throws DeviceError
  /// if an iteration does not converge.
  void run(Queue& queue, const Tridiagonal<R>& t);
  /// In ascending order.
  const std::vector<R>& eigenvalues() const { return eigenvalues_; }
  /// Enqueues that `to` becomes the eigenvectors of as many eigenvalues, from number `first` on.
  /// `step`: as for the operation TakeColumns.
  void take(Queue& queue, DeviceView<R> to, Index step = 1, Index first = 0) const;

  /// Matrices of order n that nothing uses after run(): one of them may be given to take().
  DeviceView<R> spare() const { return grouped_.view(); }
  DeviceView<R> other_spare() const { return vectors_.view(); }

 private:
  /// The merges of one level, which are independent.
  struct Level {
    std::vector<Index> parts;  // kPartsOfMerge numbers of each, as operations take them
    Index longest = 0;
    Index first = 0;  // its first merge among all of them
    Index count() const { return static_cast<Index>(parts.size()) / kPartsOfMerge; }
  };

  Index divide(Range rows);
  void begin(Queue& queue, const Tridiagonal<R>& t);
  void merge(Queue& queue, const Level& level);
  void multiply(Queue& queue, const Level& level, Index m) const;
  void sort(Queue& queue, const Tridiagonal<R>& t);

  DeviceView<R> numbers(Index column) const { return numbers_.view().column(column); }
  DeviceView<Index> indices(Index column) const { return indices_.view().column(column); }

  Device& device_;
  const Index n_;
  const DeviceMatrix<R> q_, grouped_, vectors_;  // the last of the secular problems
  const DeviceMatrix<R> numbers_;
  const DeviceMatrix<Index> indices_;
  const Buffer<Index> starts_, parts_, counts_, failed_;
  const Buffer<R> staged_numbers_;
  const Buffer<Index> staged_starts_, staged_parts_, staged_counts_;
  const EventLease counted_;
  std::vector<Index> leaves_;  // the rows that they begin with, and the end
  std::vector<Level> levels_;
  std::vector<R> eigenvalues_;
};

}  // namespace overlapack::algorithms
