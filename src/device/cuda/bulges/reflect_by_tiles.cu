// Z := Q Z by blocks of reflectors, on the tensor cores for double precision.
//
// A warp has a strip of 16 columns of Z, of complex numbers 8, whose real and imaginary parts are
// then like 16. It takes them through all blocks, from the last group of sweeps to the first, and
// in a group down the matrix. The rows that a block touches are in its registers, as tiles of 8
// rows of Z^T, in the layout of results of a product: with g = lane / 4 and q = lane % 4, a lane
// has columns g and 8 + g in rows 2 q and 2 q + 1. Tiles become left operands as they are, since
// a sum may be taken in any order: summands q and 4 + q of the hardware are numbers 2 q and
// 2 q + 1. So with W = V^H Z no number of Z or W ever changes lanes in
//
//   W^T = Z^T conj(V),   W^T := W^T T^T,   Z^T := Z^T - W^T V^T.
//
// V and T are the right operands, in shared memory for all warps, in two buffers: one is filled by
// copies in the background while the other one is read. Tiles of V that are zero are left out.
// From one block to the next the rows move by a bandwidth. Of real numbers, rows that come are
// copied to shared memory ahead, each thread's own. A row belongs to the same lane for ever, so no
// thread ever waits for another one's numbers of Z.
//
// Rows of a block are counted from the one before the first vector begins, for then all tiles
// begin at multiples of 8: column j of V has its vector in rows j + 1 to j + b.
//
// What bounds the speed is the tensor cores; shared memory is busy for half of that time.
#include <cstdint>

#include "device/cuda/bulges/bulges.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/lanes.cuh"
#include "device/cuda/parts/product_of_doubles.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kWarps = 8, kThreads = kWarps * kWarp;
constexpr int kSide = 8;  // of a tile
constexpr int kGroup = static_cast<int>(kBulgeGroup), kGroupTiles = kGroup / kSide;

template <class T>
constexpr bool kIsComplex = sizeof(T) == 2 * sizeof(double);
/// Of a warp.
template <class T>
constexpr int kColumns = kIsComplex<T> ? 8 : 16;
/// Whether rows of Z are copied ahead.
template <class T>
constexpr bool kAhead = !kIsComplex<T>;

// ---- tiles ----------------------------------------------------------------------------------

/// [h][e]: of a result, row 8 h + g and column 2 q + e.
struct TileOfLane {
  double x[2][2];
};

/// d += a b^T.
__device__ inline void multiply(TileOfLane& d, const TileOfLane& a, double b0, double b1) {
#if __CUDA_ARCH__ >= 900
  add_product(d.x[0][0], d.x[0][1], d.x[1][0], d.x[1][1],
              {a.x[0][0], a.x[1][0], a.x[0][1], a.x[1][1]}, b0, b1);
#else
#  pragma unroll
  for (int h = 0; h < 2; ++h) {
#  pragma unroll
    for (int e = 0; e < 2; ++e) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(d.x[h][0]), "+d"(d.x[h][1])
          : "d"(a.x[h][e]), "d"(e == 0 ? b0 : b1));
    }
  }
#endif
}

/// A left operand. A complex one is two: that for real parts, and that for imaginary parts of what
/// it is multiplied by, or of their conjugates.
template <class T>
struct Left {
  TileOfLane of_real, of_imaginary;

  __device__ Left(const TileOfLane& a, bool conjugated) : of_real(a) {
    if constexpr (kIsComplex<T>) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        of_imaginary.x[0][e] = conjugated ? a.x[1][e] : -a.x[1][e];
        of_imaginary.x[1][e] = conjugated ? -a.x[0][e] : a.x[0][e];
      }
    }
  }
  __device__ void multiply_to(TileOfLane& d, T b0, T b1) const {
    if constexpr (kIsComplex<T>) {
      multiply(d, of_real, b0.re, b1.re);
      multiply(d, of_imaginary, b0.im, b1.im);
    } else {
      multiply(d, of_real, b0, b1);
    }
  }
};

__device__ inline TileOfLane zero_tile() { return {{{0, 0}, {0, 0}}}; }

// ---- blocks of reflectors -------------------------------------------------------------------

