// Substitution with a triangular matrix for a few right-hand sides, in one launch: A X = B in
// single precision. From an upper triangle both orders are turned around, so that all is forward
// substitution:
//
//   x(b) = A(b, b)^-1 (y(b) - sum over j < b of A(b, j) x(j)).
//
// A thread block has one block b of kOrder rows. As soon as some x(j) is in global memory, a flag
// there says so, and everybody who waits subtracts his share; A(b, j), which does not depend on it,
// is in registers by then. So what counts is the chain from one block to the next: a message, two
// small products and another message. The blocks on the diagonal are inverted while their turn has
// not come, in double precision, which makes a product with the inverse as good as substitution.
//
// Thread blocks start in the order of their numbers, and each waits for earlier ones only.
#include "device/cuda/arithmetic.cuh"
#include "device/cuda/gate.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/cuda/tile.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kOrder = kSubstitutionOrder;  // of a block
constexpr int kParts = 4;                // of the columns of a block: each thread has a row of one
constexpr int kWidth = kOrder / kParts;  // columns of a part
constexpr int kThreads = kOrder * kParts;
constexpr int kColumns = kSubstitutionColumns;  // right-hand sides of a thread block

/// The problem, in the order of forward substitution: element (i, j) of A is
/// a[i * row_step + j * column_step].
template <class T>
struct Substitution {
  Index n;
  const T* a;
  Index row_step, column_step;
  bool unit;  // A has ones on its diagonal, which are not stored
  T* x;       // element (i, c) is x[i * row_step + c * ld]
  Index ld;
  Index columns;
  Index* progress;  // 1 if the x of a block is there, by thread block
  Index chunks;     // of right-hand sides

  __device__ T element(Index i, Index j) const { return a[i * row_step + j * column_step]; }
  __device__ T* solution(Index i, Index c) const { return x + i * row_step + c * ld; }
};

template <class T>
struct Shared {
  using E = typename DoubleOf<T>::type;
  E inverse[kOrder][kOrder + 1];
  T diagonal[kOrder][kOrder + 1];
  T x[kColumns][kOrder];             // of block j
  T sums[kParts][kColumns][kOrder];  // - A(b, j) x(j) by parts
  E y[kColumns][kOrder];             // what is left of block b
  E products[kParts][kColumns][kOrder];
};

template <class T>
__device__ inline auto in_double(T x) {
  typename DoubleOf<T>::type y;
  convert(y, x);
  return y;
}

__device__ inline double one_over(double x) { return 1 / x; }
/// The square of what is in the range of single precision is in that of double precision.
__device__ inline Complex<double> one_over(Complex<double> x) {
  const double scale = 1 / fma(x.re, x.re, x.im * x.im);
  return {x.re * scale, -x.im * scale};
}

__device__ inline double shuffle_xor(double x, int mask) {
  return __shfl_xor_sync(kAllLanes, x, mask);
}
__device__ inline Complex<double> shuffle_xor(Complex<double> x, int mask) {
  return {__shfl_xor_sync(kAllLanes, x.re, mask), __shfl_xor_sync(kAllLanes, x.im, mask)};
}

template <class E>
__device__ inline E times(E x, E y) {
  return negate(subtract_product(from_real<E>(0), x, y));
}

/// inverse := diagonal^-1. Four neighbouring threads share a column c:
/// x(i) = (e_c(i) - sum over j < i of d(i, j) x(j)) / d(i, i).
template <class T>
__device__ void invert_diagonal(Shared<T>& shared) {
  using E = typename Shared<T>::E;
  constexpr int kSharers = kThreads / kOrder;
  const int c = static_cast<int>(threadIdx.x) / kSharers;
  const int part = static_cast<int>(threadIdx.x) % kSharers;
#pragma unroll 1
  for (int i = 0; i < kOrder; ++i) {
    E sum = from_real<E>(0);
    for (int j = part; j < i; j += kSharers) {
      sum = subtract_product(sum, in_double(shared.diagonal[i][j]), shared.inverse[j][c]);
    }
#pragma unroll
    for (int mask = 1; mask < kSharers; mask *= 2) {
      sum = add(sum, shuffle_xor(sum, mask));
    }
    if (i <= c) sum = from_real<E>(i == c);
    if (part == 0) {
      shared.inverse[i][c] = times(sum, one_over(in_double(shared.diagonal[i][i])));
    }
    __syncwarp();
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) substitution_kernel(Substitution<T> p) {
  using E = typename Shared<T>::E;
  extern __shared__ double2 memory[];
  Shared<T>& shared = *reinterpret_cast<Shared<T>*>(memory);
  const int t = static_cast<int>(threadIdx.x), r = t % kOrder, part = t / kOrder;
  const Index b = blockIdx.x / p.chunks, chunk = blockIdx.x % p.chunks;
  const Index row = b * kOrder + r, first_column = chunk * kColumns;
  const int count = static_cast<int>(min(p.columns - first_column, Index{kColumns}));

  for (int c = part; c < kOrder; c += kParts) {  // beyond order n that of a unit matrix
    const Index column = b * kOrder + c;
    const bool stored = row < p.n && (c < r || (c == r && !p.unit));
    shared.diagonal[r][c] = stored ? p.element(row, column) : from_real<T>(c == r);
  }
  __syncthreads();
  invert_diagonal(shared);

  const auto load = [&](T(&tile)[kWidth], Index j) {
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      const Index column = j * kOrder + part * kWidth + k;
      tile[k] = row < p.n ? p.element(row, column) : from_real<T>(0);
    }
  };
  T sums[kColumns], tile[kWidth], next[kWidth];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) sums[c] = from_real<T>(0);
  if (b > 0) load(tile, 0);
