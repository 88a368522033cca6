// The panel of a reduction to tridiagonal form (record 0105): one cooperative launch, in which all
// thread blocks wait for each other twice for each column.
//
//   complete   w of the column before, by its sums; of that the next column x, and what each
//              block's rows have for its norm
//   multiply   all blocks come to the reflector v; A v, and V^H v and W^H v of the columns before
//
// Rows are in chunks of 32, which blocks take in turn: a block completes its own rows of w and x.
// Each lane of a warp has a row, and the warps share out what is to be added for it.
//
// The triangle is cut into strips of columns, and these into tiles of a few rows, 64 KB each (32 KB
// of the widest type). In order, strip by strip, each block has as many as the others. So most of
// its tiles follow one another in a strip. Each of its warps has some of the strip's columns and
// all rows of the tile, a lane 16 bytes of each column. A number serves twice: for the row's sum,
// and for the column's. That of the columns stays in registers as long as the block is in the
// strip. That of the rows is added over the warps for each tile.
//
// All sums go to memory, each to a place of its own, and are added in the order of places, so that
// the same panel gives the same bits.
#include <algorithm>
#include <cstring>

#include "device/cuda/panels/householder.cuh"
#include "device/cuda/panels/work_space.hpp"
#include "device/cuda/ptx/grid_barrier.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kMaxBlocks = 320;
constexpr int kWidth = 64;  // columns of a panel
constexpr int kParts = 16;  // of a product with a column of V or W

/// Elements of a load; rows of a tile; columns of a warp, and of a strip.
template <class T>
constexpr int kVector = 16 / static_cast<int>(sizeof(T));
template <class T>
constexpr int kRows = kWarp* kVector<T>;
template <class T>
constexpr int kOwnColumns = sizeof(T) == 16 ? 8 : 16;
template <class T>
constexpr int kStrip = kWarps* kOwnColumns<T>;

__host__ __device__ constexpr int pieces(int n, int size) { return (n + size - 1) / size; }

// ---- which block has what -------------------------------------------------------------------

/// The tiles of a triangle of order n, in order.
template <class T>
struct Tiling {
  int n, blocks;

  __host__ __device__ int strips() const { return pieces(n, kStrip<T>); }
  __host__ __device__ int tiles_before(int strip) const {
    constexpr int kTilesLess = kStrip<T> / kRows<T>;  // than the strip before has
    return strip * pieces(n, kRows<T>) - kTilesLess * (strip * (strip - 1) / 2);
  }
  __host__ __device__ int tiles() const { return tiles_before(strips()); }
  __host__ __device__ int first_tile(int block) const {
    return static_cast<int>(product(block, tiles()) / static_cast<unsigned>(blocks));
  }
  __host__ __device__ int block_of(int tile) const {
    return static_cast<int>((product(tile + 1, blocks) - 1) / static_cast<unsigned>(tiles()));
  }
  /// How many blocks have tiles of a strip.
  __host__ __device__ int blocks_of(int strip) const {
    return block_of(tiles_before(strip + 1) - 1) - block_of(tiles_before(strip)) + 1;
  }
  /// The first row of a tile of that strip.
  __host__ __device__ int first_row(int strip, int tile) const {
    return strip * kStrip<T> + (tile - tiles_before(strip)) * kRows<T>;
  }

 private:
  __host__ __device__ static unsigned product(int x, int y) {
    return static_cast<unsigned>(x) * static_cast<unsigned>(y);
  }
};
/// Up to this order no product overflows. No GPU has memory for more.
template <class T>
constexpr Index kMaxOrder = Index{1} << (sizeof(T) == 16 ? 17 : 18);

// ---- the problem ----------------------------------------------------------------------------

/// A SytrdPanel, and its work space.
template <class T>
struct Problem {
  using R = DeviceReal<T>;
  int n, columns, steps;
  T* a;
  Index lda;
  T *v, *w;
  Index ldv, ldw;
  R *d, *e;
  T* tau;

