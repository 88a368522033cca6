// One block column of a Cholesky factor is taken through an update by a few vectors, in one launch:
// its diagonal block and all rows below it.
//
// Reflector j of the panel acts on column j of L and all K columns of V. With row b of V and the
// diagonal element a,
//
//   a' = sgn(a) sqrt(a^2 + s |b|^2),
//
// it takes each row [l v] from j down to [l' v'] with
//
//   l' = (a l + s v b^H) / a',   v' = v - w b,   w = (l + l') / (a + a').
//
// (The reflectors are those of algorithms/update/on_cpu.cpp, whose z is b^H / (a + a') and whose w
// is w (a + a') here. That v' is made from the l' that was computed is what makes downdates stable.
// In this form only 1 / a' and 1 / (a + a') have to be waited for, while v b^H needs nothing but
// b.)
//
// A row depends on the reflectors alone. So a thread has a row: its part of V stays in registers,
// its elements of L pass by. What takes time is the chain of the reflectors: each is made from a
// row of V that the one before has changed. A warp makes those of 32 columns, of whose rows its
// lanes have one each; it then publishes them in shared memory, a few columns at a time. The next
// warp, which has the rows of the next 32 columns, has followed column by column, and goes on.
//
// All thread blocks make all reflectors, each for itself. That costs nothing, since the chain takes
// as long on one multiprocessor as on all, and no thread block has to wait for another one. Only
// the first one stores the diagonal block. It does so elsewhere, because the others still read: a
// copy puts it in its place afterwards.
//
// Where V is known for all panels beforehand (UpdatePanels), they need not wait for
// each other. Then one kernel makes the reflectors of all panels, a thread block those of one, and
// another takes all rows below through them.
//
// All precisions compute in double.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "device/cuda/panels/panels.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/trapezoid.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/ptx/gate.cuh"
#include "device/cuda/runtime/copy_part.hpp"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kDiagonalWarps = 8;  // each has 32 columns and their rows of the diagonal block
constexpr int kRowWarps = 4;       // rows below
constexpr int kWarps = kDiagonalWarps + kRowWarps;
constexpr int kWidth = kDiagonalWarps * kWarp;
static_assert(kWidth == UpdateScratch::kOrder);
constexpr int kChunk = 4;  // columns that are published at a time

/// Vectors that go through a panel at a time, at most: as many as the registers hold. Of real ones
/// they hold twice as many as is best if there are no more.
template <class E>
constexpr int kVectors = sizeof(E) == sizeof(double) ? 32 : 8;
template <class E>
constexpr int kVectorsOfSmallPass = sizeof(E) == sizeof(double) ? 16 : 8;

/// The part of a diagonal element's square below which the new square cannot be told from zero.
template <class T>
constexpr double kMinSquareRatio =
    static_cast<double>(std::numeric_limits<DeviceReal<T>>::epsilon());

/// The problem: rows 0, ..., n - 1 are the diagonal block.
template <class T>
struct Panel {
  Index rows;
  int n;
  int vectors;
  double sign;
  double least;  ///< 0, or kMinSquareRatio of a downdate
  Trapezoid<const T> a;
  Trapezoid<T> factor;    ///< for the rows below
  Trapezoid<T> diagonal;  ///< for the diagonal block
  const T* v;
  Index v_ld;
  T* rest;
  Index rest_ld;
  Index* info;
  Index offset;
  DeviceReal<T>* cosines;  ///< null unless there is one vector and they are wanted
  T* sines;
};

template <class E, int K>
struct alignas(16) Reflector {
  E b[K];
  double a;
  double inverse;   ///< 1 / a'
  double quotient;  ///< 1 / (a + a')
  double after;     ///< a', for the warp that makes the reflector
};

template <class E, int K>
struct Shared {
  Gate published[kWidth / kChunk];  ///< by chunk
  alignas(16) Reflector<E, K> reflectors[kWidth];
};

/// Many panels, whose rows of V are `states` times `bases`.
template <class T, class E, int K>
struct Panels {
  Index rows;
  Index n;
  int vectors;
  double sign;
  Trapezoid<const T> a;
  Trapezoid<T> factor;  ///< where it was
  const T* states;
  Index states_ld;
  const E* bases;
  Index bases_ld;
  Reflector<E, K>* reflectors;  ///< by column
  Index* info;
  DeviceReal<T>* cosines;
  T* sines;

