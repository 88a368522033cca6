// What a panel of QR gets from the panel before it, in the kernel that factors it
// (geqrf_cluster.cu): X := X - V T^H (V^H X), where the warps of a cluster have the rows of X in
// registers (panel_tile.cuh).
//
// In three launches that takes a third as long as the panel itself, nearly all of it latency, and
// each launch has to find free multiprocessors, while a cluster has its own.
//
// Tensor cores make all three products. Each warp takes V^H X over its own rows, and each block
// adds up what its warps have and multiplies it by T^H. The result is sent by rows: one block adds
// up what all blocks have of a row, and sends it to all. Then each warp subtracts what its own rows
// of V say.
//
// V has as many rows more as it has columns: those of X above the panel, which stay in memory. The
// first warps of the first block have eight of them each beside their own.
#pragma once

#include <type_traits>

#include "device/cuda/panels/householder.cuh"
#include "device/cuda/panels/panel_tile.cuh"
#include "device/cuda/parts/product_of_doubles.cuh"
#include "device/cuda/ptx/cluster.cuh"

namespace overlapack::cuda {

constexpr int kReflectors = 32;  // at most

template <class T>
struct EarlierReflectors {
  const T *v, *t;
  T* above;  // the rows of X above the panel
  Index ldv, ldt, ld_above;
  int count;  // 0: there are none
};

/// Hopper's tensor cores have products of doubles as they are. For complex doubles there would have
/// to be more shared memory and registers than there are.
template <class T>
constexpr bool kReflectsEarlier = std::is_same_v<T, double>;

/// Shared memory, for panels of W columns. Rows are padded, so that the lanes of a warp read them
/// without conflicts.
template <class T, int W, int kWarps>
struct alignas(sizeof(int4)) EarlierMemory {
  static constexpr int kPadding = 4;
  T of_warp[kWarps][kReflectors][W + kPadding];  // V^H X
  T t[kReflectors][kReflectors + kPadding];
  T of_block[kReflectors * W];          // by block: rows of T^H V^H X to be added up here
  T scaled[kReflectors][W + kPadding];  // T^H V^H X
  Barrier arrived[2];                   // of_block, scaled
};

/// One thread makes the barriers before synchronize_cluster().
template <class T, int W, int kWarps>
__device__ void prepare(EarlierMemory<T, W, kWarps>& memory) {
  for (Barrier& barrier : memory.arrived) make_barrier(&barrier);
}

/// For a block of kWarps warps, each of which has 32 R rows of a panel of m rows and n <= W
/// columns. All of these of the cluster call reflect() once.
template <int W, int R, int kWarps>
class EarlierReflection {
  using T = double;
  using Tile = PanelTile<T, W, R>;
  static constexpr int kThreads = kWarps * kWarp, kBarrier = 2;
  static constexpr int kColumns = Tile::kColumns, kRows = Tile::kRows;
  static constexpr int kHalf = kReflectors / 2;  // the rows of one product
  static_assert(kHalf == 2 * kTileSide && kColumns % 2 == 0);
  static constexpr int kWarpsAbove = kReflectors / kTileSide;
  static_assert(kWarpsAbove <= kWarps);

 public:
  __device__ EarlierReflection(EarlierMemory<T, W, kWarps>& memory, const EarlierReflectors<T>& by,
                               int m, int n)
      : memory_(memory), by_(by), m_(m), n_(n) {}

