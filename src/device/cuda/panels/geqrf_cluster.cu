// The QR panel for GPUs with clusters (Hopper and later): Householder reflectors, one for each
// column, as LAPACK's ?geqr2 makes them, with one exchange between thread blocks per column.
//
// The warps of a cluster have the panel's rows in registers (panel_tile.cuh). In step k each block
// sums over its rows below row k the products of column k with all columns (householder.cuh), and
// tells all others. They add up what they are told, in the same order. So all come to the same
// reflector, and each reflects its own rows.
//
//   column k complete -> sums of a warp -> of the block -> a message to all blocks -> beta, tau
//   -> what row k loses -> all rows reflected, with them column k + 1
//
// is the chain that takes the time. Row k itself comes with the message from the first block, which
// has it. It leaves the registers there before its step, and zeros stand in for it: so sums, too,
// may take all rows.
//
// Once the sums are complete, lane c of a warp is in charge of column c: of its sum, of its element
// of row k, and of what this loses.
//
// One warp of the last block, the secretary, stores row k and keeps the products of v with those
// before it. In the end its block makes T of them.
//
// A message has two places, for even and odd turns. A block sends that of turn j + 2 when it has
// those of turn j + 1 from all blocks, and each of them sends that only behind a barrier which its
// threads reach after their last look at turn j. The places where a block prepares a message
// alternate for the same reason: who comes to turn j + 2 there has passed the barrier of turn
// j + 1, which all reach after they have sent that of turn j.
#include <algorithm>
#include <type_traits>

#include "device/cuda/panels/earlier_reflectors.cuh"
#include "device/fused.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kMaxBlocks = 16;  // in a cluster, on any GPU so far
static_assert(kReflectors % kMaxBlocks == 0);
/// Columns of a panel whose warps own 32 R rows each: 512 bytes a thread, half of all registers.
constexpr int kMaxWidth = 32;
template <class T, int R>
constexpr int kWidth = std::min(kMaxWidth, 512 / (R * static_cast<int>(sizeof(T))));
constexpr int kMaxRows = 4;        // R
constexpr int kThreads = 256;      // of a block, or half as many
constexpr int kLeastColumns = 16;  // of a panel: with fewer, what comes between panels takes longer

template <class T, int W, int R, int kWarps>
struct alignas(sizeof(int4)) Memory {
  // Sent by all blocks, by the first block, and what they are sent from.
  T of_block[2][kMaxBlocks][W];
  T row[2][W];
  T of_warp[2][kWarps][W];
  T own_row[2][W];
  // Each warp's own: the present column of its rows; what the elements of row k lose, by lanes
  T present[kWarps][PanelTile<T, W, R>::kRowsOfWarp];
  T loss[kWarps][W];
  // Of the last block: the products of v with those before it, T, and its parts in the making
  T z[W][W], t[W][W], product[W][W];
  Barrier arrived[2];
};

/// Shared memory of a launch. There is the second part only if there are earlier reflectors.
template <class T, int W, int R, int kWarps>
struct AllMemory {
  Memory<T, W, R, kWarps> of_panel;
  EarlierMemory<T, W, kWarps> of_earlier;
};

/// A warp's part of the work. What is said of columns is in the lane that is in charge.
template <class T, int W, int R, int kWarps>
class Panel {
  using Real = DeviceReal<T>;
  using Tile = PanelTile<T, W, R>;
  static constexpr int kColumns = Tile::kColumns, kRows = Tile::kRows;
  static constexpr int kThreads = kWarps * kWarp;

 public:
  /// Loads the rows. What is not there is zero.
  __device__ Panel(Memory<T, W, R, kWarps>& memory, int m, int n, const QrOperands<T>& to)
      : memory_(memory), to_(to), m_(m), n_(n) {
    for_each([&](int row, int column, T& x) {
      x = row < m_ && column < n_ ? to_.a[row + column_offset(column, to_.lda)] : from_real<T>(0);
    });
  }

  /// With what the panel before it has left to do.
  __device__ void reflect_before(EarlierMemory<T, W, kWarps>& memory,
                                 const EarlierReflectors<T>& earlier) {
    if constexpr (kReflectsEarlier<T>) {
      EarlierReflection<W, R, kWarps>(memory, earlier, m_, n_).reflect(tile_, first_row());
    }
  }

  __device__ void factor() {
    scale_columns();
    steps<0>();
  }