  /// Panel number p.
  __device__ Panel<T> panel(Index p) const {
    const Index first = p * kWidth;
    return {rows - first,
            static_cast<int>(min(n - first, Index{kWidth})),
            vectors,
            sign,
            sign > 0 ? 0.0 : kMinSquareRatio<T>,
            a.from(first, first),
            factor.from(first, first),
            factor.from(first, first),
            states + p * vectors * states_ld + first,
            states_ld,
            nullptr,
            0,
            info,
            first,
            cosines == nullptr ? nullptr : cosines + first,
            sines == nullptr ? nullptr : sines + first};
  }
};

/// The upper triangular base of a panel, column by column.
template <class E, int K>
struct Base {
  E column[K][K];
};

// ---- primitives ----

/// 1 / sqrt(x) to about 20 bits, for x neither very large nor very small.
__device__ inline double rough_rsqrt(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
}

// ---- one reflector ----

__device__ inline double add_square(double sum, double x) { return fma(x, x, sum); }
__device__ inline double add_square(double sum, Complex<double> x) {
  return fma(x.im, x.im, fma(x.re, x.re, sum));
}
/// x s + y with a real s.
__device__ inline double scale_and_add(double x, double s, double y) { return fma(x, s, y); }
__device__ inline Complex<double> scale_and_add(Complex<double> x, double s, Complex<double> y) {
  return {fma(x.re, s, y.re), fma(x.im, s, y.im)};
}
__device__ inline double largest_part(double x) { return fabs(x); }
__device__ inline double largest_part(Complex<double> x) { return fmax(fabs(x.re), fabs(x.im)); }

__device__ inline double quotient(double x, double y) { return x / y; }
__device__ inline Complex<double> quotient(Complex<double> x, double y) {
  return {x.re / y, x.im / y};
}

/// x b^H, and |b|^2, in several sums side by side.
template <int K>
constexpr int kSums = K < 4 ? K : 4;
template <class E, int K>
__device__ E product(const E (&x)[K], const E (&b)[K]) {
  E sums[kSums<K>];
#pragma unroll
  for (int q = 0; q < kSums<K>; ++q) sums[q] = from_real<E>(0);
#pragma unroll
  for (int c = 0; c < K; ++c) sums[c % kSums<K>] = add_conjugated(sums[c % kSums<K>], x[c], b[c]);
  if constexpr (kSums<K> == 4) {
    return add(add(sums[0], sums[1]), add(sums[2], sums[3]));
  } else {
    return sums[0];
  }
}
template <class E, int K>
__device__ double square(const E (&b)[K]) {
  double sums[kSums<K>] = {};
#pragma unroll
  for (int c = 0; c < K; ++c) sums[c % kSums<K>] = add_square(sums[c % kSums<K>], b[c]);
  if constexpr (kSums<K> == 4) {
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  } else {
    return sums[0];
  }
}

struct Pivot {
  double after;  ///< a'
  double inverse, quotient;
};

/// The range of squares in which nothing overflows or vanishes.
constexpr double kMinSquare = 0x1p-900, kMaxSquare = 0x1p+900;

/// For ordinary numbers, without a division or a root: rough values, of which one step of a method
/// of third order makes accurate ones. q = a^2 + s |b|^2.
__device__ inline Pivot make_pivot(double a, double q) {
  const double size = fabs(a);
  const double rough = rough_rsqrt(q), rough_root = q * rough;
  const double rough_quotient = approximate_reciprocal(size + rough_root);
  const double error = fma(-rough_root, rough, 1.0), correction = error * fma(error, 0.375, 0.5);
  const double inverse = fma(rough, correction, rough);
  const double root = fma(rough_root, correction, rough_root);
  const double rest = fma(-(size + root), rough_quotient, 1.0);
  const double quotient = fma(rough_quotient, fma(rest, rest, rest), rough_quotient);
  const double after = fma(fma(-root, root, q), 0.5 * inverse, root);  // rounded well
  return {copysign(after, a), copysign(inverse, a), copysign(quotient, a)};
}

