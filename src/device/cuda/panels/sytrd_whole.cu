// The reduction to tridiagonal form of a matrix for which the multiprocessors' shared memories have
// room between them (record 0112): one cooperative launch, in which all thread blocks wait for each
// other twice for each column.
//
//   complete   w of the column before, by its sums; of that the next column x, and what each
//              block's rows have for its norm
//   multiply   all blocks come to the reflector v; A := A - v' w'^H - w' v'^H with the v' and w' of
//              the column before, and A v, in one pass
//
// So there are no panels: the matrix is always up to date but for the last pair.
//
// The lower triangle is cut into pieces of 8 KB: 16 columns, and as many rows as a warp's lanes
// have with 16 bytes each. In order, a block column after the other, they are dealt to the blocks.
// So all have work to do until the end. A warp multiplies a piece from both sides. What a piece
// brings for its rows, and for its columns, goes to memory, each to a place of its own. Rows are
// completed in chunks of 32, each by one block, which adds what is there for them in the order of
// places. So the same matrix gives the same bits.
#include <algorithm>
#include <cstring>

#include "device/cuda/panels/householder.cuh"
#include "device/cuda/panels/work_space.hpp"
#include "device/cuda/parts/in_flight.cuh"
#include "device/cuda/ptx/grid_barrier.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 512, kWarps = kThreads / kWarp;
constexpr int kColumns = 16;  // of a piece
constexpr int kMaxBlocks = 256;
constexpr int kMaxPieces = 2 * kWarps;  // of a block

/// Elements of 16 bytes; rows of a piece; elements of a piece.
template <class T>
constexpr int kVector = 16 / static_cast<int>(sizeof(T));
template <class T>
constexpr int kRows = kWarp* kVector<T>;
template <class T>
constexpr int kPiece = kRows<T>* kColumns;
constexpr int kPieceBytes = kWarp * 16 * kColumns;

__host__ __device__ constexpr int quotient_up(int n, int size) { return (n + size - 1) / size; }

// ---- which block has what -------------------------------------------------------------------

/// The pieces of a triangle of order n, in order.
template <class T>
struct Cut {
  static constexpr int kRatio = kRows<T> / kColumns;  // block columns that a block row is wide
  int block_rows, block_columns;

  __host__ __device__ explicit Cut(int n)
      : block_rows(quotient_up(n, kRows<T>)), block_columns(quotient_up(n, kColumns)) {}
  /// The first block row that meets a block column's part of the triangle.
  __host__ __device__ static int first_row(int block_column) { return block_column / kRatio; }
  __host__ __device__ int before(int block_column) const {
    const int whole = block_column / kRatio, rest = block_column % kRatio;
    return block_column * block_rows - (kRatio * (whole * (whole - 1) / 2) + rest * whole);
  }
  __host__ __device__ int pieces() const { return before(block_columns); }
};

// ---- the problem ----------------------------------------------------------------------------

/// A Sytrd, and its work space.
template <class T>
struct Problem {
  using R = DeviceReal<T>;
  int n, padded;  // its order, and that of whole block rows
  T* a;
  Index lda;
  R *d, *e;
  T* tau;

  T *v, *w, *x;   // of the column before, twice; the present column
  T* next;        // the column behind it, but for the last pair
  T* of_rows;     // element (i, J): what block column J brings for row i of A v
  T* of_columns;  // element (j, I): what block row I brings for row j
  R* forms;       // by block: what its pieces bring for v^H A v / 2
  R* squares;     // by chunk: the sum of those of its rows of x below the subdiagonal
  unsigned* arrived;
};

/// Where v comes from: x, and the reflector, whose 1 is in row `one`.
template <class T>
struct Vector {
  int one;
  DeviceReal<T> power;
  T scale;

  __device__ T operator()(int i, T x) const {
    return i < one    ? from_real<T>(0)
           : i == one ? from_real<T>(1)
                      : product(cuda::scale(x, power), scale);
  }
};

/// What the threads of a block share, besides pieces.
template <class T>
struct Shared {
  using R = DeviceReal<T>;
  T tau, scale;  // the present reflector
  R power, beta;
  T row_of_y;  // there v has its 1
  R form;
  R forms[kWarps];
  union {
    T of_chunk[kWarps][kWarp];
    T of_columns[kWarps][3][kColumns];  // v', w' and v in the columns of a warp's piece
  };

