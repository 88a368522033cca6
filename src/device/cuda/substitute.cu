// Substitution with a triangular matrix for a few right-hand sides, in one launch: A X = B in
// single precision. From an upper triangle both orders are turned around, so that all is forward
// substitution:
//
//   x(b) = A(b, b)^-1 (y(b) - sum over j < b of A(b, j) x(j)).
//
// A thread block has one block b of rows. As soon as some x(j) is there, as a message
// (message.cuh), everybody who waits for it subtracts his share; A(b, j), which does not depend on
// it, is in registers by then. So what counts is the chain from one block to the next: a message,
// two small products and another message. The blocks on the diagonal are inverted while their turn
// has not come, in double precision, which makes a product with the inverse as good as
// substitution.
//
// Thread blocks start in the order of their numbers, and each waits for earlier ones only.
#include "device/cuda/arithmetic.cuh"
#include "device/cuda/inverse.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/message.cuh"

namespace overlapack::cuda {
namespace {

template <class T>
constexpr int kOrder = kTiles<DoubleScalar<T>>* kTile;  // of a block
constexpr int kParts = 4;  // of the columns of a block: four lanes have a row
template <class T>
constexpr int kWidth = kOrder<T> / kParts;  // columns of a part
template <class T>
constexpr int kThreads = kOrder<T>* kParts;
constexpr int kColumns = kSubstitutionColumns;  // right-hand sides of a thread block

/// Words of a column of x(j).
template <class T>
constexpr int kWords = kOrder<T> * sizeof(T) / sizeof(Word::value);
static_assert(kWords<float> == kSubstitutionWords && kWords<Complex<float>> == kSubstitutionWords);
static_assert(kOrder<float> == kSubstitutionOrder<float> &&
              kOrder<Complex<float>> == kSubstitutionOrder<std::complex<float>>);

/// The problem, in the order of forward substitution.
template <class T>
struct Substitution {
  Index n;
  Trapezoid<const T> a;
  bool unit;  // A has ones on its diagonal, which are not stored
  T* x;       // element (i, c) is x[i * row_step + c * ld]
  Index row_step, ld;
  Index columns;
  Word* messages;  // zeros at first
  Index chunks;    // of right-hand sides

