// The order of the tiles of a product.
#pragma once

namespace overlapack::cuda {

/// The tiles of a matrix, numbered in bands of Band rows of tiles and column by column in each: the
/// rows of the left factor that a band takes stay in the cache.
template <int Band>
struct Tiles {
  int rows, columns;  // of tiles; so many tiles that they cannot be counted fit in no memory

  __host__ __device__ int count() const { return rows * columns; }
  __device__ int row(int tile) const { return band(tile) * Band + in_band(tile) % height(tile); }
  __device__ int column(int tile) const { return in_band(tile) / height(tile); }

 private:
  __device__ int band(int tile) const { return tile / (Band * columns); }
  __device__ int in_band(int tile) const { return tile % (Band * columns); }
  __device__ int height(int tile) const { return min(Band, rows - band(tile) * Band); }
};

}  // namespace overlapack::cuda
