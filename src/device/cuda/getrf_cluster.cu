// The leaf of the LU panel for GPUs with clusters (Hopper and later): the algorithm of
// getrf_leaf.cu, with an exchange that costs a quarter.
//
// Rows are in registers and never move there, as in getrf_leaf.cu: an interchange exchanges two
// positions, and rows are stored to their final positions at the end. The thread blocks are one
// cluster and write their messages into each other's shared memory (cluster.cuh).
//
// What takes time is the chain from one pivot to the next. Only this is on it:
//
//   column j complete -> the block's best row -> a message to all blocks -> the pivot of column j
//   -> column j + 1 complete.
//
// Column j + 1 needs two numbers of the pivot's row, and these come with the message, the *head*.
// The rest of the row comes in a second message, from the winner only, while the search in column
// j + 1 is already under way; the other columns are updated while the next heads travel. So a
// candidate's element in column j + 1 lacks the update of step j - 1 when the head of step j
// leaves: the head has the multiplier of that update too, and the receiver does it.
//
// Registers cannot be indexed, so rows are shifted: in step j, x[c] is column j + c before the
// update and column j + 1 + c after it. Finished columns leave the registers: multipliers and the
// rows of pivots go to shared memory. There are four copies of the loop, for rows that are whole,
// three quarters, half and a quarter of the width.
//
// Each message has two places, for even and odd steps. Before a block sends anything of step j + 2
// it has the heads of step j + 1 of all blocks, and a block sends that head only behind a barrier
// that its threads reach after their last look at the heads of step j. For the row of step j that
// barrier is the one of step j + 2, since the row of step j + 2 follows all heads of that step.
#include <algorithm>
#include <type_traits>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/cluster.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/cuda/pivot.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kMaxBlocks = 16;  // in a cluster, on any GPU so far

/// Columns of a leaf whose threads own R rows each: 512 bytes a thread, half of all registers.
template <class T, int R>
constexpr int kWidth = std::min(32, 512 / (R * static_cast<int>(sizeof(T))));
constexpr int kMaxRows = 4;  // of a thread

// ---- the best row of a warp ----------------------------------------------------------------

/// Those of `lanes` in which `word` is largest.
__device__ inline unsigned lanes_with_largest(unsigned lanes, unsigned word) {
  const bool among = (lanes >> (threadIdx.x % kWarp) & 1) != 0;
  const unsigned largest = __reduce_max_sync(kAllLanes, among ? word : 0u);
  return __ballot_sync(kAllLanes, among && word == largest);
}

__device__ inline bool several(unsigned lanes) { return (lanes & (lanes - 1)) != 0; }

/// The lane with the best candidate; any if all are nobody. The first half of a key usually
/// decides.
template <class Key>
__device__ int best_lane(Candidate<Key> c) {
  unsigned lanes = kAllLanes;
  if constexpr (sizeof(Key) == 8) {
    lanes = lanes_with_largest(lanes, static_cast<unsigned>(c.key >> 32));
  }
  if (several(lanes)) lanes = lanes_with_largest(lanes, static_cast<unsigned>(c.key));
  if (several(lanes)) lanes = lanes_with_largest(lanes, ~c.position);
  return __ffs(static_cast<int>(lanes)) - 1;
}

// ---- messages ------------------------------------------------------------------------------

constexpr int kChunk = sizeof(int4);  // bytes that one thread sends at a time

/// A candidate for the pivot, as a block tells it to all others.
template <class T>
struct alignas(kChunk) Head {
  T pivot;
  T inverse;     // reciprocal(pivot)
  T next;        // the element to the right of the pivot, without the update of the step before
  T multiplier;  // of the row in that update
  unsigned position;
};

template <class T, int W, int R>
struct alignas(kChunk) SharedMemory {
  T row[2][W];                // of the pivot, from the column to its right; sent by the winner
  T candidate_row[W][W];      // [j]: the same of this block's candidate of step j
  T column[W][R * kThreads];  // [j]: column j of L, and the pivot
  Head<T> of_warp[kWarps];
  Head<T> of_block[2][kMaxBlocks];  // sent by the blocks
  Barrier row_arrived[2], heads_arrived[2];
};

