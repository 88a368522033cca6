// Cholesky factorization of one diagonal block, and the inverse of its factor, in the registers of
// one thread block.
//
// The block is divided into 8 x 8 tiles and factored right-looking. Step k is, with tiles A(i, j),
//
//   1. A(k, k) = L(k, k) L(k, k)^H, and the inverse M of L(k, k);
//   2. L(i, k) = A(i, k) M^H             for i > k;
//   3. A(i, j) -= L(i, k) L(j, k)^H      for i >= j > k.
//
// The inverse comes from eliminating the rows of a unit matrix along with those of A: a row x of A
// becomes x L^-H, so the unit matrix becomes L^-H. Its row tile i first differs from the unit
// matrix in step i, when row tile i of A is finished. So one warp owns row tile i of both, one
// after the other, and keeps it in registers all the time, in the layout of tile.cuh: tiles are
// loaded from global memory once, at the start, and stored once, when they are final.
//
// Time goes into the chain of the small factorizations. Step k's is done by warp k alone (phase 1);
// two barriers let the other warps take part. Warp k + 1 has next to nothing to do in step k but
// its diagonal tile, which needs L(k + 1, k) only, its own: it does not wait at the second barrier
// but goes ahead and factors, while the others work on phase 3.
//
// Phase 2 multiplies with an inverse, which by itself is as stable as the tile is well conditioned.
// One step of iterative refinement makes the result as good as that of substitution (Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd ed., Theorem 12.3).
//
// All precisions compute in double: the FP64 tensor cores are no slower than the FP32 units.
// The upper triangle is handled as the lower one of the conjugate transpose: A = U^H U with
// U = L^H.
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/cuda/tile.cuh"

namespace overlapack::cuda {
namespace {

/// In a complex block of order 128 the tiles would not fit in the registers.
template <class E>
constexpr int kTiles = sizeof(E) == sizeof(double) ? 16 : 8;

/// What the warp of the diagonal tile tells the others in one step.
template <class E>
struct Step {
  Tile<E> factor;    ///< L, zeros above the diagonal
  Tile<E> inverse;   ///< M = L^-1
  int completed;     ///< number of columns before the first pivot that is not positive
  unsigned regular;  ///< bit j: pivot j is positive and finite
};
constexpr unsigned kAllRegular = (1u << kTile) - 1;

template <class E>
struct Shared {
  Step<E> step[2];  // taking turns: the next one is written while this one may still be read
  Tile<E> panel[kTiles<E> + 3];                // L(i, k); the last three are read ahead only
  float growth[kTiles<E>][kTiles<E> * kTile];  // (i, j): columns of tile i in row j of |M||L|e
};

/// A lower triangular matrix, or the one whose conjugate transpose is stored. Element (i, j) lies
/// at data[i * row_stride + j * column_stride].
template <class T>
struct Triangle {
  T* data;
  Index row_stride, column_stride;
  bool mirrored;

  Triangle(T* data_, Index ld, bool mirrored_)
      : data(data_),
        row_stride(mirrored_ ? ld : 1),
        column_stride(mirrored_ ? 1 : ld),
        mirrored(mirrored_) {}
  __device__ T* at(int i, int j) const { return data + i * row_stride + j * column_stride; }
};

template <class To, class From>
__device__ void convert(To& to, From from) {
  to = static_cast<To>(from);
}
template <class To, class From>
__device__ void convert(Complex<To>& to, Complex<From> from) {
  to = {static_cast<To>(from.re), static_cast<To>(from.im)};
}

template <class E>
__device__ E zero_or_one(bool one) {
  return from_real<E>(one ? 1.0 : 0.0);
}

/// Row tile i up to the diagonal; beyond order n that of a unit matrix.
template <class E, class T>
__device__ void load_row(const Triangle<const T>& from, int n, int i, int lane,
                         Fragment<E> (&tile)[kTiles<E>]) {
  // Columns are counted from the lane's first one, so that they are constants in the code.
  const int row = i * kTile + fragment_row(lane), first = fragment_column(lane);
  const int last = row < n ? row - first : -1;  // the last column in memory
  const T* p = from.at(row, first);
  T loaded[kTiles<E>][2];  // all of it is under way before the first number is used
#pragma unroll
  for (int j = 0; j < kTiles<E>; ++j) {
    if (j > i) break;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int column = j * kTile + e;
      loaded[j][e] = from_real<T>(column == row - first);
      if (column <= last) loaded[j][e] = p[e * from.column_stride];
    }
    p += kTile * from.column_stride;
  }
#pragma unroll
  for (int j = 0; j < kTiles<E>; ++j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      convert(tile[j].value[e], from.mirrored ? conjugate(loaded[j][e]) : loaded[j][e]);
    }
  }
}

