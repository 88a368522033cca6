// Back substitution L^H X = Y with a Cholesky factor for a few right-hand sides, in one launch.
//
// With the rows x of X^H it is x L = y: from the last block to the first,
//
//   x(b) = (y(b) - sum over j > b of x(j) L(j, b)) L(b, b)^-1.
//
// A thread block has one block b and 16 right-hand sides, and each of its warps 16 columns of b. As
// soon as some x(j) is in global memory, a flag there says so, and everybody who waits subtracts
// its share; of L(j, b), which does not depend on it, he has a part in registers by then. So the
// chain from one block to the next is a message, two small products and another message, where two
// calls of gemm would take five times as long.
//
// Thread blocks start in the order of their numbers, and each waits for earlier ones only.
//
// All precisions compute in double.
#include "device/cuda/arithmetic.cuh"
#include "device/cuda/gate.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.cuh"
#include "device/cuda/tile.cuh"
#include "device/cuda/trapezoid.cuh"

namespace overlapack::cuda {
namespace {

template <class E>
struct Shared {
  Tile<E> inverse[kTiles<E>]
                 [kTiles<E>];  // [k][w]: the adjoint of tile (k, w) of L(b, b)^-1, k >= w
  Tile<E> x[kTiles<E>];        // of block j
  Tile<E> y[kTiles<E>];        // of block b, what is left of it
};

/// The problem: L of order n, in blocks of `order`; X, which replaces Y.
template <class T>
struct BackSubstitution {
  Index n;
  Index order;
  Trapezoid<const T> l;
  const T* inverses;  // of the blocks, side by side
  Index inverses_ld;
  Index count;      // right-hand sides
  Trapezoid<T> x;   // rows are right-hand sides
  Index* progress;  // 1 if the x of a block is there, by thread block
  Index blocks, chunks;