  /// The rows below the triangle, and T.
  __device__ void store() {
    for_each([&](int row, int column, T& x) {
      if (row < n_ || row >= m_ || column >= n_) return;
      to_.a[row + column_offset(column, to_.lda)] = x;
      to_.v[row + column_offset(column, to_.ldv)] = x;
    });
    if (is_in_last_block()) make_t();
  }

 private:
  __device__ static int lane() { return lane_of_warp(); }
  __device__ static int warp() { return warp_of_block(); }
  __device__ int first_row() const { return (rank_ * kWarps + warp()) * Tile::kRowsOfWarp; }
  __device__ bool is_in_last_block() const { return rank_ == blocks_ - 1; }
  __device__ bool is_secretary() const { return is_in_last_block() && warp() == kWarps - 1; }
  __device__ int place() const { return static_cast<int>(turn_ % 2); }
  /// Calls f(row, column, x) for all elements.
  template <class F>
  __device__ void for_each(F f) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) f(first_row() + Tile::row(r), Tile::column(j), tile_.x[j][r]);
    }
  }
  /// The present column in rows r and r + 1.
  __device__ T* present(int r) const { return &memory_.present[warp()][Tile::row(r)]; }
  /// What column 8 j + g of the lane loses.
  __device__ T& loss(int g, int j) const { return memory_.loss[warp()][g * kColumns + j]; }

  struct Told {
    T total, row;
  };
  /// All threads of the cluster combine what they have for each of their columns. With row k,
  /// `with_row`, which the first block has prepared.
  template <class Combine>
  __device__ Told exchange(Combine combine, T (&own)[kColumns], bool with_row) {
    const int at = place();
    T total = combined_of_mine<kColumns>(own, lane(), combine);
#pragma unroll
    for (int mask = kColumns; mask < 4; mask *= 2) {
      total = combine(total, of_other_lane(total, mask));
    }
    const int q = place_of_lane();
    if (q < kColumns) memory_.of_warp[at][warp()][q * kTileSide + column_of_lane()] = total;
    __syncthreads();
    send(combine, at, with_row);
    if (threadIdx.x == kThreads - 1) {
      const int rows = blocks_ + (with_row ? 1 : 0);
      expect(&memory_.arrived[at], static_cast<unsigned>(rows * W * sizeof(T)));
    }
    await(&memory_.arrived[at], turn_ / 2 % 2);
    ++turn_;
    return lane() < W ? Told{combined_of_blocks(combine, at), memory_.row[at][lane()]}
                      : Told{from_real<T>(0), from_real<T>(0)};
  }

  /// Sends what the block's warps have to all blocks, a chunk of columns each thread.
  template <class Combine>
  __device__ void send(Combine combine, int at, bool with_row) {
    constexpr int kElements = Chunk<T>::kElements, kChunks = W / kElements;
    Barrier* const arrived = &memory_.arrived[at];
    for (int i = static_cast<int>(threadIdx.x); i < kChunks * blocks_; i += kThreads) {
      const int block = i / kChunks, first = i % kChunks * kElements;
      const auto chunk_of = [&](const T* from) {
        return reinterpret_cast<const Chunk<T>&>(from[first]);
      };
      Chunk<T> total = chunk_of(memory_.of_warp[at][0]);
#pragma unroll
      for (int w = 1; w < kWarps; ++w) {
        const Chunk<T> one = chunk_of(memory_.of_warp[at][w]);
        for (int e = 0; e < kElements; ++e) {
          total.element[e] = combine(total.element[e], one.element[e]);
        }
      }
      const auto send_chunk = [&](T* to, const Chunk<T>& chunk) {
        cuda::send(block, to + first, arrived, reinterpret_cast<const int4&>(chunk));
      };
      send_chunk(memory_.of_block[at][rank_], total);
      if (with_row && rank_ == 0) send_chunk(memory_.row[at], chunk_of(memory_.own_row[at]));
    }
  }

  /// All places are read at a time, those of blocks that are not there as zeros.
  template <class Combine>
  __device__ T combined_of_blocks(Combine combine, int at) const {
    T of_block[kMaxBlocks];
#pragma unroll
    for (int b = 0; b < kMaxBlocks; ++b) {
      of_block[b] = b < blocks_ ? memory_.of_block[at][b][lane()] : from_real<T>(0);
    }
    return combined_of_all(combine, of_block);
  }
  template <int kCount, class Combine>
  __device__ static T combined_of_all(Combine combine, T (&x)[kCount]) {
    if constexpr (kCount == 1) {
      return x[0];
    } else {
      T half[kCount / 2];
#pragma unroll
      for (int i = 0; i < kCount / 2; ++i) half[i] = combine(x[2 * i], x[2 * i + 1]);
      return combined_of_all(combine, half);
    }
  }

  /// Each column by a power of two.
  __device__ void scale_columns() {
    T own[kColumns];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      Real most = 0;
#pragma unroll
      for (int r = 0; r < kRows; ++r) most = fmax(most, largest_part(tile_.x[j][r]));
      own[j] = from_real<T>(most);
    }
    exponent_ = exponent_of(real_part(exchange(Largest(), own, false).total));
    give(from_real<T>(power_of_two<Real>(-exponent_)));
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const Real factor = real_part(loss(column_of_lane(), j));
#pragma unroll
      for (int r = 0; r < kRows; ++r) tile_.x[j][r] = scale(tile_.x[j][r], factor);
    }
  }

  /// Each lane gives what it is in charge of to those that have the column.
  __device__ void give(T of_column) const {
    if (lane() < W) loss(lane() % kTileSide, lane() / kTileSide) = of_column;
    __syncwarp();
  }

  /// Those of columns 8 J + c, and of all behind them.
  template <int J>
  __device__ void steps() {
#pragma unroll 1
    for (int c = 0; c < kTileSide && J * kTileSide + c < n_; ++c) step<J>(c);
    if constexpr (J + 1 < kColumns) steps<J + 1>();
  }

  template <int J>
  __device__ void step(int c) {
    const int k = J * kTileSide + c;
    if (rank_ == 0 && warp() == 0 && place_of_lane() == c / 2) {
      c % 2 == 0 ? take_out_row<2 * J>() : take_out_row<2 * J + 1>();
    }
    spread_column<J>(c);
    const Told told = sums(true);
    T sum = told.total, of_row = told.row;
    bool nothing_below = false;
    if (!is_safe(real_part(of_lane(sum, k)))) {
      const bool zero = scale_column<J>(c, of_row);
      sum = sums(false).total;
      nothing_below = zero && is_zero(of_lane(sum, k));  // which a NaN is not
    }
    const Reflector<T> h =
        make_reflector(of_lane(of_row, k), real_part(of_lane(sum, k)), nothing_below);
    const T dot = add_product(of_row, conjugate(h.scale), sum);
    const T loss = lane() > k ? product(conjugate(h.tau), dot) : from_real<T>(0);
    give(loss);
    reflect<J>(c, h.scale);
    if (!is_secretary() || lane() >= W) return;
    const T value = lane() == k  ? from_real<T>(h.beta)
                    : lane() > k ? add(of_row, negate(loss))
                                 : of_row;
    store_row(to_, n_, k, lane(), value, exponent_);
    memory_.z[lane()][k] = lane() < k ? conjugate(dot) : h.tau;
  }

  /// The columns behind column k, which becomes v. Those before are left alone: to subtract nothing
  /// times something that is not finite would not leave them as they are.
  template <int J>
  __device__ void reflect(int c, T scale) {
    const int g = column_of_lane();
    T u[kColumns];
#pragma unroll
    for (int j = J; j < kColumns; ++j) u[j] = loss(g, j);
#pragma unroll
    for (int r = 0; r < kRows; r += 2) {
      const Pair<T> x = load_pair(present(r));
      const T v[2] = {product(x.first, scale), product(x.second, scale)};
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        T& own = tile_.x[J][r + e];
        own = g > c ? subtract_product(own, v[e], u[J]) : g == c ? v[e] : own;
      }
#pragma unroll
      for (int j = J + 1; j < kColumns; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          tile_.x[j][r + e] = subtract_product(tile_.x[j][r + e], v[e], u[j]);
        }
      }
    }
  }

  /// These lanes have row k.
  template <int r>
  __device__ void take_out_row() {
    T* const to = memory_.own_row[place()];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      to[Tile::column(j)] = tile_.x[j][r];
      tile_.x[j][r] = from_real<T>(0);
    }
  }

  /// All lanes get to know the present column.
  template <int J>
  __device__ void spread_column(int c) const {
    __syncwarp();  // all have read the one before
    if (column_of_lane() == c) {
#pragma unroll
      for (int r = 0; r < kRows; r += 2) store_pair(present(r), tile_.x[J][r], tile_.x[J][r + 1]);
    }
    __syncwarp();
  }

  /// The products of the present column with all columns.
  __device__ Told sums(bool with_row) {
    T own[kColumns];
#pragma unroll
    for (T& one : own) one = from_real<T>(0);
#pragma unroll
    for (int r = 0; r < kRows; r += 2) {
      const Pair<T> x = load_pair(present(r));
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        own[j] = add_conjugated(own[j], tile_.x[j][r], x.first);
        own[j] = add_conjugated(own[j], tile_.x[j][r + 1], x.second);
      }
    }
    return exchange(Sum(), own, with_row);
  }

  /// What is left of the present column, by another power of two, with its element of row k, which
  /// has a lane of its own. Returns whether there are only zeros (or NaNs) below.
  template <int J>
  __device__ bool scale_column(int c, T& of_row) {
    const int k = J * kTileSide + c;
    Real most = 0;
#pragma unroll 1
    for (int r = 0; r < kRows; r += 2) {
      const Pair<T> x = load_pair(present(r));
      most = fmax(most, fmax(largest_part(x.first), largest_part(x.second)));
    }
    T own[kColumns];
#pragma unroll
    for (T& one : own) one = from_real<T>(most);
    const Real below = real_part(of_lane(exchange(Largest(), own, false).total, k));
    const int exponent = exponent_of(fmax(below, largest_part(of_lane(of_row, k))));
    const Real factor = power_of_two<Real>(-exponent);
    if (column_of_lane() == c) {
#pragma unroll
      for (T& x : tile_.x[J]) x = scale(x, factor);
    }
    spread_column<J>(c);
    if (lane() == k) {
      of_row = scale(of_row, factor);
      exponent_ += exponent;
    }
    return below == 0;
  }

  /// T of ever larger squares on the diagonal, each of two: T12 = -T11 Z12 T22.
  __device__ void make_t() const {
    T(&t)[W][W] = memory_.t;
    __syncthreads();
    for (int e = static_cast<int>(threadIdx.x); e < W * W; e += kThreads) {
      const int i = e % W, j = e / W;
      t[i][j] = i == j && j < n_ ? memory_.z[j][j] : from_real<T>(0);
      if (i == j && j < n_) to_.tau[j] = memory_.z[j][j];
    }
    for (int size = 1; size < n_; size *= 2) {
      __syncthreads();
      for_each_above(size, [&](int i, int j, int middle) {
        T sum = from_real<T>(0);
        for (int l = middle; l <= j; ++l) sum = add_product(sum, memory_.z[i][l], t[l][j]);
        memory_.product[i][j] = sum;
      });
      __syncthreads();
      for_each_above(size, [&](int i, int j, int middle) {
        T sum = from_real<T>(0);
        for (int l = i; l < middle; ++l) {
          sum = subtract_product(sum, t[i][l], memory_.product[l][j]);
        }
        t[i][j] = sum;
      });
    }
    __syncthreads();
    for (int e = static_cast<int>(threadIdx.x); e < n_ * n_; e += kThreads) {
      const int i = e % n_, j = e / n_;
      to_.t[i + column_offset(j, to_.ldt)] = t[i][j];
    }
  }
  /// Calls f(i, j, the row of the middle) for the elements above the middle of those squares.
  template <class F>
  __device__ void for_each_above(int size, F f) const {
    for (int e = static_cast<int>(threadIdx.x); e < W / 2 * size; e += kThreads) {
      const int square = e / (size * size) * 2 * size, in_square = e % (size * size);
      const int i = square + in_square / size, j = square + size + in_square % size;
      if (j < n_) f(i, j, square + size);
    }
  }

  Memory<T, W, R, kWarps>& memory_;
  const QrOperands<T> to_;
  const int m_, n_;
  const int rank_ = rank_in_cluster(), blocks_ = blocks_in_cluster();
  unsigned turn_ = 0;  // exchanges so far
  int exponent_ = 0;   // of the power of two that the lane's column has been divided by
  Tile tile_;
};