/// V and T of a block. Rows of a column of V change places within 16 (8 of complex numbers), so
/// that neither product's loads meet in a bank.
template <class T, int kBand>
struct Buffer {
  static constexpr int kRows = kBand + kGroup;
  static constexpr int kStride = kIsComplex<T> ? kGroup + 1 : kGroup + 2;
  alignas(16) T v[kGroup][kRows];
  T t[kGroup][kStride];  // [j][i]: element (i, j)

  /// What the number of a row is combined with, by the number of the column.
  __device__ static int change(int j) {
    return kIsComplex<T> ? j % 8 : ((j ^ j >> 2) & 1) << 3 | (j >> 1 & 1) << 2;
  }
  /// The tile (of rows) of V that a column's vector ends in.
  __device__ static constexpr int last_tile(int tile_of_columns) {
    return tile_of_columns + kBand / kSide;
  }
  /// Elements i and i + 1 of column j of V, for an even i.
  __device__ void load_rows(int i, int j, T& x0, T& x1) const {
    if constexpr (kIsComplex<T>) {
      x0 = v[j][i ^ change(j)];
      x1 = v[j][(i + 1) ^ change(j)];
    } else {
      const double2 pair = *reinterpret_cast<const double2*>(&v[j][i ^ change(j)]);
      x0 = pair.x;
      x1 = pair.y;
    }
  }
};

template <class T>
struct Operands {
  Index n;
  const T* v;
  Index ldv;
  T* z;
  Index ldz, columns;
  bool aligned;  // two rows of Z can be moved as one
};

/// Which block: the first sweep of its group, and its number.
struct Place {
  Index sweep, k;

  template <int kBand>
  __device__ void advance(Index n) {
    ++k;
    if (sweep + 1 + k * kBand < n) return;
    sweep -= kGroup;
    k = 0;
  }
};

/// Starts copying a block, zeros where V and T have nothing. By all threads.
template <class T, int kBand>
__device__ void start_block(const Operands<T>& op, const Place& place, Buffer<T, kBand>& to) {
  using To = Buffer<T, kBand>;
  constexpr int kBytes = sizeof(T);
  const Index first = place.sweep + place.k * kBand;
#pragma unroll
  for (int part = 0; part < kGroup * To::kRows / kThreads; ++part) {
    const int e = part * kThreads + static_cast<int>(threadIdx.x);
    const int i = e % To::kRows, j = e / To::kRows;
    if (i / kSide < j / kSide || i / kSide > To::last_tile(j / kSide)) continue;  // left out
    const bool is_there = i > j && i <= j + kBand && first + i < op.n;
    const T* const from = is_there ? op.v + first + i + (place.sweep + j) * op.ldv : op.v;
    start_copy<kBytes>(&to.v[j][i ^ To::change(j)], from, is_there ? kBytes : 0);
  }
#pragma unroll
  for (int part = 0; part < kGroup * kGroup / kThreads; ++part) {
    const int e = part * kThreads + static_cast<int>(threadIdx.x);
    const int i = e % kGroup, j = e / kGroup;
    const bool is_there = i <= j && first + 1 + j < op.n;
    const T* const from = is_there ? op.v + place.sweep + i + (first + 1 + j) * op.ldv : op.v;
    start_copy<kBytes>(&to.t[j][i], from, is_there ? kBytes : 0);
  }
}

// ---- a strip of Z ---------------------------------------------------------------------------

template <class T, int kBand>
struct Memory {
  static constexpr int kSlots = kAhead<T> ? kBand / kSide * 2 : 0;
  Buffer<T, kBand> buffers[2];
  double2 ahead[kSlots + 1][kAhead<T> ? kThreads : 1];
};

template <class T, int kBand>
class Strip {
 public:
  static constexpr int kNewTiles = kBand / kSide, kTiles = kNewTiles + kGroupTiles;

  __device__ Strip(const Operands<T>& op, Index column)
      : op_(op), g_(lane_of_warp() / 4), q_(lane_of_warp() % 4), column_(column + g_) {}

