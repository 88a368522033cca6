// Substitution with a triangular matrix for a few right-hand sides, in one launch: A X = B. From an
// upper triangle both orders are turned around, so that all is forward substitution:
//
//   x(b) = A(b, b)^-1 (y(b) - sum over j < b of A(b, j) x(j)).
//
// A thread block has one block b of rows. As soon as some x(j) is there, as a message
// (message.cuh), everybody who waits for it subtracts his share; A(b, j), which does not depend on
// it, is in registers by then. What counts is the chain from one block to the next.
//
// In single precision a link of it is a message and one product:
//
//   x(b) = z(b) - M(b) x(b - 1),  M(b) = A(b, b)^-1 A(b, b - 1),
//   z(b) = A(b, b)^-1 (y(b) - sum over j < b - 1 of A(b, j) x(j)),
//
// since z(b) is found while x(b - 1) is. The inverses and M are found once for all right-hand sides
// (find_links). They are in double precision, and so are the products with them, which makes these
// as good as substitution.
//
// In double precision there is nothing more precise for inverses to be in. A link is a message, its
// product, and substitution with A(b, b), by one warp for each right-hand side.
//
// Thread blocks start in the order of their numbers, and each waits for earlier ones only.
#include <type_traits>

#include "device/cuda/fused/fused.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/inverse.cuh"
#include "device/cuda/parts/lanes.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/ptx/message.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

template <class T>
constexpr bool kHasLinks = !std::is_same_v<T, DoubleScalar<T>>;
template <class T>
constexpr int kOrder = kHasLinks<T> ? kTiles<DoubleScalar<T>>* kTile : 64;  // of a block
constexpr int kParts = 4;  // of the columns of a block: four threads have a row
template <class T>
constexpr int kWidth = kOrder<T> / kParts;  // columns of a part
template <class T>
constexpr int kThreads = kOrder<T>* kParts;
constexpr int kColumns = 4;  // right-hand sides of a thread block

/// Words of a column of x(j).
template <class T>
constexpr int kWords = kOrder<T> * sizeof(T) / sizeof(Word::value);

/// Elements that lie side by side, as many as a thread moves at a time.
template <class E>
struct alignas(16) Unit {
  static constexpr int kSize = 16 / sizeof(E);
  E element[kSize];
};
template <class T>
using UnitOf = Unit<DoubleScalar<T>>;

// For a product in double precision a lane has parts of four rows: then it needs few numbers of x,
// which shared memory would take longer to give than products to be computed.
constexpr int kRowsOfLane = 4, kLanesOfRow = kParts * kRowsOfLane;
template <class T>
constexpr int kUnits = kWidth<T> / UnitOf<T>::kSize;  // of a lane, of all its rows

/// A matrix of the order of a block as its threads have it: unit u of thread t.
template <class T>
struct ByThreads {
  UnitOf<T> unit[kUnits<T>][kThreads<T>];

  __device__ DoubleScalar<T>& at(int row, int column) {
    constexpr int kSize = UnitOf<T>::kSize;
    const int i = row % kRowsOfLane, u = column / kSize;
    return unit[u / kLanesOfRow * kRowsOfLane + i][(row - i) * kParts + u % kLanesOfRow]
        .element[column % kSize];
  }
};

/// What a block multiplies by: -A(b, b)^-1, where only its lower triangle is defined, and M(b).
template <class T>
struct Link {
  ByThreads<T> minus_inverse, m;
};

// ---- the links -----------------------------------------------------------------------------

template <class T>
struct LinkMemory {
  using E = DoubleScalar<T>;
  TriangleMemory<E, kTiles<E>> triangle;
  InverseMemory<E> inverse;
};

