// The QR panel for GPUs with clusters (Hopper and later): Householder reflectors, one for each
// column, as LAPACK's ?geqr2 makes them, with one exchange between thread blocks per column.
//
// A thread owns up to four whole rows, in registers. In step k each block sums over its rows below
// row k the products of column k with all columns (householder.cuh), and tells all others. They add
// up what they are told, in the same order. So all come to the same reflector, and each reflects
// its own rows.
//
//   column k complete -> sums of a warp -> of the block -> a message to all blocks -> beta, tau
//   -> what row k loses -> all rows reflected, with them column k + 1
//
// is the chain that takes the time. Row k itself comes with the message from the first block, which
// has it. It leaves the registers there before its step, and zeros stand in for it: so sums, too,
// may take all rows.
//
// Registers cannot be indexed, so rows rotate: in step k, x[c] is column k + c modulo W. After the
// reflection it is column k + 1 + c, and v stands at the end. Of W numbers the first one is the
// present column, the last k are the v of columns before, and those between are yet to be
// reflected. Lane c of a warp is in charge of the same column: of its sum, of its element of row k,
// and of what this loses.
//
// One warp of the last block, the secretary, stores row k and column k of T while all wait for the
// messages of step k + 1.
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
/// Columns of a panel whose threads own R rows each: 512 bytes a thread, half of all registers.
constexpr int kMaxWidth = 32;
template <class T, int R>
constexpr int kWidth = std::min(kMaxWidth, 512 / (R * static_cast<int>(sizeof(T))));
constexpr int kMaxRows = 4;        // of a thread
constexpr int kThreads = 256;      // of a block, or half as many
constexpr int kLeastColumns = 16;  // of a panel: with fewer, what comes between panels takes longer

template <class T, int W, int kWarps>
struct alignas(sizeof(int4)) Memory {
  // Sent by all blocks, by the first block, and what they are sent from.
  T of_block[2][kMaxBlocks][W];
  T row[2][W];
  T of_warp[2][kWarps][W];
  T own_row[2][W];
  T loss[kWarps][W];  // what the elements of row k lose; each warp has its own copy
  // Of the secretary: T, and of the step before
  T t[W][W];
  T value[W], z[W], tau;
  int exponent[W];  // by column of the panel
  Barrier arrived[2];
};

/// Shared memory of a launch. There is the second part only if there are earlier reflectors.
template <class T, int W, int kWarps>
struct AllMemory {
  Memory<T, W, kWarps> of_panel;
  EarlierMemory<T, W> of_earlier;
};

template <class T, int W, int R, int kOwnThreads>
class Panel {
  using Real = DeviceReal<T>;
  static constexpr int kThreads = kOwnThreads, kWarps = kThreads / kWarp;

 public:
  /// Loads the rows. What is not there is zero.
  __device__ Panel(AllMemory<T, W, kWarps>& memory, int m, int n, const QrOperands<T>& to,
                   const EarlierReflectors<T>& earlier)
      : memory_(memory.of_panel), to_(to), m_(m), n_(n) {
    if (threadIdx.x == 0) {
      for (Barrier& barrier : memory_.arrived) make_barrier(&barrier);
      if (earlier.count > 0) prepare(memory.of_earlier);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const T* const from = to_.a + row(r);
#pragma unroll
      for (int c = 0; c < W; ++c) {
        x_[r][c] = row(r) < m_ && c < n_ ? from[column_offset(c, to_.lda)] : from_real<T>(0);
      }
    }
    synchronize_cluster();
    if constexpr (kReflectsEarlier<T>) {
      if (earlier.count == 0) return;
      EarlierReflection<T, W, R, kThreads>(memory.of_earlier, earlier, m, n)
          .reflect(x_, [this](int r) { return row(r); });
    }
  }

  __device__ void factor() {
    scale_columns();
#pragma unroll 1
    for (int k = 0; k < n_; ++k) step(k);
    finish(n_ - 1);
  }

