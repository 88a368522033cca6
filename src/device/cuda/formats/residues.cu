// Products in double precision by residues (device.hpp): numbers become small integers modulo each
// of fourteen numbers, tensor cores multiply these (residue_products.cu, or cuBLAS), and the sums
// become numbers again.
#include <math_constants.h>

#include <algorithm>

#include "device/cuda/formats/products.hpp"
#include "device/cuda/formats/residue.cuh"
#include "device/cuda/runtime/kernels.hpp"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

using residues::kModuli;

constexpr int kThreads = 256;

/// 2^exponent, within the normal range.
__device__ double power_of_two(int exponent) {
  return __hiloint2double((1023 + exponent) << 20, 0);
}
/// The exponent of a power of two.
__device__ int exponent_of(double power) { return (__double2hiint(power) >> 20) - 1023; }

template <class T>
constexpr int kParts = is_complex<T> ? 2 : 1;  // of a number: its real and its imaginary one

/// Rows of a matrix, side by side or one after the other, or one part of them.
struct Rows {
  const double* data;
  Index next_row, next_summand;
  double sign = 1;
  bool side_by_side;

  __device__ double operator()(Index i, Index l) const {
    return sign * data[i * next_row + l * next_summand];
  }
};

template <class T>
struct AllRows {
  Rows part[kParts<T>];

  explicit AllRows(const ResidueForm<T>& form) {
    const bool none = form.op == Op::none;
    constexpr Index kNext = kParts<T>;
    const Index ld = form.matrix.ld * kNext;
    for (int p = 0; p < kParts<T>; ++p) {
      part[p] = {reinterpret_cast<const double*>(form.matrix.data) + p, none ? kNext : ld,
                 none ? ld : kNext, p == 1 && !none ? -1. : 1., none};
    }
  }
};

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
  static __device__ Index row() { return first() + line(); }
  __device__ bool is_mine(Index l0) const { return row() < n && l0 + chunk() * kChunk < k; }
  __device__ double mine(int i) const { return numbers[place(line(), chunk() * kChunk + i)]; }

  /// Numbers l0 and following, and zeros where there are none. Everybody calls it.
  __device__ void load(Index l0) const {
    __syncthreads();  // the tile before has been read
    if (from.side_by_side) {
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
      const double x = s < steps ? from.sign * *source * weights(l0 + l + s * kNext) : 0;
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
    const Modulus& m = moduli.modulus[l];
    unsigned words[kChunk / 4];
#pragma unroll
    for (int w = 0; w < kChunk / 4; ++w) {
      words[w] = last_bytes(residue(digits[4 * w], m), residue(digits[4 * w + 1], m),
                            residue(digits[4 * w + 2], m), residue(digits[4 * w + 3], m));
    }
    *reinterpret_cast<uint4*>(target) = {words[0], words[1], words[2], words[3]};
  }
}

/// The residues of numbers in all planes, from those of their parts.
template <class T>
__device__ void store_planes(Digits (&digits)[kParts<T>][kChunk], std::int8_t* target, Index stride,
                             Index next_plane) {
  store_residues(digits[0], target, stride);
  if constexpr (is_complex<T>) {
    store_residues(digits[1], target + next_plane, stride);
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      const long long re = digits[0][i].number(), im = digits[1][i].number();
      digits[0][i] = Digits(re + im);
      digits[1][i] = Digits(re - im);
    }
    store_residues(digits[0], target + 2 * next_plane, stride);
    store_residues(digits[1], target + 3 * next_plane, stride);
  }
}

