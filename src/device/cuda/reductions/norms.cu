// Norms of device matrices.
#include "device/cuda/reductions/reduce.cuh"
#include "device/cuda/reductions/reduce_scratch.hpp"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

/// The larger of two numbers, or a NaN if one is.
template <class R>
__device__ R larger(R x, R y) {
  return x < y || y != y ? y : x;
}

/// What the reductions to one number have in common.
template <class R>
struct ToNumber {
  using Value = R;
  using Result = R;
  __device__ R result(R value, Index) const { return value; }
};

/// Twice the same elements do not change the largest one.
template <class R>
struct ToLargest : ToNumber<R> {
  __device__ R identity() const { return 0; }
  __device__ R operator()(R x, R y) const { return larger(x, y); }
  __device__ R twice(R value) const { return value; }
};

/// Of numbers that are not negative.
template <class R>
struct Largest : ToLargest<R> {
  __device__ void fold(R& value, R x) const { value = larger(value, x); }
};

template <class T>
struct LargestModulus : ToLargest<DeviceReal<T>> {
  __device__ void fold(DeviceReal<T>& value, T x) const { value = larger(value, modulus(x)); }
};

/// In the sense of |re| + |im|.
template <class T>
struct LargestCheapModulus : ToLargest<DeviceReal<T>> {
  __device__ void fold(DeviceReal<T>& value, T x) const { value = larger(value, abs1(x)); }
};

template <class T>
struct SumOfModuli : ToNumber<DeviceReal<T>> {
  using R = DeviceReal<T>;
  __device__ R identity() const { return 0; }
  __device__ void fold(R& value, T x) const { value += modulus(x); }
  __device__ R operator()(R x, R y) const { return x + y; }
};

/// Sums of a whole symmetric matrix's columns from those of a strict triangle's, its rows' and the
/// diagonal.
template <class T>
struct SumWithOtherTriangle : SumOfModuli<T> {
  using R = DeviceReal<T>;
  const T* a;
  Index ld;
  bool hermitian;
  const R* row_sums;
  __device__ R result(R value, Index j) const {
    const T x = a[j + j * ld];
    return value + row_sums[j] + (hermitian ? modulus(real_part(x)) : modulus(x));
  }
};

/// Where squares neither overflow nor underflow, even 2^40 of them together, and factors that bring
/// the squares of other numbers there. Powers of two, so scaling is exact.
template <class R>
struct SquareRange;
template <>
struct SquareRange<float> {
  static constexpr float least = 0x1p-60f, largest = 0x1p+40f, enlarge = 0x1p+90f,
                         shrink = 0x1p-90f;
};
template <>
struct SquareRange<double> {
  static constexpr double least = 0x1p-500, largest = 0x1p+480, enlarge = 0x1p+600,
                          shrink = 0x1p-600;
};

/// Three sums of squares (Blue, ACM TOMS 4, 1978; ?lassq has them since LAPACK 3.10): of numbers
/// that are small, times enlarge^2; of ordinary ones, and of NaNs; and of large ones, times
/// shrink^2. Unlike a running scale they need no division and no comparison with what came before,
/// so they may be joined in any order.
template <class R>
struct Squares {
  R small, ordinary, large;
};

template <class T>
struct SumOfSquares {
  using R = DeviceReal<T>;
  using Range = SquareRange<R>;
  using Value = Squares<R>;
  using Result = R;
  __device__ Value identity() const { return {0, 0, 0}; }
  __device__ void fold(Value& value, R x) const {
    const R size = fabs(x);
    if (size > Range::largest) {
      value.large = fma(size * Range::shrink, size * Range::shrink, value.large);
    } else if (size < Range::least) {
      value.small = fma(size * Range::enlarge, size * Range::enlarge, value.small);
    } else {
      value.ordinary = fma(size, size, value.ordinary);
    }
  }
  __device__ void fold(Value& value, Complex<R> x) const {
    fold(value, x.re);
    fold(value, x.im);
  }
  __device__ Value operator()(Value x, Value y) const {
    return {x.small + y.small, x.ordinary + y.ordinary, x.large + y.large};
  }
  __device__ Value twice(Value x) const { return {2 * x.small, 2 * x.ordinary, 2 * x.large}; }
  /// Beside large numbers small ones are nothing. An infinite sum stays one, a NaN too.
  __device__ R result(Value x, Index) const {
    if (x.large != 0) {
      return sqrt(x.large + x.ordinary * Range::shrink * Range::shrink) / Range::shrink;
    }
    if (x.ordinary == 0) return sqrt(x.small) / Range::enlarge;
    return sqrt(x.ordinary + x.small / Range::enlarge / Range::enlarge);
  }
};