  T* x;            // the present column
  T* of_rows;      // element (i, s): what the columns of strip s bring for row i of A v
  T* of_columns;   // element (j, k): what the rows of the k-th block of a strip bring for row j
  T* dots;         // parts of W^H v, and of V^H v, one after the other
  R* forms;        // by block: what its tiles bring for v^H A v / 2
  R* squares;      // by block: the sum of those of its rows of x below the subdiagonal,
  int* exponents;  // which are divided by this power of two first
  unsigned* arrived;

  __device__ Tiling<T> tiling() const { return {n, static_cast<int>(gridDim.x)}; }
};

/// Where v comes from: x, and the reflector.
template <class T>
struct Vector {
  const T* x;
  int n, one;  // its order, and the row of its 1
  DeviceReal<T> power;
  T scale;

  __device__ T operator()(int i, T xi) const {
    return i < one || i >= n ? from_real<T>(0)
           : i == one        ? from_real<T>(1)
                             : product(cuda::scale(xi, power), scale);
  }
  __device__ T operator()(int i) const { return (*this)(i, i < n ? x[i] : from_real<T>(0)); }
};

/// What the threads of a block share.
template <class T>
struct Shared {
  using R = DeviceReal<T>;
  // The present reflector.
  T tau, scale;
  R power;
  // W^H v and V^H v; the present row of V and W; what there is to say of the row of A v.
  T with_w[kWidth], with_v[kWidth], row_of_v[kWidth], row_of_w[kWidth], row_of_y;
  R form;
  union {
    T of_tiles[2][kWarps][kRows<T>];
    T of_chunk[2][kWarps][kWarp];
    R of_warps[kWarps];
  };
  T v_of_columns[kWarps][kOwnColumns<T>];

  __device__ Shared() {}
};

// ---- complete -------------------------------------------------------------------------------

/// What is to be added for row i of A v.
template <class T>
struct TermsOfRow {
  const T *of_rows, *of_columns;
  Index stride;
  int strips, count;

  __device__ TermsOfRow(const Problem<T>& p, int i)
      : of_rows(p.of_rows + i),
        of_columns(p.of_columns + i),
        stride(p.n),
        strips(i / kStrip<T> + 1),
        count(strips + p.tiling().blocks_of(i / kStrip<T>)) {}
  __device__ T operator()(int k) const {
    return k < strips ? of_rows[k * stride] : of_columns[(k - strips) * stride];
  }
};

/// What all blocks need of the sums of step j - 1, in shared memory.
template <class T>
__device__ void gather(const Problem<T>& p, int j, Shared<T>& shared) {
  using R = DeviceReal<T>;
  constexpr int kHalf = kThreads / 2;
  static_assert(2 * kWidth <= kHalf);
  const int t = static_cast<int>(threadIdx.x), lane = lane_of_warp(), before = j - 1;
  if (t < 2 * before) {
    T sum = from_real<T>(0);
#pragma unroll
    for (int part = 0; part < kParts; ++part) sum = add(sum, p.dots[t * kParts + part]);
    (t < before ? shared.with_w[t] : shared.with_v[t - before]) = sum;
  }
  if (t >= kHalf && t < kHalf + 2 * before) {
    const int l = t - kHalf;
    if (l < before) {
      shared.row_of_v[l] = p.v[j + l * p.ldv];
    } else {
      shared.row_of_w[l - before] = p.w[j + (l - before) * p.ldw];
    }
  }
  if (warp_of_block() == kWarps - 2) {
    R sum = 0;
    for (int b = lane; b < static_cast<int>(gridDim.x); b += kWarp) sum += p.forms[b];
    sum = sum_of_warp(sum);
    if (lane == 0) shared.form = sum;
  }
  if (warp_of_block() == kWarps - 1) {
    const TermsOfRow<T> terms(p, j);
    T sum = from_real<T>(0);
    for (int k = lane; k < terms.count; k += kWarp) sum = add(sum, terms(k));
    sum = sum_of_warp(sum);
    if (lane == 0) shared.row_of_y = sum;
  }
  __syncthreads();
}

