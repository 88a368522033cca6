// Block reflectors Q = I - V T V^H, the products of reflectors in compact WY form (Schreiber and
// Van Loan, A storage-efficient WY representation for products of Householder transformations,
// 1989).
#pragma once

#include "algorithms/shared/blocks.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// V is m x k, with its ones on the diagonal and zeros above. T is upper triangular, with zeros
/// below.
template <class T>
struct BlockReflector {
  DeviceView<const T> v, t;
};

/// What multiplies by block reflectors in one queue: the workspace for it.
template <class T>
class Reflection {
 public:
  /// For up to k reflectors, and up to n columns.
  Reflection(Device& device, Index k, Index n) : product_(device, k, n), scaled_(device, k, n) {}
  /// Of device memory.
  static std::size_t bytes(Index k, Index n) { return 2 * DeviceMatrix<T>::bytes(k, n); }

  /// C := Q^H C, or Q C.
  void operator()(Queue& queue, Op op, const BlockReflector<T>& q, DeviceView<T> c) const;
  /// The triangle of the product of a block reflector and a later one, [T1 T12; 0 T2]: all but T12
  /// is given. V2 has its first one in row `offset` of V1.
  void join(Queue& queue, const BlockReflector<T>& first, const BlockReflector<T>& second,
            Index offset, DeviceView<T> t12) const;

 private:
  DeviceMatrix<T> product_, scaled_;
};

}  // namespace overlapack::algorithms
