// The LU panel for GPUs with clusters (Hopper and later): the algorithm of getrf_leaf.cu, with an
// exchange through distributed shared memory, and wider.
//
// A panel is factored strip by strip, W columns each. In a strip rows are in registers and never
// move: an interchange exchanges two positions. The thread blocks are one cluster and write their
// messages into each other's shared memory (cluster.cuh). The last few rows of a matrix fit in one
// block, which needs no messages.
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
//
// The columns to the right of a strip are in memory, where rows do not move either; each warp
// updates the rows of its own threads there. The pivots' rows of these columns are copied step by
// step, while all wait for the next heads. Their multipliers are sent when the strip is complete:
// sent step by step, they would delay the chain by 0.1 us every time. The interchanges are carried
// out when the panel is complete, as one gather (interchange.cuh).
#include <algorithm>
#include <type_traits>

#include "device/cuda/fused/interchange.cuh"
#include "device/cuda/panels/panels.hpp"
#include "device/cuda/panels/pivot.cuh"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/tile.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/ptx/cluster.cuh"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kMaxBlocks = 16;  // in a cluster, on any GPU so far

// Of the templates: W columns of a strip, R rows of a thread, N threads of a block.

/// Columns of a strip whose threads own R rows each: 512 bytes a thread, half of all registers.
template <class T, int R>
constexpr int kWidth = std::min(32, 512 / (R * static_cast<int>(sizeof(T))));
constexpr int kMaxRows = 4;  // of a thread

// What is hardly ever needed is kept out of the loops over steps: their instructions should be at
// hand, too.

template <class Key>
__device__ __noinline__ int exactly_best_lane(Candidate<Key> c) {
  return best_lane(c);
}

/// Calls f(kColumns) for kColumns = W, 3 W / 4, W / 2, W / 4 as compile-time constants.
template <int W, class F>
__device__ void for_each_quarter(F f) {
  f(std::integral_constant<int, W>{});
  f(std::integral_constant<int, 3 * W / 4>{});
  f(std::integral_constant<int, W / 2>{});
  f(std::integral_constant<int, W / 4>{});
}

/// x(c - 1) := x(c) - l u(c) for c = 1, ..., kColumns - 1: an update and a shift.
template <int kColumns, class T, int W>
__device__ void update_and_shift(T (&x)[W], T l, const T* u) {
#pragma unroll
  for (int c = 1; c < kColumns; ++c) x[c - 1] = subtract_product(x[c], l, u[c]);
}

// ---- who factors a panel -------------------------------------------------------------------

/// The thread blocks of a cluster, which wait for each other as cluster.cuh says.
struct Cluster {
  static constexpr bool kIsOneBlock = false;
  __device__ static int rank() { return rank_in_cluster(); }
  __device__ static int blocks() { return blocks_in_cluster(); }
  __device__ static void arrive() { arrive_at_cluster(); }
  __device__ static void arrive_having_read() { arrive_at_cluster_having_read(); }
  __device__ static void wait() { wait_for_cluster(); }
  __device__ static void synchronize() { synchronize_cluster(); }
};

/// One thread block by itself, which sends nothing: without a cluster that is an illegal
/// instruction.
struct OneBlock {
  static constexpr bool kIsOneBlock = true;
  __device__ static int rank() { return 0; }
  __device__ static int blocks() { return 1; }
  __device__ static void arrive() {}
  __device__ static void arrive_having_read() {}
  __device__ static void wait() { __syncthreads(); }
  __device__ static void synchronize() { __syncthreads(); }
};

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
  unsigned word;  // candidate_word(pivot), 0 for nobody
  int row;        // of the panel in memory
  bool ordinary;  // whether the pivot has a reciprocal
};

/// Sends kBytes bytes to the same place in all blocks. All threads of the block.
template <int kBytes, int N>
__device__ void send_to_all(void* to, const void* from, Barrier* arrived, int blocks) {
  constexpr int kChunks = kBytes / kChunk;
  static_assert(kBytes % kChunk == 0);
#pragma unroll
  for (int first = 0; first < kChunks * kMaxBlocks; first += N) {
    const int i = first + static_cast<int>(threadIdx.x), block = i / kChunks, chunk = i % kChunks;
    if (block >= blocks) return;
    send(block, static_cast<int4*>(to) + chunk, arrived, static_cast<const int4*>(from)[chunk]);
  }
}

// ---- a strip -------------------------------------------------------------------------------

template <class T, int W, int R, int N>
struct alignas(kChunk) StripMemory {
  static constexpr int kRows = R * N;
  static constexpr int kPitch = kRows + 2;  // no bank conflicts in update_rest()

