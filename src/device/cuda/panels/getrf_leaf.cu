// LU factorization with partial pivoting of a narrow panel: the leaf of the recursion over columns
// (S. Toledo, "Locality of reference in LU decomposition with partial pivoting", SIAM J. Matrix
// Anal. Appl. 18, 1997; LAPACK's ?getrf2). It is the unblocked algorithm, LAPACK's ?getf2:
//
//   for j = 0, 1, ...
//     p := the row >= j with the largest |re| + |im| in column j;  pivots[j] := p
//     interchange rows j and p
//     l := A(j+1:m, j) / A(j, j)                       the multipliers, stored in place
//     A(j+1:m, j+1:n) -= l A(j, j+1:n)
//
// What makes it slow on a GPU is that every column needs all rows twice: for the pivot and for the
// pivot's row. Hence this arrangement.
//
// Rows in registers. A thread owns one or a few whole rows, so a column costs no memory traffic.
// The number of columns W is a compile-time constant and registers cannot be indexed, so the rows
// rotate: in step j register c holds column j + c, the update writes a[c] - l u[c] to register
// c - 1, and the multiplier goes to the last one. After W steps all columns are in their places
// again. The loop over j is thereby the same code for every j and stays rolled.
//
// Rows never move. An interchange only exchanges the *positions* of two rows, which each thread
// keeps for its own; the rows are stored to their final positions at the end.
//
// One exchange per column. The thread blocks are all resident at once (a cooperative launch). In
// step j each block publishes one message: its best candidate and that candidate's row. Each block
// reads the heads of all messages, comes to the same winner as all others and reads the winner's
// row. Nobody waits for anything but the messages of this step.
//   - A message consists of 128-bit words, each of them written and read in one piece and each
//     with the step's tag in it: a head (tag, position, key) and the row (tag, 8 bytes of data). So
//     no word depends on another one's having arrived, and no fence delays the exchange.
//   - Tags count columns over the life of the queue, so no message needs to be cleared.
//   - Steps alternate between two sets of messages. A block overwrites a message of step j in step
//     j + 2, after it has seen all heads of step j + 1, and each block publishes that head only
//     after a barrier that follows its reads of step j.
//
// Where the GPU has clusters and the panel fits in one, getrf_cluster.cu does the same faster.
// Panels with more rows than the registers of the GPU hold are factored in memory, two launches per
// column (tall_* below); launches are the barriers there.
#include <algorithm>

#include "device/cuda/panels/panels.hpp"
#include "device/cuda/panels/pivot.cuh"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/ptx/message.cuh"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

// ---- the pivot ------------------------------------------------------------------------------

/// The best candidate of a warp, in every lane: hardware reductions of 32-bit words.
__device__ Candidate<unsigned> warp_best(Candidate<unsigned> c) {
  Candidate<unsigned> best;
  best.key = __reduce_max_sync(kAllLanes, c.key);
  best.position = __reduce_min_sync(kAllLanes, c.key == best.key ? c.position : kNobody);
  return best;
}
__device__ Candidate<unsigned long long> warp_best(Candidate<unsigned long long> c) {
  const unsigned high = static_cast<unsigned>(c.key >> 32), low = static_cast<unsigned>(c.key);
  const unsigned best_high = __reduce_max_sync(kAllLanes, high);
  const unsigned best_low = __reduce_max_sync(kAllLanes, high == best_high ? low : 0u);
  Candidate<unsigned long long> best;
  best.key = static_cast<unsigned long long>(best_high) << 32 | best_low;
  best.position = __reduce_min_sync(kAllLanes, c.key == best.key ? c.position : kNobody);
  return best;
}

