// C := alpha A B + beta C for split forms of A and B in FP32 (device.hpp): three products of FP16
// matrices by Hopper's tensor cores, which read both factors from shared memory.
//
// A thread block makes tiles of 128 x 128 of C, one after the other, each of its two groups of four
// warps one half of the rows. One thread has pieces of 32 summands copied into a ring of buffers
// (ring.cuh). It is ahead of the products by as many pieces as there are buffers, and goes on with
// the next tile while one ends. A piece of a column is 128 bytes in the split form, high parts and
// then low ones, so it arrives as it is.
//
// Tensor cores cut their sums off where float rounds them. So small products and large ones have
// sums of their own, and after each section both are scaled and added to the tile in FP32.
//
// Where there are few tiles, the thread blocks of a cluster share the sections of one.
#include <cooperative_groups.h>

#include <cstdint>

#include "device/cuda/formats/products.hpp"
#include "device/cuda/parts/tiles.cuh"
#include "device/cuda/ptx/ring.cuh"
#include "device/cuda/ptx/tensor_map.hpp"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/ptx/wgmma_products.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kTile = 128;  // rows and columns of a tile of C
constexpr int kGroups = 2;
constexpr int kMultiplyingThreads = kGroups * kGroupThreads;
constexpr int kThreads = kMultiplyingThreads + kGroupThreads;  // the last group copies
constexpr int kBuffers = 6;
constexpr int kPiecesBehind = 2;  // pieces
constexpr int kPiece = SplitForm::kNumbersPerCacheLine, kHeader = SplitForm::kHeader;
static_assert(kPiece == 32, "two products of 16 numbers each, from rows of 128 bytes");

/// The scale of a line in a section, as copies bring it: they are of 16 bytes at least.
struct Scale {
  float value, rest[3];
};
/// A piece of the lines of a tile, kSwizzledBytes aligned; with the last one of a section come its
/// scales.
struct Buffer {
  float a[kTile * kPiece], b[kTile * kPiece];
  Scale a_scales[kTile], b_scales[kTile];
};
struct Shared {
  Buffer buffers[kBuffers];
  Ring<kBuffers> ring;
};
using Place = RingPlace<kBuffers>;
using TilesOfC = Tiles<12>;

/// One of the factors, as copies read it: `lines` columns of the split form.
struct Factor {
  CUtensorMap pieces, scales;
  Index lines;
};

/// The sections of a column: `full` of `pieces` and, if it is not 0, one of `rest`.
struct Sections {
  int full, pieces, rest;

  __host__ __device__ int count() const { return full + (rest > 0 ? 1 : 0); }
  __device__ int pieces_of(int section) const { return section < full ? pieces : rest; }
  /// Where a section begins in a column.
  __device__ int begin(int section) const { return section * (kHeader + pieces * kPiece); }
};

/// What a thread block has to do: some sections of some tiles.
struct Work {
  int first_tile, end_tile;
  int first_section, end_section;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// So that the first copies need not wait for it.
__device__ void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Steps from the high parts of the first 16 numbers of a piece to others.
constexpr std::uint64_t kNextNumbers = kNext32Bytes, kLowParts = 2 * kNext32Bytes;

/// Copies, by one thread.
__device__ void copy_pieces(Shared& shared, const Factor& a, const Factor& b,
                            const Sections& sections, const TilesOfC& tiles, const Work& work) {
  Place place;
  for (int tile = work.first_tile; tile < work.end_tile; ++tile) {
    const int row = tiles.row(tile) * kTile, column = tiles.column(tile) * kTile;
    for (int section = work.first_section; section < work.end_section; ++section) {
      const int begin = sections.begin(section), pieces = sections.pieces_of(section);
      for (int piece = 0; piece < pieces; ++piece, place.next()) {
        const bool last = piece + 1 == pieces;
        Buffer& buffer = shared.buffers[place.buffer];
        Barrier* const arrived = &shared.ring.arrived[place.buffer];
        await(&shared.ring.read[place.buffer], place.parity ^ 1);
        expect(arrived, last ? sizeof buffer : sizeof buffer.a + sizeof buffer.b);
        const int first = begin + kHeader + piece * kPiece;
        copy_box(buffer.a, a.pieces, first, row, arrived);
        copy_box(buffer.b, b.pieces, first, column, arrived);
        if (!last) continue;
        copy_box(buffer.a_scales, a.scales, begin, row, arrived);
        copy_box(buffer.b_scales, b.scales, begin, column, arrived);
      }
    }
  }
}
#endif

__global__ void __launch_bounds__(kThreads, 1)
    split_gemm_kernel(const __grid_constant__ Factor a, const __grid_constant__ Factor b,
                      Sections sections, TilesOfC tiles, int tiles_per_block, float alpha,
                      float beta, float* c, Index ldc) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(
      memory + (kSwizzledBytes - shared_address(memory) % kSwizzledBytes) % kSwizzledBytes);
  if (threadIdx.x == kMultiplyingThreads) {
    for (const Factor* factor : {&a, &b}) {
      prefetch(factor->pieces);
      prefetch(factor->scales);
    }
  }
  shared.ring.make(kGroups);
  const int ranks = blocks_in_cluster(), rank = rank_in_cluster();
  const int first_tile = static_cast<int>(blockIdx.x) / ranks * tiles_per_block;
  const Work work = {first_tile, min(first_tile + tiles_per_block, tiles.count()),
                     static_cast<int>(Index{rank} * sections.count() / ranks),
                     static_cast<int>(Index{rank + 1} * sections.count() / ranks)};
  const int thread = static_cast<int>(threadIdx.x), group = thread / kGroupThreads;
  if (thread >= kMultiplyingThreads) {
    give_registers<24>();
    if (thread == kMultiplyingThreads) copy_pieces(shared, a, b, sections, tiles, work);
    for (int i = 0; ranks > 1 && i < 3; ++i) synchronize_cluster();  // as below
    return;
  }
  take_registers<240>();
  const bool speaks = thread % kGroupThreads == 0;

