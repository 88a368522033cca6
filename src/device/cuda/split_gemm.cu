// C := alpha A B + beta C for split forms of A and B in FP32 (device.hpp): three products of FP16
// matrices by Hopper's tensor cores, which read both factors from shared memory.
//
// A thread block makes a tile of 128 x 128 of C, each of its two groups of four warps one half of
// the rows. Pieces of 32 summands go through a ring of buffers: one is multiplied, one may still
// be, the others arrive. A piece of a column is 128 bytes in the split form, high parts and then
// low ones, so it arrives as it is; its 16 byte chunks are permuted as tensor cores expect it (PTX
// ISA, "128-byte swizzling mode"), with which no two of eight rows meet in a bank.
//
// Tensor cores cut their sums off where float rounds them. So small products and large ones have
// sums of their own, and after each section both are scaled and added to the tile in FP32.
//
// Where there are few tiles, the thread blocks of a cluster share the sections of one.
#include <cooperative_groups.h>

#include <cstdint>

#include "device/cuda/async_copy.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/cuda/wgmma.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kTile = 128;                   // rows and columns of a tile of C
constexpr int kThreads = 2 * kGroupThreads;  // and a line of A and of B for each
constexpr int kBuffers = 6;
constexpr int kAhead = kBuffers - 2;  // pieces that may be on their way
constexpr int kBand = 12;             // tiles of a band: its factors stay in the cache
constexpr int kPiece = SplitForm::kPiece, kHeader = SplitForm::kHeader;
static_assert(kThreads == 2 * kTile);
static_assert(kPiece == 32, "two products of 16 numbers each, from rows of 128 bytes");

/// A piece of the lines of a tile, kSwizzledBytes aligned.
struct Buffer {
  float a[kTile * kPiece], b[kTile * kPiece];
};
struct Shared {
  Buffer buffers[kBuffers];
  float scales[kBuffers][2 * kTile];  // of the lines of A, then of B, in the section of the piece
};

/// One of the factors: `lines` columns of the split form.
struct Factor {
  const float* data;
  Index ld, lines;
};

/// The sections of a column: `full` of `pieces` and, if it is not 0, one of `rest`.
struct Sections {
  int full, pieces, rest;

  __host__ __device__ int count() const { return full + (rest > 0 ? 1 : 0); }
  __device__ int pieces_of(int section) const { return section < full ? pieces : rest; }
};

/// Copies 16 (or 4) bytes to shared memory in the background, or zeros if there is nothing.
__device__ void copy_16(unsigned to, const float* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
}
__device__ void copy_4(unsigned to, const float* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from),
               "r"(there ? 4 : 0)
               : "memory");
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// Steps from the high parts of the first 16 numbers of a piece to others.
constexpr std::uint64_t kNextNumbers = kNext32Bytes, kLowParts = 2 * kNext32Bytes;

/// d := A B + (accumulate ? d : 0) for 64 rows of A, 128 columns of B and 16 summands.
__device__ void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, accumulate, 1, 1, 0, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));
}
/// Copies by threads become visible to the tensor cores.
__device__ void show_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif

