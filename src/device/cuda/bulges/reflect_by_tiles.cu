// Z := Q Z by blocks of reflectors, on the tensor cores for double precision.
//
// A warp has a strip of 16 columns of Z, of complex numbers 8, whose real and imaginary parts are
// then like 16. It takes them through all blocks, from the last group of sweeps to the first, and
// in a group down the matrix. The rows that a block touches are in its registers, as tiles of 8
// rows of Z^T, in the layout of results of a product: with g = lane / 4 and q = lane % 4, a lane
// has columns g and 8 + g in rows 2 q and 2 q + 1. Tiles become left operands as they are, since
// a sum may be taken in any order: summands q and 4 + q of the hardware are numbers 2 q and
// 2 q + 1. So with W = V^H Z no number of Z or W ever changes lanes in
//
//   W^T = Z^T conj(V),   W^T := W^T T^T,   Z^T := Z^T - W^T V^T.
//
// V and T are the right operands, in shared memory for all warps, in two buffers: one is filled
// while the other one is read. Tiles of V that are zero are left out. From one block to the next
// the rows of Z move by a bandwidth. Those that come next wait in shared memory, too.
//
// Half of the warps have no strip. They bring V, T, and the rows that come next, so that the others
// do little but multiply. Copying needs few registers; warps with a strip have the rest. And V and
// T have been made ready before, by a kernel of its own: they are copied as they are.
//
// Numbers in single precision are doubles as long as they are not in device memory, since tensor
// cores multiply doubles as fast as other units multiply floats.
//
// Rows of a block are counted from the one before the first vector begins, for then all tiles
// begin at multiples of 8: column j of V has its vector in rows j + 1 to j + b.
//
// What bounds the speed: a quarter of a multiprocessor has one warp that multiplies, or two, which
// wait for the results of their products. More would have too few registers.
#include <cstdint>

#include "device/cuda/bulges/bulges.hpp"
#include "device/cuda/parts/arithmetic.cuh"
#include "device/cuda/parts/lanes.cuh"
#include "device/cuda/parts/product_of_doubles.cuh"
#include "device/cuda/ptx/async_copy.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/runtime/kernels.hpp"

namespace overlapack::cuda {
namespace {

constexpr int kCopyingWarps = 4, kCopiers = kCopyingWarps * kWarp;
constexpr int kSide = 8;  // of a tile
constexpr int kGroup = static_cast<int>(kBulgeGroup), kGroupTiles = kGroup / kSide;
constexpr int kTaken = 1;  // the barrier behind which rows that wait may be replaced

template <class T>
constexpr bool kIsComplex = sizeof(T) == 2 * sizeof(DeviceReal<T>);
/// Of a strip.
template <class T>
constexpr int kColumns = kIsComplex<T> ? 8 : 16;

/// A thread block has four strips, so that as many multiprocessors as possible have one, or eight.
template <int kStrips>
constexpr int kMultipliers = kStrips* kWarp;
template <int kStrips>
constexpr int kThreads = kMultipliers<kStrips> + kCopiers;

// ---- tiles ----------------------------------------------------------------------------------

/// [h][e]: of a result, row 8 h + g and column 2 q + e.
struct TileOfLane {
  double x[2][2];
};

/// d += a b^T.
__device__ inline void multiply(TileOfLane& d, const TileOfLane& a, double b0, double b1) {
#if __CUDA_ARCH__ >= 900
  add_product(d.x[0][0], d.x[0][1], d.x[1][0], d.x[1][1],
              {a.x[0][0], a.x[1][0], a.x[0][1], a.x[1][1]}, b0, b1);
#else
#  pragma unroll
  for (int h = 0; h < 2; ++h) {
#  pragma unroll
    for (int e = 0; e < 2; ++e) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(d.x[h][0]), "+d"(d.x[h][1])
          : "d"(a.x[h][e]), "d"(e == 0 ? b0 : b1));
    }
  }
#endif
}