/// Residues by scales that are given, in planes that are `next_plane` apart. What is far too large
/// for them, or no number, counts as kTooLarge among the squares.
template <class T>
__global__ void __launch_bounds__(kLineThreads, is_complex<T> ? 2 : 4)
    residues_kernel(AllRows<T> from, Index n, Index k, const double* __restrict__ scales,
                    const double* __restrict__ before, std::int8_t* __restrict__ to, Index ld,
                    Index stride, Index next_plane, double* __restrict__ squares,
                    Index first_number, long long* first_long) {
  constexpr double kUnit = 1LL << residues::kBits, kTooLarge = 256 * kUnit;
  __shared__ double numbers[kLines * kPitch];
  const Index row = Tile::row();
  const double units = row < n ? power_of_two(residues::kBits - exponent_of(scales[row])) : 0;
  double sum = 0;
  for (Index l0 = 0; l0 < k; l0 += kTile) {
    Digits digits[kParts<T>][kChunk];
#pragma unroll
    for (int part = 0; part < kParts<T>; ++part) {
      const Tile tile{numbers, from.part[part], {nullptr, 0}, n, k};
      tile.load(l0);
      if (!tile.is_mine(l0)) continue;
#pragma unroll
      for (int i = 0; i < kChunk; ++i) {
        const double y = tile.mine(i) * units;
        const bool too_large = !(fabs(y) <= 2 * kUnit);
        sum = fma(too_large ? kTooLarge : y, too_large ? kTooLarge : y, sum);
        digits[part][i] = Digits(too_large ? 0 : __double2ll_rn(y));
      }
    }
    const Index l = l0 + Tile::chunk() * kChunk;
    if (row >= n || l >= k) continue;
    store_planes<T>(digits, to + row * ld + l, stride, next_plane);
  }
  sum = sum_of_line(sum) / (kUnit * kUnit);
  if (Tile::chunk() == 0 && row < n) {
    sum += before == nullptr ? 0 : before[row];
    squares[row] = sum;
    if (!(sum <= residues::kMaxSquares)) atomicMin(first_long, first_number + row);
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
    int exponent = size + 1 + root_of_count;
    if (abs(size) < kSquares) {
      exponent = exponent_of(sum) >> 1;  // the norm is between 1 and 2 times this power
      if (sum * power_of_two(-2 * exponent) > residues::kMaxSquares) ++exponent;
    }
    return size == kNone
               ? CUDART_NAN
               : power_of_two(max(exponent - residues::kSpareBits, residues::kSmallestScale));
  }
};

constexpr int kScaleThreads = 512;

/// Scales of rows of which nothing is known. Threads that follow each other read what lies side by
/// side, be it rows or summands.
template <class T>
__global__ void __launch_bounds__(kScaleThreads)
    scales_kernel(AllRows<T> from, Index n, Index k, Weights weights, int root_of_k,
                  double* __restrict__ scales) {
  __shared__ Size sizes[kScaleThreads];
  const int thread = static_cast<int>(threadIdx.x), next = thread % kWarp, other = thread / kWarp;
  const bool across = from.part[0].side_by_side;
  const int line = across ? next : other, lines = across ? kWarp : kScaleThreads / kWarp;
  const int sharers = kScaleThreads / lines;
  const Index row = static_cast<Index>(blockIdx.x) * lines + line;
  Size size = {0, 0};
  if (row < n) {
#pragma unroll 8
    for (Index l = across ? other : next; l < k; l += sharers) {
      const double weight = weights(l);
#pragma unroll
      for (const Rows& part : from.part) size.add(part(row, l) * weight);
    }
  }
  sizes[thread] = size;
  __syncthreads();
  if (row >= n || (across ? other : next) != 0) return;
  for (int s = 1; s < sharers; ++s) size.add(sizes[across ? line + s * lines : thread + s]);
  scales[row] = size.scale(root_of_k);
}

/// Residues by scales that have been found. Thread blocks (., p) take part p of the summands.
template <class T>
__global__ void __launch_bounds__(kLineThreads, is_complex<T> ? 2 : 4)
    scaled_residues_kernel(AllRows<T> from, Index n, Index k, Index part_of_k, Weights weights,
                           const double* __restrict__ scales, std::int8_t* __restrict__ to,
                           Index ld, Index stride, Index next_plane) {
  __shared__ double numbers[kLines * kPitch];
  const Index row = Tile::row();
  // Twice a power of two, since one alone might overflow.
  const int exponent = row < n ? exponent_of(scales[row]) + residues::kSpareBits : 0;
  const int shift = residues::kBits - exponent, half = shift / 2;
  const Index begin = blockIdx.y * part_of_k, end = min(begin + part_of_k, k);
  for (Index l0 = begin; l0 < end; l0 += kTile) {
    Digits digits[kParts<T>][kChunk];
#pragma unroll
    for (int part = 0; part < kParts<T>; ++part) {
      const Tile tile{numbers, from.part[part], weights, n, k};
      tile.load(l0);
      if (!tile.is_mine(l0)) continue;
#pragma unroll
      for (int i = 0; i < kChunk; ++i) {
        digits[part][i] =
            Digits(__double2ll_rn(tile.mine(i) * power_of_two(half) * power_of_two(shift - half)));
      }
    }
    const Index l = l0 + Tile::chunk() * kChunk;
    if (row < n && l < k) store_planes<T>(digits, to + row * ld + l, stride, next_plane);
  }
}