  T row[2][W];  // of the pivot, from the column to its right; sent by the winner
  T no_row[W];  // zeros
  // Of step s of the strip:
  T candidate_row[W][W];            // [s]: of this block's candidate, from the column to its right
  T column[W][kPitch];              // [s]: the multipliers, and the pivot
  int chosen[W];                    // [s]: the pivot's row of the panel in memory
  Head<T> of_warp[2][N / kWarp];    // of one block by itself: for even and odd steps
  Head<T> of_block[2][kMaxBlocks];  // sent by the blocks
  Barrier row_arrived[2], heads_arrived[2];
};

/// The rows of one thread in up to W columns of a panel, and their elimination by all threads of
/// the team. Steps count from the first column of the panel.
template <class T, int W, int R, int N, class Team>
class Strip {
  using Memory = StripMemory<T, W, R, N>;

 public:
  __device__ Strip(Memory& memory, int m)
      : memory_(memory), rank_(Team::rank()), blocks_(Team::blocks()) {
#pragma unroll
    for (int r = 0; r < R; ++r) position_[r] = row(r) < m ? row(r) : -1;
    if (threadIdx.x < W) memory_.no_row[threadIdx.x] = from_real<T>(0);
    if (threadIdx.x == 0 && !Team::kIsOneBlock) {
      for (Barrier& barrier : memory_.row_arrived) make_barrier(&barrier);
      for (Barrier& barrier : memory_.heads_arrived) make_barrier(&barrier);
    }
    Team::synchronize();
  }