/// The best candidate of a thread block of kThreads, in every thread. Contains one barrier; another
/// one must follow before `of_warp` (kWarps elements of shared memory) is used again.
template <class Key>
__device__ Candidate<Key> block_best(Candidate<Key> c, Candidate<Key>* of_warp) {
  c = warp_best(c);
  const unsigned lane = threadIdx.x % kWarp;
  if (lane == 0) of_warp[threadIdx.x / kWarp] = c;
  __syncthreads();
  return warp_best(lane < kWarps ? of_warp[lane] : nobody<Key>());
}

// ---- messages ------------------------------------------------------------------------------

/// What a thread block tells the others in one step.
struct Message {
  static constexpr int kRowWords = 32;
  Word head;  // tag << 32 | position; key
  Word row[kRowWords];
};

/// Waits for the message's head and returns the candidate in it.
template <class Key>
__device__ Candidate<Key> await_head(const Message& message, unsigned tag) {
  Word head;
  do {
    head = load(&message.head);
  } while (static_cast<unsigned>(head.tagged >> 32) != tag);
  Candidate<Key> c;
  c.key = static_cast<Key>(head.value);
  c.position = static_cast<unsigned>(head.tagged);
  return c;
}

/// Waits for one word of the message's row.
__device__ unsigned long long await_row(const Message& message, int w, unsigned tag) {
  Word word;
  do {
    word = load(&message.row[w]);
  } while (word.tagged != tag);
  return word.value;
}

// ---- the leaf in registers -----------------------------------------------------------------

/// Columns of a leaf in registers, and the rows a thread can own in a panel of many rows: 512
/// bytes, half of all registers. The taller a panel is, the narrower its leaves are.
template <class T, int kNarrowing = 1>
struct LeafShape {
  static constexpr int width = (sizeof(T) == 16 ? 16 : 32) / kNarrowing;
  static constexpr int max_rows = (sizeof(T) == 4 ? 4 : 2) * kNarrowing;
};