/// Factors a panel of m x n, n <= W <= m, after it has got the earlier reflectors. The launch must
/// be one cluster with enough rows.
template <class T, int W, int R, int kWarps>
__global__ void __launch_bounds__(kWarps* kWarp, 1)
    geqrf_cluster_kernel(int m, int n, QrOperands<T> operands, EarlierReflectors<T> earlier) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int4 shared[];
  auto& memory = *reinterpret_cast<AllMemory<T, W, R, kWarps>*>(shared);
  if (threadIdx.x == 0) {
    for (Barrier& barrier : memory.of_panel.arrived) make_barrier(&barrier);
    if (earlier.count > 0) prepare(memory.of_earlier);
  }
  Panel<T, W, R, kWarps> panel(memory.of_panel, m, n, operands);
  synchronize_cluster();
  if (earlier.count > 0) panel.reflect_before(memory.of_earlier, earlier);
  panel.factor();
  panel.store();
  synchronize_cluster();  // nobody ends while others may still send
#endif
}

/// Calls f(R, threads) for the shape of a block, as compile-time constants, with which so many rows
/// fit in a cluster of `limit` blocks. Does nothing if there is none. With few threads sums over a
/// block take less time: two rows for each of 128 are better than one for each of 256.
template <class D, class F>
void with_shape(Index rows, int limit, F f) {
  const auto fits = [&](auto r, auto threads) {
    constexpr int R = decltype(r)::value, kOwnThreads = decltype(threads)::value;
    if constexpr (kWidth<D, R> < kLeastColumns) {
      return false;
    } else {
      if (limit < 2 || limit * R * kOwnThreads < rows) return false;
      f(r, threads);
      return true;
    }
  };
  using std::integral_constant;
  constexpr bool kFew = kWidth<D, 2> == kMaxWidth;
  const integral_constant<int, kFew ? 2 : 1> first;
  const integral_constant<int, kFew ? kThreads / 2 : kThreads> threads_at_first;
  const integral_constant<int, kThreads> threads;
  static_cast<void>(fits(first, threads_at_first) || fits(integral_constant<int, 2>(), threads) ||
                    fits(integral_constant<int, kMaxRows>(), threads));
}