// ---- from residues ----

constexpr int kElements = 4;  // of C that a thread finds

/// A factor but for its residues. Where scales have been found for the rows, all of them are short,
/// and there are no squares.
template <class T>
struct Factor {
  AllRows<T> rows;
  const double *scales, *squares;
  Index first;

  explicit Factor(const ResidueForm<T>& form)
      : rows(form), scales(form.scales.data), squares(form.squares.data), first(form.first) {}
  __device__ bool is_short(Index i) const {
    return squares == nullptr || squares[i] <= residues::kMaxSquares;
  }
};

/// C := beta C - A B^H, and how it is stored. (Nobody needs a beta that is not real.)
template <class T>
struct Result {
  double* data;
  Index ld, rows, columns;
  double beta;

  Result(DeviceView<T> c, T factor)
      : data(reinterpret_cast<double*>(c.data)),
        ld(c.ld),
        rows(c.rows),
        columns(c.cols),
        beta(real(factor)) {}
  __device__ void subtract(Index i, Index j, const double (&v)[kParts<T>]) const {
    double* const c = data + (i + j * ld) * kParts<T>;
#pragma unroll
    for (int part = 0; part < kParts<T>; ++part) {
      c[part] = beta == 0 ? -v[part] : beta * c[part] - v[part];
    }
  }
};

/// What the first long row has to do with C, if it is one of A or B: a warp for each element.
/// Thread blocks from `first_block` on do that.
template <class T>
__device__ void subtract_long_row(const Factor<T>& a, const Factor<T>& b, Index long_row, Index k,
                                  const Result<T>& c, unsigned first_block) {
  const Index row = long_row - a.first, column = long_row - b.first;
  const bool of_a = row >= 0 && row < c.rows, of_b = column >= 0 && column < c.columns;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index warps = static_cast<Index>(gridDim.x - first_block) * (kThreads / kWarp);
  const Index first =
      (static_cast<Index>(blockIdx.x - first_block) * kThreads + threadIdx.x) / kWarp;
  const auto element = [&](Index i, Index j) {
    double v[kParts<T>] = {};
#pragma unroll 1
    for (Index l = lane; l < k; l += kWarp) {
#pragma unroll
      for (int part = 0; part < kParts<T>; ++part) {  // of A
        const double x = a.rows.part[part](i, l);
        v[0] = fma(x, b.rows.part[part](j, l), v[0]);
        if constexpr (is_complex<T>) {
          v[1] = fma(part == 1 ? x : -x, b.rows.part[1 - part](j, l), v[1]);
        }
      }
    }
#pragma unroll
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
      for (double& x : v) x += __shfl_xor_sync(kAllLanes, x, lanes);
    }
    if (lane == 0) c.subtract(i, j, v);
  };
  for (Index j = first; of_a && j < c.columns; j += warps) element(row, j);
  for (Index i = first; of_b && i < c.rows; i += warps) {
    if (!of_a || i != row) element(i, column);
  }
}

/// Sums for each modulus, of real numbers: a thread has those of a row in kElements columns.
struct Sums {
  const std::int32_t* data;
  Index ld, stride;
  unsigned blocks_of_rows;

  Sums(DeviceView<const std::int32_t> sums, Index next_modulus, const Result<double>& c)
      : data(sums.data),
        ld(sums.ld),
        stride(next_modulus),
        blocks_of_rows(static_cast<unsigned>(quotient_up(c.rows, kThreads))) {}
  unsigned blocks(const Result<double>& c) const {
    return blocks_of_rows * static_cast<unsigned>(quotient_up(c.columns, kElements));
  }

  __device__ Index row(int) const {
    return static_cast<Index>(blockIdx.x % blocks_of_rows) * kThreads + threadIdx.x;
  }
  __device__ Index column(int element) const {
    return static_cast<Index>(blockIdx.x / blocks_of_rows) * kElements + element;
  }
  __device__ void load(int modulus, int (&sums)[1][kElements]) const {
    const std::int32_t* const from = data + modulus * stride + row(0) + column(0) * ld;
#pragma unroll
    for (int e = 0; e < kElements; ++e) sums[0][e] = from[e * ld];
  }
};