  /// Tiles from `tile` on, of the window that begins with that row.
  __device__ void load(Index row, int tile) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      if (t < tile) continue;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if constexpr (!kIsComplex<T>) {
          double2 x = {0, 0};
          const Index i = row_of(row, t);
          if (has_column(h) && i < op_.n) {
            const double* const from = at(i, h);
            if (op_.aligned && i + 1 < op_.n) {
              x = *reinterpret_cast<const double2*>(from);
            } else {
              x.x = from[0];
              if (i + 1 < op_.n) x.y = from[1];
            }
          }
          tiles_[t].x[h][0] = x.x;
          tiles_[t].x[h][1] = x.y;
        } else {  // both parts of element e = h
          double2 x = {0, 0};
          const Index i = row_of(row, t) + h;
          if (has_column(0) && i < op_.n) x = *reinterpret_cast<const double2*>(at(i, 0));
          tiles_[t].x[0][h] = x.x;
          tiles_[t].x[1][h] = x.y;
        }
      }
    }
  }
  /// The first tiles, `count` of them.
  __device__ void store(Index row, int count) const {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      if (t >= count) continue;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if constexpr (!kIsComplex<T>) {
          const Index i = row_of(row, t);
          if (!has_column(h) || i >= op_.n) continue;
          double* const to = at(i, h);
          if (op_.aligned && i + 1 < op_.n) {
            *reinterpret_cast<double2*>(to) = {tiles_[t].x[h][0], tiles_[t].x[h][1]};
          } else {
            to[0] = tiles_[t].x[h][0];
            if (i + 1 < op_.n) to[1] = tiles_[t].x[h][1];
          }
        } else {
          const Index i = row_of(row, t) + h;
          if (!has_column(0) || i >= op_.n) continue;
          *reinterpret_cast<double2*>(at(i, 0)) = {tiles_[t].x[0][h], tiles_[t].x[1][h]};
        }
      }
    }
  }

  /// Starts copying the new tiles of the next window, which begins with that row.
  template <int kSlots>
  __device__ void start_copies(Index row, double2 (&ahead)[kSlots][kThreads]) const {
#pragma unroll
    for (int t = kGroupTiles; t < kTiles; ++t) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        double2* const to = &ahead[2 * (t - kGroupTiles) + h][threadIdx.x];
        const Index i = row_of(row, t);
        const int rows = !has_column(h) || i >= op_.n ? 0 : i + 1 < op_.n ? 2 : 1;
        const double* const from = rows > 0 ? at(i, h) : op_.z;
        if (op_.aligned) {
          start_copy<16>(to, from, rows * 8);
        } else {
          start_copy<8>(&to->x, from, rows > 0 ? 8 : 0);
          start_copy<8>(&to->y, rows > 1 ? from + 1 : from, rows > 1 ? 8 : 0);
        }
      }
    }
  }
  template <int kSlots>
  __device__ void take(const double2 (&ahead)[kSlots][kThreads]) {
#pragma unroll
    for (int t = kGroupTiles; t < kTiles; ++t) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const double2 x = ahead[2 * (t - kGroupTiles) + h][threadIdx.x];
        tiles_[t].x[h][0] = x.x;
        tiles_[t].x[h][1] = x.y;
      }
    }
  }

  /// The window moves by a bandwidth.
  __device__ void move() {
#pragma unroll
    for (int t = 0; t < kGroupTiles; ++t) tiles_[t] = tiles_[t + kNewTiles];
  }

  /// Z^T := Z^T - (Z^T conj(V) T^T) V^T.
  __device__ void reflect(const Buffer<T, kBand>& block) {
    using From = Buffer<T, kBand>;
    TileOfLane w[kGroupTiles];
#pragma unroll
    for (TileOfLane& tile : w) tile = zero_tile();
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      const Left<T> left(tiles_[i], true);
#pragma unroll
      for (int j = 0; j < kGroupTiles; ++j) {
        if (i < j || i > From::last_tile(j)) continue;
        T b0, b1;
        block.load_rows(kSide * i + 2 * q_, kSide * j + g_, b0, b1);
        left.multiply_to(w[j], b0, b1);
      }
    }
    // In place: tile i takes later ones alone.
#pragma unroll
    for (int i = 0; i < kGroupTiles; ++i) {
      TileOfLane sum = zero_tile();
#pragma unroll
      for (int j = i; j < kGroupTiles; ++j) {
        const int column = kSide * j + 2 * q_, row = kSide * i + g_;
        Left<T>(w[j], false).multiply_to(sum, block.t[column][row], block.t[column + 1][row]);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int e = 0; e < 2; ++e) w[i].x[h][e] = -sum.x[h][e];
      }
    }
