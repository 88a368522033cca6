// Cholesky factorization of one diagonal block in the shared memory of one thread block.
//
// The block is factored right-looking in steps of w = 8 columns. With
//
//   A = [ A11     ]   A11 of order w,    A11 = L11 L11^H,   L21 = A21 L11^-H,   A22 -= L21 L21^H,
//       [ A21 A22 ]
//
// one step is three phases, each ended by a barrier:
//   1. the thread of row i copies A11 and row i of A21 to registers;
//   2. it factors A11, for itself alone, and eliminates its row along with it: doing the small
//      factorization many times over costs less than one barrier per column would;
//   3. all threads share the rank-w update of A22, reading L21 row by row from a second copy: the
//      w numbers of a row then come in few wide accesses, the same for a whole warp.
//
// The upper triangle is handled as the lower one of the conjugate transpose: A = U^H U gives
// A^H = A = L L^H with L = U^H. It is transposed on its way in and out of shared memory.
#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kStep = 8;
constexpr int kThreadColumns = 4;
constexpr int kInFlight = 4;  // columns that a thread updates at a time

/// As many rows as a leaf can have, with a thread for each in each thread column. The block and the
/// row-wise copy of a panel must fit in the shared memory of one multiprocessor (163 KB on Ampere).
template <class T>
struct Leaf {
  static constexpr int rows = sizeof(T) == 16 ? 64 : 128;
  static constexpr int threads = rows * kThreadColumns;
  static constexpr int ld = rows + 1;  // odd, so that rows are read without bank conflicts, too
  static constexpr std::size_t shared_bytes = sizeof(T) * (rows * kStep + ld * rows);
};

/// Square root of a positive number and its reciprocal, faster than a root and a division: a
/// Newton step makes up for the last bit that the reciprocal root may have wrong.
template <class R>
__device__ void root_and_reciprocal(R x, R& root, R& reciprocal) {
  reciprocal = rsqrt(x);
  root = x * reciprocal;
  root = fma(R(0.5) * reciprocal, fma(-root, root, x), root);
  if (isinf(x)) root = x;
}

/// The Cholesky factor of a w x w block and one row of the panel below it, in registers. Only
/// constant indices are used, so that nothing goes to local memory.
template <class T>
struct Step {
  T diagonal[kStep][kStep];  // lower triangle
  T row[kStep];

  /// Factors the diagonal block and solves row := row L^-H. Returns the number of columns that were
  /// completed: fewer than kStep if a pivot is not positive.
  __device__ int factor() {
    using R = DeviceReal<T>;
    int completed = kStep;
#pragma unroll
    for (int k = 0; k < kStep; ++k) {
      const R pivot = real_part(diagonal[k][k]);
      if (!(pivot > R(0)) && completed == kStep) completed = k;  // a NaN fails, too
      R root, reciprocal;  // a root is never so small that its reciprocal overflows
      root_and_reciprocal(pivot, root, reciprocal);
      diagonal[k][k] = from_real<T>(root);
      row[k] = scale(row[k], reciprocal);
#pragma unroll
      for (int i = k + 1; i < kStep; ++i) diagonal[i][k] = scale(diagonal[i][k], reciprocal);
#pragma unroll
      for (int j = k + 1; j < kStep; ++j) {
        const T ljk = conjugate(diagonal[j][k]);
        row[j] = subtract_product(row[j], row[k], ljk);
#pragma unroll
        for (int i = j; i < kStep; ++i) {
          diagonal[i][j] = subtract_product(diagonal[i][j], diagonal[i][k], ljk);
        }
      }
    }
    return completed;
  }
};

