// The interchanges of an LU factorization, from the device to the caller and back.
#pragma once

#include <vector>

#include "core/error.hpp"
#include "cpu/lapack.hpp"

namespace overlapack::dispatch {

/// Hands interchanges to the caller, and passes info on.
inline Index store(Index info, const std::vector<Index>& pivots, cpu::Pivots ipiv) {
  for (std::size_t i = 0; i < pivots.size(); ++i) ipiv.set(static_cast<Index>(i), pivots[i]);
  return info;
}

/// The caller's, each in 1 .. n or, if they are as getrf leaves them, from the row's number on. The
/// device must not follow a wild index; what the CPU LAPACK does with one is its own.
inline std::vector<Index> valid_pivots(cpu::Pivots ipiv, Index n, bool as_of_getrf = false) {
  std::vector<Index> pivots(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    const Index pivot = ipiv.get(i);
    const Index least = as_of_getrf ? i + 1 : 1;
    if (pivot < least || pivot > n) throw DeviceError("ipiv holds no valid interchanges");
    pivots[static_cast<std::size_t>(i)] = pivot;
  }
  return pivots;
}

}  // namespace overlapack::dispatch