/// The copies of some sections of a tile's lines, piece after piece.
class Loader {
 public:
  __device__ Loader(const Factor& a, const Factor& b, const Sections& sections, Index first_a,
                    Index first_b, int first, int end)
      : sections_(sections), section_(first), end_(end) {
    // Eight threads copy a piece of one column, so what they read is 128 bytes in a row.
    const int row = thread() / 8, chunk = thread() % 8;
    const Index begin = Index{first} * (kHeader + sections.pieces * kPiece);
    a_ = a.data + begin + kHeader + 4 * chunk + (first_a + row) * a.ld;
    b_ = b.data + begin + kHeader + 4 * chunk + (first_b + row) * b.ld;
    step_a_ = kRows * a.ld;
    step_b_ = kRows * b.ld;
    left_a_ = static_cast<int>(min(a.lines - first_a, Index{kTile})) - row;
    left_b_ = static_cast<int>(min(b.lines - first_b, Index{kTile})) - row;
    place_ = row * kPiece + 4 * (chunk ^ row % 8);
    const Factor& factor = thread() < kTile ? a : b;
    const Index line = (thread() < kTile ? first_a : first_b) + thread() % kTile;
    scale_there_ = line < factor.lines;
    scale_ = factor.data + begin + line * factor.ld;
  }
  /// Begins to copy the next piece, if there is one.
  __device__ void next(Buffer& to, float (&scales)[2 * kTile]) {
    if (section_ < end_) {
#pragma unroll
      for (int s = 0; s < kTile / kRows; ++s) {
        const int place = place_ + s * kRows * kPiece;
        copy_16(shared_address(to.a + place), a_ + s * step_a_, s * kRows < left_a_);
        copy_16(shared_address(to.b + place), b_ + s * step_b_, s * kRows < left_b_);
      }
      Index step = kPiece;
      if (++piece_ == sections_.pieces_of(section_)) {
        // Scales come with the last piece of a section, behind which they are used.
        copy_4(shared_address(scales + thread()), scale_, scale_there_);
        scale_ += kHeader + piece_ * kPiece;
        ++section_;
        piece_ = 0;
        step += kHeader;
      }
      a_ += step;
      b_ += step;
    }
    end_of_copies();
  }

 private:
  static constexpr int kRows = kThreads / 8;  // that all threads copy at once
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  const float *a_, *b_, *scale_;
  Index step_a_, step_b_;
  int left_a_, left_b_, place_;
  bool scale_there_;
  Sections sections_;
  int section_, end_, piece_ = 0;
};

__global__ void __launch_bounds__(kThreads, 1)
    split_gemm_kernel(Factor a, Factor b, Sections sections, float alpha, float beta, float* c,
                      Index ldc) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(
      memory + (kSwizzledBytes - shared_address(memory) % kSwizzledBytes) % kSwizzledBytes);
  namespace cg = cooperative_groups;
  const cg::cluster_group cluster = cg::this_cluster();
  const int ranks = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  const int first_section = static_cast<int>(Index{rank} * sections.count() / ranks);
  const int end_section = static_cast<int>(Index{rank + 1} * sections.count() / ranks);
  // Tiles in bands of kBand rows, column by column.
  const Index tile = blockIdx.x / ranks;
  const Index tile_rows = (a.lines + kTile - 1) / kTile, tile_cols = (b.lines + kTile - 1) / kTile;
  const Index band = tile / (kBand * tile_cols), in_band = tile % (kBand * tile_cols);
  const Index band_rows = min(Index{kBand}, tile_rows - band * kBand);
  const Index first_row = (band * kBand + in_band % band_rows) * kTile;
  const Index first_col = in_band / band_rows * kTile;

  Loader loader(a, b, sections, first_row, first_col, first_section, end_section);
