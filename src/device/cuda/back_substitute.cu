// Back substitution L^H X = Y with a Cholesky factor for a few right-hand sides, in one launch:
// from the last block to the first,
//
//   X(b) = L(b, b)^-H (Y(b) - sum over j > b of L(j, b)^H X(j)).
//
// A thread block has one block b and 8 or 16 right-hand sides, and each of its warps 16 rows of the
// block. As soon as some X(j) is there, as a message (message.cuh), everybody who waits for it
// subtracts his share. What counts is the chain from one block to the next: a message, two small
// products and another message. So what does not depend on the message is there before it comes:
// L(j, b) in registers, where each tile makes room for the one of the next message as soon as it
// has been used, and the inverse in shared memory.
//
// Thread blocks start in the order of their numbers, and each waits for earlier ones only.
//
// All precisions compute in double.
#include "device/cuda/arithmetic.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/cuda/message.cuh"
#include "device/cuda/tile.cuh"
#include "device/cuda/trapezoid.cuh"

namespace overlapack::cuda {
namespace {

template <class T>
using DoubleScalar = typename DoubleOf<T>::type;

constexpr int kHalf = kTile / 2;  // right-hand sides that a tensor core takes at a time

template <class E>
constexpr int kOrder = kTiles<E>* kTile;  // of a block at most
template <class E>
constexpr int kThreads = kTiles<E>* kWarp;
/// Pairs of real numbers in a column of a block.
template <class E>
constexpr int kPairs = kOrder<E>* static_cast<int>(sizeof(E)) / static_cast<int>(sizeof(double2));
static_assert(2 * kPairs<double> == kBackSubstitutionNumbers &&
              2 * kPairs<Complex<double>> == kBackSubstitutionNumbers);

/// The problem: L of order n, in blocks of `order`; X, which replaces Y.
template <class T>
struct BackSubstitution {
  Index n;
  Index order;
  Trapezoid<const T> l;
  const T* inverses;  // of the blocks, side by side
  Index inverses_ld;
  T* x;
  Index ld;
  Index columns;      // right-hand sides
  double2* messages;  // empty at first
  Index blocks, chunks;

  __device__ int rows(Index block) const { return static_cast<int>(min(order, n - block * order)); }
  /// Where -X(block)^H arrives, column by column of X, from right-hand side `column` on.
  __device__ double2* message(Index block, Index column) const {
    return messages + (block * columns + column) * kPairs<DoubleScalar<T>>;
  }
};

/// A block of X for kColumns right-hand sides. The padding avoids bank conflicts.
template <class E, int kColumns>
struct alignas(16) Columns {
  static constexpr int kStride = kOrder<E> + 4;
  E column[kColumns][kStride];

  __device__ double2* pairs(int c) { return reinterpret_cast<double2*>(column[c]); }
};

template <class E, int kColumns>
struct Shared {
  Tile<E> inverse[kTiles<E> * (kTiles<E> + 1) / 2];  // of L(b, b)^-H, see inverse_tile()
  Columns<E, kColumns> x[2];                         // -X(j)^H for odd and even j
  Columns<E, kColumns> y;                            // Y(b)^H, what is left of it

  /// Tile (w, k), k >= w.
  __device__ Tile<E>& inverse_tile(int w, int k) { return inverse[k * (k + 1) / 2 + w]; }
};

/// Which summand of a product of tiles element (j, e) of a lane belongs to. Any order will do that
/// is the same for both factors; with this one four lanes together read consecutive numbers.
__device__ inline int summand(int lane, int j, int e) { return 8 * j + 4 * e + lane % 4; }

/// One lane's share of a tile that is the left factor of a product, as it is in memory: what is not
/// converted yet need not have arrived.
template <class T>
struct Loaded {
  T value[2][2][2];  // h, j, e

  template <class E>
  __device__ Fragment<E> widened(bool conjugated) const {
    Fragment<E> x;
    for_each_element([&](int h, int j, int e) {
      E element;
      convert(element, conjugated ? conjugate(value[h][j][e]) : value[h][j][e]);
      x.set(h, j, e, element);
    });
    return x;
  }
};

/// Reads tiles (w, 0), (w, 1), ... of the transpose of a block, in this order, so that the next
/// element is but an addition away.
template <class T>
class TileReader {
 public:
  /// Element (q, c) of the block is at block[q * row_stride + c * column_stride].
  __device__ TileReader(const T* block, Index row_stride, Index column_stride, int rows,
                        int columns, int w, int lane) {
    const int c = w * kTile + fragment_row(lane, 0), q = summand(lane, 0, 0);
    from_ = block + q * row_stride + c * column_stride;
    down_ = summand(0, 0, 1) * row_stride;
    right_ = fragment_row(0, 1) * column_stride;
    rows_ = rows - q;
    columns_ = columns - c;
  }
  /// Tile (w, k).
  __device__ void next(Loaded<T>& tile, int k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int j = i / 2, e = i % 2;
      const bool there = k * kTile + summand(0, j, e) < rows_;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        tile.value[h][j][e] =
            there && fragment_row(0, h) < columns_ ? from_[h * right_] : from_real<T>(0);
      }
      from_ += down_;
    }
  }

