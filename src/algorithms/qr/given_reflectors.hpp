// Reflectors of an earlier factorization on the device.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// What of reflectors H = I - tau v v^H is not stored below the diagonal of the matrix V that holds
/// the vectors: the ones that they begin with, and tau.
///
/// In compact WY form H_1 H_2 ... H_k = I - V S^-1 V^H. S is the upper triangle of V^H V but for
/// its diagonal, which is 1 / tau (Joffrain, Low, Quintana-Orti, van de Geijn and Van Zee,
/// Accumulating Householder transformations, revisited, 2006).
template <class T>
class GivenReflectors {
 public:
  /// `tau` has its elements in the host's memory, or none if only ones are wanted. Blocks have nb
  /// columns at most.
  GivenReflectors(Device& device, HostView<const T> tau, Index nb)
      : square_(device, nb, nb),
        ones_(device, Space::host, nb),
        scales_(device, Space::host, tau.rows) {
    std::fill_n(ones_.data(), nb, T(1));
    for (Index j = 0; j < tau.rows; ++j) {
      const bool is_unit = tau(j, 0) == T(0);  // H is I
      scales_.data()[j] = is_unit ? T(1) : T(1) / tau(j, 0);
      if (is_unit) units_.push_back(j);
    }
  }
  /// Of device memory.
  static std::size_t bytes(Index nb) { return DeviceMatrix<T>::bytes(nb, nb); }

  /// To be called once in the queue, before what follows.
  void prepare(Queue& queue) const { set_zero(queue, square_.view()); }

  /// Adds to columns j of V, whose vectors are there from the diagonal down, the ones on the
  /// diagonal and zeros above, in rows j. Nothing is left of a reflector that is I.
  void complete(Queue& queue, DeviceView<T> v, Range j) const {
    const DeviceView<T> square = square_.view().block(0, 0, j.size(), j.size());
    const DeviceView<T> block = v.block(j, j);
    queue.copy<T>(square, block, Part::lower);
    set_ones(queue, square);
    queue.copy<T>(block, square);
    for (const Index unit : units_) {
      if (unit >= j.first && unit < j.last) {
        set_zero(queue, v.block({j.first, v.rows}, {unit, unit + 1}));
      }
    }
  }
  /// The diagonal of a block of V^H V becomes that of S. Its rows and columns are j.
  void set_diagonal(Queue& queue, DeviceView<T> block, Range j) const {
    set_diagonal(queue, block, scales_.data() + j.first);
  }
  /// Ones on the diagonal, of up to nb columns.
  void set_ones(Queue& queue, DeviceView<T> block) const {
    set_diagonal(queue, block, ones_.data());
  }

 private:
  static void set_diagonal(Queue& queue, DeviceView<T> a, const T* values) {
    const Index count = std::min(a.rows, a.cols);
    queue.copy<T>(DeviceView<T>(a.data, 1, count, a.ld + 1),
                  HostView<const T>(values, 1, count, 1));
  }

  const DeviceMatrix<T> square_;
  const Buffer<T> ones_, scales_;
  std::vector<Index> units_;  // the columns whose reflector is I
};

}  // namespace overlapack::algorithms
