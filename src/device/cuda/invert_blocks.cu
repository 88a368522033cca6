// The inverses of the diagonal blocks of a Cholesky factor, all in one launch: a thread block for
// each of them.
//
// Y = L^-H has rows of tiles that solve Y L^H = I (triangle.cuh). A warp w has one of them, in
// which Y(w, k) is zero for k < w:
//
//   Y(w, k) = (I(w, k) - sum over w <= j < k of Y(w, j) L(k, j)^H) L(k, k)^-H.
//
// Row i of |L^-1| |L| e is then a sum over column i of |Y|; the largest is Skeel's condition
// number.
//
// All precisions compute in double.
#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/triangle.cuh"

namespace overlapack::cuda {
namespace {

__device__ inline double modulus(double x) { return fabs(x); }
__device__ inline double modulus(Complex<double> x) { return hypot(x.re, x.im); }

template <class E>
struct Memory {
  static constexpr int kOrder = kTiles<E> * kTile;
  TriangleMemory<E> triangle;
  double row_sums[kOrder];           // |L| e
  double growth[kTiles<E>][kOrder];  // [w][i]: what the columns of warp w add to row i
  unsigned condition;
};

/// The sum over lanes: of each group that differ in the bits `least` to `most` of their numbers.
__device__ inline double sum_over(double x, int least, int most) {
  for (int apart = least; apart <= most; apart *= 2) x += __shfl_xor_sync(kAllLanes, x, apart);
  return x;
}

/// Row `warp` of tiles of |L| e.
template <class E>
__device__ void sum_rows(Memory<E>& memory, int warp, int lane) {
  double sums[2] = {0, 0};  // of the rows h of the lane
  for (int k = 0; k <= warp; ++k) {
    const Fragment<E> l = k == warp ? memory.triangle.diagonal[k].load(lane)
                                    : memory.triangle.column(k)[warp - k - 1].load(lane);
    for_each_element([&](int h, int j, int e) { sums[h] += modulus(l.get(h, j, e)); });
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const double sum = sum_over(sums[h], 1, 2);
    if (lane % 4 == 0) memory.row_sums[warp * kTile + fragment_row(lane, h)] = sum;
  }
}

template <class T>
__global__ void __launch_bounds__(kTiles<typename DoubleOf<T>::type>* kWarp)
    invert_blocks_kernel(Index n, int order, Trapezoid<const T> factor, T* inverses, Index ld,
                         DeviceReal<T>* conditions) {
  using E = typename DoubleOf<T>::type;
  constexpr int kCount = kTiles<E>;
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E>*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, w = t / kWarp;
  const Index first = Index{blockIdx.x} * order;
  factor.data = factor.at(first, first);
  const Triangle<T> triangle{static_cast<int>(min(Index{order}, n - first)), false, factor};
  const int tiles = triangle.tiles();
  load_triangle(memory.triangle, triangle, w, lane);
  invert_diagonal(memory.triangle, triangle, w, lane);
  if (t == 0) memory.condition = 0;
  __syncthreads();

  if (w < tiles) {
    sum_rows(memory, w, lane);
    __syncwarp();
    double row_sums[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) row_sums[h] = memory.row_sums[w * kTile + fragment_row(lane, h)];
    Fragment<E> y[kCount];  // y[j] belongs to column k + j in step k
#pragma unroll
    for (int j = 0; j < kCount; ++j) y[j] = zero_fragment<E>();
    for_each_element([&](int h, int j, int e) {
      y[0].set(h, j, e, from_real<E>(fragment_row(lane, h) == fragment_column(lane, j, e)));
    });
#pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
      Fragment<E> x = zero_fragment<E>();
      if (k >= w) {
        multiply_add_lower(x, y[0], memory.triangle.inverse[k].load(lane), x);
#pragma unroll
        for (int j = 1; j < kCount; ++j) {
          if (j >= tiles - k) break;
          multiply_add(y[j - 1], x, memory.triangle.column(k)[j - 1].load(lane), y[j]);
        }
      }
      double growth[2][2] = {};  // of rows j, e of L^-1
      for_each_element([&](int h, int j, int e) {
        growth[j][e] += modulus(x.get(h, j, e)) * row_sums[h];
        const int row = k * kTile + fragment_column(lane, j, e);
        const int column = w * kTile + fragment_row(lane, h);
        if (row >= triangle.n || column >= triangle.n) return;
        convert(inverses[row + (first + column) * ld], conjugate(x.get(h, j, e)));
      });
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const double sum = sum_over(growth[j][e], 4, 16);
          if (lane < 4) memory.growth[w][k * kTile + fragment_column(lane, j, e)] = sum;
        }
      }
    }
  }
  __syncthreads();
  if (t < triangle.n) {
    double growth = 0;
    for (int from = 0; from <= t / kTile; ++from) growth += memory.growth[from][t];
    // The largest of numbers that are not negative, or NaN: that of their bits.
    atomicMax(&memory.condition, __float_as_uint(fabsf(static_cast<float>(growth))));
  }
  __syncthreads();
  if (t == 0) conditions[blockIdx.x] = __uint_as_float(memory.condition);
}

}  // namespace

template <class T>
void invert_blocks(cudaStream_t stream, Uplo uplo, DeviceView<const T> factor,
                   DeviceView<T> inverses, Real<T>* conditions) {
  using D = typename DeviceScalar<T>::type;
  using E = typename DoubleOf<D>::type;
  const Index order = inverses.rows;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>((factor.cols + order - 1) / order);
  shape.threads = kTiles<E> * kWarp;
  shape.shared_bytes = sizeof(Memory<E>);
  launch(stream, shape, "invert_blocks", invert_blocks_kernel<D>, factor.rows,
         static_cast<int>(order),
         Trapezoid<const D>(device_cast(factor.data), factor.ld, uplo == Uplo::upper),
         device_cast(inverses.data), inverses.ld, conditions);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template void invert_blocks(cudaStream_t, Uplo, DeviceView<const T>, DeviceView<T>, Real<T>*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