/// w = tau y + alpha v for y = A v - V (W^H v) - W (V^H v): alpha, and the element of row j, in
/// which v has its 1. Each warp finds both by itself.
template <class T>
struct Correction {
  T tau, alpha, row_of_w;

  __device__ Correction(int j, const Shared<T>& shared) : tau(shared.tau) {
    using R = DeviceReal<T>;
    T y = from_real<T>(0), product_of_both = from_real<T>(0);
    for (int l = lane_of_warp(); l < j - 1; l += kWarp) {
      y = subtract_product(y, shared.row_of_v[l], shared.with_w[l]);
      y = subtract_product(y, shared.row_of_w[l], shared.with_v[l]);
      product_of_both = add_conjugated(product_of_both, shared.with_v[l], shared.with_w[l]);
    }
    y = add(shared.row_of_y, sum_of_warp(y));
    const R form = shared.form - real_part(sum_of_warp(product_of_both));
    alpha = from_real<T>(-squared_modulus(tau) * form);
    row_of_w = add_product(alpha, tau, y);
  }
};

/// A sum of squares of numbers that have been divided by a power of two.
template <class R>
struct Squares {
  static constexpr int kLeast = -QrRange<R>::exponent;
  R sum = 0;
  int exponent = kLeast;

  /// That of numbers of all lanes, of which `largest` is the largest part.
  template <class T>
  __device__ void add_lanes(T x, R largest) {
    largest = combined_of_warp(largest, [](R y, R z) { return fmax(y, z); });
    const int own = largest > 0 ? exponent_of(largest) : kLeast;
    const R more = sum_of_warp(squared_modulus(times_power_of_two(x, -own)));
    const int common = max(exponent, own);
    sum = scalbn(sum, 2 * (exponent - common)) + scalbn(more, 2 * (own - common));
    exponent = common;
  }
};

