// What V is when the columns before a panel have been through an update, in terms of what
// elimination has left of it; as UpdateBases says.
//
// Everything here is small: k x k matrices, one for each panel. All precisions compute in double.
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kMaxVectors = 32;  // vectors
constexpr int kThreads = 256;
constexpr int kPairs =
    kMaxVectors * kMaxVectors / kThreads;  // elements of a k x k matrix of a thread

template <class E>
using Small = E[kMaxVectors][kMaxVectors + 1];

__device__ inline double square_modulus(double x) { return x * x; }
__device__ inline double square_modulus(Complex<double> x) { return fma(x.re, x.re, x.im * x.im); }

/// sign W^H W for the rows of a panel, one for each thread block.
template <class T, class E>
__global__ void __launch_bounds__(kThreads)
    gram_kernel(double sign, Index rows, int k, Index width, const T* w, Index ld, E* grams,
                Index grams_ld) {
  constexpr int kRows = 32;  // at a time
  __shared__ E part[kRows][kMaxVectors + 1];
  const int thread = static_cast<int>(threadIdx.x);
  const Index first = blockIdx.x * width, end = min(first + width, rows);
  E sums[kPairs];
#pragma unroll
  for (int q = 0; q < kPairs; ++q) sums[q] = from_real<E>(0);
  for (Index top = first; top < end; top += kRows) {
    __syncthreads();
    for (int e = thread; e < kRows * k; e += kThreads) {
      const Index row = top + e % kRows;
      E x = from_real<E>(0);
      if (row < end) convert(x, w[row + e / kRows * ld]);
      part[e % kRows][e / kRows] = x;
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < kPairs; ++q) {
      const int e = thread + q * kThreads;
      if (e >= k * k) break;
      for (int i = 0; i < kRows; ++i) {
        sums[q] = add_conjugated(sums[q], part[i][e / k], part[i][e % k]);
      }
    }
  }
#pragma unroll
  for (int q = 0; q < kPairs; ++q) {
    const int e = thread + q * kThreads;
    if (e < k * k) grams[(blockIdx.x * k + e / k) * grams_ld + e % k] = scale(sums[q], sign);
  }
}

/// T := R with T = R^H R, of which the upper triangle counts; by a warp. Returns whether it is
/// positive definite.
template <class E>
__device__ bool factor(Small<E>& t, int k, int lane) {
  bool definite = true;
  for (int j = 0; j < k; ++j) {
    const double pivot = real_part(t[j][j]);
    definite = definite && pivot > 0;
    const double inverse = 1 / sqrt(pivot);
    __syncwarp();
    if (lane >= j && lane < k) t[j][lane] = scale(t[j][lane], inverse);
    __syncwarp();
    for (int i = j + 1; i <= lane && lane < k; ++i) {
      t[i][lane] = subtract_product(t[i][lane], conjugate(t[j][i]), t[j][lane]);
    }
    __syncwarp();
  }
  return definite;
}

/// X := R^-1 with zeros below the diagonal; each lane has a column.
template <class E>
__device__ void invert(const Small<E>& r, Small<E>& x, int k, int lane) {
  if (lane >= k) return;
  for (int i = k - 1; i >= 0; --i) {
    E sum = from_real<E>(i == lane ? 1 : 0);
    for (int j = i + 1; j <= lane; ++j) sum = subtract_product(sum, r[i][j], x[j][lane]);
    x[i][lane] = scale(sum, 1 / real_part(r[i][i]));
  }
}

/// Base `first` + the number of the thread block: R^-1 of the sum of I and all Gram matrices
/// before.
template <class E>
__global__ void __launch_bounds__(kThreads)
    bases_kernel(Index first, int k, double limit, const E* grams, Index grams_ld, E* bases,
                 Index bases_ld, Index* unfit) {
  __shared__ Small<E> t, x;
  const Index base = first + blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  for (int e = thread; e < k * k; e += kThreads) {
    E sum = from_real<E>(e % k == e / k ? 1 : 0);
#pragma unroll 8
    for (Index p = 0; p < base; ++p) sum = add(sum, grams[(p * k + e / k) * grams_ld + e % k]);
    t[e % k][e / k] = sum;
  }
  __syncthreads();
  if (thread >= kWarp) return;
  double largest = thread < k ? fmax(real_part(t[thread][thread]), 1.0) : 1;
  const bool definite = factor<E>(t, k, thread);
  invert<E>(t, x, k, thread);
  __syncwarp();
  double largest_inverse = 0;  // diagonal element of T^-1
  for (int j = 0; j < k && thread < k; ++j) largest_inverse += square_modulus(x[thread][j]);
  largest_inverse = fmax(largest_inverse, 1.0);
  for (int apart = kWarp / 2; apart > 0; apart /= 2) {
    largest = fmax(largest, __shfl_xor_sync(kAllLanes, largest, apart));
    largest_inverse = fmax(largest_inverse, __shfl_xor_sync(kAllLanes, largest_inverse, apart));
  }
  if (thread == 0 && !(definite && largest * largest_inverse <= limit)) *unfit = 1;
  for (int j = 0; j < k && thread < k; ++j) {
    bases[(base * k + j) * bases_ld + thread] = x[thread][j];
  }
}

template <class T>
void enqueue(CudaQueue& queue, const UpdateBases<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using E = DoubleScalar<D>;
  const Index k = op.vectors(), panels = quotient_up(op.w.rows, op.width);
  E* const all = device_cast(op.grams.data);
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(panels);
  shape.threads = kThreads;
  launch_kernel(queue.stream(), shape, op.kName, gram_kernel<D, E>, static_cast<double>(op.sign),
                op.w.rows, static_cast<int>(k), op.width, device_cast(op.w.data), op.w.ld,
                all + op.first * k * op.grams.ld, op.grams.ld);
  const Index begin = op.first == 0 ? 0 : op.first + 1;
  shape.blocks = static_cast<unsigned>(op.first + panels + 1 - begin);
  launch_kernel(queue.stream(), shape, op.kName, bases_kernel<E>, begin, static_cast<int>(k),
                op.limit, static_cast<const E*>(all), op.grams.ld, device_cast(op.bases.data),
                op.bases.ld, op.unfit.data);
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(UpdateBases<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
