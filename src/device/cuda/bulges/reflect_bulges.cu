// Z := Q Z by blocks of reflectors, for any bandwidth. (A few have a kernel of their own, see
// reflect_by_tiles.cu.)
//
// Columns of Z are independent. A thread has one of them, and takes it through all blocks, from the
// last group of sweeps to the first, and in a group down the matrix. The rows that a block touches
// are in shared memory. From one block to the next they move by a bandwidth. The warp brings and
// takes them with its lanes side by side in a column. W = V^H Z of a column is in registers, where
// it becomes T W.
//
// What bounds the speed: elements of V and T are read from shared memory for each product, by all
// lanes at once, up to four in a load.
#include "device/cuda/bulges/blocks.cuh"
#include "device/cuda/bulges/bulges.hpp"
#include "device/cuda/panels/householder.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kGroup = static_cast<int>(kBulgeGroup);
constexpr int kRows = static_cast<int>(kChaseBandwidth) + kGroup - 1;  // of a block
constexpr int kPiece = 8;  // columns of a block that are skipped together where they are zero

template <class T>
constexpr int kWarps = sizeof(T) == 16 ? 2 : 4;
template <class T>
constexpr int kThreads = kWarps<T>* kWarp;

template <class T>
struct alignas(16) Row {
  T x[kGroup];
};
template <class T>
struct Memory {
  Row<T> v[kRows];
  Row<T> t[kGroup];                       // [j].x[i]: element (i, j)
  T window[kWarps<T>][kRows][kWarp + 1];  // rows of Z, by lanes
};

template <class T>
struct Operands {
  Index n;
  int width, group;
  T* v;
  Index ldv;
  T* z;
  Index ldz, columns;
};

template <class T>
__device__ void load_block(const ReflectorBlock<T>& block, Memory<T>& memory) {
  const T zero = from_real<T>(0);
  for (int e = static_cast<int>(threadIdx.x); e < kGroup * kRows; e += kThreads<T>) {
    const int i = e % kRows, j = e / kRows;
    if (block.has(i, j)) {
      start_copy(&memory.v[i].x[j], block.at(i, j));
    } else {
      memory.v[i].x[j] = zero;
    }
  }
  for (int e = static_cast<int>(threadIdx.x); e < kGroup * kGroup; e += kThreads<T>) {
    const int i = e % kGroup, j = e / kGroup;
    if (block.has_factor(i, j)) {
      start_copy(&memory.t[j].x[i], static_cast<const T*>(block.factor_at(i, j)));
    } else {
      memory.t[j].x[i] = zero;
    }
  }
}

/// The columns of a warp.
template <class T>
struct Strip {
  T* z;
  Index ld;
  int columns;
  T (*window)[kWarp + 1];

  /// Rows of Z from `row` on to the window's from `first` on, and back. The lanes have rows.
  __device__ void load(Index row, int first, int last) const {
    for (int i = first + lane_of_warp(); i < last; i += kWarp) {
      for (int c = 0; c < columns; ++c) {
        start_copy(&window[i][c], static_cast<const T*>(z + row + (i - first) + c * ld));
      }
    }
  }
  __device__ void store(Index row, int last) const {
    for (int i = lane_of_warp(); i < last; i += kWarp) {
      for (int c = 0; c < columns; ++c) z[row + i + c * ld] = window[i][c];
    }
  }
  /// Row `by` becomes the first one. A lane has a column.
  __device__ void move_up(int by, int rows) const {
    const int c = lane_of_warp();
    for (int i = by; i < rows; ++i) window[i - by][c] = window[i][c];
  }
};

/// Whether columns of V from j on may have something in row i.
__device__ inline bool has_any(int i, int j, int width) { return i >= j && i < j + kPiece + width; }

/// The lane's column of the window: Z := Z - V T V^H Z.
template <class T>
__device__ void multiply(const Memory<T>& memory, T (*window)[kWarp + 1], int rows, int width) {
  const int lane = lane_of_warp();
  T w[kGroup];
#pragma unroll
  for (T& x : w) x = from_real<T>(0);
  for (int i = 0; i < rows; ++i) {
    const T z = window[i][lane];
#pragma unroll
    for (int j = 0; j < kGroup; j += kPiece) {
      if (!has_any(i, j, width)) continue;
#pragma unroll
      for (int l = j; l < j + kPiece; ++l) w[l] = add_conjugated(w[l], z, memory.v[i].x[l]);
    }
  }
  // In place: element i takes later ones alone.
#pragma unroll
  for (int j = 0; j < kGroup; ++j) {
    const T x = w[j];
    w[j] = from_real<T>(0);
#pragma unroll
    for (int i = 0; i <= j; ++i) w[i] = add_product(w[i], memory.t[j].x[i], x);
  }
  for (int i = 0; i < rows; ++i) {
    T z = window[i][lane];
#pragma unroll
    for (int j = 0; j < kGroup; j += kPiece) {
      if (!has_any(i, j, width)) continue;
#pragma unroll
      for (int l = j; l < j + kPiece; ++l) z = subtract_product(z, memory.v[i].x[l], w[l]);
    }
    window[i][lane] = z;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads<T>) reflect_bulges_kernel(Operands<T> op) {
  extern __shared__ __align__(16) char raw_memory[];
  Memory<T>& memory = *reinterpret_cast<Memory<T>*>(raw_memory);
  const int warp = warp_of_block();
  const Index column = static_cast<Index>(blockIdx.x) * kThreads<T> + warp * kWarp;
  const Index left = op.columns - column;
  const Strip<T> strip{op.z + column * op.ldz, op.ldz,
                       static_cast<int>(left < 0       ? 0
                                        : left < kWarp ? left
                                                       : Index{kWarp}),
                       memory.window[warp]};
  for (Index sweep = (op.n - 2) / op.group * op.group; sweep >= 0; sweep -= op.group) {
    const Index blocks = blocks_of_group(op.n, op.width, sweep);
    int there = 0;  // rows of the window
    for (Index k = 0; k < blocks; ++k) {
      const ReflectorBlock<T> block(op.v, op.ldv, op.n, op.width, op.group, sweep, k);
      load_block(block, memory);
      strip.load(block.first + there, there, block.rows);
      finish_copies();
      __syncthreads();
      multiply(memory, strip.window, block.rows, op.width);
      __syncthreads();
      const int done = k + 1 < blocks ? op.width : block.rows;
      strip.store(block.first, done);
      __syncwarp();
      strip.move_up(done, block.rows);
      there = block.rows - done;
      __syncwarp();
    }
  }
}

template <class T>
void enqueue(CudaQueue& queue, const ReflectBulges<T>& op) {
  using D = typename DeviceScalar<T>::type;
  if (op.v.rows < 2) return;
  if (op.bandwidth > kChaseBandwidth || op.group > kBulgeGroup) {
    throw DeviceError("reflect_bulges: the blocks are too large");
  }
  if (reflect_by_tiles(queue, op)) return;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(op.z.cols, kThreads<D>));
  shape.threads = kThreads<D>;
  shape.shared_bytes = shared_by_all<Memory<D>>();
  const Operands<D> operands{op.v.rows,
                             static_cast<int>(op.bandwidth),
                             static_cast<int>(op.group),
                             const_cast<D*>(device_cast(op.v.data)),
                             op.v.ld,
                             device_cast(op.z.data),
                             op.z.ld,
                             op.z.cols};
  launch_kernel(queue.stream(), shape, op.kName, reflect_bulges_kernel<D>, operands);
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(ReflectBulges<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