/// A thread block has one block of rows.
template <class T>
__global__ void __launch_bounds__(kThreads<T>)
    find_links_kernel(Index n, Trapezoid<const T> a, bool unit, Link<T>* links) {
  using E = DoubleScalar<T>;
  constexpr int kTilesPerWarp = kTiles<E> / (kThreads<T> / kWarp / kTiles<E>);  // of a row of tiles
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<LinkMemory<T>*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const Index b = blockIdx.x, first = b * kOrder<T>;
  Link<T>& link = links[b];

  Triangle<T> triangle{static_cast<int>(min(Index{kOrder<T>}, n - first)), unit, a};
  triangle.l.data = a.at(first, first);
  load_triangle(memory.triangle, triangle, warp, lane);
  invert_diagonal(memory.triangle, triangle, warp, lane);
  __syncthreads();
  invert_triangle(memory.inverse, memory.triangle, triangle.tiles(), warp, lane);
  __syncthreads();
  const auto inverse_at = [&](int i, int j) {
    return i < j ? from_real<E>(0) : memory.inverse.at(i, j);
  };
  for (int i = t; i < kOrder<T> * kOrder<T>; i += kThreads<T>) {
    const int row = i / kOrder<T>, column = i % kOrder<T>;
    link.minus_inverse.at(row, column) = negate(inverse_at(row, column));
  }
  if (b == 0) return;

  // M: a warp has some tiles of a row of tiles.
  const int row = warp * kTilesPerWarp / kTiles<E>, first_column = warp * kTilesPerWarp % kTiles<E>;
  Fragment<E> m[kTilesPerWarp];
#pragma unroll
  for (int c = 0; c < kTilesPerWarp; ++c) m[c] = zero_fragment<E>();
#pragma unroll 1
  for (int k = 0; k <= min(row, triangle.tiles() - 1); ++k) {
    RawFragment<T> adjoint[kTilesPerWarp];  // conjugates, at first, of tiles of A(b, b - 1)^H
#pragma unroll
    for (int c = 0; c < kTilesPerWarp; ++c) {
      const int i = k * kTile + fragment_column(lane, 0, 0);
      const int l = (first_column + c) * kTile + fragment_row(lane, 0);
      const T* const from = a.at(first + i, first - kOrder<T> + l);
      for_each_element([&](int h, int j, int e) {
        const bool inside = i + 8 * j + e < triangle.n;
        T& to = adjoint[c].value[h][j][e];
        to = from_real<T>(0);
        if (inside) to = from[(8 * j + e) * a.row_stride + 8 * h * a.column_stride];
      });
    }
    Fragment<E> inverse;
    for_each_element([&](int h, int j, int e) {
      inverse.set(
          h, j, e,
          inverse_at(row * kTile + fragment_row(lane, h), k * kTile + fragment_column(lane, j, e)));
    });
#pragma unroll
    for (int c = 0; c < kTilesPerWarp; ++c) {
      multiply_add(m[c], inverse, converted<E>(adjoint[c], true), m[c]);
    }
  }
#pragma unroll
  for (int c = 0; c < kTilesPerWarp; ++c) {
    for_each_element([&](int h, int j, int e) {
      link.m.at(row * kTile + fragment_row(lane, h),
                (first_column + c) * kTile + fragment_column(lane, j, e)) = m[c].get(h, j, e);
    });
  }
}

// ---- the substitution ----------------------------------------------------------------------

