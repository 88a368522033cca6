// What this device can do at most: the rates behind the speed of light.
#pragma once

#include <optional>
#include <string>

#include "device/device.hpp"

namespace overlapack::bench {

/// The rate of matrix products.
struct ProductRate {
  double flops = 0;   ///< per second
  std::string shape;  ///< where it was found: "16384 x 512 x 8192"
};

/// The best rate over a few large shapes of the products C := A B and C := A B^H that routines are
/// made of (real operations of T per second, random operands): of Gemm or, if
/// there is `split` and where that pays, of operands split in that precision, the splitting not
/// included.
template <class T>
ProductRate measure_products(Device& device, std::optional<Precision> split);

/// Bytes per second each way, while page-locked memory is copied up and down at the same time.
double measure_link(Device& device);

}  // namespace overlapack::bench