/// Completes the block's rows of w of step j - 1, and makes those of column j of them, if the panel
/// has that.
template <class T>
__device__ void complete(const Problem<T>& p, int j, Shared<T>& shared) {
  using R = DeviceReal<T>;
  const int lane = lane_of_warp(), warp = warp_of_block(), before = max(j - 1, 0);
  const bool has_before = j > 0, has_column = j < p.columns;
  if (has_before) gather(p, j, shared);
  const Correction<T> correction(j, shared);
  const Vector<T> v{p.x, p.n, j, shared.power, shared.scale};
  Squares<R> squares;
  for (int first = static_cast<int>(blockIdx.x) * kWarp; first < p.n;
       first += static_cast<int>(gridDim.x) * kWarp) {
    const int i = first + lane;
    const bool is_there = i >= j && i < p.n;
    T y = from_real<T>(0), x = from_real<T>(0), vi = from_real<T>(0);
    if (warp == 0) {
      if (has_before && i < p.n) vi = v(i);
      if (has_column && is_there) x = p.a[i + j * p.lda];
    }
    if (has_before && is_there) {
      const TermsOfRow<T> terms(p, i);
      for (int k = warp; k < terms.count; k += kWarps) y = add(y, terms(k));
#pragma unroll 8
      for (int l = warp; l < before; l += kWarps) {
        const T of_v = p.v[i + l * p.ldv], of_w = p.w[i + l * p.ldw];
        y = subtract_product(y, of_v, shared.with_w[l]);
        y = subtract_product(y, of_w, shared.with_v[l]);
        x = subtract_product(x, of_v, conjugate(shared.row_of_w[l]));
        x = subtract_product(x, of_w, conjugate(shared.row_of_v[l]));
      }
    }
    shared.of_chunk[0][warp][lane] = y;
    shared.of_chunk[1][warp][lane] = x;
    __syncthreads();
    if (warp == 0) {
      for (int other = 1; other < kWarps; ++other) {
        y = add(y, shared.of_chunk[0][other][lane]);
        x = add(x, shared.of_chunk[1][other][lane]);
      }
      if (has_before && i < p.n) {
        const T wi = is_there ? add_product(product(correction.tau, y), correction.alpha, vi)
                              : from_real<T>(0);
        p.v[i + (j - 1) * p.ldv] = vi;
        p.w[i + (j - 1) * p.ldw] = wi;
        x = subtract_product(x, vi, conjugate(correction.row_of_w));
        x = add(x, negate(wi));
      }
      if (has_column && i == j) p.d[j] = real_part(x);
      if (has_column && is_there) p.x[i] = x;
      if (i < j + 2 || i >= p.n) x = from_real<T>(0);
      squares.add_lanes(x, largest_part(x));
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    p.squares[blockIdx.x] = squares.sum;
    p.exponents[blockIdx.x] = squares.exponent;
  }
}

// ---- multiply -------------------------------------------------------------------------------

/// All blocks come to reflector j, each by itself. By one warp.
template <class T>
__device__ void find_reflector(const Problem<T>& p, int j, Shared<T>& shared) {
  using R = DeviceReal<T>;
  constexpr int kMost = kMaxBlocks / kWarp;  // of a lane
  const int lane = lane_of_warp(), blocks = static_cast<int>(gridDim.x);
  R squares[kMost];
  int exponents[kMost];
  int exponent = Squares<R>::kLeast;
  R any = 0;  // zero if there are only zeros
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    const int b = lane + k * kWarp;
    squares[k] = b < blocks ? p.squares[b] : R(0);
    exponents[k] = b < blocks ? p.exponents[b] : Squares<R>::kLeast;
    exponent = max(exponent, exponents[k]);
    any += squares[k];
  }
  exponent = __reduce_max_sync(kAllLanes, exponent);
  any = sum_of_warp(any);
  T alpha = p.x[j + 1];
  const R size = largest_part(alpha);
  if (size > 0) exponent = max(exponent, exponent_of(size));
  R sum = 0;
#pragma unroll
  for (int k = 0; k < kMost; ++k) sum += scalbn(squares[k], 2 * (exponents[k] - exponent));
  sum = sum_of_warp(sum);
  const Reflector<T> h = make_reflector(times_power_of_two(alpha, -exponent), sum, any == 0);
  if (lane != 0) return;
  shared.tau = h.tau;
  shared.scale = h.scale;
  shared.power = power_of_two<R>(-exponent);
  if (blockIdx.x != 0) return;
  p.e[j] = times_power_of_two(h.beta, exponent);
  p.tau[j] = h.tau;
}

/// Parts of W^H v and V^H v for the columns before column j. Each is a warp's.
template <class T>
__device__ void multiply_columns(const Problem<T>& p, int j, const Vector<T>& v) {
  const int lane = lane_of_warp(), blocks = static_cast<int>(gridDim.x);
  const int rows = pieces(pieces(p.n - j - 1, kParts), kWarp) * kWarp;  // of a part
  for (int task = warp_of_block() * blocks + static_cast<int>(blockIdx.x); task < 2 * j * kParts;
       task += kWarps * blocks) {
    const int l = task / kParts, first = j + 1 + task % kParts * rows;
    const int last = min(first + rows, p.n);
    const T* const column = l < j ? p.w + l * p.ldw : p.v + (l - j) * p.ldv;
    T sum = from_real<T>(0);
#pragma unroll 8
    for (int i = first + lane; i < last; i += kWarp) sum = add_conjugated(sum, v(i), column[i]);
    sum = sum_of_warp(sum);
    if (lane == 0) p.dots[task] = sum;
  }
}

template <class T, bool kAligned>
__device__ void load(const T* from, T (&x)[kVector<T>]) {
  if constexpr (kAligned) {
    const uint4 bits = *reinterpret_cast<const uint4*>(from);
    memcpy(x, &bits, sizeof bits);
  } else {
#pragma unroll
    for (int r = 0; r < kVector<T>; ++r) x[r] = from[r];
  }
}

