// Substitution with the triangular factor of one diagonal block, for those few blocks whose inverse
// is not good enough.
//
// Each warp solves x L^H = a for a few rows at a time (lower; L x = a for a few columns if upper,
// which is the same with U = L^H): x(j) = a(j) / L(j, j), a(c) -= x(j) conj(L(c, j)) for c > j. The
// lanes share the columns and keep them in registers. The factor comes from the caches.
#include <algorithm>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kWarpsPerBlock = 8;
constexpr Index kBlocks = 128;  // at most; about one per multiprocessor
constexpr int kVectors = 4;     // rows or columns that a warp solves for at a time
constexpr int kMaxOrder = 128;
constexpr int kElements = kMaxOrder / kWarp;  // of one vector, in one lane

/// Element j of vector i lies at data[i * vector_stride + j * element_stride].
template <class T>
struct Vectors {
  T* data;
  Index vector_stride, element_stride;
  __device__ T& at(Index i, Index j) const { return data[i * vector_stride + j * element_stride]; }
};

template <class R>
__device__ R broadcast(R x, int lane) {
  return __shfl_sync(kAllLanes, x, lane);
}
template <class R>
__device__ Complex<R> broadcast(Complex<R> x, int lane) {
  return {broadcast(x.re, lane), broadcast(x.im, lane)};
}

template <class R>
__device__ R quotient(R x, R y) {
  return x / y;
}
template <class R>
__device__ Complex<R> quotient(Complex<R> x, R y) {
  return {x.re / y, x.im / y};
}

/// `factor` as vectors: element c of vector j is L(c, j) or its conjugate U(j, c).
template <class T>
__global__ void __launch_bounds__(kWarpsPerBlock* kWarp)
    substitution_kernel(const DeviceReal<T>* condition, int n, Index count, Vectors<const T> factor,
                        Vectors<const T> a, Vectors<T> x) {
  if (*condition <= DeviceReal<T>(kTrustedCondition)) return;  // false for a NaN
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index warp = (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
  const Index warps = static_cast<Index>(gridDim.x) * kWarpsPerBlock;
  for (Index first = warp * kVectors; first < count; first += warps * kVectors) {
    T v[kVectors][kElements];  // element lane + q * kWarp of vector first + i
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int q = 0; q < kElements; ++q) {
        const int c = lane + q * kWarp;
        v[i][q] = first + i < count && c < n ? a.at(first + i, c) : from_real<T>(0);
      }
    }
#pragma unroll
    for (int p = 0; p < kElements; ++p) {  // columns j in [p * kWarp, (p + 1) * kWarp)
      for (int owner = 0; owner < kWarp && p * kWarp + owner < n; ++owner) {
        const int j = p * kWarp + owner;
        const DeviceReal<T> pivot = real_part(factor.at(j, j));
        T l[kElements];
#pragma unroll
        for (int q = p; q < kElements; ++q) {
          const int c = lane + q * kWarp;
          l[q] = c > j && c < n ? conjugate(factor.at(j, c)) : from_real<T>(0);
        }
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
          const T xj = quotient(broadcast(v[i][p], owner), pivot);
          if (lane == owner) v[i][p] = xj;
#pragma unroll
          for (int q = p; q < kElements; ++q) {
            if (q > p || lane > owner) v[i][q] = subtract_product(v[i][q], xj, l[q]);
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int q = 0; q < kElements; ++q) {
        const int c = lane + q * kWarp;
        if (first + i < count && c < n) x.at(first + i, c) = v[i][q];
      }
    }
  }
}

}  // namespace

template <class T>
void substitute_if_needed(cudaStream_t stream, Uplo uplo, DeviceView<const T> factor,
                          const Real<T>* condition, DeviceView<const T> a, DeviceView<T> x) {
  using D = typename DeviceScalar<T>::type;
  if (x.empty()) return;
  const bool lower = uplo == Uplo::lower;
  // Vectors are rows if lower and columns if upper.
  const auto vectors = [](auto* data, Index ld, bool rows) {
    return Vectors<std::remove_pointer_t<decltype(data)>>{data, rows ? 1 : ld, rows ? ld : 1};
  };
  const Index count = lower ? x.rows : x.cols;
  constexpr Index kPerBlock = kVectors * kWarpsPerBlock;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::min((count + kPerBlock - 1) / kPerBlock, kBlocks));
  shape.threads = kWarpsPerBlock * kWarp;
  launch(stream, shape, "substitution", substitution_kernel<D>, condition,
         static_cast<int>(factor.rows), count, vectors(device_cast(factor.data), factor.ld, !lower),
         vectors(device_cast(a.data), a.ld, lower), vectors(device_cast(x.data), x.ld, lower));
}

#define OVERLAPACK_INSTANTIATE(T)                                                             \
  template void substitute_if_needed(cudaStream_t, Uplo, DeviceView<const T>, const Real<T>*, \
                                     DeviceView<const T>, DeviceView<T>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