/// Their remainders (RemainderTile): a thread has those in a word of each product.
template <class T>
struct Remainders {
  const std::int32_t* data;
  unsigned tiles_of_columns, tiles;

  Remainders(const std::int32_t* remainders, const Result<T>& c)
      : data(remainders),
        tiles_of_columns(static_cast<unsigned>(quotient_up(c.columns, RemainderTile::kColumns))),
        tiles(tiles_of_columns * static_cast<unsigned>(quotient_up(c.rows, RemainderTile::kRows))) {
  }
  unsigned blocks(const Result<T>&) const { return tiles * kBlocks; }

  __device__ Index row(int element) const {
    return static_cast<Index>(tile() / tiles_of_columns) * RemainderTile::kRows +
           RemainderTile::row(word()) + element % 2;
  }
  __device__ Index column(int element) const {
    return static_cast<Index>(tile() % tiles_of_columns) * RemainderTile::kColumns +
           RemainderTile::column(word()) + element / 2 * 8;
  }
  /// For a complex number, those of its real part and those of its imaginary part.
  __device__ void load(int modulus, int (&remainders)[kParts<T>][kElements]) const {
    constexpr int kProducts = ResidueForm<T>::kProducts;
    const Index number = (static_cast<Index>(modulus) * tiles + tile()) * kProducts;
    int of_product[kProducts][kElements];
#pragma unroll
    for (int product = 0; product < kProducts; ++product) {
      const int bytes = data[(number + product) * RemainderTile::kWords + word()];
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        of_product[product][e] = static_cast<std::int8_t>(bytes >> (8 * e));
      }
    }
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      remainders[0][e] = of_product[0][e];
      if constexpr (is_complex<T>) {
        remainders[0][e] += of_product[1][e];
        remainders[1][e] = of_product[2][e] - of_product[0][e] + of_product[1][e];
      }
    }
  }

 private:
  static constexpr unsigned kBlocks = RemainderTile::kWords / kThreads;  // of a tile
  static __device__ unsigned tile() { return blockIdx.x / kBlocks; }
  static __device__ int word() {
    return static_cast<int>(blockIdx.x % kBlocks * kThreads + threadIdx.x);
  }
};

/// What the sums or remainders of a thread stand for, as multiples of P.
template <class Source, int kParts>
__device__ void fractions(const Source& source, double (&x)[kParts][kElements]) {
  std::uint64_t high[kParts][kElements] = {};
  std::int64_t low[kParts][kElements] = {};
#pragma unroll
  for (int l = 0; l < kModuli; ++l) {
    int s[kParts][kElements];
    source.load(l, s);
    const residues::Weight& weight = moduli.modulus[l].weight;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        high[part][e] += static_cast<std::uint64_t>(std::int64_t{s[part][e]}) * weight.high;
        low[part][e] += s[part][e] * weight.low;
      }
    }
  }
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      // The fractional part, between -1/2 and 1/2, in units of 2^-64.
      const auto fraction = static_cast<std::int64_t>(
          high[part][e] + static_cast<std::uint64_t>(low[part][e] >> residues::kLowBits));
      x[part][e] = static_cast<double>(fraction) * 0x1p-64;
    }
  }
}

/// `unit` is that of the scales' products. Thread blocks from `blocks` on are for the first long
/// row, if there may be one.
template <class T, class Source>
__global__ void __launch_bounds__(kThreads, is_complex<T> ? 4 : 6)
    reconstruct_kernel(Factor<T> a, Factor<T> b, const Index* first_long, double unit, Index k,
                       Source source, unsigned blocks, Result<T> c) {
  const Index long_row = first_long == nullptr ? -1 : *first_long;
  if (blockIdx.x >= blocks) {
    subtract_long_row(a, b, long_row, k, c, blocks);
    return;
  }
  if (source.row(0) >= c.rows || source.column(0) >= c.columns) return;
  double x[kParts<T>][kElements];
  fractions(source, x);
#pragma unroll
  for (int e = 0; e < kElements; ++e) {
    const Index i = source.row(e), j = source.column(e);
    if (i >= c.rows || j >= c.columns) continue;
    if (a.first + i == long_row || b.first + j == long_row) continue;
    const bool is_short = a.is_short(i) && b.is_short(j);
    // The smaller scale first: a sum times the larger one may overflow. A NaN remains one.
    const bool in_order = a.scales[i] < b.scales[j];
    const double first = in_order ? a.scales[i] : b.scales[j];
    const double second = in_order ? b.scales[j] : a.scales[i];
    double v[kParts<T>];
#pragma unroll
    for (int part = 0; part < kParts<T>; ++part) {
      v[part] = is_short ? x[part][e] * residues::kRange * (unit * first) * second : CUDART_NAN;
    }
    c.subtract(i, j, v);
  }
}

