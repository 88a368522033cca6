// Cholesky factorization of one diagonal block, and the inverse of its factor, in the registers of
// one thread block.
//
// The block is divided into 16 x 16 tiles and factored right-looking. Step k is, with tiles A(i,
// j),
//
//   1. A(k, k) = L(k, k) L(k, k)^H, and the inverse M of L(k, k);
//   2. L(i, k) = A(i, k) M^H             for i > k;
//   3. A(i, j) -= L(i, k) L(j, k)^H      for i >= j > k.
//
// The inverse comes from eliminating the rows of a unit matrix along with those of A: a row x of A
// becomes x L^-H, so the unit matrix becomes L^-H. Its row tile i first differs from the unit
// matrix in step i, when row tile i of A is finished. So one warp owns row tile i of both, one
// after the other, and keeps it in registers all the time, in the layout of tile.cuh: tiles are
// loaded from global memory once, at the start, and stored once, when they are final. (Only the
// diagonal tiles are in shared memory, because there are not registers enough for eight tiles.)
//
// Time goes into the chain of the small factorizations, and a warp that shares its quarter of the
// multiprocessor with tensor core work waits for the unit at each of its thousands of dependent
// steps. So the chain has a warp and a quarter to itself. It runs ahead of the others: as soon as
// it has published L(k, k) and M it computes L(k + 1, k) and A(k + 1, k + 1) for itself, from what
// the owner of row k + 1 handed over after step k - 1, and factors on.
//
// Phase 2 multiplies with an inverse, which by itself is as stable as the tile is well conditioned.
// Where that is in doubt, one step of iterative refinement makes the result as good as that of
// substitution (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., Theorem 12.3).
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
constexpr int kTiles = sizeof(E) == sizeof(double) ? 8 : 4;

// Who does what. Warp w runs in quarter w % 4 of the multiprocessor: the chain is alone in quarter
// 0, and the rows are spread over the others so that each has the same work. Warps without a part
// end at once.
template <class E>
constexpr int kWarps = sizeof(E) == sizeof(double) ? 12 : 8;
constexpr int kChain = -1, kNoPart = -2;
__device__ inline int part_of(int warp) {
  static constexpr signed char kParts[] = {kChain, 0, 1,       2,       kNoPart, 7,
                                           3,      5, kNoPart, kNoPart, 4,       6};
  return kParts[warp];
}

/// A tile row by row, as the chain works with it. The padding keeps rows in different banks.
template <class E>
struct Rows {
  static constexpr int kStride = kTile + 2;
  struct alignas(16) Pair {
    E x, y;
  };
  Pair pair[kTile][kStride / 2];

  __device__ E* row(int i) { return &pair[i][0].x; }
  __device__ const E* row(int i) const { return &pair[i][0].x; }

  __device__ Fragment<E> load(int lane) const {
    Fragment<E> x;
    for_each_element([&](int h, int j, int e) {
      const Pair p = pair[fragment_row(lane, h)][fragment_column(lane, j, 0) / 2];
      x.set(h, j, e, e == 0 ? p.x : p.y);
    });
    return x;
  }
  /// The conjugate transpose.
  __device__ Fragment<E> load_adjoint(int lane) const {
    Fragment<E> x;
    for_each_element([&](int h, int j, int e) {
      x.set(h, j, e, conjugate(row(fragment_column(lane, j, e))[fragment_row(lane, h)]));
    });
    return x;
  }
  __device__ void store(int lane, const Fragment<E>& x) {
    for_each_element([&](int h, int j, int e) {
      if (e == 1) return;
      pair[fragment_row(lane, h)][fragment_column(lane, j, 0) / 2] = {x.get(h, j, 0),
                                                                      x.get(h, j, 1)};
    });
  }
};

/// What the chain tells the others in one step.
template <class E>
struct Step {
  Rows<E> factor;    ///< L, zeros above the diagonal
  Rows<E> inverse;   ///< M = L^-1
  int completed;     ///< number of columns before the first pivot that is not positive
  unsigned regular;  ///< bit j: pivot j is positive and finite
  bool refine;       ///< products with M need refinement
};
constexpr unsigned kAllRegular = (1u << kTile) - 1;

/// Columns that the chain eliminates at a time.
constexpr int kStrip = 4;