  /// Loads `columns` columns, the first of which is `a`, the pivot column of step `first`. There is
  /// no condition for each element: what becomes of finished rows is never read; the first row
  /// stands in for rows that are not there, and the last column for such columns.
  __device__ void load(int first, int columns, const T* a, Index ld) {
    first_ = first;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const T* from = a + (position_[r] >= 0 ? row(r) : 0);
#pragma unroll
      for (int c = 0; c < W; ++c) {
        x_[r][c] = *from;
        if (c + 1 < columns) from += ld;
      }
      complete_[r] = x_[r][0];
      multiplier_[r] = from_real<T>(0);
    }
  }

  /// The steps of the strip, as far as they come before `steps`, the number of steps of the panel.
  /// The first of them with a zero pivot becomes first_zero, if it is less. All threads call
  /// fetch(s, row) when it is known that `row` of the panel in memory has the pivot of step s of
  /// the strip.
  template <class Fetch>
  __device__ void factor(int steps, int& first_zero, Fetch fetch) {
    int j = first_, row = 0;  // of the pivot of the step before
    for_each_quarter<W>([&](auto columns) {
      constexpr int kColumns = decltype(columns)::value;
      const int end = min(steps, first_ + W - kColumns + W / 4);
#pragma unroll 1
      for (; j < end; ++j) {
        const Head<T> pivot = step<kColumns>(j, j == steps - 1, [&] {
          if (j > first_) fetch(j - 1 - first_, row);
        });
        row = pivot.row;
        if (is_zero(pivot.pivot)) first_zero = min(first_zero, j);
        if (threadIdx.x == 0) memory_.chosen[j - first_] = pivot.row;
        if (static_cast<int>(threadIdx.x) == j) partner_ = static_cast<int>(pivot.position);
      }
    });
    fetch(j - 1 - first_, row);
  }

  /// Stores `columns` columns to `a`, where load() has found them: each row to its final position,
  /// or to where it was.
  __device__ void store(int columns, T* a, Index ld, bool to_position) const {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int p = position_[r] - first_, i = to_position ? position_[r] : row(r);
      if (p < 0) continue;
      T* to = a + i;
      const T* finished = &memory_.column[0][own_row(r)];
      const T* unfinished = memory_.candidate_row[min(p, W - 1)];
      for (int c = 0; c < columns; ++c) {
        *to = c <= p ? *finished : *unfinished;
        to += ld;
        finished += Memory::kPitch;
        if (c > p) ++unfinished;
      }
    }
  }

  /// active[i]: whether the block's row i was in the strip and none of its pivot rows.
  __device__ void mark_active(bool* active) const {
#pragma unroll
    for (int r = 0; r < R; ++r) active[own_row(r)] = position_[r] >= first_ + W;
  }

  /// What row j is interchanged with in step j, in thread j.
  __device__ int partner() const { return partner_; }

  /// Stores what there is to be told of all steps.
  __device__ void tell(int steps, int first_zero, const PanelReport& report, Index offset) const {
    if (rank_ != 0) return;
    const int j = static_cast<int>(threadIdx.x);
    if (j < steps) report.pivot(j, offset + 1 + partner_);
    if (j == 0 && first_zero < steps) report.zero_pivot(offset + first_zero + 1);
  }

 private:
  using Key = KeyOf<DeviceReal<T>>;

  /// A thread's row r: its number in the block, and in the panel in memory.
  __device__ static int own_row(int r) { return r * N + static_cast<int>(threadIdx.x); }
  __device__ int row(int r) const { return rank_ * Memory::kRows + own_row(r); }

  /// Step j, in which at most kColumns columns are unfinished. Returns the pivot. `last` of the
  /// panel. meanwhile() is for what has time while the threads wait for messages.
  template <int kColumns, class Meanwhile>
  __device__ Head<T> step(int j, bool last, Meanwhile meanwhile) {
    const unsigned now = static_cast<unsigned>(j) % 2, before = 1 - now;
    Head<T>* const of_warp = memory_.of_warp[Team::kIsOneBlock ? now : 0];
    nominate(j, of_warp);
    __syncthreads();
    const Head<T>& best = of_warp[best_of(of_warp, N / kWarp, j)];
    if constexpr (Team::kIsOneBlock) {
      const Head<T> head = best;
      const T* const u = j == first_ ? memory_.no_row : memory_.candidate_row[j - 1 - first_];
#pragma unroll
      for (int r = 0; r < R; ++r) update_and_shift<kColumns>(x_[r], multiplier_[r], u);
      // Nobody looks at it before the barrier of the next step.
      keep_row<kColumns>(head.position, memory_.candidate_row[j - first_]);
      meanwhile();
      eliminate(head, subtract_product(head.next, head.multiplier, u[1]), j);
      return head;
    } else {
      send_to_all<sizeof(Head<T>), N>(&memory_.of_block[now][rank_], &best,
                                      &memory_.heads_arrived[now], blocks_);
      if (threadIdx.x == N - 1) {  // whose warp has nothing to send
        expect(&memory_.heads_arrived[now], static_cast<unsigned>(blocks_ * sizeof(Head<T>)));
        if (!last) expect(&memory_.row_arrived[now], kColumns * sizeof(T));
      }

      // While the heads travel: the update of step j - 1, then the candidate's row is known. Rows
      // that were pivots take part; what becomes of them is never read.
      if (j > 0) await(&memory_.row_arrived[before], phase_of(j - 1));
      const T* const u = j == first_ ? memory_.no_row : memory_.row[before];
      const T u_next = u[1];
#pragma unroll
      for (int r = 0; r < R; ++r) update_and_shift<kColumns>(x_[r], multiplier_[r], u);
      T* const candidate_row = memory_.candidate_row[j - first_];
      keep_row<kColumns>(best.position, candidate_row);
      __syncthreads();

      meanwhile();
      await(&memory_.heads_arrived[now], phase_of(j));
      const int winner = best_of(memory_.of_block[now], blocks_, j);
      const Head<T> head = memory_.of_block[now][winner];
      if (winner == rank_ && !last) {
        send_to_all<kColumns * sizeof(T), N>(memory_.row[now], candidate_row,
                                             &memory_.row_arrived[now], blocks_);
      }
      eliminate(head, subtract_product(head.next, head.multiplier, u_next), j);
      return head;
    }
  }

  /// The parity of the phase of its barriers that step j uses.
  __device__ static unsigned phase_of(int j) { return static_cast<unsigned>(j) / 2 % 2; }

  /// The best of `count` heads of step j.
  __device__ static int best_of(const Head<T>* heads, int count, int j) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    return best_lane<DeviceReal<T>>(lane < count ? heads[lane].word : 0, true, [&] {
      const bool somebody = lane < count && heads[lane].word != 0;
      return exactly_best_lane(
          somebody ? candidate(heads[lane].pivot, heads[lane].position, static_cast<unsigned>(j))
                   : nobody<Key>());
    });
  }

  /// Each warp leaves its best row in of_warp.
  __device__ void nominate(int j, Head<T>* of_warp) {
    T pivot = complete_[0];
    unsigned word = word_of(0, j), position = word == 0 ? kNobody : position_[0];
    bool sure = true;
#pragma unroll
    for (int r = 1; r < R; ++r) {
      const unsigned other = word_of(r, j);
      sure = other != word && (sure || other > word);
      if (other <= word) continue;
      word = other;
      pivot = complete_[r];
      position = static_cast<unsigned>(position_[r]);
    }
    T inverse = reciprocal(pivot);
    const int winner = best_lane<DeviceReal<T>>(word, sure, [&] {
      const Candidate<Key> best = exact_candidate(j, pivot);
      word = best.position == kNobody ? 0 : candidate_word(pivot);
      position = best.position;
      inverse = reciprocal(pivot);
      return exactly_best_lane(best);
    });
    compute_now(inverse);  // by all lanes, during the search
    if (static_cast<int>(threadIdx.x) % kWarp != winner) return;
    Head<T>& head = of_warp[threadIdx.x / kWarp];
    head.pivot = pivot;
    head.inverse = inverse;
    head.ordinary =
        word >= upper_word(Ordinary<T>::least) && word < upper_word(Ordinary<T>::largest);
    head.position = position;
    head.word = word;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (static_cast<unsigned>(position_[r]) == position) {
        head.next = x_[r][1];
        head.multiplier = multiplier_[r];
        head.row = row(r);
      }
    }
  }

  /// candidate_word() of the thread's row r in step j, or 0.
  __device__ unsigned word_of(int r, int j) const {
    return position_[r] >= j ? candidate_word(complete_[r]) : 0;
  }

  /// The best row of the thread, and its element in the pivot column.
  __device__ Candidate<Key> exact_candidate(int j, T& pivot) const {
    Candidate<Key> best = nobody<Key>();
    pivot = from_real<T>(0);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position_[r] < j) continue;
      const auto position = static_cast<unsigned>(position_[r]);
      best = better(best, candidate(complete_[r], position, static_cast<unsigned>(j)));
      if (best.position == position) pivot = complete_[r];
    }
    return best;
  }

  /// The row at `position` goes to `candidate_row`, if this block owns it.
  template <int kColumns>
  __device__ void keep_row(unsigned position, T* candidate_row) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position_[r] >= 0 && static_cast<unsigned>(position_[r]) == position) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) candidate_row[c] = x_[r][c];
      }
    }
  }

  /// The interchange, the multipliers of step j, and column j + 1 with the pivot row's element
  /// `next` in it.
  __device__ void eliminate(const Head<T>& head, T next, int j) {
    const int p = static_cast<int>(head.position);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      T& l = multiplier_[r];
      if (head.ordinary) {
        l = quotient(complete_[r], head.pivot, head.inverse);
      } else {
        l = multiplier_of(complete_[r], head.pivot);
      }
      memory_.column[j - first_][own_row(r)] = position_[r] == p ? head.pivot : l;
      complete_[r] = subtract_product(x_[r][0], l, next);
      if (position_[r] == j) {
        position_[r] = p;
      } else if (position_[r] == p) {
        position_[r] = j;
      }
    }
  }

  Memory& memory_;
  const int rank_, blocks_;
  int first_ = 0;    // step of the strip
  T x_[R][W];        // rows as far as they are unfinished, see the top
  T complete_[R];    // their elements in the pivot column, with all updates
  T multiplier_[R];  // of the step before
  int position_[R];  // negative if there is no such row
  int partner_ = 0;
};

