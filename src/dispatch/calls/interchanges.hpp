// The interchanges of an LU factorization, from the device to the caller.
#pragma once

#include <vector>

#include "cpu/lapack.hpp"

namespace overlapack::dispatch {

/// Hands interchanges to the caller, and passes info on.
inline Index store(Index info, const std::vector<Index>& pivots, cpu::Pivots ipiv) {
  for (std::size_t i = 0; i < pivots.size(); ++i) ipiv.set(static_cast<Index>(i), pivots[i]);
  return info;
}

}  // namespace overlapack::dispatch
