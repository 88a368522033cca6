// y - A x for a Hermitian matrix of which a triangle is given. Each of its numbers is read once and
// serves twice, as A(i, j) for y(i) and as A(j, i) for y(j): cuBLAS's symv reads large matrices at
// half the rate of the memory, so that it takes no less than a product with all of A.
//
// A thread block has some columns and many rows of the triangle, a thread a row at a time. What
// they bring for rows and for columns is written for each thread block, and added by a second
// kernel, in an order that is always the same.
#include "device/cuda/fused/fused.hpp"
#include "device/cuda/parts/lanes.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / kWarp;
constexpr int kRows = 512;  // of a thread block
constexpr int kParts = 8;   // of what is added for an element of y
template <class T>
constexpr int kColumns = sizeof(T) == 16 ? 16 : 32;

template <class T>
struct Problem {
  bool lower;
  Index n;
  const T* a;
  Index ld;
  const T* x;
  T* y;
  T* of_rows;     // element (i, b): what the columns of thread blocks (., b) bring for y(i)
  T* of_columns;  // element (j, b): what the rows of thread blocks (b, .) bring for y(j)
};
template <class T>
__host__ __device__ constexpr Index blocks_of_columns(Index n) {
  return (n + kColumns<T> - 1) / kColumns<T>;
}

/// The rows of a block of columns, which begin with its first column or end with its last one.
template <class T>
__device__ inline Range rows_of(const Problem<T>& p, Index first_column) {
  const Index end = min(first_column + kColumns<T>, p.n);
  return p.lower ? Range{first_column, p.n} : Range{0, end};
}

template <class T>
__global__ void __launch_bounds__(kThreads) hemv_kernel(Problem<T> p) {
  constexpr int kNumbersInFlight = 16;  // numbers on their way to a thread
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const Index first_column = Index{blockIdx.y} * kColumns<T>;
  const Range all = rows_of(p, first_column);
  const Range rows = {all.first + Index{blockIdx.x} * kRows,
                      min(all.last, all.first + (Index{blockIdx.x} + 1) * kRows)};
  if (rows.first >= rows.last) return;

  __shared__ T x[kColumns<T>];
  __shared__ T sums[kWarps][kColumns<T>];
  if (t < kColumns<T>) {
    x[t] = first_column + t < p.n ? p.x[first_column + t] : from_real<T>(0);
  }
  __syncthreads();

  T of_columns[kColumns<T>];
#pragma unroll
  for (T& sum : of_columns) sum = from_real<T>(0);
  const Index last_column = first_column + kColumns<T> - 1;
  const bool inside =
      last_column < p.n && (p.lower ? rows.first > last_column : rows.last <= first_column);
#pragma unroll 1
  for (Index i = rows.first + t; i < rows.last; i += kThreads) {
    const T* const row = p.a + i + first_column * p.ld;
    const T xi = p.x[i];
    T of_row = from_real<T>(0);
#pragma unroll
    for (int c = 0; c < kColumns<T>; c += kNumbersInFlight) {
      T a[kNumbersInFlight];
      if (inside) {
#pragma unroll
        for (int k = 0; k < kNumbersInFlight; ++k) a[k] = row[(c + k) * p.ld];
#pragma unroll
        for (int k = 0; k < kNumbersInFlight; ++k) {
          of_row = add_product(of_row, a[k], x[c + k]);
          of_columns[c + k] = add_conjugated(of_columns[c + k], xi, a[k]);
        }
        continue;
      }
      const int diagonal = static_cast<int>(i - first_column) - c;
      const int end = static_cast<int>(min(p.n - first_column, Index{kColumns<T>})) - c;
      const auto is_given = [&](int k) {
        return k < end && (p.lower ? k <= diagonal : k >= diagonal);
      };
#pragma unroll
      for (int k = 0; k < kNumbersInFlight; ++k) {
        if (is_given(k)) a[k] = row[(c + k) * p.ld];
      }
#pragma unroll
      for (int k = 0; k < kNumbersInFlight; ++k) {
        if (!is_given(k)) continue;
        if (k == diagonal) a[k] = from_real<T>(real_part(a[k]));
        of_row = add_product(of_row, a[k], x[c + k]);
        if (k != diagonal) of_columns[c + k] = add_conjugated(of_columns[c + k], xi, a[k]);
      }
    }
    p.of_rows[i + Index{blockIdx.y} * p.n] = of_row;
  }

  T sum = sum_of_mine<kColumns<T>>(of_columns, lane);
#pragma unroll
  for (int other = kColumns<T>; other < kWarp; other *= 2)
    sum = add(sum, of_other_lane(sum, other));
  if (lane < kColumns<T>) sums[warp][lane] = sum;
  __syncthreads();
  if (t < kColumns<T> && first_column + t < p.n) {
    for (int w = 1; w < kWarps; ++w) sum = add(sum, sums[w][t]);
    p.of_columns[first_column + t + Index{blockIdx.x} * p.n] = sum;
  }
}