/// One thread block of Leaf<T>::threads threads. Thread t stands for row t % rows; the threads of
/// one row divide columns among themselves.
template <class T>
__global__ void __launch_bounds__(Leaf<T>::threads)
    potrf_leaf_kernel(bool lower, int n, T* __restrict__ a, Index ld, Index* info, Index offset) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  constexpr int kRows = Leaf<T>::rows, kLd = Leaf<T>::ld;
  T* const panel = reinterpret_cast<T*>(shared_memory);  // conj(L21(i, l)) = panel[i * kStep + l]
  T* const s = panel + kRows * kStep;                    // S(i, j) = s[i + j * kLd]
  __shared__ int columns_done;                           // in this step

  // Row index of the memory, so that neighbouring threads touch neighbouring elements: i for the
  // lower triangle, j for the upper one.
  const int t = static_cast<int>(threadIdx.x) % kRows, u = static_cast<int>(threadIdx.x) / kRows;
  for (int c = u; c < n; c += kThreadColumns) {
    if (t >= n) break;
    if (lower && t >= c) s[t + c * kLd] = a[t + c * ld];
    if (!lower && t <= c) s[c + t * kLd] = conjugate(a[t + c * ld]);
  }
  __syncthreads();

  int completed = n;  // columns of the factor that are right; the same in all threads
  for (int k = 0; k < n; k += kStep) {
    // Phase 1. Rows beyond the block are those of a unit matrix and stay so.
    Step<T> step;
    const bool below = t >= k + kStep && t < n;
    if (u == 0) {
#pragma unroll
      for (int j = 0; j < kStep; ++j) {
#pragma unroll
        for (int i = j; i < kStep; ++i) {
          step.diagonal[i][j] =
              k + i < n ? s[k + i + (k + j) * kLd] : from_real<T>(DeviceReal<T>(i == j));
        }
        step.row[j] = below ? s[t + (k + j) * kLd] : from_real<T>(0);
      }
    }
    __syncthreads();

    // Phase 2. The threads agree on A11, so one of them stores it.
    if (u == 0) {
      const int done = step.factor();
      if (threadIdx.x == 0) columns_done = done;
#pragma unroll
      for (int j = 0; j < kStep; ++j) {
        if (below) s[t + (k + j) * kLd] = step.row[j];
        if (below) panel[t * kStep + j] = conjugate(step.row[j]);
#pragma unroll
        for (int i = j; i < kStep; ++i) {
          if (t == 0 && k + i < n) s[k + i + (k + j) * kLd] = step.diagonal[i][j];
        }
      }
    }
    __syncthreads();
    if (columns_done < kStep) {
      completed = k + columns_done;
      break;
    }

    // Phase 3: row t of L21 stays in registers and meets its rows j <= t.
    if (below) {
#pragma unroll
      for (int j = 0; j < kStep; ++j) step.row[j] = s[t + (k + j) * kLd];
      // Several columns at a time: each is a chain of dependent operations.
      for (int j = k + kStep + u * kInFlight; j <= t; j += kThreadColumns * kInFlight) {
        T x[kInFlight];
#pragma unroll
        for (int c = 0; c < kInFlight; ++c) x[c] = s[t + min(j + c, t) * kLd];
#pragma unroll
        for (int l = 0; l < kStep; ++l) {
#pragma unroll
          for (int c = 0; c < kInFlight; ++c) {
            x[c] = subtract_product(x[c], step.row[l], panel[min(j + c, t) * kStep + l]);
          }
        }
#pragma unroll
        for (int c = 0; c < kInFlight; ++c) {
          if (j + c <= t) s[t + (j + c) * kLd] = x[c];
        }
      }
    }
    __syncthreads();
  }

  if (completed < n && threadIdx.x == 0 && *info == 0) *info = offset + completed + 1;

  // After a failure the columns that are not done become those of the unit matrix. LAPACK leaves
  // them undefined, but the solve with this block that is already enqueued behind us must not
  // spread Inf and NaN from them into columns that are right.
  for (int c = u; c < n; c += kThreadColumns) {
    if (t >= n) break;
    const int i = lower ? t : c, j = lower ? c : t;
    if (i < j) continue;
    const T x = j < completed ? s[i + j * kLd] : from_real<T>(DeviceReal<T>(i == j));
    a[t + c * ld] = lower ? x : conjugate(x);
  }
}

}  // namespace

template <class T>
Index potrf_leaf_order() {
  return Leaf<typename DeviceScalar<T>::type>::rows;
}

template <class T>
void potrf_leaf(cudaStream_t stream, Uplo uplo, DeviceView<T> a, Index* info, Index offset) {
  using D = typename DeviceScalar<T>::type;
  LaunchShape shape;
  shape.threads = Leaf<D>::threads;
  shape.shared_bytes = Leaf<D>::shared_bytes;
  constexpr std::size_t kAlwaysAllowed = 48 * 1024;
  if (shape.shared_bytes > kAlwaysAllowed) {
    check(cudaFuncSetAttribute(potrf_leaf_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)),
          "potrf leaf: shared memory");
  }
  launch(stream, shape, "potrf leaf", potrf_leaf_kernel<D>, uplo == Uplo::lower,
         static_cast<int>(a.rows), device_cast(a.data), a.ld, info, offset);
}

template Index potrf_leaf_order<float>();
template Index potrf_leaf_order<double>();
template Index potrf_leaf_order<std::complex<float>>();
template Index potrf_leaf_order<std::complex<double>>();
template void potrf_leaf(cudaStream_t, Uplo, DeviceView<float>, Index*, Index);
template void potrf_leaf(cudaStream_t, Uplo, DeviceView<double>, Index*, Index);
template void potrf_leaf(cudaStream_t, Uplo, DeviceView<std::complex<float>>, Index*, Index);
template void potrf_leaf(cudaStream_t, Uplo, DeviceView<std::complex<double>>, Index*, Index);

}  // namespace overlapack::cuda
