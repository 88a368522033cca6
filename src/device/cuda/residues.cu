// Products in double precision by residues (device.hpp): numbers become small integers modulo each
// of fourteen numbers, cuBLAS multiplies these, and the sums become numbers again.
#include <math_constants.h>

#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/residues.hpp"

namespace overlapack::cuda {
namespace {

using residues::kModuli;

constexpr int kThreads = 256;

/// What a kernel needs to know about the moduli.
struct Constants {
  float modulus[kModuli], inverse[kModuli];
  float power14[kModuli], power28[kModuli], power42[kModuli];  // of two, modulo modulus
  residues::Weight weight[kModuli];
};

constexpr Constants make_constants() {
  Constants c = {};
  for (int l = 0; l < kModuli; ++l) {
    const long long p = residues::kModulus[l];
    const auto smallest = [p](long long x) {
      const long long rest = x % p;
      return static_cast<float>(2 * rest > p ? rest - p : rest);
    };
    c.modulus[l] = static_cast<float>(p);
    c.inverse[l] = 1 / static_cast<float>(p);
    c.power14[l] = smallest(1LL << 14);
    c.power28[l] = smallest(1LL << 28);
    c.power42[l] = smallest(1LL << 42);
    c.weight[l] = residues::weight(l);
  }
  return c;
}

__constant__ const Constants constants = make_constants();

/// 2^exponent, within the normal range.
__device__ double power_of_two(int exponent) {
  return __hiloint2double((1023 + exponent) << 20, 0);
}
/// The exponent of a power of two.
__device__ int exponent_of(double power) { return (__double2hiint(power) >> 20) - 1023; }

/// Rows of a matrix, side by side or one after the other.
struct Rows {
  const double* data;
  Index next_row, next_summand;

  __device__ double operator()(Index i, Index l) const {
    return data[i * next_row + l * next_summand];
  }
};

Rows rows_of(const ResidueForm<double>& form) {
  const Index ld = form.matrix.ld;
  return form.op == Op::none ? Rows{form.matrix.data, 1, ld} : Rows{form.matrix.data, ld, 1};
}

// ---- to residues ----

constexpr int kLines = 16;  // rows that a thread block takes
constexpr int kTile = 128;  // and so many summands of them at a time
constexpr int kChunk = 16;  // of which a thread takes so many: their residues are one store
constexpr int kChunks = kTile / kChunk;
constexpr int kLineThreads = kLines * kChunks;

/// Where number l of a line lies in shared memory: threads that take a column of the tile, or the
/// same number of all chunks of two lines, hardly meet in a bank.
constexpr int kPitch = kTile + kTile / kChunk + 1;
__device__ int place(int line, int l) { return line * kPitch + l + l / kChunk; }

/// In its last bits, kUnits plus an integer is that integer.
constexpr float kUnits = 3 << 22;

/// An integer of at most 56 bits with its sign, as digits to the base 2^14, from -2^13 to 2^13.
struct Digits {
  Digits() = default;
  __device__ explicit Digits(long long x) {
    // 2^23 plus an integer below that is a float with the integer in its last bits.
    constexpr unsigned long long kBias =
        (1ULL << 13) * (1 + (1ULL << 14) + (1ULL << 28) + (1ULL << 42));
    const unsigned long long biased = static_cast<unsigned long long>(x) + kBias;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const auto bits = static_cast<unsigned>(biased >> (14 * i)) & 0x3fff;
      digit[i] = __uint_as_float(0x4b000000u | bits) - static_cast<float>((1 << 23) + (1 << 13));
    }
  }
  float digit[4];
};

/// A residue for modulus number l, in the last byte.
__device__ unsigned residue(const Digits& x, int l) {
  // Exact: all of this is less than 2^22, and kUnits rounds to integers.
  const float sum = fmaf(
      x.digit[3], constants.power42[l],
      fmaf(x.digit[2], constants.power28[l], fmaf(x.digit[1], constants.power14[l], x.digit[0])));
  const float quotient = fmaf(sum, constants.inverse[l], kUnits) - kUnits;
  return __float_as_uint(fmaf(-quotient, constants.modulus[l], sum + kUnits));
}

/// What the summands of rows are multiplied by before anything else: powers of two.
struct Weights {
  const double* sizes;  // or null
  int sign;             // of the exponent

  __device__ double operator()(Index l) const {
    if (sizes == nullptr) return 1;
    const int exponent = exponent_of(fabs(sizes[l]));  // 1024 of what is not finite
    return power_of_two(sign * min(max(exponent, -residues::kSmallestSize), 0));
  }
};

/// What a thread block has in shared memory: kTile numbers of each of kLines rows, and which of
/// them a thread makes residues of.
struct Tile {
  double* numbers;  // of which kLines * kPitch
  Rows from;
  Weights weights;
  Index n, k;