#pragma unroll 1
  for (Index j = 0; j < b; ++j) {
    if (j + 1 < b) load(next, j + 1);
    if (t == 0) wait_for(p.progress + j * p.chunks + chunk);
    __syncthreads();  // the flag, and nobody needs the x before
    if (part < count) shared.x[part][r] = *p.solution(j * kOrder + r, first_column + part);
    __syncthreads();
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      if (c >= count) break;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        sums[c] = subtract_product(sums[c], tile[k], shared.x[c][part * kWidth + k]);
      }
    }
#pragma unroll
    for (int k = 0; k < kWidth; ++k) tile[k] = next[k];
  }

#pragma unroll
  for (int c = 0; c < kColumns; ++c) shared.sums[part][c][r] = sums[c];
  __syncthreads();
  static_assert(kColumns == kParts, "a part for each right-hand side");
  const bool mine = part < count && row < p.n;  // x of row r and right-hand side `part`
  E y = mine ? in_double(*p.solution(row, first_column + part)) : from_real<E>(0);
#pragma unroll
  for (int s = 0; s < kParts; ++s) y = add(y, in_double(shared.sums[s][part][r]));
  shared.y[part][r] = y;
  __syncthreads();
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    if (c >= count) break;
    E product = from_real<E>(0);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      const int i = part * kWidth + k;
      if (i <= r) product = add(product, times(shared.inverse[r][i], shared.y[c][i]));
    }
    shared.products[part][c][r] = product;
  }
  __syncthreads();
  if (mine) {
    E x = from_real<E>(0);
#pragma unroll
    for (int s = 0; s < kParts; ++s) x = add(x, shared.products[s][part][r]);
    convert(*p.solution(row, first_column + part), x);
  }
  __syncthreads();
  if (t == 0) raise(p.progress + blockIdx.x);
}

}  // namespace

template <class T>
void substitute(cudaStream_t stream, Uplo uplo, Diag diag, DeviceView<const T> a, DeviceView<T> x,
                DeviceView<Index> progress) {
  using D = typename DeviceScalar<T>::type;
  const Index blocks = (a.rows + kOrder - 1) / kOrder, chunks = (x.cols + kColumns - 1) / kColumns;
  check(cudaMemsetAsync(progress.data, 0, sizeof(Index) * static_cast<std::size_t>(blocks * chunks),
                        stream),
        "substitution");
  Substitution<D> problem{
      a.rows, device_cast(a.data), 1,     a.ld, diag == Diag::unit, device_cast(x.data), x.ld,
      x.cols, progress.data,       chunks};
  if (uplo == Uplo::upper) {
    problem.a += (a.rows - 1) * (a.ld + 1);
    problem.x += a.rows - 1;
    problem.row_step = -1;
    problem.column_step = -a.ld;
  }
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(blocks * chunks);
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(Shared<D>);
  launch(stream, shape, "substitution", substitution_kernel<D>, problem);
}

#define OVERLAPACK_INSTANTIATE(T)                                                        \
  template void substitute(cudaStream_t, Uplo, Diag, DeviceView<const T>, DeviceView<T>, \
                           DeviceView<Index>);
OVERLAPACK_INSTANTIATE(float)
OVERLAPACK_INSTANTIATE(std::complex<float>)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