/// Factors the m x n panel `a`, n <= W. The launch must be one team with enough rows.
template <class T, int W, int R, int N, class Team>
__global__ void __launch_bounds__(N, 1)
    getrf_strip_kernel(int m, int n, T* a, Index ld, PanelReport report, Index offset) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int4 memory[];
  Strip<T, W, R, N, Team> strip(*reinterpret_cast<StripMemory<T, W, R, N>*>(memory), m);
  const int steps = min(m, n);
  int first_zero = steps;
  strip.load(0, n, a, ld);
  strip.factor(steps, first_zero, [](int, int) {});
  Team::synchronize();  // nobody stores before all have loaded
  strip.store(n, a, ld, true);
  strip.tell(steps, first_zero, report, offset);
#endif
}

// ---- a panel of several strips -------------------------------------------------------------

constexpr int kPanelWidth = 128;

template <class T, int W, int R, int N>
struct alignas(kChunk) PanelMemory {
  StripMemory<T, W, R, N> strip;
  // [s]: row s of the strip's triangle L11, sent by the block that owns it. There are more rows,
  // because solve_rest() reads some behind the last and ignores what comes of them.
  alignas(kChunk) T l[W + W / 4][W];
  union {
    alignas(kChunk) T u[kPanelWidth - W][W + 2];  // [c][k]: element (k, c) of A12, then of U12
    Interchanges<kPanelWidth> interchanges;       // in the end
  };
  bool active[R * N];
  Barrier l_arrived;  // a phase for each strip
};

constexpr std::size_t kMostSharedBytes = 227 * 1024;  // of a block, on Hopper

/// How many elements are sent at a time.
template <class T>
constexpr int kElements = kChunk / static_cast<int>(sizeof(T));