/// The problem, in the order of forward substitution.
template <class T>
struct Substitution {
  Index n;
  Trapezoid<const T> a;
  bool unit;             // if there are no links
  const Link<T>* links;  // of each block
  T* x;                  // element (i, c) is x[i * row_step + c * ld]
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

template <class T>
struct Sums {
  using E = DoubleScalar<T>;
  alignas(16) T x[2][kColumns][kOrder<T>];  // of the blocks j, alternately
  T sums[kParts][kColumns][kOrder<T>];      // - A(b, j) x(j), the parts
  alignas(16) E y[kColumns][kOrder<T>];     // what is left of block b
};

/// What comes next in a thread block: with a link, or with A(b, b) itself.
template <class T, bool = kHasLinks<T>>
struct Memory : Sums<T> {
  ByThreads<T> m;
  alignas(16) DoubleScalar<T> last[kColumns][kOrder<T>];  // x(b - 1)
};
template <class T>
struct Memory<T, false> : Sums<T> {
  T column[kOrder<T>][kOrder<T>];  // of A(b, b), below the diagonal, with zeros above
  T diagonal[kOrder<T>], inverse[kOrder<T>];
  bool ordinary[kOrder<T>];  // whether the inverse is of use
};

template <class T>
__device__ inline auto in_double(T x) {
  DoubleScalar<T> y;
  convert(y, x);
  return y;
}

/// The sum of what the parts of a row have, for all of them.
template <class E>
__device__ inline E sum_of_parts(E x) {
#pragma unroll
  for (int mask = 1; mask < kParts; mask *= 2) x = add(x, of_other_lane(x, mask));
  return x;
}

/// The element for a thread's row and right-hand side of - A x, for `count` right-hand sides.
template <class T, class E = DoubleScalar<T>>
__device__ inline E minus_product(const UnitOf<T> (&a)[kUnits<T>],
                                  const E (&x)[kColumns][kOrder<T>], int count) {
  constexpr int kSize = UnitOf<T>::kSize;
  const int t = static_cast<int>(threadIdx.x);
  E result = from_real<E>(0);
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    if (c >= count) break;
    E sums[kRowsOfLane];
#pragma unroll
    for (E& sum : sums) sum = from_real<E>(0);
#pragma unroll
    for (int u = 0; u < kUnits<T>; u += kRowsOfLane) {
      const int first = (u / kRowsOfLane * kLanesOfRow + t % kLanesOfRow) * kSize;
      const auto of_x = reinterpret_cast<const UnitOf<T>&>(x[c][first]);
#pragma unroll
      for (int e = 0; e < kSize; ++e) {
#pragma unroll
        for (int i = 0; i < kRowsOfLane; ++i) {
          sums[i] = subtract_product(sums[i], a[u + i].element[e], of_x.element[e]);
        }
      }
    }
    const E product = sum_of_parts(sum_of_mine<kRowsOfLane, kParts>(sums, t / kParts));
    if (c == t % kParts) result = product;
  }
  return result;
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
template <class E>
__device__ inline void send(bool awaited, Word* message, int r, E x) {
  constexpr int kNumbers = sizeof(E) / sizeof(double);
  unsigned long long value[kNumbers];
  memcpy(value, &x, sizeof x);
#pragma unroll
  for (int i = 0; i < kNumbers; ++i) {
    if (awaited) store(message + r * kNumbers + i, 1, value[i]);
  }
}

/// A(b, b), of which there are `rows` rows. Each thread has a part of a row.
template <class T>
__device__ void load_block(Memory<T, false>& memory, const Trapezoid<const T>& block, int rows,
                           bool unit, int row, int part) {
#pragma unroll
  for (int k = 0; k < kWidth<T>; ++k) {
    const int column = part * kWidth<T> + k;
    const bool inside = row < rows && column < row;
    memory.column[column][row] = inside ? *block.at(row, column) : from_real<T>(0);
  }
  if (part > 0) return;
  const T diagonal = row < rows && !unit ? *block.at(row, row) : from_real<T>(1);
  memory.diagonal[row] = diagonal;
  memory.inverse[row] = reciprocal(diagonal);
  const auto size = abs1(diagonal);
  memory.ordinary[row] = size >= Ordinary<T>::least && size <= Ordinary<T>::largest;
}

/// y := A(b, b)^-1 y by a warp, whose lanes have every 32nd row. divided(x, h) is x over the
/// diagonal element of the lane's row h.
template <class T, int kRows, class Divided>
__device__ void substitute_in_block(const Memory<T, false>& memory, T (&y)[kRows],
                                    Divided divided) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  T x[kRows];
#pragma unroll
  for (int h = 0; h < kRows; ++h) {
#pragma unroll 8
    for (int j = 0; j < kWarp; ++j) {
      const T mine = divided(y[h], h), next = of_lane(mine, j);
      if (lane == j) x[h] = mine;
#pragma unroll
      for (int r = h; r < kRows; ++r) {
        y[r] = subtract_product(y[r], memory.column[h * kWarp + j][r * kWarp + lane], next);
      }
    }
  }
#pragma unroll
  for (int h = 0; h < kRows; ++h) y[h] = x[h];
}