/// A panel of m x n.
template <class D>
void launch_panel(cudaStream_t stream, int limit, Index m, Index n, const QrOperands<D>& operands,
                  const EarlierReflectors<D>& earlier, cudaEvent_t begun) {
  with_shape<D>(m, limit, [&](auto r, auto threads) {
    constexpr int R = decltype(r)::value, W = kWidth<D, R>;
    constexpr int kOwnThreads = decltype(threads)::value, kWarps = kOwnThreads / kWarp;
    using All = AllMemory<D, W, R, kWarps>;
    LaunchShape shape;
    shape.begun = begun;
    shape.threads = kOwnThreads;
    shape.blocks = 2;  // without a cluster nobody can send
    while (static_cast<Index>(shape.blocks) * R * kOwnThreads < m) shape.blocks *= 2;
    shape.cluster = shape.blocks;
    shape.shared_bytes = sizeof(All::of_panel);
    if constexpr (kReflectsEarlier<D>) {
      if (earlier.count > 0) shape.shared_bytes = shared_by_all<All>();
    }
    launch_kernel(stream, shape, "geqrf panel", geqrf_cluster_kernel<D, W, R, kWarps>,
                  static_cast<int>(m), static_cast<int>(n), operands, earlier);
  });
}

}  // namespace

template <class T>
Index geqrf_cluster_width(Index rows, int limit) {
  using D = typename DeviceScalar<T>::type;
  Index width = 0;
  with_shape<D>(rows, limit, [&](auto r, auto) { width = kWidth<D, decltype(r)::value>; });
  return width;
}