  __device__ Shared() {}
};

// ---- complete -------------------------------------------------------------------------------

/// What is to be added for row i of A v behind column `one`.
template <class T>
struct Terms {
  const T *of_rows, *of_columns;
  Index stride;
  int first, rows, count;

  __device__ Terms(const Problem<T>& p, int i, int one)
      : of_rows(p.of_rows + i), of_columns(p.of_columns + i), stride(p.padded) {
    first = one / kColumns;
    rows = i / kColumns + 1 - first;
    of_rows += first * stride;
    const int block_row = i / kRows<T>;
    of_columns += block_row * stride;
    count = rows + p.padded / kRows<T> - block_row;
  }
  __device__ T operator()(int k) const {
    return k < rows ? of_rows[k * stride] : of_columns[(k - rows) * stride];
  }
};

/// The sum of the terms that `first`, and each `step`-th behind it, are.
template <class T>
__device__ T sum_of_terms(const Terms<T>& terms, int first, int step) {
  T sum = from_real<T>(0);
  for_each_loaded<64 / sizeof(T)>(first, terms.count, step, terms,
                                  [&](T x, int) { sum = add(sum, x); });
  return sum;
}

/// The sum of a few numbers, by a warp.
template <class R>
__device__ R sum_of(const R* x, int first, int last) {
  R sum = 0;
  for_each_loaded<kMaxBlocks / kWarp>(
      first + lane_of_warp(), last, kWarp, [&](int i) { return x[i]; },
      [&](R value, int) { sum += value; });
  return sum_of_warp(sum);
}

/// Completes the block's rows of w of column j - 1, and makes those of column j of them.
template <class T>
__device__ void complete(const Problem<T>& p, int j, Shared<T>& shared) {
  using R = DeviceReal<T>;
  const int lane = lane_of_warp(), warp = warp_of_block();
  const bool has_before = j > 0;
  if (has_before && warp == kWarps - 2) {
    const R form = sum_of(p.forms, 0, static_cast<int>(gridDim.x));
    if (lane == 0) shared.form = form;
  }
  if (has_before && warp == kWarps - 1) {
    const T y = sum_of_warp(sum_of_terms(Terms<T>(p, j, j), lane, kWarp));
    if (lane == 0) shared.row_of_y = y;
  }
  for (int chunk = static_cast<int>(blockIdx.x); chunk * kWarp < p.n;
       chunk += static_cast<int>(gridDim.x)) {
    const int i = chunk * kWarp + lane;
    if (chunk * kWarp + kWarp < j) continue;  // v and w are zero there
    const bool is_there = i >= j && i < p.n;
    T x = from_real<T>(0), x_before = from_real<T>(0), y = from_real<T>(0);
    if (warp == 0 && is_there) {
      x = has_before ? p.next[i] : p.a[i];
      if (has_before) x_before = p.x[i];
    }
    if (has_before && is_there) y = sum_of_terms(Terms<T>(p, i, j), warp, kWarps);
    shared.of_chunk[warp][lane] = y;
    __syncthreads();
    if (warp == 0) {
#pragma unroll
      for (int other = 1; other < kWarps; ++other) y = add(y, shared.of_chunk[other][lane]);
      T v = from_real<T>(0), w = from_real<T>(0);
      if (has_before && is_there) {
        const T tau = shared.tau;
        const T alpha = from_real<T>(-squared_modulus(tau) * shared.form);
        const T row_of_w = add_product(alpha, tau, shared.row_of_y);
        v = Vector<T>{j, shared.power, shared.scale}(i, x_before);
        w = add_product(product(tau, y), alpha, v);
        x = subtract_product(x, v, conjugate(row_of_w));
        x = add(x, negate(w));
      }
      p.v[i] = v;
      p.w[i] = w;
      p.x[i] = x;
      if (is_there) {
        if (has_before && i > j) p.a[i + (j - 1) * p.lda] = v;
        if (i == j) {
          p.d[j] = real_part(x);
          p.a[j + j * p.lda] = from_real<T>(real_part(x));
          if (has_before) p.a[j + (j - 1) * p.lda] = from_real<T>(shared.beta);
        }
      }
      const R square = is_there && i >= j + 2 ? squared_modulus(x) : R(0);
      const R squares = sum_of_warp(square);
      if (lane == 0) p.squares[chunk] = squares;
    }
    __syncthreads();
  }
}