#  pragma unroll
  for (int p = 0; p < kAhead; ++p) loader.next(shared.buffers[p], shared.scales[p]);

  // Of the tile a thread has element i of two rows and of columns 8 j + (0, 1).
  const int thread = static_cast<int>(threadIdx.x), group = thread / kGroupThreads;
  const int lane = thread % kWarp;
  const int row = group * 64 + thread % kGroupThreads / kWarp * 16 + lane / 4;
  const int col = 2 * (lane % 4);
  const auto place = [&](int i, Index& r, Index& s) {
    r = first_row + row + (i % 4 < 2 ? 0 : 8);
    s = first_col + col + i / 4 * 8 + i % 2;
    return r < a.lines && s < b.lines;
  };
  float sum[64], large[64] = {}, small[64] = {};
  if (rank == 0 && beta != 0) {
    // All loads at once: what is beyond the end is something else, and not used.
#  pragma unroll
    for (int i = 0; i < 64; ++i) {
      Index r, s;
      place(i, r, s);
      sum[i] = c[min(r, a.lines - 1) + min(s, b.lines - 1) * ldc];
    }
#  pragma unroll
    for (int i = 0; i < 64; ++i) sum[i] *= beta;
  } else {
#  pragma unroll
    for (int i = 0; i < 64; ++i) sum[i] = 0;
  }

  int slot = 0, slot_ahead = kAhead;
  for (int section = first_section; section < end_section; ++section) {
    const int pieces = sections.pieces_of(section);
    int last_slot = 0;
    for (int piece = 0; piece < pieces; ++piece) {
      wait_for_copies<kAhead - 1>();
      show_copies();
      wait_for_products<1>();
      __syncthreads();  // this piece is there, and the buffer of the one before the last is free
      const std::uint64_t rows = descriptor(shared.buffers[slot].a + group * 64 * kPiece);
      const std::uint64_t cols = descriptor(shared.buffers[slot].b);
      begin_products();
      multiply(small, rows + kLowParts, cols, piece > 0);
      multiply(small, rows + kLowParts + kNextNumbers, cols + kNextNumbers, true);
      multiply(small, rows, cols + kLowParts, true);
      multiply(small, rows + kNextNumbers, cols + kLowParts + kNextNumbers, true);
      multiply(large, rows, cols, piece > 0);
      multiply(large, rows + kNextNumbers, cols + kNextNumbers, true);
      end_of_products();
      loader.next(shared.buffers[slot_ahead], shared.scales[slot_ahead]);
      last_slot = slot;
      slot = slot + 1 == kBuffers ? 0 : slot + 1;
      slot_ahead = slot_ahead + 1 == kBuffers ? 0 : slot_ahead + 1;
    }
    wait_for_products<0>();
    const float* const scale_a = shared.scales[last_slot] + row;
    const float* const scale_b = shared.scales[last_slot] + kTile + col;
    const float scales[2] = {alpha * scale_a[0], alpha * scale_a[8]};
#  pragma unroll
    for (int i = 0; i < 64; ++i) {
      const float scaled = (large[i] + small[i]) * scales[i % 4 / 2];
      sum[i] += scaled * scale_b[i / 4 * 8 + i % 2];
    }
  }
  if (ranks == 1) {
#  pragma unroll
    for (int i = 0; i < 64; ++i) {
      Index r, s;
      if (place(i, r, s)) c[r + s * ldc] = sum[i];
    }
    return;
  }
  // Each block adds up a part of the tile, in the order of the blocks.
  float* const all = reinterpret_cast<float*>(&shared);
  __syncthreads();  // the last piece has been read
#  pragma unroll
  for (int i = 0; i < 64; ++i) all[i * kThreads + thread] = sum[i];
  cluster.sync();
  for (int i = 64 * rank / ranks; i < 64 * (rank + 1) / ranks; ++i) {
    float total = 0;
    for (int q = 0; q < ranks; ++q) {
      total += cluster.map_shared_rank(all, static_cast<unsigned>(q))[i * kThreads + thread];
    }
    Index r, s;
    if (place(i, r, s)) c[r + s * ldc] = total;
  }
  cluster.sync();  // nobody leaves while others read its sums
#endif
}

}  // namespace

void split_gemm(cudaStream_t stream, int multiprocessors, Index section, Index numbers, float alpha,
                DeviceView<const float> a, DeviceView<const float> b, float beta, float* c,
                Index ldc) {
  const auto pieces = [](Index count) { return static_cast<int>((count + kPiece - 1) / kPiece); };
  const Sections sections = {static_cast<int>(numbers / section), pieces(section),
                             pieces(numbers % section)};
  const auto tiles = [](Index lines) { return (lines + kTile - 1) / kTile; };
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(tiles(a.cols) * tiles(b.cols));
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(Shared) + kSwizzledBytes;
  while (shape.cluster < kClusterWithoutAsking &&
         2 * shape.blocks <= static_cast<unsigned>(multiprocessors) &&
         2 * shape.cluster <= static_cast<unsigned>(sections.count())) {
    shape.cluster *= 2;
    shape.blocks *= 2;
  }
  launch(stream, shape, "split_gemm", split_gemm_kernel, Factor{a.data, a.ld, a.cols},
         Factor{b.data, b.ld, b.cols}, sections, alpha, beta, c, ldc);
}

}  // namespace overlapack::cuda