/// For any numbers, by one lane: completes a reflector that has b and a; `squares` is |b|^2,
/// perhaps infinite, zero or a NaN. All but a' is scaled by a power of two. If b is zero, or there
/// is no result, the reflector is one that changes nothing. Returns whether there is a result.
template <class E, int K>
__device__ __noinline__ bool make_pivot_carefully(double sign, double least, double squares,
                                                  Reflector<E, K>& y) {
  const double a = y.a;
  double largest = 0;
  for (int c = 0; c < K; ++c) largest = fmax(largest, largest_part(y.b[c]));
  bool possible = sign > 0 || a != 0;
  if ((largest > 0 || isnan(squares)) && possible) {
    const int exponent = ilogb(fmax(largest, fabs(a)));
    // In two steps, because 2^-exponent itself may overflow.
    const double half = scalbn(1.0, -exponent / 2), rest = scalbn(1.0, -exponent + exponent / 2);
    const double scaled = a * half * rest;
    double q = 0;
    for (int c = 0; c < K; ++c) q = add_square(q, scale(scale(y.b[c], half), rest));
    q = fma(scaled, scaled, sign * q);
    possible = sign > 0 || q > least * scaled * scaled;  // not if it is a NaN
    if (possible) {
      const double root = sqrt(q);
      for (int c = 0; c < K; ++c) y.b[c] = scale(scale(y.b[c], half), rest);
      y.a = scaled;
      y.inverse = copysign(1 / root, a);
      y.quotient = copysign(1 / (fabs(scaled) + root), a);
      y.after = copysign(scalbn(root, exponent), a);
      return true;
    }
  }
  for (int c = 0; c < K; ++c) y.b[c] = from_real<E>(0);
  y.a = y.inverse = 1;
  y.quotient = 0;
  y.after = a;
  return possible;
}

/// Takes a row through a reflector; returns l'.
template <class E, int K>
__device__ E reflect(double sign, double a, double inverse, double quotient, const E (&b)[K], E l,
                     E (&v)[K]) {
  const E after = scale(scale_and_add(product(v, b), sign, scale(l, a)), inverse);
  const E w = scale(add(l, after), quotient);
#pragma unroll
  for (int c = 0; c < K; ++c) v[c] = subtract_product(v[c], w, b[c]);
  return after;
}

// ---- rows ----

template <class E, int K, class T>
__device__ void load_vectors(const Panel<T>& panel, Index row, E (&v)[K]) {
#pragma unroll
  for (int c = 0; c < K; ++c) {
    v[c] = from_real<E>(0);
    if (row < panel.rows && c < panel.vectors) convert(v[c], panel.v[row + c * panel.v_ld]);
  }
}

/// Elements j, ..., j + kChunk - 1 of a row of L; zeros from column `end` on.
template <class E, class T>
__device__ void load_chunk(const Panel<T>& panel, Index row, int j, int end, E (&l)[kChunk]) {
#pragma unroll
  for (int c = 0; c < kChunk; ++c) {
    l[c] = from_real<E>(0);
    if (row < panel.rows && j + c < end && j + c <= row) {
      const T stored = *panel.a.at(row, j + c);
      convert(l[c], panel.a.mirrored ? conjugate(stored) : stored);
    }
  }
}

template <class E, class T>
__device__ void store(const Trapezoid<T>& to, Index row, int j, E l) {
  convert(*to.at(row, j), to.mirrored ? conjugate(l) : l);
}

/// A row of V from what elimination has left of it.
template <class E, int K>
__device__ void apply(const Base<E, K>& base, E (&v)[K]) {
#pragma unroll
  for (int c = K - 1; c >= 0; --c) {
    E sum = from_real<E>(0);
#pragma unroll
    for (int d = 0; d <= c; ++d) sum = add_product(sum, v[d], base.column[c][d]);
    v[c] = sum;
  }
}

/// Takes a row through the first `end` reflectors; wait(i) returns when chunk i of them is there.
template <class E, int K, class T, class Wait>
__device__ void follow(const Panel<T>& panel, const Reflector<E, K>* reflectors, Wait wait,
                       Index row, int end, bool stores, const Trapezoid<T>& to, E (&v)[K]) {
  E l[kChunk], next[kChunk];
  load_chunk(panel, row, 0, end, l);
  for (int j = 0; j < end; j += kChunk) {
    load_chunk(panel, row, j + kChunk, end, next);
    const int last = min(j + kChunk, end);
    wait(j / kChunk);
#pragma unroll
    for (int c = 0; c < kChunk; ++c) {
      if (j + c < last) {
        const Reflector<E, K>& y = reflectors[j + c];
        E b[K];
#pragma unroll
        for (int e = 0; e < K; ++e) b[e] = y.b[e];
        const E after = reflect(panel.sign, y.a, y.inverse, y.quotient, b, l[c], v);
        if (stores && row < panel.rows) store(to, row, j + c, after);
      }
      l[c] = next[c];
    }
  }
}