/// A tile's rows and a warp's columns: what the former bring for the sums of the latter, and the
/// other way round. A lane has kVector rows from `row` on. The diagonal is shared out, half for its
/// row and half for its column.
template <class T, bool kAligned>
struct PartOfWarp {
  const Problem<T>& p;
  int tile_row, row, column;  // the first ones
  const T (&of_v)[kVector<T>];
  const T* v_of_columns;

  __device__ void multiply(T (&rows)[kVector<T>], T (&columns)[kOwnColumns<T>]) const {
    const bool inside = tile_row >= column + kOwnColumns<T> && tile_row + kRows<T> <= p.n;
    if (inside) {
      multiply_by([](const T* from, int, T(&x)[kVector<T>]) { load<T, kAligned>(from, x); }, rows,
                  columns);
    } else {
      multiply_by([this](const T* from, int k, T(&x)[kVector<T>]) { load_at_edge(from, k, x); },
                  rows, columns);
    }
  }

 private:
  /// load(from, k, x) brings a lane's numbers of column k. Some columns are on their way at a time.
  template <class Load>
  __device__ void multiply_by(Load load, T (&rows)[kVector<T>],
                              T (&columns)[kOwnColumns<T>]) const {
    constexpr int kInFlight = 8;
    const T* const from = p.a + row + column * p.lda;
#pragma unroll
    for (int first = 0; first < kOwnColumns<T>; first += kInFlight) {
      T x[kInFlight][kVector<T>];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) load(from + (first + k) * p.lda, first + k, x[k]);
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) add(x[k], first + k, rows, columns);
    }
  }
  /// Zeros where there is nothing, or the other triangle.
  __device__ void load_at_edge(const T* from, int k, T (&x)[kVector<T>]) const {
#pragma unroll
    for (int r = 0; r < kVector<T>; ++r) {
      const int below = row + r - column - k;  // the diagonal
      x[r] = below >= 0 && row + r < p.n ? from[r] : from_real<T>(0);
      if (below == 0) x[r] = from_real<T>(real_part(x[r]) / 2);
    }
  }
  __device__ void add(const T (&x)[kVector<T>], int k, T (&rows)[kVector<T>],
                      T (&columns)[kOwnColumns<T>]) const {
    const T of_column = v_of_columns[k];
#pragma unroll
    for (int r = 0; r < kVector<T>; ++r) {
      rows[r] = add_product(rows[r], x[r], of_column);
      columns[k] = add_conjugated(columns[k], of_v[r], x[r]);
    }
  }
};

/// The sums of a warp's columns, over all lanes, to their places.
template <class T>
__device__ void store_columns(const Problem<T>& p, int strip, T (&sums)[kOwnColumns<T>]) {
  constexpr int kCount = kOwnColumns<T>;
  const int lane = lane_of_warp(), column = strip * kStrip<T> + warp_of_block() * kCount + lane;
  const Tiling<T> tiling = p.tiling();
  const int place = static_cast<int>(blockIdx.x) - tiling.block_of(tiling.tiles_before(strip));
  T sum = sum_of_mine<kCount>(sums, lane);
#pragma unroll
  for (int mask = kCount; mask < kWarp; mask *= 2) sum = add(sum, of_other_lane(sum, mask));
  if (lane < kCount && column < p.n) p.of_columns[column + Index{place} * p.n] = sum;
#pragma unroll
  for (T& one : sums) one = from_real<T>(0);
}

