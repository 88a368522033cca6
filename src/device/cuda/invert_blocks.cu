// The inverses of the diagonal blocks of a triangular factor, all in one launch: a thread block for
// each of them, a thread for each column.
//
// Column c of X = L^-1 by forward substitution, L X = I:
//
//   x(i) = (e_c(i) - sum over j < i of L(i, j) x(j)) / L(i, i).
//
// All threads need the same L(i, j) at the same time, which comes from the caches. As soon as the
// inverse is there, row i of it and |L| e give row i of |L^-1| |L| e, whose largest element is
// Skeel's condition number.
//
// All precisions compute in double.
#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/cuda/tile.cuh"
#include "device/cuda/trapezoid.cuh"

namespace overlapack::cuda {
namespace {

__device__ inline double modulus(double x) { return fabs(x); }
__device__ inline double modulus(Complex<double> x) { return hypot(x.re, x.im); }

/// `order` threads; shared memory for an inverse and one number for each of its rows.
template <class T>
__global__ void invert_blocks_kernel(Index n, Trapezoid<const T> factor, T* inverses, Index ld,
                                     DeviceReal<T>* conditions) {
  using E = typename DoubleOf<T>::type;
  extern __shared__ double2 memory[];
  __shared__ unsigned condition;
  const int order = static_cast<int>(blockDim.x), c = static_cast<int>(threadIdx.x);
  E* const x = reinterpret_cast<E*>(memory);                              // row by row
  double* const row_sums = reinterpret_cast<double*>(x + order * order);  // |L| e
  const Index first = Index{blockIdx.x} * order;
  const int size = static_cast<int>(min(Index{order}, n - first));
  const auto l = [&](int i, int j) {
    const T stored = *factor.at(first + i, first + j);
    E value;
    convert(value, factor.mirrored ? conjugate(stored) : stored);
    return value;
  };

  const int warps_first = c / kWarp * kWarp;  // before it x is zero in all lanes
  for (int i = 0; i < size; ++i) {
    E sum = from_real<E>(c == i ? 1 : 0);
#pragma unroll 4
    for (int j = warps_first; j < i; ++j) {
      sum = subtract_product(sum, l(i, j), x[j * order + c]);
    }
    x[i * order + c] = scale(sum, 1 / real_part(l(i, i)));
  }
  double row_sum = 0;
  for (int j = 0; c < size && j <= c; ++j) row_sum += modulus(l(c, j));
  row_sums[c] = row_sum;
  if (c == 0) condition = 0;
  __syncthreads();

  if (c < size) {
    double growth = 0;
    for (int j = 0; j <= c; ++j) growth += modulus(x[c * order + j]) * row_sums[j];
    // The largest of numbers that are not negative, or NaN: that of their bits.
    atomicMax(&condition, __float_as_uint(fabsf(static_cast<float>(growth))));
    T* const column = inverses + (first + c) * ld;
    for (int i = 0; i < size; ++i) convert(column[i], x[i * order + c]);
  }
  __syncthreads();
  if (c == 0) conditions[blockIdx.x] = __uint_as_float(condition);
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
  shape.threads = static_cast<unsigned>(order);
  shape.shared_bytes = static_cast<std::size_t>(order) *
                       (static_cast<std::size_t>(order) * sizeof(E) + sizeof(double));
  launch(stream, shape, "invert_blocks", invert_blocks_kernel<D>, factor.rows,
         Trapezoid<const D>(device_cast(factor.data), factor.ld, uplo == Uplo::upper),
         device_cast(inverses.data), inverses.ld, conditions);
}

#define OVERLAPACK_INSTANTIATE(T) \
  template void invert_blocks(cudaStream_t, Uplo, DeviceView<const T>, DeviceView<T>, Real<T>*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
