// The way back of eigenvectors through reflectors of a reduction.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/qr/given_blocks.hpp"

namespace overlapack::algorithms {

/// How many of the n columns of Z are multiplied at a time: enough for large products.
template <class T>
Index vectors_at_once(const Options& options, Index n) {
  return GivenBlocks<T>::columns_at_once(std::min(options.nb, n - 1), n);
}

/// Products with Q = H_1 H_2 ..., whose reflectors a reduction has left below the diagonal of a
/// square matrix: that of column j begins in row j + `offset`.
template <class T>
class WayBack {
 public:
  /// `tau` is in the host's memory, with n - offset elements.
  WayBack(Device& device, const Options& options, DeviceView<T> matrix, Index offset,
          HostView<const T> tau)
      : offset_(offset),
        blocks_(partition(tau.rows, columns_of_block(device, options, tau.rows))),
        product_(device, matrix.block(offset, 0, tau.rows, tau.rows), tau,
                 columns_of_block(device, options, tau.rows), Side::left,
                 vectors_at_once<T>(options, matrix.rows)) {}
  /// Of device memory.
  static std::size_t bytes(const Device& device, const Options& options, Index n, Index offset) {
    const Index reflectors = n - offset, columns = columns_of_block(device, options, reflectors);
    return GivenBlocks<T>::bytes(reflectors, columns, Side::left,
                                 vectors_at_once<T>(options, n));
  }

  /// To be called once in the queue, before what follows.
  void prepare(Queue& queue) const {
    product_.prepare(queue);
    for (const Range& b : blocks_) product_.complete(queue, b);
  }
  /// Z := Q Z for some columns, vectors_at_once() at most. Its first rows stay as they are.
  void multiply(Queue& queue, DeviceView<T> z) const {
    const DeviceView<T> below = z.block(offset_, 0, z.rows - offset_, z.cols);
    for (auto b = blocks_.rbegin(); b != blocks_.rend(); ++b) {
      product_.multiply(queue, Op::none, *b, below);
    }
  }

 private:
  /// Wide blocks are fast. But the wider they are, the less orthogonal is what they are multiplied
  /// to, where many eigenvalues are close to each other; small matrices show that most.
  static Index columns_of_block(const Device& device, const Options& options, Index reflectors) {
    constexpr Index kUnit = 64, kParts = 16;
    const Index narrow = round_up(quotient_up(reflectors, kParts), kUnit);
    return std::min({options.nb, device.tuning().eigen.way_back_columns, narrow, reflectors});
  }

  const Index offset_;
  const std::vector<Range> blocks_;
  const GivenBlocks<T> product_;
};

}  // namespace overlapack::algorithms