/// Factors the m x n panel `a`, n <= W. Thread block b owns the rows from b R kThreads; with more
/// than one block the launch must be cooperative and `messages` hold two per block. The tags
/// first_tag ... first_tag + min(m, n) - 1 must not occur in `messages`.
template <class T, int W, int R>
__global__ void __launch_bounds__(kThreads, 1)
    getrf_leaf_kernel(int m, int n, T* a, Index ld, PanelReport report, Index offset,
                      Message* messages, unsigned first_tag) {
  using Key = KeyOf<DeviceReal<T>>;
  constexpr int kRowWords = W * sizeof(T) / sizeof(unsigned long long);
  static_assert(kRowWords <= kWarp && kRowWords <= Message::kRowWords, "a lane per word");
  __shared__ Candidate<Key> of_warp[kWarps];
  __shared__ __align__(16) unsigned long long pivot_row_words[kRowWords];
  __shared__ unsigned winning_position;
  T* const u = reinterpret_cast<T*>(pivot_row_words);

  const int first_row = static_cast<int>(blockIdx.x) * (R * kThreads);
  const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int steps = min(m, n);

  T x[R][W];
  int position[R];  // of each row; rows that do not exist count as chosen before the first step
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int row = first_row + r * kThreads + static_cast<int>(threadIdx.x);
    position[r] = row < m ? row : -1;
#pragma unroll
    for (int c = 0; c < W; ++c) x[r][c] = row < m && c < n ? a[row + c * ld] : from_real<T>(0);
  }

  int first_zero = steps;
  for (int j = 0; j < steps; ++j) {
    // The best row of this block, and the thread that owns it.
    Candidate<Key> best = nobody<Key>();
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position[r] >= j) {
        best = better(
            best, candidate(x[r][0], static_cast<unsigned>(position[r]), static_cast<unsigned>(j)));
      }
    }
    best = block_best(best, of_warp);

    // Its row goes to all threads of the block; with several blocks it is their candidate, and the
    // winner's row replaces it. A block without a candidate says so.
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position[r] >= j && static_cast<unsigned>(position[r]) == best.position) {
        winning_position = best.position;
#pragma unroll
        for (int c = 0; c < W; ++c) u[c] = x[r][c];
      }
    }
    if (gridDim.x > 1) {
      __syncthreads();
      if (threadIdx.x < kWarp) {
        const unsigned tag = first_tag + static_cast<unsigned>(j);
        Message* const step_messages = messages + (j % 2) * gridDim.x;
        Message& own = step_messages[blockIdx.x];
        if (lane == 0) {
          store(&own.head, static_cast<unsigned long long>(tag) << 32 | best.position,
                static_cast<unsigned long long>(best.key));
        }
        if (lane < kRowWords) store(&own.row[lane], tag, pivot_row_words[lane]);
        Candidate<Key> seen = nobody<Key>();
        int seen_in = 0;
        for (int b = lane; b < static_cast<int>(gridDim.x); b += kWarp) {
          const Candidate<Key> c = await_head<Key>(step_messages[b], tag);
          if (c.position == kNobody) continue;
          seen = better(seen, c);
          if (seen.position == c.position) seen_in = b;
        }
        const Candidate<Key> winner = warp_best(seen);
        const unsigned holder = __ballot_sync(kAllLanes, seen.position == winner.position);
        const int from = __shfl_sync(kAllLanes, seen_in, __ffs(static_cast<int>(holder)) - 1);
        if (lane < kRowWords) pivot_row_words[lane] = await_row(step_messages[from], lane, tag);
        if (lane == 0) winning_position = winner.position;
      }
    }
    __syncthreads();

    const int p = static_cast<int>(winning_position);
    const T pivot = u[0];
    const bool zero = is_zero(pivot);
    if (zero) first_zero = min(first_zero, j);
    if (first_thread) report.pivot(j, offset + 1 + p);

    // The interchange, then the elimination. Rows above and at the pivot only rotate, and so do the
    // columns that are finished, which have come round to the end of each row. They are left alone
    // rather than multiplied by zero, which would turn an Inf elsewhere into a NaN here.
    const int unfinished = W - j;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position[r] == j) {
        position[r] = p;
      } else if (position[r] == p) {
        position[r] = j;
      }
      const bool eliminate = position[r] > j;
      const T l = eliminate && !zero ? divide(x[r][0], pivot) : x[r][0];
      const int limit = eliminate ? unfinished : 0;
#pragma unroll
      for (int c = 1; c < W; ++c) {
        x[r][c - 1] = c < limit ? subtract_product(x[r][c], l, u[c]) : x[r][c];
      }
      x[r][W - 1] = l;
    }
  }

  // All rows were loaded before the last exchange, so none is overwritten unread.
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int c = 0; c < W; ++c) {
      const int column = (c + steps) % W;
      if (position[r] >= 0 && column < n) a[position[r] + column * ld] = x[r][c];
    }
  }
  if (first_thread && first_zero < steps) report.zero_pivot(offset + first_zero + 1);
}

// ---- the leaf in memory --------------------------------------------------------------------

constexpr int kMemoryLeafWidth = 8;     // each column is a pass over all columns of the leaf
constexpr int kMemoryLeafBlocks = 512;  // enough to keep the memory of any GPU busy

/// Ends step j-1 and prepares step j: every row below j-1 is eliminated with row j-1, then each
/// thread block leaves its best candidate for the pivot of step j. j = 0 has nothing to eliminate,
/// j = n no pivot to find (its candidates are not read).
template <class T>
__global__ void __launch_bounds__(kThreads)
    tall_eliminate_kernel(Index m, int n, T* a, Index ld, int j,
                          Candidate<KeyOf<DeviceReal<T>>>* of_block) {
  using Key = KeyOf<DeviceReal<T>>;
  __shared__ Candidate<Key> of_warp[kWarps];
  Candidate<Key> best = nobody<Key>();
  const Index stride = Index{kThreads} * gridDim.x;
  for (Index i = j + Index{kThreads} * blockIdx.x + threadIdx.x; i < m; i += stride) {
    if (j > 0) {
      const T* const u = a + (j - 1);  // the pivot's row
      const T pivot = u[(j - 1) * ld];
      const T l = multiplier_of(a[i + (j - 1) * ld], pivot);
      a[i + (j - 1) * ld] = l;
      for (int c = j; c < n; ++c) {
        a[i + c * ld] = subtract_product(a[i + c * ld], l, u[c * ld]);
      }
    }
    if (j < n) {
      best = better(best,
                    candidate(a[i + j * ld], static_cast<unsigned>(i), static_cast<unsigned>(j)));
    }
  }
  best = block_best(best, of_warp);
  if (threadIdx.x == 0) of_block[blockIdx.x] = best;
}