template <class E>
struct Shared {
  // What is written in one step may still be read in the next one: it takes turns.
  Step<E> step[2];
  Tile<E> ahead[2];                            // A(k + 1, k) after step k - 1, for the chain
  Tile<E> diagonal[kTiles<E>];                 // A(i, i)
  Tile<E> panel[kTiles<E>];                    // L(i, k), i > k; elsewhere a warp's own
  E pivots[kStrip][kStrip];                    // the chain's own
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

template <class E>
__device__ E zero_or_one(bool one) {
  return from_real<E>(one ? 1.0 : 0.0);
}

/// Tile (i, k), k <= i; beyond order n that of a unit matrix.
template <class E, class T>
__device__ Fragment<E> load_tile(const Triangle<const T>& from, int n, int i, int k, int lane) {
  const int row = i * kTile + fragment_row(lane, 0),
            column = k * kTile + fragment_column(lane, 0, 0);
  const T* const p = from.at(row, column);
  Fragment<E> x;
  for_each_element([&](int h, int j, int e) {
    const int r = row + 8 * h, c = column + 8 * j + e;
    T loaded = from_real<T>(r == c);
    if (r < n && c <= r) loaded = p[8 * h * from.row_stride + (8 * j + e) * from.column_stride];
    E value;
    convert(value, from.mirrored ? conjugate(loaded) : loaded);
    x.set(h, j, e, value);
  });
  return x;
}

enum class Part { lower, whole };

/// Stores tile (i, k). Columns from `completed` on become those of the unit matrix.
template <class E, class T>
__device__ void store_tile(const Triangle<T>& to, Part part, int n, int completed, int i, int k,
                           int lane, Fragment<E> x) {
  const int row = i * kTile + fragment_row(lane, 0),
            column = k * kTile + fragment_column(lane, 0, 0);
  if (completed < n) {
    for_each_element([&](int h, int j, int e) {
      const int r = row + 8 * h, c = column + 8 * j + e;
      if (c >= completed) x.set(h, j, e, zero_or_one<E>(r == c));
    });
  }
  T* const p = to.at(row, column);
  for_each_element([&](int h, int j, int e) {
    const int r = row + 8 * h, c = column + 8 * j + e;
    if (r < n && c < n && (part == Part::whole || c <= r)) {
      const E value = x.get(h, j, e);
      convert(p[8 * h * to.row_stride + (8 * j + e) * to.column_stride],
              to.mirrored ? conjugate(value) : value);
    }
  });
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

/// y - x conj(l) / d, given 1 / d.
__device__ inline double eliminated(double y, double x, double l, double reciprocal) {
  return fma(-(x * l), reciprocal, y);
}
__device__ inline Complex<double> eliminated(Complex<double> y, Complex<double> x,
                                             Complex<double> l, double reciprocal) {
  const double re = fma(x.im, l.im, x.re * l.re), im = fma(x.im, l.re, -(x.re * l.im));
  return {fma(-re, reciprocal, y.re), fma(-im, reciprocal, y.im)};
}

/// Cholesky factorization of a tile by one warp, with one row of [A; I] in each lane: lane r < 16
/// has row r of A, which becomes that of L, and lane 16 + r has row r of the unit matrix, which
/// becomes that of L^-H. kStrip columns at a time; the square on the strip's diagonal is in every
/// lane, because doing the same many times over costs less than exchanging it column by column.
template <class E>
struct Elimination {
  int lane;
  E row[kTile];              // from the strip's first column on
  E pivots[kStrip][kStrip];  // lower triangle
  double diagonal[kStrip];   // of A
  int completed = kTile;     // as in Step
  unsigned regular = kAllRegular;
  double reduction = 1;  // product of the quotients (diagonal element of A) / pivot so far

  /// The fast way, with d = L(k, k)^2 instead of L(k, k) in the chain of dependent operations.
  /// False if a pivot is not an ordinary positive number; nothing is valid then.
  __device__ bool run_fast() {
    bool ordinary = true;
    double root[kStrip];  // reciprocals
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {
      const double d = real_part(pivots[k][k]);
      // So far from overflow that no product of three numbers is lost. Exponent and sign by integer
      // arithmetic, beside the chain of the floating point unit.
      constexpr unsigned kSmallest = (1023 - 300) << 20, kLargest = (1023 + 300) << 20;
      const unsigned high = static_cast<unsigned>(__double2hiint(d));
      ordinary = ordinary && high - kSmallest < kLargest - kSmallest;
      // About 20 bits, and steps of third order: with e = 1 - d y, 1 / d = y (1 + e + e^2 + ...),
      // and with e = 1 - d y^2, 1 / sqrt(d) = y (1 + e / 2 + 3 e^2 / 8 + ...).
      double y, z;
      asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
      const double e = fma(-d, y, 1.0);
      const double reciprocal = fma(fma(e, e, e), y, y);
      asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(z) : "d"(d));
      const double f = fma(-d, z * z, 1.0);
      root[k] = fma(fma(f, 0.375, 0.5), f * z, z);
#pragma unroll
      for (int j = k + 1; j < kStrip; ++j) {
#pragma unroll
        for (int i = j; i < kStrip; ++i) {
          pivots[i][j] = eliminated(pivots[i][j], pivots[i][k], pivots[j][k], reciprocal);
        }
        row[j] = eliminated(row[j], row[k], pivots[j][k], reciprocal);
      }
      reduction *= diagonal[k] * reciprocal;
    }
#pragma unroll
    for (int k = 0; k < kStrip; ++k) row[k] = scale(row[k], root[k]);
    return ordinary;
  }

  /// For any pivots; the strip starts with column `first`. After the first pivot that is not
  /// positive, columns are those of the unit matrix.
  __device__ void run_carefully(int first) {
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {
      const double pivot = real_part(pivots[k][k]), root = sqrt(pivot);
      if (!(pivot > 0)) completed = min(completed, first + k);  // a NaN fails, too
      if (completed < kTile || isinf(pivot)) regular &= ~(1u << (first + k));
      const double reciprocal = 1 / root;  // no root is so small that this overflows
      row[k] = lane == first + k ? from_real<E>(root) : scale(row[k], reciprocal);
#pragma unroll
      for (int i = k + 1; i < kStrip; ++i) pivots[i][k] = scale(pivots[i][k], reciprocal);
#pragma unroll
      for (int j = k + 1; j < kStrip; ++j) {
        const E ljk = conjugate(pivots[j][k]);
#pragma unroll
        for (int i = j; i < kStrip; ++i) {
          pivots[i][j] = subtract_product(pivots[i][j], pivots[i][k], ljk);
        }
        row[j] = subtract_product(row[j], row[k], ljk);
      }
    }
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {
      if (first + k >= completed) row[k] = zero_or_one<E>(lane % kTile == first + k);
    }
    reduction = INFINITY;
  }
};

/// Products with M are as good as substitution if L, its rows scaled to unit length, is well
/// conditioned. Its condition number is less than 2 / det = 2 sqrt(reduction) (Guggenheimer,
/// Edelman and Johnson, A simple estimate of the condition number of a linear system, 1995).
constexpr double kLargestReduction = 100;

/// Phase 1, by one warp. `a` is the tile, of which only the lower triangle is used.
template <class E>
__device__ void factor_tile(Step<E>& step, E (&pivots)[kStrip][kStrip], const Fragment<E>& a,
                            int lane) {
  step.factor.store(lane, a);  // L takes its place strip by strip
  __syncwarp();
  const int r = lane % kTile;
  const bool unit = lane >= kTile;
  Elimination<E> elimination;
  elimination.lane = lane;
  E(&row)[kTile] = elimination.row;
#pragma unroll
  for (int c = 0; c < kTile; ++c) {
    row[c] = step.factor.row(r)[c];
    if (unit) row[c] = zero_or_one<E>(r == c);
  }
  const auto load_pivots = [&](const E* from, int stride) {
#pragma unroll
    for (int i = 0; i < kStrip; ++i) {
#pragma unroll
      for (int j = 0; j <= i; ++j) elimination.pivots[i][j] = from[i * stride + j];
    }
  };
  const auto load_diagonal = [&](int first) {
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {
      elimination.diagonal[k] = real_part(step.factor.row(first + k)[first + k]);
    }
  };
  load_pivots(step.factor.row(0), Rows<E>::kStride);
  load_diagonal(0);
  __syncwarp();
#pragma unroll 1
  for (int first = 0;; first += kStrip) {
    E x[kStrip];
#pragma unroll
    for (int k = 0; k < kStrip; ++k) x[k] = row[k];
    if (elimination.completed < kTile || !elimination.run_fast()) {
#pragma unroll
      for (int k = 0; k < kStrip; ++k) row[k] = x[k];
      if (first == 0) {
        load_pivots(step.factor.row(0), Rows<E>::kStride);
      } else {
        load_pivots(pivots[0], kStrip);
      }
      elimination.run_carefully(first);
      __syncwarp();
    }
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {  // rows of L, columns of M
      const int c = first + k;
      x[k] = row[k];
      if (unit) {
        step.inverse.row(c)[r] = r <= c ? conjugate(x[k]) : from_real<E>(0);
      } else {
        step.factor.row(r)[c] = c < r ? x[k] : from_real<E>(c == r ? real_part(x[k]) : 0);
      }
    }
    const int next = first + kStrip;
    if (next == kTile) break;
    __syncwarp();

    // The columns to the right, which move to the left; those of the next strip first.
    const auto update = [&](int c) {
#pragma unroll
      for (int j = c; j < c + kStrip; ++j) {
        const E* const l = step.factor.row(next + j) + first;
        E y = row[j + kStrip];
#pragma unroll
        for (int k = 0; k < kStrip; ++k) y = subtract_product(y, x[k], conjugate(l[k]));
        row[j] = y;
      }
    };
    update(0);
    if (lane / kStrip == next / kStrip) {
#pragma unroll
      for (int j = 0; j < kStrip; ++j) pivots[lane % kStrip][j] = row[j];
    }
    load_diagonal(next);
    __syncwarp();
    load_pivots(pivots[0], kStrip);
#pragma unroll
    for (int c = kStrip; c + kStrip < kTile; c += kStrip) {
      if (next + c < kTile) update(c);
    }
  }
  if (lane == 0) {
    step.completed = elimination.completed;
    step.regular = elimination.regular;
    step.refine = !(elimination.reduction <= kLargestReduction);
  }
}

/// Sets columns to zero whose bit in `kept` is not set.
template <class E>
__device__ void keep_columns(Fragment<E>& x, unsigned kept, int lane) {
  for_each_element([&](int h, int j, int e) {
    if ((kept >> fragment_column(lane, j, e) & 1) == 0) x.set(h, j, e, from_real<E>(0));
  });
}

/// Phase 2: A L^-H. In columns without a positive and finite pivot the result is zero (a quotient
/// by infinity) or of no account, but nothing that stands there may get into the other columns.
template <class E>
__device__ Fragment<E> solve(const Step<E>& step, Fragment<E> a, int lane) {
  const Fragment<E> m = step.inverse.load(lane);
  const unsigned regular = step.regular;
  if (regular != kAllRegular) keep_columns(a, regular, lane);
  Fragment<E> x;
  multiply_add_lower(x, a, m, zero_fragment<E>());
  if (step.refine) {
    multiply_add_lower(a, x, negated(step.factor.load(lane)), a);  // now the residual
    if (regular != kAllRegular) keep_columns(a, regular, lane);
    multiply_add_lower(x, a, m, x);
  }
  return x;
}

/// Phase 3 for the tiles of one row that are in registers: tile[j - 1] := tile[j] - x panel[j]^H
/// for j = 1, ..., count; the tiles move to the left because x's tile is final.
template <class E>
__device__ void update(const Tile<E>* panel, int count, const Fragment<E>& x,
                       Fragment<E> (&tile)[kTiles<E> - 1], int lane) {
#pragma unroll
  for (int j = 1; j < kTiles<E>; ++j) {
    if (j > count) break;
    const Fragment<E> l = negated(panel[j].load(lane));
    if (j < kTiles<E> - 1) {
      multiply_add(tile[j - 1], x, l, tile[j]);
    } else {  // in the first step; L^-H begins with zeros
      multiply_add(tile[j - 1], x, l, zero_fragment<E>());
    }
  }
}

// Barriers, by hardware number. Those of one step and the next take turns, because not everybody
// waits: who only arrives may arrive for the next step before the others have come.
constexpr int kFactored = 1;  // + k % 2: the chain has published step k; the rows wait
constexpr int kAhead = 3;     // + k % 2: row k + 1 has handed over its tiles; the chain waits
constexpr int kSolved = 5;    // among the rows

__device__ inline void arrive(int barrier, int warps) {
  __syncwarp();
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(warps * kWarp) : "memory");
}
__device__ inline void arrive_and_wait(int barrier, int warps) {
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(warps * kWarp) : "memory");
}