/// A left operand. A complex one is two: that for real parts, and that for imaginary parts of what
/// it is multiplied by, or of their conjugates.
template <class T>
struct Left {
  TileOfLane of_real, of_imaginary;

  __device__ Left(const TileOfLane& a, bool conjugated) : of_real(a) {
    if constexpr (kIsComplex<T>) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        of_imaginary.x[0][e] = conjugated ? a.x[1][e] : -a.x[1][e];
        of_imaginary.x[1][e] = conjugated ? -a.x[0][e] : a.x[0][e];
      }
    }
  }
  __device__ void multiply_to(TileOfLane& d, T b0, T b1) const {
    if constexpr (kIsComplex<T>) {
      multiply(d, of_real, b0.re, b1.re);
      multiply(d, of_imaginary, b0.im, b1.im);
    } else {
      multiply(d, of_real, b0, b1);
    }
  }
};

__device__ inline TileOfLane zero_tile() { return {{{0, 0}, {0, 0}}}; }

// ---- blocks of reflectors -------------------------------------------------------------------

/// V and T of a block, with zeros where they have nothing. Rows of a column of V change places
/// within 16 (8 of complex numbers), so that neither product's loads meet in a bank.
template <class T, int kBand>
struct alignas(16) Block {
  static constexpr int kRows = kBand + kGroup;
  static constexpr int kStride = kIsComplex<T> ? kGroup + 1 : kGroup + 2;
  T v[kGroup][kRows];
  T t[kGroup][kStride];  // [j][i]: element (i, j)

  /// What the number of a row is combined with, by the number of the column.
  __device__ static int change(int j) {
    return kIsComplex<T> ? j % 8 : ((j ^ j >> 2) & 1) << 3 | (j >> 1 & 1) << 2;
  }
  /// The tile (of rows) of V that a column's vector ends in.
  __device__ static constexpr int last_tile(int tile_of_columns) {
    return tile_of_columns + kBand / kSide;
  }
  /// Elements i and i + 1 of column j of V, for an even i.
  __device__ void load_rows(int i, int j, T& x0, T& x1) const {
    if constexpr (kIsComplex<T>) {
      x0 = v[j][i ^ change(j)];
      x1 = v[j][(i + 1) ^ change(j)];
    } else {
      const double2 pair = *reinterpret_cast<const double2*>(&v[j][i ^ change(j)]);
      x0 = pair.x;
      x1 = pair.y;
    }
  }
};

template <class T, int kBand>
struct Operands {
  Index n;
  const T* v;
  Index ldv;
  Block<DoubleScalar<T>, kBand>* blocks;
  T* z;
  Index ldz, columns;
};

// Four groups go down the matrix together, in steps: block k of the latest one, then block k of the
// one before it, which has rows in common with no later block of the other, and so on. Fours are
// numbered by how many are behind them. Each has kSteps steps more than the one behind it; the last
// of these may be beyond the matrix. Blocks are in the order in which they are used.

constexpr int kFour = 4 * kGroup;  // sweeps
template <int kBand>
constexpr int kSteps = kFour / kBand;
/// The number of the first block of a four.
template <int kBand>
__host__ __device__ constexpr Index first_block(Index behind) {
  return behind * (behind + 1) / 2 * kSteps<kBand> * 4;
}

constexpr int kMakers = 256;  // threads
/// A thread block makes a block of reflectors ready.
template <class T, int kBand>
__global__ void __launch_bounds__(kMakers) make_blocks_kernel(Operands<T, kBand> op) {
  using W = DoubleScalar<T>;
  using To = Block<W, kBand>;
  const Index group = blockIdx.x, sweep = group * kGroup, step = blockIdx.y;
  const Index behind = gridDim.x / 4 - 1 - group / 4, row = sweep + step * kBand;
  if (step >= (behind + 1) * kSteps<kBand>) return;
  To& to = op.blocks[first_block<kBand>(behind) + 4 * step + 3 - group % 4];
  for (int e = static_cast<int>(threadIdx.x); e < kGroup * To::kRows; e += kMakers) {
    const int i = e % To::kRows, j = e / To::kRows;
    W& x = to.v[j][i ^ To::change(j)];
    x = from_real<W>(0);
    if (i > j && i <= j + kBand && row + i < op.n) convert(x, op.v[row + i + (sweep + j) * op.ldv]);
  }
  for (int e = static_cast<int>(threadIdx.x); e < kGroup * kGroup; e += kMakers) {
    const int i = e % kGroup, j = e / kGroup;
    W& x = to.t[j][i];
    x = from_real<W>(0);
    if (i <= j && row + 1 + j < op.n) convert(x, op.v[sweep + i + (row + 1 + j) * op.ldv]);
  }
}