/// Chooses the pivot of step j among `blocks` candidates and interchanges the rows. One block.
template <class T>
__global__ void __launch_bounds__(kThreads)
    tall_interchange_kernel(int n, T* a, Index ld, int j, PanelReport report, Index offset,
                            const Candidate<KeyOf<DeviceReal<T>>>* of_block, int blocks) {
  using Key = KeyOf<DeviceReal<T>>;
  __shared__ Candidate<Key> of_warp[kWarps];
  const int t = static_cast<int>(threadIdx.x);
  Candidate<Key> best = nobody<Key>();
  for (int b = t; b < blocks; b += kThreads) best = better(best, of_block[b]);
  const Index p = block_best(best, of_warp).position;
  if (t < n) {
    const T pivot_row_element = a[p + t * ld];
    a[p + t * ld] = a[j + t * ld];
    a[j + t * ld] = pivot_row_element;
    if (t == j) {
      report.pivot(j, offset + 1 + p);
      if (is_zero(pivot_row_element)) report.zero_pivot(offset + j + 1);
    }
  }
}

// ---- host side -----------------------------------------------------------------------------

/// Calls f(LeafShape) for the widest leaves of so many rows that fit in registers with one thread
/// block per multiprocessor, a grid that is always co-resident: the kernels are compiled for at
/// most all registers of one. Returns false if there are none.
template <class D, int kNarrowing = 1, class F>
bool with_leaf(Index rows, int multiprocessors, F f) {
  if constexpr (LeafShape<D>::width / kNarrowing < kMemoryLeafWidth) {
    return false;
  } else {
    using Shape = LeafShape<D, kNarrowing>;
    if (rows > Index{multiprocessors} * kThreads * Shape::max_rows) {
      return with_leaf<D, 2 * kNarrowing>(rows, multiprocessors, f);
    }
    f(Shape{});
    return true;
  }
}

template <class D, int W, int R, class T>
void launch_leaf(cudaStream_t stream, Exchange& exchange, DeviceView<T> a, PanelReport report,
                 Index offset) {
  const Index rows_per_block = Index{kThreads} * R;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(a.rows, rows_per_block));
  shape.threads = kThreads;
  shape.cooperative = shape.blocks > 1;
  const unsigned steps = static_cast<unsigned>(std::min(a.rows, a.cols));
  const unsigned tag = shape.cooperative ? exchange.reserve_tags(stream, steps) : 0;
  launch_kernel(stream, shape, "getrf leaf", getrf_leaf_kernel<D, W, R>, static_cast<int>(a.rows),
                static_cast<int>(a.cols), device_cast(a.data), a.ld, report, offset,
                static_cast<Message*>(exchange.messages()), tag);
}