/// The rotation that takes [a b], one vector, to [a' 0].
template <class E, class T>
__device__ void store_rotation(const Panel<T>& panel, int j, double a, E b, double after) {
  const bool none = after == 0;
  panel.cosines[j] = static_cast<DeviceReal<T>>(none ? 1 : a / after);
  convert(panel.sines[j], none ? from_real<E>(0) : quotient(b, after));
}

/// The reflectors of columns first, ..., end - 1, at most 32, of which this lane has row first +
/// lane.
template <class E, int K, class T>
__device__ void lead(const Panel<T>& panel, Shared<E, K>& shared, int first, int end, bool stores,
                     int lane, E (&v)[K]) {
  const int i = first + lane;
  const Index row = i < panel.n ? i : panel.rows;  // lanes beyond the block have zeros
  E l[kChunk], next[kChunk];
  load_chunk(panel, row, first, end, l);
  for (int j = first; j < end; j += kChunk) {
    load_chunk(panel, row, j + kChunk, end, next);
    const int last = min(j + kChunk, end);
#pragma unroll
    for (int c = 0; c < kChunk; ++c) {
      if (j + c < last) {
        Reflector<E, K>& y = shared.reflectors[j + c];
        const bool own = i == j + c;
        if (own) {
#pragma unroll
          for (int e = 0; e < K; ++e) y.b[e] = v[e];
          y.a = real_part(l[c]);
        }
        __syncwarp();
        E b[K];
#pragma unroll
        for (int e = 0; e < K; ++e) b[e] = y.b[e];
        const double a = y.a, squares = square(b), q = fma(a, a, panel.sign * squares);
        Pivot pivot;
        double scaled = a;
        if (squares > kMinSquare && q < kMaxSquare && q > kMinSquare && q > panel.least * a * a) {
          pivot = make_pivot(a, q);
          if (own) {
            y.inverse = pivot.inverse;
            y.quotient = pivot.quotient;
          }
        } else {
          __syncwarp();  // everybody has read b
          if (lane == 0 && !make_pivot_carefully(panel.sign, panel.least, squares, y) && stores) {
            const Index info = panel.offset + j + c + 1;
            if (*panel.info == 0 || *panel.info > info) *panel.info = info;
          }
          __syncwarp();
#pragma unroll
          for (int e = 0; e < K; ++e) b[e] = y.b[e];
          pivot = {y.after, y.inverse, y.quotient};
          scaled = y.a;
        }
        if (own && stores) {
          if (panel.cosines != nullptr) store_rotation(panel, j + c, a, v[0], pivot.after);
          convert(*panel.diagonal.at(row, j + c), from_real<E>(pivot.after));  // never -0 i
        } else if (i > j + c) {
          const E after = reflect(panel.sign, scaled, pivot.inverse, pivot.quotient, b, l[c], v);
          if (stores && row < panel.n) store(panel.diagonal, row, j + c, after);
        }
      }
      l[c] = next[c];
    }
    shared.published[j / kChunk].arrive();
  }
}

/// The reflectors of a panel, by a warp that has 32 columns, and their rows of the diagonal block.
template <class E, int K, class T, class Prepare>
__device__ void make_reflectors(const Panel<T>& panel, Shared<E, K>& shared, int warp, int lane,
                                bool stores, Prepare prepare) {
  const int first = warp * kWarp;
  if (first >= panel.n) return;
  const Index row = first + lane < panel.n ? first + lane : panel.rows;
  E v[K];
  load_vectors(panel, row, v);
  prepare(v);
  const auto wait = [&](int chunk) { shared.published[chunk].wait(); };
  follow(panel, shared.reflectors, wait, row, first, stores, panel.diagonal, v);
  lead(panel, shared, first, min(first + kWarp, panel.n), stores, lane, v);
}