enum class Part { lower, whole };

/// Stores tile (i, j). Columns from `completed` on become those of the unit matrix.
template <class E, class T>
__device__ void store_tile(const Triangle<T>& to, Part part, int n, int completed, int i, int j,
                           int lane, const Fragment<E>& x) {
  const int row = i * kTile + fragment_row(lane), first = j * kTile + fragment_column(lane);
  const int last = row >= n ? -1 : part == Part::lower ? row : n - 1;
  T* const p = to.at(row, first);
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int column = first + e;
    E value = column < completed ? x.value[e] : zero_or_one<E>(row == column);
    if (to.mirrored) value = conjugate(value);
    if (column <= last) convert(p[e * to.column_stride], value);
  }
}

__device__ inline double modulus(double x) { return fabs(x); }
/// To single precision, but without overflow.
__device__ inline double modulus(Complex<double> x) {
  const double larger = fmax(fabs(x.re), fabs(x.im)), smaller = fmin(fabs(x.re), fabs(x.im));
  if (!(larger > 0)) return larger;
  double reciprocal;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(larger));
  const float ratio = fminf(static_cast<float>(smaller * reciprocal), 1.f);
  return larger * static_cast<double>(sqrtf(fmaf(ratio, ratio, 1.f)));
}

/// The Cholesky factor of a tile, computed by each lane for itself in registers, while the lane
/// eliminates one row along with it: row := row L^-H. Doing the same many times over costs less
/// than exchanging it. Only constant indices are used, so that nothing goes to local memory.
template <class E>
struct Elimination {
  E diagonal[kTile][kTile];  // lower triangle
  E row[kTile];
  int completed;
  unsigned regular;