/// By the copiers, whose number is given.
template <class B>
__device__ void start_copying(const B& from, B& to, int first) {
  constexpr int kPiece = 16, kPieces = sizeof(B) / kPiece;
  const char* const source = reinterpret_cast<const char*>(&from) + first * kPiece;
  char* const target = reinterpret_cast<char*>(&to) + first * kPiece;
#pragma unroll
  for (int i = 0; i * kCopiers < kPieces; ++i) {
    if (first + i * kCopiers >= kPieces) break;
    start_copy<kPiece>(target + i * kCopiers * kPiece, source + i * kCopiers * kPiece, kPiece);
  }
}

/// For all steps: f(the first row, is it the first, the last one of its four).
template <int kBand, class F>
__device__ void for_each_step(Index n, F f) {
  const Index fours = (n - 2) / kFour + 1;
  for (Index behind = 0; behind < fours; ++behind) {
    const Index last = (behind + 1) * kSteps<kBand> - 1;
    const Index row = (fours - 1 - behind) * kFour;
    for (Index step = 0; step <= last; ++step) f(row + step * kBand, step == 0, step == last);
  }
}

// ---- a strip of Z ---------------------------------------------------------------------------

/// What a lane moves at a time: of real numbers two rows of a column, of complex ones a number.
template <class T>
struct alignas(2 * sizeof(DeviceReal<T>)) Pair {
  DeviceReal<T> x, y;
};
/// A lane's, of a tile: real numbers of two columns, or complex ones of two rows.
constexpr int kPairs = 2;

/// A lane's pairs of the rows of a strip that begin with one of them, by tiles.
template <class T>
class Window {
 public:
  using R = DeviceReal<T>;

  template <int kBand>
  __device__ Window(const Operands<T, kBand>& op, Index strip, Index row) : somewhere_(op.z) {
    const int lane = lane_of_warp();
    const Index first = strip * kColumns<T> + lane / 4;
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      const Index i = row + lane % 4 * 2 + (kIsComplex<T> ? p : 0);
      const Index j = first + (kIsComplex<T> ? 0 : p * kSide);
      at_[p] = reinterpret_cast<R*>(op.z + i + j * op.ldz);
      const Index left = j < op.columns ? op.n - i : 0;
      left_[p] = static_cast<int>(left < kMostRows ? left : kMostRows);
    }
  }

  /// Zeros where there is nothing. So in all three.
  __device__ Pair<T> load(int tile, int pair) const {
    const R* const from = at(tile, pair);
    if (numbers(tile, pair) == 2) return *reinterpret_cast<const Pair<T>*>(from);
    return {numbers(tile, pair) > 0 ? *from : R(0), R(0)};
  }
  __device__ void store(int tile, int pair, const Pair<T>& x) const {
    R* const to = at(tile, pair);
    if (numbers(tile, pair) == 2) {
      *reinterpret_cast<Pair<T>*>(to) = x;
    } else if (numbers(tile, pair) == 1) {
      *to = x.x;
    }
  }
  __device__ void start_copy(int tile, int pair, Pair<T>& to) const {
    const int count = numbers(tile, pair);
    const void* const from = count > 0 ? at(tile, pair) : static_cast<const void*>(somewhere_);
    cuda::start_copy<sizeof(Pair<T>)>(&to, from, count * static_cast<int>(sizeof(R)));
  }

 private:
  static constexpr Index kMostRows = 1 << 20;  // more than a window has

  __device__ R* at(int tile, int pair) const {
    return at_[pair] + tile * kSide * (kIsComplex<T> ? 2 : 1);
  }
  __device__ int numbers(int tile, int pair) const {
    const int rows = left_[pair] - tile * kSide;
    return rows <= 0 ? 0 : kIsComplex<T> || rows > 1 ? 2 : 1;
  }

  const T* const somewhere_;
  R* at_[kPairs];
  int left_[kPairs];  // rows
};