/// The block's tiles of A v, and of v^H A v.
template <class T, bool kAligned>
__device__ void multiply_tiles(const Problem<T>& p, int j, const Vector<T>& v, Shared<T>& shared) {
  using R = DeviceReal<T>;
  const Tiling<T> tiling = p.tiling();
  const int t = static_cast<int>(threadIdx.x), lane = lane_of_warp(), warp = warp_of_block();
  const int first = tiling.first_tile(static_cast<int>(blockIdx.x)),
            last = tiling.first_tile(static_cast<int>(blockIdx.x) + 1);
  int strip = 0;
  while (tiling.tiles_before(strip + 1) <= first) ++strip;
  T columns[kOwnColumns<T>];
#pragma unroll
  for (T& sum : columns) sum = from_real<T>(0);
  R form = 0;
  bool new_strip = true;
  int set = 0;  // there are two, since sums of one tile are read while the next one's are written
  for (int tile = first; tile < last; ++tile) {
    const int column = strip * kStrip<T> + warp * kOwnColumns<T>;
    if (new_strip) {
      __syncwarp();  // nobody reads the old ones
      if (lane < kOwnColumns<T>) shared.v_of_columns[warp][lane] = v(column + lane);
      __syncwarp();
    }
    const int tile_row = tiling.first_row(strip, tile), row = tile_row + lane * kVector<T>;
    if (tile_row + kRows < T >> j + 1) {  // or else v has only zeros there
      T of_v[kVector<T>], rows[kVector<T>];
#pragma unroll
      for (int r = 0; r < kVector<T>; ++r) {
        of_v[r] = v(row + r);
        rows[r] = from_real<T>(0);
      }
      const T own = t < kRows<T> ? v(tile_row + t) : from_real<T>(0);
      const bool has_any =
          column < p.n && column + kOwnColumns<T> > j + 1 && column < tile_row + kRows<T>;
      if (has_any) {
        PartOfWarp<T, kAligned>{p, tile_row, row, column, of_v, shared.v_of_columns[warp]}.multiply(
            rows, columns);
      }
      T(&of_warps)[kWarps][kRows<T>] = shared.of_tiles[set];
      set = 1 - set;
#pragma unroll
      for (int r = 0; r < kVector<T>; ++r) of_warps[warp][lane * kVector<T> + r] = rows[r];
      __syncthreads();
      if (t < kRows<T>) {
        T sum = of_warps[0][t];
#pragma unroll
        for (int other = 1; other < kWarps; ++other) sum = add(sum, of_warps[other][t]);
        form += real_part(add_conjugated(from_real<T>(0), sum, own));
        if (tile_row + t < p.n) p.of_rows[tile_row + t + Index{strip} * p.n] = sum;
      }
    }
    new_strip = tile + 1 == tiling.tiles_before(strip + 1);
    if (new_strip || tile + 1 == last) store_columns(p, strip, columns);
    if (new_strip) ++strip;
  }
  form = sum_of_warp(form);
  __syncthreads();  // nobody reads sums of tiles
  if (lane == 0) shared.of_warps[warp] = form;
  __syncthreads();
  if (t == 0) {
    for (int other = 1; other < kWarps; ++other) form += shared.of_warps[other];
    p.forms[blockIdx.x] = form;
  }
}

// ---- the panel ------------------------------------------------------------------------------

/// The columns of A become those of T, and what is below v.
template <class T>
__device__ void store_panel(const Problem<T>& p) {
  __syncthreads();
  for (int first = static_cast<int>(blockIdx.x) * kWarp; first < p.n;
       first += static_cast<int>(gridDim.x) * kWarp) {
    const int i = first + lane_of_warp();
    if (i >= p.n) continue;
    for (int j = warp_of_block(); j < min(p.columns, i + 1); j += kWarps) {
      p.a[i + j * p.lda] = i == j       ? from_real<T>(p.d[j])
                           : i == j + 1 ? from_real<T>(p.e[j])
                                        : p.v[i + j * p.ldv];
    }
  }
}

template <class T, bool kAligned>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    sytrd_panel_kernel(Problem<T> p) {
  __shared__ Shared<T> shared;
  GridBarrier barrier(p.arrived);
  for (int j = 0;; ++j) {
    complete(p, j, shared);
    if (j == p.steps) break;
    barrier.wait();
    if (warp_of_block() == 0) find_reflector(p, j, shared);
    __syncthreads();
    const Vector<T> v{p.x, p.n, j + 1, shared.power, shared.scale};
    multiply_columns(p, j, v);
    multiply_tiles<T, kAligned>(p, j, v, shared);
    barrier.wait();
  }
  store_panel(p);
}