  // Of a tile a thread has elements i in two rows and in columns 8 j + (0, 1).
  const int lane = thread % kWarp;
  const int row = group * 64 + thread % kGroupThreads / kWarp * 16 + lane / 4;
  const int col = 2 * (lane % 4);
  const auto row_of = [](int i) { return i % 4 < 2 ? 0 : 8; };
  const auto column_of = [](int i) { return i / 4 * 8 + i % 2; };
  // The second group stays behind the first one, so that one multiplies while the other one scales
  // its sums, or loads or stores its tile.
  if (group > 0 && sections.pieces_of(work.first_section) > kPiecesBehind) {
    await(&shared.ring.arrived[kPiecesBehind], 0);
  }
  float sum[64], large[64] = {}, small[64] = {};
  Place place;
  for (int tile = work.first_tile; tile < work.end_tile; ++tile) {
    const Index first_row = Index{tiles.row(tile)} * kTile + row;
    const Index first_col = Index{tiles.column(tile)} * kTile + col;
    const int rows_left = static_cast<int>(min(a.lines - first_row, Index{kTile}));
    const int columns_left = static_cast<int>(min(b.lines - first_col, Index{kTile}));
    float* const corner = c + first_row + first_col * ldc;
    // All loads at once, which without conditions stay in the background: in place of what is not
    // there comes something else, which is not used.
    const auto load = [&] {
      const bool adds = rank == 0 && beta != 0;
#  pragma unroll
      for (int i = 0; i < 64; ++i) {
        const int r = min(row_of(i), rows_left - 1), s = min(column_of(i), columns_left - 1);
        sum[i] = adds ? corner[r + s * ldc] : 0;
      }
    };
    for (int section = work.first_section; section < work.end_section; ++section) {
      const int pieces = sections.pieces_of(section);
      int last = -1;
      for (int piece = 0; piece < pieces; ++piece, place.next()) {
        await(&shared.ring.arrived[place.buffer], place.parity);
        const Buffer& buffer = shared.buffers[place.buffer];
        const std::uint64_t rows = descriptor(buffer.a + group * 64 * kPiece);
        const std::uint64_t cols = descriptor(buffer.b);
        begin_products();
        multiply_m64n128k16(small, rows + kLowParts, cols, piece > 0);
        multiply_m64n128k16(small, rows + kLowParts + kNextNumbers, cols + kNextNumbers, true);
        multiply_m64n128k16(small, rows, cols + kLowParts, true);
        multiply_m64n128k16(small, rows + kNextNumbers, cols + kLowParts + kNextNumbers, true);
        multiply_m64n128k16(large, rows, cols, piece > 0);
        multiply_m64n128k16(large, rows + kNextNumbers, cols + kNextNumbers, true);
        end_of_products();
        if (section == work.first_section && piece == 0) load();
        wait_for_products<1>();
        if (last >= 0 && speaks) arrive(&shared.ring.read[last]);
        last = place.buffer;
      }
      wait_for_products<0>();
      const Scale* const scale_a = shared.buffers[last].a_scales + row;
      const Scale* const scale_b = shared.buffers[last].b_scales + col;
      // The sums, of 2^36 at most, times a large scale may overflow where the result does not. What
      // is beyond kMaxScale comes last.
      constexpr float kMaxScale = 0x1p64f;
      const float all[2] = {scale_a[0].value, scale_a[8].value};
      float scales[2], rest[2];
      for (int h = 0; h < 2; ++h) {
        scales[h] = all[h] > kMaxScale ? kMaxScale : all[h];
        rest[h] = all[h] > kMaxScale ? alpha * (all[h] / kMaxScale) : alpha;
      }
      const float before = section == work.first_section ? beta : 1;
#  pragma unroll
      for (int i = 0; i < 64; ++i) {
        const int h = i % 4 / 2;
        const float scaled = (large[i] + small[i]) * scales[h] * scale_b[column_of(i)].value;
        sum[i] = before * sum[i] + scaled * rest[h];
      }
      synchronize_group(group);  // the scales have been read
      if (speaks) arrive(&shared.ring.read[last]);
    }
    if (ranks > 1) break;  // there is one tile
#  pragma unroll
    for (int i = 0; i < 64; ++i) {
      const int r = row_of(i), s = column_of(i);
      if (r < rows_left && s < columns_left) corner[r + s * ldc] = sum[i];
    }
  }
  if (ranks == 1) return;
  // Each block adds up a part of the tile, in the order of the blocks.
  namespace cg = cooperative_groups;
  float* const all = reinterpret_cast<float*>(&shared);
  synchronize_cluster();  // all pieces have been read
#  pragma unroll
  for (int i = 0; i < 64; ++i) all[i * kMultiplyingThreads + thread] = sum[i];
  synchronize_cluster();
  const Index first_row = Index{tiles.row(work.first_tile)} * kTile + row;
  const Index first_col = Index{tiles.column(work.first_tile)} * kTile + col;
  for (int i = 64 * rank / ranks; i < 64 * (rank + 1) / ranks; ++i) {
    float total = 0;
    for (int q = 0; q < ranks; ++q) {
      total += cg::this_cluster().map_shared_rank(
          all, static_cast<unsigned>(q))[i * kMultiplyingThreads + thread];
    }
    const Index r = first_row + row_of(i), s = first_col + column_of(i);
    if (r < a.lines && s < b.lines) c[r + s * ldc] = total;
  }
  synchronize_cluster();  // nobody leaves while others read its sums
#endif
}