template <class T, int kBand, int kStrips>
struct Memory {
  static constexpr int kTiles = kBand / kSide;         // that wait
  Block<DoubleScalar<T>, kBand> later[2], earlier[2];  // of the groups of a four
  Pair<T> waiting[kTiles][kPairs][kMultipliers<kStrips>];
};

/// The tiles of a strip that a block touches, and what is done with them.
template <class T, int kBand>
class Strip {
 public:
  using W = DoubleScalar<T>;
  static constexpr int kNewTiles = kBand / kSide, kOldTiles = 4 * kGroupTiles;
  static constexpr int kBlockTiles = kGroupTiles + kNewTiles, kTiles = kOldTiles + kNewTiles;

  __device__ Strip() : g_(lane_of_warp() / 4), q_(lane_of_warp() % 4) {}

  __device__ void load(const Window<T>& window) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int p = 0; p < kPairs; ++p) set(tiles_[t], p, window.load(t, p));
    }
  }
  /// The new ones.
  template <int kLanes>
  __device__ void take(const Pair<T> (&waiting)[kNewTiles][kPairs][kLanes]) {
#pragma unroll
    for (int t = 0; t < kNewTiles; ++t) {
#pragma unroll
      for (int p = 0; p < kPairs; ++p) set(tiles_[kOldTiles + t], p, waiting[t][p][threadIdx.x]);
    }
  }
  /// The first ones, kCount of them.
  template <int kCount>
  __device__ void store(const Window<T>& window) const {
#pragma unroll
    for (int t = 0; t < kCount; ++t) {
#pragma unroll
      for (int p = 0; p < kPairs; ++p) window.store(t, p, get(tiles_[t], p));
    }
  }

  /// The window moves by a bandwidth.
  __device__ void move() {
#pragma unroll
    for (int t = 0; t < kOldTiles; ++t) tiles_[t] = tiles_[t + kNewTiles];
  }

  /// Z^T := Z^T - (Z^T conj(V) T^T) V^T, by a block that begins with tile kFirst.
  template <int kFirst>
  __device__ void reflect(const Block<W, kBand>& block) {
    using From = Block<W, kBand>;
    TileOfLane w[kGroupTiles];
#pragma unroll
    for (TileOfLane& tile : w) tile = zero_tile();
#pragma unroll
    for (int i = 0; i < kBlockTiles; ++i) {
      const Left<W> left(tiles_[kFirst + i], true);
#pragma unroll
      for (int j = 0; j < kGroupTiles; ++j) {
        if (i < j || i > From::last_tile(j)) continue;
        W b0, b1;
        block.load_rows(kSide * i + 2 * q_, kSide * j + g_, b0, b1);
        left.multiply_to(w[j], b0, b1);
      }
    }
    // In place: tile i takes later ones alone.
#pragma unroll
    for (int i = 0; i < kGroupTiles; ++i) {
      TileOfLane sum = zero_tile();
#pragma unroll
      for (int j = i; j < kGroupTiles; ++j) {
        const int column = kSide * j + 2 * q_, row = kSide * i + g_;
        Left<W>(w[j], false).multiply_to(sum, block.t[column][row], block.t[column + 1][row]);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int e = 0; e < 2; ++e) w[i].x[h][e] = -sum.x[h][e];
      }
    }