  static __device__ int line() { return static_cast<int>(threadIdx.x) / kChunks; }
  static __device__ int chunk() { return static_cast<int>(threadIdx.x) % kChunks; }
  static __device__ Index first() { return static_cast<Index>(blockIdx.x) * kLines; }
  __device__ Index row() const { return first() + line(); }
  __device__ bool is_mine(Index l0) const { return row() < n && l0 + chunk() * kChunk < k; }
  __device__ double mine(int i) const { return numbers[place(line(), chunk() * kChunk + i)]; }

  /// Numbers l0 and following, and zeros where there are none. Everybody calls it.
  __device__ void load(Index l0) const {
    const bool across = from.next_row == 1;
    __syncthreads();  // the tile before has been read
#pragma unroll 8
    for (int s = 0; s < kLines * kTile; s += kLineThreads) {
      const int e = s + static_cast<int>(threadIdx.x);
      const int i = across ? e % kLines : e / kTile, l = across ? e / kLines : e % kTile;
      const bool inside = first() + i < n && l0 + l < k;
      numbers[place(i, l)] = inside ? from(first() + i, l0 + l) * weights(l0 + l) : 0;
    }
    __syncthreads();
  }
};

/// The sum of what the threads of a line have, for all of them.
__device__ double sum_of_line(double x) {
#pragma unroll
  for (int lanes = kChunks / 2; lanes > 0; lanes /= 2) x += __shfl_xor_sync(kAllLanes, x, lanes);
  return x;
}

__device__ void store_residues(const Digits (&digits)[kChunk], std::int8_t* target, Index stride) {
#pragma unroll 2
  for (int l = 0; l < kModuli; ++l, target += stride) {
    unsigned words[kChunk / 4];
#pragma unroll
    for (int w = 0; w < kChunk / 4; ++w) {
      const unsigned low =
          __byte_perm(residue(digits[4 * w], l), residue(digits[4 * w + 1], l), 0x0040);
      const unsigned high =
          __byte_perm(residue(digits[4 * w + 2], l), residue(digits[4 * w + 3], l), 0x0040);
      words[w] = __byte_perm(low, high, 0x5410);
    }
    *reinterpret_cast<uint4*>(target) = {words[0], words[1], words[2], words[3]};
  }
}

/// Residues by scales that are given. What is far too large for them, or no number, counts as
/// kTooLarge among the squares.
__global__ void __launch_bounds__(kLineThreads, 5)
    residues_kernel(Rows from, Index n, Index k, const double* __restrict__ scales,
                    const double* __restrict__ before, std::int8_t* __restrict__ to, Index ld,
                    Index stride, double* __restrict__ squares, Index first_number,
                    long long* first_long) {
  constexpr double kTooLarge = 256;
  __shared__ double numbers[kLines * kPitch];
  const Tile tile{numbers, from, {nullptr, 0}, n, k};
  const Index row = tile.row();
  const double inverse = row < n ? power_of_two(-exponent_of(scales[row])) : 0;
  double sum = 0;
  for (Index l0 = 0; l0 < k; l0 += kTile) {
    tile.load(l0);
    if (!tile.is_mine(l0)) continue;
    Digits digits[kChunk];
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      double x = tile.mine(i) * inverse;
      if (!(fabs(x) <= 2)) x = kTooLarge;
      const long long rounded = __double2ll_rn(x * power_of_two(residues::kBits));
      const double y = static_cast<double>(rounded) * power_of_two(-residues::kBits);
      sum = fma(y, y, sum);
      digits[i] = Digits(rounded);
    }
    store_residues(digits, to + row * ld + l0 + Tile::chunk() * kChunk, stride);
  }
  sum = sum_of_line(sum);
  if (Tile::chunk() == 0 && row < n) {
    sum += before == nullptr ? 0 : before[row];
    squares[row] = sum;
    if (!(sum <= residues::kLongest)) atomicMin(first_long, first_number + row);
  }
}

/// The largest modulus of some numbers, and the sum of their squares.
struct Size {
  double largest, sum;