/// Sends kBytes bytes to the same place in all blocks. All threads of the block.
template <int kBytes>
__device__ void send_to_all(void* to, const void* from, Barrier* arrived, int blocks) {
  constexpr int kChunks = kBytes / kChunk;
  static_assert(kBytes % kChunk == 0);
  for (int i = static_cast<int>(threadIdx.x); i < kChunks * blocks; i += kThreads) {
    const int block = i / kChunks, chunk = i % kChunks;
    send(block, static_cast<int4*>(to) + chunk, arrived, static_cast<const int4*>(from)[chunk]);
  }
}

// ---- the leaf ------------------------------------------------------------------------------

template <class T, int W, int R>
class Leaf {
  using Shared = SharedMemory<T, W, R>;

 public:
  __device__ Leaf(Shared& shared, int m)
      : shared_(shared), rank_(rank_in_cluster()), blocks_(blocks_in_cluster()) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int row = rank_ * (R * kThreads) + own_row(r);
      position_[r] = row < m ? row : -1;
    }
  }

  __device__ void load(int n, const T* a, Index ld) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll
      for (int c = 0; c < W; ++c) {
        x_[r][c] = position_[r] >= 0 && c < n ? a[position_[r] + c * ld] : from_real<T>(0);
      }
      complete_[r] = x_[r][0];
      multiplier_[r] = from_real<T>(0);
    }
    // The update of step -1 is none.
    if (threadIdx.x < W) shared_.row[1][threadIdx.x] = from_real<T>(0);
    if (threadIdx.x == 0) {
      for (Barrier& barrier : shared_.row_arrived) make_barrier(&barrier);
      for (Barrier& barrier : shared_.heads_arrived) make_barrier(&barrier);
    }
    synchronize_cluster();
  }

  /// Step j, in which at most kColumns columns are unfinished. Returns the pivot.
  template <int kColumns>
  __device__ Head<T> step(int j, bool last) {
    const int now = j % 2, before = 1 - now;
    nominate(j);
    __syncthreads();
    const Head<T>& best = shared_.of_warp[best_lane(candidate_of(shared_.of_warp, kWarps, j))];
    if (threadIdx.x == 0) {
      expect(&shared_.heads_arrived[now], static_cast<unsigned>(blocks_ * sizeof(Head<T>)));
      if (!last) expect(&shared_.row_arrived[now], kColumns * sizeof(T));
    }
    send_to_all<sizeof(Head<T>)>(&shared_.of_block[now][rank_], &best, &shared_.heads_arrived[now],
                                 blocks_);

    // While the heads travel: the update of step j - 1, then the candidate's row is known.
    if (j > 0) await(&shared_.row_arrived[before], (j - 1) / 2 % 2);
    const T next_before = shared_.row[before][1];
    update<kColumns>(shared_.row[before]);
    keep_row<kColumns>(best.position, j);
    __syncthreads();

    await(&shared_.heads_arrived[now], j / 2 % 2);
    const int winner = best_lane(candidate_of(shared_.of_block[now], blocks_, j));
    if (winner == rank_ && !last) {
      send_to_all<kColumns * sizeof(T)>(shared_.row[now], shared_.candidate_row[j],
                                        &shared_.row_arrived[now], blocks_);
    }
    const Head<T> head = shared_.of_block[now][winner];
    eliminate(head, subtract_product(head.next, head.multiplier, next_before), j);
    return head;
  }

  __device__ void store(int n, T* a, Index ld) const {
    // Nobody stores before all have loaded their rows.
    synchronize_cluster();
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int p = position_[r];
      if (p < 0) continue;
      for (int c = 0; c < n; ++c) {
        a[p + c * ld] =
            c <= p ? shared_.column[c][own_row(r)] : shared_.candidate_row[p][c - p - 1];
      }
    }
  }

  __device__ bool is_first_thread() const { return rank_ == 0 && threadIdx.x == 0; }

 private:
  using Key = KeyOf<DeviceReal<T>>;

  /// The number in its block of a thread's row r.
  __device__ static int own_row(int r) { return r * kThreads + static_cast<int>(threadIdx.x); }

  /// One of `count` heads of step j, as a candidate, for each lane.
  __device__ static Candidate<Key> candidate_of(const Head<T>* heads, int count, int j) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    if (lane >= count) return nobody<Key>();
    return candidate(heads[lane].pivot, heads[lane].position, static_cast<unsigned>(j));
  }

  /// Each warp leaves its best row in of_warp.
  __device__ void nominate(int j) {
    Candidate<Key> best = nobody<Key>();
    T pivot = from_real<T>(0);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position_[r] < j) continue;
      const auto position = static_cast<unsigned>(position_[r]);
      best = better(best, candidate(complete_[r], position, static_cast<unsigned>(j)));
      if (best.position == position) pivot = complete_[r];
    }
    const T inverse = reciprocal(pivot);
    const int lane = static_cast<int>(threadIdx.x) % kWarp,
              warp = static_cast<int>(threadIdx.x) / kWarp;
    if (lane != best_lane(best)) return;
    Head<T>& head = shared_.of_warp[warp];
    head.pivot = pivot;
    head.inverse = inverse;
    head.position = best.position;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (static_cast<unsigned>(position_[r]) == best.position) {
        head.next = x_[r][1];
        head.multiplier = multiplier_[r];
      }
    }
  }

  /// The update of the step before with the row u of its pivot. Rows that were pivots take part:
  /// what becomes of them here is never read.
  template <int kColumns>
  __device__ void update(const T* u) {
#pragma unroll
    for (int c = 1; c < kColumns; ++c) {
#pragma unroll
      for (int r = 0; r < R; ++r) {
        x_[r][c - 1] = subtract_product(x_[r][c], multiplier_[r], u[c]);
      }
    }
  }

  /// The row at `position` goes to candidate_row[j].
  template <int kColumns>
  __device__ void keep_row(unsigned position, int j) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position_[r] >= 0 && static_cast<unsigned>(position_[r]) == position) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) shared_.candidate_row[j][c] = x_[r][c];
      }
    }
  }

  /// The interchange, the multipliers of step j, and column j + 1 with the pivot row's element
  /// `next` in it.
  __device__ void eliminate(const Head<T>& head, T next, int j) {
    const bool ordinary = is_ordinary(head.pivot), zero = is_zero(head.pivot);
    const int p = static_cast<int>(head.position);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      T& l = multiplier_[r];
      if (ordinary) {
        l = quotient(complete_[r], head.pivot, head.inverse);
      } else {
        l = zero ? complete_[r] : divide(complete_[r], head.pivot);
      }
      shared_.column[j][own_row(r)] = position_[r] == p ? head.pivot : l;
      complete_[r] = subtract_product(x_[r][0], l, next);
      if (position_[r] == j) {
        position_[r] = p;
      } else if (position_[r] == p) {
        position_[r] = j;
      }
    }
  }

  Shared& shared_;
  const int rank_, blocks_;
  T x_[R][W];        // rows as far as they are unfinished, see the top
  T complete_[R];    // their elements in the pivot column, with all updates
  T multiplier_[R];  // of the step before
  int position_[R];  // negative if there is no such row
};