#pragma unroll
    for (int j = 0; j < kGroupTiles; ++j) {
      const Left<W> left(w[j], false);
      const int column = kSide * j + 2 * q_;
#pragma unroll
      for (int i = 0; i < kBlockTiles; ++i) {
        if (i < j || i > From::last_tile(j)) continue;
        const int row = kSide * i + g_;
        left.multiply_to(tiles_[kFirst + i], block.v[column][row ^ From::change(2 * q_)],
                         block.v[column + 1][row ^ From::change(2 * q_ + 1)]);
      }
    }
  }

 private:
  /// Real numbers: half h, that is a column, has both rows. Complex ones: h is their part.
  __device__ static void set(TileOfLane& tile, int pair, const Pair<T>& x) {
    tile.x[kIsComplex<T> ? 0 : pair][kIsComplex<T> ? pair : 0] = static_cast<double>(x.x);
    tile.x[kIsComplex<T> ? 1 : pair][kIsComplex<T> ? pair : 1] = static_cast<double>(x.y);
  }
  __device__ static Pair<T> get(const TileOfLane& tile, int pair) {
    using R = DeviceReal<T>;
    return {static_cast<R>(tile.x[kIsComplex<T> ? 0 : pair][kIsComplex<T> ? pair : 0]),
            static_cast<R>(tile.x[kIsComplex<T> ? 1 : pair][kIsComplex<T> ? pair : 1])};
  }

  const int g_, q_;
  TileOfLane tiles_[kTiles];
};

// ---- the kernel -----------------------------------------------------------------------------

template <class T, int kBand, int kStrips>
__device__ void copy(const Operands<T, kBand>& op, Memory<T, kBand, kStrips>& memory) {
  using Two = Block<DoubleScalar<T>, kBand>[2];
  const int copier = static_cast<int>(threadIdx.x) - kMultipliers<kStrips>;
  const Two* blocks = reinterpret_cast<const Two*>(op.blocks);
  for_each_step<kBand>(op.n, [&](Index row, bool, bool is_last) {
    start_copying(*blocks++, memory.later, copier);
    finish_copies();
    __syncthreads();  // they are there, and the others may be replaced
    start_copying(*blocks++, memory.earlier, copier);
    end_of_copies();
    if (!is_last) {
      synchronize_some(kTaken, kThreads<kStrips>);
#pragma unroll
      for (int some = 0; some < kStrips; some += kCopyingWarps) {
        const int thread = copier + some * kWarp;
        const Index strip = Index{blockIdx.x} * kStrips + thread / kWarp;
        const Window<T> next(op, strip, row + kFour + kBand);
#pragma unroll
        for (int t = 0; t < kBand / kSide; ++t) {
#pragma unroll
          for (int p = 0; p < kPairs; ++p) next.start_copy(t, p, memory.waiting[t][p][thread]);
        }
      }
    }
    end_of_copies();
    wait_for_copies<1>();  // rows of Z may come later
    __syncthreads();
  });
}

template <class T, int kBand, int kStrips>
__device__ void multiply(const Operands<T, kBand>& op, Memory<T, kBand, kStrips>& memory) {
  using Strip = Strip<T, kBand>;
  const Index number = Index{blockIdx.x} * kStrips + warp_of_block();
  Strip strip;
  for_each_step<kBand>(op.n, [&](Index row, bool is_first, bool is_last) {
    if (is_first) strip.load(Window<T>(op, number, row));
    __syncthreads();
    if (!is_first) strip.take(memory.waiting);
    if (!is_last) arrive_at(kTaken, kThreads<kStrips>);
    strip.template reflect<3 * kGroupTiles>(memory.later[0]);
    strip.template reflect<2 * kGroupTiles>(memory.later[1]);
    __syncthreads();
    strip.template reflect<kGroupTiles>(memory.earlier[0]);
    strip.template reflect<0>(memory.earlier[1]);
    strip.template store<Strip::kNewTiles>(Window<T>(op, number, row));
    strip.move();
    if (is_last) strip.template store<Strip::kOldTiles>(Window<T>(op, number, row + kBand));
  });
}

