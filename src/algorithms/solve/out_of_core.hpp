// Solves with factors of the caller that are larger than the device's memory.
#pragma once

#include <vector>

#include "algorithms/shared/blocks.hpp"
#include "device/device.hpp"

namespace overlapack::algorithms {

/// potrs() and getrs() within options.memory, for matrices in the host's memory. Right-hand sides
/// are on the device, as many at a time as there is memory for, and columns of the triangles pass
/// by them.
template <class T>
void potrs_out_of_core(Device& device, const Options& options, Uplo uplo, HostView<const T> a,
                       HostView<T> b, Index& committed);
template <class T>
void getrs_out_of_core(Device& device, const Options& options, Op op, HostView<const T> a,
                       const std::vector<Index>& pivots, HostView<T> b, Index& committed);

/// How many right-hand sides are on the device at a time, 0 if there is not enough memory for it to
/// pay.
template <class T>
Index right_hand_sides_out_of_core(const Options& options, Index n, Index nrhs);

}  // namespace overlapack::algorithms