template <class T, class E, int K>
__global__ void __launch_bounds__(kWarps* kWarp) update_panel_kernel(Panel<T> panel) {
  extern __shared__ double2 memory[];
  auto& shared = *reinterpret_cast<Shared<E, K>*>(memory);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  if (thread < kWidth / kChunk) shared.published[thread].expect(1);
  __syncthreads();

  if (warp < kDiagonalWarps) {
    make_reflectors(panel, shared, warp, lane, blockIdx.x == 0, [](E(&)[K]) {});
  }
  // The first rows below are for the row warps, which follow closely; others for whoever is free.
  const Index close = Index{gridDim.x} * kRowWarps, all = Index{gridDim.x} * kWarps;
  const Index mine = warp < kDiagonalWarps
                         ? close + Index{blockIdx.x} * kWarps + warp
                         : Index{blockIdx.x} * kRowWarps + (warp - kDiagonalWarps);
  const Index then = close + Index{blockIdx.x} * kWarps + warp;
  const auto wait = [&](int chunk) { shared.published[chunk].wait(); };
  for (Index group = mine; panel.n + group * kWarp < panel.rows;
       group = group < close ? then : group + all) {
    const Index row = panel.n + group * kWarp + lane;
    E v[K];
    load_vectors(panel, row, v);
    follow(panel, shared.reflectors, wait, row, panel.n, true, panel.factor, v);
    if (row < panel.rows) {
#pragma unroll
      for (int c = 0; c < K; ++c) {
        if (c < panel.vectors) convert(panel.rest[row - panel.n + c * panel.rest_ld], v[c]);
      }
    }
  }
}

/// The base of panel p, with zeros where there are no vectors; by all threads.
template <class T, class E, int K>
__device__ void load(const Panels<T, E, K>& panels, Index p, Base<E, K>& base) {
  for (int e = static_cast<int>(threadIdx.x); e < K * K; e += static_cast<int>(blockDim.x)) {
    const int c = e / K, d = e % K;
    const bool there = c < panels.vectors && d < panels.vectors;
    base.column[c][d] =
        there ? panels.bases[(p * panels.vectors + c) * panels.bases_ld + d] : from_real<E>(0);
  }
}

/// The reflectors of all panels and their diagonal blocks, a panel for each thread block.
template <class T, class E, int K>
__global__ void __launch_bounds__(kDiagonalWarps* kWarp) reflectors_kernel(Panels<T, E, K> panels) {
  extern __shared__ double2 memory[];
  auto& shared = *reinterpret_cast<Shared<E, K>*>(memory);
  __shared__ Base<E, K> base;
  const int thread = static_cast<int>(threadIdx.x);
  const Panel<T> panel = panels.panel(blockIdx.x);
  if (thread < kWidth / kChunk) shared.published[thread].expect(1);
  load(panels, blockIdx.x, base);
  __syncthreads();
  make_reflectors(panel, shared, thread / kWarp, thread % kWarp, true,
                  [&](E(&v)[K]) { apply(base, v); });
  __syncthreads();
  for (int j = thread; j < panel.n; j += kDiagonalWarps * kWarp) {
    panels.reflectors[panel.offset + j] = shared.reflectors[j];
  }
}

constexpr int kFollowers = 256;  // rows of a thread block

/// Some columns of 32 rows, in shared memory: rows and columns of L are not equally far apart, and
/// which of them are adjacent depends on the triangle; here lanes read columns and copy whatever is
/// adjacent.
template <class T>
struct RowTile {
  static constexpr int kColumns = 8;
  T element[kWarp][kColumns + 1];  // rows in different banks

  /// Calls f(row, column) for a lane's share of the tile.
  template <class F>
  __device__ static void for_each(bool rows_adjacent, int lane, F f) {
#pragma unroll
    for (int q = 0; q < kColumns; ++q) {
      const int e = q * kWarp + lane;
      rows_adjacent ? f(lane, q) : f(e / kColumns, e % kColumns);
    }
  }
  /// The tile that begins with element (0, 0) of `from`, of which there are so many rows.
  __device__ void start_loading(const Trapezoid<const T>& from, Index rows, int lane) {
    for_each(!from.mirrored, lane, [&](int i, int j) {
      if (i < rows) start_copy(&element[i][j], from.at(i, j));
    });
    end_of_copies();
  }
  __device__ void store(const Trapezoid<T>& to, Index rows, int lane) const {
    for_each(!to.mirrored, lane, [&](int i, int j) {
      if (i < rows) *to.at(i, j) = element[i][j];
    });
  }
};

