// What the kernels of bulge chasing say of themselves.
#pragma once

#include <cuda_runtime_api.h>

#include "device/bulges.hpp"

namespace overlapack::cuda {

/// Limits::chase_bandwidth and Limits::bulge_group.
constexpr Index kChaseBandwidth = 64, kBulgeGroup = 32;

/// Bulges::chase_work() of a GPU with so many multiprocessors.
template <class T>
Index chase_work(int multiprocessors);

/// ReflectBulges in double precision by tensor cores, if there is a kernel for the bandwidth and
/// the group; or else false, and nothing is done.
template <class T>
bool reflect_by_tiles(cudaStream_t stream, const ReflectBulges<T>& op);

}  // namespace overlapack::cuda
