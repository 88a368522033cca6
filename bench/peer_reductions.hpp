// The peers of our reductions: NVIDIA's CUB and Thrust, on contiguous data.
#pragma once

#include "bench.hpp"
#include "device/device.hpp"

namespace overlapack::bench {

enum class Peer { cub, thrust };

struct PeerReduction {
  double ms = 0;     ///< of one reduction
  double value = 0;  ///< the largest modulus, the root of the sum of squares, or the sum of moduli
};

/// The largest modulus (Norm::max), the root of the sum of squares, as it is (Norm::frobenius), or
/// the sum of moduli (other norms) of `count` numbers in the memory of the current GPU: the median
/// of `runs` runs of `launches` reductions each. Throws std::runtime_error with the reason if that
/// is not possible. For float and double.
template <class T>
PeerReduction reduce_by_peer(Peer peer, Norm norm, const T* data, Index count, int launches,
                             int runs, int gpu);

/// Bytes per second that a copy within the memory of a GPU reads and writes.
double measure_memory(int gpu);

}  // namespace overlapack::bench