/// The chain: diagonal tiles and nothing else.
template <class T, class E>
__device__ void factor_diagonal(Shared<E>& shared, int n, int tiles, int lane,
                                const Triangle<const T>& a) {
  Fragment<E> diagonal = load_tile<E>(a, n, 0, 0, lane);
  for (int k = 0; k < tiles; ++k) {
    Step<E>& step = shared.step[k % 2];
    factor_tile(step, shared.pivots, diagonal, lane);
    arrive(kFactored + k % 2, tiles + 1);
    if (k + 1 == tiles) return;
    arrive_and_wait(kAhead + k % 2, 2);
    if (step.completed < kTile) return;
    const Fragment<E> x = solve(step, shared.ahead[k % 2].load(lane), lane);
    multiply_add(diagonal, x, negated(x), shared.diagonal[k + 1].load(lane));
  }
}

/// Row i of tiles.
template <class T, class E>
__device__ void eliminate_row(Shared<E>& shared, int n, int tiles, int i, int lane,
                              const Triangle<const T>& a, const Triangle<T>& factor,
                              const Triangle<T>& inverse, DeviceReal<T>* condition, Index* info,
                              Index offset) {
  // tile[j] belongs to column k + j in step k. First row i of A, from step i on that of L^-H.
  Fragment<E> tile[kTiles<E> - 1];
#pragma unroll
  for (int k = 0; k < kTiles<E> - 1; ++k) {
    if (k >= i) break;
    tile[k] = load_tile<E>(a, n, i, k, lane);
  }
  if (i > 0) shared.diagonal[i].store(lane, load_tile<E>(a, n, i, i, lane));
  for (int k = 0; k < i; ++k) {  // above the inverse, as it were
    store_tile(inverse, Part::whole, n, n, i, k, lane, zero_fragment<E>());
  }
  const auto hand_over = [&](int k) {  // for the chain after its step k
    shared.ahead[k % 2].store(lane, tile[0]);
    arrive(kAhead + k % 2, 2);
  };
  if (i == 1) hand_over(0);

  int completed = n;           // columns of the factor that are right
  double row_sum[2] = {0, 0};  // of the moduli of L, by row half; in the end that of whole rows
  const auto add_moduli = [&](const Fragment<E>& l) {
    for_each_element([&](int h, int j, int e) { row_sum[h] += modulus(l.get(h, j, e)); });
  };
  for (int k = 0; k < tiles; ++k) {
    const Step<E>& step = shared.step[k % 2];
    Fragment<E> x;  // L(i, k), or from step i on L^-H(i, k)
    arrive_and_wait(kFactored + k % 2, tiles + 1);
    if (step.completed < kTile) completed = k * kTile + step.completed;
    if (i == k) {
      x = step.factor.load(lane);
      store_tile(factor, Part::lower, n, completed, k, k, lane, x);
      add_moduli(x);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        row_sum[h] += __shfl_xor_sync(kAllLanes, row_sum[h], 1);
        row_sum[h] += __shfl_xor_sync(kAllLanes, row_sum[h], 2);
      }
      x = step.inverse.load_adjoint(lane);
#pragma unroll
      for (int j = 0; j < kTiles<E> - 1; ++j) tile[j] = zero_fragment<E>();
    } else {
      x = solve(step, tile[0], lane);
    }
    shared.panel[i].store(lane, x);
    arrive_and_wait(kSolved, tiles);
    x = shared.panel[i].load_left_operand(lane);
    if (completed == n) {
      update(&shared.panel[k], (i > k ? i : tiles) - k - 1, x, tile, lane);
      if (i > k + 1) {
        Fragment<E> d = shared.diagonal[i].load(lane);
        multiply_add(d, x, negated(shared.panel[i].load(lane)), d);
        shared.diagonal[i].store(lane, d);
      }
      if (i == k + 2) hand_over(k + 1);
    }
    if (i > k) {
      store_tile(factor, Part::whole, n, completed, i, k, lane, x);
      add_moduli(x);
    } else {
      store_tile(inverse, Part::whole, n, completed, i, k, lane, x);
#pragma unroll
      for (int j = 0; j < 2; ++j) {  // columns of L^-H are rows of L^-1
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float sum = static_cast<float>(modulus(x.get(0, j, e)) * row_sum[0] +
                                         modulus(x.get(1, j, e)) * row_sum[1]);
          for (int distance = 4; distance < kWarp; distance *= 2) {
            sum += __shfl_xor_sync(kAllLanes, sum, distance);
          }
          if (lane < 4) shared.growth[i][k * kTile + fragment_column(lane, j, e)] = sum;
        }
      }
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
    if (i != 0 || lane != 0) return;
    if (*info == 0) *info = offset + completed + 1;
    *condition = 1;  // the inverse is finite; the factor need not be
    return;
  }
  arrive_and_wait(kSolved, tiles);
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

template <class T, class E>
__global__ void __launch_bounds__(kWarps<E>* kWarp)
    potrf_leaf_kernel(int n, Triangle<const T> a, Triangle<T> factor, Triangle<T> inverse,
                      DeviceReal<T>* condition, Index* info, Index offset) {
  extern __shared__ double2 memory[];
  Shared<E>& shared = *reinterpret_cast<Shared<E>*>(memory);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, tiles = (n + kTile - 1) / kTile;
  const int part = part_of(static_cast<int>(threadIdx.x) / kWarp);
  if (part == kChain) {
    factor_diagonal(shared, n, tiles, lane, a);
  } else if (part >= 0 && part < tiles) {
    eliminate_row(shared, n, tiles, part, lane, a, factor, inverse, condition, info, offset);
  }
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
  shape.threads = kWarps<E> * kWarp;
  shape.shared_bytes = sizeof(Shared<E>);
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
