// The peer: NVIDIA's cuSOLVER.
#pragma once

#include <memory>

#include "bench.hpp"

namespace overlapack::bench {

/// cuSOLVER on one GPU. As a round trip it is timed with cudaMemcpy of the operands from and to
/// ordinary memory, as a program without this library would do it; otherwise on data that lie on
/// the device already. Device memory and workspace are allocated here, outside the clock. A
/// mixed-precision solver has factors in `precision`. Throws std::runtime_error with the reason if
/// it cannot run.
template <class T>
std::unique_ptr<Contender<T>> make_cusolver(const Call& call, bool round_trip, int gpu,
                                            Precision precision = Precision::fp32);

}  // namespace overlapack::bench
