// One text for both triangles. The algorithms speak of A = L L^H; in an upper triangle, which holds
// U = L^H, block (i, j) of L stands conjugate-transposed as block (j, i).
#pragma once

#include "algorithms/blocks.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

template <class T>
struct Triangle {
  Uplo uplo;
  Kernels<T>& kernels;

  bool lower() const { return uplo == Uplo::lower; }

  /// Rows `i` and columns `j` of L as they are stored in x.
  template <class U, Space S>
  View<U, S> block(const View<U, S>& x, Range i, Range j) const {
    return lower() ? x.block(i.first, j.first, i.size(), j.size())
                   : x.block(j.first, i.first, j.size(), i.size());
  }

  /// C := beta C - A B^H, for a real beta.
  void subtract(Queue& queue, DeviceView<const T> a, DeviceView<const T> b, T beta,
                DeviceView<T> c) const {
    if (lower()) {
      kernels.gemm(queue, Op::none, Op::conj_trans, T(-1), a, b, beta, c);
    } else {
      kernels.gemm(queue, Op::conj_trans, Op::none, T(-1), b, a, beta, c);
    }
  }

  /// The operation on a stored block of L that gives L itself.
  Op direct() const { return lower() ? Op::none : Op::conj_trans; }
  /// The operation that gives L^H.
  Op adjoint() const { return lower() ? Op::conj_trans : Op::none; }
};

}  // namespace overlapack::algorithms