template <class T>
ReducedMatrix<typename DeviceScalar<T>::type> whole(DeviceView<const T> a) {
  return {device_cast(a.data), a.rows, a.cols, a.ld};
}

/// The strict triangle of a symmetric or Hermitian matrix, and what `reduce` may want to know of
/// the rest.
template <class T>
ReducedMatrix<typename DeviceScalar<T>::type> triangle(Symmetry symmetry, Uplo uplo,
                                                       DeviceView<const T> a) {
  auto result = whole(a);
  result.part = uplo == Uplo::lower ? Part::lower : Part::upper;
  result.hermitian = symmetry == Symmetry::hermitian;
  return result;
}

constexpr std::size_t kPartBytes = kReduceBlocks * kTileLines * sizeof(float),
                      kTotalBytes = kReduceBlocks * sizeof(double),
                      kTicketBytes = (kReduceBlocks + 1) * sizeof(unsigned);
static_assert(kPartBytes >= kReduceBlocks * sizeof(Squares<double>), "of a whole matrix");

ReduceMemory memory_of(const ReduceScratch& scratch) {
  return {scratch.parts(), scratch.totals(), static_cast<unsigned*>(scratch.tickets())};
}

template <class T>
void enqueue(CudaQueue& queue, const ColumnNorms<T>& op) {
  reduce<Lines::columns>(queue.stream(), op.kName, memory_of(queue.reduce_scratch()),
                         LargestCheapModulus<typename DeviceScalar<T>::type>{}, EachLine{},
                         whole(op.a), op.norms.data);
}

template <class T>
void enqueue(CudaQueue& queue, const MatrixNorm<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using R = Real<T>;
  cudaStream_t const stream = queue.stream();
  const char* const what = op.kName;
  R *const work = op.work.data, *const result = op.result.data;
  if (op.a.empty()) {
    check(cudaMemsetAsync(result, 0, sizeof(R), stream), what);
    return;
  }
  const ReduceMemory memory = memory_of(queue.reduce_scratch());
  const bool general = !op.given_by_triangle();
  const auto matrix = general ? whole(op.a) : triangle(op.symmetry, op.uplo, op.a);
  if (op.norm == Norm::max) {
    reduce<Lines::one>(stream, what, memory, LargestModulus<D>{}, EachLine{}, matrix, result);
  } else if (op.norm == Norm::frobenius) {
    reduce<Lines::one>(stream, what, memory, SumOfSquares<D>{}, EachLine{}, matrix, result);
  } else if (!general) {
    reduce<Lines::rows>(stream, what, memory, SumOfModuli<D>{}, EachLine{}, matrix, work);
    const SumWithOtherTriangle<D> sum{{}, matrix.data, matrix.ld, matrix.hermitian, work};
    reduce<Lines::columns>(stream, what, memory, sum, Largest<R>{}, matrix, result);
  } else if (op.norm == Norm::one) {
    reduce<Lines::columns>(stream, what, memory, SumOfModuli<D>{}, Largest<R>{}, matrix, result);
  } else {
    reduce<Lines::rows>(stream, what, memory, SumOfModuli<D>{}, Largest<R>{}, matrix, result);
  }
}

}  // namespace

ReduceScratch::ReduceScratch(cudaStream_t stream)
    : memory_(kPartBytes + kTotalBytes + kTicketBytes, "memory for reductions"),
      totals_(memory_.at(kPartBytes)),
      tickets_(memory_.at(kPartBytes + kTotalBytes)) {
  check(cudaMemsetAsync(tickets_, 0, kTicketBytes, stream), "memory for reductions");
}

#define OVERLAPACK_INSTANTIATE(T) OVERLAPACK_LAUNCH(ColumnNorms<T>) OVERLAPACK_LAUNCH(MatrixNorm<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