#pragma unroll
    for (int j = 0; j < kGroupTiles; ++j) {
      const Left<T> left(w[j], false);
      const int column = kSide * j + 2 * q_;
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        if (i < j || i > From::last_tile(j)) continue;
        const int row = kSide * i + g_;
        left.multiply_to(tiles_[i], block.v[column][row ^ From::change(2 * q_)],
                         block.v[column + 1][row ^ From::change(2 * q_ + 1)]);
      }
    }
  }

 private:
  __device__ Index row_of(Index row, int t) const { return row + t * kSide + 2 * q_; }
  __device__ bool has_column(int h) const { return column_ + h * kSide < op_.columns; }
  __device__ T* at(Index i, int h) const { return op_.z + i + (column_ + h * kSide) * op_.ldz; }

  const Operands<T>& op_;
  const int g_, q_;  // of the lane
  const Index column_;
  TileOfLane tiles_[kTiles];
};

// ---- the kernel -----------------------------------------------------------------------------

template <class T, int kBand>
__global__ void __launch_bounds__(kThreads, 1) reflect_by_tiles_kernel(Operands<T> op) {
  extern __shared__ __align__(16) char raw_memory[];
  Memory<T, kBand>& memory = *reinterpret_cast<Memory<T, kBand>*>(raw_memory);
  using Strip = Strip<T, kBand>;
  Strip strip(op, (static_cast<Index>(blockIdx.x) * kWarps + warp_of_block()) * kColumns<T>);
  Place next{(op.n - 2) / kGroup * kGroup, 0};
  start_block(op, next, memory.buffers[0]);
  int buffer = 0;
  for (Index sweep = next.sweep; sweep >= 0; sweep -= kGroup) {
    Index row = sweep;
    strip.load(row, 0);
    for (bool last = false; !last;) {
      last = row + 1 + kBand >= op.n;
      finish_copies();
      __syncthreads();  // the block is there, and nobody reads the other buffer
      if (row > sweep) {
        if constexpr (kAhead<T>) {
          strip.take(memory.ahead);
        } else {
          strip.load(row, kGroupTiles);
        }
      }
      next.template advance<kBand>(op.n);
      if (next.sweep >= 0) start_block(op, next, memory.buffers[1 - buffer]);
      if constexpr (kAhead<T>) {
        if (!last) strip.start_copies(row + kBand, memory.ahead);
      }
      strip.reflect(memory.buffers[buffer]);
      strip.store(row, Strip::kNewTiles);
      strip.move();
      buffer = 1 - buffer;
      row += kBand;
    }
    strip.store(row, kGroupTiles);
  }
}

template <class D, int kBand>
void launch_tiles(cudaStream_t stream, const Operands<D>& operands) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(operands.columns, kWarps * kColumns<D>));
  shape.threads = kThreads;
  shape.shared_bytes = shared_by_all<Memory<D, kBand>>();
  launch_kernel(stream, shape, "reflect_bulges", reflect_by_tiles_kernel<D, kBand>, operands);
}

}  // namespace

template <class T>
bool reflect_by_tiles(cudaStream_t stream, const ReflectBulges<T>& op) {
  using D = typename DeviceScalar<T>::type;
  constexpr int kWide = 64, kNarrow = 32;
  if (op.group != kGroup || (op.bandwidth != kWide && op.bandwidth != kNarrow)) return false;
  constexpr std::uintptr_t kPair = sizeof(double2);
  const bool aligned = reinterpret_cast<std::uintptr_t>(op.z.data) % kPair == 0 && op.z.ld % 2 == 0;
  const Operands<D> operands{
      op.v.rows, device_cast(op.v.data), op.v.ld, device_cast(op.z.data), op.z.ld, op.z.cols,
      aligned};
  if (op.bandwidth == kWide) {
    launch_tiles<D, kWide>(stream, operands);
  } else {
    launch_tiles<D, kNarrow>(stream, operands);
  }
  return true;
}

template bool reflect_by_tiles(cudaStream_t, const ReflectBulges<double>&);
template bool reflect_by_tiles(cudaStream_t, const ReflectBulges<std::complex<double>>&);

}  // namespace overlapack::cuda