/// The bytes of rows s = 0, ..., W - 1 of L11: s elements each, rounded up to whole chunks.
template <class T, int W>
constexpr int kMultiplierBytes = [] {
  constexpr int kPart = kElements<T>;
  return W * (W + kPart - 2) / (2 * kPart) * kChunk;
}();

/// Sends the multipliers of those pivots' rows that this block owns to all blocks, into memory.l.
/// The warps take turns at the rows.
template <class Team, class T, int W, int R, int N>
__device__ void send_multipliers(PanelMemory<T, W, R, N>& memory) {
  constexpr int kRows = R * N, kChunks = W / kElements<T>;
  static_assert(kWarp % kChunks == 0);
  const int t = static_cast<int>(threadIdx.x), rank = Team::rank();
  const int blocks = Team::blocks();
  const int lane = t % kWarp, k = lane % kChunks * kElements<T>;
  const bool own = lane < W && memory.strip.chosen[lane] / kRows == rank;
  int turn = t / kWarp;
  for (unsigned rows = __ballot_sync(kAllLanes, own); rows != 0; rows &= rows - 1) {
    const int s = __ffs(static_cast<int>(rows)) - 1, row = memory.strip.chosen[s] % kRows;
    const bool mine = turn == 0;
    turn = mine ? N / kWarp - 1 : turn - 1;
    if (!mine || k >= s) continue;
    struct alignas(kChunk) {
      T element[kElements<T>];
    } l;
#pragma unroll
    for (int c = 0; c < kElements<T>; ++c) {
      l.element[c] = k + c < s ? memory.strip.column[k + c][row] : from_real<T>(0);
    }
    for (int block = lane / kChunks; block < blocks; block += kWarp / kChunks) {
      if constexpr (Team::kIsOneBlock) {
        reinterpret_cast<int4&>(memory.l[s][k]) = reinterpret_cast<const int4&>(l);
      } else {
        send(block, &memory.l[s][k], &memory.l_arrived, reinterpret_cast<const int4&>(l));
      }
    }
  }
}

template <class T>
struct alignas(std::min<int>(kChunk, 2 * sizeof(T))) Pair {
  T first, second;
};

/// U12 = L11^-1 A12, in memory.u. Every block does it for itself; a thread has a column. Four steps
/// at a time, which makes the chain of dependent operations shorter; two neighbours in a row of L11
/// are read at once.
template <class T, int W, int R, int N>
__device__ void solve_rest(PanelMemory<T, W, R, N>& memory, int rest) {
  constexpr int kSteps = 4;
  static_assert(W / 4 % kSteps == 0);  // a quarter has whole groups of steps
  const int t = static_cast<int>(threadIdx.x);
  if (t >= rest) return;
  Pair<T>* const u = reinterpret_cast<Pair<T>*>(memory.u[t]);
  T x[W];
#pragma unroll
  for (int k = 0; k < W; k += 2) {
    const Pair<T> two = u[k / 2];
    x[k] = two.first;
    x[k + 1] = two.second;
  }
  int k = 0;
  for_each_quarter<W>([&](auto columns) {
    constexpr int kColumns = decltype(columns)::value;
#pragma unroll 1
    for (; k < W - kColumns + W / 4; k += kSteps) {
      T top[kSteps];
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        top[s] = x[s];
#pragma unroll
        for (int i = 0; i < s; ++i)
          top[s] = subtract_product(top[s], memory.l[k + s][k + i], top[i]);
      }
#pragma unroll
      for (int s = 0; s < kSteps; s += 2) u[(k + s) / 2] = {top[s], top[s + 1]};
#pragma unroll
      for (int c = kSteps; c < kColumns; ++c) {
        T y = x[c];
#pragma unroll
        for (int s = 0; s < kSteps; s += 2) {
          const Pair<T> l = reinterpret_cast<const Pair<T>&>(memory.l[k + c][k + s]);
          y = subtract_product(subtract_product(y, l.first, top[s]), l.second, top[s + 1]);
        }
        x[c - kSteps] = y;
      }
    }
  });
}

