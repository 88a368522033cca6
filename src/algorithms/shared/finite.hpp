// Whether numbers are finite.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/scalar.hpp"
#include "core/view.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// Whether real numbers first, ..., end - 1 are finite. Told from their bits: arithmetic with what
/// is not finite would raise floating-point exceptions, for which the caller may have set traps.
template <class R>
bool finite(const R* x, Index first, Index end) {
  using Bits = std::conditional_t<sizeof(R) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  static_assert(sizeof(Bits) == sizeof(R) && std::numeric_limits<R>::is_iec559);
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  constexpr Bits kOne = Bits{1} << (std::numeric_limits<R>::digits - 1);  // in the exponent
  Bits signs = 0;
  for (Index i = first; i < end; ++i) {
    Bits bits;
    std::memcpy(&bits, x + i, sizeof bits);
    signs |= (bits & (kSign - kOne)) + kOne;  // an exponent of ones only overflows into the sign
  }
  return (signs & kSign) == 0;
}

template <class T>
bool finite(T x) {
  return finite(reinterpret_cast<const Real<T>*>(&x), 0, is_complex<T> ? 2 : 1);
}

/// Whether all elements of a part of a matrix (`part` as in rows_of_column, diagonal 0) are finite.
template <class T>
bool all_finite(Part part, HostView<const T> a, Index threads);

/// As all_finite(), of a matrix in the device's memory. Throws DeviceError.
template <class T>
bool all_finite_on_device(Device& device, Part part, HostView<const T> a);

}  // namespace overlapack::algorithms