  /// Lanes 0 to 7 take the rows of the unit matrix, lanes 8 to 15 those of the tile, and so on.
  __device__ void load(const Tile<E>& a, int lane) {
    const int r = lane % kTile;
    const bool unit = lane / kTile % 2 == 0;
#pragma unroll
    for (int p = 0; p < kTile / 2; ++p) {
#pragma unroll
      for (int i = 2 * p; i < kTile; ++i) {
        const Fragment<E> x = a.pair(i, p);
        diagonal[i][2 * p] = x.value[0];
        if (i > 2 * p) diagonal[i][2 * p + 1] = x.value[1];
      }
      const Fragment<E> x = a.pair(r, p);
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        row[2 * p + e] = unit ? zero_or_one<E>(r == 2 * p + e) : x.value[e];
      }
    }
  }

  /// Column k with the given diagonal element and its reciprocal.
  __device__ void eliminate(int k, double root, double reciprocal, int lane) {
    row[k] = scale(row[k], reciprocal);
    if (lane == kTile + k) row[k] = from_real<E>(root);
#pragma unroll
    for (int i = k + 1; i < kTile; ++i) diagonal[i][k] = scale(diagonal[i][k], reciprocal);
#pragma unroll
    for (int j = k + 1; j < kTile; ++j) {
      const E ljk = conjugate(diagonal[j][k]);
#pragma unroll
      for (int i = j; i < kTile; ++i) {
        diagonal[i][j] = subtract_product(diagonal[i][j], diagonal[i][k], ljk);
      }
      row[j] = subtract_product(row[j], row[k], ljk);
    }
  }

  /// The fast way. False if a pivot is not an ordinary positive number; nothing is valid then.
  __device__ bool run_fast(int lane) {
    completed = kTile;
    regular = kAllRegular;
    bool ordinary = true;
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
      const double pivot = real_part(diagonal[k][k]);
      // Exponent and sign by integer arithmetic, beside the chain of the floating point unit.
      constexpr unsigned kSmallest = 0x02000000, kLargest = 0x7e000000;  // about 1e-298 and 1e298
      const unsigned high = static_cast<unsigned>(__double2hiint(pivot));
      ordinary = ordinary && high - kSmallest < kLargest - kSmallest;
      // About 22 bits, and a step of third order: y := y (1 + e / 2 + 3 e^2 / 8), e = 1 - x y^2.
      double y;
      asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(pivot));
      const double e = fma(pivot, -(y * y), 1.0);
      const double reciprocal = fma(fma(e, 0.375, 0.5), e * y, y);
      const double estimate = pivot * reciprocal;
      const double root = fma(fma(-estimate, estimate, pivot), 0.5 * reciprocal, estimate);
      eliminate(k, root, reciprocal, lane);
    }
    return ordinary;
  }

  /// For any pivots. After the first that is not positive, columns are those of the unit matrix.
  __device__ void run_carefully(int lane) {
    completed = kTile;
    regular = 0;
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
      const double pivot = real_part(diagonal[k][k]), root = sqrt(pivot);
      if (!(pivot > 0)) completed = min(completed, k);  // a NaN fails, too
      if (completed == kTile && isfinite(pivot)) regular |= 1u << k;
      eliminate(k, root, 1 / root, lane);  // no root is so small that its reciprocal overflows
    }
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
      if (k >= completed) row[k] = zero_or_one<E>(lane % kTile == k);
    }
  }
};

/// Phase 1, by one warp. `a` is the tile, of which only the lower triangle is used.
template <class E>
__device__ void factor_tile(Step<E>& step, const Fragment<E>& a, int lane) {
  step.factor.store(lane, a);
  __syncwarp();
  Elimination<E> elimination;
  elimination.load(step.factor, lane);
  if (!elimination.run_fast(lane)) {
    __syncwarp();  // so that the tile is read once more and not kept in registers until here
    elimination.load(step.factor, lane);
    elimination.run_carefully(lane);
  }
  __syncwarp();
  const int r = lane % kTile;
  if (lane < kTile) {  // row r of M^H
#pragma unroll
    for (int k = 0; k < kTile; ++k) step.inverse.set(k, r, conjugate(elimination.row[k]));
  } else if (lane < 2 * kTile) {  // row r of L
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
      step.factor.set(r, k, k <= r ? elimination.row[k] : from_real<E>(0));
    }
  } else if (lane == 2 * kTile) {
    step.completed = elimination.completed;
    step.regular = elimination.regular;
  }
}

/// Sets columns to zero whose bit in `kept` is not set.
template <class E>
__device__ void keep_columns(Fragment<E>& x, unsigned kept, int lane) {
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    if ((kept >> (fragment_column(lane) + e) & 1) == 0) x.value[e] = from_real<E>(0);
  }
}

/// Phase 2: A L^-H. In columns without a positive and finite pivot the result is zero (a quotient
/// by infinity) or of no account, but nothing that stands there may get into the other columns.
template <class E>
__device__ Fragment<E> solve(const Step<E>& step, Fragment<E> a, int lane) {
  const Fragment<E> l = step.factor.load(lane), m = step.inverse.load(lane);
  const unsigned regular = step.regular;
  if (regular != kAllRegular) keep_columns(a, regular, lane);
  Fragment<E> x = zero_fragment<E>();
  multiply_add(x, a, m);
  multiply_add(a, negated(x), l);  // now the residual
  if (regular != kAllRegular) keep_columns(a, regular, lane);
  multiply_add(x, a, m);
  return x;
}

