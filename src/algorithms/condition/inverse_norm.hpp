// The norm of the inverse of a matrix whose triangular factors are on the device.
#pragma once

#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "algorithms/shared/substitution.hpp"
#include "cpu/norm_estimate.hpp"

namespace overlapack::algorithms {

/// A factor op(T) of a matrix, where T is a triangle.
struct TriangularFactor {
  Uplo uplo;
  Op op;  ///< none or conj_trans
  Diag diag;
};

/// A matrix as the product of its factors, the first one on the left. Permutations are left out:
/// they change neither norm of the inverse.
struct TriangularProduct {
  std::vector<TriangularFactor> factors;
  bool hermitian = false;

  static TriangularProduct lu() {
    return {{{Uplo::lower, Op::none, Diag::unit}, {Uplo::upper, Op::none, Diag::non_unit}}};
  }
  static TriangularProduct cholesky(Uplo uplo) {
    const TriangularFactor direct{uplo, Op::none, Diag::non_unit},
        adjoint{uplo, Op::conj_trans, Diag::non_unit};
    if (uplo == Uplo::lower) return {{direct, adjoint}, true};
    return {{adjoint, direct}, true};
  }
  static TriangularProduct triangle(Uplo uplo, Diag diag) { return {{{uplo, Op::none, diag}}}; }
};

/// Estimates the norm of an inverse. Make it before the queue, which uses its memory.
/// Substitution is by one kernel for a triangle, not for its adjoint. So the adjoint of the whole
/// matrix is made once.
template <class T>
class InverseNorm {
 public:
  InverseNorm(Device& device, Index n, const TriangularProduct& product)
      : hermitian_(product.hermitian),
        adjoint_(device, n, n),
        x_(device, Space::device, n),
        staging_(device, Space::host, n) {
    for (const TriangularFactor& factor : product.factors) {
      const Uplo other = factor.uplo == Uplo::lower ? Uplo::upper : Uplo::lower;
      solves_.push_back(
          {factor.op, {device, factor.uplo, factor.diag}, {device, other, factor.diag}});
    }
  }
  /// Of device memory, for a product of so many factors.
  static std::size_t bytes(Device& device, Index n, Index factors) {
    return DeviceMatrix<T>::bytes(n, n) + Buffer<T>::bytes(n) +
           2 * static_cast<std::size_t>(factors) * Substitution<T>::bytes(device, n, 1);
  }

  /// Room for a matrix. What is there is lost when the norm is estimated.
  DeviceView<T> spare() const { return adjoint_.view(); }
  /// The norm, one or infinity, of the inverse of the product, whose triangles `a` has. Waits for
  /// the queue. Throws DeviceError where a number is too large.
  Real<T> operator()(Queue& queue, Norm norm, DeviceView<const T> a) {
    queue.enqueue(Copy<T>{Op::conj_trans, a, adjoint_.view()});
    const bool infinity = norm == Norm::infinity;  // that of A^-1 is the 1-norm of A^-H
    return estimate_norm1(x_.size(), staging_.data(), [&](Op op) {
      multiply(queue, !hermitian_ && infinity == (op == Op::none), a);
    });
  }

 private:
  struct Solve {
    Op op;
    Substitution<T> direct, adjoint;
  };

  /// The staged x becomes A^-1 x or A^-H x.
  void multiply(Queue& queue, bool with_adjoint, DeviceView<const T> a) {
    const DeviceView<T> x(x_.data(), x_.size());
    const HostView<T> here(staging_.data(), x_.size());
    queue.copy<T>(x, HostView<const T>(here));
    const auto solve = [&](Solve& factor) {
      if ((factor.op == Op::none) != with_adjoint) {
        factor.direct(queue, a, x);
      } else {
        factor.adjoint(queue, adjoint_.view(), x);
      }
    };
    if (with_adjoint) {
      std::for_each(solves_.rbegin(), solves_.rend(), solve);
    } else {
      std::for_each(solves_.begin(), solves_.end(), solve);
    }
    queue.copy<T>(here, DeviceView<const T>(x));
    queue.synchronize();
    const bool finite =
        std::all_of(here.data, here.data + here.rows, [](T e) { return std::isfinite(abs1(e)); });
    if (!finite) throw DeviceError("a product with the inverse overflows");
  }

  const bool hermitian_;
  const DeviceMatrix<T> adjoint_;
  const Buffer<T> x_, staging_;
  std::vector<Solve> solves_;
};

}  // namespace overlapack::algorithms
