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

/// What a kernel needs to know about a modulus p.
struct Modulus {
  unsigned p;
  int low, high;  // powers of 2^8, modulo p: a byte for each byte of a number
  // A float of 24 bits that is a multiple of 2^8 p, by its bits; 1 / p; and kUnits without the
  // former divided by p.
  int start;
  float inverse, offset;
  residues::Weight weight;
};
struct Constants {
  Modulus modulus[kModuli];
};

/// In its last bits, kUnits plus an integer is that integer.
constexpr int kUnits = 3 << 22;
constexpr int kUnitsBits = 0x4b400000;

constexpr Constants make_constants() {
  Constants c = {};
  for (int l = 0; l < kModuli; ++l) {
    const int p = residues::kModulus[l];
    int power = 1;  // the one of the smallest modulus
    const auto bytes = [p, &power] {
      unsigned word = 0;
      for (int i = 0; i < 4; ++i) {
        word |= (static_cast<unsigned>(power) & 0xff) << (8 * i);
        power = power * 256 % p;
        if (2 * power > p) power -= p;
        if (2 * power < -p) power += p;
      }
      return static_cast<int>(word);
    };
    Modulus& m = c.modulus[l];
    m.p = static_cast<unsigned>(p);
    m.low = bytes();
    m.high = bytes();
    const int multiple = (kUnits + 128 * p) / (256 * p) * 256;
    m.start = kUnitsBits + (multiple * p - kUnits);
    m.inverse = 1 / static_cast<float>(p);
    m.offset = static_cast<float>(kUnits - multiple);
    m.weight = residues::weight(l);
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
constexpr int kTile = 256;  // and so many summands of them at a time
constexpr int kChunk = 16;  // of which a thread takes so many: their residues are one store
constexpr int kChunks = kTile / kChunk;
constexpr int kLineThreads = kLines * kChunks;

/// Where number l of a line lies in shared memory: threads that take a column of the tile, or the
/// same number of all chunks of two lines, hardly meet in a bank.
constexpr int kPitch = kTile + kTile / kChunk + 1;
__device__ int place(int line, int l) { return line * kPitch + l + l / kChunk; }

/// An integer of at most 56 bits with its sign, as digits to the base 2^8, from -2^7 to 2^7 - 1.
struct Digits {
  Digits() = default;
  __device__ explicit Digits(long long x) {
    constexpr unsigned long long kBias = 0x0080808080808080;
    const unsigned long long digits = (static_cast<unsigned long long>(x) + kBias) ^ kBias;
    low = static_cast<int>(digits);
    high = static_cast<int>(digits >> 32);
  }
  int low, high;
};

/// A residue for modulus number l, in the last byte.
__device__ unsigned residue(const Digits& x, int l) {
  // The sum is below 2^18. As bits of a float that begins with a multiple of p, it is divided by p
  // and rounded to an integer by one operation. (All sums there may be have been tried.)
  const Modulus& m = constants.modulus[l];
  const int sum = __dp4a(x.high, m.high, __dp4a(x.low, m.low, m.start));
  const float quotient = fmaf(__int_as_float(sum), m.inverse, m.offset);
  return static_cast<unsigned>(sum) - __float_as_uint(quotient) * m.p;
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
    __syncthreads();  // the tile before has been read
    if (from.next_row == 1) {
      load_in_steps<0, kLineThreads / kLines>(l0, thread() % kLines, thread() / kLines);
    } else {
      load_in_steps<1, 0>(l0, 0, thread());
    }
    __syncthreads();
  }

 private:
  static __device__ int thread() { return static_cast<int>(threadIdx.x); }

  /// Of each line or of each few summands a thread takes one number, the first one at (i, l).
  template <int kNextLine, int kNext>
  __device__ void load_in_steps(Index l0, int i, int l) const {
    constexpr int kSteps = kLines * kTile / kLineThreads;
    const auto until = [](Index first, Index end, int step) {
      if (first >= end) return 0;
      return step == 0 ? kSteps
                       : static_cast<int>(min((end - first + step - 1) / step, Index{kSteps}));
    };
    const int steps = min(until(first() + i, n, kNextLine), until(l0 + l, k, kNext));
    const double* source = from.data + (first() + i) * from.next_row + (l0 + l) * from.next_summand;
    const Index next = kNextLine * from.next_row + kNext * from.next_summand;
#pragma unroll 8
    for (int s = 0; s < kSteps; ++s, source += next) {
      const double x = s < steps ? *source * weights(l0 + l + s * kNext) : 0;
      numbers[place(i + s * kNextLine, l + s * kNext)] = x;
    }
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
__global__ void __launch_bounds__(kLineThreads, 4)
    residues_kernel(Rows from, Index n, Index k, const double* __restrict__ scales,
                    const double* __restrict__ before, std::int8_t* __restrict__ to, Index ld,
                    Index stride, double* __restrict__ squares, Index first_number,
                    long long* first_long) {
  constexpr double kUnit = 1LL << residues::kBits, kTooLarge = 256 * kUnit;
  __shared__ double numbers[kLines * kPitch];
  const Tile tile{numbers, from, {nullptr, 0}, n, k};
  const Index row = tile.row();
  const double units = row < n ? power_of_two(residues::kBits - exponent_of(scales[row])) : 0;
  double sum = 0;
  for (Index l0 = 0; l0 < k; l0 += kTile) {
    tile.load(l0);
    if (!tile.is_mine(l0)) continue;
    Digits digits[kChunk];
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      double x = tile.mine(i) * units;
      if (!(fabs(x) <= 2 * kUnit)) x = kTooLarge;
      sum = fma(x, x, sum);
      digits[i] = Digits(__double2ll_rn(x));
    }
    store_residues(digits, to + row * ld + l0 + Tile::chunk() * kChunk, stride);
  }
  sum = sum_of_line(sum) / (kUnit * kUnit);
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
__global__ void __launch_bounds__(kLineThreads, 4)
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

/// C := beta C - A B^T, and how it is stored.
struct Result {
  double* data;
  Index ld, rows, columns;
  double beta;

  __device__ void subtract(Index i, Index j, double v) const {
    double& c = data[i + j * ld];
    c = beta == 0 ? -v : beta * c - v;
  }
};

/// What the first long row has to do with C, if it is one of A or B: a warp for each element.
__device__ void subtract_long_row(const Factor& a, const Factor& b, Index long_row, Index k,
                                  const Result& c) {
  const Index row = long_row - a.first, column = long_row - b.first;
  const bool of_a = row >= 0 && row < c.rows, of_b = column >= 0 && column < c.columns;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index warps = static_cast<Index>(gridDim.x) * (kThreads / kWarp);
  const Index first = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / kWarp;
  const auto element = [&](Index i, Index j) {
    double v = 0;
#pragma unroll 1
    for (Index l = lane; l < k; l += kWarp) v = fma(a.rows(i, l), b.rows(j, l), v);
#pragma unroll
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) v += __shfl_xor_sync(kAllLanes, v, lanes);
    if (lane == 0) c.subtract(i, j, v);
  };
  for (Index j = first; of_a && j < c.columns; j += warps) element(row, j);
  for (Index i = first; of_b && i < c.rows; i += warps) {
    if (!of_a || i != row) element(i, column);
  }
}

/// `unit` is that of the scales' products. The last thread blocks (., y) are for the first long
/// row, if there may be one.
__global__ void __launch_bounds__(kThreads, 8)
    reconstruct_kernel(Factor a, Factor b, const Index* first_long, double unit, Index k,
                       const std::int32_t* __restrict__ sums, Index ld_sums, Index stride,
                       Result c) {
  const Index first = static_cast<Index>(blockIdx.y) * kColumns;
  const Index long_row = first_long == nullptr ? -1 : *first_long;
  if (first >= c.columns) {
    subtract_long_row(a, b, long_row, k, c);
    return;
  }
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= c.rows) return;
  const double scale = a.scales[i];
  const bool is_short = a.is_short(i), is_first_long = a.first + i == long_row;
#pragma unroll
  for (int q = 0; q < kColumns; ++q) {
    const Index j = first + q;
    if (j >= c.columns) return;
    if (is_first_long || b.first + j == long_row) continue;
    double v = CUDART_NAN;
    if (is_short && b.is_short(j)) {
      const std::int32_t* s = sums + i + j * ld_sums;
      std::uint64_t high = 0;
      std::int64_t low = 0;
#pragma unroll
      for (int l = 0; l < kModuli; ++l, s += stride) {
        const std::int64_t sum = *s;
        high += static_cast<std::uint64_t>(sum) * constants.modulus[l].weight.high;
        low += sum * constants.modulus[l].weight.low;
      }
      // The fractional part, between -1/2 and 1/2, in units of 2^-64.
      const auto part =
          static_cast<std::int64_t>(high + static_cast<std::uint64_t>(low >> residues::kLowBits));
      v = static_cast<double>(part) * (residues::kRange * 0x1p-64 * unit) * scale * b.scales[j];
    }
    c.subtract(i, j, v);
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
  if (!a.first_long.empty()) ++shape.blocks_y;
  launch(stream, shape, "residue_gemm", reconstruct_kernel, Factor(a), Factor(b), a.first_long.data,
         a.unit() * b.unit(), a.summands(), sums.data, sums.ld, stride,
         Result{c.data, c.ld, c.rows, c.cols, beta});
}

}  // namespace overlapack::cuda
