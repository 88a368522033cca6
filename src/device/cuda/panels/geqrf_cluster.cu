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
// One warp of the last block is the secretary: it stores row k and column k of T. Where there are
// registers for it, it is one more warp, which hears the messages that all hear, comes to the same
// reflectors, and holds up nobody. In larger blocks it is the last one with rows, and stores while
// all wait for the messages of step k + 1.
//
// A message has two places, for even and odd turns. A block sends that of turn j + 2 when it has
// those of turn j + 1 from all blocks, and each of them sends that only behind a barrier which its
// threads reach after their last look at turn j. (A secretary without rows does not wait there: it
// only says that it has looked.) The places where a block prepares a message alternate for the same
// reason: who comes to turn j + 2 there has passed the barrier of turn j + 1, which all reach after
// they have sent that of turn j.
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
constexpr int kThreads = 256;      // of a block, or half as many, beside the secretary
constexpr int kLeastColumns = 16;  // of a panel: with fewer, what comes between panels takes longer

/// Whether the secretary is a warp of its own: as many registers as a thread needs are there for
/// two warps on each quarter of a multiprocessor.
template <int kWarps>
constexpr bool kHasSecretary = kWarps < 8;
template <int kWarps>
constexpr int kAllWarps = kWarps + (kHasSecretary<kWarps> ? 1 : 0);

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
  // The secretary's: T, and of a step what it has left in row k, products of v with those before it
  T t[W][W];
  T value[W], z[W], tau;
  int exponent[W];  // by column
  Barrier arrived[2];
};

/// Shared memory of a launch. There is the second part only if there are earlier reflectors.
template <class T, int W, int R, int kWarps>
struct AllMemory {
  Memory<T, W, R, kWarps> of_panel;
  EarlierMemory<T, W, kWarps> of_earlier;
};

/// What a warp hears of the turns, and what it makes of them. Numbers of columns are in the lane
/// that is in charge.
template <class T, int W, int R, int kWarps>
class Listener {
 protected:
  using Memory = cuda::Memory<T, W, R, kWarps>;
  static constexpr int kWorkers = kWarps * kWarp;  // threads with rows
  static constexpr int kTurnBarrier = 1;

  __device__ Listener(Memory& memory, int n, const QrOperands<T>& to)
      : memory_(memory), to_(to), n_(n) {}
  __device__ static int lane() { return lane_of_warp(); }
  __device__ int place() const { return static_cast<int>(turn_ % 2); }

  struct Told {
    T total, row;
  };
  /// What all blocks have said in this turn, combined. `row` is that of the panel, if it was sent.
  template <class Combine>
  __device__ Told hear(Combine combine) {
    const int at = place();
    await(&memory_.arrived[at], turn_ / 2 % 2);
    ++turn_;
    T total[2] = {from_real<T>(0), from_real<T>(0)};
    T row = from_real<T>(0);
    if (lane() < W) {
      row = memory_.row[at][lane()];
#pragma unroll 4
      for (int b = 0; b < blocks_; b += 2) {  // an even number
        for (int i = 0; i < 2; ++i) {
          total[i] = combine(total[i], memory_.of_block[at][b + i][lane()]);
        }
      }
    }
    return {combine(total[0], total[1]), row};
  }

  /// Whether the sums of a step are right as they are.
  __device__ static bool are_safe(int k, T sum) { return is_safe(real_part(of_lane(sum, k))); }
  /// The exponent of the power of two by which what is left of column k is divided if not.
  __device__ static int exponent_left(int k, T below, T of_row) {
    return exponent_of(fmax(real_part(of_lane(below, k)), largest_part(of_lane(of_row, k))));
  }
  __device__ static T scaled_row(int k, T of_row, int exponent) {
    return lane() == k ? scale(of_row, power_of_two<DeviceReal<T>>(-exponent)) : of_row;
  }
  /// Whether there are only zeros below row k. A NaN is not one.
  __device__ static bool has_nothing_below(int k, T below, T sum) {
    return real_part(of_lane(below, k)) == 0 && is_zero(of_lane(sum, k));
  }

  struct Step {
    Reflector<T> h;
    T dot, loss;
  };
  /// Step k, by the sums of the rows below row k and by row k itself.
  __device__ static Step find_step(int k, T sum, T of_row, bool nothing_below) {
    Step step;
    step.h = make_reflector(of_lane(of_row, k), real_part(of_lane(sum, k)), nothing_below);
    step.dot = add_product(of_row, conjugate(step.h.scale), sum);
    step.loss = lane() > k ? product(conjugate(step.h.tau), step.dot) : from_real<T>(0);
    return step;
  }