template <class T>
bool geqrf_cluster_reflects(Index rows, Index columns, Index reflectors, int limit) {
  return kReflectsEarlier<typename DeviceScalar<T>::type> && reflectors <= kReflectors &&
         columns <= geqrf_cluster_width<T>(rows, limit);
}

template <class T>
void geqrf_cluster(cudaStream_t stream, int limit, const GeqrfPanel<T>& op, cudaEvent_t begun) {
  launch_panel(stream, limit, op.a.rows, op.a.cols, operands_of(op), {}, begun);
}

template <class T>
void geqrf_cluster(cudaStream_t stream, int limit, const ReflectAndFactor<T>& op,
                   cudaEvent_t begun) {
  const EarlierReflectors<typename DeviceScalar<T>::type> earlier = {
      device_cast(op.before_v.data),
      device_cast(op.before_t.data),
      device_cast(op.c.data),
      op.before_v.ld,
      op.before_t.ld,
      op.c.ld,
      static_cast<int>(op.before_v.cols)};
  launch_panel(stream, limit, op.v.rows, op.v.cols, operands_of(op.panel()), earlier, begun);
}

#define OVERLAPACK_INSTANTIATE(T)                                                    \
  template Index geqrf_cluster_width<T>(Index, int);                                 \
  template bool geqrf_cluster_reflects<T>(Index, Index, Index, int);                 \
  template void geqrf_cluster(cudaStream_t, int, const GeqrfPanel<T>&, cudaEvent_t); \
  template void geqrf_cluster(cudaStream_t, int, const ReflectAndFactor<T>&, cudaEvent_t);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