/// The same, with memory.y of right-hand side c.
template <class T, int kRows>
__device__ void solve_block(const Memory<T, false>& memory, int c, T (&y)[kRows]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  T diagonal[kRows], inverse[kRows];
  bool ordinary = true;
#pragma unroll
  for (int h = 0; h < kRows; ++h) {
    const int row = h * kWarp + lane;
    y[h] = memory.y[c][row];
    diagonal[h] = memory.diagonal[row];
    inverse[h] = memory.inverse[row];
    ordinary = ordinary && memory.ordinary[row];
  }
  if (__all_sync(kAllLanes, ordinary)) {
    substitute_in_block(memory, y,
                        [&](T x, int h) { return quotient(x, diagonal[h], inverse[h]); });
  } else {
    substitute_in_block(memory, y, [&](T x, int h) { return divide(x, diagonal[h]); });
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads<T>) substitution_kernel(Substitution<T> p) {
  using E = DoubleScalar<T>;
  constexpr int kUrgentBlocks = 3;  // blocks
  extern __shared__ double2 raw_memory[];
  auto& memory = *reinterpret_cast<Memory<T>*>(raw_memory);
  const int t = static_cast<int>(threadIdx.x), warp = t / kWarp;
  const int r = t / kParts, part = t % kParts;
  const Index b = blockIdx.x / p.chunks, chunk = blockIdx.x % p.chunks;
  const Index first = b * kOrder<T>, row = first + r, first_column = chunk * kColumns;
  const int count = static_cast<int>(min(p.columns - first_column, Index{kColumns}));
  // For products with A(b, j) neighbouring lanes have neighbouring rows.
  const int tile_row = t % kOrder<T>, tile_part = t / kOrder<T>;
  if constexpr (!kHasLinks<T>) {
    load_block(memory, p.a.from(first, first), static_cast<int>(min(p.n - first, Index{kOrder<T>})),
               p.unit, tile_row, tile_part);
  } else if (b > 0) {  // each thread reads what it has copied
#pragma unroll
    for (int u = 0; u < kUnits<T>; ++u) start_copy(&memory.m.unit[u][t], &p.links[b].m.unit[u][t]);
  }

  static_assert(kColumns == kParts, "a part for each right-hand side");
  const bool mine = part < count && row < p.n;  // x of row r and right-hand side `part`
  const E y = mine ? in_double(*p.solution(row, first_column + part)) : from_real<E>(0);

  // Calls f(c, word, its value) for what a thread has of the message x(j).
  const auto receive = [&](Index j, auto f) {
    constexpr int kTurns = (kColumns * kWords<T> + kThreads<T> - 1) / kThreads<T>;
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const int i = turn * kThreads<T> + t, c = i / kWords<T>, word = i % kWords<T>;
      if (c < count) f(c, word, await(p.message(j, chunk, c) + word, b - j <= kUrgentBlocks));
    }
    __syncthreads();
  };
  T sums[kColumns];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) sums[c] = from_real<T>(0);
  const auto load_tile = [&](T(&tile)[kWidth<T>], Index j) {
    const T* const from = p.a.at(first + tile_row, j * kOrder<T> + tile_part * kWidth<T>);
#pragma unroll
    for (int k = 0; k < kWidth<T>; ++k) {
      tile[k] = first + tile_row < p.n ? from[k * p.a.column_stride] : from_real<T>(0);
    }
  };
  const auto subtract = [&](const T(&tile)[kWidth<T>], Index j) {
    auto& x = memory.x[j % 2];  // which nobody has needed since the block before the last one
    receive(j, [&](int c, int word, unsigned long long value) {
      reinterpret_cast<unsigned long long*>(x[c])[word] = value;
    });
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      if (c >= count) break;
#pragma unroll
      for (int k = 0; k < kWidth<T>; ++k) {
        sums[c] = subtract_product(sums[c], tile[k], x[c][tile_part * kWidth<T> + k]);
      }
    }
  };

  // Two tiles are on their way while the message for the one before them is waited for: tile[0] is
  // that of block j and tile[1] of j + 1.
  T tile[2][kWidth<T>];
  const Index last = b - (kHasLinks<T> ? 2 : 1);
  Index j = last % 2 == 0 ? 0 : -1;
  if (last >= 0 && j == 0) load_tile(tile[0], j);
  if (j + 1 < last) load_tile(tile[1], j + 1);
#pragma unroll 1
  for (; j < last; j += 2) {
    if (j >= 0) subtract(tile[0], j);
    load_tile(tile[0], j + 2);
    subtract(tile[1], j + 1);
    if (j + 3 < last) load_tile(tile[1], j + 3);
  }
  // All that can be is in registers before the message for which it is wanted comes.
  [[maybe_unused]] UnitOf<T> matrix[kUnits<T>];
  [[maybe_unused]] const auto load_matrix = [&](const ByThreads<T>& from, int last_row) {
#pragma unroll
    for (int u = 0; u < kUnits<T>; ++u) {
      const int unit = u / kRowsOfLane * kLanesOfRow + t % kLanesOfRow;
      const bool inside = unit * UnitOf<T>::kSize <= last_row;
      matrix[u] = inside ? from.unit[u][t] : UnitOf<T>{};
    }
  };
  if constexpr (kHasLinks<T>) {
    load_matrix(p.links[b].minus_inverse, (warp + 1) * (kWarp / kParts) - 1);
  }
  if (last >= 0) subtract(tile[0], last);