  // What only the secretary does.
  __device__ bool is_in_last_block() const { return rank_ == blocks_ - 1; }
  __device__ void note_exponents(T largest) {
    if (lane() < W) memory_.exponent[lane()] = exponent_of(real_part(largest));
  }
  __device__ void note_exponent(int k, int more) {
    if (lane() == k) memory_.exponent[k] += more;
  }
  __device__ void note(int k, const Step& step, T of_row) {
    if (lane() < W) {
      memory_.value[lane()] = lane() == k  ? from_real<T>(step.h.beta)
                              : lane() > k ? add(of_row, negate(step.loss))
                                           : of_row;
      memory_.z[lane()] = conjugate(step.dot);
    }
    if (lane() == 0) memory_.tau = step.h.tau;
    __syncwarp();
  }
  /// Stores what has been noted of step k.
  __device__ void store_step(int k) {
    if (lane() < W) {
      store_row(to_, n_, k, lane(), memory_.value[lane()], memory_.exponent[lane()]);
    }
    store_column_of_t(to_, n_, k, memory_.tau, memory_.z, memory_.t[0], W);
    __syncwarp();
  }

  Memory& memory_;
  const QrOperands<T> to_;
  const int n_;
  const int rank_ = rank_in_cluster(), blocks_ = blocks_in_cluster();
  unsigned turn_ = 0;  // exchanges so far
};

/// One of the warps with rows.
template <class T, int W, int R, int kWarps>
class Panel : Listener<T, W, R, kWarps> {
  using Base = Listener<T, W, R, kWarps>;
  using Real = DeviceReal<T>;
  using Tile = PanelTile<T, W, R>;
  using Base::blocks_;
  using Base::lane;
  using Base::memory_;
  using Base::n_;
  using Base::place;
  using Base::rank_;
  using Base::to_;
  static constexpr int kColumns = Tile::kColumns, kRows = Tile::kRows;

 public:
  /// Loads the rows. What is not there is zero.
  __device__ Panel(typename Base::Memory& memory, int m, int n, const QrOperands<T>& to)
      : Base(memory, n, to), m_(m) {
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
    if (is_secretary()) this->store_step(n_ - 1);
  }

  /// The rows below the triangle.
  __device__ void store() {
    for_each([&](int row, int column, T& x) {
      if (row < n_ || row >= m_ || column >= n_) return;
      to_.a[row + column_offset(column, to_.lda)] = x;
      to_.v[row + column_offset(column, to_.ldv)] = x;
    });
  }

 private:
  __device__ static int warp() { return warp_of_block(); }
  __device__ bool is_secretary() const {
    return !kHasSecretary<kWarps> && warp() == kWarps - 1 && this->is_in_last_block();
  }
  __device__ int first_row() const { return (rank_ * kWarps + warp()) * Tile::kRowsOfWarp; }
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

  /// All threads with rows combine what they have for each of their columns. With row k,
  /// `with_row`, which the first block has prepared. meanwhile() is for what has time while the
  /// threads wait.
  template <class Combine, class Meanwhile>
  __device__ typename Base::Told exchange(Combine combine, T (&own)[kColumns], bool with_row,
                                          Meanwhile meanwhile) {
    const int at = place();
    T total = combined_of_mine<kColumns>(own, lane(), combine);
#pragma unroll
    for (int mask = kColumns; mask < 4; mask *= 2) {
      total = combine(total, of_other_lane(total, mask));
    }
    const int q = place_of_lane();
    if (q < kColumns) memory_.of_warp[at][warp()][q * kTileSide + column_of_lane()] = total;
    const bool with_secretary = kHasSecretary<kWarps> && this->is_in_last_block();
    synchronize_some(Base::kTurnBarrier, Base::kWorkers + (with_secretary ? kWarp : 0));
    send(combine, at, with_row);
    if (threadIdx.x == Base::kWorkers - 1) {
      const int rows = blocks_ + (with_row ? 1 : 0);
      expect(&memory_.arrived[at], static_cast<unsigned>(rows * W * sizeof(T)));
    }
    meanwhile();
    return this->hear(combine);
  }

