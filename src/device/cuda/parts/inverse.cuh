// The inverse of a small triangle in shared memory.
//
// Y = L^-H solves Y L^H = I. A warp w has row w of its tiles, of which those before w are zero:
//
//   Y(w, k) = (I(w, k) - sum over w <= j < k of Y(w, j) L(k, j)^H) L(k, k)^-H.
//
// It reads back what it has computed before: registers are few in large thread blocks.
#pragma once

#include "device/cuda/parts/triangle.cuh"

namespace overlapack::cuda {

/// By columns, each from the diagonal down.
template <class E>
struct InverseMemory {
  static constexpr int kOrder = kTiles<E> * kTile;
  E element[kOrder * (kOrder + 1) / 2];

  __device__ E& at(int i, int j) { return element[j * kOrder - j * (j + 1) / 2 + i]; }
};

/// inverse := L^-1, beyond the order of L as far as there are tiles. By all warps of a thread
/// block, behind load_triangle(), invert_diagonal() and a __syncthreads(); another one must follow.
template <class E>
__device__ void invert_triangle(InverseMemory<E>& inverse, TriangleMemory<E, kTiles<E>>& l,
                                int tiles, int w, int lane) {
  if (w >= tiles) return;
  // Calls f(i, j, ...) for the elements (i, j) of L^-1 whose adjoints are a lane's of Y(w, k).
  const auto for_each_of_y = [&](int k, auto f) {
    for_each_element([&](int h, int half, int e) {
      f(k * kTile + fragment_column(lane, half, e), w * kTile + fragment_row(lane, h), h, half, e);
    });
  };
#pragma unroll 1
  for (int k = w; k < tiles; ++k) {
    Fragment<E> y;
    for_each_of_y(
        k, [&](int i, int j, int h, int half, int e) { y.set(h, half, e, from_real<E>(i == j)); });
#pragma unroll 1
    for (int m = w; m < k; ++m) {
      Fragment<E> before;
      for_each_of_y(m, [&](int i, int j, int h, int half, int e) {
        before.set(h, half, e, i < j ? from_real<E>(0) : conjugate(inverse.at(i, j)));
      });
      multiply_add(y, before, l.column(m)[k - m - 1].load(lane), y);
    }
    Fragment<E> x;
    multiply_add_lower(x, y, l.inverse[k].load(lane), zero_fragment<E>());
    for_each_of_y(k, [&](int i, int j, int h, int half, int e) {
      if (i >= j) inverse.at(i, j) = conjugate(x.get(h, half, e));
    });
    __syncwarp();
  }
}

}  // namespace overlapack::cuda
