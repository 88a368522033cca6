// Blocks of reflectors in V (device/bulges.hpp), as kernels bring them to shared memory.
#pragma once

#include "core/scalar.hpp"
#include "device/cuda/parts/arithmetic.cuh"

namespace overlapack::cuda {

/// Reflectors k of the group of sweeps that begins with `sweep`. Rows are counted from that of the
/// first reflector's one: column j of the block has its vector in rows j to j + width - 1.
template <class T>
struct ReflectorBlock {
  T* v;
  Index ld;
  Index sweep, first;  // the first row
  int width, columns, rows;

  __device__ ReflectorBlock(T* all, Index ld_of_all, Index n, int bandwidth, int group, Index s,
                            Index k)
      : v(all), ld(ld_of_all), sweep(s), first(s + 1 + k * bandwidth), width(bandwidth) {
    const Index left = n - first;  // rows of V from there on
    columns = static_cast<int>(left < group ? left : Index{group});
    const Index most = width + columns - 1;
    rows = static_cast<int>(left < most ? left : most);
  }

  /// Whether there is an element of a vector; and of T, on the diagonal or above.
  __device__ bool has(int i, int j) const {
    return j < columns && i >= j && i < j + width && i < rows;
  }
  __device__ bool has_factor(int i, int j) const { return j < columns && i <= j; }
  __device__ T* at(int i, int j) const { return v + first + i + (sweep + j) * ld; }
  __device__ T* factor_at(int i, int j) const { return v + sweep + i + (first + j) * ld; }
};

/// How many blocks a group has.
__device__ inline Index blocks_of_group(Index n, int width, Index sweep) {
  return (n - 1 - sweep + width - 1) / width;
}

}  // namespace overlapack::cuda