// ---- multiply -------------------------------------------------------------------------------

/// The reflector of a column whose squares leave the range, or which is zero below the subdiagonal:
/// by a power of two that its largest part takes it to. Numbers are added in the same order as
/// plain ones, so that a multiple of a matrix by a power of two has the same reflectors.
template <class T>
__device__ Reflector<T> find_scaled_reflector(const Problem<T>& p, int j, T alpha, int& exponent) {
  using R = DeviceReal<T>;
  const int lane = lane_of_warp();
  R below = 0;
  for (int i = j + 2 + lane; i < p.n; i += kWarp) {
    const R part = largest_part(p.x[i]);
    below = part > below || isnan(part) ? part : below;  // a NaN stays
  }
  below = combined_of_warp(below, [](R y, R z) { return y > z || isnan(y) ? y : z; });
  exponent = exponent_of(fmax(below, largest_part(alpha)));
  R sum = 0;
  for (int k = 0, i = j / kWarp * kWarp + lane; i - lane < p.n; ++k, i += kWarp) {
    const bool is_below = i >= j + 2 && i < p.n;
    const R squares =
        sum_of_warp(is_below ? squared_modulus(times_power_of_two(p.x[i], -exponent)) : R(0));
    if (k % kWarp == lane) sum += squares;
  }
  sum = sum_of_warp(sum);
  return make_reflector(times_power_of_two(alpha, -exponent), sum, below == 0);
}

/// All blocks come to reflector j, each by itself. By one warp.
template <class T>
__device__ void find_reflector(const Problem<T>& p, int j, Shared<T>& shared) {
  using R = DeviceReal<T>;
  const T alpha = p.x[j + 1];
  const R squares = sum_of(p.squares, j / kWarp, quotient_up(p.n, kWarp));
  int exponent = 0;
  const bool is_ordinary = is_safe(squares) && is_safe(squared_modulus(alpha) + squares);
  const Reflector<T> h = is_ordinary ? make_reflector(alpha, squares, false)
                                     : find_scaled_reflector(p, j, alpha, exponent);
  if (lane_of_warp() != 0) return;
  shared.tau = h.tau;
  shared.scale = h.scale;
  shared.power = power_of_two<R>(-exponent);
  shared.beta = times_power_of_two(h.beta, exponent);
  if (blockIdx.x != 0) return;
  p.e[j] = shared.beta;
  p.tau[j] = h.tau;
}

template <class T>
__device__ void load(const T* from, T (&x)[kVector<T>]) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  memcpy(x, &bits, sizeof bits);
}
template <class T>
__device__ void store(const T (&x)[kVector<T>], T* to) {
  uint4 bits;
  memcpy(&bits, x, sizeof bits);
  *reinterpret_cast<uint4*>(to) = bits;
}

/// A piece, whose element (0, 0) is that of row `row` and column `column` of A. It gets the pair of
/// the column before, and brings its parts of A v, and of v^H A v / 2, which is returned.
template <class T>
struct Piece {
  using R = DeviceReal<T>;
  const Problem<T>& p;
  T* a;
  int row, column;