/// Phase 3 for one row of tiles: tile[j - 1] := tile[j] - x panel[j - 1]^H for j = 1, ..., count;
/// the tiles move to the left because x's tile is final. Two at a time, and what is loaded and
/// computed beyond `count` is never used.
template <class E>
__device__ void update(const Tile<E>* panel, int count, const Fragment<E>& x,
                       Fragment<E> (&tile)[kTiles<E>], int lane) {
  const Fragment<E> minus_x = negated(x);
  Fragment<E> l0 = panel[0].load(lane), l1 = panel[1].load(lane);
#pragma unroll
  for (int j = 1; j < kTiles<E>; j += 2) {
    if (j > count) break;
    const Fragment<E> next0 = panel[j + 1].load(lane), next1 = panel[j + 2].load(lane);
    tile[j - 1] = tile[j];
    multiply_add(tile[j - 1], minus_x, l0);
    if (j + 1 < kTiles<E>) {
      tile[j] = tile[j + 1];
      multiply_add(tile[j], minus_x, l1);
    }
    l0 = next0;
    l1 = next1;
  }
}

/// The two barriers of a step. Who arrives does not wait.
constexpr int kFactored = 1, kSolved = 2;
template <int kBarrier>
__device__ void arrive() {
  asm volatile("bar.arrive %0, %1;" ::"n"(kBarrier), "r"(blockDim.x) : "memory");
}
template <int kBarrier>
__device__ void arrive_and_wait() {
  asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "r"(blockDim.x) : "memory");
}

