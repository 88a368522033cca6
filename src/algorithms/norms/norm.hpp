// Norms of matrices that lie on the device.
#pragma once

#include "device/device.hpp"

namespace overlapack::algorithms {

/// As MatrixNorm, and waits for the result. `a` is not empty.
template <class T>
Real<T> norm(Device& device, Norm norm, Symmetry symmetry, Uplo uplo, DeviceView<const T> a);

}  // namespace overlapack::algorithms