  /// Sends what the block's warps have to all blocks, a chunk of columns each thread.
  template <class Combine>
  __device__ void send(Combine combine, int at, bool with_row) {
    constexpr int kElements = Chunk<T>::kElements, kChunks = W / kElements;
    Barrier* const arrived = &memory_.arrived[at];
    for (int i = static_cast<int>(threadIdx.x); i < kChunks * blocks_; i += Base::kWorkers) {
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
    const T largest = exchange(Largest(), own, false, [] {}).total;
    if (is_secretary()) this->note_exponents(largest);
    give(from_real<T>(power_of_two<Real>(-exponent_of(real_part(largest)))));
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
    typename Base::Told told = sums(true, [&] {
      if (k > 0 && is_secretary()) this->store_step(k - 1);
    });
    T of_row = told.row;
    bool nothing_below = false;
    if (!Base::are_safe(k, told.total)) {
      const T below = largest_of_present();
      const int exponent = Base::exponent_left(k, below, of_row);
      scale_column<J>(c, exponent);
      if (is_secretary()) this->note_exponent(k, exponent);
      of_row = Base::scaled_row(k, of_row, exponent);
      told = sums(false, [] {});
      nothing_below = Base::has_nothing_below(k, below, told.total);
    }
    const typename Base::Step found = Base::find_step(k, told.total, of_row, nothing_below);
    if (is_secretary()) this->note(k, found, of_row);
    give(found.loss);
    reflect<J>(c, found.h.scale);
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
  template <class Meanwhile>
  __device__ typename Base::Told sums(bool with_row, Meanwhile meanwhile) {
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
    return exchange(Sum(), own, with_row, meanwhile);
  }

  /// In the lanes of all columns.
  __device__ T largest_of_present() {
    Real most = 0;
#pragma unroll 1
    for (int r = 0; r < kRows; r += 2) {
      const Pair<T> x = load_pair(present(r));
      most = fmax(most, fmax(largest_part(x.first), largest_part(x.second)));
    }
    T own[kColumns];
#pragma unroll
    for (T& one : own) one = from_real<T>(most);
    return exchange(Largest(), own, false, [] {}).total;
  }

  /// What is left of the present column, by a power of two.
  template <int J>
  __device__ void scale_column(int c, int exponent) {
    const Real factor = power_of_two<Real>(-exponent);
    if (column_of_lane() == c) {
#pragma unroll
      for (T& x : tile_.x[J]) x = scale(x, factor);
    }
    spread_column<J>(c);
  }

  const int m_;
  Tile tile_;
};

/// A secretary without rows.
template <class T, int W, int R, int kWarps>
class Secretary : Listener<T, W, R, kWarps> {
  using Base = Listener<T, W, R, kWarps>;
  using Base::n_;

 public:
  __device__ Secretary(typename Base::Memory& memory, int n, const QrOperands<T>& to)
      : Base(memory, n, to) {}

  __device__ void work() {
    let_pass();
    this->note_exponents(this->hear(Largest()).total);
    let_pass();
#pragma unroll 1
    for (int k = 0; k < n_; ++k) step(k);
  }

 private:
  __device__ void step(int k) {
    typename Base::Told told = this->hear(Sum());
    T of_row = told.row;
    bool nothing_below = false;
    if (!Base::are_safe(k, told.total)) {
      let_pass();
      const T below = this->hear(Largest()).total;
      let_pass();
      const int exponent = Base::exponent_left(k, below, of_row);
      this->note_exponent(k, exponent);
      of_row = Base::scaled_row(k, of_row, exponent);
      told = this->hear(Sum());
      nothing_below = Base::has_nothing_below(k, below, told.total);
    }
    if (k + 1 < n_) let_pass();
    this->note(k, Base::find_step(k, told.total, of_row, nothing_below), of_row);
    this->store_step(k);
  }

  /// Says that it has looked at all turns so far.
  __device__ static void let_pass() { arrive_at(Base::kTurnBarrier, Base::kWorkers + kWarp); }
};

/// Factors a panel of m x n, n <= W <= m, after it has got the earlier reflectors. The launch must
/// be one cluster with enough rows.
template <class T, int W, int R, int kWarps>
__global__ void __launch_bounds__(kAllWarps<kWarps>* kWarp, 1)
    geqrf_cluster_kernel(int m, int n, QrOperands<T> operands, EarlierReflectors<T> earlier) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int4 shared[];
  auto& memory = *reinterpret_cast<AllMemory<T, W, R, kWarps>*>(shared);
  if (threadIdx.x == 0) {
    for (Barrier& barrier : memory.of_panel.arrived) make_barrier(&barrier);
    if (earlier.count > 0) prepare(memory.of_earlier);
  }
  if (!kHasSecretary<kWarps> || warp_of_block() < kWarps) {
    Panel<T, W, R, kWarps> panel(memory.of_panel, m, n, operands);
    synchronize_cluster();
    if (earlier.count > 0) panel.reflect_before(memory.of_earlier, earlier);
    panel.factor();
    panel.store();
  } else {
    synchronize_cluster();
    if (rank_in_cluster() == blocks_in_cluster() - 1) {
      Secretary<T, W, R, kWarps>(memory.of_panel, n, operands).work();
    }
  }
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
    shape.threads = kAllWarps<kWarps> * kWarp;
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