// ---- host side ------------------------------------------------------------------------------

/// As many blocks as multiprocessors hold, but no more than there are tiles.
template <class D>
Tiling<D> tiling_of(Index n, int multiprocessors) {
  const int most = std::min(multiprocessors * kBlocksPerMultiprocessor, kMaxBlocks);
  Tiling<D> tiling{static_cast<int>(n), 1};
  tiling.blocks = std::min(tiling.tiles(), most);
  return tiling;
}

/// The work space of a problem. Returns how many bytes it takes.
template <class D>
Index lay_out(Problem<D>& p, Index n, int multiprocessors, char* work) {
  using R = DeviceReal<D>;
  const Tiling<D> tiling = tiling_of<D>(n, multiprocessors);
  int places = 0;
  for (int strip = 0; strip < tiling.strips(); ++strip) {
    places = std::max(places, tiling.blocks_of(strip));
  }
  WorkSpace space(work);
  p.x = space.take<D>(n);
  p.of_rows = space.take<D>(n * tiling.strips());
  p.of_columns = space.take<D>(n * places);
  p.dots = space.take<D>(2 * kWidth * kParts);
  p.forms = space.take<R>(tiling.blocks);
  p.squares = space.take<R>(tiling.blocks);
  p.exponents = space.take<int>(tiling.blocks);
  p.arrived = space.take<unsigned>(1);
  return space.bytes();
}

template <class T>
bool is_aligned(DeviceView<T> a) {
  constexpr std::size_t kBytes = 16;
  return reinterpret_cast<std::uintptr_t>(a.data) % kBytes == 0 &&
         sizeof(T) * static_cast<std::size_t>(a.ld) % kBytes == 0;
}

template <class T>
void enqueue(CudaQueue& queue, const SytrdPanel<T>& op) {
  using D = typename DeviceScalar<T>::type;
  if (op.a.rows > kMaxOrder<D>) throw DeviceError("sytrd: the matrix is too large");
  const int multiprocessors = queue.gpu().multiprocessors;
  Problem<D> p{};
  const Index bytes = lay_out(p, op.a.rows, multiprocessors, reinterpret_cast<char*>(op.work.data));
  if (bytes > static_cast<Index>(sizeof(T)) * op.work.rows) {
    throw DeviceError("sytrd: too little work space");
  }
  p.n = static_cast<int>(op.a.rows);
  p.columns = static_cast<int>(op.columns());
  p.steps = static_cast<int>(op.steps());
  p.a = device_cast(op.a.data);
  p.lda = op.a.ld;
  p.v = device_cast(op.v.data);
  p.ldv = op.v.ld;
  p.w = device_cast(op.w.data);
  p.ldw = op.w.ld;
  p.d = op.d.data;
  p.e = op.e.data;
  p.tau = device_cast(op.tau.data);
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(tiling_of<D>(op.a.rows, multiprocessors).blocks);
  shape.threads = kThreads;
  shape.cooperative = shape.blocks > 1;
  check(cudaMemsetAsync(p.arrived, 0, sizeof *p.arrived, queue.stream()), op.kName);
  launch_kernel(queue.stream(), shape, op.kName,
                is_aligned(op.a) ? sytrd_panel_kernel<D, true> : sytrd_panel_kernel<D, false>, p);
}

}  // namespace

template <class T>
Index sytrd_panel_width() {
  return kWidth;
}

template <class T>
Index sytrd_panel_work(Index n, int multiprocessors) {
  using D = typename DeviceScalar<T>::type;
  Problem<D> p{};
  return quotient_up(lay_out(p, n, multiprocessors, nullptr), Index{sizeof(T)});
}

#define OVERLAPACK_INSTANTIATE(T)                 \
  template Index sytrd_panel_width<T>();          \
  template Index sytrd_panel_work<T>(Index, int); \
  OVERLAPACK_LAUNCH(SytrdPanel<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