template <class T, class E, int K>
struct SharedOfFollowers {
  alignas(16) Reflector<E, K> reflectors[kWidth];
  Base<E, K> base;
  RowTile<T> tiles[kFollowers / kWarp][2];  // of each warp: one is used while the other arrives
};

/// Takes the rows below the diagonal blocks through the reflectors: `parts` thread blocks for each
/// panel.
template <class T, class E, int K>
__global__ void __launch_bounds__(kFollowers, K * sizeof(E) <= 128 ? 2 : 1)
    followers_kernel(Panels<T, E, K> panels, unsigned parts) {
  extern __shared__ double2 memory[];
  auto& shared = *reinterpret_cast<SharedOfFollowers<T, E, K>*>(memory);
  const Index p = blockIdx.x / parts, part = blockIdx.x % parts;
  const Panel<T> panel = panels.panel(p);
  if (panel.n + part * kFollowers >= panel.rows) return;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const Index top = panel.n + part * kFollowers + warp * kWarp, rows = panel.rows - top;
  constexpr int kColumns = RowTile<T>::kColumns;
  RowTile<T>(&tiles)[2] = shared.tiles[warp];
  tiles[0].start_loading(panel.a.from(top, 0), rows, lane);
  load(panels, p, shared.base);
  constexpr int kWords = static_cast<int>(sizeof(Reflector<E, K>) / sizeof(double2));
  const auto* const from = reinterpret_cast<const double2*>(panels.reflectors + panel.offset);
  for (int e = thread; e < kWidth * kWords; e += kFollowers) {
    reinterpret_cast<double2*>(shared.reflectors)[e] = from[e];
  }
  __syncthreads();
  if (rows <= 0) return;
  E v[K];
  load_vectors(panel, top + lane, v);
  apply(shared.base, v);
#pragma unroll 1
  for (int j = 0; j < kWidth; j += kColumns) {
    RowTile<T>& tile = tiles[j / kColumns % 2];
    if (j + kColumns < kWidth) {
      tiles[(j / kColumns + 1) % 2].start_loading(panel.a.from(top, j + kColumns), rows, lane);
      wait_for_copies<1>();
    } else {
      wait_for_copies<0>();
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const Reflector<E, K>& y = shared.reflectors[j + c];
      E b[K], l;
#pragma unroll
      for (int e = 0; e < K; ++e) b[e] = y.b[e];
      T& element = tile.element[lane][c];
      convert(l, panel.a.mirrored ? conjugate(element) : element);
      const E after = reflect(panel.sign, y.a, y.inverse, y.quotient, b, l, v);
      convert(element, panel.a.mirrored ? conjugate(after) : after);
    }
    __syncwarp();
    tile.store(panel.factor.from(top, j), rows, lane);
    __syncwarp();
  }
}

template <class D, int K>
void launch_panels(cudaStream_t stream, Panels<D, DoubleScalar<D>, K> panels) {
  using E = DoubleScalar<D>;
  const Index count = quotient_up(panels.n, kWidth);
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(count);
  shape.threads = kDiagonalWarps * kWarp;
  shape.shared_bytes = shared_by_all<Shared<E, K>>();
  launch_kernel(stream, shape, "update panels", reflectors_kernel<D, E, K>, panels);
  const Index below = panels.rows - std::min<Index>(panels.n, kWidth);
  const auto parts = static_cast<unsigned>(quotient_up(below, kFollowers));
  if (parts == 0) return;
  shape.blocks = static_cast<unsigned>(count) * parts;
  shape.threads = kFollowers;
  shape.shared_bytes = shared_by_all<SharedOfFollowers<D, E, K>>();
  launch_kernel(stream, shape, "update panels", followers_kernel<D, E, K>, panels, parts);
}

template <class D, int K>
void launch_update(cudaStream_t stream, int multiprocessors, const Panel<D>& panel) {
  using E = DoubleScalar<D>;
  constexpr Index kRows = kRowWarps * kWarp;
  const Index wanted = quotient_up(panel.rows - panel.n, kRows);
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(std::clamp<Index>(wanted, 1, multiprocessors));
  shape.threads = kWarps * kWarp;
  shape.shared_bytes = shared_by_all<Shared<E, K>>();
  launch_kernel(stream, shape, "update panel", update_panel_kernel<D, E, K>, panel);
}