/// One thread block, with a warp for every row of tiles.
template <class T, class E>
__global__ void __launch_bounds__(kTiles<E>* kWarp)
    potrf_leaf_kernel(int n, Triangle<const T> a, Triangle<T> factor, Triangle<T> inverse,
                      DeviceReal<T>* condition, Index* info, Index offset) {
  __shared__ Shared<E> shared;
  const int i = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const int tiles = static_cast<int>(blockDim.x) / kWarp;

  // tile[j] belongs to column k + j in step k. First row i of A, from step i on that of L^-H.
  Fragment<E> tile[kTiles<E>];
  load_row(a, n, i, lane, tile);

  int completed = n;   // columns of the factor that are right
  double row_sum = 0;  // of the moduli of L; in the end that of row fragment_row(lane)

  // x = L(i, k), i > k, is final. Above it, as it were, stand the zeros of the inverse.
  const auto record_factor = [&](int k, const Fragment<E>& x) {
    store_tile(factor, Part::whole, n, completed, i, k, lane, x);
    store_tile(inverse, Part::whole, n, n, i, k, lane, zero_fragment<E>());
    row_sum += modulus(x.value[0]) + modulus(x.value[1]);
  };
  // x = L^-H(i, k), i <= k, is final. Its columns are rows of L^-1.
  const auto record_inverse = [&](int k, const Fragment<E>& x) {
    store_tile(inverse, Part::whole, n, completed, i, k, lane, x);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      float sum = static_cast<float>(modulus(x.value[e]) * row_sum);
      for (int distance = 4; distance < kWarp; distance *= 2) {
        sum += __shfl_xor_sync(kAllLanes, sum, distance);
      }
      if (lane < 4) shared.growth[i][k * kTile + fragment_column(lane) + e] = sum;
    }
  };

  Fragment<E> x;  // L(i, k) or L^-H(i, k)
  for (int k = 0; k < tiles; ++k) {
    Step<E>& step = shared.step[k % 2];
    const Fragment<E> before = x;  // for i = k: L(k, k - 1), which had to wait
    if (i == k) {
      factor_tile(step, tile[0], lane);
#pragma unroll
      for (int j = 0; j < kTiles<E>; ++j) tile[j] = zero_fragment<E>();
    }
    arrive_and_wait<kFactored>();
    if (step.completed < kTile) completed = k * kTile + step.completed;
    if (i == k) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        x.value[e] = conjugate(step.inverse.get(fragment_column(lane) + e, fragment_row(lane)));
      }
    } else {
      x = solve(step, tile[0], lane);
      if (i > k) shared.panel[i].store(lane, x);
    }

    if (i == k + 1) {
      arrive<kSolved>();
      if (completed == n) {  // on with the chain
        tile[0] = tile[1];
        multiply_add(tile[0], negated(x), x);
        continue;
      }
    } else {
      arrive_and_wait<kSolved>();
    }
    if (completed == n) update(&shared.panel[k + 1], (i > k ? i : tiles - 1) - k, x, tile, lane);

    if (i == k) {
      if (k > 0) record_factor(k - 1, before);
      const Fragment<E> l = step.factor.load(lane);
      store_tile(factor, Part::lower, n, completed, k, k, lane, l);
      row_sum += modulus(l.value[0]) + modulus(l.value[1]);
      for (int distance = 1; distance < 4; distance *= 2) {
        row_sum += __shfl_xor_sync(kAllLanes, row_sum, distance);
      }
    }
    if (i > k) {
      record_factor(k, x);
    } else {
      record_inverse(k, x);
    }
    if (completed < n) {  // tiles of the unit matrix
      for (int j = k + 1; j < tiles; ++j) {
        store_tile(inverse, Part::whole, n, completed, i, j, lane, zero_fragment<E>());
        if (j <= i) store_tile(factor, Part::lower, n, completed, i, j, lane, zero_fragment<E>());
      }
      break;
    }
  }

  if (completed < n) {
    if (threadIdx.x != 0) return;
    if (*info == 0) *info = offset + completed + 1;
    *condition = 1;  // the inverse is finite; the factor need not be
    return;
  }
  __syncthreads();
  if (i > 0) return;
  // The largest of numbers that are not negative, or NaN: that of their bits.
  unsigned largest = 0;
  for (int row = lane; row < n; row += kWarp) {
    float sum = 0;
    for (int j = 0; j <= row / kTile; ++j) sum += shared.growth[j][row];
    largest = max(largest, __float_as_uint(fabsf(sum)));
  }
  largest = __reduce_max_sync(kAllLanes, largest);
  if (lane == 0) *condition = __uint_as_float(largest);
}

}  // namespace

template <class T>
Index potrf_leaf_order() {
  return kTiles<typename DoubleOf<typename DeviceScalar<T>::type>::type> * kTile;
}

template <class T>
void potrf_leaf(cudaStream_t stream, Uplo uplo, DeviceView<const T> a, DeviceView<T> factor,
                DeviceView<T> inverse, Real<T>* condition, Index* info, Index offset) {
  using D = typename DeviceScalar<T>::type;
  using E = typename DoubleOf<D>::type;
  if (a.empty()) return;
  const bool upper = uplo == Uplo::upper;
  LaunchShape shape;
  shape.threads = static_cast<unsigned>((a.rows + kTile - 1) / kTile * kWarp);
  launch(stream, shape, "potrf leaf", potrf_leaf_kernel<D, E>, static_cast<int>(a.rows),
         Triangle<const D>{device_cast(a.data), a.ld, upper},
         Triangle<D>{device_cast(factor.data), factor.ld, upper},
         // Computed is L^-H, an upper triangular matrix: as the mirror image of the inverse.
         Triangle<D>{device_cast(inverse.data), inverse.ld, true}, condition, info, offset);
}

#define OVERLAPACK_INSTANTIATE(T)                                                                 \
  template Index potrf_leaf_order<T>();                                                           \
  template void potrf_leaf(cudaStream_t, Uplo, DeviceView<const T>, DeviceView<T>, DeviceView<T>, \
                           Real<T>*, Index*, Index);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