/// A22 -= L21 U12 on the tensor cores, for the rows of the warp's own threads. `a` is the block's
/// first row in the first of the `rest` columns.
template <class T, int W, int R, int N>
__device__ void update_rest(const PanelMemory<T, W, R, N>& memory, int rest, T* a, Index ld) {
  using E = DoubleScalar<T>;
  constexpr bool kReal = sizeof(E) == sizeof(double);
  constexpr int kDepth = W / kTile;
  constexpr int kTilesPerUpdate =
      kReal ? 2 : 1;                             // tiles below each other that are updated together
  constexpr int kTilesInFlight = kReal ? 2 : 1;  // of these, how many are on their way from memory
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int lane_row = fragment_row(lane, 0), lane_column = fragment_column(lane, 0, 0);

  // Which summand is element (j, e) of an operand is free: this way the two e are neighbours.
  const auto summand = [lane](int q, int j) { return kTile * q + 8 * j + 2 * (lane % 4); };
  const auto minus_l = [&](int row, int q) {
    Fragment<E> l;
    for_each_element([&](int h, int j, int e) {
      E x;
      convert(x, memory.strip.column[summand(q, j) + e][row + lane_row + 8 * h]);
      l.set(h, j, e, negate(x));
    });
    return l;
  };
  const auto u_conjugate = [&](int column, int q) {
    Fragment<E> u;
    for_each_element([&](int h, int j, int e) {
      const T* const from = &memory.u[column + lane_row + 8 * h][summand(q, j)];
      const Pair<T> two = reinterpret_cast<const Pair<T>&>(*from);
      E x;
      convert(x, e == 0 ? two.first : two.second);
      u.set(h, j, e, conjugate(x));
    });
    return u;
  };

  const int warp_row = static_cast<int>(threadIdx.x) / kWarp * kWarp;
#pragma unroll 1
  for (int i = 0; i < R * kWarp; i += kTilesPerUpdate * kTile) {
    const int row = i / kWarp * N + warp_row + i % kWarp;
    bool active[kTilesPerUpdate][2];  // a lane has rows 8 h + its own one of each tile
    Fragment<E> l[kTilesPerUpdate][kDepth];
#pragma unroll
    for (int d = 0; d < kTilesPerUpdate; ++d) {
      for (int h = 0; h < 2; ++h) {
        active[d][h] = memory.active[row + d * kTile + 8 * h + lane_row];
      }
      for (int q = 0; q < kDepth; ++q) l[d][q] = minus_l(row + d * kTile, q);
    }
    // Calls f(element, d, h, j, e) for the lane's elements to be updated in 16 columns.
    const auto for_each_active = [&](int column, auto f) {
      for_each_element([&](int h, int j, int e) {
        const int c = column + lane_column + 8 * j + e;
#pragma unroll
        for (int d = 0; d < kTilesPerUpdate; ++d) {
          T* const x = a + (row + lane_row) + (column_offset(c, ld) + d * kTile + 8 * h);
          if (active[d][h] && c < rest) f(*x, d, h, j, e);
        }
      });
    };
    using Raw = T[kTilesPerUpdate][2][2][2];  // as it is in memory: a conversion would wait for it
    // What is not there becomes zero, or else the register's content before would be copied.
    const auto load = [&](int column, Raw& x) {
#pragma unroll
      for (int d = 0; d < kTilesPerUpdate; ++d) {
        for_each_element([&](int h, int j, int e) { x[d][h][j][e] = from_real<T>(0); });
      }
      for_each_active(column,
                      [&](const T& from, int d, int h, int j, int e) { x[d][h][j][e] = from; });
    };
    Raw ahead[kTilesInFlight];
#pragma unroll
    for (int s = 0; s < kTilesInFlight; ++s) load(s * kTile, ahead[s]);
#pragma unroll 1
    for (int first = 0; first < rest; first += kTilesInFlight * kTile) {
#pragma unroll
      for (int s = 0; s < kTilesInFlight; ++s) {
        const int column = first + s * kTile;
        if (column >= rest) break;
        Fragment<E> x[kTilesPerUpdate];
        for_each_element([&](int h, int j, int e) {
#pragma unroll
          for (int d = 0; d < kTilesPerUpdate; ++d) {
            E to;
            convert(to, ahead[s][d][h][j][e]);
            x[d].set(h, j, e, to);
          }
        });
        load(column + kTilesInFlight * kTile, ahead[s]);
#pragma unroll
        for (int q = 0; q < kDepth; ++q) {
          const Fragment<E> u = u_conjugate(column, q);
#pragma unroll
          for (int d = 0; d < kTilesPerUpdate; ++d) multiply_add(x[d], l[d][q], u, x[d]);
        }
        for_each_active(column,
                        [&](T& to, int d, int h, int j, int e) { convert(to, x[d].get(h, j, e)); });
      }
    }
  }
}

/// Stores U12, the columns divided among the blocks. `a` is the first of them.
template <class Team, class T, int W, int R, int N>
__device__ void store_rest(const PanelMemory<T, W, R, N>& memory, int rest, T* a, Index ld) {
  for (int i = static_cast<int>(threadIdx.x);; i += N) {
    const int k = i % W, c = Team::rank() + i / W * Team::blocks();
    if (c >= rest) break;
    a[memory.strip.chosen[k] + column_offset(c, ld)] = memory.u[c][k];
  }
}