  __device__ void add(double x) {
    if (!(fabs(x) <= largest)) largest = isfinite(x) ? fabs(x) : CUDART_INF;
    sum = fma(x, x, sum);
  }
  __device__ void add(const Size& other) {
    largest = fmax(largest, other.largest);
    sum += other.sum;
  }
  /// A scale, NaN if not all numbers are finite: from the norm, or from the largest number where
  /// squares would overflow or vanish.
  __device__ double scale(int root_of_count) const {
    constexpr int kSquares = 400;  // exponents up to which squares are right
    constexpr int kNone = 1024;    // the exponent of what is not finite
    const int size = exponent_of(largest);
    const int exponent =
        abs(size) < kSquares ? (exponent_of(sum) >> 1) + 1 : size + 1 + root_of_count;
    return size == kNone
               ? CUDART_NAN
               : power_of_two(max(exponent - residues::kSpareBits, residues::kSmallestScale));
  }
};

constexpr int kScaleThreads = 512;

/// Scales of rows of which nothing is known. Threads that follow each other read what lies side by
/// side, be it rows or summands.
__global__ void __launch_bounds__(kScaleThreads)
    scales_kernel(Rows from, Index n, Index k, Weights weights, int root_of_k,
                  double* __restrict__ scales) {
  __shared__ Size sizes[kScaleThreads];
  const int thread = static_cast<int>(threadIdx.x), next = thread % kWarp, other = thread / kWarp;
  const bool across = from.next_row == 1;
  const int line = across ? next : other, lines = across ? kWarp : kScaleThreads / kWarp;
  const int sharers = kScaleThreads / lines;
  const Index row = static_cast<Index>(blockIdx.x) * lines + line;
  Size size = {0, 0};
  if (row < n) {
#pragma unroll 8
    for (Index l = across ? other : next; l < k; l += sharers) {
      size.add(from(row, l) * weights(l));
    }
  }
  sizes[thread] = size;
  __syncthreads();
  if (row >= n || (across ? other : next) != 0) return;
  for (int s = 1; s < sharers; ++s) size.add(sizes[across ? line + s * lines : thread + s]);
  scales[row] = size.scale(root_of_k);
}

/// Residues by scales that have been found. Thread blocks (., p) take part p of the summands.
__global__ void __launch_bounds__(kLineThreads, 5)
    scaled_residues_kernel(Rows from, Index n, Index k, Index part, Weights weights,
                           const double* __restrict__ scales, std::int8_t* __restrict__ to,
                           Index ld, Index stride) {
  __shared__ double numbers[kLines * kPitch];
  const Tile tile{numbers, from, weights, n, k};
  const Index row = tile.row();
  // Twice a power of two, since one alone might overflow.
  const int exponent = row < n ? exponent_of(scales[row]) + residues::kSpareBits : 0;
  const int shift = residues::kBits - exponent, half = shift / 2;
  const Index begin = blockIdx.y * part, end = min(begin + part, k);
  for (Index l0 = begin; l0 < end; l0 += kTile) {
    tile.load(l0);
    if (!tile.is_mine(l0)) continue;
    Digits digits[kChunk];
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      digits[i] =
          Digits(__double2ll_rn(tile.mine(i) * power_of_two(half) * power_of_two(shift - half)));
    }
    store_residues(digits, to + row * ld + l0 + Tile::chunk() * kChunk, stride);
  }
}

// ---- from residues ----

constexpr int kColumns = 4;  // of C that a thread block takes
constexpr unsigned kLongRowBlocks = 64;

/// A factor but for its residues. Where scales have been found for the rows, all of them are short,
/// and there are no squares.
struct Factor {
  Rows rows;
  const double *scales, *squares;
  Index first;

  explicit Factor(const ResidueForm<double>& form)
      : rows(rows_of(form)),
        scales(form.scales.data),
        squares(form.squares.data),
        first(form.first) {}
  __device__ bool is_short(Index i) const {
    return squares == nullptr || squares[i] <= residues::kLongest;
  }
};

/// c := beta c - v, where v is the product of row i of A and row j of B, and `unit` that of their
/// scales. What belongs to the first long row is left to the next kernel.
__global__ void __launch_bounds__(kThreads)
    reconstruct_kernel(Factor a, Factor b, const Index* first_long, double unit,
                       const std::int32_t* __restrict__ sums, Index ld_sums, Index stride, Index m,
                       Index n, double beta, double* __restrict__ c, Index ldc) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= m) return;
  const double scale = a.scales[i];
  const bool is_short = a.is_short(i);
  const Index first = static_cast<Index>(blockIdx.y) * kColumns;