template <class D, class T>
void launch_tall(cudaStream_t stream, Exchange& exchange, DeviceView<T> a, PanelReport report,
                 Index offset) {
  if (a.rows >= Index{kNobody}) {
    throw DeviceError("getrf: a panel of " + std::to_string(a.rows) + " rows is too tall");
  }
  auto* const candidates = static_cast<Candidate<KeyOf<DeviceReal<D>>>*>(exchange.candidates());
  const int n = static_cast<int>(a.cols);
  LaunchShape grid;
  grid.blocks = kMemoryLeafBlocks;
  grid.threads = kThreads;
  LaunchShape single;
  single.threads = kThreads;
  for (int j = 0; j <= n; ++j) {
    launch_kernel(stream, grid, "getrf elimination", tall_eliminate_kernel<D>, a.rows, n,
                  device_cast(a.data), a.ld, j, candidates);
    if (j == n) break;
    launch_kernel(stream, single, "getrf interchange", tall_interchange_kernel<D>, n,
                  device_cast(a.data), a.ld, j, report, offset, candidates, kMemoryLeafBlocks);
  }
}

/// Of two sets, see the top.
std::size_t message_bytes(int multiprocessors) {
  return 2 * sizeof(Message) * static_cast<std::size_t>(multiprocessors);
}

}  // namespace

Exchange::Exchange(int multiprocessors)
    : multiprocessors_(multiprocessors),
      cluster_limit_(getrf_cluster_limit()),
      memory_(message_bytes(multiprocessors) +
                  sizeof(Candidate<unsigned long long>) * kMemoryLeafBlocks,
              "memory of the LU exchange"),
      candidates_(memory_.at(message_bytes(multiprocessors))) {}

unsigned Exchange::reserve_tags(cudaStream_t stream, unsigned columns) {
  const bool wraps = next_tag_ + columns < next_tag_;
  if (next_tag_ == 0 || wraps) {
    check(cudaMemsetAsync(messages(), 0, message_bytes(multiprocessors_), stream),
          "clearing the LU exchange");
    next_tag_ = 1;
  }
  const unsigned first = next_tag_;
  next_tag_ += columns;
  return first;
}

template <class T>
Index getrf_leaf_width(Index rows, const Exchange& exchange) {
  using D = typename DeviceScalar<T>::type;
  const Index cluster_width = getrf_cluster_width<T>(rows, exchange.cluster_limit());
  if (cluster_width > 0) return cluster_width;
  Index width = kMemoryLeafWidth;
  with_leaf<D>(rows, exchange.multiprocessors(),
               [&](auto shape) { width = decltype(shape)::width; });
  return width;
}

template <class T>
void getrf_leaf(cudaStream_t stream, Exchange& exchange, DeviceView<T> a, PanelReport report,
                Index offset, cudaEvent_t begun) {
  using D = typename DeviceScalar<T>::type;
  constexpr int kMaxCheapBlocks = 16;
  if (getrf_cluster_width<T>(a.rows, exchange.cluster_limit()) > 0) {
    getrf_cluster(stream, exchange.cluster_limit(), a, report, offset, begun);
    return;
  }
  if (begun != nullptr) check(cudaEventRecord(begun, stream), "recording an event");
  // Several rows per thread make the elimination longer and the exchange cheaper. That pays where
  // it saves the exchange altogether or keeps the number of blocks small.
  using Widest = LeafShape<D>;
  const bool one_block = a.rows > kThreads && a.rows <= kThreads * Widest::max_rows;
  const int blocks_at_most = std::min(kMaxCheapBlocks, exchange.multiprocessors());
  if (!one_block && a.rows <= blocks_at_most * kThreads) {
    launch_leaf<D, Widest::width, 1>(stream, exchange, a, report, offset);
    return;
  }
  const bool fits = with_leaf<D>(a.rows, exchange.multiprocessors(), [&](auto shape) {
    using Shape = decltype(shape);
    launch_leaf<D, Shape::width, Shape::max_rows>(stream, exchange, a, report, offset);
  });
  if (!fits) launch_tall<D>(stream, exchange, a, report, offset);
}

#define OVERLAPACK_INSTANTIATE(T)                             \
  template Index getrf_leaf_width<T>(Index, const Exchange&); \
  template void getrf_leaf(cudaStream_t, Exchange&, DeviceView<T>, PanelReport, Index, cudaEvent_t);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