 private:
  const T* from_;
  Index down_, right_;
  int rows_, columns_;  // from here on
};

/// Tile k of X^H or Y^H as the right factor of a product.
template <int kHalves, class E>
__device__ Fragment<E> load_right_factor(const Columns<E, kHalves * kHalf>& from, int k, int lane) {
  Fragment<E> x;
  for_each_element([&](int h, int j, int e) {
    if (h >= kHalves) return;
    x.set(h, j, e, from.column[fragment_row(lane, h)][k * kTile + summand(lane, j, e)]);
  });
  return x;
}

/// D += A B^H, of which only the first kHalves halves of the columns count.
template <int kHalves>
__device__ void multiply_add_halves(Fragment<double>& d, const Fragment<double>& a,
                                    const Fragment<double>& b) {
#pragma unroll
  for (int n = 0; n < kHalves; ++n) multiply_add_half<2>(n, d, a, b, d);
}
template <int kHalves>
__device__ void multiply_add_halves(Fragment<Complex<double>>& d,
                                    const Fragment<Complex<double>>& a,
                                    const Fragment<Complex<double>>& b) {
  multiply_add_halves<kHalves>(d.re, a.re, b.re);
  multiply_add_halves<kHalves>(d.im, a.im, b.re);
  multiply_add_halves<kHalves>(d.re, a.im, b.im);
  multiply_add_halves<kHalves>(d.im, a.re, negated(b.im));
}

/// Sends element i of a column.
__device__ inline void send(double2* column, int i, double x) {
  store(&column[i / 2].x + i % 2, x);
}
__device__ inline void send(double2* column, int i, Complex<double> x) {
  store(&column[i].x, x.re);
  store(&column[i].y, x.im);
}

/// Waits for `count` columns and puts them into `to`; the other columns become zero.
template <class E, int kColumns>
__device__ void receive(Columns<E, kColumns>& to, const double2* message, int count, bool near) {
  constexpr int kShare = kColumns * kPairs<E> / kThreads<E>;
  double2 pair[kShare];
  bool complete = false;
  while (!complete) {
    complete = true;
#pragma unroll
    for (int s = 0; s < kShare; ++s) {
      const int i = s * kThreads<E> + static_cast<int>(threadIdx.x);
      pair[s] = i < count * kPairs<E> ? load(message + i) : make_double2(0, 0);
    }
#pragma unroll
    for (int s = 0; s < kShare; ++s) complete = complete && arrived(pair[s]);
    if (!complete && !near) leave_memory_to_others();
  }
#pragma unroll
  for (int s = 0; s < kShare; ++s) {
    const int i = s * kThreads<E> + static_cast<int>(threadIdx.x);
    to.pairs(i / kPairs<E>)[i % kPairs<E>] = pair[s];
  }
}

template <class T, int kHalves>
__global__ void __launch_bounds__(kThreads<DoubleScalar<T>>, 1)
    back_substitution_kernel(BackSubstitution<T> p) {
  using E = DoubleScalar<T>;
  constexpr int kCount = kTiles<E>, kColumns = kHalves * kHalf;
  constexpr int kNear = 3;  // blocks
  extern __shared__ double2 memory[];
  auto& shared = *reinterpret_cast<Shared<E, kColumns>*>(memory);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  // The tile of the warp, which has kCount - w tiles of the inverse. Warps i and i + 4 share a
  // tensor core, so they should not both have many.
  const int w = warp < kCount / 2 ? warp : kCount + kCount / 2 - 1 - warp;
  const Index b = p.blocks - 1 - blockIdx.x / p.chunks, column = blockIdx.x % p.chunks * kColumns;
  const int count = static_cast<int>(min(p.columns - column, Index{kColumns}));
  const int rows = p.rows(b);
  T* const mine = p.x + b * p.order + column * p.ld;

  Loaded<T> l[kCount];  // column w of tiles of L(j, b), transposed; of the inverse at first
  TileReader<T> inverse(p.inverses + b * p.order * p.inverses_ld, 1, p.inverses_ld, rows, rows, w,
                        lane);
#pragma unroll
  for (int k = 0; k < kCount; ++k) inverse.next(l[k], k);
  Fragment<E> y = zero_fragment<E>();
  for_each_element([&](int h, int n, int e) {
    const int i = w * kTile + fragment_row(lane, h), c = fragment_column(lane, n, e);
    if (n >= kHalves || i >= rows || c >= count) return;
    E value;
    convert(value, mine[i + c * p.ld]);
    y.set(h, n, e, value);
  });
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    if (k >= w) shared.inverse_tile(w, k).store(lane, l[k].template widened<E>(true));
  }

  const auto read = [&](Index j) {  // L(j, b)
    return TileReader<T>(p.l.at(j * p.order, b * p.order), p.l.row_stride, p.l.column_stride,
                         p.rows(j), rows, w, lane);
  };
  if (b < p.blocks - 1) {
    TileReader<T> below = read(p.blocks - 1);
#pragma unroll
    for (int k = 0; k < kCount; ++k) below.next(l[k], k);
  }
