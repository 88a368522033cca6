// What calls with given reflectors have in common.
#pragma once

#include <cmath>

#include "core/error.hpp"
#include "core/view.hpp"

namespace overlapack::dispatch {

/// tau, if it makes unitary matrices of vectors that begin with 1, as that of LAPACK's reflectors
/// does. Of others the device need not be as accurate as LAPACK. A NaN comes of a NaN.
template <class T>
HostView<const T> unitary(const T* tau, Index count) {
  constexpr Real<T> kMost = Real<T>(1.001);
  for (Index j = 0; j < count; ++j) {
    if (tau[j] != T(0) && std::abs(tau[j] - T(1)) > kMost) {
      throw DeviceError("tau is not that of unitary reflectors");
    }
  }
  return HostView<const T>(tau, count);
}

/// The last of the columns, or rows, of C.
template <class T>
HostView<T> behind(Side side, HostView<T> c, Index lines) {
  return side == Side::left ? c.block(0, lines, c.rows, c.cols - lines)
                            : c.block(lines, 0, c.rows - lines, c.cols);
}

}  // namespace overlapack::dispatch