template <class T, class Source>
void reconstruct(cudaStream_t stream, const ResidueForm<T>& a, const ResidueForm<T>& b,
                 const Source& source, const Result<T>& c) {
  LaunchShape shape;
  shape.threads = kThreads;
  const unsigned blocks = shape.blocks = source.blocks(c);
  if (!a.first_long.empty()) {
    shape.blocks += static_cast<unsigned>(quotient_up(std::max(c.rows, c.columns), kThreads));
  }
  launch_kernel(stream, shape, "residue_gemm", reconstruct_kernel<T, Source>, Factor<T>(a),
                Factor<T>(b), a.first_long.data, a.unit() * b.unit(), a.summands(), source, blocks,
                c);
}

template <class T>
void enqueue(CudaQueue& queue, const FindResidues<T>& op) {
  const ResidueForm<T>& of = op.of;
  LaunchShape shape;
  shape.threads = kLineThreads;
  shape.blocks = static_cast<unsigned>(quotient_up(of.rows(), kLines));
  launch_kernel(queue.stream(), shape, op.kName, residues_kernel<T>, AllRows<T>(of), of.rows(),
                of.summands(), of.scales.data, op.before.data, of.numbers.data, of.numbers.ld,
                of.stride, of.next_plane, of.squares.data, of.first,
                reinterpret_cast<long long*>(of.first_long.data));
}

template <class T>
void enqueue(CudaQueue& queue, const FindScaledResidues<T>& op) {
  constexpr Index kPart = 4 * kTile;  // so that few rows occupy the device, too
  const ResidueForm<T>& of = op.of;
  const Weights weights{op.sizes.empty() ? nullptr : op.sizes.data,
                        op.weigh == Weigh::divide ? -1 : 1};
  const AllRows<T> from(of);
  LaunchShape shape;
  shape.threads = kScaleThreads;
  shape.blocks = static_cast<unsigned>(
      quotient_up(of.rows(), Index{from.part[0].side_by_side ? kWarp : kScaleThreads / kWarp}));
  launch_kernel(queue.stream(), shape, op.kName, scales_kernel<T>, from, of.rows(), of.summands(),
                weights, residues::log2_of_root(kParts<T> * of.summands()), of.scales.data);
  shape.threads = kLineThreads;
  shape.blocks = static_cast<unsigned>(quotient_up(of.rows(), kLines));
  shape.blocks_y = static_cast<unsigned>(quotient_up(of.summands(), kPart));
  launch_kernel(queue.stream(), shape, op.kName, scaled_residues_kernel<T>, from, of.rows(),
                of.summands(), kPart, weights, of.scales.data, of.numbers.data, of.numbers.ld,
                of.stride, of.next_plane);
}

}  // namespace

Index words_of_remainders(Index rows, Index columns) {
  return quotient_up(rows, RemainderTile::kRows) * quotient_up(columns, RemainderTile::kColumns) *
         RemainderTile::kWords * kModuli;
}

template <class T>
void from_remainders(cudaStream_t stream, const ResidueForm<T>& a, const ResidueForm<T>& b,
                     const std::int32_t* remainders, T beta, DeviceView<T> c) {
  const Result<T> result(c, beta);
  reconstruct(stream, a, b, Remainders<T>(remainders, result), result);
}

void from_sums(cudaStream_t stream, const ResidueForm<double>& a, const ResidueForm<double>& b,
               DeviceView<const std::int32_t> sums, Index stride, double beta,
               DeviceView<double> c) {
  const Result<double> result(c, beta);
  reconstruct(stream, a, b, Sums(sums, stride, result), result);
}

#define OVERLAPACK_INSTANTIATE(T)                                                           \
  template void from_remainders(cudaStream_t, const ResidueForm<T>&, const ResidueForm<T>&, \
                                const std::int32_t*, T, DeviceView<T>);                     \
  OVERLAPACK_LAUNCH(FindResidues<T>) OVERLAPACK_LAUNCH(FindScaledResidues<T>)
OVERLAPACK_INSTANTIATE(double)
OVERLAPACK_INSTANTIATE(std::complex<double>)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