/// Calls f with the smallest number of vectors that there are kernels for, as a constant.
template <class E, class F>
void with_kernel_for(Index vectors, F f) {
  if (vectors <= 1) {
    f(std::integral_constant<int, 1>());
  } else if (vectors <= 4) {
    f(std::integral_constant<int, 4>());
  } else if (vectors <= kVectorsOfSmallPass<E>) {
    f(std::integral_constant<int, kVectorsOfSmallPass<E>>());
  } else {
    f(std::integral_constant<int, kVectors<E>>());
  }
}

/// The kernels' view of a group of vectors: columns j, ... of V.
template <class T>
Panel<typename DeviceScalar<T>::type> panel_of(const UpdatePanel<T>& op, DeviceView<const T> a,
                                               DeviceView<T> result, Index j, Index count) {
  using D = typename DeviceScalar<T>::type;
  const bool upper = op.uplo == Uplo::upper, adds = j < op.plus;
  return {op.rows(),
          static_cast<int>(op.columns()),
          static_cast<int>(count),
          adds ? 1.0 : -1.0,
          adds ? 0.0 : kMinSquareRatio<D>,
          Trapezoid<const D>{a, upper},
          Trapezoid<D>{op.factor, upper},
          Trapezoid<D>{device_cast(result.data), result.ld, upper},
          device_cast(op.v.data) + j * op.v.ld,
          op.v.ld,
          device_cast(op.rest.data) + j * op.rest.ld,
          op.rest.ld,
          op.info.data,
          op.offset,
          op.c.data,
          device_cast(op.s.data)};
}

template <class T>
void enqueue(CudaQueue& queue, const UpdatePanel<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using E = DoubleScalar<D>;
  const UpdateScratch& scratch = queue.update_scratch();
  const DeviceView<T>& factor = op.factor;
  const Index n = op.columns();
  DeviceView<const T> a = op.a;
  // In groups of vectors, those that are added first.
  for (Index j = 0; j < op.v.cols;) {
    const bool in_place = a.data == factor.data;
    const Index count = std::min<Index>((j < op.plus ? op.plus : op.v.cols) - j, kVectors<E>);
    const DeviceView<T> result =
        in_place ? DeviceView<T>(static_cast<T*>(scratch.memory()), n, n, kWidth) : factor;
    const Panel<D> panel = panel_of(op, a, result, j, count);
    with_kernel_for<E>(count, [&](auto vectors) {
      launch_update<D, decltype(vectors)::value>(queue.stream(), queue.gpu().multiprocessors,
                                                 panel);
    });
    if (in_place) {
      copy_part(queue.stream(), {factor.data, sizeof(T) * static_cast<std::size_t>(factor.ld),
                                 result.data, sizeof(T) * static_cast<std::size_t>(result.ld),
                                 sizeof(T), n, n, part_of(op.uplo), 0});
    }
    a = factor;  // for the next group
    j += count;
  }
}

template <class T>
void enqueue(CudaQueue& queue, const UpdatePanels<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using E = DoubleScalar<D>;
  const bool upper = op.uplo == Uplo::upper;
  with_kernel_for<E>(op.k, [&](auto vectors) {
    constexpr int K = decltype(vectors)::value;
    static_assert(K <= UpdatePanels<T>::kMaxVectors &&
                  sizeof(Reflector<E, K>) <= UpdatePanels<T>::kReflector * sizeof(E));
    launch_panels<D, K>(queue.stream(), {op.rows(),
                                         op.columns(),
                                         static_cast<int>(op.k),
                                         static_cast<double>(op.sign),
                                         {device_cast(op.a.data), op.a.ld, upper},
                                         {device_cast(op.a.data), op.a.ld, upper},
                                         device_cast(op.states.data),
                                         op.states.ld,
                                         device_cast(op.bases.data),
                                         op.bases.ld,
                                         reinterpret_cast<Reflector<E, K>*>(op.reflectors.data),
                                         op.info.data,
                                         op.c.data,
                                         device_cast(op.s.data)});
  });
}

}  // namespace

#define OVERLAPACK_INSTANTIATE(T) \
  OVERLAPACK_LAUNCH(UpdatePanel<T>) OVERLAPACK_LAUNCH(UpdatePanels<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