#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    if (c < count) memory.sums[tile_part][c][tile_row] = sums[c];
  }
  __syncthreads();
  if (part < count) {
    T sum = memory.sums[0][part][r];
#pragma unroll
    for (int q = 1; q < kParts; ++q) sum = add(sum, memory.sums[q][part][r]);
    memory.y[part][r] = add(y, in_double(sum));
  }
  __syncthreads();
  const bool awaited = first + kOrder<T> < p.n;
  if constexpr (kHasLinks<T>) {
    E x = minus_product<T>(matrix, memory.y, count);
    if (b > 0) {
      finish_copies();
      load_matrix(memory.m, kOrder<T>);
      receive(b - 1, [&](int c, int word, unsigned long long value) {
        constexpr int kPerWord = sizeof value / sizeof(T);
        T in_word[kPerWord];
        memcpy(in_word, &value, sizeof value);
#pragma unroll
        for (int i = 0; i < kPerWord; ++i) {
          memory.last[c][word * kPerWord + i] = in_double(in_word[i]);
        }
      });
      x = add(x, minus_product<T>(matrix, memory.last, count));
    }
    T rounded;
    convert(rounded, x);
    send(part < count && awaited, p.message(b, chunk, part), r, rounded);
    if (mine) *p.solution(row, first_column + part) = rounded;
  } else if (warp < count) {
    T x[kOrder<T> / kWarp];
    solve_block(memory, warp, x);
#pragma unroll
    for (int h = 0; h < kOrder<T> / kWarp; ++h) {
      const int i = h * kWarp + t % kWarp;
      send(awaited, p.message(b, chunk, warp), i, x[h]);
      if (first + i < p.n) *p.solution(first + i, first_column + warp) = x[h];
    }
  }
}

/// The triangle in the order of forward substitution.
template <class D>
Trapezoid<const D> forward(Uplo uplo, Index n, const D* a, Index ld) {
  Trapezoid<const D> lower(a, ld, false);
  if (uplo == Uplo::upper) {
    lower.data += (n - 1) * (ld + 1);
    lower.row_stride = -1;
    lower.column_stride = -ld;
  }
  return lower;
}

template <class D>
unsigned blocks_of(Index n) {
  return static_cast<unsigned>(quotient_up(n, kOrder<D>));
}

template <class T>
void enqueue(CudaQueue& queue, const FindLinks<T>& op) {
  using D = typename DeviceScalar<T>::type;
  LaunchShape shape;
  shape.blocks = blocks_of<D>(op.a.rows);
  shape.threads = kThreads<D>;
  shape.shared_bytes = shared_by_all<LinkMemory<D>>();
  launch_kernel(queue.stream(), shape, "links of a substitution", find_links_kernel<D>, op.a.rows,
                forward(op.uplo, op.a.rows, device_cast(op.a.data), op.a.ld), op.diag == Diag::unit,
                reinterpret_cast<Link<D>*>(op.links.data));
}

template <class T>
void enqueue(CudaQueue& queue, const Substitute<T>& op) {
  using D = typename DeviceScalar<T>::type;
  const DeviceView<const T>& a = op.a;
  const DeviceView<T>& x = op.x;
  const Index chunks = quotient_up(x.cols, kColumns);
  LaunchShape shape;
  shape.blocks = blocks_of<D>(a.rows) * static_cast<unsigned>(chunks);
  shape.threads = kThreads<D>;
  shape.shared_bytes = shared_by_all<Memory<D>>();
  const std::size_t words = std::size_t{shape.blocks} * kColumns * kWords<D>;
  check(cudaMemsetAsync(op.progress.data, 0, sizeof(Word) * words, queue.stream()), "substitution");
  const bool upper = op.uplo == Uplo::upper;
  D* const first = device_cast(x.data) + (upper ? a.rows - 1 : 0);
  launch_kernel(
      queue.stream(), shape, "substitution", substitution_kernel<D>,
      Substitution<D>{a.rows, forward(op.uplo, a.rows, device_cast(a.data), a.ld),
                      op.diag == Diag::unit, reinterpret_cast<const Link<D>*>(op.links.data), first,
                      upper ? -1 : 1, x.ld, x.cols, reinterpret_cast<Word*>(op.progress.data),
                      chunks});
}

}  // namespace

template <class T>
Index substitution_links(Index n) {
  using D = typename DeviceScalar<T>::type;
  if constexpr (kHasLinks<D>) {
    return quotient_up(n, kOrder<D>) * static_cast<Index>(sizeof(Link<D>) / sizeof(Index));
  } else {
    return 0;
  }
}

template <class T>
Index substitution_progress(Index n, Index columns) {
  using D = typename DeviceScalar<T>::type;
  constexpr Index kNumbersOfBlock = kColumns * kWords<D> * Index{sizeof(Word) / sizeof(Index)};
  return quotient_up(n, kOrder<D>) * quotient_up(columns, kColumns) * kNumbersOfBlock;
}

#define OVERLAPACK_INSTANTIATE(T)                        \
  template Index substitution_links<T>(Index);           \
  template Index substitution_progress<T>(Index, Index); \
  OVERLAPACK_LAUNCH(Substitute<T>)
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE
OVERLAPACK_LAUNCH(FindLinks<float>)
OVERLAPACK_LAUNCH(FindLinks<std::complex<float>>)

}  // namespace overlapack::cuda