  __device__ R multiply(int j, const Vector<T>& v, T (&of_columns)[3][kColumns]) const {
    constexpr int kSize = kVector<T>;
    const int lane = lane_of_warp(), own = row + lane * kSize, of_lane = column + lane % kColumns;
    T before[kSize], w[kSize], now[kSize], rows[kSize], columns[kColumns];
    const T before_of_lane = p.v[of_lane], w_of_lane = p.w[of_lane], x_of_lane = p.x[of_lane];
    load(p.v + own, before);
    load(p.w + own, w);
    load(p.x + own, now);
    __syncwarp();
    if (lane < kColumns) {
      of_columns[0][lane] = conjugate(before_of_lane);
      of_columns[1][lane] = conjugate(w_of_lane);
      of_columns[2][lane] = v(of_lane, x_of_lane);
    }
#pragma unroll
    for (int r = 0; r < kSize; ++r) {
      now[r] = own + r < p.n ? v(own + r, now[r]) : from_real<T>(0);
      rows[r] = from_real<T>(0);
    }
    __syncwarp();
    const bool is_edge = row < column + kColumns;  // where some elements are of the other triangle
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      T x[kSize];
      load(at(k), x);
      const T v_of_column = of_columns[0][k], w_of_column = of_columns[1][k];
#pragma unroll
      for (int r = 0; r < kSize; ++r) {
        x[r] = subtract_product(x[r], before[r], w_of_column);
        x[r] = subtract_product(x[r], w[r], v_of_column);
      }
      store(x, at(k));
      columns[k] = from_real<T>(0);
#pragma unroll
      for (int r = 0; r < kSize; ++r) {
        if (is_edge) {
          const int below = own + r - column - k;  // the diagonal
          if (below < 0) x[r] = from_real<T>(0);
          if (below == 0) x[r] = from_real<T>(real_part(x[r]) / 2);
        }
        rows[r] = add_product(rows[r], x[r], of_columns[2][k]);
        columns[k] = add_conjugated(columns[k], now[r], x[r]);
      }
    }
    store(rows, p.of_rows + own + Index{column / kColumns} * p.padded);
    const int next = j + 1 - column;
    if (next >= 0 && next < kColumns) {
      T x[kSize];
      load(at(next), x);
      store(x, p.next + own);
    }
    T sum = sum_of_mine<kColumns>(columns, lane);
    sum = add(sum, of_other_lane(sum, kColumns));
    if (lane < kColumns) p.of_columns[column + lane + Index{row / kRows<T>} * p.padded] = sum;
    R form = 0;
#pragma unroll
    for (int r = 0; r < kSize; ++r)
      form += real_part(add_conjugated(from_real<T>(0), rows[r], now[r]));
    return form;
  }

  /// Its part of the caller's matrix. There are zeros beyond that.
  __device__ void bring() const {
    const int own = row + lane_of_warp() * kVector<T>;
    for (int k = 0; k < kColumns; ++k) {
      T x[kVector<T>];
#pragma unroll
      for (int r = 0; r < kVector<T>; ++r) {
        const bool is_there = own + r < p.n && own + r >= column + k;
        x[r] = is_there ? p.a[own + r + (column + k) * p.lda] : from_real<T>(0);
      }
      store(x, at(k));
    }
  }

 private:
  __device__ T* at(int k) const { return a + k * kRows<T> + lane_of_warp() * kVector<T>; }
};

/// The pieces of a warp.
template <class T>
class Own {
 public:
  __device__ Own(const Problem<T>& p, T* pieces) : p_(p), pieces_(pieces) {
    const Cut<T> cut(p.n);
    int block_column = 0;
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      const int piece = static_cast<int>(blockIdx.x) + slot(k) * static_cast<int>(gridDim.x);
      row_[k] = column_[k] = -kColumns;  // none
      if (piece >= cut.pieces()) continue;
      while (cut.before(block_column + 1) <= piece) ++block_column;
      row_[k] = (cut.first_row(block_column) + piece - cut.before(block_column)) * kRows<T>;
      column_[k] = block_column * kColumns;
    }
  }
  /// Calls act() with each of them that reaches beyond column `from`.
  template <class Act>
  __device__ void for_each(int from, Act act) const {
#pragma unroll 1
    for (int k = 0; k < kMost; ++k) {
      const int row = k == 0 ? row_[0] : row_[1], column = k == 0 ? column_[0] : column_[1];
      if (column + kColumns <= from) continue;
      act(Piece<T>{p_, pieces_ + slot(k) * kPiece<T>, row, column});
    }
  }

 private:
  static constexpr int kMost = kMaxPieces / kWarps;
  static_assert(kMost == 2);
  __device__ static int slot(int k) { return warp_of_block() + k * kWarps; }

  const Problem<T>& p_;
  T* const pieces_;
  int row_[kMost], column_[kMost];
};