/// Carries out the interchanges in the n columns `a`, which are divided among the blocks.
/// `partner` is that of the thread's own number.
template <int N, class Team, class T>
__device__ void interchange(Interchanges<kPanelWidth>& interchanges, int n, int partner, T* a,
                            Index ld) {
  constexpr int kColumnsPerPass = N / kPanelWidth;
  constexpr int kColumns = Team::kIsOneBlock ? 16 : 8;  // of a thread, at a time
  interchanges.compose(n, partner);
  const int t = static_cast<int>(threadIdx.x), row = t % kPanelWidth;
  const RowMoves moves = row < n ? interchanges.moves[row] : RowMoves{0, 0, -1};
  const int stride = Team::blocks() * kColumnsPerPass;
  for (int first = Team::rank() * kColumnsPerPass; first < n; first += stride * kColumns) {
    T top[kColumns], displaced[kColumns];
    const auto for_each_column = [&](auto f) {
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        const int c = first + t / kPanelWidth + i * stride;
        if (row < n && c < n) f(a + column_offset(c, ld), top[i], displaced[i]);
      }
    };
    for_each_column([&](const T* column, T& x, T& y) {
      x = column[moves.source];
      if (moves.place >= 0) y = column[moves.displaced];
    });
    __syncthreads();  // these columns are read
    for_each_column([&](T* column, T x, T y) {
      column[row] = x;
      if (moves.place >= 0) column[moves.place] = y;
    });
  }
}

/// Factors the m x n panel `a`, n <= min(m, kPanelWidth), strip by strip. The launch must be one
/// team with enough rows.
template <class T, int W, int R, int N, class Team>
__global__ void __launch_bounds__(N, 1)
    getrf_panel_kernel(int m, int n, T* a, Index ld, PanelReport report, Index offset) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int4 raw_memory[];
  auto& memory = *reinterpret_cast<PanelMemory<T, W, R, N>*>(raw_memory);
  if (threadIdx.x == 0 && !Team::kIsOneBlock) make_barrier(&memory.l_arrived);
  Strip<T, W, R, N, Team> strip(memory.strip, m);  // synchronizes the team
  const int first_row = Team::rank() * (R * N);
  int first_zero = n;
  unsigned phase = 0;
#  pragma unroll 1
  for (int first = 0; first < n; first += W, phase = 1 - phase) {
    T* const left = a + first * ld;
    T* const right = left + W * ld;
    const int columns = min(W, n - first), rest = n - first - columns;
    strip.load(first, columns, left, ld);
    if (first > 0) Team::wait();  // all rows are updated; no old copies of them are used
    if (rest != 0 && threadIdx.x == 0 && !Team::kIsOneBlock) {
      expect(&memory.l_arrived, kMultiplierBytes<T, W>);
    }
    strip.factor(n, first_zero, [&](int s, int row) {
      const int c = static_cast<int>(threadIdx.x);
      if (c < rest) start_copy(&memory.u[c][s], &right[row + column_offset(c, ld)]);
    });
    finish_copies();
    if (rest != 0) {
      __syncthreads();  // all multipliers and pivots are noted
      send_multipliers<Team>(memory);
      Team::arrive_having_read();
    }
    strip.store(columns, left, ld, false);
    if (rest == 0) break;
    strip.mark_active(memory.active);
    if constexpr (Team::kIsOneBlock) {
      __syncthreads();  // all multipliers are in memory.l
    } else {
      await(&memory.l_arrived, phase);
    }
    solve_rest(memory, rest);
    Team::wait();     // nobody copies rows any more
    __syncthreads();  // U12 is complete
    update_rest(memory, rest, right + first_row, ld);
    store_rest<Team>(memory, rest, right, ld);
    Team::arrive();
    __syncwarp();  // the warp's rows are updated
  }
  Team::synchronize();  // all rows are stored
  interchange<N, Team>(memory.interchanges, n, strip.partner(), a, ld);
  strip.tell(n, first_zero, report, offset);
#endif
}

// ---- host side -----------------------------------------------------------------------------

/// How rows are divided: R for each of N threads of a team's blocks.
template <int R_, int N_, class Team_ = Cluster>
struct Division {
  using Team = Team_;
  static constexpr int R = R_, N = N_;
};

LaunchShape team_shape(Index blocks, int threads, std::size_t shared_bytes, cudaEvent_t begun) {
  LaunchShape shape;
  shape.begun = begun;
  shape.blocks = shape.cluster = static_cast<unsigned>(blocks);
  shape.threads = static_cast<unsigned>(threads);
  shape.shared_bytes = shared_bytes;
  return shape;
}