  __device__ T* solution(Index i, Index c) const { return x + i * row_step + c * ld; }
  /// Column c of x(j) of a chunk of right-hand sides.
  __device__ Word* message(Index j, Index chunk, int c) const {
    return messages + ((j * chunks + chunk) * kColumns + c) * kWords<T>;
  }
};

/// Column number k of a part. As many lie side by side as shared memory gives a lane at a time.
template <class E>
__device__ constexpr int column_of(int part, int k) {
  constexpr int kAtOnce = 16 / sizeof(E);
  return k / kAtOnce * (kAtOnce * kParts) + part * kAtOnce + k % kAtOnce;
}

template <class T>
struct Memory {
  using E = DoubleScalar<T>;
  InverseMemory<E> inverse;
  union {
    TriangleMemory<E, kTiles<E>> triangle;  // until the inverse is there
    struct {
      alignas(16) T x[2][kColumns][kOrder<T>];  // of the blocks j, alternately
      alignas(16) E y[kColumns][kOrder<T>];     // what is left of block b
    } step;
  };
};

template <class T>
__device__ inline auto in_double(T x) {
  DoubleScalar<T> y;
  convert(y, x);
  return y;
}

template <class R>
__device__ inline R of_other_lane(R x, int mask) {
  return __shfl_xor_sync(kAllLanes, x, mask);
}
template <class R>
__device__ inline Complex<R> of_other_lane(Complex<R> x, int mask) {
  return {of_other_lane(x.re, mask), of_other_lane(x.im, mask)};
}
/// The sum of what the parts of a row have, for all of them.
template <class E>
__device__ inline E sum_of_parts(E x) {
#pragma unroll
  for (int mask = 1; mask < kParts; mask *= 2) x = add(x, of_other_lane(x, mask));
  return x;
}

/// The value of a word once it is there.
__device__ inline unsigned long long await(const Word* from, bool near) {
  Word word = load(from);
  while (word.tagged == 0) {
    if (!near) leave_memory_to_others();
    word = load(from);
  }
  return word.value;
}

/// Sends row r of a column of x, if anybody waits for it. By whole warps.
__device__ inline void send(bool awaited, Word* message, int r, float x) {
  const float pair[2] = {x, of_other_lane(x, kParts)};
  unsigned long long value;
  memcpy(&value, pair, sizeof value);
  if (awaited && r % 2 == 0) store(message + r / 2, 1, value);
}
__device__ inline void send(bool awaited, Word* message, int r, Complex<float> x) {
  unsigned long long value;
  memcpy(&value, &x, sizeof value);
  if (awaited) store(message + r, 1, value);
}

template <class T>
__global__ void __launch_bounds__(kThreads<T>) substitution_kernel(Substitution<T> p) {
  using E = DoubleScalar<T>;
  constexpr int kNear = 3;  // blocks
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<T>*>(raw_memory);
  auto& step = memory.step;
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const int r = t / kParts, part = t % kParts;
  const Index b = blockIdx.x / p.chunks, chunk = blockIdx.x % p.chunks;
  const Index first = b * kOrder<T>, row = first + r, first_column = chunk * kColumns;
  const int count = static_cast<int>(min(p.columns - first_column, Index{kColumns}));

  Triangle<T> triangle{static_cast<int>(min(Index{kOrder<T>}, p.n - first)), p.unit, p.a};
  triangle.l.data = p.a.at(first, first);
  load_triangle(memory.triangle, triangle, warp, lane);
  invert_diagonal(memory.triangle, triangle, warp, lane);
  __syncthreads();
  invert_triangle(memory.inverse, memory.triangle, triangle.tiles(), warp, lane);
  __syncthreads();  // the triangle makes room for what a step needs

  static_assert(kColumns == kParts, "a part for each right-hand side");
  const bool mine = part < count && row < p.n;  // x of row r and right-hand side `part`
  E y = mine ? in_double(*p.solution(row, first_column + part)) : from_real<E>(0);
  T sums[kColumns];  // - A(b, j) x(j), this part of it
#pragma unroll
  for (int c = 0; c < kColumns; ++c) sums[c] = from_real<T>(0);

  const auto load_tile = [&](T(&tile)[kWidth<T>], Index j) {
    const T* const from = p.a.at(row, j * kOrder<T>);
#pragma unroll
    for (int k = 0; k < kWidth<T>; ++k) {
      tile[k] = row < p.n ? from[column_of<T>(part, k) * p.a.column_stride] : from_real<T>(0);
    }
  };
  const auto subtract = [&](const T(&tile)[kWidth<T>], Index j) {
    auto& x = step.x[j % 2];
    if (t < count * kWords<T>) {
      const int c = t / kWords<T>, word = t % kWords<T>;
      const unsigned long long value = await(p.message(j, chunk, c) + word, b - j <= kNear);
      reinterpret_cast<unsigned long long*>(x[c])[word] = value;
    }
    __syncthreads();  // and nobody needs the x before the last one
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      if (c >= count) break;
#pragma unroll
      for (int k = 0; k < kWidth<T>; ++k) {
        sums[c] = subtract_product(sums[c], tile[k], x[c][column_of<T>(part, k)]);
      }
    }
  };
  T tile[kWidth<T>];
  if (b > 0) load_tile(tile, 0);
#pragma unroll 1
  for (Index j = 0; j + 1 < b; ++j) {
    T next[kWidth<T>];
    load_tile(next, j + 1);
    subtract(tile, j);
#pragma unroll
    for (int k = 0; k < kWidth<T>; ++k) tile[k] = next[k];
  }
  // All that can be is in registers before the last message comes.
  E minus_inverse[kWidth<T>];
#pragma unroll
  for (int k = 0; k < kWidth<T>; ++k) {
    const int i = column_of<E>(part, k);
    minus_inverse[k] = i <= r ? negate(memory.inverse.at(r, i)) : from_real<E>(0);
  }
  if (b > 0) subtract(tile, b - 1);

#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    if (c >= count) break;
    const T sum = sum_of_parts(sums[c]);
    if (c == part) y = add(y, in_double(sum));
  }
  step.y[part][r] = y;
  __syncthreads();
  E x = from_real<E>(0);
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    if (c >= count) break;
    E products[2] = {from_real<E>(0), from_real<E>(0)};  // so that they need not wait
#pragma unroll
    for (int k = 0; k < kWidth<T>; ++k) {
      const int i = column_of<E>(part, k);
      if (i > r) continue;
      products[k % 2] = subtract_product(products[k % 2], minus_inverse[k], step.y[c][i]);
    }
    const E product = sum_of_parts(add(products[0], products[1]));
    if (c == part) x = product;
  }
  T rounded;
  convert(rounded, x);
  send(part < count && first + kOrder<T> < p.n, p.message(b, chunk, part), r, rounded);
  if (mine) *p.solution(row, first_column + part) = rounded;
}

}  // namespace

template <class T>
void substitute(cudaStream_t stream, Uplo uplo, Diag diag, DeviceView<const T> a, DeviceView<T> x,
                DeviceView<Index> progress) {
  using D = typename DeviceScalar<T>::type;
  const Index blocks = (a.rows + kOrder<D> - 1) / kOrder<D>;
  const Index chunks = (x.cols + kColumns - 1) / kColumns;
  const auto words = static_cast<std::size_t>(blocks * chunks * kColumns * kWords<D>);
  check(cudaMemsetAsync(progress.data, 0, sizeof(Word) * words, stream), "substitution");
  Substitution<D> problem{a.rows,
                          Trapezoid<const D>(device_cast(a.data), a.ld, false),
                          diag == Diag::unit,
                          device_cast(x.data),
                          1,
                          x.ld,
                          x.cols,
                          reinterpret_cast<Word*>(progress.data),
                          chunks};
  if (uplo == Uplo::upper) {
    problem.a.data += (a.rows - 1) * (a.ld + 1);
    problem.a.row_stride = -1;
    problem.a.column_stride = -a.ld;
    problem.x += a.rows - 1;
    problem.row_step = -1;
  }
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(blocks * chunks);
  shape.threads = kThreads<D>;
  shape.shared_bytes = sizeof(Memory<D>);
  launch(stream, shape, "substitution", substitution_kernel<D>, problem);
}

#define OVERLAPACK_INSTANTIATE(T)                                                        \
  template void substitute(cudaStream_t, Uplo, Diag, DeviceView<const T>, DeviceView<T>, \
                           DeviceView<Index>);
OVERLAPACK_INSTANTIATE(float)
OVERLAPACK_INSTANTIATE(std::complex<float>)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