  /// The thread block of a block and 16 right-hand sides; from the last block to the first.
  __device__ Index thread_block(Index block, Index chunk) const {
    return (blocks - 1 - block) * chunks + chunk;
  }
};

/// The tile with element (r, c) = at(r, c) where `there`, else zero.
template <class E, class There, class At>
__device__ Fragment<E> load_fragment(int lane, There there, At at) {
  Fragment<E> x;
  for_each_element([&](int h, int j, int e) {
    const int r = fragment_row(lane, h), c = fragment_column(lane, j, e);
    x.set(h, j, e, there(r, c) ? at(r, c) : from_real<E>(0));
  });
  return x;
}

template <class E, class T>
__device__ E widened(T x, bool conjugated) {
  E y;
  convert(y, conjugated ? conjugate(x) : x);
  return y;
}

/// Tile k of x: rows from `row`, columns of block j.
template <class E, class T>
__device__ Fragment<E> load_x(const BackSubstitution<T>& p, Index row, Index j, int k, int lane) {
  const Index column = j * p.order + k * kTile;
  return load_fragment<E>(
      lane,
      [&](int r, int c) {
        return row + r < p.count && k * kTile + c < p.order && column + c < p.n;
      },
      [&](int r, int c) { return widened<E>(*p.x.at(row + r, column + c), p.x.mirrored); });
}

/// The adjoint of tile (k, w) of L(j, b), j > b.
template <class E, class T>
__device__ Fragment<E> load_adjoint(const BackSubstitution<T>& p, Index j, Index b, int k, int w,
                                    int lane) {
  const Index row = j * p.order + k * kTile, column = b * p.order + w * kTile;
  return load_fragment<E>(
      lane,
      [&](int c, int q) {
        return w * kTile + c < p.order && k * kTile + q < p.order && row + q < p.n;
      },
      [&](int c, int q) { return widened<E>(*p.l.at(row + q, column + c), !p.l.mirrored); });
}

template <class T>
__global__ void __launch_bounds__(kTiles<typename DoubleOf<T>::type>* kWarp)
    back_substitution_kernel(BackSubstitution<T> p) {
  using E = typename DoubleOf<T>::type;
  constexpr int kCount = kTiles<E>;
  extern __shared__ double2 memory[];
  Shared<E>& shared = *reinterpret_cast<Shared<E>*>(memory);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int w = static_cast<int>(threadIdx.x) / kWarp;
  const Index b = p.blocks - 1 - blockIdx.x / p.chunks, chunk = blockIdx.x % p.chunks;
  const Index row = chunk * kTile, first = b * p.order;

  Fragment<E> y = load_x<E>(p, row, b, w, lane);
#pragma unroll 1
  for (int k = w; k < kCount; ++k) {
    shared.inverse[k][w].store(
        lane, load_fragment<E>(
                  lane,
                  [&](int c, int q) {
                    return k * kTile + q < p.order && w * kTile + c < p.order &&
                           first + k * kTile + q < p.n && first + w * kTile + c < p.n;
                  },
                  [&](int c, int q) {
                    const Index column = first + w * kTile + c;
                    return widened<E>(p.inverses[k * kTile + q + column * p.inverses_ld], true);
                  }));
  }

#pragma unroll 1
  for (Index j = p.blocks - 1; j > b; --j) {
    Fragment<E> l[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) l[k] = load_adjoint<E>(p, j, b, k, w, lane);
    if (lane == 0) wait_for(p.progress + p.thread_block(j, chunk));
    __syncthreads();  // the flag, and nobody needs the x before
    shared.x[w].store(lane, negated(load_x<E>(p, row, j, w, lane)));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      multiply_add(y, shared.x[k].load_left_operand(lane), l[k], y);
    }
  }
  shared.y[w].store(lane, y);
  __syncthreads();
  Fragment<E> x = zero_fragment<E>();
  for (int k = w; k < kCount; ++k) {
    multiply_add(x, shared.y[k].load_left_operand(lane), shared.inverse[k][w].load(lane), x);
  }
  for_each_element([&](int h, int j, int e) {
    const Index r = row + fragment_row(lane, h);
    const Index c = first + w * kTile + fragment_column(lane, j, e);
    if (r >= p.count || w * kTile + fragment_column(lane, j, e) >= p.order || c >= p.n) return;
    const E value = x.get(h, j, e);
    convert(*p.x.at(r, c), p.x.mirrored ? conjugate(value) : value);
  });
  __syncthreads();
  if (threadIdx.x == 0) raise(p.progress + blockIdx.x);
}

}  // namespace

template <class T>
void back_substitute(cudaStream_t stream, Uplo uplo, DeviceView<const T> factor,
                     DeviceView<const T> inverses, DeviceView<T> x, DeviceView<Index> progress) {
  using D = typename DeviceScalar<T>::type;
  using E = typename DoubleOf<D>::type;
  const Index n = factor.rows, order = inverses.rows;
  const Index blocks = (n + order - 1) / order, chunks = (x.cols + kTile - 1) / kTile;
  check(cudaMemsetAsync(progress.data, 0, sizeof(Index) * static_cast<std::size_t>(blocks * chunks),
                        stream),
        "back substitution");
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(blocks * chunks);
  shape.threads = kTiles<E> * kWarp;
  shape.shared_bytes = sizeof(Shared<E>);
  const BackSubstitution<D> problem{
      n,
      order,
      Trapezoid<const D>(device_cast(factor.data), factor.ld, uplo == Uplo::upper),
      device_cast(inverses.data),
      inverses.ld,
      x.cols,
      Trapezoid<D>(device_cast(x.data), x.ld, true),
      progress.data,
      blocks,
      chunks};
  launch(stream, shape, "back substitution", back_substitution_kernel<D>, problem);
}

#define OVERLAPACK_INSTANTIATE(T)                                                             \
  template void back_substitute(cudaStream_t, Uplo, DeviceView<const T>, DeviceView<const T>, \
                                DeviceView<T>, DeviceView<Index>);
OVERLAPACK_FOR_EACH_SCALAR(OVERLAPACK_INSTANTIATE)
#undef OVERLAPACK_INSTANTIATE

}  // namespace overlapack::cuda