/// Calls f(kColumns) for kColumns = W, 3 W / 4, W / 2, W / 4 as compile-time constants.
template <int W, class F>
__device__ void for_each_quarter(F f) {
  f(std::integral_constant<int, W>{});
  f(std::integral_constant<int, 3 * W / 4>{});
  f(std::integral_constant<int, W / 2>{});
  f(std::integral_constant<int, W / 4>{});
}

/// Factors the m x n panel `a`, n <= W. The launch must be one cluster with enough rows.
template <class T, int W, int R>
__global__ void __launch_bounds__(kThreads, 1)
    getrf_cluster_kernel(int m, int n, T* a, Index ld, Index* pivots, Index* info, Index offset) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int4 memory[];
  Leaf<T, W, R> leaf(*reinterpret_cast<SharedMemory<T, W, R>*>(memory), m);
  const int steps = min(m, n);
  leaf.load(n, a, ld);
  int j = 0, first_zero = steps;
  for_each_quarter<W>([&](auto columns) {
    constexpr int kColumns = decltype(columns)::value;
    const int end = min(steps, W - kColumns + W / 4);
#  pragma unroll 1
    for (; j < end; ++j) {
      const Head<T> pivot = leaf.template step<kColumns>(j, j == steps - 1);
      if (is_zero(pivot.pivot)) first_zero = min(first_zero, j);
      if (leaf.is_first_thread()) pivots[j] = offset + 1 + pivot.position;
    }
  });
  leaf.store(n, a, ld);
  if (leaf.is_first_thread() && first_zero < steps && *info == 0) *info = offset + first_zero + 1;
