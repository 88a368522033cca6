// The solve that follows a Cholesky factorization with right-hand sides.
#pragma once

#include <algorithm>

#include "algorithms/cholesky/schedule.hpp"
#include "algorithms/shared/substitution.hpp"

namespace overlapack::algorithms {

/// The back substitution L^H X = Y that follows the factorization of [A; B^H]: its last rows are
/// Y^H = B^H L^-H.
///
/// It multiplies by the inverses of the diagonal blocks, if all of them are well conditioned. To
/// ask for that first would keep the device waiting for the host, so it is done in any case, and
/// before X goes home the conditions are looked at: hardly ever it is done again, by substitution.
template <class T>
class BackSubstitution {
 public:
  BackSubstitution(Device& device, const Cholesky<T>& cholesky)
      : cholesky_(cholesky),
        x_(device, n(), cholesky.rhs().size()),
        inverses_(device, cholesky.triangle().uplo,
                  std::min(n(), cholesky.triangle().kernels.limits().potrf_panel_width), n(),
                  x_.view().cols) {}
  /// Of device memory.
  static std::size_t bytes(Device& device, Index n, Index nrhs) {
    return DeviceMatrix<T>::bytes(n, nrhs) +
           BlockInverses<T>::bytes(device.kernels<T>(),
                                   std::min(n, device.kernels<T>().limits().potrf_panel_width), n,
                                   nrhs);
  }

  /// Where B is to arrive, and where X appears.
  DeviceView<T> x() const { return x_.view(); }

  /// B^H := B, below A.
  void place(Queue& queue) {
    const Triangle<T>& triangle = cholesky_.triangle();
    queue.enqueue(
        Copy<T>{triangle.adjoint(), x(),
                triangle.block(cholesky_.matrix(), cholesky_.rhs(), cholesky_.columns())});
  }

  /// X, if trusted(). All diagonal blocks are inverted now: to invert them one by one as they
  /// become final would take the host longer than it takes the device to invert all at once.
  void solve(Queue& queue) {
    fetch_y(queue);
    const Triangle<T>& triangle = cholesky_.triangle();
    inverses_.invert(queue, factor(), {0, n()});
    queue.enqueue(BackSubstitute<T>{triangle.uplo, factor(), inverses_.view({0, n()}), x(),
                                    inverses_.progress()});
  }
  /// Whether products with the inverses are accurate (docs/design/0030), once X has arrived.
  bool trusted() const { return inverses_.trusted(); }

  /// X in any case.
  void substitute(Queue& queue) {
    fetch_y(queue);
    const Triangle<T>& triangle = cholesky_.triangle();
    queue.enqueue(Trsm<T>{Side::left, triangle.uplo, triangle.adjoint(), Diag::non_unit, T(1),
                          factor(), x()});
  }

 private:
  Index n() const { return cholesky_.columns().size(); }
  DeviceView<const T> factor() const {
    return cholesky_.triangle().block(cholesky_.matrix(), cholesky_.columns(), cholesky_.columns());
  }

  void fetch_y(Queue& queue) {
    const Triangle<T>& triangle = cholesky_.triangle();
    queue.enqueue(Copy<T>{triangle.adjoint(),
                          triangle.block(cholesky_.matrix(), cholesky_.rhs(), cholesky_.columns()),
                          x()});
  }

  const Cholesky<T>& cholesky_;
  DeviceMatrix<T> x_;
  BlockInverses<T> inverses_;
};

}  // namespace overlapack::algorithms