/// The least power of two of blocks for so many rows, but at least eight in a cluster: those
/// without rows have their shares of U12's columns and of the interchanges.
template <class By>
Index blocks_for(Index rows) {
  Index blocks = By::Team::kIsOneBlock ? 1 : 8;
  while (blocks * By::R * By::N < rows) blocks *= 2;
  return blocks;
}

/// Whether there are panels of several strips: where a strip holds the tiles of update_rest().
template <class D, int R>
constexpr bool kHasPanels = kWidth<D, R> >= kTile;

/// Calls f(Division{}, blocks) for one block of 128 threads if that has so many rows, or else for
/// the least rows and threads of a block with which they fit in a cluster of `limit` blocks. Does
/// nothing if there are none. Fewer threads of a block are faster: each step is a chain of
/// instructions, and fewer warps take turns at it. With 256 rows one block is as fast as a cluster:
/// what it saves in steps it takes longer for everything else.
template <class F>
void with_division(Index rows, int limit, F f) {
  const auto fits = [&](auto division) {
    using By = decltype(division);
    const Index blocks = blocks_for<By>(rows);
    const int most =
        By::Team::kIsOneBlock ? std::min(limit, 1) : limit;  // none without Hopper's code
    if (blocks > most) return false;
    f(division, blocks);
    return true;
  };
  static_cast<void>(fits(Division<1, 128, OneBlock>{}) || fits(Division<1, 128>{}) ||
                    fits(Division<1, 256>{}) || fits(Division<2, 256>{}) ||
                    fits(Division<kMaxRows, 256>{}));
}

}  // namespace

template <class T>
int getrf_cluster_limit() {
  // The kernel that needs the most shared memory.
  using D = typename DeviceScalar<T>::type;
  constexpr int W = kWidth<D, 1>, N = 256;
  using Memory = PanelMemory<D, W, 1, N>;
  const auto kernel = getrf_panel_kernel<D, W, 1, N, Cluster>;
  if (code_of(kernel) < kHopperCode) return 0;
  for (int blocks = kMaxBlocks; blocks >= static_cast<int>(kClusterWithoutAsking); blocks /= 2) {
    const LaunchShape shape = team_shape(blocks, N, sizeof(Memory), nullptr);
    int clusters = 0;
    const bool possible = ask_for(shape, kernel) == cudaSuccess &&
                          cudaOccupancyMaxActiveClusters(
                              &clusters, kernel, &Launch(nullptr, shape).config()) == cudaSuccess;
    ignore(cudaGetLastError());
    if (possible && clusters > 0) return blocks;
  }
  return 0;
}

template <class T>
Index getrf_cluster_width(Index rows, int limit) {
  using D = typename DeviceScalar<T>::type;
  Index width = 0;
  with_division(rows, limit, [&](auto division, Index) {
    constexpr int R = decltype(division)::R;
    width = kHasPanels<D, R> && rows >= kPanelWidth ? kPanelWidth : kWidth<D, R>;
  });
  return width;
}

template <class T>
void getrf_cluster(cudaStream_t stream, int limit, DeviceView<T> a, PanelReport report,
                   Index offset, cudaEvent_t begun) {
  using D = typename DeviceScalar<T>::type;
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.cols);
  with_division(a.rows, limit, [&](auto division, Index blocks) {
    using By = decltype(division);
    using Team = typename By::Team;
    constexpr int R = By::R, N = By::N, W = kWidth<D, R>;
    if constexpr (kHasPanels<D, R>) {
      using Memory = PanelMemory<D, W, R, N>;
      static_assert(sizeof(Memory) <= kMostSharedBytes);
      if (n > W) {
        launch_kernel(stream, team_shape(blocks, N, sizeof(Memory), begun), "getrf panel",
                      getrf_panel_kernel<D, W, R, N, Team>, m, n, device_cast(a.data), a.ld, report,
                      offset);
        return;
      }
    }
    launch_kernel(stream, team_shape(blocks, N, sizeof(StripMemory<D, W, R, N>), begun),
                  "getrf strip", getrf_strip_kernel<D, W, R, N, Team>, m, n, device_cast(a.data),
                  a.ld, report, offset);
  });
}

#define OVERLAPACK_INSTANTIATE(T)                    \
  template int getrf_cluster_limit<T>();             \
  template Index getrf_cluster_width<T>(Index, int); \
  template void getrf_cluster(cudaStream_t, int, DeviceView<T>, PanelReport, Index, cudaEvent_t);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
