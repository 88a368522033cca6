// The inverses of the diagonal blocks of a Cholesky factor, all in one launch: a thread block for
// each of them (inverse.cuh), which also computes Skeel's condition number, the largest element of
// |L^-1| |L| e.
//
// All precisions compute in double.
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/inverse.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

template <class E>
struct Memory {
  TriangleMemory<E, kTiles<E>> triangle;
  InverseMemory<E> inverse;
  double row_sums[InverseMemory<E>::kOrder];  // |L| e
  unsigned condition;
};

/// Of a tile on the diagonal, by the warp that has loaded it.
template <class E>
__device__ void make_diagonal_real(Rows<E>& tile, int lane) {
  __syncwarp();
  if (lane < kTile) tile.row(lane)[lane] = from_real<E>(real_part(tile.row(lane)[lane]));
  __syncwarp();
}

/// Row w of tiles of |L| e. One warp.
template <class E>
__device__ void sum_rows(Memory<E>& memory, int w, int lane) {
  double sums[2] = {0, 0};  // of the rows h of the lane
  for (int k = 0; k <= w; ++k) {
    const Fragment<E> l = k == w ? memory.triangle.diagonal[k].load(lane)
                                 : memory.triangle.column(k)[w - k - 1].load(lane);
    for_each_element([&](int h, int j, int e) { sums[h] += modulus(l.get(h, j, e)); });
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    for (int apart = 1; apart < 4; apart *= 2) {  // four lanes share a row
      sums[h] += __shfl_xor_sync(kAllLanes, sums[h], apart);
    }
    if (lane % 4 == 0) memory.row_sums[w * kTile + fragment_row(lane, h)] = sums[h];
  }
}

template <class T>
__global__ void __launch_bounds__(kTiles<DoubleScalar<T>>* kWarp)
    invert_blocks_kernel(Index n, int order, Trapezoid<const T> factor, T* inverses, Index ld,
                         DeviceReal<T>* conditions) {
  using E = DoubleScalar<T>;
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E>*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const Index first = Index{blockIdx.x} * order;
  factor.data = factor.at(first, first);
  const Triangle<T> triangle{static_cast<int>(min(Index{order}, n - first)), false, factor};
  const int size = triangle.n, tiles = triangle.tiles();
  load_triangle(memory.triangle, triangle, warp, lane);
  if (warp < tiles) make_diagonal_real(memory.triangle.diagonal[warp], lane);
  invert_diagonal(memory.triangle, triangle, warp, lane);
  if (t == 0) memory.condition = 0;
  __syncthreads();
  invert_triangle(memory.inverse, memory.triangle, tiles, warp, lane);
  if (warp < tiles) sum_rows(memory, warp, lane);
  __syncthreads();

  if (t < size) {
    double growth = 0;
    for (int j = 0; j <= t; ++j) growth += modulus(memory.inverse.at(t, j)) * memory.row_sums[j];
    // The largest of numbers that are not negative, or NaN: that of their bits.
    atomicMax(&memory.condition, __float_as_uint(fabsf(static_cast<float>(growth))));
  }
  for (int j = warp; j < size; j += kTiles<E>) {
    for (int i = lane; i < size; i += kWarp) {
      const E x = i < j ? from_real<E>(0) : memory.inverse.at(i, j);
      convert(inverses[i + (first + j) * ld], x);
    }
  }
  __syncthreads();
  if (t == 0) conditions[blockIdx.x] = __uint_as_float(memory.condition);
}

template <class T>
void enqueue(CudaQueue& queue, const InvertBlocks<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using E = DoubleScalar<D>;
  const Index order = op.inverses.rows;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(op.factor.cols, order));
  shape.threads = kTiles<E> * kWarp;
  shape.shared_bytes = shared_by_all<Memory<E>>();
  launch_kernel(queue.stream(), shape, op.kName, invert_blocks_kernel<D>, op.factor.rows,
                static_cast<int>(order), Trapezoid<const D>(op.factor, op.uplo == Uplo::upper),
                device_cast(op.inverses.data), op.inverses.ld, op.conditions.data);
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(InvertBlocks<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