Factor factor_of(DeviceView<const float> x) {
  const auto number = [](Index y) { return static_cast<cuuint64_t>(y); };
  const cuuint64_t sizes[] = {number(x.rows), number(x.cols)};
  const cuuint64_t strides[] = {number(x.ld) * sizeof(float)};
  const auto map = [&](cuuint32_t rows, CUtensorMapSwizzle swizzle) {
    return tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, x.data, sizes, strides, {rows, kTile},
                      swizzle);
  };
  return {map(kPiece, CU_TENSOR_MAP_SWIZZLE_128B),
          map(sizeof(Scale) / sizeof(float), CU_TENSOR_MAP_SWIZZLE_NONE), x.cols};
}

}  // namespace

void split_gemm(CudaQueue& queue, Index section, Index numbers, float alpha,
                DeviceView<const float> a, DeviceView<const float> b, float beta,
                DeviceView<float> c) {
  const int multiprocessors = queue.gpu().multiprocessors;
  const auto pieces = [](Index count) {
    return static_cast<int>(quotient_up(count, Index{kPiece}));
  };
  const Sections sections = {static_cast<int>(numbers / section), pieces(section),
                             pieces(numbers % section)};
  const auto tiles_of = [](Index lines) {
    return static_cast<int>(quotient_up(lines, Index{kTile}));
  };
  const TilesOfC tiles = {tiles_of(a.cols), tiles_of(b.cols)};
  // A thread block with two tiles copies for the second one while the first one ends. But what has
  // priority waits until thread blocks end, and in few turns no multiprocessor should have one
  // more.
  constexpr Index kMinTurns = 6, kMaxSummands = 1024;
  const bool many = tiles.count() >= kMinTurns * multiprocessors;
  const int tiles_per_block = many && numbers <= kMaxSummands ? 2 : 1;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(tiles.count(), tiles_per_block));
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(Shared) + kSwizzledBytes;
  while (shape.cluster < kClusterWithoutAsking &&
         2 * shape.blocks <= static_cast<unsigned>(multiprocessors) &&
         2 * shape.cluster <= static_cast<unsigned>(sections.count())) {
    shape.cluster *= 2;
    shape.blocks *= 2;
  }
  launch_kernel(queue.stream(), shape, "split_gemm", split_gemm_kernel, factor_of(a), factor_of(b),
                sections, tiles, tiles_per_block, alpha, beta, c.data, c.ld);
}

}  // namespace overlapack::cuda