// ---- the reduction --------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kThreads, 1) sytrd_kernel(Problem<T> p) {
  using R = DeviceReal<T>;
  extern __shared__ uint4 dynamic[];
  __shared__ Shared<T> shared;
  T* const pieces = reinterpret_cast<T*>(dynamic);
  GridBarrier barrier(p.arrived);
  const Own<T> own(p, pieces);
  own.for_each(0, [](const Piece<T>& piece) { piece.bring(); });
  if (blockIdx.x == 0) {
    for (int i = quotient_up(p.n, kWarp) * kWarp + static_cast<int>(threadIdx.x); i < p.padded;
         i += kThreads) {
      p.v[i] = p.w[i] = p.x[i] = from_real<T>(0);
    }
  }
  for (int j = 0;; ++j) {
    complete(p, j, shared);
    if (j == p.n - 1) break;
    barrier.wait();
    if (warp_of_block() == 0) find_reflector(p, j, shared);
    __syncthreads();
    const Vector<T> v{j + 1, shared.power, shared.scale};
    R form = 0;
    own.for_each(j + 1, [&](const Piece<T>& piece) {
      form += piece.multiply(j, v, shared.of_columns[warp_of_block()]);
    });
    form = sum_of_warp(form);
    if (lane_of_warp() == 0) shared.forms[warp_of_block()] = form;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
      for (int other = 1; other < kWarps; ++other) form += shared.forms[other];
      p.forms[blockIdx.x] = form;
    }
    barrier.wait();
  }
}

// ---- host side ------------------------------------------------------------------------------

/// The work space of a problem. Returns how many bytes it takes.
template <class D>
Index lay_out(Problem<D>& p, Index n, char* work) {
  using R = DeviceReal<D>;
  const Cut<D> cut(static_cast<int>(n));
  p.n = static_cast<int>(n);
  p.padded = cut.block_rows * kRows<D>;
  WorkSpace space(work);
  for (D** vector : {&p.v, &p.w, &p.x, &p.next}) *vector = space.take<D>(p.padded);
  p.of_rows = space.take<D>(Index{p.padded} * cut.block_columns);
  p.of_columns = space.take<D>(Index{p.padded} * cut.block_rows);
  p.forms = space.take<R>(kMaxBlocks);
  p.squares = space.take<R>(quotient_up(p.padded, kWarp));
  p.arrived = space.take<unsigned>(1);
  return space.bytes();
}

template <class T>
void enqueue(CudaQueue& queue, const Sytrd<T>& op) {
  using D = typename DeviceScalar<T>::type;
  const Gpu& gpu = queue.gpu();
  const Index n = op.a.rows;
  if (n > sytrd_order<T>(gpu.multiprocessors, gpu.shared_bytes)) {
    throw DeviceError("sytrd: the matrix is too large");
  }
  Problem<D> p{};
  const Index bytes = lay_out(p, n, reinterpret_cast<char*>(op.work.data));
  if (bytes > static_cast<Index>(sizeof(T)) * op.work.rows) {
    throw DeviceError("sytrd: too little work space");
  }
  p.a = device_cast(op.a.data);
  p.lda = op.a.ld;
  p.d = op.d.data;
  p.e = op.e.data;
  p.tau = device_cast(op.tau.data);
  const Cut<D> cut(p.n);
  const int blocks = std::min({cut.pieces(), gpu.multiprocessors, kMaxBlocks});
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(blocks);
  shape.threads = kThreads;
  shape.shared_bytes = static_cast<std::size_t>(quotient_up(cut.pieces(), blocks)) * kPieceBytes;
  shape.cooperative = blocks > 1;
  check(cudaMemsetAsync(p.arrived, 0, sizeof *p.arrived, queue.stream()), op.kName);
  launch_kernel(queue.stream(), shape, op.kName, sytrd_kernel<D>, p);
}

}  // namespace

template <class T>
Index sytrd_order(int multiprocessors, Index shared_bytes) {
  using D = typename DeviceScalar<T>::type;
  constexpr Index kBesides = sizeof(Shared<D>) + 1024;  // of which CUDA takes 1 KB
  const Index each = std::min((shared_bytes - kBesides) / Index{kPieceBytes}, Index{kMaxPieces});
  const Index most = each * std::min(multiprocessors, kMaxBlocks);
  int n = 0;
  while (Cut<D>(n + kRows<D>).pieces() <= most) n += kRows<D>;
  return n;
}

template <class T>
Index sytrd_whole_work(Index n) {
  using D = typename DeviceScalar<T>::type;
  Problem<D> p{};
  return overlapack::quotient_up(lay_out(p, n, nullptr), Index{sizeof(T)});
}

#define OVERLAPACK_INSTANTIATE(T)            \
  template Index sytrd_order<T>(int, Index); \
  template Index sytrd_whole_work<T>(Index); \
  OVERLAPACK_LAUNCH(Sytrd<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