template <class T, int kBand, int kStrips>
__global__ void __launch_bounds__(kThreads<kStrips>, 1)
    reflect_by_tiles_kernel(Operands<T, kBand> op) {
  extern __shared__ __align__(16) char raw_memory[];
  auto& memory = *reinterpret_cast<Memory<T, kBand, kStrips>*>(raw_memory);
  constexpr bool kMany = kStrips > 4;  // all registers would not do for the threads
  if (warp_of_block() < kStrips) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if constexpr (kMany) take_registers<232>();
#endif
    multiply(op, memory);
  } else {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if constexpr (kMany) give_registers<40>();
#endif
    copy(op, memory);
  }
}

template <class D, int kBand, int kStrips>
void launch_strips(cudaStream_t stream, const Operands<D, kBand>& operands) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(quotient_up(operands.columns, kStrips * kColumns<D>));
  shape.threads = kThreads<kStrips>;
  shape.shared_bytes = shared_by_all<Memory<D, kBand, kStrips>>();
  launch_kernel(stream, shape, "reflect_bulges", reflect_by_tiles_kernel<D, kBand, kStrips>,
                operands);
}

Index fours(Index n) { return quotient_up(n - 1, kFour); }

template <class T, int kBand>
bool launch(CudaQueue& queue, const ReflectBulges<T>& op) {
  using D = typename DeviceScalar<T>::type;
  using B = Block<DoubleScalar<D>, kBand>;
  const Index n = op.v.rows;
  if (op.work.rows < tile_work<T>(n, kBand)) return false;
  const Operands<D, kBand> operands{n,
                                    device_cast(op.v.data),
                                    op.v.ld,
                                    reinterpret_cast<B*>(op.work.data),
                                    device_cast(op.z.data),
                                    op.z.ld,
                                    op.z.cols};
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(4 * fours(n));
  shape.blocks_y = static_cast<unsigned>(fours(n) * kSteps<kBand>);
  shape.threads = kMakers;
  launch_kernel(queue.stream(), shape, op.kName, make_blocks_kernel<D, kBand>, operands);
  const Index blocks_of_four = quotient_up(op.z.cols, 4 * kColumns<D>);
  if (queue.gpu().has_hopper_code && blocks_of_four > queue.gpu().multiprocessors) {
    launch_strips<D, kBand, 8>(queue.stream(), operands);
  } else {
    launch_strips<D, kBand, 4>(queue.stream(), operands);
  }
  return true;
}

constexpr Index kWide = 64, kNarrow = 32;  // bandwidths

}  // namespace

template <class T>
Index tile_work(Index n, Index bandwidth) {
  using W = DoubleScalar<typename DeviceScalar<T>::type>;
  if (n < 2) return 0;
  const Index bytes =
      bandwidth == kWide
          ? first_block<kWide>(fours(n)) * static_cast<Index>(sizeof(Block<W, kWide>))
      : bandwidth == kNarrow
          ? first_block<kNarrow>(fours(n)) * static_cast<Index>(sizeof(Block<W, kNarrow>))
          : 0;
  return bytes / static_cast<Index>(sizeof(T));
}

template <class T>
bool reflect_by_tiles(CudaQueue& queue, const ReflectBulges<T>& op) {
  constexpr std::size_t kPair = 2 * sizeof(Real<T>);
  if (op.group != kGroup || op.work.empty()) return false;
  if (reinterpret_cast<std::uintptr_t>(op.z.data) % kPair != 0) return false;
  if (op.z.ld * sizeof(T) % kPair != 0) return false;
  if (op.bandwidth == kWide) return launch<T, kWide>(queue, op);
  return op.bandwidth == kNarrow && launch<T, kNarrow>(queue, op);
}

#define OVERLAPACK_INSTANTIATE(T)            \
  template Index tile_work<T>(Index, Index); \
  template bool reflect_by_tiles(CudaQueue&, const ReflectBulges<T>&);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
