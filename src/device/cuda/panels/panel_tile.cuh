// How a warp has rows of a QR panel in its registers (geqrf_cluster.cu): as tensor cores take a
// matrix of doubles.
//
// With g = lane / 4 and q = lane % 4, a lane has columns g, 8 + g, 16 + g and so on, and of every
// eight rows those with the numbers 2 q and 2 q + 1. So four lanes have a column, and a sum over
// its rows takes two exchanges between lanes, whatever the number of columns.
#pragma once

#include "device/cuda/parts/lanes.cuh"

namespace overlapack::cuda {

/// Columns or rows that the lanes of a warp have one next to the other.
constexpr int kTileSide = 8;

/// The g and q of a lane.
__device__ inline int column_of_lane() { return lane_of_warp() / 4; }
__device__ inline int place_of_lane() { return lane_of_warp() % 4; }

/// 32 R rows of W columns. Element (j, r) of a lane is in column 8 j + g and in row row(r).
template <class T, int W, int R>
struct PanelTile {
  static constexpr int kColumns = W / kTileSide, kRows = 8 * R;  // of a lane
  static constexpr int kRowsOfWarp = 4 * kRows;

  __device__ static int row(int r) { return r / 2 * kTileSide + 2 * place_of_lane() + r % 2; }
  __device__ static int column(int j) { return j * kTileSide + column_of_lane(); }

  T x[kColumns][kRows];
};

/// Two neighbours in one column or row, moved as one.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};
template <class T>
__device__ Pair<T> load_pair(const T* from) {
  return *reinterpret_cast<const Pair<T>*>(from);
}
template <class T>
__device__ void store_pair(T* to, T first, T second) {
  *reinterpret_cast<Pair<T>*>(to) = {first, second};
}

}  // namespace overlapack::cuda
