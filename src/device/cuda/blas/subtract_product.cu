// C := C - A B^H in double precision for few summands. The products of late blocks of LU are such,
// and there are so many of them that the time counts in which the host enqueues one: a third of
// that of a call of cuBLAS, which chooses among kernels and asks the driver about the one it takes.
//
// A thread block makes a tile of C by Hopper's tensor cores for double precision, each of its warps
// 32 x 32 elements. There are two on a multiprocessor: one multiplies while the other one takes or
// puts its tile of C, which is asked for when it begins. Pieces of 16 summands come by copies of
// the hardware's, as boxes of 16 rows of A or B, into four buffers in turn. A warp is told when a
// piece has arrived, and tells when it has read it. Warps take turns in having a buffer filled
// again, and the one whose turn it is waits until all have read it. The others wait for nobody
// until they are three pieces ahead.
//
// In a box the 16 bytes of two rows and one summand have changed places so that those of eight
// summands lie in different banks (swizzle). A fragment takes its 16 rows in the order that
// makes a warp's loads meet each bank once; C takes them in the same.
#include "device/cuda/blas/blas.hpp"
#include "device/cuda/parts/product_of_doubles.cuh"
#include "device/cuda/parts/tiles.cuh"
#include "device/cuda/ptx/ring.cuh"
#include "device/cuda/ptx/tensor_map.hpp"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kRows = kSubtractedRows, kColumns = kSubtractedColumns;  // of a tile of C
constexpr int kPart = 32;  // rows and columns of a warp's part of it
constexpr int kWarps = kRows / kPart * (kColumns / kPart), kThreads = kWarps * kWarp;
constexpr int kBlocks = 2;  // on a multiprocessor
constexpr int kBox = 16;    // rows, and summands of a piece
constexpr int kBoxes = kPart / kBox;
constexpr int kBuffers = 4;
static_assert(kBox == kSubtractedSummands && kBuffers <= kWarps);

using TilesOfC = Tiles<16>;
using Box = double[kBox][kBox];  // by summands
struct Buffer {
  Box a[kRows / kBox], b[kColumns / kBox];
};
struct Shared {
  Buffer buffers[kBuffers];  // kSwizzledBytes aligned
  Ring<kBuffers> ring;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// d += a b^T for 16 rows of A, 8 of B and 8 summands, given summands t and 4 + t (t = lane % 4) of
/// two rows of A and one of B. To the hardware these are rows g, g + 8 and g, for g = lane / 4;
/// which ones they are in fact shows in what d is (Part).
__device__ void multiply_add(double (&d)[4], const double2 (&a)[2], const double (&b)[2]) {
  add_product(d[0], d[1], d[2], d[3], {a[0].x, a[0].y, a[1].x, a[1].y}, b[0], b[1]);
}

/// A warp's part of a tile. Of its block (i, j) of 16 x 16 elements a lane has those in two rows
/// from row() on, and in two columns from column() + 4 r on for r = 0, 1: in sums[i][j][r] first
/// those of the first row, then those of the second.
struct Part {
  double sums[kBoxes][kBoxes][2][4];

  static __device__ int pair(int lane) { return lane / 4 % 2 * 4 + lane / 8; }
  static __device__ int row(int lane) { return 2 * pair(lane); }
  static __device__ int column(int lane) { return lane % 2 * 8 + lane % 4 / 2 * 2; }
};

/// Adds a piece to the sums, given where a lane's first elements lie in the first of the part's
/// boxes of A and B. Those of four summands later are 512 bytes further, with bit 6 changed by the
/// swizzle; those of four rows of B later have bit 5 changed.
__device__ void multiply_add(Part& part, const Buffer& buffer, unsigned of_a, unsigned of_b) {
  constexpr int kHalf = kBox / 2, kBytes = kBox * sizeof(double);
  const char* const a_boxes = reinterpret_cast<const char*>(buffer.a);
  const char* const b_boxes = reinterpret_cast<const char*>(buffer.b);
#  pragma unroll
  for (int k = 0; k < kBox; k += kHalf) {
    double2 a[kBoxes][2];
#  pragma unroll
    for (int i = 0; i < kBoxes; ++i) {
#  pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int further = i * static_cast<int>(sizeof(Box)) + (k + 4 * h) * kBytes;
        a[i][h] = *reinterpret_cast<const double2*>(a_boxes + (of_a ^ h * 64) + further);
      }
    }
#  pragma unroll
    for (int j = 0; j < kBoxes; ++j) {
#  pragma unroll
      for (int r = 0; r < 2; ++r) {
        double b[2];
#  pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int further = j * static_cast<int>(sizeof(Box)) + (k + 4 * h) * kBytes;
          b[h] = *reinterpret_cast<const double*>(b_boxes + (of_b ^ h * 64 ^ r * 32) + further);
        }
#  pragma unroll
        for (int i = 0; i < kBoxes; ++i) multiply_add(part.sums[i][j][r], a[i], b);
      }
    }
  }
}