/// A warp's lanes have neighbouring elements of y, its warps parts of what there is to add.
template <class T>
__global__ void __launch_bounds__(kWarp* kParts) add_kernel(Problem<T> p) {
  __shared__ T sums[kParts][kWarp];
  const int lane = static_cast<int>(threadIdx.x) % kWarp,
            part = static_cast<int>(threadIdx.x) / kWarp;
  const Index i = Index{blockIdx.x} * kWarp + lane;
  T sum = from_real<T>(0);
  if (i < p.n) {
    const Index mine = i / kColumns<T>;
    const Range of_rows = p.lower ? Range{0, mine + 1} : Range{mine, blocks_of_columns<T>(p.n)};
#pragma unroll 4
    for (Index b = of_rows.first + part; b < of_rows.last; b += kParts) {
      sum = add(sum, p.of_rows[i + b * p.n]);
    }
    const Range rows = rows_of(p, mine * kColumns<T>);
    const Index blocks = (rows.last - rows.first + kRows - 1) / kRows;
#pragma unroll 4
    for (Index b = part; b < blocks; b += kParts) sum = add(sum, p.of_columns[i + b * p.n]);
  }
  sums[part][lane] = sum;
  __syncthreads();
  if (part != 0 || i >= p.n) return;
  for (int other = 1; other < kParts; ++other) sum = add(sum, sums[other][lane]);
  p.y[i] = add(p.y[i], negate(sum));
}

template <class T>
void enqueue(CudaQueue& queue, const Hemv<T>& op) {
  using D = typename DeviceScalar<T>::type;
  const Index n = op.a.rows, blocks = blocks_of_columns<D>(n);
  D* const of_rows = device_cast(op.work.data);
  const Problem<D> problem{
      op.uplo == Uplo::lower, n,       device_cast(op.a.data), op.a.ld, device_cast(op.x.data),
      device_cast(op.y.data), of_rows, of_rows + n * blocks};
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(n, Index{kRows}));
  shape.blocks_y = static_cast<unsigned>(blocks);
  shape.threads = kThreads;
  launch_kernel(queue.stream(), shape, op.kName, hemv_kernel<D>, problem);
  LaunchShape adding;
  adding.blocks = static_cast<unsigned>(quotient_up(n, Index{kWarp}));
  adding.threads = kWarp * kParts;
  launch_kernel(queue.stream(), adding, op.kName, add_kernel<D>, problem);
}

}  // namespace

template <class T>
Index hemv_work(Index n) {
  using D = typename DeviceScalar<T>::type;
  return n * (blocks_of_columns<D>(n) + quotient_up(n, Index{kRows}));
}

#define OVERLAPACK_INSTANTIATE(T)     \
  template Index hemv_work<T>(Index); \
  OVERLAPACK_LAUNCH(Hemv<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