#pragma unroll
  for (int q = 0; q < kColumns; ++q) {
    const Index j = first + q;
    if (j >= n) return;
    if (first_long != nullptr && (a.first + i == *first_long || b.first + j == *first_long)) {
      continue;
    }
    double v = CUDART_NAN;
    if (is_short && b.is_short(j)) {
      const std::int32_t* s = sums + i + j * ld_sums;
      std::uint64_t high = 0;
      std::int64_t low = 0;
#pragma unroll
      for (int l = 0; l < kModuli; ++l, s += stride) {
        const std::int64_t sum = *s;
        high += static_cast<std::uint64_t>(sum) * constants.weight[l].high;
        low += sum * constants.weight[l].low;
      }
      // The fractional part, between -1/2 and 1/2, in units of 2^-64.
      const auto part =
          static_cast<std::int64_t>(high + static_cast<std::uint64_t>(low >> residues::kLowBits));
      v = static_cast<double>(part) * (residues::kRange * 0x1p-64 * unit) * scale * b.scales[j];
    }
    double& result = c[i + j * ldc];
    result = beta == 0 ? -v : beta * result - v;
  }
}

/// The same for the first long row, if it is one of A or B: a warp for each element of C.
__global__ void __launch_bounds__(kThreads)
    long_row_kernel(Factor a, Factor b, const Index* first_long, Index k, Index m, Index n,
                    double beta, double* __restrict__ c, Index ldc) {
  const Index row = *first_long - a.first, column = *first_long - b.first;
  const bool of_a = row >= 0 && row < m, of_b = column >= 0 && column < n;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index warps = static_cast<Index>(gridDim.x) * (kThreads / kWarp);
  const Index first = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / kWarp;
  const auto element = [&](Index i, Index j) {
    double v = 0;
    for (Index l = lane; l < k; l += kWarp) v = fma(a.rows(i, l), b.rows(j, l), v);
#pragma unroll
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) v += __shfl_xor_sync(kAllLanes, v, lanes);
    double& result = c[i + j * ldc];
    if (lane == 0) result = beta == 0 ? -v : beta * result - v;
  };
  for (Index j = first; of_a && j < n; j += warps) element(row, j);
  for (Index i = first; of_b && i < m; i += warps) {
    if (!of_a || i != row) element(i, column);
  }
}

}  // namespace

void residue_form(cudaStream_t stream, const ResidueForm<double>& of, const double* before) {
  LaunchShape shape;
  shape.threads = kLineThreads;
  shape.blocks = static_cast<unsigned>(quotient_up(of.rows(), kLines));
  launch(stream, shape, "residues", residues_kernel, rows_of(of), of.rows(), of.summands(),
         of.scales.data, before, of.numbers.data, of.numbers.ld, of.stride, of.squares.data,
         of.first, reinterpret_cast<long long*>(of.first_long.data));
}

void scaled_residue_form(cudaStream_t stream, Weigh weigh, const ResidueForm<double>& of,
                         const double* sizes) {
  constexpr Index kPart = 4 * kTile;  // so that few rows occupy the device, too
  const Weights weights{sizes, weigh == Weigh::divide ? -1 : 1};
  const Rows from = rows_of(of);
  LaunchShape shape;
  shape.threads = kScaleThreads;
  shape.blocks = static_cast<unsigned>(
      quotient_up(of.rows(), Index{from.next_row == 1 ? kWarp : kScaleThreads / kWarp}));
  launch(stream, shape, "scaled_residues", scales_kernel, from, of.rows(), of.summands(), weights,
         residues::log2_of_root(of.summands()), of.scales.data);
  shape.threads = kLineThreads;
  shape.blocks = static_cast<unsigned>(quotient_up(of.rows(), kLines));
  shape.blocks_y = static_cast<unsigned>(quotient_up(of.summands(), kPart));
  launch(stream, shape, "scaled_residues", scaled_residues_kernel, from, of.rows(), of.summands(),
         kPart, weights, of.scales.data, of.numbers.data, of.numbers.ld, of.stride);
}

void from_residues(cudaStream_t stream, const ResidueForm<double>& a, const ResidueForm<double>& b,
                   DeviceView<const std::int32_t> sums, Index stride, double beta,
                   DeviceView<double> c) {
  LaunchShape shape;
  shape.threads = kThreads;
  shape.blocks = static_cast<unsigned>(quotient_up(c.rows, kThreads));
  shape.blocks_y = static_cast<unsigned>(quotient_up(c.cols, kColumns));
  launch(stream, shape, "residue_gemm", reconstruct_kernel, Factor(a), Factor(b), a.first_long.data,
         a.unit() * b.unit(), sums.data, sums.ld, stride, c.rows, c.cols, beta, c.data, c.ld);
  if (a.first_long.empty()) return;
  shape.blocks = kLongRowBlocks;
  shape.blocks_y = 1;
  launch(stream, shape, "residue_gemm", long_row_kernel, Factor(a), Factor(b), a.first_long.data,
         a.summands(), c.rows, c.cols, beta, c.data, c.ld);
}

}  // namespace overlapack::cuda