/// C := C - sums for a part that begins at element (row, column) of C, of which it may have less
/// than all.
__device__ void subtract(const Part& part, DeviceView<double> c, int row, int column, int lane) {
  const bool whole = c.rows - row >= kPart && c.cols - column >= kPart;
  row += Part::row(lane);
  column += Part::column(lane);
  double* const first = c.data + row + column * c.ld;
  const int rows = static_cast<int>(c.rows) - row, columns = static_cast<int>(c.cols) - column;
  const auto for_each =
      [](int j, auto f) {  // calls f(i, r, e, m, n) for element (m, n) from the lane's first
#  pragma unroll
        for (int r = 0; r < 2; ++r) {
#  pragma unroll
          for (int e = 0; e < 2; ++e) {
#  pragma unroll
            for (int i = 0; i < kBoxes; ++i) f(i, r, e, kBox * i, kBox * j + 4 * r + e);
          }
        }
      };
#  pragma unroll
  for (int j = 0; j < kBoxes; ++j) {
    double2 x[kBoxes][2][2] = {};
    for_each(j, [&](int i, int r, int e, int m, int n) {
      const double* const from = first + m + n * c.ld;
      if (whole) {
        x[i][r][e] = __ldcs(reinterpret_cast<const double2*>(from));
      } else if (n < columns) {
        if (m < rows) x[i][r][e].x = from[0];
        if (m + 1 < rows) x[i][r][e].y = from[1];
      }
    });
    for_each(j, [&](int i, int r, int e, int m, int n) {
      const double(&sums)[4] = part.sums[i][j][r];
      const double2 y = {x[i][r][e].x - sums[e], x[i][r][e].y - sums[2 + e]};
      double* const to = first + m + n * c.ld;
      if (whole) {
        __stcs(reinterpret_cast<double2*>(to), y);
      } else if (n < columns) {
        if (m < rows) to[0] = y.x;
        if (m + 1 < rows) to[1] = y.y;
      }
    });
  }
}

/// Lines of the cache are fetched that hold the part: all of them, if those of C begin at lines.
__device__ void fetch_ahead(DeviceView<double> c, int row, int column, int lane) {
  static_assert(kPart == kWarp);
  constexpr int kLine = 128 / sizeof(double);
  if (column + lane >= c.cols) return;
  const double* const first = c.data + row + (column + lane) * c.ld;
  for (int m = 0; m < kPart && row + m < c.rows; m += kLine) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(first + m));
  }
}
#endif

__global__ void __launch_bounds__(kThreads, kBlocks)
    subtract_product_kernel(const __grid_constant__ CUtensorMap a,
                            const __grid_constant__ CUtensorMap b, TilesOfC tiles, int pieces,
                            DeviceView<double> c) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kSwizzledBytes) char raw_memory[];
  Shared& shared = *reinterpret_cast<Shared*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;

  const int tile = static_cast<int>(blockIdx.x);
  const int row = tiles.row(tile) * kRows, column = tiles.column(tile) * kColumns;

  const auto fill = [&](int buffer, int piece) {  // by one thread
    Buffer& to = shared.buffers[buffer];
    Barrier* const arrived = &shared.ring.arrived[buffer];
    expect(arrived, sizeof(Buffer));
#  pragma unroll
    for (int i = 0; i < kRows / kBox; ++i) {
      copy_box(&to.a[i], a, row + i * kBox, piece * kBox, arrived);
    }
#  pragma unroll
    for (int i = 0; i < kColumns / kBox; ++i) {
      copy_box(&to.b[i], b, column + i * kBox, piece * kBox, arrived);
    }
  };
  shared.ring.make(kWarps);
  if (lane == 0 && warp < min(kBuffers, pieces)) fill(warp, warp);

  const int part_row = warp % (kRows / kPart) * kPart, part_column = warp / (kRows / kPart) * kPart;
  fetch_ahead(c, row + part_row, column + part_column, lane);
  const auto first_of = [&](int first_row, int chunk) {  // of the lane's elements in the boxes
    const int summand = lane % 4;
    return static_cast<unsigned>(first_row / kBox * static_cast<int>(sizeof(Box)) +
                                 summand * kBox * static_cast<int>(sizeof(double)) +
                                 (chunk ^ summand) * 16);
  };
  const unsigned of_a = first_of(part_row, Part::pair(lane));
  const unsigned of_b = first_of(part_column, lane / 8 % 2 * 4 + lane / 16) + lane / 4 % 2 * 8;
  Part part = {};
  RingPlace<kBuffers> place, before;
#  pragma unroll 1
  for (int piece = 0; piece < pieces; ++piece) {
    await(&shared.ring.arrived[place.buffer], place.parity);
    multiply_add(part, shared.buffers[place.buffer], of_a, of_b);
    __syncwarp();
    if (lane == 0) {
      arrive(&shared.ring.read[place.buffer]);
      const int next = piece - 1 + kBuffers;  // where the one before was
      if (warp == piece % kWarps && piece > 0 && next < pieces) {
        await(&shared.ring.read[before.buffer], before.parity);
        fill(before.buffer, next);
      }
    }
    before = place;
    place.next();
  }
  subtract(part, c, row + part_row, column + part_column, lane);
#endif
}

CUtensorMap boxes_of(DeviceView<const double> x) {
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(x.rows), static_cast<cuuint64_t>(x.cols)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(x.ld) * sizeof(double)};
  return tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, x.data, sizes, strides, {kBox, kBox},
                    CU_TENSOR_MAP_SWIZZLE_128B);
}

}  // namespace

void subtract_product(cudaStream_t stream, DeviceView<const double> a, DeviceView<const double> b,
                      DeviceView<double> c) {
  const TilesOfC tiles = {static_cast<int>(quotient_up(c.rows, Index{kRows})),
                          static_cast<int>(quotient_up(c.cols, Index{kColumns}))};
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(tiles.count());
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(Shared);
  launch_kernel(stream, shape, "subtract_product", subtract_product_kernel, boxes_of(a),
                boxes_of(b), tiles, static_cast<int>(a.cols / kBox), c);
}

}  // namespace overlapack::cuda