  /// `first` is the warp's first row of the panel.
  __device__ void reflect(Tile& tile, int first) {
    load_t();
    load_above();
    multiply_by_v(tile, first);
    synchronize_some(kBarrier, kThreads);
    multiply_by_t_and_send();
    await(&memory_.arrived[0], 0);
    add_and_send();
    await(&memory_.arrived[1], 0);
    subtract(tile, first);
    store_above();
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int warp() { return warp_of_block(); }
  __device__ int rows_of_block() const { return kReflectors / blocks_; }
  __device__ bool has_rows_above() const { return rank_ == 0 && warp() < kWarpsAbove; }
  __device__ static int row_above(int e) { return warp() * kTileSide + 2 * place_of_lane() + e; }

  /// An element of V. Rows of the panel follow on those above it.
  __device__ T v_above(int row, int i) const {
    return row < by_.count && i < by_.count ? by_.v[row + column_offset(i, by_.ldv)] : T(0);
  }
  __device__ T v_of(int row, int i) const {
    return row < m_ && i < by_.count ? by_.v[by_.count + row + column_offset(i, by_.ldv)] : T(0);
  }

  __device__ void load_t() {
    for (int e = thread(); e < kReflectors * kReflectors; e += kThreads) {
      const int l = e % kReflectors, i = e / kReflectors;  // T(l, i)
      const bool is_there = l < by_.count && i < by_.count;
      memory_.t[l][i] = is_there ? by_.t[l + column_offset(i, by_.ldt)] : T(0);
    }
  }

  __device__ T* above(int j, int e) const {
    const int row = row_above(e), column = Tile::column(j);
    const bool is_there = has_rows_above() && row < by_.count && column < n_;
    return is_there ? by_.above + row + column_offset(column, by_.ld_above) : nullptr;
  }
  __device__ void load_above() {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const T* const from = above(j, e);
        above_[j][e] = from != nullptr ? *from : T(0);
      }
    }
  }
  __device__ void store_above() const {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (T* const to = above(j, e)) *to = above_[j][e];
      }
    }
  }

  /// V^H X over the warp's rows, for half of the reflectors at a time. v(row, i) of its rows r and
  /// r + 1 stands beside those elements of X.
  __device__ void multiply_by_v(const Tile& tile, int first) {
#pragma unroll 1
    for (int half = 0; half < kReflectors; half += kHalf) {
      const int i = half + column_of_lane();
      T sums[kColumns][4] = {};
#pragma unroll
      for (int r = 0; r < kRows; r += 2) {
        const int row = first + Tile::row(r);
        const T v[4] = {v_of(row, i), v_of(row, i + kTileSide), v_of(row + 1, i),
                        v_of(row + 1, i + kTileSide)};
#pragma unroll
        for (int j = 0; j < kColumns; ++j) add(sums[j], v, tile.x[j][r], tile.x[j][r + 1]);
      }
      if (has_rows_above()) {
        const int row = row_above(0);
        const T v[4] = {v_above(row, i), v_above(row, i + kTileSide), v_above(row + 1, i),
                        v_above(row + 1, i + kTileSide)};
#pragma unroll
        for (int j = 0; j < kColumns; ++j) add(sums[j], v, above_[j][0], above_[j][1]);
      }
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        T* const to = &memory_.of_warp[warp()][i][j * kTileSide + 2 * place_of_lane()];
        store_pair(to, sums[j][0], sums[j][1]);
        store_pair(to + kTileSide * (W + memory_.kPadding), sums[j][2], sums[j][3]);
      }
    }
  }
  __device__ static void add(T (&d)[4], const T (&a)[4], T b0, T b1) {
    add_product(d[0], d[1], d[2], d[3], a, b0, b1);
  }

  /// T^H times the block's sum, each row to the block that adds it up. A warp has some tiles of
  /// half the reflectors and eight columns.
  __device__ void multiply_by_t_and_send() {
    const int g = column_of_lane(), q = place_of_lane();
#pragma unroll 1
    for (int tile = warp(); tile < 2 * kColumns; tile += kWarps) {
      const int row = tile / kColumns * kHalf + g, column = tile % kColumns * kTileSide;
      T d[4] = {};
#pragma unroll
      for (int l = q; l < kReflectors; l += kTileSide) {
        const T t[4] = {memory_.t[l][row], memory_.t[l][row + kTileSide], memory_.t[l + 4][row],
                        memory_.t[l + 4][row + kTileSide]};
        add(d, t, of_block(l, column + g), of_block(l + 4, column + g));
      }
      send_row(row, column + 2 * q, d[0], d[1]);
      send_row(row + kTileSide, column + 2 * q, d[2], d[3]);
    }
    expect_all(0);
  }
  __device__ T of_block(int i, int column) const {
    T total = memory_.of_warp[0][i][column];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) total += memory_.of_warp[w][i][column];
    return total;
  }
  __device__ void send_row(int row, int column, T first, T second) {
    const int own = rows_of_block(), place = (rank_ * own + row % own) * W + column;
    send(row / own, &memory_.of_block[place], &memory_.arrived[0], as_chunk(first, second));
  }
  __device__ static int4 as_chunk(T first, T second) {
    const Pair<T> pair = {first, second};
    static_assert(sizeof pair == sizeof(int4));
    return reinterpret_cast<const int4&>(pair);
  }

  /// The rows that this block adds up, to all blocks.
  __device__ void add_and_send() {
    const int own = rows_of_block() * W;
    for (int e = 2 * thread(); e < own * blocks_; e += 2 * kThreads) {
      const int place = e % own;
      Pair<T> total = load_pair(&memory_.of_block[place]);
      for (int b = 1; b < blocks_; ++b) {
        const Pair<T> one = load_pair(&memory_.of_block[b * own + place]);
        total = {total.first + one.first, total.second + one.second};
      }
      T* const to = &memory_.scaled[rank_ * rows_of_block() + place / W][place % W];
      send(e / own, to, &memory_.arrived[1], as_chunk(total.first, total.second));
    }
    expect_all(1);
  }

  __device__ void expect_all(int message) {
    if (thread() == 0) {
      expect(&memory_.arrived[message], static_cast<unsigned>(kReflectors * W * sizeof(T)));
    }
  }

  /// X^T := X^T - (T^H V^H X)^T V^T for the warp's rows, 16 columns and eight reflectors at a time.
  __device__ void subtract(Tile& tile, int first) {
    const int g = column_of_lane();
#pragma unroll 1
    for (int i = place_of_lane(); i < kReflectors; i += kTileSide) {
      T s[kColumns / 2][4];
#pragma unroll
      for (int j = 0; j < kColumns; j += 2) {
        const T* const from = &memory_.scaled[i][j * kTileSide + g];
        const T* const later = from + 4 * (W + memory_.kPadding);
        s[j / 2][0] = -from[0], s[j / 2][1] = -from[kTileSide];
        s[j / 2][2] = -later[0], s[j / 2][3] = -later[kTileSide];
      }
#pragma unroll
      for (int r = 0; r < kRows; r += 2) {
        const int row = first + r / 2 * kTileSide + g;
        const T v[2] = {v_of(row, i), v_of(row, i + 4)};
#pragma unroll
        for (int j = 0; j < kColumns; j += 2) {
          add_product(tile.x[j][r], tile.x[j][r + 1], tile.x[j + 1][r], tile.x[j + 1][r + 1],
                      s[j / 2], v[0], v[1]);
        }
      }
      if (!has_rows_above()) continue;
      const int row = warp() * kTileSide + g;
      const T v[2] = {v_above(row, i), v_above(row, i + 4)};
#pragma unroll
      for (int j = 0; j < kColumns; j += 2) {
        add_product(above_[j][0], above_[j][1], above_[j + 1][0], above_[j + 1][1], s[j / 2], v[0],
                    v[1]);
      }
    }
  }

  EarlierMemory<T, W, kWarps>& memory_;
  const EarlierReflectors<T>& by_;
  const int m_, n_;
  const int rank_ = rank_in_cluster(), blocks_ = blocks_in_cluster();
  T above_[kColumns][2];  // rows above the panel, if the warp has some
};

}  // namespace overlapack::cuda