#pragma unroll 1
  for (Index j = p.blocks - 1; j > b; --j) {
    TileReader<T> below = read(j - 1);
    auto& x = shared.x[j % 2];
    receive(x, p.message(j, column), count, j - b <= kNear);
    __syncthreads();  // and nobody needs the x before the last one
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      multiply_add_halves<kHalves>(y, l[k].template widened<E>(!p.l.mirrored),
                                   load_right_factor<kHalves>(x, k, lane));
      if (j - 1 > b) below.next(l[k], k);
    }
  }

  for_each_element([&](int h, int n, int e) {
    if (n >= kHalves) return;
    shared.y.column[fragment_column(lane, n, e)][w * kTile + fragment_row(lane, h)] =
        conjugate(y.get(h, n, e));
  });
  __syncthreads();
  Fragment<E> x = zero_fragment<E>();
#pragma unroll 1
  for (int k = w; k < kCount; ++k) {
    multiply_add_halves<kHalves>(x, shared.inverse_tile(w, k).load_left_operand(lane),
                                 load_right_factor<kHalves>(shared.y, k, lane));
  }
  for_each_element([&](int h, int n, int e) {
    const int i = w * kTile + fragment_row(lane, h), c = fragment_column(lane, n, e);
    if (n >= kHalves || c >= count || b == 0) return;
    send(p.message(b, column + c), i, negate(conjugate(x.get(h, n, e))));
  });
  for_each_element([&](int h, int n, int e) {
    const int i = w * kTile + fragment_row(lane, h), c = fragment_column(lane, n, e);
    if (n < kHalves && i < rows && c < count) convert(mine[i + c * p.ld], x.get(h, n, e));
  });
}

template <int kHalves, class T>
void launch_for(cudaStream_t stream, BackSubstitution<T> problem) {
  using E = DoubleScalar<T>;
  constexpr int kColumns = kHalves * kHalf;
  problem.chunks = (problem.columns + kColumns - 1) / kColumns;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(problem.blocks * problem.chunks);
  shape.threads = kThreads<E>;
  shape.shared_bytes = sizeof(Shared<E, kColumns>);
  launch(stream, shape, "back substitution", back_substitution_kernel<T, kHalves>, problem);
}

}  // namespace

template <class T>
void back_substitute(cudaStream_t stream, Uplo uplo, DeviceView<const T> factor,
                     DeviceView<const T> inverses, DeviceView<T> x, DeviceView<Index> progress) {
  using D = typename DeviceScalar<T>::type;
  const Index n = factor.rows, order = inverses.rows, blocks = (n + order - 1) / order;
  const auto numbers = static_cast<std::size_t>(blocks * x.cols * kBackSubstitutionNumbers);
  check(cudaMemsetAsync(progress.data, kEmptyByte, sizeof(double) * numbers, stream),
        "back substitution");
  const BackSubstitution<D> problem{n,
                                    order,
                                    {device_cast(factor.data), factor.ld, uplo == Uplo::upper},
                                    device_cast(inverses.data),
                                    inverses.ld,
                                    device_cast(x.data),
                                    x.ld,
                                    x.cols,
                                    reinterpret_cast<double2*>(progress.data),
                                    blocks,
                                    0};
  // Few right-hand sides at a time make the chain faster; but for each chunk of them all of L is
  // read again.
  if (x.cols <= kHalf) {
    launch_for<1>(stream, problem);
  } else {
    launch_for<2>(stream, problem);
  }
}

#define OVERLAPACK_INSTANTIATE(T)                                                             \
  template void back_substitute(cudaStream_t, Uplo, DeviceView<const T>, DeviceView<const T>, \
                                DeviceView<T>, DeviceView<Index>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