  /// The rows below the triangle.
  __device__ void store() const {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (row(r) < n_ || row(r) >= m_) continue;
#pragma unroll
      for (int c = 0; c < W; ++c) {
        const int column = c - (W - n_);
        if (column < 0) continue;
        to_.a[row(r) + column_offset(column, to_.lda)] = x_[r][c];
        to_.v[row(r) + column_offset(column, to_.ldv)] = x_[r][c];
      }
    }
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / kWarp; }
  /// The thread's row r of the panel.
  __device__ int row(int r) const {
    return (rank_ * R + r) * kThreads + static_cast<int>(threadIdx.x);
  }
  __device__ bool is_secretary() const { return rank_ == blocks_ - 1 && warp() == kWarps - 1; }

  /// All threads of the cluster combine what they have for each column; lane c gets that of its
  /// own. With row k, `with_row`, which the first block has prepared. start() is that of
  /// combine_in_warp(); meanwhile() is for what has time while the threads wait.
  template <class Combine, class Start, class Meanwhile>
  __device__ T exchange(Combine combine, bool with_row, Start start, Meanwhile meanwhile) {
    const unsigned place = turn_ % 2, parity = turn_ / 2 % 2;
    combine_in_warp<W>(combine, start, memory_.of_warp[place][warp()]);
    __syncthreads();
    send(combine, place, with_row);
    if (threadIdx.x == kThreads - 1) {
      const int rows = blocks_ + (with_row ? 1 : 0);
      expect(&memory_.arrived[place], static_cast<unsigned>(rows * W * sizeof(T)));
    }
    meanwhile();
    await(&memory_.arrived[place], parity);
    ++turn_;
    T total[2] = {from_real<T>(0), from_real<T>(0)};
    if (lane() < W) {
      for (int b = 0; b < blocks_; b += 2) {  // an even number
        for (int i = 0; i < 2; ++i) {
          total[i] = combine(total[i], memory_.of_block[place][b + i][lane()]);
        }
      }
    }
    return combine(total[0], total[1]);
  }

  /// Sends what the block's warps have to all blocks, a chunk of columns each thread.
  template <class Combine>
  __device__ void send(Combine combine, unsigned place, bool with_row) {
    constexpr int kElements = Chunk<T>::kElements, kChunks = W / kElements;
    Barrier* const arrived = &memory_.arrived[place];
    for (int i = static_cast<int>(threadIdx.x); i < kChunks * blocks_; i += kThreads) {
      const int block = i / kChunks, first = i % kChunks * kElements;
      const auto chunk_of = [&](const T* from) {
        return reinterpret_cast<const Chunk<T>&>(from[first]);
      };
      Chunk<T> total = chunk_of(memory_.of_warp[place][0]);
#pragma unroll
      for (int w = 1; w < kWarps; ++w) {
        const Chunk<T> one = chunk_of(memory_.of_warp[place][w]);
        for (int e = 0; e < kElements; ++e) {
          total.element[e] = combine(total.element[e], one.element[e]);
        }
      }
      const auto send_chunk = [&](T* to, const Chunk<T>& chunk) {
        cuda::send(block, to + first, arrived, reinterpret_cast<const int4&>(chunk));
      };
      send_chunk(memory_.of_block[place][rank_], total);
      if (with_row && rank_ == 0) send_chunk(memory_.row[place], chunk_of(memory_.own_row[place]));
    }
  }

  /// Each column by a power of two.
  __device__ void scale_columns() {
    const T largest = exchange(
        Largest(), false,
        [&](int first, T(&x)[kPass<T>]) {
#pragma unroll
          for (int c = 0; c < kPass<T>; ++c) {
            Real most = 0;
#pragma unroll
            for (int r = 0; r < R; ++r) most = fmax(most, largest_part(x_[r][first + c]));
            x[c] = from_real<T>(most);
          }
        },
        [] {});
    const int exponent = exponent_of(real_part(largest));
    if (lane() < W) {
      if (is_secretary()) memory_.exponent[lane()] = exponent;
      memory_.loss[warp()][lane()] = from_real<T>(power_of_two<Real>(-exponent));
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < W; ++c) {
      const Real factor = real_part(memory_.loss[warp()][c]);
#pragma unroll
      for (int r = 0; r < R; ++r) x_[r][c] = scale(x_[r][c], factor);
    }
  }

  __device__ void step(int k) {
    if (rank_ == 0 && static_cast<int>(threadIdx.x) == k) take_out_row();
    const unsigned place = turn_ % 2;
    T sum = sums(true, [&] {
      if (k > 0) finish(k - 1);
    });
    T of_row = lane() < W ? memory_.row[place][lane()] : from_real<T>(0);
    bool nothing_below = false;
    if (!is_safe(real_part(of_lane(sum, 0)))) {
      const bool zero = scale_column(k, of_row);
      sum = sums(false, [] {});
      nothing_below = zero && is_zero(of_lane(sum, 0));  // which a NaN is not
    }
    const T alpha = of_lane(of_row, 0);
    const Reflector<T> h = make_reflector(alpha, real_part(of_lane(sum, 0)), nothing_below);

    const int later = W - k;  // columns 1, ..., later - 1 are
    const T dot = add_product(of_row, conjugate(h.scale), sum);
    const bool is_later = lane() > 0 && lane() < later;
    const T loss = is_later ? product(conjugate(h.tau), dot) : from_real<T>(0);
    if (lane() < W) memory_.loss[warp()][lane()] = loss;
    if (is_secretary() && lane() < W) {
      memory_.value[lane()] = lane() == 0 ? from_real<T>(h.beta)
                              : is_later  ? add(of_row, negate(loss))
                                          : of_row;
      if (lane() >= later) memory_.z[lane() - later] = conjugate(dot);
      if (lane() == 0) memory_.tau = h.tau;
    }
    __syncwarp();
    reflect(h.scale, later);
  }

  /// The rows rotate by one column. Those before are left alone: to subtract nothing times
  /// something that is not finite would not leave them as they are.
  __device__ void reflect(T scale, int later) {
    const T* const loss = memory_.loss[warp()];
    T v[R];
#pragma unroll
    for (int r = 0; r < R; ++r) v[r] = product(x_[r][0], scale);
#pragma unroll
    for (int c = 1; c < W; ++c) {
      const T u = loss[c];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        x_[r][c - 1] = c < later ? subtract_product(x_[r][c], v[r], u) : x_[r][c];
      }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) x_[r][W - 1] = v[r];
  }

  /// This thread has row k, the first of its own.
  __device__ void take_out_row() {
    T* const to = memory_.own_row[turn_ % 2];
#pragma unroll
    for (int c = 0; c < W; ++c) {
      to[c] = x_[0][c];
      x_[0][c] = from_real<T>(0);
    }
  }

  /// The products of the present column with all columns.
  template <class Meanwhile>
  __device__ T sums(bool with_row, Meanwhile meanwhile) {
    return exchange(
        Sum(), with_row,
        [&](int first, T(&x)[kPass<T>]) {
#pragma unroll
          for (int c = 0; c < kPass<T>; ++c) {
            x[c] = from_real<T>(0);
#pragma unroll
            for (int r = 0; r < R; ++r) x[c] = add_conjugated(x[c], x_[r][first + c], x_[r][0]);
          }
        },
        meanwhile);
  }

  /// What is left of the present column, by another power of two, with its element of row k in lane
  /// 0. Returns whether there are only zeros (or NaNs) below.
  __device__ bool scale_column(int k, T& of_row) {
    const T of_column = exchange(
        Largest(), false,
        [&](int first, T(&x)[kPass<T>]) {
#pragma unroll
          for (int c = 0; c < kPass<T>; ++c) x[c] = from_real<T>(0);
          if (first > 0) return;
          Real most = 0;
#pragma unroll
          for (int r = 0; r < R; ++r) most = fmax(most, largest_part(x_[r][0]));
          x[0] = from_real<T>(most);
        },
        [] {});
    const Real below = real_part(of_lane(of_column, 0));
    const int exponent = exponent_of(fmax(below, largest_part(of_lane(of_row, 0))));
    const Real factor = power_of_two<Real>(-exponent);
#pragma unroll
    for (int r = 0; r < R; ++r) x_[r][0] = scale(x_[r][0], factor);
    if (lane() == 0) of_row = scale(of_row, factor);
    if (is_secretary() && lane() == 0) memory_.exponent[k] += exponent;
    __syncwarp();
    return below == 0;
  }

  /// Stores what step k has found.
  __device__ void finish(int k) {
    if (!is_secretary()) return;
    if (lane() < W) {
      const int column = (k + lane()) % W;
      store_row(to_, n_, k, column, memory_.value[lane()], memory_.exponent[column]);
    }
    store_column_of_t(to_, n_, k, memory_.tau, memory_.z, memory_.t[0], W);
    __syncwarp();
  }

  Memory<T, W, kWarps>& memory_;
  const QrOperands<T> to_;
  const int m_, n_;
  const int rank_ = rank_in_cluster(), blocks_ = blocks_in_cluster();
  unsigned turn_ = 0;  // exchanges so far
  T x_[R][W];          // see the top
};

/// Factors a panel of m x n, n <= W <= m, after it has got the earlier reflectors. The launch must
/// be one cluster with enough rows.
template <class T, int W, int R, int kOwnThreads>
__global__ void __launch_bounds__(kOwnThreads, 1)
    geqrf_cluster_kernel(int m, int n, QrOperands<T> operands, EarlierReflectors<T> earlier) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int4 memory[];
  using All = AllMemory<T, W, kOwnThreads / kWarp>;
  Panel<T, W, R, kOwnThreads> panel(*reinterpret_cast<All*>(memory), m, n, operands, earlier);
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
    constexpr int R = decltype(r)::value, W = kWidth<D, R>, kOwnThreads = decltype(threads)::value;
    using All = AllMemory<D, W, kOwnThreads / kWarp>;
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
    launch_kernel(stream, shape, "geqrf panel", geqrf_cluster_kernel<D, W, R, kOwnThreads>,
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