#endif
}

// ---- host side -----------------------------------------------------------------------------

template <class D, int R>
LaunchShape cluster_shape(unsigned blocks) {
  LaunchShape shape;
  shape.blocks = shape.cluster = blocks;
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(SharedMemory<D, kWidth<D, R>, R>);
  return shape;
}

/// The least power of two of blocks for so many rows, R a thread.
Index blocks_for(Index rows, int R) {
  Index blocks = 1;
  while (blocks * R * kThreads < rows) blocks *= 2;
  return blocks;
}

template <int R, class T>
void launch_cluster(cudaStream_t stream, DeviceView<T> a, Index* pivots, Index* info,
                    Index offset) {
  using D = typename DeviceScalar<T>::type;
  launch(stream, cluster_shape<D, R>(static_cast<unsigned>(blocks_for(a.rows, R))), "getrf cluster",
         getrf_cluster_kernel<D, kWidth<D, R>, R>, static_cast<int>(a.rows),
         static_cast<int>(a.cols), device_cast(a.data), a.ld, pivots, info, offset);
}

}  // namespace

int getrf_cluster_limit() {
  // The kernel that needs the most shared memory, and as many registers as any.
  using D = Complex<double>;
  const auto kernel = getrf_cluster_kernel<D, kWidth<D, 1>, 1>;
  constexpr int kOldestCode = 90;
  cudaFuncAttributes attributes = {};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
  ignore(status);
  if (status != cudaSuccess || attributes.ptxVersion < kOldestCode) return 0;
  for (unsigned blocks = kMaxBlocks; blocks >= kClusterWithoutAsking; blocks /= 2) {
    const LaunchShape shape = cluster_shape<D, 1>(blocks);
    int clusters = 0;
    const bool possible = ask_for(shape, kernel) == cudaSuccess &&
                          cudaOccupancyMaxActiveClusters(
                              &clusters, kernel, &Launch(nullptr, shape).config()) == cudaSuccess;
    ignore(cudaGetLastError());
    if (possible && clusters > 0) return static_cast<int>(blocks);
  }
  return 0;
}

template <class T>
Index getrf_cluster_width(Index rows, int limit) {
  using D = typename DeviceScalar<T>::type;
  if (blocks_for(rows, 1) <= limit) return kWidth<D, 1>;
  if (blocks_for(rows, 2) <= limit) return kWidth<D, 2>;
  return blocks_for(rows, kMaxRows) <= limit ? kWidth<D, kMaxRows> : 0;
}

template <class T>
void getrf_cluster(cudaStream_t stream, int limit, DeviceView<T> a, Index* pivots, Index* info,
                   Index offset) {
  if (blocks_for(a.rows, 1) <= limit) {
    launch_cluster<1>(stream, a, pivots, info, offset);
  } else if (blocks_for(a.rows, 2) <= limit) {
    launch_cluster<2>(stream, a, pivots, info, offset);
  } else {
    launch_cluster<kMaxRows>(stream, a, pivots, info, offset);
  }
}

template Index getrf_cluster_width<float>(Index, int);
template Index getrf_cluster_width<double>(Index, int);
template Index getrf_cluster_width<std::complex<float>>(Index, int);
template Index getrf_cluster_width<std::complex<double>>(Index, int);
template void getrf_cluster(cudaStream_t, int, DeviceView<float>, Index*, Index*, Index);
template void getrf_cluster(cudaStream_t, int, DeviceView<double>, Index*, Index*, Index);
template void getrf_cluster(cudaStream_t, int, DeviceView<std::complex<float>>, Index*, Index*,
                            Index);
template void getrf_cluster(cudaStream_t, int, DeviceView<std::complex<double>>, Index*, Index*,
                            Index);

}  // namespace overlapack::cuda
