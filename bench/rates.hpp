// What this device can do at most: the rates behind the speed of light.
#pragma once

#include <string>

#include "device/device.hpp"

namespace overlapack::bench {

/// The rate of matrix products.
struct ProductRate {
  double flops = 0;   ///< per second
  std::string shape;  ///< where it was found: "16384 x 512 x 8192"
};

/// The best rate of Kernels<T>::gemm over a few large shapes, C := A B and A B^H (real operations
/// per second, random operands).
template <class T>
ProductRate measure_products(Device& device);

/// Bytes per second each way, while page-locked memory is copied up and down at the same time.
double measure_link(Device& device);

}  // namespace overlapack::bench
