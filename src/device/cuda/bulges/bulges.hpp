// What the kernels of bulge chasing say of themselves.
#pragma once

#include "device/bulges.hpp"

namespace overlapack::cuda {

class CudaQueue;

/// Limits::chase_bandwidth and Limits::bulge_group.
constexpr Index kChaseBandwidth = 64, kBulgeGroup = 16;

/// Bulges::chase_work() of a GPU with so many multiprocessors.
template <class T>
Index chase_work(int multiprocessors);

/// Elements of ReflectBulges::work that reflect_by_tiles() needs.
template <class T>
Index tile_work(Index n, Index bandwidth);

/// ReflectBulges by tensor cores, if there is a kernel for its shape, and room to work; or else
/// false, and nothing is done.
template <class T>
bool reflect_by_tiles(CudaQueue& queue, const ReflectBulges<T>& op);

}  // namespace overlapack::cuda
