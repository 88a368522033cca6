// Norms of the columns and rows of a device matrix.
#include "device/cuda/kernels.hpp"
#include "device/cuda/reduce.cuh"

namespace overlapack::cuda {
namespace {

__device__ inline float modulus(float x) { return fabsf(x); }
__device__ inline double modulus(double x) { return fabs(x); }
__device__ inline float modulus(Complex<float> x) { return hypotf(x.re, x.im); }
__device__ inline double modulus(Complex<double> x) { return hypot(x.re, x.im); }

/// The largest |re| + |im|; NaN if any is NaN.
template <class T>
struct LargestModulus {
  using R = DeviceReal<T>;
  __device__ R identity() const { return 0; }
  __device__ R map(T x) const { return cheap_modulus(x); }
  __device__ R operator()(R x, R y) const { return x < y || y != y ? y : x; }
};

template <class T>
struct SumOfModuli {
  using R = DeviceReal<T>;
  __device__ R identity() const { return 0; }
  __device__ R map(T x) const { return modulus(x); }
  __device__ R operator()(R x, R y) const { return x + y; }
};

}  // namespace

template <class T>
void column_norms(cudaStream_t stream, DeviceView<const T> a, Real<T>* norms) {
  reduce_columns(stream, "column_norms", LargestModulus<typename DeviceScalar<T>::type>{}, a.rows,
                 a.cols, device_cast(a.data), a.ld, norms);
}

template <class T>
void row_sums(cudaStream_t stream, DeviceView<const T> a, Real<T>* sums) {
  reduce_rows(stream, "row_sums", SumOfModuli<typename DeviceScalar<T>::type>{}, a.rows, a.cols,
              device_cast(a.data), a.ld, sums);
}

#define OVERLAPACK_INSTANTIATE(T)                                          \
  template void column_norms(cudaStream_t, DeviceView<const T>, Real<T>*); \
  template void row_sums(cudaStream_t, DeviceView<const T>, Real<T>*);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
